// sample_sort.cu: the first sort of rotations: a sample sort (Frazer and McKellar 1970; on GPUs Leischner, Osipov and
// Sanders 2010).
//
//   1 sample      the keys of every 16th rotation, chosen at random within 16; CUB sorts them
//   2 distribute  every rotation's key; its range, between two neighbours among every 128th sample of its block (the
//                 splitters); to that range's room in memory
//   3 starts      the first row of each range, from the counts of step 2
//   4 sort        one CTA a range: to the cells between the range's 128 samples, then by counting smaller keys
//   5 frequent    a key that occurs so often that it is a splitter several times has a list instead of a room
//
// A key is moved twice, and by 57 bits; CUB's radix sort moves it once for each 8 bits. Every range has on average
// 2,048 keys and room for 4,096: it overflows only if there are 128 samples, and no more than 3 of them equal to its
// last one, among more than 4,096 keys, where 256 are expected. Then batch.cu sorts the batch by CUB.
//
// Twin: CUB's sort (make_keys() and sort_pairs()), which batch.cu falls back to.
#include "keys.cuh"

namespace hybz {

namespace {

constexpr uint32_t kCta = 512;
constexpr uint32_t kPiece = kCta * kItems; // rotations that a CTA distributes
constexpr uint32_t kSortCta = kRangeRoom / kItems; // threads that sort a range
constexpr uint32_t kMaxRanges = HYBZ_MAX_LENGTH / kRangeKeys;
constexpr uint32_t kFrequentCtas = 256;
constexpr int kPartBits = 4; // of a key's part between two samples
constexpr uint32_t kParts = 1u << kPartBits;
constexpr uint32_t kCells = (kRangeSamples + 1) * (kParts + 1); // of a range
constexpr uint32_t kCellsEach = kCells / kSortCta + 1;          // that a thread counts; one more than needed
constexpr uint32_t kGuesses = 256;                              // of where among the samples a key is
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

// The number of sorted keys that are smaller than this one; it is `from` at least, and `to` at most.
__device__ __forceinline__ uint32_t count_smaller(const uint64_t *sorted, uint32_t from, uint32_t to, uint64_t key) {
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (sorted[middle] < key) from = middle + 1;
        else to = middle;
    }
    return from;
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
    uint32_t at[kItems]; // bucket and number in it; then the place in the piece; then the place in memory
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kCta + threadIdx.x;
        if (t >= count) continue;
        key[k] = rotation_key(table, text[first + t], block, layout, [&](uint32_t w) { return memory.words[t + w]; });
        const uint32_t guess = uint32_t(key[k] << layout.block_bits >> (64 - kGuessBits));
        const uint32_t smaller = ranges == 1 ? 0 : count_smaller(memory.splitters, memory.guesses[guess],
                                                                 memory.guesses[guess + 1], key[k]);
        const uint32_t bucket = 2 * smaller + (smaller + 1 < ranges && memory.splitters[smaller] == key[k]);
        at[k] = bucket << 16 | atomicAdd(&memory.places[bucket], 1u);
    }
    __syncthreads();
    const uint32_t some = memory.places[2 * range], frequent = memory.places[2 * range + 1];
    const uint32_t before = scan_before(memory.scan, some + frequent, Sum{}).before;
    memory.places[2 * range] = before;
    memory.places[2 * range + 1] = before + some;
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (k * kCta + threadIdx.x >= count) continue;
        const uint32_t bucket = at[k] >> 16;
        at[k] = memory.places[bucket] + (at[k] & 0xffff);
        memory.keys[at[k]] = key[k];
        memory.bucket[at[k]] = uint16_t(bucket);
    }
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
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t place = k * kCta + threadIdx.x;
        if (place >= count) continue;
        const uint32_t bucket = memory.bucket[place];
        to[k] = memory.places[bucket] + place;
        if (bucket & 1) {
            s.frequent.head[to[k]] = block * s.pitch + bucket;
        } else if (to[k] < (bucket / 2 + 1) * kRangeRoom) {
            s.room_keys[room + to[k]] = memory.keys[place];
        }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t i = first + k * kCta + threadIdx.x;
        if (i < n && i < first + kPiece) memory.values[at[k]] = i | uint32_t(text[i == 0 ? n - 1 : i - 1]) << kIndexBits;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t place = k * kCta + threadIdx.x;
        if (place >= count) continue;
        const uint32_t bucket = memory.bucket[place];
        if (bucket & 1) s.frequent.value[to[k]] = memory.values[place];
        else if (to[k] < (bucket / 2 + 1) * kRangeRoom) s.room_values[room + to[k]] = memory.values[place];
    }
}

__global__ void __launch_bounds__(2 * kMaxRanges) starts_kernel(Batch batch, SampleSort s, Counters *counters) {
    __shared__ ScanMemory memory;
    const uint32_t block = blockIdx.x, bucket = threadIdx.x, at = block * s.pitch + bucket;
    const uint32_t base = batch.base[block], n = batch.base[block + 1] - base;
    const bool mine = bucket < 2 * ranges_of(n);
    const uint32_t count = mine ? s.counts[at] : 0;
    const uint32_t before = scan_before(memory, count, Sum{}).before;
    if (mine) s.starts[at] = base + before;
    if (bucket % 2 == 0 && count > kRangeRoom) counters->overflows = 1;
}

struct RangeMemory {
    uint64_t keys[kRangeRoom];
    uint16_t from[kRangeRoom];  // places in the room
    uint16_t cells[kRangeRoom]; // then the first place of the same key
    uint64_t samples[kRangeSamples];
    uint32_t first[kCellsEach * kSortCta]; // place of each cell
    uint16_t guesses[kGuesses + 1];        // where to search for a key among the samples
    ScanMemory scan;
};

