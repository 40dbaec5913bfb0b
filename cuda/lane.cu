// lane.cu: the C interface (hybz.h): a lane's memory, and a batch from upload to download.
//
// Algorithm: rank doubling over cyclic rotations (Manber and Myers 1990; on a GPU Osipov 2012) of all blocks at once.
//   1 keys.cu    every rotation gets a key: block id and the next 6 to 15 symbols, coded
//   2 sort.cu    one radix sort of all of them
//   3 group.cu   equal keys form groups; single rotations are final and leave
//   4 rounds     each group is split by the ranks `depth` symbols further on: small groups in shared memory (refine.cu), large
//                ones by one more radix sort (group.cu); then new ranks are committed; until nothing is tied
// The hybrid shape and large blocks have other keys, of suffixes, and their own last steps (thirds.cu, suffixes.cu).
// Every round at least doubles each group's depth, and rotations of a primitive block of n bytes differ within n.
//
// Measured (H200, batches of 224 or 256 blocks of 900 kB, ps a byte of device time; "model" is ALGORITHMS' prediction):
//              keys  sort  group  rounds  all           model
//   linux      10.8  61.7  32.5   142     247 (4.0 GB/s)  223
//   nci        13.2  58.5  28.0   240     340 (2.9 GB/s)  292
//   dickens    11.5  61.7  30.9    30     134 (7.5 GB/s)  127
// Raw keys instead of coded ones, one step: linux 324, and without refine.cu (all groups by CUB) 407 (model 329). Keys of 48
// bits instead of 56 save 9 ps of sort and cost 20 in the rounds (linux). What misses the model is the rank scatter in the
// group step (all ranks, 17 ps, besides 12 for flags) and the groups of 20 and more, where counting costs more than the model's
// radix sort. Transfers, 18 ps each way, overlap with other lanes.
//
// The host reads 12 bytes after each round (about 20 us for 4 to 14 rounds: nothing next to 50 ms of a full batch).
#include "lane.cuh"
#include <algorithm>
#include <cstring>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace hybz;

