// walk.cu: the inverse BWT: last column to the run-length-coded text.
//
//   1 count    one warp a chunk of rows: how often each byte is in it
//   2 starts   one CTA a block: where each chunk's rows of each byte go in the first column
//   3 vector   one warp a chunk: for each row of the first column the row of the last one that it is, with its byte
//   4 steps    one thread a splitter: how many steps it is to the next one, and which that is
//   5 order    one CTA a block: from splitter to splitter, from the origin on: where in the text each one stands
//   6 walk     one thread a splitter: the same steps once more, and writes the text
//
// The splitters are chosen by a hash of the row, which any thread can compute on its way: nothing has to be marked. (A
// fixed stride can meet the structure of a repetitive text, and then one thread walks all of it.) The hash is a
// permutation of 20 bits, so the number of a splitter leads back to its row.
//
// Twin: src/codec/bwt/inverse.rs.
#include "decoding.cuh"
#include "scan.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kOriginSlot = kSlots - 1;
constexpr int kStepBits = 18; // of a splitter's steps, above its number

// A permutation of the numbers below 2^20: an odd multiplier and a shift of at least half of the bits can be undone.
inline __device__ uint32_t mix(uint32_t row) {
    row ^= row >> 10;
    row = row * 0x9e375u & kIndexMask;
    row ^= row >> 11;
    row = row * 0xb5297u & kIndexMask;
    return row ^ row >> 10;
}

// The number by which an odd one must be multiplied for 1, modulo 2^20.
__host__ __device__ constexpr uint32_t inverse_of(uint32_t odd) {
    uint32_t x = odd; // right in the lowest 3 bits; each round doubles them
    for (int round = 0; round < 4; round++) x *= 2 - odd * x;
    return x & kIndexMask;
}

inline __device__ uint32_t unmix(uint32_t number) {
    constexpr uint32_t first = inverse_of(0x9e375u), second = inverse_of(0xb5297u);
    number ^= number >> 10;
    number = number * second & kIndexMask;
    number ^= number >> 11;
    number = number * first & kIndexMask;
    return number ^ number >> 10;
}

// The slot of a row: kSlots if it is no splitter.
inline __device__ uint32_t slot_of(uint32_t row, uint32_t origin) {
    if (row == origin) return kOriginSlot;
    const uint32_t number = mix(row);
    return number < 1u << kSplitBits ? number : kSlots;
}

// The row of a slot: a number that is no row of the block if it has none.
inline __device__ uint32_t row_of(uint32_t slot, uint32_t origin) {
    if (slot == kOriginSlot) return origin;
    const uint32_t row = unmix(slot);
    return row == origin ? ~0u : row;
}

// A chunk of rows, for one warp.
struct Rows {
    uint32_t block, from, end;
    const uint8_t *column;
    uint32_t *counts;
};

inline __device__ Rows rows_of(const Decoding &decoding) {
    const uint32_t block = blockIdx.y, chunk = blockIdx.x * kWarps + (threadIdx.x >> 5), from = chunk * kRows;
    const Found &found = decoding.found[block];
    return {block, from, min(from + kRows, found.rows), decoding.column + found.base,
            decoding.counts + (uint64_t(block) * kRowChunks + chunk) * 256};
}

__global__ void __launch_bounds__(kThreads) count_kernel(Decoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    const Rows rows = rows_of(decoding);
    if (rows.from >= rows.end) return;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const count = memory[threadIdx.x >> 5];
    for (uint32_t byte = lane; byte < 256; byte += 32) count[byte] = 0;
    __syncwarp();
    for (uint32_t i = rows.from + lane; i - lane < rows.end; i += 32) {
        const uint32_t byte = i < rows.end ? rows.column[i] : 256;
        const uint32_t same = __match_any_sync(~0u, byte);
        if (byte < 256 && (same & ((1u << lane) - 1)) == 0) count[byte] += __popc(same);
        __syncwarp();
    }
    for (uint32_t byte = lane; byte < 256; byte += 32) rows.counts[byte] = count[byte];
}

// starts_kernel has one thread for each byte value and part of the chunks.
constexpr uint32_t kParts = 4;

__global__ void __launch_bounds__(256 * kParts) starts_kernel(Decoding decoding) {
    __shared__ ScanMemory memory;
    __shared__ uint32_t parts[kParts][256], firsts[256];
    const uint32_t block = blockIdx.x, byte = threadIdx.x & 255, part = threadIdx.x / 256;
    const uint32_t chunks = (decoding.found[block].rows + kRows - 1) / kRows, each = (chunks + kParts - 1) / kParts;
    const uint32_t first = min(part * each, chunks), end = min(first + each, chunks);
    uint32_t *const counts = decoding.counts + uint64_t(block) * kRowChunks * 256 + byte;
    uint32_t own = 0;
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) own += counts[chunk * 256];
    parts[part][byte] = own;
    __syncthreads();
    uint32_t all = 0, next = 0;
    for (uint32_t p = 0; p < kParts; p++) {
        if (p < part) next += parts[p][byte];
        all += parts[p][byte];
    }
    const Scanned scanned = scan_before(memory, part == 0 ? all : 0, Sum{});
    if (part == 0) firsts[byte] = scanned.before;
    __syncthreads();
    next += firsts[byte];
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) {
        const uint32_t count = counts[chunk * 256];
        counts[chunk * 256] = next;
        next += count;
    }
}

