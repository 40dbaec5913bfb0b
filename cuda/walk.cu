// walk.cu: the inverse BWT: last column to the run-length-coded text.
//
//   1 count    one warp a chunk of rows: how often each byte is in it
//   2 starts   one CTA a block: where each chunk's rows of each byte go in the first column
//   3 vector   one warp a chunk: for each row of the first column the same byte's row in the last one, with the byte
//   4 walk     threads go from splitter to splitter, block by block: each walks to the next one, counts the steps, and
//              stages the bytes
//   5 order    one CTA a block: from splitter to splitter, from the origin on: where in the text each one stands
//   6 copy     one warp a splitter: the staged bytes to their place in the text
//   7 rest     one thread a splitter: walks the steps for which the stage had no room (8 % of them)
//
// A batch that this device has coded needs no walk, because the sort has left the row of each rotation. The text is
// right if the walk goes from each rotation's row to the row of the next one, by its first byte:
//   1, 2       as above
//   3 rows     one warp a chunk of the last column: the sum of a hash of each step
//   4 text     a thread for each kEach bytes: the sum of the same steps, as the ranks have them, taken off the first
//              sum; and the sum that ties the proof to the host's bytes (hybz_coded)
// Sums of hashes read all arrays in order: a step looked up in a vector takes a sector of memory for four bytes.
//
// The longest of all walks has 1,400 dependent loads in a batch of 30 blocks, so walking twice (once to count, once to
// write) took twice as long.
//
// The splitters are chosen by a hash of the row, which any thread can compute as it walks, so nothing has to be marked.
// (A fixed stride can meet the structure of a repetitive text, and then one thread walks all of it.) The hash is a
// permutation of 20 bits, so the number of a splitter leads back to its row.
//
// Twin: src/codec/bwt/inverse/.
#include "coding.cuh"
#include "column.cuh"
#include "decoding.cuh"
#include <algorithm>

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kOriginSlot = kSlots - 1;
constexpr int kStepBits = 18; // of a splitter's steps, above its number

// CTAs that walk: few, because the vectors of the two blocks that they walk through (3.6 MB each) then stay in the L2
// cache. Sixteen lanes decoded 15.1, 14.5, 13.8 and 13.0 GB/s with 64, 128, 256 and 1,056 of them, although a batch
// alone took 2.6, 2.4, 2.3 and 2.3 ms for all steps (H200).
constexpr uint32_t kWalkers = 64;

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

// Writes the bytes of a walk, sixteen at a time, because each store of a warp goes to 32 places: 14.0 GB/s by 24 lanes
// where four at a time gave 13.2 (H200).
struct Stage {
    uint8_t *to;
    uint32_t first = 0, second = 0, third = 0, word = 0; // the last whole words, and the one to be filled
    __device__ void put(uint32_t position, uint32_t byte) {
        word = word >> 8 | byte << 24;
        if (position % 4 != 3) return;
        if (position % 16 == 15 && position < kStage)
            *reinterpret_cast<uint4 *>(to + position / 16 * 16) = make_uint4(first, second, third, word);
        first = second;
        second = third;
        third = word;
    }
    __device__ void finish(uint32_t count) {
        for (; count % 16; count++) put(count, 0);
    }
};
static_assert(kStage % 16 == 0 && kStagePitch % 16 == 0);

// What walks need to know of a block.
struct Ring {
    uint32_t rows, base, origin;
};

// Deals the slots of all blocks, in order, to the lanes of a warp, and takes 32 at a time for the warp.
struct Dealer {
    uint32_t *taken; // by all warps
    uint32_t next = 0, end = 0;

    // The next slot for each lane of `idle`; the others get any number.
    __device__ uint32_t deal(uint32_t idle) {
        const uint32_t lane = threadIdx.x & 31, before = __popc(idle & ((1u << lane) - 1));
        const uint32_t left = end - next, wanted = __popc(idle);
        uint32_t slot = next + before;
        next += wanted;
        if (wanted <= left) return slot;
        const uint32_t more = __shfl_sync(~0u, lane == 0 ? atomicAdd(taken, 32u) : 0, 0);
        if (before >= left) slot = more + before - left;
        next = more + wanted - left;
        end = more + 32;
        return slot;
    }
};

