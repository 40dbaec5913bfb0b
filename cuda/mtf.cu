// mtf.cu: move-to-front and the coding of zero runs, of all columns of a batch at once.
//
// A byte's place in the list is how many different bytes came since it came last, so the list at any position follows from the
// last position of each byte before it (Patel's scan composes lists instead; positions need only a maximum):
//   1 last    one warp a chunk of kChunk bytes: where each byte occurs last in it
//   2 start   one CTA a block: running maximum over its chunks; which bytes are used
//   3 rank    one warp a chunk: sorts the bytes used by that into its list, and keeps the list in registers, eight places a
//             lane: a byte is found by ballot, and what stood before it moves up by shuffle. Most bytes repeat the one before and
//             cost nothing; of the others most are found among the first 32.
//   4 join    one CTA a block: scans the chunks' counts. A run of zeros counts where it ends, by the distance of two
//             heads, so it does not matter how many chunks it crosses.
//   5 symbols one warp a chunk: each head writes the digits of the run before it, and itself
//
// Predicted (H200, linux, ps a byte): last 1.5, start 0.7, rank 6, join 0.3, symbols 3.
//
// Twin: src/codec/mtf/encode.rs; on the CPU sim/coding.hpp.
#include "coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32; // chunks of a CTA
constexpr uint32_t kAbsent = 256;          // is no byte

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

// One thread a byte value.
__global__ void __launch_bounds__(256) start_kernel(Coding coding) {
    __shared__ uint32_t masks[8];
    const uint32_t block = blockIdx.x, byte = threadIdx.x, lane = byte & 31, warp = byte >> 5;
    const uint32_t chunks = (length_of(coding, block) + kChunk - 1) / kChunk;
    uint32_t *last = coding.last + uint64_t(block) * coding.chunk_pitch * 256 + byte;
    uint32_t before = 0;
    constexpr uint32_t kAtOnce = 16; // loads under way
    for (uint32_t chunk = 0; chunk < chunks; chunk += kAtOnce) {
        uint32_t found[kAtOnce];
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) found[k] = chunk + k < chunks ? last[(chunk + k) * 256] : 0;
#pragma unroll
        for (uint32_t k = 0; k < kAtOnce; k++) {
            if (chunk + k < chunks) last[(chunk + k) * 256] = before;
            before = max(before, found[k]);
        }
    }
    const uint32_t mask = __ballot_sync(~0u, before != 0);
    if (lane == 0) masks[warp] = mask;
    __syncthreads();
    uint32_t place = __popc(mask & ((1u << lane) - 1));
    for (uint32_t w = 0; w < warp; w++) place += __popc(masks[w]);
    if (before != 0) coding.order[block * 256 + place] = uint8_t(byte);
    if (lane == 0) coding.coded[block].used[warp] = mask;
}

inline __device__ uint32_t count_used(const hybz_coded &coded) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < 8; w++) count += __popc(coded.used[w]);
    return count;
}

// How many symbols a run of zeros makes, and which: the digits of run + 1 below its highest one, the lowest first.
inline __device__ uint32_t digits_of(uint32_t run) { return 31 - __clz(run + 1); }

struct RankMemory {
    uint4 keys[64]; // 256 of them
    uint8_t list[256];
};

