// device.cuh: what the kernels share: how a batch lies in device memory, and the tables of its arrays.
//
// Places. A rotation is (block, index); a row of the sorted matrix is (block, position). Both are numbered with a pitch
// of a power of two: block << pitch_bits | index. So a block's number and its own index come out by shift and mask.
//
// Values. Sorting moves a u32 along with each key: the rotation's index (20 bits) and, above it, the byte before the
// rotation (8 bits), which becomes the last column without another gather. The block is known from the row.
//
// Wide batches (suffixes.cu) have blocks of up to 1 GB: there a value is the index alone, and the byte is gathered when its row
// becomes final. And what is sorted are the suffixes of each text and an end mark, so rows are one more than bytes.
//
// Lists. A rotation that is still tied stands in a list as (value, head, depth): head is the row at which its group begins, depth
// how many symbols the group agrees on. Members of one small group (up to kSmall) stand together; groups stand in any
// order, but nearly that of the rows, so that what runs at one time touches a few blocks' ranks only and stays in the L2 cache. Small
// groups fill a generation of the lists from the front, large ones from the back.
#pragma once
#include "hybz.h"
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

constexpr uint32_t kSmall = HYBZ_SMALL; // groups of up to this many are sorted in shared memory
constexpr int log2_of(uint32_t n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }
constexpr int kSmallBits = log2_of(kSmall);
static_assert(kSmall == 1u << kSmallBits);
constexpr int kIndexBits = 20;                // of a value
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kItems = 8;
constexpr uint32_t kTile = kThreads * kItems;   // places a CTA loads
constexpr uint32_t kWindow = kTile - kSmall;    // a CTA does the groups that begin in its window
constexpr uint32_t kChunks = kTile / 32;
static_assert(kChunks == 64, "one warp scans the chunks, two in each lane");

struct List {
    uint32_t *value, *head, *depth;
};

// Device counters of one round: written by atomics, read by the host after the round.
enum Category { kToSmall, kToLarge, kToDone, kNotMine };
struct Counters {
    uint32_t of[3]; // how many stand in the list of each category
};

// The batch as kernels see it.
struct Batch {
    uint32_t blocks;
    uint32_t total;       // rotations in all blocks
    int pitch_bits;
    const uint32_t *base; // [0..blocks] the first rotation of a block, rotations numbered without pitch
    const uint8_t *text;  // [0..total-1]; wide: [0..total-blocks-1]
    uint8_t *column;      // [0..total-1] out
    uint32_t *order;      // [0..total-1] or null: sorted values, wanted instead of column and origin (thirds.cu)
    uint32_t *origin;     // [0..blocks-1] out
    uint32_t *rank;       // [pitched rotation] the position, in its block, of the head of its group
    uint32_t *depth;      // [pitched row] for heads of tied groups
    bool wide;            // kernels that look into values are made for either
};

template <bool kWide> __device__ inline uint32_t index_of(uint32_t value) { return kWide ? value : value & kIndexMask; }

// A row becomes final: its byte of the last column, and the origin if this is the block itself.
template <bool kWide> __device__ inline void place(const Batch &batch, uint32_t row, uint32_t value) {
    const uint32_t block = row >> batch.pitch_bits;
    const uint32_t position = row & ((1u << batch.pitch_bits) - 1);
    const uint32_t base = batch.base[block];
    if (!kWide && batch.order) {
        batch.order[base + position] = value;
        return;
    }
    const uint32_t index = index_of<kWide>(value);
    // Of a wide batch, the texts of `block` blocks stand before this one, and each has one row more; before its first byte is the mark.
    if (kWide) batch.column[base + position] = index == 0 ? 0 : batch.text[base - block + index - 1];
    else batch.column[base + position] = uint8_t(value >> kIndexBits);
    if (index == 0) batch.origin[block] = position;
}

// The rank of the rotation `depth` symbols after that of `value`, in the block of `row`.
template <bool kWide>
__device__ inline uint32_t rank_after(const Batch &batch, uint32_t row, uint32_t value, uint32_t depth) {
    const uint32_t block = row >> batch.pitch_bits;
    const uint32_t n = batch.base[block + 1] - batch.base[block];
    // depth < n: two rotations of a block that is not periodic agree on fewer than n symbols.
    uint32_t index = index_of<kWide>(value) + depth;
    if (index >= n) index -= n;
    return batch.rank[(block << batch.pitch_bits) + index];
}

// Gives each place of a tile that has something to write its slot in up to three output lists; whole tile, all threads.
// Places keep their order within the CTA; CTAs come in any order. `category` of place (item * kThreads + thread).
struct SlotMemory {
    uint32_t count[3][kChunks];
};

__device__ inline void assign_slots(SlotMemory &memory, const int (&category)[kItems], Counters *counters,
                                    uint32_t (&slot)[kItems]) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t chunk = k * (kThreads / 32) + warp;
        slot[k] = 0;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const uint32_t mask = __ballot_sync(~0u, category[k] == c);
            if (category[k] == c) slot[k] = __popc(mask & ((1u << lane) - 1));
            if (lane == 0) memory.count[c][chunk] = __popc(mask);
        }
    }
    __syncthreads();
    if (warp < 3) {
        const uint32_t a = memory.count[warp][2 * lane], b = memory.count[warp][2 * lane + 1];
        uint32_t sum = a + b;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const uint32_t other = __shfl_up_sync(~0u, sum, d);
            if (lane >= uint32_t(d)) sum += other;
        }
        uint32_t first = 0;
        if (lane == 31 && sum) first = atomicAdd(&counters->of[warp], sum);
        first = __shfl_sync(~0u, first, 31);
        memory.count[warp][2 * lane] = first + sum - a - b;
        memory.count[warp][2 * lane + 1] = first + sum - b;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        if (category[k] != kNotMine) slot[k] += memory.count[category[k]][k * (kThreads / 32) + warp];
}