__global__ void __launch_bounds__(kThreads) vector_kernel(Decoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    const Rows rows = rows_of(decoding);
    if (rows.from >= rows.end) return;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t *const next = memory[threadIdx.x >> 5];
    uint32_t *const vector = decoding.vector + decoding.found[rows.block].base;
    for (uint32_t byte = lane; byte < 256; byte += 32) next[byte] = rows.counts[byte];
    __syncwarp();
    for (uint32_t i = rows.from + lane; i - lane < rows.end; i += 32) {
        const uint32_t byte = i < rows.end ? rows.column[i] : 256;
        const uint32_t same = __match_any_sync(~0u, byte), before = __popc(same & ((1u << lane) - 1));
        const uint32_t to = byte < 256 ? next[byte] : 0;
        __syncwarp();
        if (byte < 256) {
            vector[to + before] = i << 8 | byte;
            if (before == 0) next[byte] = to + __popc(same);
        }
        __syncwarp();
    }
}

__global__ void __launch_bounds__(kThreads) steps_kernel(Decoding decoding) {
    const uint32_t block = blockIdx.y, slot = blockIdx.x * kThreads + threadIdx.x;
    const Found &found = decoding.found[block];
    const uint32_t rows = found.rows, origin = decoding.heads[block].origin;
    if (slot >= kSlots || rows == 0) return;
    uint32_t row = row_of(slot, origin);
    if (row >= rows) return;
    const uint32_t *const vector = decoding.vector + found.base;
    uint32_t steps = 0, to = kSlots;
    while (to == kSlots) { // sometime it is back where it began
        row = vector[row] >> 8;
        steps++;
        to = slot_of(row, origin);
    }
    // If there are more, which is rare, the block is left to a core: `order` finds that the number is wrong.
    decoding.slots[block * kSlotPitch + slot] = min(steps, (1u << kStepBits) - 1) << (32 - kStepBits) | to;
    decoding.steps[block * kSlotPitch + slot] = steps;
}

__global__ void __launch_bounds__(kThreads) order_kernel(Decoding decoding) {
    __shared__ uint32_t slots[kSlots];
    const uint32_t block = blockIdx.x;
    Found &found = decoding.found[block];
    uint32_t *const all = decoding.slots + block * kSlotPitch;
    const uint32_t rows = found.rows;
    if (rows == 0) return;
    for (uint32_t slot = threadIdx.x; slot < kSlots; slot += kThreads) slots[slot] = all[slot];
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t slot = kOriginSlot, position = 0;
        do {
            const uint32_t next = slots[slot];
            slots[slot] = position;
            position += next >> (32 - kStepBits);
            slot = next & ((1u << (32 - kStepBits)) - 1);
        } while (slot != kOriginSlot);
        // Otherwise there are several cycles, and not all slots were met.
        found.odd = position != rows;
    }
    __syncthreads();
    if (found.odd) return;
    for (uint32_t slot = threadIdx.x; slot < kSlots; slot += kThreads) all[slot] = slots[slot];
}

__global__ void __launch_bounds__(kThreads) walk_kernel(Decoding decoding) {
    const uint32_t block = blockIdx.y, slot = blockIdx.x * kThreads + threadIdx.x;
    const Found &found = decoding.found[block];
    const uint32_t origin = decoding.heads[block].origin;
    if (slot >= kSlots || found.odd) return;
    uint32_t row = row_of(slot, origin);
    if (row >= found.rows) return;
    const uint32_t *const vector = decoding.vector + found.base;
    const auto step = [&] {
        const uint32_t entry = vector[row];
        row = entry >> 8;
        return entry & 0xff;
    };
    uint8_t *to = decoding.text + found.base + decoding.slots[block * kSlotPitch + slot];
    uint32_t left = decoding.steps[block * kSlotPitch + slot];
    for (; left && reinterpret_cast<uintptr_t>(to) & 3; left--) *to++ = uint8_t(step());
    for (; left >= 4; left -= 4, to += 4) {
        uint32_t four = 0;
#pragma unroll
        for (int k = 0; k < 32; k += 8) four |= step() << k;
        *reinterpret_cast<uint32_t *>(to) = four;
    }
    for (; left; left--) *to++ = uint8_t(step());
}

} // namespace

cudaError_t walk_columns(const Decoding &decoding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(kRowChunks, kWarps), decoding.blocks);
    const dim3 slots(blocks_for(kSlots, kThreads), decoding.blocks);
    count_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    starts_kernel<<<decoding.blocks, 256 * kParts, 0, stream>>>(decoding);
    vector_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    steps_kernel<<<slots, kThreads, 0, stream>>>(decoding);
    order_kernel<<<decoding.blocks, kThreads, 0, stream>>>(decoding);
    walk_kernel<<<slots, kThreads, 0, stream>>>(decoding);
    return cudaGetLastError();
}

} // namespace hybz
