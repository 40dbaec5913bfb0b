// device.cuh: the shared declarations of the sort's kernels: the layout of a batch in device memory, and the steps.
//
// Numbering. A rotation is (block, index); a row of the sorted matrix is (block, position). Both are numbered with a
// pitch that is a power of two: block << pitch_bits | index. So a shift gives the block, and a mask the index in it.
//
// Values. Sorting moves a u32 along with each key: the rotation's index (20 bits) and, above it, the byte before the
// rotation (8 bits), which becomes the last column without another gather. The row tells the block.
//
// Wide batches (suffixes.cu) have blocks of up to 1 GB. Their values are indices alone, and the byte is gathered when
// its row becomes final. They sort the suffixes of each text and an end mark, so a block has one row more than bytes.
// (thirds.cu sorts two thirds of them; its values are indices alone, whatever the length of blocks.)
//
// Lists. A rotation that is still tied is in a list as (value, head, depth): head is the row at which its group begins,
// depth the number of symbols on which the group agrees. The members of a small group (up to kSmall) are neighbours in
// the list; the groups come in any order, but nearly in the order of the rows, so that concurrent threads touch only a
// few blocks' ranks, which stay in the L2 cache. Small groups fill a generation of the lists from the front, large
// ones from the back.
#pragma once
#include "codes.hpp"
#include "limits.h"
#include "scan.cuh"
#include "tuned.hpp"
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

constexpr int kIndexBits = 20; // of a value
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
static_assert(HYBZ_MAX_LENGTH == 1u << kIndexBits, "an index fits");

constexpr uint32_t kThreads = 256;
constexpr uint32_t kItems = 8;
constexpr uint32_t kTile = kThreads * kItems;   // places that a CTA loads
constexpr uint32_t kWindow = kTile - kSmall;    // a CTA handles the groups that begin in its window

struct List {
    uint32_t *value, *head, *depth;
};

// The list to which a place of a tile goes.
enum Category { kToSmall, kToLarge, kToDone, kNotMine };
// Device counters of one round: written by atomics, read by the host after the round.
struct Counters {
    uint32_t count[3]; // the lengths of the lists, by category
    uint32_t groups;   // the number of large groups
    // The first sort only (sample_sort.cu): the number of rotations with frequent keys, and whether a range overflows.
    uint32_t frequent, overflows;
};

// The batch as kernels see it.
struct Batch {
    uint32_t blocks;
    uint32_t total; // rotations in all blocks
    int pitch_bits;
    const uint32_t *base; // [0..blocks] the first rotation of a block, rotations numbered without pitch
    const uint8_t *text;  // [0..total-1]; wide: [0..total-blocks-1]
    uint8_t *column;      // [0..total-1] out
    uint32_t *order;      // [0..total-1] or null: sorted values, wanted instead of column and origin (thirds.cu,
                          // factor.cu)
    uint32_t *origin;     // [0..blocks-1] out
    uint32_t *rank;       // [pitched rotation] the position, in its block, of the head of its group
    uint32_t *depth;      // [pitched row] for heads of tied groups
    bool wide;            // kernels that examine values exist in both variants
};

// The place in its tile of this thread's item k, in a CTA of kCta threads.
template <uint32_t kCta = kThreads> __device__ __forceinline__ uint32_t place_of(uint32_t k) {
    return k * kCta + threadIdx.x;
}

// Calls body(k, place) for each of this thread's places that is less than `count`.
template <uint32_t kCta, class Body>
__device__ __forceinline__ void for_places(uint32_t count, Body body) {
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        if (place_of<kCta>(k) < count) body(k, place_of<kCta>(k));
}

template <bool kWide> __device__ inline uint32_t index_of(uint32_t value) { return kWide ? value : value & kIndexMask; }

