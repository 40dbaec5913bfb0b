// walk.cu: the inverse BWT: last column to the run-length-coded text.
//
//   1 count    one warp a chunk of rows: how often each byte is in it
//   2 starts   one CTA a block: where each chunk's rows of each byte go in the first column
//   3 vector   one warp a chunk: for each row of the first column the row of the last one that it is, with its byte
//   4 walk     one thread a splitter: walks to the next one, counts the steps, and stages the bytes
//   5 order    one CTA a block: from splitter to splitter, from the origin on: where in the text each one stands
//   6 copy     one warp a splitter: the staged bytes to their place in the text
//   7 rest     one thread a splitter: walks the steps for which the stage had no room (8 % of them)
//
// The longest of all walks takes most of step 4, 1,400 dependent loads in a batch of 30 blocks, so walking twice (once
// to count, once to write) took twice as long.
//
// The splitters are chosen by a hash of the row, which any thread can compute as it walks, so nothing has to be marked.
// (A fixed stride can meet the structure of a repetitive text, and then one thread walks all of it.) The hash is a
// permutation of 20 bits, so the number of a splitter leads back to its row.
//
// Twin: src/codec/bwt/inverse/.
#include "column.cuh"
#include "decoding.cuh"

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

// The multiplicative inverse of an odd number modulo 2^20.
__host__ __device__ constexpr uint32_t inverse_of(uint32_t odd) {
    uint32_t x = odd; // right in the lowest 3 bits; each round doubles the number of right bits
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

// The slot of a row: kSlots if it is not a splitter.
inline __device__ uint32_t slot_of(uint32_t row, uint32_t origin) {
    if (row == origin) return kOriginSlot;
    const uint32_t number = mix(row);
    return number < 1u << kSplitBits ? number : kSlots;
}

// The row of a slot, or a number beyond the block's rows if it has none.
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
    count_rows(memory[threadIdx.x >> 5], rows.from, rows.end, rows.counts, [&](uint32_t i) { return rows.column[i]; });
}

__global__ void __launch_bounds__(256 * kParts) starts_kernel(Decoding decoding) {
    __shared__ StartMemory memory;
    const uint32_t block = blockIdx.x, chunks = (decoding.found[block].rows + kRows - 1) / kRows;
    start_rows(memory, decoding.counts + uint64_t(block) * kRowChunks * 256, chunks);
}

__global__ void __launch_bounds__(kThreads) vector_kernel(Decoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    const Rows rows = rows_of(decoding);
    if (rows.from >= rows.end) return;
    uint32_t *const vector = decoding.vector + decoding.found[rows.block].base;
    place_rows(
        memory[threadIdx.x >> 5], rows.from, rows.end, rows.counts, [&](uint32_t i) { return rows.column[i]; },
        [&](uint32_t to, uint32_t i, uint32_t byte) { vector[to] = i << 8 | byte; });
}

// Writes the bytes of a walk, four at a time, from a multiple of four on.
struct Stage {
    uint8_t *to;
    uint32_t word = 0;
    __device__ void put(uint32_t position, uint32_t byte) {
        word = position % 4 ? word | byte << position % 4 * 8 : byte;
        if (position % 4 == 3 && position < kStage) store(position);
    }
    __device__ void finish(uint32_t count) {
        if (count % 4 && count < kStage) store(count);
    }

  private:
    __device__ void store(uint32_t position) { *reinterpret_cast<uint32_t *>(to + position / 4 * 4) = word; }
};

__global__ void __launch_bounds__(kThreads) walk_kernel(Decoding decoding) {
    const uint32_t block = blockIdx.y, slot = blockIdx.x * kThreads + threadIdx.x;
    const Found &found = decoding.found[block];
    const uint32_t rows = found.rows, origin = decoding.heads[block].origin;
    if (slot >= kSlots || rows == 0) return;
    uint32_t row = row_of(slot, origin);
    if (row >= rows) return;
    const uint32_t *const vector = decoding.vector + found.base;
    Stage stage{decoding.stage + block * kStagePitch + slot * kStage};
    uint32_t steps = 0, to = kSlots, rest = 0;
    while (to == kSlots) { // eventually the walk returns to its start
        const uint32_t entry = vector[row];
        stage.put(steps, entry & 0xff);
        row = entry >> 8;
        steps++;
        if (steps == kStage) rest = row;
        to = slot_of(row, origin);
    }
    stage.finish(steps);
    // If there are more splitters, which is rare, the block is left to a core: `order` finds that the number is wrong.
    decoding.slots[block * kSlotPitch + slot] = min(steps, (1u << kStepBits) - 1) << (32 - kStepBits) | to;
    decoding.steps[block * kSlotPitch + slot] = steps;
    decoding.rests[block * kSlotPitch + slot] = rest;
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

__global__ void __launch_bounds__(kThreads) copy_kernel(Decoding decoding) {
    const uint32_t block = blockIdx.y, slot = blockIdx.x * kWarps + (threadIdx.x >> 5);
    const Found &found = decoding.found[block];
    if (slot >= kSlots || found.odd || row_of(slot, decoding.heads[block].origin) >= found.rows) return;
    const uint8_t *const from = decoding.stage + block * kStagePitch + slot * kStage;
    uint8_t *const to = decoding.text + found.base + decoding.slots[block * kSlotPitch + slot];
    const uint32_t count = min(decoding.steps[block * kSlotPitch + slot], kStage);
    for (uint32_t i = threadIdx.x & 31; i < count; i += 32) to[i] = from[i];
}

__global__ void __launch_bounds__(kThreads) rest_kernel(Decoding decoding) {
    const uint32_t block = blockIdx.y, slot = blockIdx.x * kThreads + threadIdx.x;
    const Found &found = decoding.found[block];
    if (slot >= kSlots || found.odd || row_of(slot, decoding.heads[block].origin) >= found.rows) return;
    const uint32_t steps = decoding.steps[block * kSlotPitch + slot];
    if (steps <= kStage) return;
    const uint32_t *const vector = decoding.vector + found.base;
    uint32_t row = decoding.rests[block * kSlotPitch + slot];
    uint8_t *const to = decoding.text + found.base + decoding.slots[block * kSlotPitch + slot];
    for (uint32_t i = kStage; i < steps; i++) {
        const uint32_t entry = vector[row];
        to[i] = uint8_t(entry);
        row = entry >> 8;
    }
}

} // namespace

cudaError_t walk_columns(const Decoding &decoding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(kRowChunks, kWarps), decoding.blocks);
    const dim3 slots(blocks_for(kSlots, kThreads), decoding.blocks);
    count_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    starts_kernel<<<decoding.blocks, 256 * kParts, 0, stream>>>(decoding);
    vector_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    walk_kernel<<<slots, kThreads, 0, stream>>>(decoding);
    order_kernel<<<decoding.blocks, kThreads, 0, stream>>>(decoding);
    copy_kernel<<<dim3(blocks_for(kSlots, kWarps), decoding.blocks), kThreads, 0, stream>>>(decoding);
    rest_kernel<<<slots, kThreads, 0, stream>>>(decoding);
    return cudaGetLastError();
}

cudaError_t load_walk() {
    return load_kernels(count_kernel, starts_kernel, vector_kernel, walk_kernel, order_kernel, copy_kernel,
                        rest_kernel);
}

} // namespace hybz
