// scan.cuh: scans over the lanes of a warp, and over the threads of a CTA; a search in what they return.
#pragma once
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

struct Sum {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Second {
    __device__ uint32_t operator()(uint32_t, uint32_t b) const { return b; }
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

// Each lane that waits joins its value with that of the lane `parent`, then with that of the parent's parent if the
// parent waits, too, and so on: pointer jumping. All lanes call it.
template <class Join>
inline __device__ void follow_parents(uint32_t &value, uint32_t parent, bool waits, Join join) {
    while (__ballot_sync(~0u, waits)) {
        const uint32_t other = __shfl_sync(~0u, value, parent & 31), grand = __shfl_sync(~0u, parent, parent & 31);
        const bool still = __shfl_sync(~0u, waits, parent & 31);
        if (waits) {
            value = join(value, other);
            parent = grand;
            waits = still;
        }
    }
}

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

// The same of `count` numbers, one after another: `write(i, before)` for each. Returns the sum of all.
template <class Read, class Write>
inline __device__ uint32_t sum_before(ScanMemory &memory, uint32_t count, Read read, Write write) {
    uint32_t before = 0;
    for (uint32_t first = 0; first < count; first += blockDim.x) {
        const uint32_t i = first + threadIdx.x;
        const Scanned scanned = scan_before(memory, i < count ? read(i) : 0, Sum{});
        if (i < count) write(i, before + scanned.before);
        before += scanned.all;
        __syncthreads();
    }
    return before;
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
