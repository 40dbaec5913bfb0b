// entries.cu: the inverse BWT of `.hbz` blocks: last column to codes.
//
//   1 count    one warp a chunk of rows: how often each code is in it
//   2 starts   one CTA a block: where each chunk's rows of each code go in the first column
//   3 vector   one warp a chunk: for each row of the first column the row that follows it, with its code (column.cuh)
//   4 walk     one thread an entry point: as many steps as there are codes to the next one
//
// In blocks of more than 2^24 rows the words of the vector have no bits left for the code. There the code is derived
// from the row, while the next load is in flight: the first column is sorted, so a small table in shared memory gives
// the row's code, or one close to it.
//
// Twin: src/formats/hbz/codec/vector.rs.
#include "column.cuh"
#include "large.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kWalkers = 64; // threads of a CTA that walks: few, to spread chains over all multiprocessors

// A chunk of rows, for one warp.
struct Rows {
    uint32_t block;
    uint32_t from, end; // of the block's rows; none if `from` is the end
    uint32_t *counts;
};

// Also gives the warp the first list of the chunk's segment, in `list`.
inline __device__ Rows rows_of(const LargeDecoding &decoding, uint8_t (&list)[256]) {
    const uint32_t block = blockIdx.y, chunk = blockIdx.x * kWarps + (threadIdx.x >> 5);
    const LargeBlock &of = decoding.blocks[block];
    const uint64_t from = uint64_t(chunk) * kLargeRows;
    if (from >= of.head.rows) return {block, 0, 0, nullptr};
    const uint8_t *const first = decoding.lists + (uint64_t(of.first_segment) + chunk / kSegmentChunks) * 256;
    for (uint32_t place = threadIdx.x & 31; place < 256; place += 32) list[place] = first[place];
    __syncwarp();
    return {block, uint32_t(from), min(uint32_t(from) + kLargeRows, of.head.rows),
            decoding.counts + (uint64_t(of.first_segment) * kSegmentChunks + chunk) * 256};
}

__global__ void __launch_bounds__(kThreads) count_kernel(LargeDecoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    __shared__ uint8_t lists[kWarps][256];
    uint8_t (&list)[256] = lists[threadIdx.x >> 5];
    const Rows rows = rows_of(decoding, list);
    if (rows.from >= rows.end) return;
    const uint8_t *const column = decoding.column + decoding.blocks[rows.block].head.base;
    count_rows(memory[threadIdx.x >> 5], rows.from, rows.end, rows.counts, [&](uint32_t i) { return list[column[i]]; });
}

__global__ void __launch_bounds__(256 * kParts) starts_kernel(LargeDecoding decoding) {
    __shared__ StartMemory memory;
    const LargeBlock &block = decoding.blocks[blockIdx.x];
    const uint32_t chunks = (block.head.rows - 1) / kLargeRows + 1;
    start_rows(memory, decoding.counts + uint64_t(block.first_segment) * kSegmentChunks * 256, chunks);
    if (threadIdx.x < 256) decoding.firsts[blockIdx.x * 256 + threadIdx.x] = memory.firsts[threadIdx.x];
}

inline __device__ const uint32_t *entries_of(const LargeDecoding &decoding, const LargeBlock &block) {
    return reinterpret_cast<const uint32_t *>(decoding.input + block.head.entries_at);
}

__global__ void __launch_bounds__(kThreads) vector_kernel(LargeDecoding decoding) {
    __shared__ uint32_t memory[kWarps][256];
    __shared__ uint8_t lists[kWarps][256];
    uint8_t (&list)[256] = lists[threadIdx.x >> 5];
    const Rows rows = rows_of(decoding, list);
    if (rows.from >= rows.end) return;
    const LargeBlock &block = decoding.blocks[rows.block];
    const uint32_t origin = entries_of(decoding, block)[0];
    const uint8_t *const column = decoding.column + block.head.base;
    uint32_t *const vector = decoding.vector + block.head.base;
    const bool packed = block.head.rows <= kPackedRows;
    place_rows(
        memory[threadIdx.x >> 5], rows.from, rows.end, rows.counts, [&](uint32_t i) { return list[column[i]]; },
        [&](uint32_t to, uint32_t i, uint32_t code) {
            // The column's first byte belongs to the end mark's row, which has no number, so row numbers are one less
            // than places in the column, up to the text's own row, which the column leaves out.
            const uint32_t row = i && i <= origin ? i - 1 : i;
            vector[to] = packed ? row << 8 | code : row;
        });
}

