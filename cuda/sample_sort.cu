// sample_sort.cu: the first sort of rotations: a sample sort (Frazer and McKellar 1970; on GPUs Leischner, Osipov and
// Sanders 2010).
//
//   1 sample      the keys of every 16th rotation, chosen at random within 16; CUB sorts them
//   2 distribute  every rotation's key; its range, between two neighbours among every 128th sample of its block (the
//                 splitters); to that range's room in memory
//   3 starts      the first row of each range, from the counts of step 2
//   4 frequent    a key that occurs so often that it is a splitter several times has a list instead of a room; if its
//                 group is large, its ranks and the list of tied rotations are written here
//   5 ranges.cu   one CTA a range: sorts it, and splits its groups
//
// A key is moved twice, and by 57 bits; CUB's radix sort moves it once for each 8 bits. Every range has on average
// 2,048 keys and room for 3,072: it overflows only if more than 3,072 keys have 128 samples, where 192 are expected (of
// 316,000 ranges of linux the longest had 2,967). Then batch.cu sorts the batch by CUB.
//
// Twins: simulate() in sim/sim.hpp; and CUB's sort (make_keys() and sort_pairs()), which batch.cu falls back to.
#include "first.cuh"
#include "keys.cuh"

namespace hybz {

namespace {

constexpr uint32_t kCta = 512;
constexpr uint32_t kPiece = kCta * kItems; // rotations that a CTA distributes
constexpr uint32_t kMaxRanges = HYBZ_MAX_LENGTH / kRangeKeys;
static_assert(kMaxRanges == kCta, "a CTA that distributes has a thread for each range");

// Set in a splitter that is not frequent, where keys have zero: so no key equals it, and the order stays.
constexpr uint64_t kRare = 64;

__global__ void __launch_bounds__(kThreads)
sample_kernel(Batch batch, const uint32_t *__restrict__ table, KeyLayout layout, SampleSort s) {
    const uint32_t block = blockIdx.y, j = blockIdx.x * kThreads + threadIdx.x;
    const uint32_t base = batch.base[block], n = batch.base[block + 1] - base;
    const uint32_t count = samples_of(n);
    if (j >= count) return;
    const uint32_t begin = uint32_t(uint64_t(j) * n / count), room = uint32_t(uint64_t(j + 1) * n / count) - begin;
    uint32_t random = j * 2654435769u;
    random = (random ^ random >> 15) * 2246822507u;
    const uint32_t i = begin + (random >> 16) % room;
    const uint8_t *const text = batch.text + base;
    uint32_t before = text[i];
    s.unsorted[s.sample_base[block] + j] = rotation_key(table, before, block, layout, [&](uint32_t k) {
        const uint32_t at = i + k < n ? i + k : i + k - n, context = before;
        return table[context << 8 | (before = text[at])];
    });
}

// The splitters of a block, and where to search for a key among them, by its first bits.
__global__ void __launch_bounds__(kMaxRanges) splitters_kernel(Batch batch, KeyLayout layout, SampleSort s) {
    __shared__ uint64_t splitters[kMaxRanges];
    const uint32_t block = blockIdx.x, range = threadIdx.x;
    const uint32_t ranges = ranges_of(batch.base[block + 1] - batch.base[block]);
    if (ranges == 1) return;
    if (range + 1 < ranges) {
        const uint64_t *const last = s.samples + s.sample_base[block] + (range + 1) * kRangeSamples - 1;
        splitters[range] = last[0] | (last[4] == last[0] ? 0 : kRare);
        s.splitters[block * s.pitch / 2 + range] = splitters[range];
    }
    __syncthreads();
    uint16_t *const guesses = reinterpret_cast<uint16_t *>(s.guesses + block * s.guess_pitch);
    for (uint32_t guess = range; guess < 2 * kGuessWords; guess += kMaxRanges) {
        const uint64_t least = key_of({uint64_t(guess) << (64 - kGuessBits), 0}, block, layout);
        guesses[guess] =
            uint16_t(guess >> kGuessBits ? ranges - 1 : count_smaller(splitters, 0, ranges - 1, least));
    }
}

// The number of symbols in a frequent key.
__device__ __forceinline__ uint32_t frequent_depth(const SampleSort &s, uint32_t block, uint32_t bucket) {
    return uint32_t(s.samples[s.sample_base[block] + (bucket / 2 + 1) * kRangeSamples - 1]) & kDepthMask;
}

struct PieceMemory {
    union {
        struct {
            uint32_t words[kPiece + kAhead];
            uint64_t splitters[kMaxRanges];
            alignas(4) uint16_t guesses[2 * kGuessWords];
        };
        uint64_t keys[kPiece];
        uint32_t values[kPiece];
    };
    uint16_t bucket[kPiece];
    uint32_t places[2 * kMaxRanges]; // counts, then first places in the piece, then what is added to a place
    ScanMemory scan;
};

// Buckets are numbered in their block: 2 * range, and 2 * range + 1 for the frequent key at a range's end.
__global__ void __launch_bounds__(kCta, kDistributeCtas)
distribute_kernel(Batch batch, const uint32_t *__restrict__ table, KeyLayout layout, SampleSort s, Counters *counters) {
    __shared__ PieceMemory memory;
    const uint32_t block = blockIdx.y, base = batch.base[block], n = batch.base[block + 1] - base;
    const uint32_t first = blockIdx.x * kPiece;
    if (first >= n) return;
    const uint32_t count = min(kPiece, n - first), ranges = ranges_of(n);
    const uint8_t *const text = batch.text + base;
    for (uint32_t t = threadIdx.x; t < count + kAhead; t += kCta) {
        uint32_t i = first + t;
        if (i >= n) i -= n; // n >= kAhead
        const uint32_t before = text[i == 0 ? n - 1 : i - 1];
        memory.words[t] = table[before << 8 | text[i]];
    }
    const uint32_t range = threadIdx.x;
    if (range + 1 < ranges) memory.splitters[range] = s.splitters[block * s.pitch / 2 + range];
    const uint32_t *const guesses = s.guesses + block * s.guess_pitch;
    for (uint32_t word = threadIdx.x; ranges > 1 && word < kGuessWords; word += kCta)
        reinterpret_cast<uint32_t *>(memory.guesses)[word] = guesses[word];
    memory.places[2 * range] = memory.places[2 * range + 1] = 0;
    __syncthreads();
    uint64_t key[kItems];
    uint32_t at[kItems]; // bucket and number in it; then the place in the piece
    for_places<kCta>(count, [&](uint32_t k, uint32_t t) {
        key[k] = rotation_key(table, text[first + t], block, layout, [&](uint32_t w) { return memory.words[t + w]; });
        const uint32_t guess = uint32_t(key[k] << layout.block_bits >> (64 - kGuessBits));
        const uint32_t smaller = ranges == 1 ? 0 : count_smaller(memory.splitters, memory.guesses[guess],
                                                                 memory.guesses[guess + 1], key[k]);
        const uint32_t bucket = 2 * smaller + (smaller + 1 < ranges && memory.splitters[smaller] == key[k]);
        at[k] = bucket << 16 | atomicAdd(&memory.places[bucket], 1u);
    });
    __syncthreads();
    const uint32_t some = memory.places[2 * range], frequent = memory.places[2 * range + 1];
    const uint32_t before = scan_before(memory.scan, some + frequent, Sum{}).before;
    memory.places[2 * range] = before;
    memory.places[2 * range + 1] = before + some;
    __syncthreads();
    for_places<kCta>(count, [&](uint32_t k, uint32_t) {
        const uint32_t bucket = at[k] >> 16;
        at[k] = memory.places[bucket] + (at[k] & 0xffff);
        memory.keys[at[k]] = key[k];
        memory.bucket[at[k]] = uint16_t(bucket);
    });
    __syncthreads();
    uint32_t *const counts = s.counts + block * s.pitch;
    if (some) memory.places[2 * range] = range * kRangeRoom + atomicAdd(&counts[2 * range], some) - before;
    if (frequent) {
        atomicAdd(&counts[2 * range + 1], frequent);
        memory.places[2 * range + 1] = atomicAdd(&counters->frequent, frequent) - before - some;
    }
    __syncthreads();
    // From here on item k is the one at place k * kCta + threadIdx.x of the piece.
    uint32_t to[kItems];
    const uint32_t room = 2 * base;
    for_places<kCta>(count, [&](uint32_t k, uint32_t place) {
        const uint32_t bucket = memory.bucket[place];
        to[k] = memory.places[bucket] + place;
        if (bucket & 1) {
            s.frequent.head[to[k]] = block * s.pitch + bucket;
        } else if (to[k] < (bucket / 2 + 1) * kRangeRoom) {
            s.room_keys[room + to[k]] = memory.keys[place];
        }
    });
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t i = first + k * kCta + threadIdx.x;
        if (i >= first + count) continue;
        memory.values[at[k]] = i | uint32_t(text[i == 0 ? n - 1 : i - 1]) << kIndexBits;
    }
    __syncthreads();
    for_places<kCta>(count, [&](uint32_t k, uint32_t place) {
        const uint32_t bucket = memory.bucket[place];
        if (bucket & 1) s.frequent.value[to[k]] = memory.values[place];
        else if (to[k] < (bucket / 2 + 1) * kRangeRoom) s.room_values[room + to[k]] = memory.values[place];
    });
}

__global__ void __launch_bounds__(2 * kMaxRanges)
starts_kernel(Batch batch, SampleSort s, FirstLists lists, Counters *counters) {
    __shared__ ScanMemory memory, number_memory;
    __shared__ uint32_t first_number;
    const uint32_t block = blockIdx.x, bucket = threadIdx.x, at = block * s.pitch + bucket;
    const uint32_t base = batch.base[block], n = batch.base[block + 1] - base;
    const bool mine = bucket < 2 * ranges_of(n), frequent = bucket & 1;
    const uint32_t count = mine ? s.counts[at] : 0;
    const uint32_t before = scan_before(memory, count, Sum{}).before;
    if (mine) s.starts[at] = base + before;
    if (!frequent && count > kRangeRoom) counters->overflows = 1;
    // The groups of a block are numbered together, so that those who work on them at the same time touch few ranks.
    const bool large = frequent && count > kSmall;
    const Scanned larges = scan_before(number_memory, large, Sum{});
    if (threadIdx.x == 0) first_number = larges.all ? atomicAdd(&counters->groups, larges.all) : 0;
    __syncthreads();
    if (!large) return;
    const uint32_t head = (block << batch.pitch_bits) + before, number = first_number + larges.before;
    batch.depth[head] = frequent_depth(s, block, bucket);
    lists.large.number_of[head >> kSmallBits] = number;
    lists.large.head_of[number] = head;
}

__global__ void __launch_bounds__(kThreads)
frequent_kernel(Batch batch, SampleSort s, FirstLists lists, Counters *counters) {
    __shared__ SlotMemory<kThreads> memory;
    const uint32_t first = blockIdx.x * kTile, count = counters->frequent;
    if (first >= count) return;
    uint32_t slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t j = first + place_of(k);
        category[k] = j < count && s.counts[s.frequent.head[j]] > kSmall ? kToLarge : kNotMine;
    }
    assign_slots(memory, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t j = first + place_of(k);
        if (j >= count) continue;
        const uint32_t at = s.frequent.head[j], value = s.frequent.value[j];
        if (category[k] == kToLarge) {
            const uint32_t block = at / s.pitch, pitched = block << batch.pitch_bits;
            const uint32_t start = s.starts[at] - batch.base[block];
            batch.rank[pitched + index_of<false>(value)] = start;
            append(lists.out, lists.capacity, kToLarge, slot[k], value, pitched + start,
                   frequent_depth(s, block, at - block * s.pitch));
        } else {
            s.values[atomicAdd(&s.starts[at], 1u)] = value;
        }
    }
}

} // namespace

cudaError_t sample_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, const SampleSort &sort,
                        uint32_t max_length, cudaStream_t stream) {
    const dim3 grid(blocks_for(samples_of(max_length), kThreads), batch.blocks);
    sample_kernel<<<grid, kThreads, 0, stream>>>(batch, table, layout, sort);
    return cudaGetLastError();
}

cudaError_t distribute_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, const SampleSort &sort,
                            uint32_t max_length, Counters *counters, cudaStream_t stream) {
    splitters_kernel<<<batch.blocks, kMaxRanges, 0, stream>>>(batch, layout, sort);
    const dim3 grid(blocks_for(max_length, kPiece), batch.blocks);
    distribute_kernel<<<grid, kCta, 0, stream>>>(batch, table, layout, sort, counters);
    return cudaGetLastError();
}

cudaError_t place_ranges(const Batch &batch, const SampleSort &sort, const FirstLists &lists, Counters *counters,
                         cudaStream_t stream) {
    starts_kernel<<<batch.blocks, 2 * kMaxRanges, 0, stream>>>(batch, sort, lists, counters);
    frequent_kernel<<<blocks_for(batch.total, kTile), kThreads, 0, stream>>>(batch, sort, lists, counters);
    return cudaGetLastError();
}

} // namespace hybz