namespace {

// How many rotations or suffixes of a text of so many bytes in so many blocks are sorted, at most.
uint64_t sorted_of(int32_t pipeline, uint64_t text, uint64_t blocks) {
    return pipeline == HYBZ_HYBRID ? text - text / 3 + blocks : pipeline == HYBZ_SUFFIXES ? text + blocks : text;
}

// Gives each array its place at `memory` (null: only sums up). Sizes for a text of so many bytes in so many blocks, of which n
// rotations are sorted, in m rows with pitch; coding comes where the sort has been.
uint64_t lay_out(Arena &a, uint8_t *memory, int32_t pipeline, uint64_t text, uint64_t blocks, uint64_t m, uint64_t temporary,
                 uint64_t coding) {
    const bool hybrid = pipeline == HYBZ_HYBRID, wide = pipeline == HYBZ_SUFFIXES;
    const uint64_t n = sorted_of(pipeline, text, blocks);
    const uint64_t others = hybrid ? text / 3 + blocks : 0;
    // A tuning may call every pair of rows large; wide batches have no tuning.
    const uint64_t large_groups = 4 * (m >> number_shift(wide));
    const uint64_t sorting = n * 60; // from keys[0] to done.head
    const Row rows[] = {
        // pointer               bytes                             what
        {&a.text, text},                                        // the blocks, back to back
        {&a.column, n + others},                                // their last columns
        {&a.table, kMarkedTable * 4},                           // code words
        {&a.base, (HYBZ_MOST_BLOCKS + 1) * 4},                  // first rotation of each block
        {&a.text_base, (HYBZ_MOST_BLOCKS + 1) * 4},             // hybrid, suffixes: first byte
        {&a.third_base, (HYBZ_MOST_BLOCKS + 1) * 4},            // hybrid: first row not in the sample
        {&a.turn, (HYBZ_MOST_BLOCKS + 1) * 4},                  // hybrid: where the block began
        {&a.order, hybrid ? n * 4 : 0},                         // hybrid: sorted values of the sample
        {&a.third_keys, hybrid ? (n + 2 * others) * 4 : 0},     // hybrid: what the CPU compares
        {&a.origin, HYBZ_MOST_BLOCKS * 4},                      //
        {&a.counters, (HYBZ_MOST_ROUNDS + 1) * sizeof(Counters)}, // one for each round, and the first sort's
        {&a.sort.keys[0], n * 8},                               // radix sort: keys
        {&a.sort.keys[1], n * 8},                               //
        {&a.sort.values[0], n * 4},                             //   values
        {&a.sort.values[1], n * 4},                             //
        {&a.starts, n * 4},                                     // where the run of equal keys begins
        {&a.rank, m * 4},                                       // of each rotation
        {&a.depth, m * 4},                                      // of each group, at its head's row
        {&a.lists[0].value, n * 4},                             // tied rotations, two generations
        {&a.lists[0].head, n * 4},                              //
        {&a.lists[0].depth, n * 4},                             //
        {&a.lists[1].value, n * 4},                             //
        {&a.lists[1].head, n * 4},                              //
        {&a.lists[1].depth, n * 4},                             //
        {&a.done.value, n * 4},                                 // rotations that became final in this round
        {&a.done.head, n * 4},                                  //
        {&a.tables.head_of, large_groups},                      // large groups
        {&a.tables.first_of, large_groups},                     //
        {&a.more, coding > sorting ? coding - sorting : 0},     // resident: tiny blocks' tables
        {&a.temporary, temporary},                              // CUB's
    };
    return place_rows(rows, memory);
}

// Enough bits for an index.
int pitch_of(int32_t pipeline, uint32_t longest) {
    const uint64_t rows = uint64_t(longest) + (pipeline == HYBZ_SUFFIXES);
    int bits = 0;
    while (uint64_t(1) << bits < rows) bits++;
    return bits;
}

bool fits(uint32_t most_blocks, uint32_t longest, int32_t pipeline) {
    if (pipeline < HYBZ_BWT || pipeline > HYBZ_SUFFIXES || most_blocks < 1 || most_blocks > HYBZ_MOST_BLOCKS ||
        longest < HYBZ_SHORTEST)
        return false;
    if (pipeline != HYBZ_SUFFIXES) return longest <= HYBZ_LONGEST;
    // Rows are numbered in 32 bits, and CUB counts in 31.
    return longest <= HYBZ_LONGEST_WIDE && uint64_t(most_blocks) << pitch_of(pipeline, longest) <= uint64_t(1) << 32 &&
           uint64_t(most_blocks) * (longest + 1) <= INT32_MAX;
}

uint64_t coding_of(int32_t pipeline, uint64_t most_blocks, uint64_t longest) {
    return pipeline == HYBZ_RESIDENT ? coding_bytes(most_blocks, longest) : 0;
}

int arena_bytes(uint32_t most_blocks, uint32_t longest, int32_t pipeline, size_t *temporary, uint64_t *bytes) {
    const uint64_t n = uint64_t(most_blocks) * longest;
    HYBZ_TRY(sort_temporary(uint32_t(std::max(n, sorted_of(pipeline, n, most_blocks))), temporary));
    size_t for_thirds = 0;
    if (pipeline == HYBZ_HYBRID) HYBZ_TRY(third_scan(nullptr, &for_thirds, nullptr, nullptr, uint32_t(n), 0));
    *temporary = std::max(*temporary, for_thirds);
    Arena none{};
    *bytes = lay_out(none, nullptr, pipeline, n, most_blocks, uint64_t(most_blocks) << pitch_of(pipeline, longest),
                     *temporary, coding_of(pipeline, most_blocks, longest));
    return 0;
}

int create(hybz_lane *lane) {
    uint64_t bytes = 0;
    HYBZ_TRY(cudaSetDevice(lane->device));
    HYBZ_TRY(arena_bytes(lane->most_blocks, lane->longest, lane->pipeline, &lane->temporary_bytes, &bytes));
    HYBZ_TRY(cudaMalloc(reinterpret_cast<void **>(&lane->memory), bytes));
    lay_out(lane->arena, lane->memory, lane->pipeline, lane->most_bytes, lane->most_blocks,
            uint64_t(lane->most_blocks) << lane->pitch_bits, lane->temporary_bytes,
            coding_of(lane->pipeline, lane->most_blocks, lane->longest));
    HYBZ_TRY(cudaHostAlloc(reinterpret_cast<void **>(&lane->staging), sizeof(Staging), cudaHostAllocDefault));
    HYBZ_TRY(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : lane->events) HYBZ_TRY(cudaEventCreate(&event));
    return 0;
}

} // namespace

