// mtf.cu: move-to-front and the coding of zero runs, for all columns of a batch at once.
//
// A byte's place in the list is the number of different bytes since its last occurrence, so the list at any position
// follows from the last position of each byte before it (Patel 2012 composes lists in a scan instead; positions need
// only a maximum):
//   1 last    one warp a chunk of kChunk bytes: where each byte occurs last in it
//   2 start   one CTA a block: running maximum over its chunks; which bytes are used
//   3 rank    one warp a chunk: sorts the used bytes by their last positions into its list. Most bytes repeat the byte
//             before and cost nothing; the others, the heads, are collected, and ranked 32 at a time, one a lane
//             (rank_heads).
// 4 join one CTA a block: scans the chunks' counts. A run of zeros counts in the chunk where it ends, by the distance
// of two heads, so it may cross any number of chunks.
//   5 symbols one warp a chunk: each head writes the digits of the run before it, and itself
//
// Measured (H200, linux, 64 blocks, ps a byte; in brackets predicted): last 1.6 (1.5), start 0.2 (0.7), rank 6.2 (6),
// join 0.1 (0.3), symbols 1.8 (3); all 10.4. nci 6.9, dickens 12.6. For 32 blocks 14.5, for 256 8.2. The first version
// kept a list in registers, and searched it for one head after the other by ballot and shuffle. It took 21 ps for
// `rank` alone, and 16 instructions of a warp for a byte, while this version takes 4.4: a quarter of linux's heads are
// beyond the first 32 places, which the prediction overlooked.
//
// Twin: src/codec/mtf/encode.rs; on the CPU sim/coding.hpp.
#include "coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32; // chunks of a CTA

__global__ void __launch_bounds__(kThreads) last_kernel(Coding coding) {
    __shared__ uint32_t last[kWarps][256];
    const uint32_t block = blockIdx.y, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t n = length_of(coding, block);
    if (from >= n) return;
    const uint8_t *column = coding.column + coding.base[block];
    uint32_t *out = coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256;
    find_last(last[warp], from, min(from + kChunk, n), out, [&](uint32_t i) { return uint32_t(column[i]); });
}

__global__ void __launch_bounds__(kListThreads) start_kernel(Coding coding) {
    __shared__ ListMemory memory;
    const uint32_t block = blockIdx.x, chunks = (length_of(coding, block) + kChunk - 1) / kChunk;
    start_lists(memory, coding.last + uint64_t(block) * coding.chunk_pitch * 256, chunks, coding.order + block * 256,
                coding.coded[block].used);
}

__global__ void __launch_bounds__(kThreads) rank_kernel(Coding coding) {
    __shared__ RankMemory memories[kWarps];
    const uint32_t block = blockIdx.y, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk;
    const uint32_t base = coding.base[block], n = coding.base[block + 1] - base;
    if (from >= n) return;
    const uint8_t *column = coding.column + base;
    const uint8_t *order = coding.order + block * 256;
    RankMemory &memory = memories[warp];
    const uint32_t used = count_used(coding.coded[block].used);
    first_list(memory, order, coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256, used);
    const Chunk found = rank_chunk(memory, from, min(from + kChunk, n), from == 0 ? order[0] : column[from - 1], used,
                                   coding.heads + base + from, [&](uint32_t i) { return uint32_t(column[i]); });
    if ((threadIdx.x & 31) == 0) coding.chunks[block * coding.chunk_pitch + chunk] = found;
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

    // Writes the run at the end, EOB, and the padding of the last group.
    if (chunk != 0) return;
    hybz_coded &coded = coding.coded[block];
    uint16_t *out = coding.symbols + symbol_base(coding.base[block], block);
    uint32_t *frequencies = coding.frequencies + block * kRow;
    const uint32_t run = n - after.all, digits = digits_of(run), end = count_used(coded.used) + 1;
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
        uint32_t all_digits = 0, ones = 0;
        each_head(found, heads, [&](uint32_t to, uint32_t run, uint32_t digits, uint32_t rank) {
            uint16_t *at = out + to;
            for (uint32_t d = 0; d < digits; d++) *at++ = uint16_t(run >> d & 1);
            *at = uint16_t(rank + 1);
            atomicAdd(&counts[rank + 1], 1u);
            all_digits += digits;
            ones += __popc(run) - 1;
        });
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
    start_kernel<<<coding.blocks, kListThreads, 0, stream>>>(coding);
    rank_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    join_kernel<<<coding.blocks, kMaxChunks, 0, stream>>>(coding);
    symbols_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
