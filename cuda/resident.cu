// resident.cu: the resident shape: a batch from texts to codes and selectors, of which the columns never leave the device.
//
// After the sort (lane.cu) the memory it sorted in is free, and holds all that coding needs: 9 bytes for each of the text.
//   1 mtf.cu     columns to symbols, frequencies
//   2 tables.cu  tables, selectors, code lengths, where each group's codes go
//   3 bits.cu    codes; then 0.2 bytes for each of the text go to the host, which writes the headers before them
//
// Measured (H200, linux, ps a byte; in brackets predicted), for batches of 32 / 64 / 256 blocks: sort 230 / 241 / 242; mtf 14 / 10 / 8
// (12), tables 53 / 27 / 8 (35 / 17 / 8), codes 1 (1), download 5 / 4 / 4 (4; a column: 18). Without transfers 3.35 / 3.58 / 3.86 GB/s.
// Eight lanes of 32 at once, with transfers: 3.29 GB/s, where 3.42 only sort.
#include "coding.cuh"
#include "lane.cuh"
#include <algorithm>
#include <cstring>

using namespace hybz;

namespace {

// Gives each array its place at `memory` (null: only sums up).
uint64_t lay_out(Coding &c, uint8_t *memory, uint64_t blocks, uint64_t longest) {
    const uint64_t chunks = (longest + kChunk - 1) / kChunk, groups = longest / kGroup + 2;
    const Row rows[] = {
        // pointer        bytes
        {&c.coded, blocks * sizeof(hybz_coded)},
        {&c.frequencies, blocks * kRow * 4},
        {&c.codes, blocks * HYBZ_MOST_TABLES * kRow * 4},
        {&c.order, blocks * 256},
        {&c.last, blocks * chunks * 256 * 4},
        {&c.chunks, blocks * chunks * sizeof(Chunk)},
        {&c.heads, blocks * longest * 4},
        {&c.symbols, (blocks * (longest + 64) + 8) * 2},
        {&c.selectors, blocks * groups},
        {&c.offsets, blocks * groups * 4},
        {&c.out, blocks * HYBZ_CODED_BYTES(longest)},
    };
    c.chunk_pitch = uint32_t(chunks);
    c.group_pitch = uint32_t(groups);
    return place_rows(rows, memory);
}

} // namespace

namespace hybz {

uint64_t coding_bytes(uint64_t most_blocks, uint64_t longest) {
    Coding none{};
    return lay_out(none, nullptr, most_blocks, longest);
}

} // namespace hybz

extern "C" int hybz_lane_code(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                              hybz_coded *coded, uint8_t *bytes, uint64_t *filled, uint32_t deadline_ms,
                              hybz_report *report) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
    if (blocks < 1 || blocks > lane->most_blocks || lane->pipeline != HYBZ_RESIDENT) return HYBZ_ARGUMENT;
    Marks marks;
    HYBZ_TRY(sort_columns(lane, hybz_tuning_default(), blocks, lengths, text, deadline, marks, report));

    const Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    Coding coding{};
    for (uint32_t b = 0; b < blocks; b++) coding.longest = std::max(coding.longest, lengths[b]);
    uint8_t *const memory = reinterpret_cast<uint8_t *>(arena.sort.keys[0]);
    lay_out(coding, memory, blocks, coding.longest);
    coding.blocks = blocks;
    coding.base = arena.base;
    coding.column = arena.column;
    coding.origin = arena.origin;
    const uint32_t sorted = lane->mark();
    HYBZ_TRY(cudaMemsetAsync(coding.frequencies, 0, blocks * kRow * 4, stream));
    HYBZ_TRY(cudaMemsetAsync(coding.out, 0, blocks * uint64_t(HYBZ_CODED_BYTES(coding.longest)), stream));
    HYBZ_TRY(code_symbols(coding, stream));
    const uint32_t symbols = lane->mark();
    HYBZ_TRY(choose_tables(coding, stream));
    const uint32_t tables = lane->mark();
    HYBZ_TRY(write_codes(coding, stream));
    marks.download = lane->mark();
    HYBZ_TRY(cudaMemcpyAsync(staging.coded, coding.coded, blocks * sizeof(hybz_coded), cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(lane->wait(deadline));
    const hybz_coded &last = staging.coded[blocks - 1];
    *filled = last.at;
    if (last.bits) *filled += code_bytes(last.bits) + (groups_of(last.symbols) + 3) / 4 * 4;
    if (*filled > blocks * uint64_t(HYBZ_CODED_BYTES(coding.longest))) return HYBZ_WRONG;
    HYBZ_TRY(cudaMemcpyAsync(bytes, coding.out, *filled, cudaMemcpyDeviceToHost, stream));
    marks.end = lane->mark();
    HYBZ_TRY(lane->wait(deadline));
    HYBZ_TRY(lane->event_error);
    memcpy(coded, staging.coded, blocks * sizeof(hybz_coded));
    if (report) {
        tell(*lane, marks, report);
        report->mtf_ms = lane->between(sorted, symbols);
        report->tables_ms = lane->between(symbols, tables);
        report->bits_ms = lane->between(tables, marks.download);
    }
    return 0;
}