// Stores the results for a final row: its byte of the last column, and the origin if the row is the block itself.
template <bool kWide> __device__ inline void finalize(const Batch &batch, uint32_t row, uint32_t value) {
    const uint32_t block = row >> batch.pitch_bits;
    const uint32_t position = row & ((1u << batch.pitch_bits) - 1);
    const uint32_t base = batch.base[block];
    if (batch.order) {
        batch.order[base + position] = value;
        return;
    }
    const uint32_t index = index_of<kWide>(value);
    // In a wide batch `block` texts come before this one, and each has one row more than bytes. The mark precedes the
    // first byte.
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

// Eight bytes, the first one lowest. May read up to 15 bytes more, which are in the lane's memory, too.
__device__ inline uint64_t bytes_at(const uint8_t *__restrict__ text, uint32_t at) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(text) + (at >> 3);
    const uint32_t shift = (at & 7) * 8;
    const uint64_t low = words[0];
    return shift ? low >> shift | words[1] << (64 - shift) : low;
}

// Turns kCount numbers into the sums of those before each, plus first(their sum), by one warp. Lane 31 returns the sum.
template <uint32_t kCount, class First>
__device__ __forceinline__ uint32_t scan_in_place(uint32_t *numbers, First first) {
    constexpr uint32_t kEach = kCount / 32;
    static_assert(kCount % 32 == 0, "as many numbers for each lane");
    uint32_t *const mine = numbers + (threadIdx.x & 31) * kEach;
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < kEach; i++) sum += mine[i];
    const uint32_t up_to = sum_up_to(sum);
    uint32_t before = up_to - sum + __shfl_sync(~0u, (threadIdx.x & 31) == 31 ? first(up_to) : 0, 31);
#pragma unroll
    for (uint32_t i = 0; i < kEach; i++) {
        const uint32_t number = mine[i];
        mine[i] = before;
        before += number;
    }
    return up_to;
}

template <uint32_t kCta> struct SlotMemory {
    uint32_t count[3][kCta * kItems / 32];
};

// Gives each place of a tile a slot in the output list of its category. All threads of the CTA call it; `category` and
// `slot` are those of this thread's items. Places keep their order within the CTA; CTAs come in any order.
template <uint32_t kCta>
__device__ inline void assign_slots(SlotMemory<kCta> &memory, const int (&category)[kItems], Counters *counters,
                                    uint32_t (&slot)[kItems]) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t chunk = k * (kCta / 32) + warp;
        slot[k] = 0;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const uint32_t mask = __ballot_sync(~0u, category[k] == c);
            if (category[k] == c) slot[k] = __popc(mask & ((1u << lane) - 1));
            if (lane == 0) memory.count[c][chunk] = __popc(mask);
        }
    }
    __syncthreads();
    if (warp < 3)
        scan_in_place<kCta * kItems / 32>(memory.count[warp], [&](uint32_t sum) {
            return sum ? atomicAdd(&counters->count[warp], sum) : 0;
        });
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        if (category[k] != kNotMine) slot[k] += memory.count[category[k]][k * (kCta / 32) + warp];
}

inline uint32_t blocks_for(uint64_t items, uint32_t each) { return uint32_t((items + each - 1) / each); }

// The steps, each in the file of its name. All are asynchronous on `stream`; all return the launch's error.

// keys.cu: key and value of every rotation; or, for texts with an end mark, of all suffixes or of those in the sample
// of thirds.cu. `max_length` is the length of the longest text, text_base [0..blocks] the first byte of each.
cudaError_t make_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, uint32_t max_length,
                      uint64_t *keys, uint32_t *values, cudaStream_t stream);
cudaError_t suffix_keys(const Batch &batch, const uint32_t *text_base, bool sample, const uint32_t *table,
                        const KeyLayout &layout, uint32_t max_length, uint64_t *keys, uint32_t *values,
                        cudaStream_t stream);

