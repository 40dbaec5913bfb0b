// ansv.cu: all nearest smaller values of a suffix array, by tiles and a tree (Berkman, Schieber and Vishkin 1993;
// tiles are their blocks).
//
// A tile's threads build a binary tree of minima in shared memory, and each thread searches the tree for its
// neighbours: it goes up until a sibling on the wanted side has a smaller value, then down to the nearest smaller
// value. Of 2,048 suffixes in random order, eight find no neighbour before them in the tile, and eight find none after
// them. For these a whole warp continues in the tree over all tiles: one load reads a node's children.
//
// The result for one lane also holds for others. The first of the lanes that lack a neighbour before the tile has the
// largest value. All values between the tile and this lane's neighbour are larger than its own, so all other lanes
// with values above the neighbour's have the same neighbour. Without this, each suffix of one chain of a periodic text
// would go through the whole tree.
//
// Twin: crates/factor/src/tiled/neighbours.rs.
#include "factor.cuh"

namespace hybz {

namespace {

constexpr uint32_t kTileStrips = kFactorTile / kStrip;
static_assert(kFactorTile == kTile, "eight items a thread");

// One warp for each node computes the min of `kEach` (32 or 64) values.
template <uint32_t kEach>
__global__ void __launch_bounds__(kThreads)
minima_kernel(const uint32_t *__restrict__ values, uint32_t count, uint32_t *__restrict__ minima, uint32_t nodes) {
    const uint32_t lane = threadIdx.x & 31, node = blockIdx.x * (kThreads / 32) + (threadIdx.x >> 5);
    if (node >= nodes) return;
    uint32_t own = kNowhere;
#pragma unroll
    for (uint32_t k = 0; k < kEach; k += 32)
        if (node * kEach + k + lane < count) own = min(own, values[node * kEach + k + lane]);
    own = __reduce_min_sync(~0u, own);
    if (lane == 0) minima[node] = own;
}

// Below a node of a tile, the smaller value that is nearest to the node's right end (1) or left end (0).
template <uint32_t kEnd> __device__ uint32_t tile_down(const uint32_t *nodes, uint32_t node, uint32_t value) {
    while (node < kFactorTile) {
        const uint32_t near = 2 * node + kEnd;
        node = nodes[near] < value ? near : near ^ 1;
    }
    return nodes[node];
}

// The nearest smaller value before (0) or after (1) a place of a tile, or kNowhere.
template <uint32_t kAfter> __device__ uint32_t in_tile(const uint32_t *nodes, uint32_t place, uint32_t value) {
    for (uint32_t node = kFactorTile + place; node > 1; node /= 2)
        if (node % 2 != kAfter && nodes[node ^ 1] < value) return tile_down<1 - kAfter>(nodes, node ^ 1, value);
    return kNowhere;
}

// A whole warp calls each of the next functions with one value, and all lanes return the same.

// The set bit that is nearest to the searching place: the lowest one after it, the highest one before it.
template <bool kAfter> __device__ uint32_t nearest(uint32_t votes) {
    return kAfter ? __ffs(votes) - 1 : 31 - __clz(votes);
}

// Below a node of a level, the smaller value nearest to the node's right end (before) or left end; there must be one.
template <bool kAfter>
__device__ uint32_t tree_down(const Factoring &f, uint32_t level, uint32_t node, uint32_t value) {
    const uint32_t lane = threadIdx.x & 31;
    while (level-- > 0) {
        const uint32_t child = node * kFan + lane;
        const uint32_t votes = __ballot_sync(~0u, child < f.nodes[level] && f.minima[level][child] < value);
        node = node * kFan + nearest<kAfter>(votes);
    }
    const uint32_t low = node * kStrip + lane, high = low + 32;
    const uint32_t low_value = low < f.rows ? f.order[low] : kNowhere;
    const uint32_t high_value = high < f.rows ? f.order[high] : kNowhere;
    const uint32_t lows = __ballot_sync(~0u, low_value < value), highs = __ballot_sync(~0u, high_value < value);
    const bool in_low = kAfter ? lows != 0 : highs == 0;
    return __shfl_sync(~0u, in_low ? low_value : high_value, nearest<kAfter>(in_low ? lows : highs));
}

// The nearest smaller value before or after a tile, or kNowhere.
template <bool kAfter> __device__ uint32_t beyond_tile(const Factoring &f, uint32_t tile, uint32_t value) {
    // The first node not searched yet, or the end of those. The search of a level ends with the last (or first) child
    // of a node, so the next level continues with the node after (or before) that one.
    uint32_t from = (tile + kAfter) * kTileStrips;
    for (uint32_t level = 0; level < f.levels; level++) {
        const uint32_t parent = kAfter ? (from + kFan - 1) / kFan : from / kFan;
        const uint32_t first = kAfter ? from : parent * kFan, node = first + (threadIdx.x & 31);
        const uint32_t end = kAfter ? min(parent * kFan, f.nodes[level]) : from;
        const uint32_t votes = __ballot_sync(~0u, node < end && f.minima[level][node] < value);
        if (votes) return tree_down<kAfter>(f, level, first + nearest<kAfter>(votes), value);
        from = parent;
    }
    return kNowhere;
}

// Searches outside the tile for lanes that have not found a neighbour in it.
template <bool kAfter>
__device__ uint32_t outside_tile(const Factoring &f, uint32_t tile, uint32_t value, bool wanted) {
    uint32_t own = kNowhere;
    for (uint32_t open = __ballot_sync(~0u, wanted); open; open = __ballot_sync(~0u, wanted)) {
        const uint32_t found = beyond_tile<kAfter>(f, tile, __shfl_sync(~0u, value, nearest<!kAfter>(open)));
        if (wanted && (found == kNowhere || found < value)) {
            own = found;
            wanted = false;
        }
    }
    return own;
}

__global__ void __launch_bounds__(kThreads) neighbours_kernel(Factoring f) {
    __shared__ uint32_t nodes[2 * kFactorTile];
    const uint32_t tile = blockIdx.x, first = tile * kFactorTile;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t row = first + place_of(k);
        nodes[kFactorTile + place_of(k)] = row < f.rows ? f.order[row] : kNowhere;
    }
    for (uint32_t size = kFactorTile / 2; size > 0; size /= 2) {
        __syncthreads();
        for (uint32_t node = size + threadIdx.x; node < 2 * size; node += kThreads)
            nodes[node] = min(nodes[2 * node], nodes[2 * node + 1]);
    }
    __syncthreads();
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t place = place_of(k), row = first + place, value = nodes[kFactorTile + place];
        uint32_t before = in_tile<0>(nodes, place, value), after = in_tile<1>(nodes, place, value);
        const bool is_row = row < f.rows;
        const bool no_before = is_row && before == kNowhere, no_after = is_row && after == kNowhere;
        const uint32_t far_before = outside_tile<false>(f, tile, value, no_before);
        const uint32_t far_after = outside_tile<true>(f, tile, value, no_after);
        if (no_before) before = far_before;
        if (no_after) after = far_after;
        if (is_row) f.pairs[row] = make_uint2(before, after);
    }
}

} // namespace

cudaError_t find_neighbours(const Factoring &f, cudaStream_t stream) {
    constexpr uint32_t kWarps = kThreads / 32;
    const auto strips = minima_kernel<kStrip>, fans = minima_kernel<kFan>;
    strips<<<blocks_for(f.nodes[0], kWarps), kThreads, 0, stream>>>(f.order, f.rows, f.minima[0], f.nodes[0]);
    for (uint32_t level = 1; level < f.levels; level++)
        fans<<<blocks_for(f.nodes[level], kWarps), kThreads, 0, stream>>>(f.minima[level - 1], f.nodes[level - 1],
                                                                         f.minima[level], f.nodes[level]);
    neighbours_kernel<<<blocks_for(f.rows, kFactorTile), kThreads, 0, stream>>>(f);
    return cudaGetLastError();
}

} // namespace hybz