extern "C" hybz_tuning hybz_tuning_default(void) { return {56, 1, 3, 1}; }

extern "C" int hybz_lane_bytes(int device, uint32_t most_blocks, uint32_t longest, int32_t pipeline, uint64_t *bytes) {
    if (!fits(most_blocks, longest, pipeline)) return HYBZ_ARGUMENT;
    HYBZ_TRY(cudaSetDevice(device));
    size_t temporary = 0;
    return arena_bytes(most_blocks, longest, pipeline, &temporary, bytes);
}

extern "C" int hybz_lane_create(int device, uint32_t most_blocks, uint32_t longest, int32_t pipeline, hybz_lane **out) {
    *out = nullptr;
    if (!fits(most_blocks, longest, pipeline)) return HYBZ_ARGUMENT;
    hybz_lane *lane = new (std::nothrow) hybz_lane;
    if (!lane) return int(cudaErrorMemoryAllocation);
    lane->device = device;
    lane->most_blocks = most_blocks;
    lane->longest = longest;
    lane->most_bytes = most_blocks * longest;
    lane->pipeline = pipeline;
    lane->capacity = uint32_t(sorted_of(pipeline, lane->most_bytes, most_blocks));
    lane->pitch_bits = pitch_of(pipeline, longest);
    const int code = create(lane);
    if (code != 0) {
        hybz_lane_destroy(lane);
        cudaGetLastError(); // an allocation that failed leaves its error behind
        return code;
    }
    *out = lane;
    return 0;
}