// sample_sort.cu: the first sort of all rotations: sample_keys(), sort_samples() (sort.cu), distribute_keys(),
// place_ranges(), group_ranges() (ranges.cu).
constexpr uint32_t kRangeKeys = 2048;   // keys of a range, on average
constexpr uint32_t kRangeSamples = 128; // samples among them
// The number of keys for which a range has memory. (Set to 2048, it makes most batches test what follows an overflow.)
#ifndef HYBZ_RANGE_ROOM
#define HYBZ_RANGE_ROOM 3072
#endif
constexpr uint32_t kRangeRoom = HYBZ_RANGE_ROOM;
static_assert(2 * kRangeRoom <= 3 * kRangeKeys, "the ranges of a block fit in two places for each rotation");
// The number of ranges and of samples of a block.
__host__ __device__ inline uint32_t ranges_of(uint32_t length) {
    return length < kRangeRoom ? 1 : (length + kRangeKeys / 2) / kRangeKeys;
}
__host__ __device__ inline uint32_t samples_of(uint32_t length) {
    return length < kRangeKeys ? length / (kRangeKeys / kRangeSamples) : ranges_of(length) * kRangeSamples;
}
constexpr int kGuessBits = 10; // by which the search among splitters begins
constexpr uint32_t kGuessWords = (1u << kGuessBits) / 2 + 1;
struct SampleSort {
    const uint32_t *sample_base; // [0..blocks] the first sample of a block
    uint64_t *unsorted;          // samples
    const uint64_t *samples;     // sorted
    uint64_t *room_keys;         // two places for each rotation
    uint32_t *room_values;       //
    List frequent;               // `value`, and `head` for the bucket; room for all rotations
    uint32_t pitch;              // two buckets for each range of the longest block
    uint32_t *counts, *starts;   // of buckets: the number of keys (zero before), and the first row
    uint64_t *splitters;         // pitch / 2 for each block
    uint32_t guess_pitch;        // kGuessWords, or 1 if no block has two ranges
    uint32_t *guesses;           // 2^kGuessBits + 1 numbers of splitters for each block, in 16 bits
    uint32_t *values;            // those of frequent keys, in order, at their rows
};
cudaError_t sample_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, const SampleSort &sort,
                        uint32_t max_length, cudaStream_t stream);
cudaError_t distribute_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, const SampleSort &sort,
                            uint32_t max_length, Counters *counters, cudaStream_t stream);
// sort.cu: CUB's radix sort and running maximum, of keys of 64 or 32 bits.
struct SortBuffers {
    uint64_t *keys[2]; // or of uint32_t
    uint32_t *values[2];
    int current; // which of the two holds the data
};
// The bytes of temporary memory that sort_pairs and run_starts need for up to max_count items. (Without memory, both
// set `bytes` to what they need; with memory, they leave it.)
cudaError_t sort_temporary(uint32_t max_count, size_t *bytes);
template <class Key>
cudaError_t sort_pairs(void *temporary, size_t &bytes, SortBuffers &buffers, uint32_t count, int begin_bit,
                       int end_bit, cudaStream_t stream);
// Sorts samples, back and forth between `sort.unsorted` and the memory after it. Sets `sort.samples`.
cudaError_t sort_samples(void *temporary, size_t bytes, SampleSort &sort, uint32_t count, cudaStream_t stream);
// starts[j] = the place at which the run of equal keys that contains j begins.
template <class Key>
cudaError_t run_starts(void *temporary, size_t &bytes, const Key *keys, uint32_t *starts, uint32_t count,
                       cudaStream_t stream);

// group.cu: sorted keys to groups.
template <class Key> struct Groups {
    const Key *keys;
    const uint32_t *values;
    const uint32_t *starts;
    uint32_t count;
};
// The large groups in a generation of the lists, numbered as they come, so that numbers have few bits. More than
// kSmall rows lie between two heads, so `head >> kSmallBits` tells the group.
struct LargeGroups {
    uint32_t *number_of; // [head row >> kSmallBits] the number of the group
    uint32_t *head_of;   // [number] its head row
};
// Where the rotations that stay tied after the first sort go. `capacity` is the length of a generation of the lists.
struct FirstLists {
    List out;
    LargeGroups large;
    uint32_t capacity;
};
// first.cu: after a sort by CUB: small groups split in `steps` steps by the text that follows their keys; then ranks,
// depths, lists, and the numbers of the large groups.
cudaError_t group_first(const Batch &batch, const Groups<uint64_t> &groups, int block_bits, uint32_t steps,
                        const FirstLists &lists, Counters *counters, cudaStream_t stream);
