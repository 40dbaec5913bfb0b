// mtf.cu: move-to-front and the coding of zero runs, of all columns of a batch at once.
//
// A byte's place in the list is how many different bytes came since it last did, so the list at any position follows
// from the last position of each byte before it (Patel 2012 composes lists in a scan instead; positions need only a
// maximum):
//   1 last    one warp a chunk of kChunk bytes: where each byte occurs last in it
//   2 start   one CTA a block: running maximum over its chunks; which bytes are used
//   3 rank    one warp a chunk: sorts the bytes used by that into its list. Most bytes repeat the one before and cost
//             nothing; the others, the heads, are collected, and ranked 32 at a time, one a lane (rank_heads).
//   4 join    one CTA a block: scans the chunks' counts. A run of zeros counts where it ends, by the distance of two
//             heads, so it does not matter how many chunks it crosses.
//   5 symbols one warp a chunk: each head writes the digits of the run before it, and itself
//
// Measured (H200, linux, 64 blocks, ps a byte; in brackets predicted): last 1.6 (1.5), start 0.2 (0.7), rank 6.2 (6),
// join 0.1 (0.3), symbols 1.8 (3); all 10.4. nci 6.9, dickens 12.6. For 32 blocks 14.5, for 256 8.2. The first version,
// a list in registers searched for one head after the other by ballot and shuffle, took 16 instructions of a warp for a
// byte where this takes 4.4, and 21 ps for `rank` alone: a quarter of linux's heads are beyond the first 32 places,
// which the prediction overlooked.
//
// Twin: src/codec/mtf/encode.rs; on the CPU sim/coding.hpp.
#include "coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32; // chunks of a CTA

__global__ void __launch_bounds__(kThreads) last_kernel(Coding coding) {
    __shared__ uint32_t last[kWarps][256];
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t n = length_of(coding, block);
    if (from >= n) return;
    const uint32_t end = min(from + kChunk, n);
    const uint8_t *column = coding.column + coding.base[block];
    for (uint32_t byte = lane; byte < 256; byte += 32) last[warp][byte] = 0;
    __syncwarp();
    for (uint32_t i = from + lane; i < end; i += 32) {
        const uint32_t byte = column[i];
        if (i + 1 == end || column[i + 1] != byte) atomicMax(&last[warp][byte], i + 1);
    }
    __syncwarp();
    uint32_t *out = coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256;
    for (uint32_t byte = lane; byte < 256; byte += 32) out[byte] = last[warp][byte];
}

// start_kernel has one thread for each byte value and part of the chunks.
constexpr uint32_t kParts = 4;
constexpr uint32_t kAtOnce = 8; // loads in flight

__global__ void __launch_bounds__(256 * kParts) start_kernel(Coding coding) {
    __shared__ uint32_t masks[8], parts[kParts][256];
    const uint32_t block = blockIdx.x, byte = threadIdx.x & 255, part = threadIdx.x / 256;
    const uint32_t lane = byte & 31, warp = byte >> 5;
    const uint32_t chunks = (length_of(coding, block) + kChunk - 1) / kChunk, each = (chunks + kParts - 1) / kParts;
    const uint32_t first = part * each, end = min(first + each, chunks);
    uint32_t *last = coding.last + uint64_t(block) * coding.chunk_pitch * 256 + byte;
    uint32_t own = 0;
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) own = max(own, last[chunk * 256]);
    parts[part][byte] = own;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t p = 0; p < kParts; p++) {
        if (p < part) before = max(before, parts[p][byte]);
        all = max(all, parts[p][byte]);
    }
    for (uint32_t chunk = first; chunk < end; chunk += kAtOnce) {
        uint32_t found[kAtOnce];
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) found[k] = chunk + k < end ? last[(chunk + k) * 256] : 0;
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) {
            if (chunk + k < end) last[(chunk + k) * 256] = before;
            before = max(before, found[k]);
        }
    }
    const uint32_t mask = __ballot_sync(~0u, all != 0);
    if (part == 0 && lane == 0) masks[warp] = mask;
    __syncthreads();
    if (part != 0) return;
    uint32_t place = __popc(mask & ((1u << lane) - 1));
    for (uint32_t w = 0; w < warp; w++) place += __popc(masks[w]);
    if (all != 0) coding.order[block * 256 + place] = uint8_t(byte);
    if (lane == 0) coding.coded[block].used[warp] = mask;
}

inline __device__ uint32_t count_used(const hybz_coded &coded) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < 8; w++) count += __popc(coded.used[w]);
    return count;
}

// How many symbols a run of zeros makes. They are the digits of run + 1 below its highest one, the lowest first.
inline __device__ uint32_t digits_of(uint32_t run) { return 31 - __clz(run + 1); }

