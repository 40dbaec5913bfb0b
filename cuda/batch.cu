// batch.cu: a batch from upload to sorted rows, and the plainest pipeline, which returns columns.
//
// Algorithm: rank doubling (Manber and Myers 1990; on a GPU Osipov 2012) over the cyclic rotations of all blocks
// together.
//   1 keys       every rotation gets a key: block id and the next 6 to 17 symbols, coded (keys.cuh)
//   2 sort       a sample sort of all of them (sample_sort.cu) to ranges of some 2,000 keys
//   3 group      a CTA sorts a range; equal keys form groups, which the text splits further; single rotations are final
//                and leave (ranges.cu)
//   4 rounds     each group is split by the ranks `depth` symbols further on: small groups in shared memory
//                (refine.cu), large ones by a radix sort (group.cu); then new ranks are committed; until none is tied
// The hybrid pipeline and large blocks have other keys, of suffixes, which CUB's radix sort sorts (keys.cu, sort.cu,
// first.cu), and last steps of their own (thirds.cu, suffixes.cu). Every round at least doubles each group's depth, and
// rotations of a primitive block of n bytes differ within n.
//
// Measured (H200, 200 blocks of 900 kB, ps a byte of device time; "before" with CUB's sort):
//           samples  sort  group  rounds  all            before
//   linux       6.1  19.4  73.1      61   160 (6.3 GB/s)    199
//   nci         6.1  37.4  49.6     177   270 (3.7 GB/s)    311
//   dickens     6.1  18.8  53.8       4    83 (12.1 GB/s)   115
// Of linux's group step, 21 ps sort the ranges, and 38 are the steps on text; ranks, columns and lists take 11 more.
// Transfers, 18 ps each way, overlap with other lanes.
//
// The host reads 24 bytes after each round: about 20 us for 4 to 14 rounds, which is negligible against the 50 ms of a
// full batch.
#include "lane.cuh"
#include <algorithm>

// Keys of up to this many bits are sorted as 32 bits. (Set to 0, it makes small blocks test the 64-bit sort.)
#ifndef HYBZ_SHORT_KEY_BITS
#define HYBZ_SHORT_KEY_BITS 32
#endif

