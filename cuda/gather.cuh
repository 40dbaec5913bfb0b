// gather.cuh: the copy engine: a warp executes 32 commands of an LZ decoder together, with a lane for each byte of the
// text.
//
// A command is some literals, followed by a copy of text from some distance before. Prefix sums give each command its
// offset in the text; only they order the text. (Funasaka 2018 forbids references into the segment that a warp
// decodes; here they are resolved.)
//
// Each lane makes one byte, not one command: 32 lanes write 32 adjacent bytes, a whole sector of memory, however long
// the commands are. A byte's command is found by counting, in a row of 32 bits, the commands that begin up to it. If
// the byte's source is made at the same time, the lane continues with that byte's own source. Each such step leads to
// an earlier command, so at most 31 steps are needed, and most bytes take none.
//
// An earlier version, with a lane for each command and a byte of it per step, wrote each sector some twenty times and
// took as many steps as the longest copy of a round has bytes: LZ4 of linux was decoded at 72 GB/s, now at 294.
// Instructions are the bottleneck: speed was 277 when all rows' places were found before the first branch, so that
// more rows wait for memory together, and 291 with eight rows instead of four.
#pragma once
#include "ranks.cuh"

namespace hybz {

constexpr uint32_t kCopyTile = 1024; // bytes of text whose commands are found by the rows
constexpr uint32_t kCopyRows = 4;    // rows of 32 bytes made at the same time

struct CopyCommand {
    uint32_t from;     // in the input: the literals
    uint32_t literals; // how many
    uint32_t distance; // from the copy's target back to its source; at least 1 if there is a copy
    uint32_t length;   // of the copy; may be 0
};

// Where each lane's command begins in the text, if the first lane's begins at `at`; and, in all lanes, where the last
// one ends.
struct CopyPlaces {
    uint32_t begin, end;
};
inline __device__ CopyPlaces places_of_copies(const CopyCommand &own, uint32_t at) {
    const uint32_t end = at + sum_up_to(own.literals + own.length);
    return {end - own.literals - own.length, __shfl_sync(~0u, end, 31)};
}

// A warp's commands, in shared memory. Offsets are shifted so that rows begin at addresses that are multiples of 32.
struct CopyTable {
    // The copy's destination; the distance from a literal's destination to its byte in the input; the copy's distance;
    // the place at which the copy begins to repeat itself.
    uint4 commands[32];
    uint2 rows[32]; // a bit at the start of each command; the number of commands that start before
};

// The source of a byte of the text: the input, or text before `first`, which is complete.
inline __device__ const uint8_t *source_of_byte(const CopyTable &table, uint32_t place, uint32_t first,
                                                const uint8_t *__restrict__ in, const uint8_t *text) {
    for (;;) {
        const uint2 row = table.rows[place / 32 & 31];
        const uint4 command = table.commands[row.y + __popc(row.x & ((2u << (place & 31)) - 1)) - 1];
        const bool literal = place < command.x;
        uint32_t source = place - (literal ? command.y : command.z);
        if (place >= command.w) source = command.x - command.z + (place - command.x) % command.z;
        if (literal || int32_t(source) < int32_t(first)) return (literal ? in : text) + int32_t(source);
        place = source;
    }
}

// Executes the commands of the warp's lanes, whose text begins at out[at]. Idle lanes have empty commands; of the
// other commands only the last one may be empty. The caller has checked the bounds of all sources and targets.
inline __device__ void gather(const CopyCommand &own, const CopyPlaces &places, uint32_t at,
                              const uint8_t *__restrict__ in, uint8_t *out, CopyTable &table) {
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t shift = uint32_t(reinterpret_cast<uintptr_t>(out) + at) & 31;
    uint8_t *const text = out + at - shift;
    const uint32_t begin = places.begin - at + shift, end = places.end - at + shift;
    const bool present = own.literals + own.length > 0;
    const uint32_t target = begin + own.literals;
    table.commands[lane] = {target, begin - own.from, own.distance, target + own.distance};
    for (uint32_t tile = 0; tile < end; tile += kCopyTile) {
        table.rows[lane].x = 0;
        __syncwarp();
        if (present && begin - tile < kCopyTile) atomicOr(&table.rows[(begin - tile) / 32].x, 1u << (begin & 31));
        const uint32_t before = __popc(__ballot_sync(~0u, present && begin < tile));
        __syncwarp();
        const uint32_t here = __popc(table.rows[lane].x);
        table.rows[lane].y = before + sum_up_to(here) - here;
        __syncwarp();
        const uint32_t tile_end = min(end, tile + kCopyTile);
        for (uint32_t first = tile; first < tile_end; first += kCopyRows * 32) {
            // All rows' loads are in flight before the first byte is stored.
            uint32_t bytes[kCopyRows];
#pragma unroll
            for (uint32_t r = 0; r < kCopyRows; r++) {
                const uint32_t place = first + r * 32 + lane;
                if (place >= shift && place < end)
                    bytes[r] = *source_of_byte(table, place, max(first, shift), in, text);
            }
#pragma unroll
            for (uint32_t r = 0; r < kCopyRows; r++) {
                const uint32_t place = first + r * 32 + lane;
                if (place >= shift && place < end) text[place] = uint8_t(bytes[r]);
            }
            __syncwarp();
        }
    }
}

} // namespace hybz
