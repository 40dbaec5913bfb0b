// refine.cu: a round of rank doubling for groups of up to kSmall rotations, in shared memory; and the commit that ends
// every round.
//
// Members of a group agree on `depth` symbols, so their order is the order of the rotations `depth` further on, whose
// ranks (the rows of the heads of their groups) are known from earlier rounds. All ranks of a round are read from one
// snapshot: this kernel writes lists only, and commit() scatters the new ranks and depths afterwards. Mixing a refined
// rank of one member with the stale rank of another would order them wrongly (the in-place trick of Larsson and
// Sadakane 2007 is a sequential one).
//
// A group of g members is sorted by counting: each member looks at all g keys and counts the smaller ones. This takes a
// few instructions per key, so it is cheap for the small groups of text (mostly g of 2 to 20). The count directly gives
// the row and, for equal keys, the head of the new group: no scan and no flags are needed. Larger groups pay in
// proportion to g; beyond kSmall, CUB sorts.
//
// Measured (H200, linux tarball, first round, gathers and lists included): 52 ps a rotation for one step, 71 for two,
// 86 for three, of which one block-local gather is 7.6 ps a step. The prediction for one step was 62 (gather 9, radix
// sort of the tile 25, lists 28). tuned.hpp has the alternatives to kSmall, kSteps and kRefineCtas.
//
// Members that stay tied under key r agree on depth + depth[r] symbols, and continue immediately from the same
// snapshot, up to kSteps times.
//
// A rank of a wide batch leaves no room in 32 bits for a place: there the comparison adds the place, which costs one
// addition per key.
//
// Twin: simulate() in sim/sim.hpp.
#include "device.cuh"

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
    int32_t last[kChunks + 1]; // for each chunk of 32 places: the last head in it, then the last head before it, or -1
    SlotMemory slots;
};

// Loads the tile: values, and depths at heads. Sets `head` to the head row of each of this thread's places, and
// `ballots` to the starts of groups in the chunk of 32 places around it.
__device__ __forceinline__ void load_tile(Tile &tile, List in, uint32_t window, uint32_t count,
                                          uint32_t (&head)[kItems], uint32_t (&ballots)[kItems]) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k), j = window + t;
        bool is_head = false;
        head[k] = 0;
        if (j < count) {
            head[k] = in.head[j];
            is_head = j == 0 || in.head[j - 1] != head[k];
            tile.value[t] = in.value[j];
            if (is_head) tile.depth[t] = in.depth[j];
        }
        ballots[k] = __ballot_sync(~0u, is_head);
        if (lane == 0) {
            const uint32_t chunk = k * (kThreads / 32) + warp;
            tile.last[chunk] = ballots[k] ? int32_t(chunk * 32 + 31 - __clz(ballots[k])) : -1;
        }
    }
    __syncthreads();
}

// tile.last: from the last head in each chunk to the last one before it, an exclusive running maximum by one warp.
__device__ __forceinline__ void scan_heads(Tile &tile) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (warp == 0) {
        const int32_t a = tile.last[2 * lane], b = tile.last[2 * lane + 1];
        const int32_t latest = scan_up_to(max(a, b), [](int32_t x, int32_t y) { return max(x, y); });
        int32_t before = __shfl_up_sync(~0u, latest, 1);
        if (lane == 0) before = -1;
        tile.last[2 * lane] = before;
        tile.last[2 * lane + 1] = max(before, a);
    }
    __syncthreads();
}

// The start and end of each place's group, for the groups that begin in the window; other places get kNone. `head`
// becomes `shift`, a place's row minus the place: splitting groups never changes it.
__device__ __forceinline__ void find_groups(Tile &tile, uint32_t window, uint32_t count,
                                            const uint32_t (&ballots)[kItems], uint32_t (&shift)[kItems]) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k);
        const uint32_t mine = ballots[k] & (0xFFFFFFFFu >> (31 - lane));
        const int32_t start = mine ? int32_t(t - lane + 31 - __clz(mine)) : tile.last[k * (kThreads / 32) + warp];
        const bool owned = start >= 0 && uint32_t(start) < kWindow && window + t < count;
        tile.start[t] = owned ? uint16_t(start) : uint16_t(kNone);
        shift[k] -= uint32_t(start);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k);
        const uint32_t start = tile.start[t];
        if (start != kNone && (t + 1 == kTile || tile.start[t + 1] != start)) tile.end[start] = uint16_t(t + 1);
    }
    __syncthreads();
}

// The state of this thread's places in a step. Places that are not tied have only `start` and `end`.
struct Members {
    uint32_t value[kItems], key[kItems], depth[kItems], start[kItems], end[kItems];
    // Otherwise the place is single, or belongs to another CTA.
    __device__ __forceinline__ bool tied(uint32_t k) const { return end[k] - start[k] > 1; }
};

