// refine.cu: a round of rank doubling for groups of up to kSmall rotations, in shared memory (splitting.cuh); and the
// commit that ends every round.
//
// Members of a group agree on `depth` symbols, so their order is the order of the rotations `depth` symbols further
// on, whose ranks (the rows of the heads of their groups) are known from earlier rounds. All ranks of a round are read
// from one snapshot: this kernel writes lists only, and commit() scatters the new ranks and depths afterwards. Mixing
// one member's refined rank with another's stale rank would order them wrongly (Larsson and Sadakane's in-place trick
// of 2007 only works sequentially).
//
// Members that stay tied at the same rank r agree on depth + depth[r] symbols, and continue immediately from the same
// snapshot, up to kSteps times. Members of larger groups cost more; beyond kSmall, CUB sorts.
//
// Measured (H200, linux, first round): 85 ps a rotation with two counts of 32-bit keys a member, before first.cu took
// the first steps; 76 since then; 65 with splitting.cuh and registers for four CTAs. tuned.hpp has measurements of
// other kSmall, kSteps and kRefineCtas.
//
// Twin: simulate() in sim/sim.hpp.
#include "splitting.cuh"

namespace hybz {

namespace {

struct RankTile : GroupTile<kThreads> {
    uint32_t depth[kTile]; // at heads
    uint32_t first, end;   // the places of the groups that begin in the window
};

// Loads the tile: values, depths at heads, and the groups. For each of this thread's places, sets `shift` to its row
// minus the place, which splitting groups never changes.
__device__ __forceinline__ void load_tile(RankTile &tile, List in, uint32_t window, uint32_t count,
                                          uint32_t (&shift)[kItems]) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) tile.first = tile.end = kTile;
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k), j = window + t;
        bool is_head = true;
        shift[k] = 0;
        if (j < count) {
            shift[k] = in.head[j];
            is_head = j == 0 || in.head[j - 1] != shift[k];
            tile.value[t] = in.value[j];
            if (is_head) tile.depth[t] = in.depth[j];
        }
        const uint32_t heads = __ballot_sync(~0u, is_head);
        const uint32_t ends = __ballot_sync(~0u, is_head && (t >= kWindow || j >= count));
        const uint32_t chunk = k * (kThreads / 32) + warp;
        if (lane == 0) {
            tile.heads[chunk] = heads;
            if (heads) atomicMin(&tile.first, chunk * 32 + __ffs(heads) - 1);
            if (ends) atomicMin(&tile.end, chunk * 32 + __ffs(ends) - 1);
        }
    }
    __syncthreads();
    if (threadIdx.x <= tile.kChunks) {
        const uint32_t from = threadIdx.x * 32;
        for (uint32_t t = 0; t < 32; t++)
            if (from + t < tile.first || from + t >= tile.end) tile.heads[threadIdx.x] |= 1u << t;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) shift[k] -= tile.start_of(place_of(k));
}

// Splits by the ranks `depth` symbols further on.
template <bool kWide> struct ByRank {
    const Batch &batch;
    RankTile &tile;
    const uint32_t *heads; // of the tile's places: rows of the same block

    __device__ __forceinline__ uint64_t key(uint32_t t, uint32_t start, uint32_t value) const {
        return rank_after<kWide>(batch, heads[t], value, tile.depth[start]);
    }
    __device__ __forceinline__ uint32_t depth(uint32_t start) const { return tile.depth[start]; }
    __device__ __forceinline__ void deepen(uint32_t t, uint32_t depth, uint64_t key) const {
        tile.depth[t] = depth + batch.depth[(heads[t] >> batch.pitch_bits << batch.pitch_bits) + uint32_t(key)];
    }
};

// Finalizes the rows of single members, and appends every member to its list.
template <bool kWide>
__device__ __forceinline__ void append_members(const Batch &batch, RankTile &tile, const uint32_t (&shift)[kItems],
                                               List out, List done, Counters *counters) {
    uint32_t slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k);
        category[k] = t < tile.first || t >= tile.end ? kNotMine : tile.is_tied(t) ? kToSmall : kToDone;
    }
    assign_slots(tile.slots, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t t = place_of(k), start = tile.start_of(t);
        const uint32_t value = tile.value[t];
        const uint32_t head = shift[k] + start;
        if (category[k] == kToDone) {
            finalize<kWide>(batch, head, value);
            done.value[slot[k]] = value;
            done.head[slot[k]] = head;
        } else {
            out.value[slot[k]] = value;
            out.head[slot[k]] = head;
            out.depth[slot[k]] = tile.depth[start];
        }
    }
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads, kRefineCtas)
refine_small_kernel(Batch batch, List in, uint32_t count, List out, List done, Counters *counters) {
    __shared__ RankTile tile;
    const uint32_t window = blockIdx.x * kWindow;
    uint32_t shift[kItems];
    load_tile(tile, in, window, count, shift);
    const ByRank<kWide> by_rank{batch, tile, in.head + window};
#pragma unroll 1
    for (int step = 0; step < kSteps && split_groups(tile, by_rank); step++) {}
    __syncthreads();
    append_members<kWide>(batch, tile, shift, out, done, counters);
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
commit_kernel(Batch batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters) {
    uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= count) return;
    const uint32_t small = counters->count[kToSmall], large = counters->count[kToLarge];
    const uint32_t mask = (1u << batch.pitch_bits) - 1;
    uint32_t value, head;
    if (j < small + large) {
        const bool is_large = j >= small;
        const uint32_t at = is_large ? capacity - 1 - (j - small) : j;
        value = out.value[at];
        head = out.head[at];
        const bool first = j == 0 || j == small || out.head[is_large ? at + 1 : at - 1] != head;
        if (first) batch.depth[head] = out.depth[at];
    } else {
        j -= small + large;
        value = done.value[j];
        head = done.head[j];
    }
    batch.rank[(head & ~mask) + index_of<kWide>(value)] = head & mask;
}

} // namespace

cudaError_t refine_small(const Batch &batch, List in, uint32_t count, List out, List done, Counters *counters,
                         cudaStream_t stream) {
    const auto kernel = batch.wide ? refine_small_kernel<true> : refine_small_kernel<false>;
    kernel<<<blocks_for(count, kWindow), kThreads, 0, stream>>>(batch, in, count, out, done, counters);
    return cudaGetLastError();
}

cudaError_t commit(const Batch &batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters,
                   cudaStream_t stream) {
    const auto kernel = batch.wide ? commit_kernel<true> : commit_kernel<false>;
    kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(batch, out, capacity, done, count, counters);
    return cudaGetLastError();
}

} // namespace hybz