__global__ void __launch_bounds__(kThreads) rank_kernel(Coding coding) {
    __shared__ RankMemory memories[kWarps];
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t base = coding.base[block], n = coding.base[block + 1] - base;
    if (from >= n) return;
    const uint32_t end = min(from + kChunk, n);
    const uint8_t *column = coding.column + base;
    const uint8_t *order = coding.order + block * 256;

    // The list: bytes that came, the latest first; then the others, ascending.
    RankMemory &memory = memories[warp];
    const uint32_t used = count_used(coding.coded[block]);
    const uint32_t *last = coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256;
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
        if (k * 32 + lane < used) memory.list[place[k]] = order[k * 32 + lane];
    __syncwarp();
    uint32_t list[8];
#pragma unroll
    for (uint32_t k = 0; k < 8; k++) list[k] = k * 32 + lane < used ? memory.list[k * 32 + lane] : kAbsent;

    Chunk found{kNone, kNone, 0, 0};
    uint32_t before = from == 0 ? order[0] : column[from - 1];
    uint32_t byte = from + lane < end ? column[from + lane] : 0;
    for (uint32_t step = from; step < end; step += 32) {
        const uint32_t i = step + lane;
        const uint32_t next = i + 32 < end ? column[i + 32] : 0; // under way meanwhile
        uint32_t left = __shfl_up_sync(~0u, byte, 1);
        if (lane == 0) left = before;
        const uint32_t heads = __ballot_sync(~0u, i < end && byte != left);
        uint32_t rank = 0;
        for (uint32_t todo = heads; todo; todo &= todo - 1) {
            const uint32_t at = __ffs(todo) - 1;
            const uint32_t symbol = __shfl_sync(~0u, byte, at);
            uint32_t carry = symbol;
#pragma unroll
            for (uint32_t k = 0; k < 8; k++) {
                const uint32_t hit = __ballot_sync(~0u, list[k] == symbol);
                uint32_t moved = __shfl_up_sync(~0u, list[k], 1);
                if (lane == 0) moved = carry;
                if (hit) {
                    const uint32_t there = __ffs(hit) - 1;
                    if (lane <= there) list[k] = moved;
                    if (lane == at) rank = k * 32 + there;
                    break;
                }
                carry = __shfl_sync(~0u, list[k], 31);
                list[k] = moved;
            }
        }
        if (i < end) coding.ranks[base + i] = uint8_t(rank);
        if (heads) {
            const uint32_t below = heads & ((1u << lane) - 1);
            const uint32_t previous = below ? step + 31 - __clz(below) : found.last;
            if (heads >> lane & 1) found.symbols += 1 + (previous == kNone ? 0 : digits_of(i - previous - 1));
            if (found.first == kNone) found.first = step + __ffs(heads) - 1;
            found.last = step + 31 - __clz(heads);
        }
        before = __shfl_sync(~0u, byte, 31);
        byte = next;
    }
    found.symbols = __reduce_add_sync(~0u, found.symbols);
    if (lane == 0) coding.chunks[block * coding.chunk_pitch + chunk] = found;
}

struct Larger {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return max(a, b); }
};
struct Sum {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

// One thread a chunk.
__global__ void __launch_bounds__(kMostChunks) join_kernel(Coding coding) {
    __shared__ ScanMemory memories[2];
    const uint32_t block = blockIdx.x, chunk = threadIdx.x;
    const uint32_t n = length_of(coding, block);
    Chunk *const mine = coding.chunks + block * coding.chunk_pitch + chunk;
    Chunk found{kNone, kNone, 0, 0};
    if (chunk * kChunk < n) found = *mine;
    const bool any = found.first != kNone;
    const Scanned after = scan_before(memories[0], any ? found.last + 1 : 0, Larger{});
    const uint32_t symbols = found.symbols + (any ? digits_of(found.first - after.before) : 0);
    const Scanned number = scan_before(memories[1], symbols, Sum{});
    if (chunk * kChunk < n) *mine = {found.first, found.last, number.before, after.before};

    // The run at the end, EOB, and what fills the last group.
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
        const uint32_t end = min(from + kChunk, n);
        const uint8_t *ranks = coding.ranks + base;
        uint16_t *out = coding.symbols + symbol_base(base, block);
        const Chunk found = coding.chunks[block * coding.chunk_pitch + chunk];
        uint32_t number = found.symbols, after = found.after;
        uint32_t all_digits = 0, ones = 0;
        uint32_t rank = from + lane < end ? ranks[from + lane] : 0;
        for (uint32_t step = from; step < end; step += 32) {
            const uint32_t i = step + lane;
            const uint32_t next = i + 32 < end ? ranks[i + 32] : 0;
            const uint32_t heads = __ballot_sync(~0u, rank != 0);
            if (heads) {
                const uint32_t below = heads & ((1u << lane) - 1);
                const uint32_t run = i - (below ? step + 32 - __clz(below) : after);
                const uint32_t digits = rank ? digits_of(run) : 0;
                const uint32_t size = rank ? digits + 1 : 0;
                uint32_t until = size;
#pragma unroll
                for (uint32_t d = 1; d < 32; d *= 2) {
                    const uint32_t other = __shfl_up_sync(~0u, until, d);
                    if (lane >= d) until += other;
                }
                if (rank) {
                    uint16_t *to = out + number + until - size;
                    for (uint32_t d = 0; d < digits; d++) *to++ = uint16_t((run + 1) >> d & 1);
                    *to = uint16_t(rank + 1);
                    atomicAdd(&counts[rank + 1], 1u);
                    all_digits += digits;
                    ones += __popc(run + 1) - 1;
                }
                number += __shfl_sync(~0u, until, 31);
                after = step + 32 - __clz(heads);
            }
            rank = next;
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
    const dim3 chunks(blocks_for(coding.longest, kWarps * kChunk), coding.blocks);
    last_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    start_kernel<<<coding.blocks, 256, 0, stream>>>(coding);
    rank_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    join_kernel<<<coding.blocks, kMostChunks, 0, stream>>>(coding);
    symbols_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
