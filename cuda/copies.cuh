// copies.cuh: the copy engine for short copies, such as LZW's: a warp executes 32 copies together, with a lane for each
// byte of the text. (gather.cuh handles copies of any length.)
#pragma once
#include "ranks.cuh"

namespace hybz {

// One byte of the text of a warp's short commands.
struct ShortByte {
    uint32_t place, from; // its destination; its source, if it is copied
    uint32_t byte;
    bool copied;
};

// The byte at `at` and this lane's number, in a text that ends at `end`. `begin` and `length` are those of the lane's
// command, `source` is as in carry_out_short.
inline __device__ ShortByte short_byte(uint32_t source, uint32_t begin, uint32_t length, uint32_t at, uint32_t end) {
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t earlier = __popc(__ballot_sync(~0u, length && begin < at));
    const bool here = length && begin - at < 32;
    const uint32_t begins = __reduce_or_sync(~0u, here ? 1u << (begin - at) : 0);
    const uint32_t what = __shfl_sync(~0u, source, earlier + __popc(begins & ((2u << lane) - 1)) - 1);
    const uint32_t place = at + lane;
    return {place, place - ~what, what, what > 255 && place < end};
}

// Executes short commands. Each command writes one byte, once or several times, or makes one copy: `source` is the
// byte, or the complement of the distance; `begin` is the destination, and the destinations of the lanes follow each
// other. A lane handles two bytes of the text at a time: it finds the command of each byte and, if the byte's source
// is among these 64 bytes, the source's source.
inline __device__ void carry_out_short(uint32_t source, uint32_t begin, uint32_t length, uint8_t *out) {
    const uint32_t end = __shfl_sync(~0u, begin + length, 31);
    for (uint32_t at = __shfl_sync(~0u, begin, 0); at < end; at += 64) {
        ShortByte one = short_byte(source, begin, length, at, end);
        ShortByte two = short_byte(source, begin, length, at + 32, end);
        if (one.copied && one.from < at) one.byte = out[one.from];
        if (two.copied && two.from < at) two.byte = out[two.from];
        follow_parents(one.byte, one.from - at, one.copied && one.from >= at, Second{});
        const uint32_t near = __shfl_sync(~0u, one.byte, (two.from - at) & 31);
        if (two.copied && two.from - at < 32) two.byte = near;
        follow_parents(two.byte, two.from - at - 32, two.copied && two.from >= at + 32, Second{});
        if (one.place < end) out[one.place] = uint8_t(one.byte);
        if (two.place < end) out[two.place] = uint8_t(two.byte);
        __syncwarp();
    }
}

} // namespace hybz