namespace hybz {

int upload(hybz_lane *lane, const Codes &codes, const uint8_t *text, uint32_t total, Marks &marks, hybz_report *report) {
    Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    HYBZ_TRY(cudaSetDevice(lane->device));
    lane->used_events = 0;
    marks.begin = lane->mark();
    HYBZ_TRY(cudaMemcpyAsync(arena.text, text, total, cudaMemcpyHostToDevice, stream));
    marks.uploaded = lane->mark();
    const auto table_begin = Clock::now();
    if (codes.coded) code_table(text, total, staging.table, codes.marks, codes.longest);
    else raw_table(staging.table);
    if (report) {
        report->bytes = total;
        report->table_ms = std::chrono::duration<float, std::milli>(Clock::now() - table_begin).count();
    }
    const size_t entries = codes.marks ? kMarkedTable : kTableEntries;
    HYBZ_TRY(cudaMemcpyAsync(arena.table, staging.table, entries * 4, cudaMemcpyHostToDevice, stream));
    HYBZ_TRY(cudaMemcpyAsync(arena.base, staging.base, sizeof staging.base, cudaMemcpyHostToDevice, stream));
    if (codes.marks)
        HYBZ_TRY(cudaMemcpyAsync(arena.text_base, staging.text_base, sizeof staging.text_base, cudaMemcpyHostToDevice, stream));
    return cudaMemsetAsync(arena.counters, 0, (HYBZ_MOST_ROUNDS + 1) * sizeof(Counters), stream);
}

int sort_all(hybz_lane *lane, const Batch &batch, const hybz_tuning &tuning, const KeyLayout &layout,
             Clock::time_point deadline, Marks &marks, hybz_report *report) {
    Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    const bool counting = tuning.counting != 0;
    const uint32_t capacity = lane->capacity, total = batch.total;
    HYBZ_TRY(sort_pairs(arena.temporary, lane->temporary_bytes, arena.sort, total, layout.unused, 64, stream));
    marks.sorted = lane->mark();
    const auto groups_of = [&](uint32_t count) {
        return Groups{arena.sort.keys[arena.sort.current], arena.sort.values[arena.sort.current], arena.starts, count};
    };
    HYBZ_TRY(run_starts(arena.temporary, lane->temporary_bytes, arena.sort.keys[arena.sort.current], arena.starts, total,
                        stream));
    HYBZ_TRY(group_first(batch, groups_of(total), layout.block_bits, counting, arena.lists[0], capacity, arena.counters,
                         stream));
    marks.grouped = lane->mark();

    for (uint32_t round = 0;; round++) {
        HYBZ_TRY(cudaMemcpyAsync(&staging.counters, arena.counters + round, sizeof(Counters), cudaMemcpyDeviceToHost, stream));
        HYBZ_TRY(lane->wait(deadline));
        const uint32_t small = staging.counters.of[kToSmall], large = staging.counters.of[kToLarge];
        if (report) {
            if (round == 0) {
                report->tied_small = small;
                report->tied_large = large;
            } else {
                report->round[round - 1].resolved = staging.counters.of[kToDone];
            }
        }
        marks.rounds = round;
        if (small + large == 0) return 0;
        if (round == HYBZ_MOST_ROUNDS) return HYBZ_PERIODIC;
        if (report) {
            report->round[round].small = small;
            report->round[round].large = large;
        }
        const List in = arena.lists[round & 1], out = arena.lists[1 - (round & 1)];
        Counters *const counters = arena.counters + round + 1;
        marks.round[round][0] = lane->mark();
        if (small) HYBZ_TRY(refine_small(batch, in, small, tuning.steps, out, arena.done, counters, stream));
        marks.round[round][1] = lane->mark();
        if (large) {
            arena.sort.current = 0;
            HYBZ_TRY(large_keys(batch, in, capacity, large, counting, arena.tables, arena.sort.keys[0],
                                arena.sort.values[0], stream));
            const int number_bits = layout.block_bits + lane->pitch_bits - number_shift(counting);
            HYBZ_TRY(sort_pairs(arena.temporary, lane->temporary_bytes, arena.sort, large, 0,
                                lane->pitch_bits + std::max(number_bits, 1), stream));
            HYBZ_TRY(run_starts(arena.temporary, lane->temporary_bytes, arena.sort.keys[arena.sort.current], arena.starts,
                                large, stream));
            HYBZ_TRY(group_large(batch, groups_of(large), counting, arena.tables, out, arena.done, capacity, counters, stream));
        }
        marks.round[round][2] = lane->mark();
        HYBZ_TRY(commit(batch, out, capacity, arena.done, small + large, counters, stream));
        marks.round[round][3] = lane->mark();
    }
}

int sort_suffixes(hybz_lane *lane, const Batch &batch, bool sample, const hybz_tuning &tuning, const KeyLayout &layout,
                  uint32_t longest, Clock::time_point deadline, Marks &marks, hybz_report *report) {
    Arena &arena = lane->arena;
    arena.sort.current = 0;
    marks.keyed_from = lane->mark();
    HYBZ_TRY(suffix_keys(batch, arena.text_base, sample, arena.table, layout.block_bits, layout.code_bits, longest,
                         arena.sort.keys[0], arena.sort.values[0], lane->stream));
    marks.keyed = lane->mark();
    return sort_all(lane, batch, tuning, layout, deadline, marks, report);
}

void tell(const hybz_lane &lane, const Marks &marks, hybz_report *report) {
    report->upload_ms = lane.between(marks.begin, marks.uploaded);
    report->keys_ms = lane.between(marks.keyed_from, marks.keyed);
    report->sort_ms = lane.between(marks.keyed, marks.sorted);
    report->group_ms = lane.between(marks.sorted, marks.grouped);
    report->download_ms = lane.between(marks.download, marks.end);
    report->rounds = marks.rounds;
    for (uint32_t r = 0; r < marks.rounds; r++) {
        report->round[r].small_ms = lane.between(marks.round[r][0], marks.round[r][1]);
        report->round[r].large_ms = lane.between(marks.round[r][1], marks.round[r][2]);
        report->round[r].commit_ms = lane.between(marks.round[r][2], marks.round[r][3]);
    }
}

int sort_columns(hybz_lane *lane, const hybz_tuning &tuning, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                 Clock::time_point deadline, Marks &marks, hybz_report *report) {
    Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    uint32_t total = 0, longest = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        if (lengths[b] < HYBZ_SHORTEST || lengths[b] > lane->longest) return HYBZ_ARGUMENT;
        staging.base[b] = total;
        total += lengths[b];
        longest = std::max(longest, lengths[b]);
    }
    for (uint32_t b = blocks; b <= HYBZ_MOST_BLOCKS; b++) staging.base[b] = total;

    HYBZ_TRY(upload(lane, {tuning.coded != 0, 0, kLongestCode}, text, total, marks, report));
    const KeyLayout layout(blocks, tuning.sort_bits);
    const Batch batch{blocks,  total,        lane->pitch_bits, arena.base, arena.text,
                      arena.column, nullptr, arena.origin,     arena.rank, arena.depth, false};
    arena.sort.current = 0;
    marks.keyed_from = lane->mark();
    HYBZ_TRY(make_keys(batch, arena.table, layout.block_bits, layout.code_bits, longest, arena.sort.keys[0],
                       arena.sort.values[0], stream));
    marks.keyed = lane->mark();
    return sort_all(lane, batch, tuning, layout, deadline, marks, report);
}

} // namespace hybz

