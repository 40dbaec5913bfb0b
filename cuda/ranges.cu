// ranges.cu: the ranges of the sample sort: one CTA sorts the keys of a range, splits the groups of equal keys by the
// text that follows (first.cuh), and writes ranks and lists.
//
// A key is sorted by its place among the range's 128 samples and, between two of them, in 16 parts of equal width; then
// each key counts those of its part that are smaller. Threads take the keys in the order of these cells, so that a
// warp's threads count nearly as long, and mostly the same keys: in the order of the room this took 30 ps a key, not 23
// (H200, linux).
#include "first.cuh"
#include "keys.cuh"

namespace hybz {

namespace {

constexpr uint32_t kCta = kRangeRoom / kItems;
static_assert(kCta >= kSmall, "each member of a small group of frequent keys has a thread");
constexpr int kPartBits = 4; // of a key's part between two samples
constexpr uint32_t kParts = 1u << kPartBits;
constexpr uint32_t kCells = (kRangeSamples + 1) * (kParts + 1); // of a range
constexpr uint32_t kCellsEach = kCells / kCta + 1;              // that a thread counts; one more than needed
constexpr uint32_t kGuesses = 256;                              // of where among the samples a key is

struct SortMemory {
    uint64_t keys[kRangeRoom];
    uint16_t from[kRangeRoom]; // places in the room
    uint16_t cells[kRangeRoom];
    uint64_t samples[kRangeSamples];
    uint32_t first[kCellsEach * kCta]; // place of each cell
    uint16_t guesses[kGuesses + 1];    // where to search for a key among the samples
    ScanMemory scan;
};

struct RangeTile : GroupTile<kCta> {
    uint8_t depth[kPlaces]; // the number of symbols in the key
};

union RangeMemory {
    SortMemory sort;
    RangeTile tile;
};

// A key after the sort: its place, the first place of the same key, and its number of symbols, in 12, 12 and 8 bits;
// and its value. Four arrays of registers spilled.
struct Sorted {
    uint32_t bits, value;
    __device__ __forceinline__ Sorted() {}
    __device__ __forceinline__ Sorted(uint64_t key, uint32_t place, uint32_t begin, uint32_t value)
        : bits(place | begin << 12 | (uint32_t(key) & kDepthMask) << 24), value(value) {}
    __device__ __forceinline__ uint32_t place() const { return bits & 4095; }
    __device__ __forceinline__ uint32_t begin() const { return bits >> 12 & 4095; }
    __device__ __forceinline__ uint32_t depth() const { return bits >> 24; }
};

// The cell of a key: a sample has a cell of its own, and the keys between two samples have kParts of equal width, of
// which at least half are used.
__device__ __forceinline__ uint32_t cell_of(const SortMemory &memory, uint32_t samples, int guess_shift,
                                            uint64_t key) {
    const uint64_t least = memory.samples[0];
    const uint32_t guess = key < least ? 0 : uint32_t(min((key - least) >> guess_shift, uint64_t(kGuesses - 1)));
    const uint32_t smaller =
        count_smaller(memory.samples, memory.guesses[guess], memory.guesses[guess + 1], key);
    const uint32_t cell = smaller * (kParts + 1);
    if (smaller == samples) return cell;
    const uint64_t next = memory.samples[smaller];
    if (next == key) return cell + kParts;
    if (smaller == 0) return cell;
    const uint64_t before = memory.samples[smaller - 1];
    const int shift = 64 - kPartBits - __clzll(int64_t(next - before));
    return cell + uint32_t((key - before) >> max(shift, 0));
}

// Counts the keys of each cell, and gives each of this thread's keys its place.
__device__ __forceinline__ void fill_cells(SortMemory &memory, const uint64_t *__restrict__ room, uint32_t count,
                                           const uint64_t *__restrict__ from, uint32_t samples) {
    const uint32_t own = threadIdx.x;
    for (uint32_t j = own; j < samples; j += kCta) memory.samples[j] = from[j];
#pragma unroll
    for (uint32_t c = 0; c < kCellsEach; c++) memory.first[c * kCta + own] = 0;
    __syncthreads();
    const int guess_shift = max(56 - __clzll(int64_t(memory.samples[samples - 1] - memory.samples[0])), 0);
    for (uint32_t guess = own; guess <= kGuesses; guess += kCta) {
        // The sum can exceed 64 bits, if all bits of the block's number are set.
        const uint64_t add = uint64_t(guess) << guess_shift, first = memory.samples[0];
        const bool all = guess == kGuesses || add > ~first;
        memory.guesses[guess] = uint16_t(all ? samples : count_smaller(memory.samples, 0, samples, first + add));
    }
    __syncthreads();
    uint64_t key[kItems];
    uint32_t at[kItems]; // the cell, and the number in it
    for_places<kCta>(count, [&](uint32_t k, uint32_t t) {
        key[k] = room[t];
        const uint32_t cell = cell_of(memory, samples, guess_shift, key[k]);
        at[k] = cell << 16 | atomicAdd(&memory.first[cell], 1u);
    });
    __syncthreads();
    uint32_t *const mine = memory.first + own * kCellsEach;
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t c = 0; c < kCellsEach; c++) sum += mine[c];
    uint32_t before = scan_before(memory.scan, sum, Sum{}).before;
#pragma unroll
    for (uint32_t c = 0; c < kCellsEach; c++) {
        const uint32_t in_cell = mine[c];
        mine[c] = before;
        before += in_cell;
    }
    __syncthreads();
    for_places<kCta>(count, [&](uint32_t k, uint32_t t) {
        const uint32_t cell = at[k] >> 16, place = memory.first[cell] + (at[k] & 0xffff);
        memory.keys[place] = key[k];
        memory.from[place] = uint16_t(t);
        memory.cells[place] = uint16_t(cell);
    });
    __syncthreads();
}

// The sorted key that is at this place of its cell.
__device__ __forceinline__ Sorted sort_cell(const SortMemory &memory, const uint32_t *__restrict__ values,
                                            uint32_t place) {
    const uint32_t cell = memory.cells[place], first = memory.first[cell];
    const uint64_t key = memory.keys[place];
    const uint32_t value = values[memory.from[place]];
    if (cell % (kParts + 1) == kParts) return {key, place, first, value}; // all keys of the cell are equal
    const uint32_t end = memory.first[cell + 1];
    uint32_t smaller = 0, same = 0;
    for (uint32_t u = first; u < end; u++) {
        const uint64_t other = memory.keys[u];
        smaller += other < key;
        same += other == key && u < place;
    }
    return {key, first + smaller + same, first + smaller, value};
}

// Splits groups by the text that follows `more` symbols after their keys.
struct ByText {
    const uint8_t *text;
    const RangeTile &tile;
    uint32_t base, n, more;