// The cell of a key: a sample has a cell of its own, and the keys between two samples have kParts of equal width, of
// which at least half are used.
__device__ __forceinline__ uint32_t cell_of(const RangeMemory &memory, uint32_t samples, int guess_shift,
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

__global__ void __launch_bounds__(kSortCta, kSortCtas) sort_kernel(Batch batch, SampleSort s, const Counters *counters) {
    __shared__ RangeMemory memory;
    const uint32_t block = blockIdx.y, range = blockIdx.x, own = threadIdx.x;
    const uint32_t base = batch.base[block], n = batch.base[block + 1] - base;
    if (range >= ranges_of(n) || counters->overflows) return;
    const uint32_t count = s.counts[block * s.pitch + 2 * range], row = s.starts[block * s.pitch + 2 * range];
    const uint32_t room = 2 * base + range * kRangeRoom;
    const uint32_t samples = samples_of(n) / ranges_of(n);
    for (uint32_t j = own; j < samples; j += kSortCta)
        memory.samples[j] = s.samples[s.sample_base[block] + range * samples + j];
#pragma unroll
    for (uint32_t c = 0; c < kCellsEach; c++) memory.first[c * kSortCta + own] = 0;
    __syncthreads();
    const int guess_shift = max(56 - __clzll(int64_t(memory.samples[samples - 1] - memory.samples[0])), 0);
    for (uint32_t guess = own; guess <= kGuesses; guess += kSortCta) {
        const uint64_t least = memory.samples[0] + (uint64_t(guess) << guess_shift);
        memory.guesses[guess] =
            uint16_t(guess < kGuesses ? count_smaller(memory.samples, 0, samples, least) : samples);
    }
    __syncthreads();
    uint64_t key[kItems];
    uint32_t at[kItems]; // the cell, and the number or place in it
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kSortCta + own;
        if (t >= count) continue;
        key[k] = s.room_keys[room + t];
        const uint32_t cell = cell_of(memory, samples, guess_shift, key[k]);
        at[k] = cell << 16 | atomicAdd(&memory.first[cell], 1u);
    }
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
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kSortCta + own;
        if (t >= count) continue;
        const uint32_t cell = at[k] >> 16, place = memory.first[cell] + (at[k] & 0xffff);
        memory.keys[place] = key[k];
        memory.from[place] = uint16_t(t);
        memory.cells[place] = uint16_t(cell);
    }
    __syncthreads();
    // From here on an item is the one at this place. Threads of a warp have few cells, all nearly as long.
    uint32_t begin[kItems]; // where the same keys begin; and, above 16 bits, the place in the room
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t place = k * kSortCta + own;
        if (place >= count) continue;
        const uint32_t cell = memory.cells[place], first = memory.first[cell];
        key[k] = memory.keys[place];
        begin[k] = first | uint32_t(memory.from[place]) << 16;
        at[k] = place;
        if (cell % (kParts + 1) == kParts) continue; // all keys of the cell are equal
        const uint32_t end = memory.first[cell + 1];
        uint32_t smaller = 0, same = 0;
        for (uint32_t u = first; u < end; u++) {
            const uint64_t other = memory.keys[u];
            smaller += other < key[k];
            same += other == key[k] && u < place;
        }
        begin[k] += smaller;
        at[k] = first + smaller + same;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (k * kSortCta + own >= count) continue;
        memory.keys[at[k]] = key[k];
        memory.from[at[k]] = uint16_t(begin[k] >> 16);
        memory.cells[at[k]] = uint16_t(begin[k]);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t place = k * kSortCta + own;
        if (place >= count) continue;
        s.keys[row + place] = memory.keys[place];
        s.values[row + place] = s.room_values[room + memory.from[place]];
        s.same[row + place] = row + memory.cells[place];
    }
}

__global__ void __launch_bounds__(kThreads) frequent_kernel(SampleSort s, const Counters *counters) {
    const uint32_t lane = threadIdx.x & 31, count = counters->frequent;
    for (uint32_t j = blockIdx.x * kThreads + threadIdx.x; j - lane < count; j += kFrequentCtas * kThreads) {
        const bool mine = j < count;
        const uint32_t bucket = mine ? s.frequent.head[j] : ~0u;
        const uint32_t same = __match_any_sync(~0u, bucket), leader = __ffs(same) - 1;
        uint32_t row = 0;
        if (mine && lane == leader) row = atomicAdd(&s.starts[bucket], __popc(same));
        row = __shfl_sync(~0u, row, leader) + __popc(same & ((1u << lane) - 1));
        if (!mine) continue;
        const uint32_t block = bucket / s.pitch, range = bucket % s.pitch / 2;
        s.keys[row] = s.samples[s.sample_base[block] + (range + 1) * kRangeSamples - 1];
        s.values[row] = s.frequent.value[j];
        s.same[row] = s.starts[bucket - 1] + s.counts[bucket - 1];
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

cudaError_t sort_ranges(const Batch &batch, const SampleSort &sort, uint32_t max_length, Counters *counters,
                        cudaStream_t stream) {
    starts_kernel<<<batch.blocks, 2 * kMaxRanges, 0, stream>>>(batch, sort, counters);
    const dim3 grid(ranges_of(max_length), batch.blocks);
    sort_kernel<<<grid, kSortCta, 0, stream>>>(batch, sort, counters);
    frequent_kernel<<<kFrequentCtas, kThreads, 0, stream>>>(sort, counters);
    return cudaGetLastError();
}

} // namespace hybz
