// copies.cuh: the copy engine: a warp carries out 32 commands of an LZ decoder at once.
//
// A command is some literals and then a copy of text that stands some distance before. Prefix sums give each command
// its place. All literals are written first; then, in rounds, all copies whose sources are complete: what is before the
// first copy that waits. That one is always among them, so a round per command is the worst case; files of LZ4 take 1.7
// (dickens) to 3.5 rounds (nci) for 32 commands. A copy from less than its length before repeats what is there, and
// needs only that to be complete. Long ones are carried out by the whole warp.
//
// In this way decoders need no order of the text (Funasaka 2018 forbids references into the segment that a warp
// decodes; here they are resolved).
#pragma once
#include "ranks.cuh"

namespace hybz {

constexpr uint32_t kLongCopy = 32;

struct CopyCommand {
    uint32_t from;     // in the input: the literals
    uint32_t literals; // how many
    uint32_t distance; // from the copy's target back to its source; at least 1 if there is a copy
    uint32_t length;   // of the copy; may be 0
};

// Where the text of each lane's command begins, if the first lane's begins at `at`; and, in all lanes, where the last
// one ends.
struct CopyPlaces {
    uint32_t begin, end;
};
inline __device__ CopyPlaces places_of_copies(const CopyCommand &own, uint32_t at) {
    const uint32_t end = at + sum_up_to(own.literals + own.length);
    return {end - own.literals - own.length, __shfl_sync(~0u, end, 31)};
}

// Carries out the commands of the warp's lanes; idle lanes have empty ones. The caller has checked that all sources and
// targets are where they may be.
inline __device__ void carry_out(const CopyCommand &own, uint32_t begin, const uint8_t *__restrict__ in, uint8_t *out) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t longs = __ballot_sync(~0u, own.literals > kLongCopy); longs; longs &= longs - 1) {
        const uint32_t who = __ffs(longs) - 1;
        const uint32_t to = __shfl_sync(~0u, begin, who), from = __shfl_sync(~0u, own.from, who);
        const uint32_t count = __shfl_sync(~0u, own.literals, who);
        for (uint32_t i = lane; i < count; i += 32) out[to + i] = in[from + i];
    }
    if (own.literals <= kLongCopy)
        for (uint32_t i = 0; i < own.literals; i++) out[begin + i] = in[own.from + i];
    __syncwarp();
    const uint32_t target = begin + own.literals;
    const uint32_t source_end = target - own.distance + min(own.length, own.distance);
    bool waits = own.length > 0;
    for (uint32_t waiting; (waiting = __ballot_sync(~0u, waits)) != 0;) {
        const uint32_t first = __shfl_sync(~0u, target, __ffs(waiting) - 1);
        const bool ready = waits && source_end <= first;
        for (uint32_t longs = __ballot_sync(~0u, ready && own.length > kLongCopy); longs; longs &= longs - 1) {
            const uint32_t who = __ffs(longs) - 1;
            const uint32_t to = __shfl_sync(~0u, target, who), distance = __shfl_sync(~0u, own.distance, who);
            const uint32_t count = __shfl_sync(~0u, own.length, who), from = to - distance;
            if (distance >= count) {
                for (uint32_t i = lane; i < count; i += 32) out[to + i] = out[from + i];
            } else {
                for (uint32_t i = lane; i < count; i += 32) out[to + i] = out[from + i % distance];
            }
        }
        if (ready && own.length <= kLongCopy)
            for (uint32_t i = 0; i < own.length; i++) out[target + i] = out[target + i - own.distance];
        waits = waits && !ready;
        __syncwarp();
    }
}

// One byte of the text of a warp's short commands.
struct ShortByte {
    uint32_t place, from; // where it goes; where it comes from, if it is copied
    uint32_t byte;
    bool copied;
};

// The byte at `at` and this lane's number, in a text that ends at `end`. `begin` and `length` are the lane's command's,
// `source` as in carry_out_short.
inline __device__ ShortByte short_byte(uint32_t source, uint32_t begin, uint32_t length, uint32_t at, uint32_t end) {
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t earlier = __popc(__ballot_sync(~0u, length && begin < at));
    const bool here = length && begin - at < 32;
    const uint32_t begins = __reduce_or_sync(~0u, here ? 1u << (begin - at) : 0);
    const uint32_t what = __shfl_sync(~0u, source, earlier + __popc(begins & ((2u << lane) - 1)) - 1);
    const uint32_t place = at + lane;
    return {place, place - ~what, what, what > 255 && place < end};
}

// Replaces the bytes that wait for the byte of another lane, `parent`, by these. Chains are followed by jumping.
inline __device__ void await_bytes(uint32_t &byte, uint32_t parent, bool waits) {
    while (__ballot_sync(~0u, waits)) {
        const uint32_t value = __shfl_sync(~0u, byte, parent & 31), grand = __shfl_sync(~0u, parent, parent & 31);
        const bool still = __shfl_sync(~0u, waits, parent & 31);
        if (waits) {
            byte = value;
            parent = grand;
            waits = still;
        }
    }
}

// The same as carry_out for commands that are short, of which each is one byte, once or several times, or one copy:
// `source` is the byte, or the complement of the distance; `begin` is where it goes, and the lanes' targets follow each
// other. A lane for each byte of the text, two at once: it finds its command, and if the byte's source is among these
// 64, the source's source.
inline __device__ void carry_out_short(uint32_t source, uint32_t begin, uint32_t length, uint8_t *out) {
    const uint32_t end = __shfl_sync(~0u, begin + length, 31);
    for (uint32_t at = __shfl_sync(~0u, begin, 0); at < end; at += 64) {
        ShortByte one = short_byte(source, begin, length, at, end);
        ShortByte two = short_byte(source, begin, length, at + 32, end);
        if (one.copied && one.from < at) one.byte = out[one.from];
        if (two.copied && two.from < at) two.byte = out[two.from];
        await_bytes(one.byte, one.from - at, one.copied && one.from >= at);
        const uint32_t near = __shfl_sync(~0u, one.byte, (two.from - at) & 31);
        if (two.copied && two.from - at < 32) two.byte = near;
        await_bytes(two.byte, two.from - at - 32, two.copied && two.from >= at + 32);
        if (one.place < end) out[one.place] = uint8_t(one.byte);
        if (two.place < end) out[two.place] = uint8_t(two.byte);
        __syncwarp();
    }
}

} // namespace hybz
