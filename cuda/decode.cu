// decode.cu: decodes a batch of blocks: lays out memory, and runs the steps one after the other.
#include "lane.cuh"

namespace hybz {

uint64_t lay_out_decoding(Decoding &d, uint8_t *memory, uint64_t blocks, uint64_t max_length) {
    const uint64_t rows = blocks * HYBZ_MAX_ROWS;
    const Array arrays[] = {
        {&d.input, blocks * max_length},
        {&d.heads, blocks * sizeof(hybz_block)},
        {&d.found, blocks * sizeof(Found)},
        {&d.stage, blocks * kStagePitch},
        {&d.lists, blocks * kTokenChunks * 256},
        {&d.chunk_rows, blocks * kTokenChunks * 4},
        {&d.column, rows},
        {&d.counts, blocks * kRowChunks * 256 * 4},
        {&d.vector, rows * 4},
        {&d.slots, blocks * kSlotPitch * 4},
        {&d.steps, blocks * kSlotPitch * 4},
        {&d.rests, blocks * kSlotPitch * 4},
        {&d.text, rows},
    };
    const uint64_t bytes = lay_out_arrays(arrays, memory);
    d.symbols = reinterpret_cast<uint16_t *>(d.stage);
    d.places = d.stage + blocks * kSymbolPitch * 2;
    return bytes;
}

namespace {

// Whether the device can decode this block without reading or writing out of bounds.
bool is_possible(const hybz_block &head, uint64_t bytes) {
    const uint64_t end = head.at + (uint64_t(head.end_bit) + 31) / 32 * 4;
    bool lengths = true;
    for (uint32_t t = 0; t < HYBZ_MAX_TABLES && t < head.tables; t++)
        for (uint32_t s = 0; s < HYBZ_MAX_SYMBOLS && s < head.symbols; s++)
            lengths &= head.lengths[t][s] >= 1 && head.lengths[t][s] <= kMaxLength;
    return head.at % 4 == 0 && head.first_bit <= head.end_bit && head.end_bit < 1u << 31 && end <= bytes &&
           head.selectors >= 1 && head.selectors <= HYBZ_MAX_GROUPS &&
           uint64_t(head.selectors_at) + head.selectors <= bytes && head.limit <= HYBZ_MAX_ROWS && head.symbols >= 3 &&
           head.symbols <= HYBZ_MAX_SYMBOLS && head.tables >= 2 && head.tables <= HYBZ_MAX_TABLES && lengths;
}

} // namespace

extern "C" int hybz_lane_decode(hybz_lane *lane, uint32_t blocks, const hybz_block *heads, const uint8_t *input,
                                uint64_t bytes, hybz_decoded *decoded, uint8_t *text, uint64_t room, uint64_t *filled,
                                uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (lane->pipeline != HYBZ_DECODE || blocks < 1 || blocks > lane->max_blocks || bytes > lane->max_bytes)
        return HYBZ_ARGUMENT;
    const uint64_t rows = uint64_t(lane->max_blocks) * HYBZ_MAX_ROWS;
    static_assert(4ull * HYBZ_MAX_BLOCKS * HYBZ_MAX_ROWS + HYBZ_LONGEST_TEXT + 15 <= UINT32_MAX);
    if (room < rows || room > 4 * rows) return HYBZ_ARGUMENT;
    for (uint32_t b = 0; b < blocks; b++)
        if (!is_possible(heads[b], bytes)) return HYBZ_ARGUMENT;
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream;
    DecodeStaging &staging = lane->staged<DecodeStaging>();
    Decoding decoding = lane->decoding;
    decoding.blocks = blocks;
    memcpy(staging.heads, heads, blocks * sizeof(hybz_block));

    lane->record();
    HYBZ_TRY(lane->send(decoding.input, input, bytes));
    HYBZ_TRY(lane->send(decoding.heads, staging.heads, blocks * sizeof(hybz_block)));
    lane->record();
    HYBZ_TRY(decode_symbols(decoding, stream));
    // Lanes share eight channels to the device (CUDA_DEVICE_MAX_CONNECTIONS). Whatever waits in a channel for this
    // kernel, even an event, delays the kernels of other lanes: with 16 lanes a batch took 41 ms, and 8 GB 1.68 s
    // instead of 1.45. More channels take longer to create.
    HYBZ_TRY(lane->wait(deadline, 32));
    lane->record();
    HYBZ_TRY(decode_columns(decoding, stream));
    lane->record();
    HYBZ_TRY(walk_columns(decoding, stream));
    lane->record();
    HYBZ_TRY(expand_runs(decoding, uint32_t(room), stream));
    lane->record();
    // Copies that are queued before the kernels are done delay copies of other lanes, to 27 ms instead of 0.5.
    HYBZ_TRY(lane->wait(deadline, 32));
    const uint32_t waited = lane->record();
    HYBZ_TRY(lane->fetch(staging.found, decoding.found, blocks * sizeof(Found)));
    HYBZ_TRY(lane->wait(deadline));

    *filled = 0;
    uint64_t total = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        const Found &found = staging.found[b];
        if (found.rows > HYBZ_MAX_ROWS || uint64_t(found.at) + found.length > room) return HYBZ_WRONG;
        decoded[b] = {found.odd, found.end_bit, found.rows, found.at, found.length, found.expanded};
        total += found.rows;
        if (!found.odd) *filled = uint64_t(found.at) + found.length;
    }
    if (*filled) HYBZ_TRY(lane->fetch(text, decoding.output(), *filled));
    lane->record();
    HYBZ_TRY(lane->wait(deadline));
    if (report) {
        memset(report, 0, sizeof *report);
        report->bytes = total;
        lane->report_steps(report, 0, {HYBZ_STEP_UPLOAD, HYBZ_STEP_SYMBOLS, HYBZ_STEP_COLUMNS, HYBZ_STEP_WALK,
                                       HYBZ_STEP_EXPAND});
        lane->report_steps(report, waited, {HYBZ_STEP_DOWNLOAD});
    }
    return 0;
}

} // namespace hybz
