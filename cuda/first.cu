// first.cu: the groups of the first sort, split further by the text itself; then all ranks.
//
// A key of the first sort has 5 to 13 symbols, and six of ten rotations of source code are in small groups after it. A
// round that splits them by ranks (refine.cu) reads and writes lists, and its commit scatters the ranks once more. So
// small groups are split here, before anything has been written: each step compares the next kBytes bytes of text.
// Text is a quarter of the size of the ranks and never changes, so no snapshot is needed. All ranks are scattered
// once, afterwards, and only what is still tied goes to the lists.
//
// Four steps of 7 bytes leave 0.33 instead of 0.98 rotations for each byte of linux (40 MB) to the rounds of small
// groups. A step costs about 3 ps a rotation and 13 a tied one, most of it for its gather, by the times with 2, 3 and
// 4 steps. The hybrid pipeline takes no steps: its positions are numbers within the sample.
//
// Twin: Sim's constructor in sim/sim.hpp.
#include "groups.cuh"
#include "splitting.cuh"

namespace hybz {

namespace {

constexpr int kDepthBits = 7; // of the number of symbols in a key, below the block

struct FirstTile : GroupTile {
    uint16_t about[kTile]; // of the members of small groups: block, number of symbols in the key
};

// The number of bytes of text that a step compares, for rotations and for suffixes.
template <bool kWide> constexpr uint32_t kBytes = kWide ? 6 : 7;

// The next bytes of a rotation that agrees with others on `depth` symbols, the first one highest, so that comparing
// numbers compares text. A suffix may end earlier: the lowest byte is the number of bytes, because the end mark sorts
// before all bytes.
template <bool kWide>
__device__ __forceinline__ uint64_t text_after(const Batch &batch, uint32_t block, uint32_t value, uint32_t depth) {
    const uint32_t base = batch.base[block] - (kWide ? block : 0);
    const uint32_t n = batch.base[block + 1] - batch.base[block] - (kWide ? 1 : 0);
    uint32_t at = index_of<kWide>(value) + depth;
    if (!kWide && at >= n) at -= n; // rank_after() says why once is enough
    uint64_t bytes = 0;
    uint32_t count = kBytes<kWide>;
    if (at + count <= n) {
        bytes = bytes_at(batch.text, base + at);
        bytes = uint64_t(__byte_perm(uint32_t(bytes), 0, 0x0123)) << 32 | __byte_perm(uint32_t(bytes >> 32), 0, 0x0123);
        bytes >>= 8 * (8 - count);
    } else if (kWide) {
        count = n - at;
        for (uint32_t k = 0; k < kBytes<kWide>; k++) bytes = bytes << 8 | (k < count ? batch.text[base + at + k] : 0);
    } else {
        for (uint32_t k = 0; k < count; k++, at++) bytes = bytes << 8 | batch.text[base + (at < n ? at : at - n)];
    }
    return kWide ? bytes << 8 | count : bytes;
}

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
        tile.about[t] = uint16_t(uint32_t(key >> (64 - block_bits)) << kDepthBits | uint32_t(key & 127));
    }
    if (threadIdx.x == 0) tile.heads[kChunks] = 1;
    __syncthreads();
    return categories;
}

// Splits groups by the text that follows `more` symbols after their keys.
template <bool kWide> struct ByText {
    const Batch &batch;
    const FirstTile &tile;
    uint32_t more;

    __device__ __forceinline__ uint64_t key(uint32_t t, uint32_t, uint32_t value) const {
        const uint32_t about = tile.about[t];
        return text_after<kWide>(batch, about >> kDepthBits, value, (about & ((1 << kDepthBits) - 1)) + more);
    }
    __device__ __forceinline__ uint32_t depth(uint32_t) const { return 0; }
    __device__ __forceinline__ void deepen(uint32_t, uint32_t, uint64_t) const {}
};

template <bool kWide>
__global__ void __launch_bounds__(kThreads, kFirstCtas)
group_first_kernel(Batch batch, Groups<uint64_t> groups, int block_bits, uint32_t steps, List out, LargeGroups large,
                   uint32_t capacity, Counters *counters) {
    __shared__ FirstTile tile;
    const uint32_t window = blockIdx.x * kWindow;
    if (counters->overflows) return; // the keys are not sorted
    const uint32_t categories = load_groups(tile, groups, block_bits, window);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++)
        if (!split_groups(tile, ByText<kWide>{batch, tile, step * kBytes<kWide>})) break;
    __syncthreads();
    uint32_t slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        category[k] = int(categories >> 2 * k & 3);
        if (category[k] == kToSmall && !tile.is_tied(place_of(k))) category[k] = kToDone;
    }
    assign_slots(tile.slots, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t t = place_of(k), j = window + t;
        const bool small = (categories >> 2 * k & 3) == kToSmall;
        const uint32_t start = small ? window + tile.start_of(t) : groups.starts[j];
        const uint64_t key = groups.keys[j];
        const uint32_t value = small ? tile.value[t] : groups.values[j];
        const uint32_t block = uint32_t(key >> (64 - block_bits));
        const uint32_t base = batch.base[block];
        const uint32_t pitched = block << batch.pitch_bits;
        batch.rank[pitched + index_of<kWide>(value)] = start - base;
        if (category[k] == kToDone) {
            finalize<kWide>(batch, pitched + j - base, value);
        } else {
            const uint32_t head = pitched + start - base;
            const uint32_t depth = uint32_t(key & 127) + (category[k] == kToSmall ? steps * kBytes<kWide> : 0);
            if (start == j) {
                batch.depth[head] = depth;
                if (category[k] == kToLarge) number_group(large, head, counters);
            }
            append(out, capacity, category[k], slot[k], value, head, depth);
        }
    }
}

} // namespace

cudaError_t group_first(const Batch &batch, const Groups<uint64_t> &groups, int block_bits, uint32_t steps, List out,
                        LargeGroups large, uint32_t capacity, Counters *counters, cudaStream_t stream) {
    const auto kernel = batch.wide ? group_first_kernel<true> : group_first_kernel<false>;
    kernel<<<blocks_for(groups.count, kWindow), kThreads, 0, stream>>>(batch, groups, block_bits, steps, out, large,
                                                                       capacity, counters);
    return cudaGetLastError();
}

} // namespace hybz
