// code_large.cu: a batch of `.hbz` blocks from texts to segments; their columns never leave the device. The host calls
// three times: hybz_lane_tokens sorts, makes tokens and the first choice; hybz_lane_choose chooses again, with prices
// that the host has computed from the counts; hybz_lane_segments encodes with the shares computed from the last counts.
//
// Coding reuses the sort's memory, which is large enough, except for tiny blocks.
#include "lane.cuh"
#include <algorithm>

namespace hybz {

namespace {

uint64_t segments_of(uint64_t rows) { return (rows + kSegmentRows - 1) / kSegmentRows; }

// Lays out coding's arrays from `memory` on, for this many segments (null: only counts). Returns their total bytes.
uint64_t lay_out(LargeCoding &c, uint8_t *memory, uint64_t blocks, uint64_t max_rows, uint64_t segments) {
    const uint64_t chunks = (max_rows + kChunk - 1) / kChunk, rows = segments * kSegmentRows;
    const Array arrays[] = {
        {&c.first_segment, (blocks + 1) * 4},
        {&c.last, blocks * chunks * 256 * 4},
        {&c.chunks, segments * kCodingChunks * sizeof(Chunk)},
        {&c.order, blocks * 256},
        {&c.heads, rows * 4},
        {&c.tokens, rows},
        {&c.extras, rows},
        {&c.joint, rows},
        {&c.levels, segments * kSegmentGroups * 2},
        {&c.choice, segments * kSegmentGroups},
        {&c.about, blocks * sizeof(hybz_tokens)},
        {&c.tallies, blocks * sizeof(hybz_tally)},
        {&c.histogram, blocks * kLevels * 4},
        {&c.prices, blocks * sizeof(hybz_prices)},
        {&c.shares, blocks * sizeof(hybz_shares)},
        {&c.symbols, blocks * kSelectors * kJoint * sizeof(Symbol)},
        {&c.states, blocks * kTokenTables * kTokenStates * 2},
        {&c.selector_symbols, blocks * kSelectors * kSelectors * sizeof(Symbol)},
        {&c.selector_states, blocks * kSelectors * kSelectorStates * 2},
        {&c.bits, segments * kSegmentWords * 4},
        {&c.coded, segments * sizeof(hybz_coded_segment)},
        {&c.offsets, segments * 4},
        {&c.out, segments * kSegmentWords * 4},
    };
    c.chunk_pitch = uint32_t(chunks);
    return lay_out_arrays(arrays, memory);
}

template <class T> cudaError_t upload_all(const T *to, const T *from, T *staged, uint64_t count, cudaStream_t stream) {
    memcpy(staged, from, count * sizeof(T));
    return cudaMemcpyAsync(const_cast<T *>(to), staged, count * sizeof(T), cudaMemcpyHostToDevice, stream);
}

template <class T> cudaError_t fetch(T *staged, const T *from, uint64_t count, cudaStream_t stream) {
    return cudaMemcpyAsync(staged, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream);
}

} // namespace

uint64_t large_coding_memory(uint64_t blocks, uint64_t max_length) {
    LargeCoding none{};
    return lay_out(none, nullptr, blocks, max_length, segments_of(max_length) * blocks);
}

uint64_t lay_out_coding(CodingStaging &s, uint8_t *pinned, uint64_t blocks, uint64_t max_length) {
    const Array arrays[] = {
        {&s.about, blocks * sizeof(hybz_tokens)},
        {&s.tallies, blocks * sizeof(hybz_tally)},
        {&s.prices, blocks * sizeof(hybz_prices)},
        {&s.shares, blocks * sizeof(hybz_shares)},
        {&s.coded, blocks * segments_of(max_length) * sizeof(hybz_coded_segment)},
        {&s.first_segment, (blocks + 1) * 4},
    };
    return lay_out_arrays(arrays, pinned);
}

extern "C" int hybz_lane_tokens(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                                uint32_t entry_log, const hybz_weights *weights, hybz_tokens *about,
                                hybz_tally *tallies, uint32_t *entries, uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (blocks < 1 || blocks > lane->max_blocks || lane->pipeline != HYBZ_CODE_LARGE) return HYBZ_ARGUMENT;
    Events events;
    uint32_t each = 0;
    HYBZ_TRY(sort_large(lane, blocks, lengths, text, entry_log, deadline, events, report, &each));
    const Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    // This must come before the ranks' memory is reused.
    HYBZ_TRY(lane->fetch(entries, arena.starts, uint64_t(blocks) * each * 4));
    const uint32_t sorted = lane->record();

    CodingStaging &staging = lane->coding_staging;
    LargeCoding &coding = lane->coding;
    coding = {};
    coding.max_rows = *std::max_element(lengths, lengths + blocks);
    uint32_t segments = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        staging.first_segment[b] = segments;
        segments += uint32_t(segments_of(lengths[b]));
    }
    staging.first_segment[blocks] = segments;
    lay_out(coding, reinterpret_cast<uint8_t *>(arena.sort.keys[0]), blocks, coding.max_rows, segments);
    coding.blocks = blocks;
    coding.most_segments = uint32_t(segments_of(coding.max_rows));
    coding.segments = segments;
    coding.base = arena.base;
    coding.column = arena.column;
    coding.origin = arena.origin;
    HYBZ_TRY(lane->send(coding.first_segment, staging.first_segment, (blocks + 1) * 4));
    HYBZ_TRY(cudaMemsetAsync(coding.about, 0, blocks * sizeof(hybz_tokens), stream));
    HYBZ_TRY(cudaMemsetAsync(coding.tallies, 0, blocks * sizeof(hybz_tally), stream));
    HYBZ_TRY(cudaMemsetAsync(coding.histogram, 0, blocks * kLevels * 4, stream));
    HYBZ_TRY(make_tokens(coding, stream));
    lane->record();
    HYBZ_TRY(first_choice(coding, *weights, stream));
    HYBZ_TRY(fetch(staging.about, coding.about, blocks, stream));
    HYBZ_TRY(fetch(staging.tallies, coding.tallies, blocks, stream));
    events.download = events.end = lane->record();
    HYBZ_TRY(lane->wait(deadline));
    memcpy(about, staging.about, blocks * sizeof(hybz_tokens));
    memcpy(tallies, staging.tallies, blocks * sizeof(hybz_tally));
    if (report) {
        fill_report(*lane, events, report);
        lane->report_steps(report, sorted, {HYBZ_STEP_MTF, HYBZ_STEP_TABLES});
    }
    return 0;
}

