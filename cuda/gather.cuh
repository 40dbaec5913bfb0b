// gather.cuh: the copy engine with a lane for each byte of the text: a warp carries out 32 commands (copies.cuh) at
// once.
//
// Lanes make bytes, not commands: 32 lanes write 32 neighbours, a whole sector of memory, whatever the commands'
// lengths are. A byte's command is found by counting, in a row of 32 bits, the commands that begin up to it. If its
// source is a byte that is made at the same time, the lane goes on with that byte's own source; a step leads to an
// earlier command, so 31 are the worst case, and most bytes take none.
//
// A lane for each command, and a byte of it per step (carry_out in copies.cuh), writes each sector some twenty times
// and takes as many steps as the longest copy of a round has bytes.
#pragma once
#include "copies.cuh"

namespace hybz {

constexpr uint32_t kCopyTile = 1024; // bytes of text whose commands are found by the rows
constexpr uint32_t kCopyRows = 8;    // rows of 32 bytes that are made at the same time

// A warp's commands, in shared memory. Text is numbered so that a row begins at a multiple of 32 of the address.
struct CopyTable {
    // Where the copy's target is; how far before a literal's place its byte is in the input; the copy's distance; where
    // the copy begins to repeat itself.
    uint4 commands[32];
    uint2 rows[32]; // a bit where a command begins; how many begin before
};

// Where a byte of the text comes from.
struct ByteSource {
    uint32_t place; // signed in the text
    bool literal;   // in the input
    bool repeated;  // it is in a copy's repetition, and `place` means nothing yet
};
inline __device__ ByteSource source_of_byte(const CopyTable &table, uint32_t place, uint4 &command) {
    const uint2 row = table.rows[place / 32 & 31];
    command = table.commands[row.y + __popc(row.x & ((2u << (place & 31)) - 1)) - 1];
    const bool literal = place < command.x;
    return {place - (literal ? command.y : command.z), literal, place >= command.w};
}

// The same, but a place in the text is before `first`, where it is complete.
inline __device__ ByteSource complete_source_of_byte(const CopyTable &table, uint32_t place, uint32_t first) {
    for (;;) {
        uint4 command;
        ByteSource source = source_of_byte(table, place, command);
        if (source.repeated) source.place = command.x - command.z + (place - command.x) % command.z;
        if (source.literal || int32_t(source.place) < int32_t(first)) return source;
        place = source.place;
    }
}

// Carries out the commands of the warp's lanes, whose text begins at out[at]. Idle lanes have empty commands; of the
// others only the last one may be empty. The caller has checked that all sources and targets are where they may be.
inline __device__ void gather(const CopyCommand &own, const CopyPlaces &places, uint32_t at,
                              const uint8_t *__restrict__ in, uint8_t *out, CopyTable &table) {
    if (places.end == at) return; // an empty block
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
            // No branch in here, so that all rows wait for memory at the same time. Lanes without a byte take another
            // one's.
            const uint32_t complete = max(first, shift);
            uint32_t sources[kCopyRows], literals = 0, waiting = 0;
#pragma unroll
            for (uint32_t r = 0; r < kCopyRows; r++) {
                const uint32_t place = min(max(first + r * 32 + lane, shift), end - 1);
                uint4 command;
                const ByteSource source = source_of_byte(table, place, command);
                sources[r] = source.place;
                const bool waits = !source.literal && (source.repeated || int32_t(source.place) >= int32_t(complete));
                literals |= uint32_t(source.literal) << r;
                waiting |= uint32_t(waits) << r;
            }
            if (__any_sync(~0u, waiting != 0)) {
#pragma unroll
                for (uint32_t r = 0; r < kCopyRows; r++) {
                    if (!(waiting >> r & 1)) continue;
                    const uint32_t place = min(max(first + r * 32 + lane, shift), end - 1);
                    const ByteSource source = complete_source_of_byte(table, place, complete);
                    sources[r] = source.place;
                    literals |= uint32_t(source.literal) << r;
                }
            }
            uint8_t bytes[kCopyRows];
#pragma unroll
            for (uint32_t r = 0; r < kCopyRows; r++)
                bytes[r] = (literals >> r & 1 ? in : text)[int32_t(sources[r])];
#pragma unroll
            for (uint32_t r = 0; r < kCopyRows; r++) {
                const uint32_t place = first + r * 32 + lane;
                if (place >= shift && place < end) text[place] = bytes[r];
            }
            __syncwarp();
        }
    }
}

} // namespace hybz