// The lookup table from rows of the first column to codes: the code of every 2^shift-th row.
constexpr uint32_t kCodeRows = 4096;
struct CodeMemory {
    uint32_t ends[256]; // of each code's rows
    uint8_t codes[kCodeRows];
};

inline __device__ uint32_t code_shift(uint32_t rows) {
    const uint32_t bits = 32 - __clz(rows - 1);
    return bits > 12 ? bits - 12 : 0;
}

__device__ void make_codes(CodeMemory &memory, const uint32_t *firsts, uint32_t rows) {
    for (uint32_t code = threadIdx.x; code < 256; code += kWalkers)
        memory.ends[code] = code < 255 ? firsts[code + 1] : rows;
    __syncthreads();
    const uint32_t shift = code_shift(rows);
    // The first code whose rows end after this row.
    for (uint32_t part = threadIdx.x; part < kCodeRows; part += kWalkers)
        memory.codes[part] = uint8_t(lower_bound(memory.ends, 255, (part << shift) + 1));
    __syncthreads();
}

// Walks a chain, and writes its codes from `to` on. `step` returns a row's code, and advances to the next row.
template <class Step> inline __device__ void walk(uint8_t *to, uint32_t left, Step step) {
    for (; left >= 16; left -= 16, to += 16) { // `to` is a multiple of 16
        uint32_t words[4] = {};
#pragma unroll
        for (int k = 0; k < 16; k++) words[k / 4] |= step() << k % 4 * 8;
        *reinterpret_cast<uint4 *>(to) = uint4{words[0], words[1], words[2], words[3]};
    }
    for (; left; left--) *to++ = uint8_t(step());
}

__global__ void __launch_bounds__(kWalkers) walk_kernel(LargeDecoding decoding) {
    __shared__ CodeMemory memory;
    const LargeBlock &block = decoding.blocks[blockIdx.y];
    const uint32_t rows = block.head.rows, number = blockIdx.x * kWalkers + threadIdx.x, log = block.head.entry_log;
    const bool packed = rows <= kPackedRows;
    if (!packed) make_codes(memory, decoding.firsts + blockIdx.y * 256, rows);
    const uint64_t from = uint64_t(number) << log;
    if (from >= rows) return;
    const uint32_t *const vector = decoding.vector + block.head.base;
    uint8_t *const to = decoding.column + block.head.base + from;
    const uint32_t left = min(rows - uint32_t(from), 1u << log), shift = code_shift(rows);
    uint32_t row = entries_of(decoding, block)[number];
    if (packed) {
        walk(to, left, [&] {
            const uint32_t entry = vector[row];
            row = entry >> 8;
            return entry & 0xff;
        });
    } else {
        walk(to, left, [&] {
            const uint32_t own = row;
            row = vector[own];
            uint32_t code = memory.codes[own >> shift];
            while (own >= memory.ends[code]) code++;
            return code;
        });
    }
}

} // namespace

cudaError_t make_vectors(const LargeDecoding &decoding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(decoding.most_segments * kSegmentChunks, kWarps), decoding.count);
    count_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    starts_kernel<<<decoding.count, 256 * kParts, 0, stream>>>(decoding);
    vector_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    return cudaGetLastError();
}

cudaError_t walk_entries(const LargeDecoding &decoding, cudaStream_t stream) {
    const dim3 chains(blocks_for(decoding.most_entries, kWalkers), decoding.count);
    walk_kernel<<<chains, kWalkers, 0, stream>>>(decoding);
    return cudaGetLastError();
}

} // namespace hybz