// Gathers the key of each tied member, the rank `depth` symbols further on, and shares it. Returns whether the CTA has
// any.
template <bool kWide>
__device__ __forceinline__ bool gather_keys(const Batch &batch, Tile &tile, const uint32_t (&shift)[kItems],
                                            Members &members) {
    bool any = false;
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k);
        const uint32_t start = members.start[k] = tile.start[t];
        members.end[k] = start == kNone ? kNone : tile.end[start];
        if (!members.tied(k)) continue;
        members.value[k] = tile.value[t];
        members.depth[k] = tile.depth[start];
        members.key[k] = rank_after<kWide>(batch, shift[k] + t, members.value[k], members.depth[k]);
        any = true;
    }
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        const uint32_t t = place_of(k);
        if (members.tied(k)) tile.key[t] = kWide ? members.key[k] : members.key[k] << kPlaceBits | t;
    }
    return __syncthreads_or(any);
}

// Sorts each group by counting: for each member, `to` is its place in the new order, `smaller` the head of its new
// group.
template <bool kWide>
__device__ __forceinline__ void count_smaller(const Tile &tile, const Members &members, uint32_t (&to)[kItems],
                                              uint32_t (&smaller)[kItems]) {
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (!members.tied(k)) continue;
        const uint32_t t = place_of(k);
        const uint32_t low = kWide ? members.key[k] : members.key[k] << kPlaceBits, mine = low | t;
        uint32_t before = 0, below = 0;
#pragma unroll 4
        for (uint32_t u = members.start[k]; u < members.end[k]; u++) {
            const uint32_t other = tile.key[u];
            before += kWide ? other < low + (u < t) : other < mine;
            below += other < low;
        }
        to[k] = members.start[k] + before;
        smaller[k] = members.start[k] + below;
    }
    __syncthreads();
}

// Moves the members to their new places.
__device__ __forceinline__ void move_members(Tile &tile, const Members &members, const uint32_t (&to)[kItems],
                                             const uint32_t (&smaller)[kItems]) {
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (!members.tied(k)) continue;
        tile.value[to[k]] = members.value[k];
        tile.key[to[k]] = members.key[k];
        tile.start[to[k]] = uint16_t(smaller[k]);
    }
    __syncthreads();
}

// The ends and depths of the groups into which the old ones, still known to their members, were split.
__device__ __forceinline__ void split_groups(const Batch &batch, Tile &tile, const uint32_t (&shift)[kItems],
                                             const Members &members) {
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (!members.tied(k)) continue;
        const uint32_t t = place_of(k);
        const uint32_t head = tile.start[t];
        const bool last = t + 1 == members.end[k] || tile.start[t + 1] != head;
        if (last) tile.end[head] = uint16_t(t + 1);
        if (head == t && !last) {
            const uint32_t row = shift[k] + t;
            const uint32_t other = (row >> batch.pitch_bits << batch.pitch_bits) + tile.key[t];
            tile.depth[t] = members.depth[k] + batch.depth[other];
        }
    }
    __syncthreads();
}

// Finalizes the rows of single members, and appends every member to its list.
template <bool kWide>
__device__ __forceinline__ void append_members(const Batch &batch, Tile &tile, const uint32_t (&shift)[kItems],
                                               List out, List done, Counters *counters) {
    uint32_t start[kItems], slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        start[k] = tile.start[place_of(k)];
        category[k] = start[k] == kNone ? kNotMine : tile.end[start[k]] - start[k] > 1 ? kToSmall : kToDone;
    }
    assign_slots(tile.slots, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t t = place_of(k);
        const uint32_t value = tile.value[t];
        const uint32_t head = shift[k] + start[k];
        if (category[k] == kToDone) {
            finalize<kWide>(batch, head, value);
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
__global__ void __launch_bounds__(kThreads, kRefineCtas)
refine_small_kernel(Batch batch, List in, uint32_t count, List out, List done, Counters *counters) {
    __shared__ Tile tile;
    const uint32_t window = blockIdx.x * kWindow;
    uint32_t shift[kItems], ballots[kItems];
    load_tile(tile, in, window, count, shift, ballots);
    scan_heads(tile);
    find_groups(tile, window, count, ballots, shift);
#pragma unroll 1
    for (int step = 0; step < kSteps; step++) {
        Members members;
        uint32_t to[kItems], smaller[kItems];
        if (!gather_keys<kWide>(batch, tile, shift, members)) break;
        count_smaller<kWide>(tile, members, to, smaller);
        move_members(tile, members, to, smaller);
        split_groups(batch, tile, shift, members);
    }
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