namespace hybz {

int upload(hybz_lane *lane, TableKind kind, const uint8_t *text, uint32_t total, Events &events, hybz_report *report) {
    Arena &arena = lane->arena;
    Staging &staging = lane->staged<Staging>();
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream = lane->usual;
    events.begin = lane->record();
    HYBZ_TRY(lane->send(arena.text, text, total));
    events.uploaded = lane->record();
    const auto table_begin = Clock::now();
    code_table(text, total, staging.table, kind.marks, kind.max_code);
    if (report) {
        report->bytes = total;
        report->table_ms = std::chrono::duration<float, std::milli>(Clock::now() - table_begin).count();
    }
    const size_t entries = kind.marks ? kMarkedTable : kTableEntries;
    HYBZ_TRY(lane->send(arena.table, staging.table, entries * 4));
    HYBZ_TRY(lane->send(arena.base, staging.base, sizeof staging.base));
    if (kind.marks)
        HYBZ_TRY(lane->send(arena.text_base, staging.text_base, sizeof staging.text_base));
    return cudaMemsetAsync(arena.counters, 0, (HYBZ_MAX_ROUNDS + 1) * sizeof(Counters), stream);
}

namespace {

template <class Key> Groups<Key> sorted_groups(const Arena &arena, uint32_t count) {
    const Key *const keys = reinterpret_cast<const Key *>(arena.sort.keys[arena.sort.current]);
    return {keys, arena.sort.values[arena.sort.current], arena.starts, count};
}

FirstLists first_lists(const hybz_lane &lane) {
    return {lane.arena.lists[0], {lane.arena.number_of, lane.arena.head_of[0]}, lane.capacity};
}

// The first sort by CUB, from keys in arena.sort to ranks and the lists of tied rotations.
int sort_keys(hybz_lane *lane, const Batch &batch, const KeyLayout &layout, uint32_t text_steps, Events &events) {
    Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    HYBZ_TRY(sort_pairs<uint64_t>(arena.temporary, lane->temporary_bytes, arena.sort, batch.total, layout.unused, 64,
                                  stream));
    events.sorted = lane->record();
    const auto groups = sorted_groups<uint64_t>(arena, batch.total);
    HYBZ_TRY(run_starts(arena.temporary, lane->temporary_bytes, groups.keys, arena.starts, batch.total, stream));
    HYBZ_TRY(group_first(batch, groups, layout.block_bits, text_steps, first_lists(*lane), arena.counters, stream));
    events.grouped = lane->record();
    return 0;
}

// The first sort of rotations, from their texts. If counters->overflows is set afterwards, its results are useless.
int sort_sampled(hybz_lane *lane, const Batch &batch, const KeyLayout &layout, uint32_t max_length, Events &events) {
    Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    const uint32_t blocks = batch.blocks, ranges = ranges_of(max_length);
    uint32_t *const sample_base = lane->staged<Staging>().sample_base, *const base = lane->staged<Staging>().base;
    sample_base[0] = 0;
    for (uint32_t b = 0; b < blocks; b++) sample_base[b + 1] = sample_base[b] + samples_of(base[b + 1] - base[b]);
    HYBZ_TRY(lane->send(arena.sample_base, sample_base, (blocks + 1) * 4));
    SampleSort sort{};
    sort.sample_base = arena.sample_base;
    sort.unsorted = reinterpret_cast<uint64_t *>(arena.done.value); // a byte a rotation
    sort.room_keys = arena.sort.keys[0];                            // and keys[1]
    sort.room_values = arena.sort.values[0];
    sort.frequent = arena.lists[1];
    sort.pitch = 2 * ranges;
    sort.guess_pitch = ranges > 1 ? kGuessWords : 1;
    sort.splitters = reinterpret_cast<uint64_t *>(arena.starts); // these four: up to 28 bytes a block, or 5 KB
    sort.guesses = reinterpret_cast<uint32_t *>(sort.splitters + blocks * ranges);
    sort.counts = sort.guesses + blocks * sort.guess_pitch;
    sort.starts = sort.counts + blocks * sort.pitch;
    sort.values = arena.lists[1].depth;
    events.keys_begin = lane->record();
    HYBZ_TRY(cudaMemsetAsync(sort.counts, 0, blocks * sort.pitch * 4, stream));
    HYBZ_TRY(sample_keys(batch, arena.table, layout, sort, max_length, stream));
    HYBZ_TRY(sort_samples(arena.temporary, lane->temporary_bytes, sort, sample_base[blocks], stream));
    events.keys_end = lane->record();
    HYBZ_TRY(distribute_keys(batch, arena.table, layout, sort, max_length, arena.counters, stream));
    HYBZ_TRY(place_ranges(batch, sort, first_lists(*lane), arena.counters, stream));
    events.sorted = lane->record();
    HYBZ_TRY(group_ranges(batch, sort, max_length, first_lists(*lane), arena.counters, stream));
    events.grouped = lane->record();
    return 0;
}

// Splits the large groups of a round: one more radix sort, by this many bits.
template <class Key>
int refine_large(hybz_lane *lane, const Batch &batch, uint32_t round, uint32_t count, int bits) {
    Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    const uint32_t now = round & 1, next = 1 - now;
    arena.sort.current = 0;
    HYBZ_TRY(large_keys(batch, arena.lists[now], lane->capacity, count, arena.number_of,
                        reinterpret_cast<Key *>(arena.sort.keys[0]), arena.sort.values[0], stream));
    HYBZ_TRY(sort_pairs<Key>(arena.temporary, lane->temporary_bytes, arena.sort, count, 0, bits, stream));
    const auto groups = sorted_groups<Key>(arena, count);
    HYBZ_TRY(run_starts(arena.temporary, lane->temporary_bytes, groups.keys, arena.starts, count, stream));
    return group_large(batch, groups, arena.head_of[now], arena.first_of, arena.lists[next],
                       {arena.number_of, arena.head_of[next]}, arena.done, lane->capacity, arena.counters + round + 1,
                       stream);
}

// Reports the counts after round `round - 1`, or for 0 after the first sort.
void report_counts(const Counters &counters, uint32_t round, hybz_report *report) {
    const uint32_t small = counters.count[kToSmall], large = counters.count[kToLarge];
    if (round == 0) {
        report->tied_small = small;
        report->tied_large = large;
    } else {
        report->round[round - 1].resolved = counters.count[kToDone];
    }
    if (small + large != 0 && round < HYBZ_MAX_ROUNDS) {
        report->round[round].small = small;
        report->round[round].large = large;
    }
}

// Waits, and reads the counts after round `round - 1`, or for 0 after the first sort.
int read_counters(hybz_lane *lane, uint32_t round, Clock::time_point deadline) {
    HYBZ_TRY(lane->fetch(&lane->staged<Staging>().counters, lane->arena.counters + round, sizeof(Counters)));
    HYBZ_TRY(lane->wait(deadline));
    lane->hurry();
    return 0;
}

// The rounds, until all ranks are distinct. The counts after the first sort have been read.
//
// The rounds, and what follows them, are short kernels, each of which needs the one before it. Without priority each of
// them waited until all CTAs of the long kernels of other lanes' first sorts had been placed: with ten lanes, the large
// groups of a batch took 9 ms instead of 3, and 8 GB of linux 2.87 s instead of 2.33 (H200, medians of four).
int sort_tied(hybz_lane *lane, const Batch &batch, Clock::time_point deadline, Events &events, hybz_report *report) {
    Arena &arena = lane->arena;
    Staging &staging = lane->staged<Staging>();
    for (uint32_t round = 0;; round++) {
        const uint32_t small = staging.counters.count[kToSmall], large = staging.counters.count[kToLarge];
        if (report) report_counts(staging.counters, round, report);
        events.rounds = round;
        if (small + large == 0) return 0;
        if (round == HYBZ_MAX_ROUNDS) return HYBZ_PERIODIC;

        const List in = arena.lists[round & 1], out = arena.lists[1 - (round & 1)];
        Counters *const counters = arena.counters + round + 1;
        events.round[round][0] = lane->record();
        if (small) HYBZ_TRY(refine_small(batch, in, small, out, arena.done, counters, lane->stream));
        events.round[round][1] = lane->record();
        if (large) {
            int bits = lane->pitch_bits;
            while (uint64_t(staging.counters.groups - 1) >> (bits - lane->pitch_bits)) bits++;
            const auto refine = bits <= HYBZ_SHORT_KEY_BITS ? refine_large<uint32_t> : refine_large<uint64_t>;
            HYBZ_TRY(refine(lane, batch, round, large, bits));
        }
        events.round[round][2] = lane->record();
        HYBZ_TRY(commit(batch, out, lane->capacity, arena.done, small + large, counters, lane->stream));
        events.round[round][3] = lane->record();
        HYBZ_TRY(read_counters(lane, round + 1, deadline));
    }
}

} // namespace

int sort_rotations(hybz_lane *lane, const Batch &batch, uint32_t max_length, Clock::time_point deadline, Events &events,
                   hybz_report *report) {
    Arena &arena = lane->arena;
    const KeyLayout layout(batch.blocks, kLongSortBits);
    HYBZ_TRY(sort_sampled(lane, batch, layout, max_length, events));
    HYBZ_TRY(read_counters(lane, 0, deadline));
    if (lane->staged<Staging>().counters.overflows) {
        HYBZ_TRY(cudaMemsetAsync(arena.counters, 0, sizeof(Counters), lane->stream));
        arena.sort.current = 0;
        HYBZ_TRY(make_keys(batch, arena.table, layout, max_length, arena.sort.keys[0], arena.sort.values[0],
                           lane->stream));
        HYBZ_TRY(sort_keys(lane, batch, layout, kTextSteps, events));
        HYBZ_TRY(read_counters(lane, 0, deadline));
    }
    return sort_tied(lane, batch, deadline, events, report);
}

int sort_suffixes(hybz_lane *lane, const Batch &batch, bool sample, uint32_t max_length, Clock::time_point deadline,
                  Events &events, hybz_report *report) {
    Arena &arena = lane->arena;
    const KeyLayout layout(batch.blocks, sample ? kSortBits : kShortSortBits);
    arena.sort.current = 0;
    events.keys_begin = lane->record();
    HYBZ_TRY(suffix_keys(batch, arena.text_base, sample, arena.table, layout, max_length, arena.sort.keys[0],
                         arena.sort.values[0], lane->stream));
    events.keys_end = lane->record();
    HYBZ_TRY(sort_keys(lane, batch, layout, sample ? 0 : kTextSteps, events));
    HYBZ_TRY(read_counters(lane, 0, deadline));
    return sort_tied(lane, batch, deadline, events, report);
}

int sort_columns(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                 Clock::time_point deadline, Events &events, hybz_report *report) {
    Staging &staging = lane->staged<Staging>();
    uint32_t total = 0, max_length = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        if (lengths[b] < HYBZ_MIN_LENGTH || lengths[b] > lane->max_length) return HYBZ_ARGUMENT;
        staging.base[b] = total;
        total += lengths[b];
        max_length = std::max(max_length, lengths[b]);
    }
    for (uint32_t b = blocks; b <= HYBZ_MAX_BLOCKS; b++) staging.base[b] = total;

