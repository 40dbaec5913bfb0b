// first.cuh: the groups of the first sort, split further by the text itself; then all ranks: what first.cu (keys that
// CUB has sorted) and ranges.cu (a sample sort) share.
//
// A key of the first sort has 5 to 17 symbols, and six of ten rotations of source code are in small groups after it. A
// round that splits them by ranks (refine.cu) reads and writes lists, and its commit scatters the ranks once more. So
// small groups are split here, before anything has been written: each step compares the next kBytes bytes of text.
// Text is a quarter of the size of the ranks and never changes, so no snapshot is needed. All ranks are scattered
// once, afterwards, and only what is still tied goes to the lists.
//
// Four steps of 7 bytes leave 0.18 instead of 0.54 rotations for each byte of linux (40 MB) to the rounds of small
// groups. A step costs 4 ps a rotation in first.cu and 9 in ranges.cu, where little else waits for memory meanwhile;
// ranks cost 4 next to four steps, and 15 next to none (H200). The hybrid pipeline takes no steps: its positions are
// numbers within the sample.
//
// Twin: Sim's constructor in sim/sim.hpp.
#pragma once
#include "groups.cuh"
#include "splitting.cuh"

namespace hybz {

constexpr int kDepthBits = 7; // of the number of symbols in a key
constexpr uint32_t kDepthMask = (1u << kDepthBits) - 1;

// The number of bytes of text that a step compares, for rotations and for suffixes.
template <bool kWide> constexpr uint32_t kBytes = kWide ? 6 : 7;

// The next bytes of a rotation that agrees with others on `depth` symbols, the first one highest, so that comparing
// numbers compares text. A suffix may end earlier: the lowest byte is the number of bytes, because the end mark sorts
// before all bytes. `text` is that of the rotation's block, of n bytes, from `base` on.
template <bool kWide>
__device__ __forceinline__ uint64_t text_after(const uint8_t *__restrict__ text, uint32_t base, uint32_t n,
                                               uint32_t value, uint32_t depth) {
    uint32_t at = index_of<kWide>(value) + depth;
    if (!kWide && at >= n) at -= n; // rank_after() says why once is enough
    uint64_t bytes = 0;
    uint32_t count = kBytes<kWide>;
    if (at + count <= n) {
        bytes = bytes_at(text, base + at);
        bytes = uint64_t(__byte_perm(uint32_t(bytes), 0, 0x0123)) << 32 | __byte_perm(uint32_t(bytes >> 32), 0, 0x0123);
        bytes >>= 8 * (8 - count);
    } else if (kWide) {
        count = n - at;
        for (uint32_t k = 0; k < kBytes<kWide>; k++) bytes = bytes << 8 | (k < count ? text[base + at + k] : 0);
    } else {
        for (uint32_t k = 0; k < count; k++, at++) bytes = bytes << 8 | text[base + (at < n ? at : at - n)];
    }
    return kWide ? bytes << 8 | count : bytes;
}

// A rotation after the steps: its value and block, the row at which its group begins (counted through all blocks), and
// the number of symbols in its key.
struct FirstRow {
    uint32_t value, block, start, depth;
};

// Writes a CTA's ranks and lists, and finalizes the rows of single rotations. `categories`: of this thread's places
// before the steps, two bits each; row_of(k, place) is a FirstRow; `row` is place 0's, counted through all blocks.
template <bool kWide, uint32_t kCta, class RowOf>
__device__ __forceinline__ void write_groups(const Batch &batch, GroupTile<kCta> &tile, uint32_t categories,
                                             uint32_t row, uint32_t steps, const FirstLists &lists, Counters *counters,
                                             RowOf row_of) {
    uint32_t slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        category[k] = int(categories >> 2 * k & 3);
        if (category[k] == kToSmall && !tile.is_tied(place_of<kCta>(k))) category[k] = kToDone;
    }
    assign_slots(tile.slots, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t t = place_of<kCta>(k);
        const FirstRow of = row_of(k, t);
        const uint32_t base = batch.base[of.block];
        const uint32_t pitched = of.block << batch.pitch_bits;
        batch.rank[pitched + index_of<kWide>(of.value)] = of.start - base;
        if (category[k] == kToDone) {
            finalize<kWide>(batch, pitched + row + t - base, of.value);
        } else {
            const uint32_t head = pitched + of.start - base;
            const uint32_t depth = of.depth + (category[k] == kToSmall ? steps * kBytes<kWide> : 0);
            if (of.start == row + t) {
                batch.depth[head] = depth;
                if (category[k] == kToLarge) number_group(lists.large, head, counters);
            }
            append(lists.out, lists.capacity, category[k], slot[k], of.value, head, depth);
        }
    }
}

} // namespace hybz