// sample_sort.cu, ranges.cu: the last two steps of the sample sort, with the results of group_first().
cudaError_t place_ranges(const Batch &batch, const SampleSort &sort, const FirstLists &lists, Counters *counters,
                         cudaStream_t stream);
cudaError_t group_ranges(const Batch &batch, const SampleSort &sort, uint32_t max_length, const FirstLists &lists,
                         Counters *counters, cudaStream_t stream);
// A round of the large groups: keys for sort_pairs, (number of the group, rank), from the back of `in`; then, after the
// sort, the lists and the next numbers. first_of[number] receives where a group begins among the sorted keys.
template <class Key>
cudaError_t large_keys(const Batch &batch, List in, uint32_t capacity, uint32_t count, const uint32_t *number_of,
                       Key *keys, uint32_t *values, cudaStream_t stream);
template <class Key>
cudaError_t group_large(const Batch &batch, const Groups<Key> &groups, const uint32_t *head_of, uint32_t *first_of,
                        List out, LargeGroups large, List done, uint32_t capacity, Counters *counters,
                        cudaStream_t stream);

// refine.cu: a round of the small groups, and the commit that ends every round.
cudaError_t refine_small(const Batch &batch, List in, uint32_t count, List out, List done, Counters *counters,
                         cudaStream_t stream);
// `count` is the number of rotations in all three lists together.
cudaError_t commit(const Batch &batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters,
                   cudaStream_t stream);

// thirds.cu: the hybrid pipeline's last steps. There `batch.base` counts rows of the sample.
constexpr uint32_t kMarkedSymbols = 257; // the end mark and the bytes
constexpr size_t kMarkedTable = 257 * kMarkedSymbols;
constexpr int kThirdCode = 15; // bits of the longest code word: three fit in every key
constexpr uint32_t kNoByte = 256; // sorts after all bytes: a place without a row
constexpr int kByteBits = 9;      // of a byte or kNoByte
// Convert the number of a position in the sample to the position, and back.
__host__ __device__ inline uint32_t position_of(uint32_t number) { return number / 2 * 3 + (number & 1) + 1; }
__host__ __device__ inline uint32_t number_of(uint32_t position) { return position / 3 * 2 + position % 3 - 1; }
// The number of a block's rows in the sample, including the end mark's, and the number of its other rows.
__host__ __device__ inline uint32_t sample_count(uint32_t length) { return length - length / 3; }
__host__ __device__ inline uint32_t others_count(uint32_t length) { return (length + 2) / 3; }
struct Thirds {
    const uint32_t *text_base;  // [0..blocks] the first byte of a block
    const uint32_t *third_base; // [0..blocks] the first row that is not in the sample, counting only those
    const uint32_t *turn;       // [0..blocks-1] the position of the first entry point
    const uint32_t *bit_base;   // [0..blocks-1] the first word of a block's bits
    int entry_log;              // of the distance from entry point to entry point
    uint32_t each;              // entry points of a block
    uint32_t *bits;             // out
    uint8_t *bytes;             // out
    uint32_t *entries;          // out
};
// others[row] = how many rows up to and including this one, in the order of `positions`, are of the other third. If
// `temporary` is null, sets `bytes` to the temporary memory that the call needs.
cudaError_t third_scan(void *temporary, size_t *bytes, const uint32_t *positions, uint32_t *others, uint32_t count,
                       cudaStream_t stream);

} // namespace hybz