// Shared memory of one warp.
struct RankMemory {
    uint4 keys[64];      // at first: 256 bytes' last positions; then, of 32 heads: what others compare with
    uint8_t list[256];   // byte at each place
    uint8_t places[256]; // place of each byte
    uint32_t queue[64];  // heads found: position << 8 | byte
};

// Makes the list as it is before a chunk: the bytes that occurred, the latest first; then the others, ascending.
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

// What a lane knows of its head.
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

// The rank of the head. With the list from before all of them, a byte's rank is its place if nothing before it in the
// 32 came from further behind; each different byte that did adds one. If the byte itself occurred before in the 32, its
// rank is how many different ones did since: those that did not themselves occur between.
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

// Moves the bytes of all heads to the front of the list, the last one first; the others move back, from the last row of
// 32 places that loses one on.
inline __device__ void move_to_front(RankMemory &memory, const Head &head, uint32_t used) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const uint32_t finals = __ballot_sync(~0u, head.final);
    const uint32_t rows = 1 + __reduce_max_sync(~0u, head.fresh ? head.place >> 5 : 0);
    uint32_t behind = 0;
    for (uint32_t row = rows; row-- > 0;) {
        const uint32_t taken =
            __reduce_or_sync(~0u, head.fresh && head.place >> 5 == row ? 1u << (head.place & 31) : 0);
        const uint32_t at = row * 32 + lane, who = memory.list[at];
        __syncwarp();
        if (at < used && !(taken >> lane & 1)) {
            const uint32_t to = at + behind + __popc(taken & ~below);
            memory.list[to] = uint8_t(who);
            memory.places[who] = uint8_t(to);
        }
        behind += __popc(taken);
    }
    __syncwarp();
    if (head.final) {
        const uint32_t to = __popc(finals & ~below) - 1;
        memory.list[to] = uint8_t(head.byte);
        memory.places[head.byte] = uint8_t(to);
    }
    __syncwarp();
}

// The ranks of up to 32 heads, one a lane, which has one if `mine`; updates the list to what it is after them.
inline __device__ uint32_t rank_heads(RankMemory &memory, bool mine, uint32_t byte, uint32_t used) {
    const Head head = look_up(memory, mine, byte);
    const uint32_t rank = rank_of(memory, head);
    move_to_front(memory, head, used);
    return rank;
}