    HYBZ_TRY(upload(lane, kRotationTable, text, total, events, report));
    return sort_rotations(lane, batch_of(*lane, blocks, total, false), max_length, deadline, events, report);
}

int finish(hybz_lane *lane, uint32_t blocks, uint32_t *origins, Clock::time_point deadline, Events &events,
           hybz_report *report) {
    uint32_t *const staged = lane->staged<Staging>().origin;
    HYBZ_TRY(lane->fetch(staged, lane->arena.origin, blocks * sizeof(uint32_t)));
    events.end = lane->record();
    HYBZ_TRY(lane->wait(deadline));
    memcpy(origins, staged, blocks * sizeof(uint32_t));
    if (report) fill_report(*lane, events, report);
    return 0;
}

void fill_report(const hybz_lane &lane, const Events &events, hybz_report *report) {
    report->ms[HYBZ_STEP_UPLOAD] = lane.elapsed(events.begin, events.uploaded);
    report->ms[HYBZ_STEP_KEYS] = lane.elapsed(events.keys_begin, events.keys_end);
    report->ms[HYBZ_STEP_SORT] = lane.elapsed(events.keys_end, events.sorted);
    report->ms[HYBZ_STEP_GROUP] = lane.elapsed(events.sorted, events.grouped);
    report->ms[HYBZ_STEP_DOWNLOAD] = lane.elapsed(events.download, events.end);
    report->rounds = events.rounds;
    float *const sums = report->ms + HYBZ_STEP_SMALL_ROUNDS;
    sums[0] = sums[1] = sums[2] = 0;
    for (uint32_t r = 0; r < events.rounds; r++) {
        hybz_round &round = report->round[r];
        sums[0] += round.small_ms = lane.elapsed(events.round[r][0], events.round[r][1]);
        sums[1] += round.large_ms = lane.elapsed(events.round[r][1], events.round[r][2]);
        sums[2] += round.commit_ms = lane.elapsed(events.round[r][2], events.round[r][3]);
    }
}

extern "C" int hybz_lane_bwt(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                             uint8_t *column, uint32_t *origins, uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (blocks < 1 || blocks > lane->max_blocks || lane->pipeline != HYBZ_BWT) return HYBZ_ARGUMENT;
    Events events;
    HYBZ_TRY(sort_columns(lane, blocks, lengths, text, deadline, events, report));
    events.download = lane->record();
    HYBZ_TRY(lane->fetch(column, lane->arena.column, lane->staged<Staging>().base[blocks]));
    return finish(lane, blocks, origins, deadline, events, report);
}

} // namespace hybz
