// rank.cuh: move-to-front of a column by chunks, for mtf.cu (blocks of `.bz2`) and columns.cu (of `.hbz`). mtf.cu
// explains it.
#pragma once
#include "device.cuh"

namespace hybz {

constexpr uint32_t kChunk = 4096; // bytes of a column that one warp handles
constexpr uint32_t kNone = ~0u;

// The results of a warp for its chunk, and of the warps before it. A head is a byte that differs from the byte before
// it.
struct Chunk {
    uint32_t heads;   // how many
    uint32_t first;   // position of the first, or kNone
    uint32_t last;    // of the last
    uint32_t symbols; // their symbols, without the zeros before `first`; then: number of the first symbol
    uint32_t after;   // the start of the run of zeros that enters the chunk
};

// A warp finds the last position, plus 1, of each byte in rows from..end-1. `byte_at` returns the byte of a row.
template <class ByteAt>
inline __device__ void find_last(uint32_t (&last)[256], uint32_t from, uint32_t end, uint32_t *out, ByteAt byte_at) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t byte = lane; byte < 256; byte += 32) last[byte] = 0;
    __syncwarp();
    for (uint32_t i = from + lane; i < end; i += 32) {
        const uint32_t byte = byte_at(i);
        if (i + 1 == end || byte_at(i + 1) != byte) atomicMax(&last[byte], i + 1);
    }
    __syncwarp();
    for (uint32_t byte = lane; byte < 256; byte += 32) out[byte] = last[byte];
}

// start_lists has one thread for each byte value and part of the chunks.
constexpr uint32_t kListParts = 4;
constexpr uint32_t kListThreads = 256 * kListParts;
constexpr uint32_t kAtOnce = 8; // loads in flight

struct ListMemory {
    uint32_t masks[8], parts[kListParts][256];
};

// Converts the last positions in each of a block's chunks to the last positions before it, and lists the bytes used:
// as a bit mask, and in ascending order. By kListThreads.
inline __device__ void start_lists(ListMemory &memory, uint32_t *last, uint32_t chunks, uint8_t *order,
                                   uint32_t *used) {
    const uint32_t byte = threadIdx.x & 255, part = threadIdx.x / 256;
    const uint32_t lane = byte & 31, warp = byte >> 5, each = (chunks + kListParts - 1) / kListParts;
    const uint32_t first = part * each, end = min(first + each, chunks);
    last += byte;
    uint32_t own = 0;
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) own = max(own, last[uint64_t(chunk) * 256]);
    memory.parts[part][byte] = own;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t p = 0; p < kListParts; p++) {
        if (p < part) before = max(before, memory.parts[p][byte]);
        all = max(all, memory.parts[p][byte]);
    }
    for (uint32_t chunk = first; chunk < end; chunk += kAtOnce) {
        uint32_t found[kAtOnce];
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) found[k] = chunk + k < end ? last[uint64_t(chunk + k) * 256] : 0;
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) {
            if (chunk + k < end) last[uint64_t(chunk + k) * 256] = before;
            before = max(before, found[k]);
        }
    }
    const uint32_t mask = __ballot_sync(~0u, all != 0);
    if (part == 0 && lane == 0) memory.masks[warp] = mask;
    __syncthreads();
    if (part != 0) return;
    uint32_t place = __popc(mask & ((1u << lane) - 1));
    for (uint32_t w = 0; w < warp; w++) place += __popc(memory.masks[w]);
    if (all != 0) order[place] = uint8_t(byte);
    if (lane == 0) used[warp] = mask;
}

inline __device__ uint32_t count_used(const uint32_t *used) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < 8; w++) count += __popc(used[w]);
    return count;
}

// The number of symbols of a run of zeros: the digits of run + 1 below its highest one, the lowest first.
inline __device__ uint32_t digits_of(uint32_t run) { return 31 - __clz(run + 1); }

// Shared memory of one warp.
struct RankMemory {
    uint4 keys[64];      // at first: 256 bytes' last positions; then, of 32 heads: what others compare with
    uint8_t list[256];   // byte at each place
    uint8_t places[256]; // place of each byte
    uint32_t queue[64];  // heads found: position << 8 | byte
};

