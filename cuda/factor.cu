// factor.cu: exact LZ77 factors of a text: the sort of suffixes.cu, then the steps of factor.cuh.
//
// The sort writes positions where it otherwise writes letters, so its cost does not change, and it leaves the ranks
// that longest.cu needs. The other arrays reuse memory of the sort: a lane takes as much memory as for `.hbz` blocks,
// except that the order takes 4 bytes per byte where letters take 1.
#include "factor.cuh"
#include "lane.cuh"
#include <algorithm>

namespace hybz {

namespace {

// Places the steps' arrays in the memory of the sort.
Factoring lay_out_factoring(const Arena &arena, uint32_t n) {
    Factoring f{};
    set_levels(f, n, arena.lists[0].value, arena.lists[0].head);
    f.text = arena.text;
    f.order = arena.order;
    f.rank = arena.rank;
    f.pieces = blocks_for(n, kPiece);
    f.groups = blocks_for(n, kGroup);
    // Each of the sort's arrays has an element of 8 or 4 bytes for each row.
    f.pairs = reinterpret_cast<uint2 *>(arena.sort.keys[0]);
    f.factors = reinterpret_cast<hybz_factor *>(arena.sort.keys[1]);
    f.longest = arena.sort.values[0];
    f.after_piece = arena.sort.values[1];
    f.after_group = arena.starts;
    f.enters_group = arena.lists[0].depth;
    f.enters_piece = arena.lists[1].value;
    f.marks = arena.lists[1].head;
    f.before = arena.lists[1].depth;
    f.counts = reinterpret_cast<hybz_factor_counts *>(arena.origin);
    return f;
}

int factorize(hybz_lane *lane, const Factoring &f, uint32_t divisions, bool runs, uint32_t (&events)[5]) {
    const cudaStream_t stream = lane->stream;
    HYBZ_TRY(cudaMemsetAsync(f.counts, 0, sizeof(hybz_factor_counts), stream));
    events[0] = lane->record();
    HYBZ_TRY(find_neighbours(f, stream));
    events[1] = lane->record();
    HYBZ_TRY(find_longest(f, stream));
    if (divisions > 1) HYBZ_TRY(cut_longest(f, divisions, stream));
    events[2] = lane->record();
    HYBZ_TRY(find_path(f, stream));
    events[3] = lane->record();
    if (runs) HYBZ_TRY(count_runs(f, stream));
    events[4] = lane->record();
    return 0;
}

} // namespace

void set_levels(Factoring &f, uint32_t n, uint32_t *minima, uint32_t *known) {
    f.n = n;
    f.rows = n + 1;
    f.levels = 0;
    for (uint32_t count = blocks_for(f.rows, kStrip);; count = blocks_for(count, kFan)) {
        f.nodes[f.levels] = count;
        f.minima[f.levels++] = minima;
        minima += count;
        if (count <= kFan) break;
    }
    f.strides = 1;
    for (uint32_t count = n; count > kRun; f.strides++) {
        count = blocks_for(count, kRun);
        f.known[f.strides] = reinterpret_cast<uint2 *>(known);
        known += 2 * uint64_t(count);
    }
}

extern "C" int hybz_lane_factor(hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t divisions, int32_t runs,
                                hybz_factor_counts *counts, uint32_t timeout_ms, hybz_factor_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (lane->pipeline != HYBZ_FACTOR || length < HYBZ_MIN_LENGTH || length > lane->max_length) return HYBZ_ARGUMENT;
    Staging &staging = lane->staged<Staging>();
    for (uint32_t b = 0; b <= HYBZ_MAX_BLOCKS; b++) {
        staging.text_base[b] = b ? length : 0;
        staging.base[b] = b ? length + 1 : 0;
    }
    lane->factors = 0;
    Events events;
    hybz_report sorted{};
    HYBZ_TRY(upload(lane, kSuffixTable, text, length, events, &sorted));
    const Batch batch = batch_of(*lane, 1, length + 1, true, lane->arena.order);
    HYBZ_TRY(sort_suffixes(lane, batch, false, length, deadline, events, &sorted));
    uint32_t steps[5];
    HYBZ_TRY(factorize(lane, lay_out_factoring(lane->arena, length), divisions, runs != 0, steps));
    HYBZ_TRY(lane->fetch(staging.origin, lane->arena.origin, sizeof *counts));
    HYBZ_TRY(lane->wait(deadline));
    memcpy(counts, staging.origin, sizeof *counts);
    // Each factor has at least a byte.
    if (counts->factors < 1 || counts->factors > length) return HYBZ_WRONG;
    lane->factors = counts->factors;
    if (report) {
        const auto ms = [&](uint32_t from, uint32_t to) { return lane->elapsed(from, to); };
        *report = {length,
                   events.rounds,
                   sorted.table_ms,
                   ms(events.begin, events.uploaded),
                   ms(events.keys_begin, steps[0]),
                   ms(steps[0], steps[1]),
                   ms(steps[1], steps[2]),
                   ms(steps[2], steps[3]),
                   ms(steps[3], steps[4])};
    }
    return 0;
}

extern "C" int hybz_lane_factors(hybz_lane *lane, uint32_t from, uint32_t count, hybz_factor *factors,
                                 uint32_t timeout_ms) {
    const auto deadline = deadline_of(timeout_ms);
    if (lane->pipeline != HYBZ_FACTOR || from > lane->factors || count > lane->factors - from) return HYBZ_ARGUMENT;
    HYBZ_TRY(cudaSetDevice(lane->device));
    const hybz_factor *const all = reinterpret_cast<const hybz_factor *>(lane->arena.sort.keys[1]);
    HYBZ_TRY(lane->fetch(factors, all + from, uint64_t(count) * sizeof(hybz_factor)));
    return lane->wait(deadline);
}

} // namespace hybz