extern "C" int hybz_lane_bwt(hybz_lane *lane, const hybz_tuning *given, uint32_t blocks, const uint32_t *lengths,
                             const uint8_t *text, uint8_t *column, uint32_t *origins, uint32_t deadline_ms,
                             hybz_report *report) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
    const hybz_tuning tuning = given ? *given : hybz_tuning_default();
    if (blocks < 1 || blocks > lane->most_blocks || tuning.sort_bits < 40 || tuning.sort_bits > 56 || tuning.steps < 1 ||
        tuning.steps > 3 || lane->pipeline != HYBZ_BWT)
        return HYBZ_ARGUMENT;
    Marks marks;
    HYBZ_TRY(sort_columns(lane, tuning, blocks, lengths, text, deadline, marks, report));
    Staging &staging = *lane->staging;
    marks.download = lane->mark();
    HYBZ_TRY(cudaMemcpyAsync(column, lane->arena.column, staging.base[blocks], cudaMemcpyDeviceToHost, lane->stream));
    HYBZ_TRY(cudaMemcpyAsync(staging.origin, lane->arena.origin, blocks * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                             lane->stream));
    marks.end = lane->mark();
    HYBZ_TRY(lane->wait(deadline));
    HYBZ_TRY(lane->event_error);
    memcpy(origins, staging.origin, blocks * sizeof(uint32_t));
    if (report) tell(*lane, marks, report);
    return 0;
}