// Makes the list as it is before a chunk: the bytes that occurred, the latest first; then the other bytes, ascending.
inline __device__ void first_list(RankMemory &memory, const uint8_t *order, const uint32_t *last, uint32_t used) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *keys = reinterpret_cast<uint32_t *>(memory.keys);
    uint32_t own[8], place[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t u = k * 32 + lane;
        own[k] = 0;
        place[k] = 0;
        if (u < used) {
            const uint32_t position = last[order[u]];
            own[k] = position ? 256 + position : 256 - u;
        }
        keys[u] = own[k];
    }
    __syncwarp();
    for (uint32_t four = 0; four * 4 < used; four++) {
        const uint4 key = memory.keys[four];
#pragma unroll
        for (uint32_t k = 0; k < 8; k++) {
            if (k * 32 >= used) break;
            place[k] += (key.x > own[k]) + (key.y > own[k]) + (key.z > own[k]) + (key.w > own[k]);
        }
    }
#pragma unroll
    for (uint32_t k = 0; k < 8; k++)
        if (k * 32 + lane < used) {
            memory.list[place[k]] = order[k * 32 + lane];
            memory.places[order[k * 32 + lane]] = uint8_t(place[k]);
        }
    __syncwarp();
}

// A lane's head.
struct Head {
    bool mine;       // whether there is one
    bool fresh;      // whether none of the lanes before has the same byte
    bool final;      // whether none of the lanes after has it
    uint32_t byte;
    uint32_t place;  // of the byte in the list, before all the heads
    uint32_t since;  // the lane after the last one before with the same byte, or 0
};

inline __device__ Head look_up(const RankMemory &memory, bool mine, uint32_t byte) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    Head head;
    head.mine = mine;
    head.byte = byte;
    head.place = mine ? memory.places[byte] : 0;
    const uint32_t same = __match_any_sync(~0u, mine ? byte : 256 + lane);
    head.since = 32 - __clz(same & below);
    head.fresh = mine && head.since == 0;
    head.final = mine && (same & ~below & ~(1u << lane)) == 0;
    return head;
}

// The rank of the head. Take the list as it was before the 32 heads. If all earlier heads' bytes were in front of this
// byte in that list, its rank is its place; each different byte from further back adds one. If the byte itself
// occurred earlier among the 32, its rank is the number of different bytes since then: bytes that occur again in
// between count once.
inline __device__ uint32_t rank_of(RankMemory &memory, const Head &head) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    // One comparison for both cases: fresh heads are above all others.
    const uint32_t key = head.fresh ? 64 + head.place : head.mine ? 32 - head.since : 0;
    const uint32_t than = head.fresh ? 64 + head.place : 31 - head.since;
    reinterpret_cast<uint32_t *>(memory.keys)[lane] = key;
    __syncwarp();
    uint32_t greater = 0;
#pragma unroll
    for (uint32_t four = 0; four < 8; four++) {
        const uint4 other = memory.keys[four];
        greater |= uint32_t(other.x > than) << (4 * four) | uint32_t(other.y > than) << (4 * four + 1) |
                   uint32_t(other.z > than) << (4 * four + 2) | uint32_t(other.w > than) << (4 * four + 3);
    }
    return (head.fresh ? head.place : 0) + __popc(greater & below & ~0u << head.since);
}

// Moves the bytes of all heads to the front of the list, the last head's byte foremost; the other bytes move back,
// beginning with the last row of 32 places that loses a byte.
inline __device__ void move_to_front(RankMemory &memory, const Head &head, uint32_t used) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const uint32_t finals = __ballot_sync(~0u, head.final);
    const uint32_t rows = 1 + __reduce_max_sync(~0u, head.fresh ? head.place >> 5 : 0);
    uint32_t moved = 0;
    for (uint32_t row = rows; row-- > 0;) {
        const uint32_t taken =
            __reduce_or_sync(~0u, head.fresh && head.place >> 5 == row ? 1u << (head.place & 31) : 0);
        const uint32_t at = row * 32 + lane, who = memory.list[at];
        __syncwarp();
        if (at < used && !(taken >> lane & 1)) {
            const uint32_t to = at + moved + __popc(taken & ~below);
            memory.list[to] = uint8_t(who);
            memory.places[who] = uint8_t(to);
        }
        moved += __popc(taken);
    }
    __syncwarp();
    if (head.final) {
        const uint32_t to = __popc(finals & ~below) - 1;
        memory.list[to] = uint8_t(head.byte);
        memory.places[head.byte] = uint8_t(to);
    }
    __syncwarp();
}

