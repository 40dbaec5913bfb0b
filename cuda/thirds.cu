// thirds.cu: what the hybrid shape does instead of a full sort: two thirds of the suffixes sorted, the rest from them, and
// all that a CPU core needs to merge the two lists, in the order in which it needs it.
//
// The blocks come turned to their least rotations, so that suffix order is rotation order (src/codec/bwt/forward.rs), and with
// an end mark below all bytes. The sample is the positions 1 and 2 modulo 3, the end mark's included if it is one of them;
// in that, the sample of n bytes has n - n/3 positions. (DC3's sample: Kaerkkaeinen and Sanders 2003; Deshpande's thesis, chapter 4.)
//
// The trick that leaves group.cu and refine.cu as they are: number the sample without gaps, 1 2 4 5 7 8 as 0 1 2 3 4 5. A step of
// 3 symbols in the text is a step of 2 in these numbers, for both residues. So with depths that are multiples of 3, counted
// in these numbers, doubling by rank over the sample is doubling by rank over a block of two thirds of the length. It never goes
// around the end: members of a group agree on `depth` symbols, none of them the end mark. Depth must be at least 3 after the first
// sort, so code words have at most kThirdCode bits.
//
// After it: a position 3i sorts by its first byte and the rank of 3i+1: so the sample's rows of residue 1, in order, sorted
// stably by the byte before them, are the remaining third in order. Two radix passes over a third of the rows.
//
// What comes out for each block, m sample rows and t others:
//   keys   [m]  of sample rows, for comparison with the others (src/codec/bwt/merge.rs)
//          [2t] of the others: rank after one symbol, then symbol and rank after two
//   bytes  [m + t] the byte before each row
//   origin where the block itself stands among these rows
// 6.33 bytes for each of the text, against 1 of a column: 102 to 119 ps a byte of download where a column takes 16 to 19.
//
// Measured (H200): linux 181 ps a byte without transfers, 23 of these after the sort (bwt 225); nci 282 and 27 (bwt 357).
//
// Twin: thirds() in src/codec/bwt/merge.rs, a test's.
#include "codes.hpp"
#include "device.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

// 1 for a row of residue 1: the row after one of the other third.
struct LeadsThird {
    const uint32_t *order;
    __device__ uint32_t operator()(uint32_t row) const { return 1 - (order[row] & 1); }
};

struct Sum {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

// A row of the sample: out for the merge; and the other third's row that it leads, to be sorted by the byte before.
__global__ void __launch_bounds__(kThreads)
sample_rows_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ until, uint64_t *__restrict__ keys,
                   uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y;
    const uint32_t base = batch.base[block];
    const uint32_t m = batch.base[block + 1] - base;
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= m) return;
    const uint32_t from = thirds.text_base[block];
    const uint32_t n = thirds.text_base[block + 1] - from;
    const uint32_t value = thirds.order[base + row];
    const uint32_t number = value & kIndexMask, byte = value >> kIndexBits;
    const uint32_t position = position_of(number);
    const uint32_t *rank = batch.rank + (block << batch.pitch_bits);
    uint32_t key = 0;
    if (number & 1) {
        if (position + 1 < n) key = (batch.text[from + position + 1] + 1u) << kIndexBits | rank[number + 1];
        key |= 1u << 31;
    } else {
        if (position < n) key = rank[number + 1];
        const uint32_t slot = until[base + row] - 1;
        keys[slot] = uint64_t(block) << 8 | byte;
        values[slot] = position - 1;
    }
    const uint32_t third = thirds.third_base[block];
    thirds.keys[base + 2 * third + row] = key;
    thirds.bytes[base + third + row] = uint8_t(byte);
    if (position == thirds.turn[block]) batch.origin[block] = row;
}

// A row of the other third.
__global__ void __launch_bounds__(kThreads)
other_rows_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y;
    const uint32_t third = thirds.third_base[block];
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= thirds.third_base[block + 1] - third) return;
    const uint32_t base = batch.base[block];
    const uint32_t m = batch.base[block + 1] - base;
    const uint32_t from = thirds.text_base[block];
    const uint32_t n = thirds.text_base[block + 1] - from;
    const uint32_t position = values[third + row];
    const uint32_t number = number_of(position + 1);
    const uint32_t *rank = batch.rank + (block << batch.pitch_bits);
    const uint8_t *text = batch.text + from;
    uint32_t *keys = thirds.keys + base + 2 * third + m + 2 * row;
    keys[0] = rank[number];
    keys[1] = position + 1 < n ? (text[position + 1] + 1u) << kIndexBits | rank[number + 1] : 0;
    thirds.bytes[base + third + m + row] = text[position == 0 ? n - 1 : position - 1];
    if (position == thirds.turn[block]) batch.origin[block] = m + row;
}

} // namespace

cudaError_t third_scan(void *temporary, size_t *bytes, const uint32_t *order, uint32_t *until, uint32_t count,
                       cudaStream_t stream) {
    const auto leads = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), LeadsThird{order});
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, leads, until, Sum{}, int(count), stream);
}

cudaError_t sample_rows(const Batch &batch, const Thirds &thirds, const uint32_t *until, uint32_t longest, uint64_t *keys,
                        uint32_t *values, cudaStream_t stream) {
    const dim3 grid(blocks_for(third_sample(longest), kThreads), batch.blocks);
    sample_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, until, keys, values);
    return cudaGetLastError();
}

cudaError_t other_rows(const Batch &batch, const Thirds &thirds, uint32_t longest, const uint32_t *values,
                       cudaStream_t stream) {
    const dim3 grid(blocks_for(third_others(longest), kThreads), batch.blocks);
    other_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, values);
    return cudaGetLastError();
}

} // namespace hybz
