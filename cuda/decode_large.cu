// decode_large.cu: decodes a batch of `.hbz` blocks: lays out memory, and runs the steps one after the other.
#include "lane.cuh"
#include <algorithm>

namespace hybz {

uint64_t lay_out_large(LargeDecoding &d, uint8_t *memory, uint64_t blocks, uint64_t rows) {
    const uint64_t segments = rows / kSegmentRows + blocks;
    const Array arrays[] = {
        {&d.input, HYBZ_LARGE_INPUT(blocks, rows)},
        {&d.blocks, blocks * sizeof(LargeBlock)},
        {&d.odd, blocks * 4},
        {&d.token_tables, blocks * kTokenTables * kTokenStates * 4},
        {&d.selector_tables, blocks * HYBZ_LARGE_TABLES * kSelectorStates * 4},
        {&d.lists, segments * 256},
        {&d.counts, segments * kSegmentChunks * 256 * 4},
        {&d.firsts, blocks * 256 * 4},
        {&d.column, rows},
        {&d.vector, rows * 4},
    };
    const uint64_t bytes = lay_out_arrays(arrays, memory);
    d.symbols = reinterpret_cast<uint16_t *>(d.vector);
    return bytes;
}

namespace {

// The batch's input; `array` returns null for an array that is not within it.
struct Input {
    const uint8_t *bytes;
    uint64_t count;

    template <class T> const T *array(uint64_t at, uint64_t items) const {
        return at % 4 == 0 && at + items * sizeof(T) <= count ? reinterpret_cast<const T *>(bytes + at) : nullptr;
    }
};

bool shares_are_complete(const uint16_t *shares, uint32_t tables, uint32_t symbols, uint32_t states) {
    for (; tables; tables--) {
        uint32_t sum = 0;
        for (uint32_t s = 0; s < symbols; s++) sum += *shares++;
        if (sum != states) return false;
    }
    return true;
}

// Whether the device can decode this block without reading or writing out of bounds. `rows` is the number of the lane's
// rows that are free from the block's base on.
bool is_possible(const hybz_large &head, const Input &input, uint64_t rows) {
    if (head.rows < 1 || head.rows > rows || head.base % 16 != 0 || head.entry_log < HYBZ_MIN_ENTRY_LOG ||
        head.entry_log > HYBZ_MAX_ENTRY_LOG || head.selectors < 1 || head.selectors > HYBZ_LARGE_TABLES)
        return false;
    const uint32_t tables = head.selectors * HYBZ_CLASSES, token_shares = tables * HYBZ_TOKENS;
    const uint32_t segments = (head.rows - 1) / kSegmentRows + 1, entries = ((head.rows - 1) >> head.entry_log) + 1;
    const auto *const shares = input.array<uint16_t>(head.shares_at, token_shares + head.selectors * head.selectors);
    const auto *const segment = input.array<hybz_segment>(head.segments_at, segments);
    const auto *const entry = input.array<uint32_t>(head.entries_at, entries);
    if (!shares || !segment || !entry || !shares_are_complete(shares, tables, HYBZ_TOKENS, kTokenStates) ||
        !shares_are_complete(shares + token_shares, head.selectors, head.selectors, kSelectorStates))
        return false;
    for (uint32_t s = 0; s < segments; s++) {
        const uint32_t of_segment = std::min(head.rows - s * kSegmentRows, kSegmentRows);
        if (segment[s].bytes >= 1u << 24 || uint64_t(segment[s].at) + segment[s].bytes + 3 > input.count ||
            segment[s].tokens < 1 || segment[s].tokens > of_segment)
            return false;
    }
    return std::all_of(entry, entry + entries, [&](uint32_t row) { return row < head.rows; });
}

// Prepares the kernels' description of the blocks. Returns how many of the lane's rows the blocks take, or 0 if a
// block is impossible.
uint64_t prepare(LargeDecoding &decoding, LargeBlock *to, const hybz_large *heads, const Input &input, uint64_t room) {
    uint64_t end = 0;
    uint32_t segments = 0;
    decoding.most_segments = decoding.most_entries = 0;
    for (uint32_t b = 0; b < decoding.count; b++) {
        const hybz_large &head = heads[b];
        if (head.base < end || head.base > room || !is_possible(head, input, room - head.base)) return 0;
        end = uint64_t(head.base) + head.rows;
        to[b] = {head, (head.rows - 1) / kSegmentRows + 1, segments};
        segments += to[b].segments;
        decoding.most_segments = std::max(decoding.most_segments, to[b].segments);
        decoding.most_entries = std::max(decoding.most_entries, ((head.rows - 1) >> head.entry_log) + 1);
    }
    return end;
}

} // namespace

extern "C" int hybz_lane_decode_large(hybz_lane *lane, uint32_t blocks, const hybz_large *heads, const uint8_t *input,
                                      uint64_t bytes, uint32_t *odd, uint8_t *codes, uint32_t timeout_ms,
                                      hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    const uint64_t room = uint64_t(lane->max_blocks) * lane->max_length;
    if (lane->pipeline != HYBZ_DECODE_LARGE || blocks < 1 || blocks > lane->max_blocks ||
        bytes > HYBZ_LARGE_INPUT(uint64_t(lane->max_blocks), room))
        return HYBZ_ARGUMENT;
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream;
    LargeStaging &staging = lane->staged<LargeStaging>();
    LargeDecoding decoding = lane->large;
    decoding.count = blocks;
    const uint64_t rows = prepare(decoding, staging.blocks, heads, {input, bytes}, room);
    if (rows == 0) return HYBZ_ARGUMENT;

    lane->record();
    HYBZ_TRY(lane->send(decoding.input, input, bytes));
    HYBZ_TRY(lane->send(decoding.blocks, staging.blocks, blocks * sizeof(LargeBlock)));
    HYBZ_TRY(cudaMemsetAsync(decoding.odd, 0, blocks * 4, stream));
    lane->record();
    HYBZ_TRY(decode_tokens(decoding, stream));
    lane->record();
    HYBZ_TRY(decode_places(decoding, stream));
    lane->record();
    HYBZ_TRY(make_vectors(decoding, stream));
    lane->record();
    HYBZ_TRY(walk_entries(decoding, stream));
    lane->record();
    // Copies that are queued before the kernels are done delay copies of other lanes (decode.cu).
    HYBZ_TRY(lane->wait(deadline));
    HYBZ_TRY(lane->fetch(staging.odd, decoding.odd, blocks * 4));
    HYBZ_TRY(lane->fetch(codes, decoding.column, rows));
    lane->record();
    HYBZ_TRY(lane->wait(deadline));
    memcpy(odd, staging.odd, blocks * 4);
    if (report) {
        memset(report, 0, sizeof *report);
        report->bytes = rows;
        lane->report_steps(report, 0, {HYBZ_STEP_UPLOAD, HYBZ_STEP_SYMBOLS, HYBZ_STEP_COLUMNS, HYBZ_STEP_VECTOR,
                                       HYBZ_STEP_WALK, HYBZ_STEP_DOWNLOAD});
    }
    return 0;
}

} // namespace hybz
