// splitting.cuh: small groups in shared memory, and how a CTA splits them, for first.cu, ranges.cu and refine.cu.
//
// A group is sorted by counting: each member counts the keys of its group that are smaller than its own. This takes a
// few instructions for each key of the group, so it is cheap for the small groups of text (mostly 2 to 20 members).
// The low bits of a key are the member's place in its group, so all keys differ, and one comparison tells the order.
// The heads of the new groups are where neighbours differ afterwards.
//
// Tied members are numbered before each step, so that threads without work form whole warps.
#pragma once
#include "device.cuh"

namespace hybz {

struct alignas(16) KeyPair {
    uint64_t first, second;
};

// The groups of a CTA of kCta threads, with kItems places each.
template <uint32_t kCta> struct GroupTile {
    static constexpr uint32_t kPlaces = kCta * kItems, kChunks = kPlaces / 32;
    KeyPair pairs[kPlaces / 2]; // the keys of a step
    uint32_t value[kPlaces];
    uint16_t places[kPlaces];     // of tied members; from the middle of a step on, of their keys
    uint32_t heads[kChunks + 1];  // a bit at the first place of each group, and at places that are not this CTA's
    uint32_t before[kChunks + 1]; // the number of tied members before each chunk of 32 places
    SlotMemory<kCta> slots;

    __device__ __forceinline__ uint64_t *keys() { return &pairs[0].first; }
    __device__ __forceinline__ bool is_head(uint32_t t) const { return heads[t / 32] >> (t & 31) & 1; }
    // Whether a place belongs to a group of several members.
    __device__ __forceinline__ bool is_tied(uint32_t t) const { return !(is_head(t) && is_head(t + 1)); }
    // The first place of a place's group, and the place after its last one.
    __device__ __forceinline__ uint32_t start_of(uint32_t t) const {
        uint32_t chunk = t / 32, bits = heads[chunk] & ((2u << (t & 31)) - 1);
        while (bits == 0) bits = heads[--chunk];
        return chunk * 32 + 31 - __clz(bits);
    }
    __device__ __forceinline__ uint32_t end_of(uint32_t t) const {
        uint32_t chunk = t / 32, bits = heads[chunk] & ~((2u << (t & 31)) - 1);
        while (bits == 0) bits = heads[++chunk];
        return chunk * 32 + __ffs(bits) - 1;
    }
};

// A tied member: its group's first place, its own place in the group, and the group's size, in 12, 8 and 9 bits. Three
// arrays of registers spilled.
struct Member {
    uint32_t bits;
    __device__ __forceinline__ uint32_t start() const { return bits & 4095; }
    __device__ __forceinline__ uint32_t place() const { return start() + (bits >> 12 & (kSmall - 1)); }
    __device__ __forceinline__ uint32_t end() const { return start() + (bits >> 20); }
};

// Numbers the places that are tied. Returns how many there are.
template <uint32_t kCta> __device__ __forceinline__ uint32_t number_tied(GroupTile<kCta> &tile) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t ballots[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        ballots[k] = __ballot_sync(~0u, tile.is_tied(place_of<kCta>(k)));
        if (lane == 0) tile.before[k * (kCta / 32) + warp] = __popc(ballots[k]);
    }
    __syncthreads();
    if (warp == 0) {
        const uint32_t all = scan_in_place<tile.kChunks>(tile.before, [](uint32_t) { return 0; });
        if (lane == 31) tile.before[tile.kChunks] = all;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        if (ballots[k] >> lane & 1)
            tile.places[tile.before[k * (kCta / 32) + warp] + __popc(ballots[k] & ((1u << lane) - 1))] =
                uint16_t(place_of<kCta>(k));
    __syncthreads();
    return tile.before[tile.kChunks];
}

// The number of keys of a member's group that are smaller than its own; two are loaded at a time.
template <uint32_t kCta> __device__ __forceinline__ uint32_t count_smaller(GroupTile<kCta> &tile, Member member) {
    const uint64_t *keys = tile.keys();
    const uint64_t own = keys[member.place()];
    const uint32_t end = member.end();
    uint32_t u = member.start(), smaller = 0;
    if (u & 1) smaller += keys[u++] < own;
#pragma unroll 2
    for (; u + 1 < end; u += 2) {
        const KeyPair pair = tile.pairs[u / 2];
        smaller += pair.first < own;
        smaller += pair.second < own;
    }
    if (u < end) smaller += keys[u] < own;
    return smaller;
}

// One step: splits the groups by `rule`, whose key(place, start, value) is less than 2^56. Then, for each new group,
// deepen(its start, depth(the old group's start), its key). Returns whether anything was tied.
template <uint32_t kCta, class Rule>
__device__ __forceinline__ bool split_groups(GroupTile<kCta> &tile, const Rule &rule) {
    uint64_t *const keys = tile.keys();
    const uint32_t count = number_tied(tile);
    if (count == 0) return false;
    Member member[kItems];
    uint32_t value[kItems];
    for_places<kCta>(count, [&](uint32_t k, uint32_t place) {
        const uint32_t t = tile.places[place], start = tile.start_of(t);
        member[k].bits = start | (t - start) << 12 | (tile.end_of(t) - start) << 20;
        value[k] = tile.value[t];
        keys[t] = rule.key(t, start, value[k]) << kSmallBits | (t - start);
    });
    __syncthreads();
    for_places<kCta>(count, [&](uint32_t k, uint32_t) {
        const uint32_t to = member[k].start() + count_smaller(tile, member[k]);
        tile.value[to] = value[k];
        tile.places[to] = uint16_t(member[k].place());
    });
    __syncthreads();
    uint32_t depth[kItems];
    for_places<kCta>(count, [&](uint32_t k, uint32_t) {
        const uint32_t t = member[k].place();
        depth[k] = rule.depth(member[k].start());
        if (t == member[k].start()) return;
        const uint64_t differ = keys[tile.places[t]] ^ keys[tile.places[t - 1]];
        if (differ >> kSmallBits) atomicOr(&tile.heads[t / 32], 1u << (t & 31));
    });
    __syncthreads();
    for_places<kCta>(count, [&](uint32_t k, uint32_t) {
        const uint32_t t = member[k].place();
        if (tile.is_head(t) && !tile.is_head(t + 1)) rule.deepen(t, depth[k], keys[tile.places[t]] >> kSmallBits);
    });
    return true;
}

} // namespace hybz
