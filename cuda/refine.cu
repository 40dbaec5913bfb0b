// refine.cu: a round of rank doubling for groups of up to kSmall rotations, in shared memory; and the commit that ends
// every round.
//
// Members of a group agree on `depth` symbols, so the order among them is that of the rotations `depth` further on, whose
// ranks (the rows of the heads of their groups) are known from the rounds before. All ranks of a round are read from one snapshot:
// this kernel writes lists only, and commit() scatters the new ranks and depths afterwards. Mixing a refined rank of
// one member with the stale rank of another would order them wrongly (Larsson and Sadakane's in-place trick is a sequential one).
//
// Sorting a group of g is counting: each member looks at all g keys and counts the smaller ones: a few instructions a
// look, so it is cheap for the small groups that text has (g of 2 to 20 mostly), and the count is at once the row and, for equal
// keys, the head of the new group: no scan, no flags. Larger groups pay in proportion to g, and beyond kSmall CUB does them.
//
// Measured (H200, linux tarball, first round, gathers and lists included): 52 ps a rotation for one step, 71 for two, 86 for
// three, of which one block-local gather is 7.6 ps a step. Predicted were 62 for one step (gather 9, radix sort of the tile
// 25, lists 28). Groups up to 128 only: 78 instead of 86, but what CUB then does in their place costs the same again.
// With 2 CTAs a multiprocessor (no spills) instead of 3 (228 bytes spilled): 101; with 4: 86.
//
// Members that stay tied under key r agree on depth + depth[r] symbols, and go on at once from the same snapshot, up
// to `steps` times: with 3 steps a round multiplies depths by up to 8. On the linux tarball the whole sort takes 269 ps a byte with
// one step, 249 with two, 247 with three.
//
// Ranks of wide batches leave no room for a place beside them in 32 bits: there the place decides in the comparison, at an addition a look.
//
// Twin: simulate() in sim/sim.hpp.
#include "device.cuh"

#ifndef HYBZ_REFINE_CTAS
#define HYBZ_REFINE_CTAS 3
#endif

namespace hybz {

namespace {

constexpr int kPlaceBits = 11; // of a place in the tile; 20 bits of rank above them
static_assert(kTile == 1u << kPlaceBits, "a key is (rank, place) in 32 bits");
constexpr uint32_t kNone = 0xFFFF;

struct Tile {
    uint32_t value[kTile];
    uint32_t key[kTile];
    uint32_t depth[kTile]; // at heads
    uint16_t start[kTile]; // the place of the head
    uint16_t end[kTile];   // at heads: the place after the last member
    int32_t last[kChunks + 1];
    SlotMemory slots;
};

template <bool kWide>
__global__ void __launch_bounds__(kThreads, HYBZ_REFINE_CTAS)
refine_small_kernel(Batch batch, List in, uint32_t count, int steps, List out, List done, Counters *counters) {
    __shared__ Tile tile;
    const uint32_t window = blockIdx.x * kWindow;
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    // Load, and find heads: ballots inside a chunk of 32 places, a running maximum over the chunks.
    uint32_t shift[kItems]; // row - place: it never changes, since groups are only split
    uint32_t heads[kItems]; // ballots
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kThreads + threadIdx.x, j = window + t;
        bool is_head = false;
        shift[k] = 0;
        if (j < count) {
            const uint32_t head = in.head[j];
            is_head = j == 0 || in.head[j - 1] != head;
            shift[k] = head; // made a shift below
            tile.value[t] = in.value[j];
            if (is_head) tile.depth[t] = in.depth[j];
        }
        heads[k] = __ballot_sync(~0u, is_head);
        if (lane == 0) {
            const uint32_t chunk = k * (kThreads / 32) + warp;
            tile.last[chunk] = heads[k] ? int32_t(chunk * 32 + 31 - __clz(heads[k])) : -1;
        }
    }
    __syncthreads();
    if (warp == 0) { // exclusive running maximum
        const int32_t a = tile.last[2 * lane], b = tile.last[2 * lane + 1];
        int32_t most = max(a, b);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int32_t other = __shfl_up_sync(~0u, most, d);
            if (lane >= uint32_t(d)) most = max(most, other);
        }
        int32_t before = __shfl_up_sync(~0u, most, 1);
        if (lane == 0) before = -1;
        tile.last[2 * lane] = before;
        tile.last[2 * lane + 1] = max(before, a);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kThreads + threadIdx.x;
        const uint32_t mine = heads[k] & (0xFFFFFFFFu >> (31 - lane));
        const int32_t start = mine ? int32_t(t - lane + 31 - __clz(mine)) : tile.last[k * (kThreads / 32) + warp];
        const bool owned = start >= 0 && uint32_t(start) < kWindow && window + t < count;
        tile.start[t] = owned ? uint16_t(start) : uint16_t(kNone);
        shift[k] -= uint32_t(start);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = k * kThreads + threadIdx.x;
        const uint32_t start = tile.start[t];
        if (start != kNone && (t + 1 == kTile || tile.start[t + 1] != start)) tile.end[start] = uint16_t(t + 1);
    }
    __syncthreads();

