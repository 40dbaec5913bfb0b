// ranks.cuh: move-to-front ranks and the digits of zero runs, by warps, shared by both formats' decoders.
//
// A warp decodes a stretch of symbols, starting with a list that holds 0, 1, 2, ...: a symbol yields a place in the
// stretch's first list, and the last list is a permutation of the first (Patel 2012). Composing the permutations gives
// the first list of every stretch. A warp's registers hold a list, eight places in each lane; most ranks are below 32
// and move one register only.
#pragma once
#include "scan.cuh"

namespace hybz {

constexpr uint32_t kMaxDigits = 21; // bzip2 refuses longer runs of digits

using List256 = uint32_t[8];

inline __device__ void first_list(List256 &list) {
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) list[k] = k * 32 + (threadIdx.x & 31);
}

inline __device__ void store_list(const List256 &list, uint8_t *to) {
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) to[k * 32 + (threadIdx.x & 31)] = uint8_t(list[k]);
}

// Moves the entry at `rank` of a list to its front, and returns it. All lanes have the same rank.
inline __device__ uint32_t move_to_front(List256 &list, uint32_t rank) {
    const uint32_t lane = threadIdx.x & 31, row = rank >> 5, place = rank & 31;
    if (row == 0) {
        const uint32_t entry = __shfl_sync(~0u, list[0], place), left = __shfl_up_sync(~0u, list[0], 1);
        list[0] = lane == 0 ? entry : lane <= place ? left : list[0];
        return entry;
    }
    uint32_t entry = 0;
#pragma unroll
    for (uint32_t k = 7; k > 0; k--) {
        if (k > row) continue;
        if (k == row) entry = __shfl_sync(~0u, list[k], place);
        const uint32_t left = __shfl_up_sync(~0u, list[k], 1), last = __shfl_sync(~0u, list[k - 1], 31);
        list[k] = lane == 0 ? last : k < row || lane <= place ? left : list[k];
    }
    const uint32_t left = __shfl_up_sync(~0u, list[0], 1);
    list[0] = lane == 0 ? entry : left;
    return entry;
}

// The place that a lane's symbol yields, for 32 symbols in turn. `front` is the place at the front of the list.
inline __device__ uint32_t place_of_symbol(List256 &list, uint32_t symbol, uint32_t &front) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t own = 0;
    for (uint32_t t = 0; t < 32; t++) {
        const uint32_t rank = __shfl_sync(~0u, symbol, t);
        if (rank >= 2) front = move_to_front(list, rank - 1);
        if (lane == t) own = front;
    }
    return own;
}

// Composes the last lists of `count` stretches, by 256 threads: each becomes its stretch's first list. `own` is this
// thread's entry of the first stretch's first list. Returns its entry of the last stretch's last list.
inline __device__ uint32_t compose_lists(uint8_t (&list)[2][256], uint8_t *lists, uint32_t count, uint32_t own) {
    const uint32_t place = threadIdx.x;
    list[0][place] = uint8_t(own);
    lists += place;
    uint32_t from = count ? lists[0] : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t next = i + 1 < count ? lists[uint64_t(i + 1) * 256] : 0; // in flight meanwhile
        __syncthreads();
        lists[uint64_t(i) * 256] = uint8_t(own);
        own = list[i & 1][from];
        list[(i + 1) & 1][place] = uint8_t(own);
        from = next;
    }
    return own;
}

// The number of rows of a lane's symbol. `carry` is the number of digits right before the warp's 32 symbols, and
// becomes that before the next 32.
inline __device__ uint32_t rows_of(bool mine, uint32_t symbol, uint32_t &carry, bool &odd) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const bool digit = mine && symbol < 2;
    const uint32_t others = ~__ballot_sync(~0u, digit);
    const uint32_t weight = others & below ? lane - 32 + __clz(others & below) : lane + carry;
    carry = others ? __clz(others) : carry + 32;
    if (!digit) return mine ? 1 : 0;
    odd |= weight >= kMaxDigits;
    return (symbol + 1) << min(weight, kMaxDigits - 1);
}

// Writes a lane's byte `count` times from `to` on; the whole warp writes long runs.
inline __device__ void write_rows(uint8_t *column, uint32_t to, uint32_t count, uint32_t byte) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t longs = __ballot_sync(~0u, count > 32); longs; longs &= longs - 1) {
        const uint32_t who = __ffs(longs) - 1;
        const uint32_t begin = __shfl_sync(~0u, to, who), end = begin + __shfl_sync(~0u, count, who);
        const uint32_t what = __shfl_sync(~0u, byte, who);
        for (uint32_t i = begin + lane; i < end; i += 32) column[i] = uint8_t(what);
    }
    if (count > 32) return;
    for (uint32_t i = to; i < to + count; i++) column[i] = uint8_t(byte);
}

} // namespace hybz