__global__ void __launch_bounds__(kThreads) rank_kernel(Coding coding) {
    __shared__ RankMemory memories[kWarps];
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t base = coding.base[block], n = coding.base[block + 1] - base;
    if (from >= n) return;
    const uint32_t end = min(from + kChunk, n);
    const uint8_t *column = coding.column + base;
    const uint8_t *order = coding.order + block * 256;
    RankMemory &memory = memories[warp];
    const uint32_t used = count_used(coding.coded[block]);
    first_list(memory, order, coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256, used);

    Chunk found{0, kNone, kNone, 0, 0};
    uint32_t queued = 0, first = 0; // heads in the queue, and where it begins
    const auto rank_queued = [&](uint32_t count) {
        const bool mine = lane < count;
        const uint32_t head = memory.queue[(first + lane) & 63];
        const uint32_t position = head >> 8;
        const uint32_t rank = rank_heads(memory, mine, head & 255, used);
        if (mine) coding.heads[base + from + found.heads + lane] = position | rank << kIndexBits;
        const uint32_t left = __shfl_up_sync(~0u, position, 1);
        const uint32_t previous = lane ? left : found.last;
        if (mine) found.symbols += 1 + (previous == kNone ? 0 : digits_of(position - previous - 1));
        if (found.first == kNone) found.first = __shfl_sync(~0u, position, 0);
        found.last = __shfl_sync(~0u, position, count - 1);
        found.heads += count;
        first = (first + count) & 63;
        queued -= count;
    };
    uint32_t before = from == 0 ? order[0] : column[from - 1];
    uint32_t byte = from + lane < end ? column[from + lane] : 0;
    for (uint32_t step = from; step < end; step += 32) {
        const uint32_t i = step + lane;
        const uint32_t next = i + 32 < end ? column[i + 32] : 0; // in flight meanwhile
        uint32_t left = __shfl_up_sync(~0u, byte, 1);
        if (lane == 0) left = before;
        const bool is_head = i < end && byte != left;
        const uint32_t heads = __ballot_sync(~0u, is_head);
        if (is_head) memory.queue[(first + queued + __popc(heads & ((1u << lane) - 1))) & 63] = i << 8 | byte;
        queued += __popc(heads);
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
    if (lane == 0) coding.chunks[block * coding.chunk_pitch + chunk] = found;
}

// join_kernel has one thread for each chunk.
__global__ void __launch_bounds__(kMaxChunks) join_kernel(Coding coding) {
    __shared__ ScanMemory memories[2];
    const uint32_t block = blockIdx.x, chunk = threadIdx.x;
    const uint32_t n = length_of(coding, block);
    Chunk *const mine = coding.chunks + block * coding.chunk_pitch + chunk;
    Chunk found{0, kNone, kNone, 0, 0};
    if (chunk * kChunk < n) found = *mine;
    const bool any = found.first != kNone;
    const Scanned after = scan_before(memories[0], any ? found.last + 1 : 0, Larger{});
    const uint32_t symbols = found.symbols + (any ? digits_of(found.first - after.before) : 0);
    const Scanned number = scan_before(memories[1], symbols, Sum{});
    if (chunk * kChunk < n) *mine = {found.heads, found.first, found.last, number.before, after.before};

    // The run at the end, EOB, and what fills up the last group.
    if (chunk != 0) return;
    hybz_coded &coded = coding.coded[block];
    uint16_t *out = coding.symbols + symbol_base(coding.base[block], block);
    uint32_t *frequencies = coding.frequencies + block * kRow;
    const uint32_t run = n - after.all, digits = digits_of(run), end = count_used(coded) + 1;
    uint32_t at = number.all;
    for (uint32_t d = 0; d < digits; d++) {
        const uint32_t digit = (run + 1) >> d & 1;
        out[at++] = uint16_t(digit);
        atomicAdd(&frequencies[digit], 1u);
    }
    out[at++] = uint16_t(end);
    atomicAdd(&frequencies[end], 1u);
    coded.origin = coding.origin[block];
    coded.symbols = at;
    while (at % kGroup) out[at++] = uint16_t(kNoSymbol);
}

__global__ void __launch_bounds__(kThreads) symbols_kernel(Coding coding) {
    __shared__ uint32_t counts[kRow];
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t base = coding.base[block], n = coding.base[block + 1] - base;
    for (uint32_t s = threadIdx.x; s < kRow; s += kThreads) counts[s] = 0;
    __syncthreads();
    if (from < n) {
        const uint32_t *heads = coding.heads + base + from;
        uint16_t *out = coding.symbols + symbol_base(base, block);
        const Chunk found = coding.chunks[block * coding.chunk_pitch + chunk];
        uint32_t number = found.symbols, after = found.after;
        uint32_t all_digits = 0, ones = 0;
        uint32_t head = lane < found.heads ? heads[lane] : 0;
        for (uint32_t h = 0; h < found.heads; h += 32) {
            const bool mine = h + lane < found.heads;
            const uint32_t next = h + 32 + lane < found.heads ? heads[h + 32 + lane] : 0;
            const uint32_t position = head & kIndexMask, rank = head >> kIndexBits;
            const uint32_t left = __shfl_up_sync(~0u, position, 1);
            const uint32_t run = position - (lane ? left + 1 : after);
            const uint32_t digits = mine ? digits_of(run) : 0, size = mine ? digits + 1 : 0;
            uint32_t until = size;
#pragma unroll
            for (uint32_t d = 1; d < 32; d *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, until, d);
                if (lane >= d) until += other;
            }
            if (mine) {
                uint16_t *to = out + number + until - size;
                for (uint32_t d = 0; d < digits; d++) *to++ = uint16_t((run + 1) >> d & 1);
                *to = uint16_t(rank + 1);
                atomicAdd(&counts[rank + 1], 1u);
                all_digits += digits;
                ones += __popc(run + 1) - 1;
            }
            number += __shfl_sync(~0u, until, 31);
            after = __shfl_sync(~0u, position, 31) + 1; // after the last 32 heads nobody needs it
            head = next;
        }
        all_digits = __reduce_add_sync(~0u, all_digits);
        ones = __reduce_add_sync(~0u, ones);
        if (lane == 0) {
            atomicAdd(&counts[0], all_digits - ones);
            atomicAdd(&counts[1], ones);
        }
    }
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < kRow; s += kThreads)
        if (counts[s]) atomicAdd(&coding.frequencies[block * kRow + s], counts[s]);
}

} // namespace

cudaError_t code_symbols(const Coding &coding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(coding.max_length, kWarps * kChunk), coding.blocks);
    last_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    start_kernel<<<coding.blocks, 256 * kParts, 0, stream>>>(coding);
    rank_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    join_kernel<<<coding.blocks, kMaxChunks, 0, stream>>>(coding);
    symbols_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