__global__ void __launch_bounds__(kThreads) walk_kernel(Decoding decoding) {
    __shared__ Ring rings[HYBZ_MAX_BLOCKS];
    for (uint32_t b = threadIdx.x; b < decoding.blocks; b += kThreads)
        rings[b] = {decoding.found[b].rows, decoding.found[b].base, decoding.heads[b].origin};
    __syncthreads();
    const uint32_t all = decoding.blocks * kSlots;
    Dealer dealer{&decoding.found[0].taken};
    Stage stage{};
    const uint32_t *vector = nullptr;
    uint32_t number = 0, origin = 0, row = 0, steps = 0, rest = 0;
    bool walks = false;
    for (;;) {
        const uint32_t idle = __ballot_sync(~0u, !walks);
        if (idle == ~0u && dealer.next >= all) return;
        if (idle && dealer.next < all) {
            const uint32_t dealt = dealer.deal(idle);
            if (!walks && dealt < all) {
                const uint32_t block = dealt / kSlots, slot = dealt % kSlots;
                const Ring ring = rings[block];
                origin = ring.origin;
                row = row_of(slot, origin);
                walks = row < ring.rows;
                vector = decoding.vector + ring.base;
                stage = {decoding.stage + block * kStagePitch + slot * kStage};
                number = block * kSlotPitch + slot;
                steps = rest = 0;
            }
        }
        if (!walks) continue;
        const uint32_t entry = vector[row];
        stage.put(steps, entry & 0xff);
        row = entry >> 8;
        steps++;
        if (steps == kStage) rest = row;
        const uint32_t to = slot_of(row, origin);
        if (to == kSlots) continue; // eventually the walk returns to its start
        stage.finish(steps);
        // If there are more splitters, which is rare, the block is left to a core: `order` finds that the number is
        // wrong.
        decoding.slots[number] = min(steps, (1u << kStepBits) - 1) << (32 - kStepBits) | to;
        decoding.steps[number] = steps;
        decoding.rests[number] = rest;
        walks = false;
    }
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

// A hash of a step: from a row of the first column to a row of the last one, by a byte.
inline __device__ uint64_t hash(uint64_t from, uint64_t to, uint64_t byte) {
    uint64_t word = (from << 28 | to << 8 | byte) * 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
    return word ^ word >> 32;
}

constexpr uint32_t kEach = 16; // positions of a thread

// Adds the numbers of a warp's lanes.
inline __device__ void add_all(unsigned long long *to, uint64_t own) {
    for (uint32_t with = 16; with > 0; with /= 2)
        own += uint64_t(__shfl_xor_sync(~0u, uint32_t(own >> 32), with)) << 32 |
               __shfl_xor_sync(~0u, uint32_t(own), with);
    if ((threadIdx.x & 31) == 0) atomicAdd(to, own);
}

__global__ void __launch_bounds__(kThreads) rows_kernel(Decoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    const Rows rows = rows_of(decoding);
    if (rows.from >= rows.end) return;
    uint64_t all = 0;
    place_rows(
        memory[threadIdx.x >> 5], rows.from, rows.end, rows.counts, [&](uint32_t i) { return rows.column[i]; },
        [&](uint32_t to, uint32_t i, uint32_t byte) { all += hash(to, i, byte); });
    add_all(&decoding.found[rows.block].difference, all);
}

__global__ void __launch_bounds__(kThreads)
text_kernel(Decoding decoding, Coding coding, const uint8_t *text, const uint32_t *rank, int pitch_bits) {
    const uint32_t block = blockIdx.y, first = blockIdx.x * kEach * kThreads + threadIdx.x;
    const uint32_t n = length_of(coding, block);
    text += coding.base[block];
    rank += uint64_t(block) << pitch_bits;
    uint64_t steps = 0, sum = 0;
    const auto add = [&](uint64_t word, uint32_t i) { sum += word * ((2 * i + 1) * uint32_t(HYBZ_PROOF_WEIGHT)); };
    const hybz_coded &coded = coding.coded[block];
    const uint32_t *const head = reinterpret_cast<const uint32_t *>(&coded), *const codes = coding.out + coded.at / 4;
    const uint32_t words = coded_bytes(coded) / 4;
    for (uint32_t i = first; i < first + kEach * kThreads; i += kThreads) {
        if (i < n) {
            steps += hash(rank[i], rank[i + 1 < n ? i + 1 : 0], text[i]);
            add(uint32_t(text[i]) << 8 * (i % 4), i / 4);
        }
        if (i < offsetof(hybz_coded, proof) / 4) add(head[i], HYBZ_PROOF_HEAD + i);
        if (i < words) add(codes[i], HYBZ_PROOF_CODES + i);
    }
    Found &found = decoding.found[block];
    add_all(&found.difference, -steps);
    add_all(&found.sum, sum);
    if (first == 0 && (rank[0] != coded.origin || found.rows != n)) atomicOr(&found.odd, 1u);
}

} // namespace

cudaError_t prove_columns(const Decoding &decoding, const Coding &coding, const uint8_t *text, const uint32_t *rank,
                          int pitch_bits, cudaStream_t stream) {
    const dim3 chunks(blocks_for(kRowChunks, kWarps), decoding.blocks);
    const dim3 pieces(blocks_for(coding.max_length, kEach * kThreads), decoding.blocks);
    count_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    starts_kernel<<<decoding.blocks, 256 * kParts, 0, stream>>>(decoding);
    rows_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    text_kernel<<<pieces, kThreads, 0, stream>>>(decoding, coding, text, rank, pitch_bits);
    return cudaGetLastError();
}

cudaError_t walk_columns(const Decoding &decoding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(kRowChunks, kWarps), decoding.blocks);
    const dim3 slots(blocks_for(kSlots, kThreads), decoding.blocks);
    count_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    starts_kernel<<<decoding.blocks, 256 * kParts, 0, stream>>>(decoding);
    vector_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    walk_kernel<<<std::min(kWalkers, blocks_for(decoding.blocks * kSlots, kThreads)), kThreads, 0, stream>>>(decoding);
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
