// scan.cuh: scans over the lanes of a warp, and over the threads of a CTA; a search in what they return.
#pragma once
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

struct Sum {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Larger {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return max(a, b); }
};

// An inclusive scan over the warp: `join` applied to the values of the lanes up to this one. All lanes call it.
template <class T, class Join> inline __device__ T scan_up_to(T own, Join join) {
#pragma unroll
    for (uint32_t d = 1; d < 32; d *= 2) {
        const T other = __shfl_up_sync(~0u, own, d);
        if ((threadIdx.x & 31) >= d) own = join(other, own);
    }
    return own;
}
inline __device__ uint32_t sum_up_to(uint32_t own) { return scan_up_to(own, Sum{}); }

// An exclusive scan over the CTA: `join` applied to the values of the threads before this one, and of all threads. All
// threads call it; the memory may be used again only after another barrier.
struct ScanMemory {
    uint32_t warps[32];
};
struct Scanned {
    uint32_t before, all;
};

template <class Join>
inline __device__ Scanned scan_before(ScanMemory &memory, uint32_t value, Join join) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const uint32_t sum = scan_up_to(value, join);
    if (lane == 31) memory.warps[warp] = sum;
    const uint32_t left = __shfl_up_sync(~0u, sum, 1);
    __syncthreads();
    Scanned scanned{lane ? left : 0, 0};
    uint32_t earlier = 0;
    for (uint32_t w = 0; w < warps; w++) {
        if (w == warp) earlier = scanned.all;
        scanned.all = join(scanned.all, memory.warps[w]);
    }
    scanned.before = join(earlier, scanned.before);
    return scanned;
}

// The first index of `sorted` [0..count-1] whose value is at least `value`, or `count`.
inline __device__ uint32_t lower_bound(const uint32_t *__restrict__ sorted, uint32_t count, uint32_t value) {
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (sorted[low + half] < value) low += half + 1, count -= half + 1;
        else count = half;
    }
    return low;
}

} // namespace hybz