extern "C" int hybz_lane_thirds(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                                const uint8_t *text, uint32_t *keys, uint8_t *bytes, uint32_t *origins,
                                uint32_t deadline_ms, hybz_report *report) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
    const hybz_tuning tuning = hybz_tuning_default();
    if (blocks < 1 || blocks > lane->most_blocks || lane->pipeline != HYBZ_HYBRID) return HYBZ_ARGUMENT;
    const KeyLayout layout(blocks, tuning.sort_bits);
    if (layout.code_bits < 3 * kThirdCode) return HYBZ_ARGUMENT;
    Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    uint32_t text_total = 0, sample_total = 0, third_total = 0, longest = 0;
    for (uint32_t b = 0; b <= HYBZ_MOST_BLOCKS; b++) {
        staging.text_base[b] = text_total;
        staging.base[b] = sample_total;
        staging.third_base[b] = third_total;
        if (b >= blocks) continue;
        if (lengths[b] < HYBZ_SHORTEST || lengths[b] > lane->longest || turns[b] >= lengths[b]) return HYBZ_ARGUMENT;
        staging.turn[b] = turns[b];
        text_total += lengths[b];
        sample_total += third_sample(lengths[b]);
        third_total += third_others(lengths[b]);
        longest = std::max(longest, lengths[b]);
    }

    Marks marks;
    HYBZ_TRY(upload(lane, {true, 1, kThirdCode}, text, text_total, marks, report));
    HYBZ_TRY(cudaMemcpyAsync(arena.third_base, staging.third_base, sizeof staging.third_base, cudaMemcpyHostToDevice, stream));
    HYBZ_TRY(cudaMemcpyAsync(arena.turn, staging.turn, sizeof staging.turn, cudaMemcpyHostToDevice, stream));

    const Batch batch{blocks,       sample_total, lane->pitch_bits, arena.base, arena.text,
                      arena.column, arena.order,  arena.origin,     arena.rank, arena.depth, false};
    const Thirds thirds{arena.text_base, arena.third_base, arena.turn, arena.order, arena.third_keys, arena.column};
    HYBZ_TRY(sort_suffixes(lane, batch, true, tuning, layout, longest, deadline, marks, report));

    const uint32_t ordered = lane->mark();
    size_t temporary = lane->temporary_bytes;
    HYBZ_TRY(third_scan(arena.temporary, &temporary, arena.order, arena.starts, sample_total, stream));
    arena.sort.current = 0;
    HYBZ_TRY(sample_rows(batch, thirds, arena.starts, longest, arena.sort.keys[0], arena.sort.values[0], stream));
    HYBZ_TRY(sort_pairs(arena.temporary, lane->temporary_bytes, arena.sort, third_total, 0, 8 + layout.block_bits, stream));
    HYBZ_TRY(other_rows(batch, thirds, longest, arena.sort.values[arena.sort.current], stream));
    marks.download = lane->mark();
    HYBZ_TRY(cudaMemcpyAsync(keys, arena.third_keys, (sample_total + 2 * uint64_t(third_total)) * 4, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(cudaMemcpyAsync(bytes, arena.column, sample_total + third_total, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(cudaMemcpyAsync(staging.origin, arena.origin, blocks * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream));
    marks.end = lane->mark();
    HYBZ_TRY(lane->wait(deadline));
    HYBZ_TRY(lane->event_error);
    memcpy(origins, staging.origin, blocks * sizeof(uint32_t));
    if (report) {
        tell(*lane, marks, report);
        report->thirds_ms = lane->between(ordered, marks.download);
    }
    return 0;
}

extern "C" size_t hybz_report_bytes(void) { return sizeof(hybz_report); }

extern "C" size_t hybz_coded_bytes(void) { return sizeof(hybz_coded); }

extern "C" int hybz_lane_destroy(hybz_lane *lane) {
    if (!lane) return 0;
    int first = int(cudaSetDevice(lane->device));
    const auto keep = [&first](cudaError_t error) {
        if (first == 0) first = int(error);
    };
    for (cudaEvent_t event : lane->events)
        if (event) keep(cudaEventDestroy(event));
    if (lane->stream) keep(cudaStreamDestroy(lane->stream));
    if (lane->staging) keep(cudaFreeHost(lane->staging));
    if (lane->memory) keep(cudaFree(lane->memory));
    delete lane;
    return first;
}

#ifdef __linux__
namespace {

constexpr size_t kHugePage = size_t(2) << 20;

size_t huge_pages(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// Memory in huge pages where the system has any, all of it touched; null if there is none.
void *touched_memory(size_t bytes) {
    const size_t size = huge_pages(bytes);
    void *const place = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return nullptr;
    uint8_t *const begin = static_cast<uint8_t *>(place);
    const size_t before = huge_pages(reinterpret_cast<uintptr_t>(begin)) - reinterpret_cast<uintptr_t>(begin);
    if (before) munmap(begin, before);
    if (before < kHugePage) munmap(begin + before + size, kHugePage - before);
    madvise(begin + before, size, MADV_HUGEPAGE);
    memset(begin + before, 0, size);
    return begin + before;
}

} // namespace
#endif

extern "C" int hybz_pinned_alloc(int device, size_t bytes, void **memory) {
    *memory = nullptr;
    HYBZ_TRY(cudaSetDevice(device));
#ifdef __linux__
    // The driver takes pinned memory page by page and for one thread at a time, the memory of eight lanes in half a second. So each
    // lane's thread fetches its own, in huge pages, and the driver only pins them.
    if (void *const place = touched_memory(bytes)) {
        if (cudaHostRegister(place, huge_pages(bytes), cudaHostRegisterPortable) == cudaSuccess) {
            *memory = place;
            return 0;
        }
        cudaGetLastError();
        munmap(place, huge_pages(bytes));
    }
#endif
    const cudaError_t error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    if (error != cudaSuccess) cudaGetLastError();
    else memset(*memory, 0, bytes);
    return int(error);
}

extern "C" int hybz_pinned_free(void *memory, size_t bytes) {
    if (!memory) return 0;
#ifdef __linux__
    const cudaError_t error = cudaHostUnregister(memory);
    if (error == cudaSuccess) return munmap(memory, huge_pages(bytes)) == 0 ? 0 : int(cudaErrorInvalidValue);
    cudaGetLastError();
    if (error != cudaErrorHostMemoryNotRegistered && error != cudaErrorInvalidValue) return int(error);
#endif
    (void)bytes;
    return int(cudaFreeHost(memory));
}

extern "C" int hybz_is_sticky(int code) {
    switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown: return 1;
    default: return 0;
    }
}

extern "C" const char *hybz_error_text(int code) {
    switch (code) {
    case HYBZ_ARGUMENT: return "a batch that the lane was not made for";
    case HYBZ_DEADLINE: return "the device did not finish in time";
    case HYBZ_PERIODIC: return "the rounds of the sort did not end";
    case HYBZ_WRONG: return "the device computes wrongly";
    default: return cudaGetErrorString(cudaError_t(code));
    }
}
