// sort_lines.cu: a batch of lines from text to sorted text.
//
// The host reads 20 bytes after each round, among them the numbers of tied lines and of their groups. Words take 1 or 2
// rounds, 600 MB of paths take 8: docs/ALGORITHMS.md, "Sorting lines on a GPU", tells what each method saves.
#include "lane.cuh"
#include "lines.cuh"
#include <algorithm>

namespace hybz {

namespace {

// The max bytes of a common prefix that a range or group skips before its lines get keys, in the first round.
constexpr uint32_t kFirstLimit = 64;

// From this many lines on, a pass of the radix sort (9.4 ps a key) takes longer than the host's wait for the number of
// key bits in use.
constexpr uint32_t kManyLines = 1 << 24;

// The data that go to the device and back with a batch of lines, in addition to the text; pinned.
struct LinesStaging {
    uint32_t range_begin[HYBZ_MAX_BLOCKS + 1], range_end[HYBZ_MAX_BLOCKS];
    uint64_t places;
    uint32_t lines, flags[kLineFlags];
};

// The source and destination of a batch's text.
struct Place {
    const uint8_t *text;
    uint8_t *sorted;
    bool from_device = false, to_device = false;
    // For ranges in parts; otherwise null.
    const uint32_t *host_lengths = nullptr, *counts = nullptr;
    const hybz_slice *slices = nullptr;
};

int find_all(hybz_lane *lane, LineBatch &batch, Clock::time_point deadline) {
    SortingLines &s = lane->lines;
    LinesStaging &staging = lane->staged<LinesStaging>();
    const uint32_t tiles = blocks_for(batch.bytes, kLineTile);
    HYBZ_TRY(count_lines(s, batch, lane->stream));
    HYBZ_TRY(sum_up(s, s.tiles, tiles, lane->stream));
    HYBZ_TRY(lane->fetch(&staging.lines, s.tiles + tiles - 1, 4));
    HYBZ_TRY(lane->wait(deadline));
    if (staging.lines < 1 || staging.lines > HYBZ_MAX_LINES(uint64_t(lane->max_bytes))) return HYBZ_ARGUMENT;
    batch.lines = staging.lines;
    return int(find_lines(s, batch, lane->stream));
}

int sort_keys(hybz_lane *lane, uint32_t count, int from_bit) {
    SortingLines &s = lane->lines;
    HYBZ_TRY(sort_pairs<uint64_t>(s.temporary, s.temporary_bytes, s.sort, count, from_bit, 64, lane->stream));
    return int(run_starts(s.temporary, s.temporary_bytes, s.sort.keys[s.sort.current], s.starts, count, lane->stream));
}

static_assert(kSortBits - 32 >= kMaxCode, "a key holds a symbol at least");
static_assert(HYBZ_MAX_LINES(HYBZ_MAX_TEXT) <= uint64_t(1) << 32, "32 bits number all groups");

// Goes from sorted first keys to the order of all lines.
int sort_ties(hybz_lane *lane, const LineBatch &batch, Clock::time_point deadline, hybz_lines_report *report) {
    SortingLines &s = lane->lines;
    LinesStaging &staging = lane->staged<LinesStaging>();
    const cudaStream_t stream = lane->stream;
    LineRound round{batch.lines, KeyLayout(batch.ranges).block_bits, 0, true};
    for (uint32_t number = 0;; number++) {
        HYBZ_TRY(settle_lines(s, round, stream));
        if (round.first) lane->record();
        HYBZ_TRY(lane->fetch(&staging.places, s.places + round.count - 1, 8));
        HYBZ_TRY(lane->fetch(staging.flags, s.flags, kLineFlags * 4));
        HYBZ_TRY(lane->wait(deadline));
        if (staging.flags[kBadRange]) return HYBZ_ARGUMENT;
        const uint32_t count = uint32_t(staging.places), groups = uint32_t(staging.places >> 32);
        if (report) {
            report->rounds = number;
            report->tied = staging.flags[kTied];
        }
        // No group has two lines.
        if (count == groups) return 0;
        if (groups < 1 || groups > count || count > batch.lines) return HYBZ_WRONG;
        if (number == HYBZ_MAX_LINE_ROUNDS) return HYBZ_PERIODIC;
        if (report) report->sorted_again += count;

        HYBZ_TRY(list_lines(s, round, stream));
        // Each round doubles the limit, so that the sort ends for lines of any length.
        const uint32_t limit = kFirstLimit << std::min(number, 24u);
        round.from = 1 - round.from;
        round.count = count;
        round.first = false;
        s.sort.current = 0;
        HYBZ_TRY(common_bytes(s, count, round.from, limit, stream));
        const KeyLayout layout(groups);
        round.number_bits = layout.block_bits;
        HYBZ_TRY(tied_keys(s, count, round.from, layout, stream));
        HYBZ_TRY(sort_keys(lane, count, layout.unused));
    }
}

int return_text(hybz_lane *lane, const LineBatch &batch, const Place &place, uint32_t *sorted_lengths,
                Clock::time_point deadline) {
    SortingLines &s = lane->lines;
    LinesStaging &staging = lane->staged<LinesStaging>();
    const cudaStream_t stream = lane->stream;
    HYBZ_TRY(place_lines(s, batch, stream));
    lane->record();
    HYBZ_TRY(copy_lines(s, batch, stream));
    lane->record();
    HYBZ_TRY(lane->fetch(staging.range_end, s.range_end, batch.ranges * 4));
    HYBZ_TRY(lane->wait(deadline));
    uint32_t total = 0;
    for (uint32_t r = 0; r < batch.ranges; r++) {
        const uint32_t end = staging.range_end[r];
        if (end < total || end > batch.bytes) return HYBZ_WRONG;
        sorted_lengths[r] = end - total;
        total = end;
    }
    const auto way = place.to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    HYBZ_TRY(cudaMemcpyAsync(place.sorted, s.sorted, total, way, stream));
    lane->record();
    return lane->wait(deadline);
}

// Whether the parts of each range add up to its length.
bool parts_fit(const LineBatch &batch, const uint32_t *lengths, const Place &place) {
    const hybz_slice *slice = place.slices;
    for (uint32_t r = 0; r < batch.ranges; r++) {
        uint64_t length = place.host_lengths[r];
        for (uint32_t i = 0; i < place.counts[r]; i++, slice++) {
            if (slice->length > lengths[r]) return false;
            length += slice->length;
        }
        if (length != lengths[r]) return false;
    }
    return true;
}

// Copies all text to the device, and writes zeros after it.
int bring_text(hybz_lane *lane, const LineBatch &batch, const Place &place) {
    const SortingLines &s = lane->lines;
    HYBZ_TRY(cudaMemsetAsync(s.text + batch.bytes, 0, kLinePadding, lane->stream));
    if (!place.slices) {
        const auto way = place.from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
        return int(cudaMemcpyAsync(s.text, place.text, batch.bytes, way, lane->stream));
    }
    const hybz_slice *slice = place.slices;
    const uint8_t *text = place.text;
    uint8_t *to = s.text;
    for (uint32_t r = 0; r < batch.ranges; r++) {
        const uint32_t host_length = place.host_lengths[r];
        if (host_length) HYBZ_TRY(lane->send(to, text, host_length));
        text += host_length;
        to += host_length;
        for (uint32_t i = 0; i < place.counts[r]; i++, slice++) {
            HYBZ_TRY(cudaMemcpyAsync(to, slice->text, slice->length, cudaMemcpyDeviceToDevice, lane->stream));
            to += slice->length;
        }
    }
    return 0;
}

int sort_lines(hybz_lane *lane, LineBatch batch, const uint32_t *lengths, const Place &place, uint32_t *sorted_lengths,
               Clock::time_point deadline, hybz_lines_report *report) {
    if (lane->pipeline != HYBZ_LINES || batch.ranges < 1 || batch.ranges > lane->max_blocks || batch.end > 255)
        return HYBZ_ARGUMENT;
    SortingLines &s = lane->lines;
    LinesStaging &staging = lane->staged<LinesStaging>();
    const cudaStream_t stream = lane->stream;
    uint64_t total = 0;
    for (uint32_t r = 0; r < batch.ranges; r++) {
        staging.range_begin[r] = uint32_t(total);
        total += lengths[r];
        if (lengths[r] < 1 || total > lane->max_bytes) return HYBZ_ARGUMENT;
        const bool seen = !place.from_device && !place.slices; // the device checks the others
        if (seen && place.text[total - 1] != batch.end) return HYBZ_ARGUMENT;
    }
    if (place.slices && !parts_fit(batch, lengths, place)) return HYBZ_ARGUMENT;
    staging.range_begin[batch.ranges] = batch.bytes = uint32_t(total);

    HYBZ_TRY(lane->begin());
    lane->record(); // an event between each two steps, in the order of the report's times
    HYBZ_TRY(bring_text(lane, batch, place));
    HYBZ_TRY(cudaMemsetAsync(s.flags, 0, kLineFlags * 4, stream));
    HYBZ_TRY(lane->send(s.range_begin, staging.range_begin, (batch.ranges + 1) * 4));
    lane->record();
    HYBZ_TRY(line_table(s, batch, stream));
    HYBZ_TRY(find_all(lane, batch, deadline));
    lane->record();
    const KeyLayout layout(batch.ranges);
    s.sort.current = 0;
    HYBZ_TRY(range_common(s, batch, kFirstLimit, stream));
    HYBZ_TRY(first_keys(s, batch, layout, stream));
    int from_bit = layout.unused;
    if (batch.lines >= kManyLines) {
        HYBZ_TRY(lane->fetch(staging.flags, s.flags, kLineFlags * 4));
        HYBZ_TRY(lane->wait(deadline));
        from_bit = std::max(from_bit, std::min(63, 64 - int(staging.flags[kUsedBits])));
    }
    lane->record();
    HYBZ_TRY(sort_keys(lane, batch.lines, from_bit));
    lane->record();
    HYBZ_TRY(sort_ties(lane, batch, deadline, report));
    lane->record();
    HYBZ_TRY(return_text(lane, batch, place, sorted_lengths, deadline));
    if (report) {
        const auto ms = [&](uint32_t event) { return lane->elapsed(event, event + 1); };
        *report = {total, report->sorted_again, batch.lines, report->tied, report->rounds, ms(0), ms(1), ms(2), ms(3),
                   ms(4), ms(5),                ms(6),       ms(7),        ms(8)};
    }
    return 0;
}

} // namespace

int lay_out_lines(hybz_lane *lane, Needs *needs) {
    SortingLines &s = lane->lines;
    const uint64_t bytes = lane->max_bytes;
    const uint64_t n = HYBZ_MAX_LINES(bytes), tiles = blocks_for(bytes, kLineTile);
    size_t for_sort = 0, for_scans = 0;
    HYBZ_TRY(sort_temporary(uint32_t(n), &for_sort));
    HYBZ_TRY(line_scans_temporary(uint32_t(n), uint32_t(bytes), &for_scans));
    s.temporary_bytes = std::max(for_sort, for_scans);
    uint32_t *line = nullptr, *group = nullptr; // of both generations
    const Array arrays[] = {
        {&s.text, bytes + kLinePadding},
        {&s.sorted, bytes + kLinePadding},
        {&s.range_begin, (HYBZ_MAX_BLOCKS + 1) * 4},
        {&s.range_line, (HYBZ_MAX_BLOCKS + 1) * 4},
        {&s.range_end, HYBZ_MAX_BLOCKS * 4},
        {&s.pairs, kPairs * 4},
        {&s.table, kMarkedTable * 4},
        {&s.tiles, tiles * 4},
        {&s.begin, (n + 1) * 4},
        {&s.sort.keys[0], n * 8},
        {&s.sort.keys[1], n * 8},
        {&s.sort.values[0], n * 4},
        {&s.sort.values[1], n * 4},
        {&s.starts, n * 4},
        {&s.order, n * 4},
        {&s.same, n},
        {&s.places, n * 8},
        {&line, n * 4},
        {&group, n * 4},
        {&s.tied[0].row, n * 4},
        {&s.tied[1].row, n * 4},
        {&s.first, n * 4},
        {&s.depth, n * 4},
        {&s.common, n * 4},
        {&s.keyed, n * 4},
        {&s.out_end, n * 4},
        {&s.flags, kLineFlags * 4},
        {&s.temporary, s.temporary_bytes},
    };
    *needs = {lay_out_arrays(arrays, lane->memory), sizeof(LinesStaging)};
    for (TiedLines &tied : s.tied) {
        tied.line = line;
        tied.group = group;
    }
    return 0;
}

extern "C" int hybz_lane_lines(hybz_lane *lane, uint32_t ranges, const uint32_t *lengths, const uint8_t *text,
                               uint32_t end, uint32_t flags, uint8_t *sorted, uint32_t *sorted_lengths,
                               uint32_t timeout_ms, hybz_lines_report *report) {
    return sort_lines(lane, {ranges, 0, 0, end, flags}, lengths, {text, sorted}, sorted_lengths,
                      deadline_of(timeout_ms), report);
}

extern "C" int hybz_lane_lines_on_device(hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t end,
                                         uint32_t flags, uint8_t *sorted, uint32_t *sorted_length, uint32_t timeout_ms,
                                         hybz_lines_report *report) {
    return sort_lines(lane, {1, 0, 0, end, flags}, &length, {text, sorted, true, true}, sorted_length,
                      deadline_of(timeout_ms), report);
}

extern "C" int hybz_lane_lines_keep(hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t end, uint8_t *kept,
                                    uint32_t timeout_ms, hybz_lines_report *report) {
    uint32_t kept_length = 0;
    const int error = sort_lines(lane, {1, 0, 0, end, 0}, &length, {text, kept, false, true}, &kept_length,
                                 deadline_of(timeout_ms), report);
    return error || kept_length == length ? error : HYBZ_WRONG;
}

extern "C" int hybz_lane_lines_gather(hybz_lane *lane, uint32_t ranges, const uint32_t *lengths,
                                      const uint32_t *host_lengths, const uint8_t *text, const uint32_t *counts,
                                      const hybz_slice *slices, uint32_t end, uint32_t flags, uint8_t *sorted,
                                      uint32_t *sorted_lengths, uint32_t timeout_ms, hybz_lines_report *report) {
    return sort_lines(lane, {ranges, 0, 0, end, flags}, lengths,
                      {text, sorted, false, false, host_lengths, counts, slices}, sorted_lengths,
                      deadline_of(timeout_ms), report);
}

} // namespace hybz