    __device__ __forceinline__ uint64_t key(uint32_t t, uint32_t, uint32_t value) const {
        return text_after<false>(text, base, n, value, tile.depth[t] + more);
    }
    __device__ __forceinline__ uint32_t depth(uint32_t) const { return 0; }
    __device__ __forceinline__ void deepen(uint32_t, uint32_t, uint64_t) const {}
};

// Makes the tile of the sorted keys. Returns the categories of this thread's places, two bits each.
__device__ __forceinline__ uint32_t load_tile(RangeTile &tile, uint32_t count, const Sorted (&sorted)[kItems]) {
    for_places<kCta>(count, [&](uint32_t k, uint32_t) {
        const Sorted &own = sorted[k];
        tile.value[own.place()] = own.value;
        tile.depth[own.place()] = uint8_t(own.depth());
        tile.places[own.place()] = uint16_t(own.begin());
    });
    if (threadIdx.x == 0) tile.heads[tile.kChunks] = 1;
    __syncthreads();
    uint32_t categories = 0;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of<kCta>(k);
        const bool mine = t < count;
        const uint32_t begin = mine ? tile.places[t] : t;
        const bool single = mine && begin == t && (t + 1 == count || tile.places[t + 1] != t);
        const bool large = mine && begin + kSmall < count && tile.places[begin + kSmall] == begin;
        const int category = !mine ? kNotMine : single ? kToDone : large ? kToLarge : kToSmall;
        categories |= uint32_t(category) << 2 * k;
        const uint32_t heads = __ballot_sync(~0u, category != kToSmall || begin == t);
        if ((threadIdx.x & 31) == 0) tile.heads[t / 32] = heads;
        if (large) tile.keys()[t] = begin; // no step changes it
    }
    __syncthreads();
    return categories;
}

// kFrequent: the frequent keys at the ends of ranges, unless their groups are large, in place of the ranges.
template <bool kFrequent>
__global__ void __launch_bounds__(kCta, kSortCtas)
group_ranges_kernel(Batch batch, SampleSort s, FirstLists lists, Counters *counters) {
    __shared__ RangeMemory memory;
    const uint32_t block = blockIdx.y, range = blockIdx.x, bucket = block * s.pitch + 2 * range;
    const uint32_t base = batch.base[block], n = batch.base[block + 1] - base;
    if (range >= ranges_of(n) || counters->overflows) return;
    const uint32_t count = s.counts[bucket + kFrequent];
    if (count == 0 || (kFrequent && count > kSmall)) return;
    const uint32_t row = s.starts[bucket] + (kFrequent ? s.counts[bucket] : 0);
    const uint32_t samples = samples_of(n) / ranges_of(n);
    const uint64_t *const sample = s.samples + s.sample_base[block] + range * samples;
    Sorted sorted[kItems];
    if (!kFrequent) {
        const uint32_t room = 2 * base + range * kRangeRoom;
        fill_cells(memory.sort, s.room_keys + room, count, sample, samples);
        for_places<kCta>(count, [&](uint32_t k, uint32_t place) {
            sorted[k] = sort_cell(memory.sort, s.room_values + room, place);
        });
        __syncthreads();
    } else if (threadIdx.x < count) {
        sorted[0] = {sample[samples - 1], threadIdx.x, 0, s.values[row + threadIdx.x]};
    }
    const uint32_t categories = load_tile(memory.tile, count, sorted);
#pragma unroll 1
    for (uint32_t step = 0; step < kTextSteps; step++)
        if (!split_groups(memory.tile, ByText{batch.text, memory.tile, base, n, step * kBytes<false>})) break;
    __syncthreads();
    write_groups<false>(batch, memory.tile, categories, row, kTextSteps, lists, counters, [&](uint32_t k, uint32_t t) {
        const bool large = (categories >> 2 * k & 3) == kToLarge;
        const uint32_t start = large ? uint32_t(memory.tile.keys()[t]) : memory.tile.start_of(t);
        return FirstRow{memory.tile.value[t], block, row + start, memory.tile.depth[t]};
    });
}

} // namespace

cudaError_t group_ranges(const Batch &batch, const SampleSort &sort, uint32_t max_length, const FirstLists &lists,
                         Counters *counters, cudaStream_t stream) {
    const dim3 grid(ranges_of(max_length), batch.blocks);
    for (const auto kernel : {group_ranges_kernel<false>, group_ranges_kernel<true>})
        kernel<<<grid, kCta, 0, stream>>>(batch, sort, lists, counters);
    return cudaGetLastError();
}

} // namespace hybz