inline uint32_t blocks_for(uint64_t items, uint32_t each) { return uint32_t((items + each - 1) / each); }

// The steps, each in the file of its name. All are asynchronous on `stream`; all return the launch's error.

// keys.cu: key and value of every rotation; and of suffixes of texts with an end mark, in the sample of thirds.cu or all of them.
// `longest` is the longest text's length, text_base [0..blocks] the first byte of each.
cudaError_t make_keys(const Batch &batch, const uint32_t *table, int block_bits, int code_bits, uint32_t longest,
                      uint64_t *keys, uint32_t *values, cudaStream_t stream);
cudaError_t suffix_keys(const Batch &batch, const uint32_t *text_base, bool sample, const uint32_t *table, int block_bits,
                        int code_bits, uint32_t longest, uint64_t *keys, uint32_t *values, cudaStream_t stream);

// sort.cu: CUB's radix sort and running maximum.
struct SortBuffers {
    uint64_t *keys[2];
    uint32_t *values[2];
    int current; // which of the two holds the data
};
cudaError_t sort_temporary(uint32_t most, size_t *bytes);
cudaError_t sort_pairs(void *temporary, size_t bytes, SortBuffers &buffers, uint32_t count, int begin_bit, int end_bit,
                       cudaStream_t stream);
// starts[j] = the place at which the run of equal keys that holds j begins.
cudaError_t run_starts(void *temporary, size_t bytes, const uint64_t *keys, uint32_t *starts, uint32_t count,
                       cudaStream_t stream);

// group.cu: sorted keys to groups.
struct Groups {
    const uint64_t *keys;
    const uint32_t *values;
    const uint32_t *starts;
    uint32_t count;
};
// After the first sort: ranks, depths, lists. `capacity` is the length of a generation of the lists.
cudaError_t group_first(const Batch &batch, const Groups &groups, int block_bits, bool counting, List out,
                        uint32_t capacity, Counters *counters, cudaStream_t stream);
// A round of the large groups: keys for sort_pairs (from the back of `in`), then, after the sort, the lists.
struct LargeTables {
    uint32_t *head_of;  // [group number] its head row
    uint32_t *first_of; // [group number] where it begins among the sorted keys
};
cudaError_t large_keys(const Batch &batch, List in, uint32_t capacity, uint32_t count, bool counting, LargeTables tables,
                       uint64_t *keys, uint32_t *values, cudaStream_t stream);
cudaError_t group_large(const Batch &batch, const Groups &groups, bool counting, LargeTables tables, List out, List done,
                        uint32_t capacity, Counters *counters, cudaStream_t stream);

// refine.cu: a round of the small groups, and the commit that ends every round.
cudaError_t refine_small(const Batch &batch, List in, uint32_t count, int steps, List out, List done, Counters *counters,
                         cudaStream_t stream);
// `count` is the number of rotations in all three lists together.
cudaError_t commit(const Batch &batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters,
                   cudaStream_t stream);

// thirds.cu: the hybrid shape's last steps. There `batch.base` counts rows of the sample.
constexpr uint32_t kMarkedSymbols = 257; // the end mark and the bytes
constexpr size_t kMarkedTable = 257 * kMarkedSymbols;
constexpr int kThirdCode = 15;           // the longest code word: three fit in every key
// Of a position in the sample its number there, and back.
__host__ __device__ inline uint32_t position_of(uint32_t number) { return number / 2 * 3 + (number & 1) + 1; }
__host__ __device__ inline uint32_t number_of(uint32_t position) { return position / 3 * 2 + position % 3 - 1; }
// How many rows of a block are in the sample, the end mark's included, and how many are not.
__host__ __device__ inline uint32_t third_sample(uint32_t length) { return length - length / 3; }
__host__ __device__ inline uint32_t third_others(uint32_t length) { return (length + 2) / 3; }
struct Thirds {
    const uint32_t *text_base;  // [0..blocks] the first byte of a block
    const uint32_t *third_base; // [0..blocks] the first row not in the sample, those alone numbered
    const uint32_t *turn;       // [0..blocks-1] the position at which the block began before it was turned
    uint32_t *order;            // [sample row] value, sorted
    uint32_t *keys;             // out
    uint8_t *bytes;             // out
};
// until[row] = how many rows up to and with this one lead a row of the other third. Without temporary memory: how much of it.
cudaError_t third_scan(void *temporary, size_t *bytes, const uint32_t *order, uint32_t *until, uint32_t count,
                       cudaStream_t stream);
// The sample's rows out; the other third's, unsorted: (block << 8 | byte before, position).
cudaError_t sample_rows(const Batch &batch, const Thirds &thirds, const uint32_t *until, uint32_t longest, uint64_t *keys,
                        uint32_t *values, cudaStream_t stream);
// The other third's rows out, from their positions sorted.
cudaError_t other_rows(const Batch &batch, const Thirds &thirds, uint32_t longest, const uint32_t *values,
                       cudaStream_t stream);

// suffixes.cu: the ranks of every 2^entry_log-th suffix, `each` of them for a block, counted without the mark's row.
cudaError_t entry_rows(const Batch &batch, int entry_log, uint32_t each, uint32_t *entries, cudaStream_t stream);

// A group's number among the large ones: more than kSmall rows lie between two heads, so this is different for each and
// takes kSmallBits bits less than the head. (Without counting even a pair is "large".)
__host__ __device__ inline int number_shift(bool counting) { return counting ? kSmallBits : 1; }

} // namespace hybz