extern "C" int hybz_lane_choose(hybz_lane *lane, const hybz_prices *prices, int32_t all, hybz_tally *tallies,
                                uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    const LargeCoding &coding = lane->coding;
    if (lane->pipeline != HYBZ_CODE_LARGE || coding.blocks == 0) return HYBZ_ARGUMENT;
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream;
    CodingStaging &staging = lane->coding_staging;
    const uint32_t begin = lane->record();
    HYBZ_TRY(upload_all(coding.prices, prices, staging.prices, coding.blocks, stream));
    HYBZ_TRY(cudaMemsetAsync(coding.tallies, 0, coding.blocks * sizeof(hybz_tally), stream));
    HYBZ_TRY(choose_again(coding, all != 0, stream));
    HYBZ_TRY(fetch(staging.tallies, coding.tallies, coding.blocks, stream));
    const uint32_t end = lane->record();
    HYBZ_TRY(lane->wait(deadline));
    memcpy(tallies, staging.tallies, coding.blocks * sizeof(hybz_tally));
    if (report) report->ms[HYBZ_STEP_TABLES] += lane->elapsed(begin, end);
    return 0;
}

extern "C" int hybz_lane_segments(hybz_lane *lane, const hybz_shares *shares, hybz_coded_segment *segments,
                                  uint8_t *bytes, uint64_t room, uint64_t *filled, uint32_t timeout_ms,
                                  hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    LargeCoding &coding = lane->coding;
    if (lane->pipeline != HYBZ_CODE_LARGE || coding.blocks == 0) return HYBZ_ARGUMENT;
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream;
    CodingStaging &staging = lane->coding_staging;
    lane->record();
    HYBZ_TRY(upload_all(coding.shares, shares, staging.shares, coding.blocks, stream));
    HYBZ_TRY(encode_segments(coding, stream));
    HYBZ_TRY(fetch(staging.coded, coding.coded, coding.segments, stream));
    lane->record();
    HYBZ_TRY(lane->wait(deadline));
    memcpy(segments, staging.coded, coding.segments * sizeof(hybz_coded_segment));
    *filled = 0;
    for (uint32_t s = 0; s < coding.segments; s++) {
        // A segment cannot have more bits than its words hold.
        if (segments[s].bits > (kSegmentWords - 1) * 32) return HYBZ_WRONG;
        *filled += (segments[s].bits + 7) / 8;
    }
    const bool fits = *filled <= room;
    if (fits) HYBZ_TRY(lane->fetch(bytes, coding.out, *filled));
    lane->record();
    HYBZ_TRY(lane->wait(deadline));
    if (!fits) *filled = 0;
    coding.blocks = 0;
    if (report) lane->report_steps(report, 0, {HYBZ_STEP_CODES, HYBZ_STEP_DOWNLOAD});
    return 0;
}

} // namespace hybz