    for (int step = 0; step < steps; step++) {
        uint32_t value[kItems], key[kItems], depth[kItems], start[kItems], end[kItems];
        bool any = false;
#pragma unroll
        for (uint32_t k = 0; k < kItems; k++) {
            const uint32_t t = k * kThreads + threadIdx.x;
            start[k] = tile.start[t];
            end[k] = start[k] == kNone ? kNone : tile.end[start[k]];
            if (end[k] - start[k] <= 1) continue; // not mine, or single
            value[k] = tile.value[t];
            depth[k] = tile.depth[start[k]];
            key[k] = rank_after<kWide>(batch, shift[k] + t, value[k], depth[k]);
            any = true;
        }
#pragma unroll
        for (uint32_t k = 0; k < kItems; k++) {
            const uint32_t t = k * kThreads + threadIdx.x;
            if (end[k] - start[k] > 1) tile.key[t] = kWide ? key[k] : key[k] << kPlaceBits | t;
        }
        if (!__syncthreads_or(any)) break;
        uint32_t to[kItems], smaller[kItems];
#pragma unroll
        for (uint32_t k = 0; k < kItems; k++) {
            if (end[k] - start[k] <= 1) continue;
            const uint32_t t = k * kThreads + threadIdx.x;
            const uint32_t low = kWide ? key[k] : key[k] << kPlaceBits, mine = low | t;
            uint32_t before = 0, below = 0;
#pragma unroll 4
            for (uint32_t u = start[k]; u < end[k]; u++) {
                const uint32_t other = tile.key[u];
                before += kWide ? other < low + (u < t) : other < mine;
                below += other < low;
            }
            to[k] = start[k] + before;
            smaller[k] = start[k] + below;
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < kItems; k++) {
            if (end[k] - start[k] <= 1) continue;
            tile.value[to[k]] = value[k];
            tile.key[to[k]] = key[k];
            tile.start[to[k]] = uint16_t(smaller[k]);
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < kItems; k++) {
            if (end[k] - start[k] <= 1) continue;
            const uint32_t t = k * kThreads + threadIdx.x;
            const uint32_t head = tile.start[t];
            const bool last = t + 1 == end[k] || tile.start[t + 1] != head;
            if (last) tile.end[head] = uint16_t(t + 1);
            if (head == t && !last) {
                const uint32_t row = shift[k] + t;
                const uint32_t other = (row >> batch.pitch_bits << batch.pitch_bits) + tile.key[t];
                tile.depth[t] = depth[k] + batch.depth[other];
            }
        }
        __syncthreads();
    }

    uint32_t start[kItems], slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        start[k] = tile.start[k * kThreads + threadIdx.x];
        category[k] = start[k] == kNone                           ? kNotMine
                      : tile.end[start[k]] - start[k] > 1 ? kToSmall
                                                          : kToDone;
    }
    assign_slots(tile.slots, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t t = k * kThreads + threadIdx.x;
        const uint32_t value = tile.value[t];
        const uint32_t head = shift[k] + start[k];
        if (category[k] == kToDone) {
            place<kWide>(batch, head, value);
            done.value[slot[k]] = value;
            done.head[slot[k]] = head;
        } else {
            out.value[slot[k]] = value;
            out.head[slot[k]] = head;
            out.depth[slot[k]] = tile.depth[start[k]];
        }
    }
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
commit_kernel(Batch batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters) {
    uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= count) return;
    const uint32_t small = counters->of[kToSmall], large = counters->of[kToLarge];
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

cudaError_t refine_small(const Batch &batch, List in, uint32_t count, int steps, List out, List done, Counters *counters,
                         cudaStream_t stream) {
    const auto kernel = batch.wide ? refine_small_kernel<true> : refine_small_kernel<false>;
    kernel<<<blocks_for(count, kWindow), kThreads, 0, stream>>>(batch, in, count, steps, out, done, counters);
    return cudaGetLastError();
}

cudaError_t commit(const Batch &batch, List out, uint32_t capacity, List done, uint32_t count, const Counters *counters,
                   cudaStream_t stream) {
    const auto kernel = batch.wide ? commit_kernel<true> : commit_kernel<false>;
    kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(batch, out, capacity, done, count, counters);
    return cudaGetLastError();
}

} // namespace hybz