// The ranks of up to 32 heads, one in each lane with `mine`; updates the list to its state after these heads.
inline __device__ uint32_t rank_heads(RankMemory &memory, bool mine, uint32_t byte, uint32_t used) {
    const Head head = look_up(memory, mine, byte);
    const uint32_t rank = rank_of(memory, head);
    move_to_front(memory, head, used);
    return rank;
}

// Ranks the heads in rows from..end-1, by a warp. The list must have its state before these rows; `before` is the byte
// before the first row. Writes the row and the rank of each head: row | rank << kIndexBits.
template <class ByteAt>
inline __device__ Chunk rank_chunk(RankMemory &memory, uint32_t from, uint32_t end, uint32_t before, uint32_t used,
                                   uint32_t *heads, ByteAt byte_at) {
    const uint32_t lane = threadIdx.x & 31;
    Chunk found{0, kNone, kNone, 0, 0};
    uint32_t queued = 0, first = 0; // heads in the queue, and where it begins
    const auto rank_queued = [&](uint32_t count) {
        const bool mine = lane < count;
        const uint32_t head = memory.queue[(first + lane) & 63];
        const uint32_t position = head >> 8;
        const uint32_t rank = rank_heads(memory, mine, head & 255, used);
        if (mine) heads[found.heads + lane] = position | rank << kIndexBits;
        const uint32_t left = __shfl_up_sync(~0u, position, 1);
        const uint32_t previous = lane ? left : found.last;
        if (mine) found.symbols += 1 + (previous == kNone ? 0 : digits_of(position - previous - 1));
        if (found.first == kNone) found.first = __shfl_sync(~0u, position, 0);
        found.last = __shfl_sync(~0u, position, count - 1);
        found.heads += count;
        first = (first + count) & 63;
        queued -= count;
    };
    uint32_t byte = from + lane < end ? byte_at(from + lane) : 0;
    for (uint32_t step = from; step < end; step += 32) {
        const uint32_t i = step + lane;
        const uint32_t next = i + 32 < end ? byte_at(i + 32) : 0; // in flight meanwhile
        uint32_t left = __shfl_up_sync(~0u, byte, 1);
        if (lane == 0) left = before;
        const bool is_head = i < end && byte != left;
        const uint32_t is_any = __ballot_sync(~0u, is_head);
        if (is_head) memory.queue[(first + queued + __popc(is_any & ((1u << lane) - 1))) & 63] = i << 8 | byte;
        queued += __popc(is_any);
        if (queued >= 32) {
            __syncwarp();
            rank_queued(32);
        }
        before = __shfl_sync(~0u, byte, 31);
        byte = next;
    }
    __syncwarp();
    if (queued) rank_queued(queued);
    found.symbols = __reduce_add_sync(~0u, found.symbols);
    return found;
}

// Calls `write(to, run, digits, rank)` for each head of a chunk, by a warp: the number of the head's first symbol, the
// zeros before it plus 1, the symbols of these (the lowest bits of `run`), and its rank.
template <class Write>
inline __device__ void each_head(const Chunk &found, const uint32_t *heads, Write write) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t number = found.symbols, after = found.after;
    uint32_t head = lane < found.heads ? heads[lane] : 0;
    for (uint32_t h = 0; h < found.heads; h += 32) {
        const bool mine = h + lane < found.heads;
        const uint32_t next = h + 32 + lane < found.heads ? heads[h + 32 + lane] : 0;
        const uint32_t position = head & kIndexMask;
        const uint32_t left = __shfl_up_sync(~0u, position, 1);
        const uint32_t zeros = position - (lane ? left + 1 : after);
        const uint32_t digits = mine ? digits_of(zeros) : 0, size = mine ? digits + 1 : 0;
        const uint32_t until = sum_up_to(size);
        if (mine) write(number + until - size, zeros + 1, digits, head >> kIndexBits);
        number += __shfl_sync(~0u, until, 31);
        after = __shfl_sync(~0u, position, 31) + 1; // not needed after the last 32 heads
        head = next;
    }
}

} // namespace hybz
