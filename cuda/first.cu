// first.cu: the groups of the first sort, from keys that CUB has sorted, and where runs of equal keys begin.
#include "first.cuh"

namespace hybz {

namespace {

struct FirstTile : GroupTile<kThreads> {
    uint16_t about[kTile]; // of the members of small groups: block, number of symbols in the key
};

// Loads the small groups that begin in the window. Returns the categories of this thread's places, two bits each.
__device__ __forceinline__ uint32_t load_groups(FirstTile &tile, const Groups<uint64_t> &groups, int block_bits,
                                                uint32_t window) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t categories = 0;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k), j = window + t;
        uint32_t start = j;
        const int category = categorize(groups.starts, groups.count, window, t, &start);
        categories |= uint32_t(category) << 2 * k;
        const uint32_t heads = __ballot_sync(~0u, category != kToSmall || start == j);
        if (lane == 0) tile.heads[k * (kThreads / 32) + warp] = heads;
        if (category != kToSmall) continue;
        const uint64_t key = groups.keys[j];
        tile.value[t] = groups.values[j];
        tile.about[t] = uint16_t(uint32_t(key >> (64 - block_bits)) << kDepthBits | uint32_t(key & kDepthMask));
    }
    if (threadIdx.x == 0) tile.heads[tile.kChunks] = 1;
    __syncthreads();
    return categories;
}

// Splits groups by the text that follows `more` symbols after their keys.
template <bool kWide> struct ByText {
    const Batch &batch;
    const FirstTile &tile;
    uint32_t more;

    __device__ __forceinline__ uint64_t key(uint32_t t, uint32_t, uint32_t value) const {
        const uint32_t about = tile.about[t], block = about >> kDepthBits;
        const uint32_t base = batch.base[block] - (kWide ? block : 0);
        const uint32_t n = batch.base[block + 1] - batch.base[block] - (kWide ? 1 : 0);
        return text_after<kWide>(batch.text, base, n, value, (about & kDepthMask) + more);
    }
    __device__ __forceinline__ uint32_t depth(uint32_t) const { return 0; }
    __device__ __forceinline__ void deepen(uint32_t, uint32_t, uint64_t) const {}
};

template <bool kWide>
__global__ void __launch_bounds__(kThreads, kFirstCtas)
group_first_kernel(Batch batch, Groups<uint64_t> groups, int block_bits, uint32_t steps, FirstLists lists,
                   Counters *counters) {
    __shared__ FirstTile tile;
    const uint32_t window = blockIdx.x * kWindow;
    const uint32_t categories = load_groups(tile, groups, block_bits, window);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++)
        if (!split_groups(tile, ByText<kWide>{batch, tile, step * kBytes<kWide>})) break;
    __syncthreads();
    write_groups<kWide>(batch, tile, categories, window, steps, lists, counters, [&](uint32_t k, uint32_t t) {
        const uint32_t j = window + t;
        const bool small = (categories >> 2 * k & 3) == kToSmall;
        const uint64_t key = groups.keys[j];
        return FirstRow{small ? tile.value[t] : groups.values[j], uint32_t(key >> (64 - block_bits)),
                        small ? window + tile.start_of(t) : groups.starts[j], uint32_t(key & kDepthMask)};
    });
}

} // namespace

cudaError_t group_first(const Batch &batch, const Groups<uint64_t> &groups, int block_bits, uint32_t steps,
                        const FirstLists &lists, Counters *counters, cudaStream_t stream) {
    const auto kernel = batch.wide ? group_first_kernel<true> : group_first_kernel<false>;
    kernel<<<blocks_for(groups.count, kWindow), kThreads, 0, stream>>>(batch, groups, block_bits, steps, lists,
                                                                       counters);
    return cudaGetLastError();
}

} // namespace hybz
