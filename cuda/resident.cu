// resident.cu: the resident pipeline: a batch from texts to codes and selectors; its columns never leave the device.
//
// After the sort (batch.cu) its memory is free, and large enough for coding: 9 bytes per byte of text.
//   1 mtf.cu     columns to symbols, frequencies
//   2 tables.cu  tables, selectors, code lengths, where each group's codes go
//   3 bits.cu    codes; then 0.2 bytes for each byte of text go to the host, which writes the headers before them
//
// For proofs, the steps of the decoder follow, except for its two chains of dependent loads: the codes are decoded
// group by group (huffman.cu), and the ranks of the sort take the place of a walk (walk.cu). What is summed up on the
// way, the host compares with the block as it writes it and with the text as it was read.
//
// Measured (H200, linux, ps a byte; in brackets predicted), for batches of 32 / 64 / 256 blocks, before the sample
// sort: sort 230 / 241 / 242; mtf 14 / 10 / 8 (12), tables 53 / 27 / 8 (35 / 17 / 8), codes 1 (1), download 5 / 4 / 4
// (4; a column: 18). Without transfers 3.35 / 3.58 / 3.86 GB/s. Eight lanes of 32 together, with transfers: 3.29 GB/s;
// 3.42 if they only sort (before the end of a batch had priority).
#include "coding.cuh"
#include "lane.cuh"
#include <algorithm>

namespace hybz {

uint64_t lay_out_codes(Coding &c, uint8_t *memory, uint64_t blocks, uint64_t max_length) {
    const uint64_t chunks = (max_length + kChunk - 1) / kChunk, groups = max_length / kGroup + 2;
    const Array arrays[] = {
        // pointer        bytes
        {&c.coded, blocks * sizeof(hybz_coded)},
        {&c.frequencies, blocks * kRow * 4},
        {&c.codes, blocks * HYBZ_MAX_TABLES * kRow * 4},
        {&c.order, blocks * 256},
        {&c.last, blocks * chunks * 256 * 4},
        {&c.chunks, blocks * chunks * sizeof(Chunk)},
        {&c.heads, blocks * max_length * 4},
        {&c.symbols, (blocks * (max_length + 64) + 8) * 2},
        {&c.selectors, blocks * groups},
        {&c.offsets, blocks * groups * 4},
        {&c.out, blocks * HYBZ_CODED_BYTES(max_length)},
    };
    c.blocks = uint32_t(blocks);
    c.max_length = uint32_t(max_length);
    c.chunk_pitch = uint32_t(chunks);
    c.group_pitch = uint32_t(groups);
    return lay_out_arrays(arrays, memory);
}

extern "C" int hybz_lane_code(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                              uint32_t first, uint32_t proofs, hybz_coded *coded, uint8_t *bytes, uint64_t *filled,
                              uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (blocks < 1 || blocks > lane->max_blocks || lane->pipeline != HYBZ_RESIDENT) return HYBZ_ARGUMENT;
    if (first > blocks || proofs > blocks - first) return HYBZ_ARGUMENT;
    Events events;
    HYBZ_TRY(sort_columns(lane, blocks, lengths, text, deadline, events, report));

    const Arena &arena = lane->arena;
    hybz_coded *const staged = lane->staged<Staging>().coded;
    Found *const found = lane->staged<Staging>().found;
    const cudaStream_t stream = lane->stream;
    Coding coding{};
    uint8_t *const memory = reinterpret_cast<uint8_t *>(arena.sort.keys[0]);
    uint8_t *const end = memory + lay_out_codes(coding, memory, blocks, *std::max_element(lengths, lengths + blocks));
    coding.base = arena.base;
    coding.column = arena.column;
    coding.origin = arena.origin;
    const uint64_t room = blocks * uint64_t(HYBZ_CODED_BYTES(coding.max_length));
    const uint32_t sorted = lane->record();
    HYBZ_TRY(cudaMemsetAsync(coding.coded, 0, blocks * sizeof(hybz_coded), stream));
    HYBZ_TRY(cudaMemsetAsync(coding.frequencies, 0, blocks * kRow * 4, stream));
    HYBZ_TRY(cudaMemsetAsync(coding.out, 0, room, stream));
    HYBZ_TRY(code_symbols(coding, stream));
    lane->record();
    HYBZ_TRY(choose_tables(coding, stream));
    lane->record();
    HYBZ_TRY(write_codes(coding, stream));
    lane->record();
    memset(found, 0, blocks * sizeof(Found));
    // The proof's arrays are where the sort had what comes after the ranks.
    Decoding decoding{};
    decoding.blocks = proofs;
    uint8_t *const after = reinterpret_cast<uint8_t *>(arena.depth);
    if (proofs && end <= reinterpret_cast<uint8_t *>(arena.rank) && coding.max_length <= HYBZ_MAX_ROWS &&
        after + lay_out_decoding(decoding, after, proofs, 0) <= arena.tail) {
        Coding proven = coding; // from its first block on, as far as proofs read it
        proven.base += first, proven.coded += first;
        proven.offsets += uint64_t(first) * coding.group_pitch;
        const uint32_t *const rank = arena.rank + (uint64_t(first) << lane->pitch_bits);
        HYBZ_TRY(cudaMemsetAsync(decoding.found, 0, proofs * sizeof(Found), stream));
        HYBZ_TRY(decode_groups(decoding, proven, stream));
        HYBZ_TRY(decode_columns(decoding, stream));
        HYBZ_TRY(prove_columns(decoding, proven, arena.text, rank, lane->pitch_bits, stream));
        HYBZ_TRY(lane->fetch(found + first, decoding.found, proofs * sizeof(Found)));
    }
    events.download = lane->record();
    HYBZ_TRY(lane->fetch(staged, coding.coded, blocks * sizeof(hybz_coded)));
    HYBZ_TRY(lane->wait(deadline));
    const hybz_coded &last = staged[blocks - 1];
    *filled = last.at + (last.bits ? coded_bytes(last) : 0);
    if (*filled > room) return HYBZ_WRONG;
    HYBZ_TRY(lane->fetch(bytes, coding.out, *filled));
    events.end = lane->record();
    HYBZ_TRY(lane->wait(deadline));
    for (uint32_t b = 0; b < blocks; b++) {
        coded[b] = staged[b];
        coded[b].proof = found[b].odd || found[b].difference ? 0 : found[b].sum;
    }
    if (report) {
        fill_report(*lane, events, report);
        lane->report_steps(report, sorted, {HYBZ_STEP_MTF, HYBZ_STEP_TABLES, HYBZ_STEP_CODES, HYBZ_STEP_PROOF});
    }
    return 0;
}

} // namespace hybz
