// copy_lines.cu: writes the sorted text in the order of the lines.
//
// A CTA writes kLineTile bytes, 16 for each thread. Every write therefore has 16 bytes, however long the lines are, and
// a line of 1 GB is written by as many threads as a gigabyte of short lines. Each row records the tiles that begin in
// it, because searching all rows took a CTA 25 reads, one after another.
#include "lines.cuh"

namespace hybz {

namespace {

constexpr uint32_t kManyRows = 64; // in a tile

// For each row of the result: where its line begins in the text, and its length with the end byte; 0 if it equals the
// row before and only one of equal lines is wanted.
__global__ void __launch_bounds__(kThreads) row_lengths_kernel(SortingLines s, LineBatch batch) {
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= batch.lines) return;
    uint32_t source = row;
    if (batch.flags & HYBZ_LINES_REVERSE) {
        const uint32_t range = range_of(s, batch, row);
        source = s.range_line[range] + s.range_line[range + 1] - 1 - row;
    }
    const uint32_t line = s.order[source], at = s.begin[line], end = s.begin[line + 1];
    const bool dropped = (batch.flags & HYBZ_LINES_UNIQUE) && s.same[source];
    s.starts[row] = at;
    s.out_end[row] = dropped ? 0 : end - at;
}

// For each tile of the sorted text, the row of its first byte; and where each range ends, which has a line at least.
__global__ void __launch_bounds__(kThreads) tile_rows_kernel(SortingLines s, LineBatch batch) {
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= batch.lines) return;
    const uint64_t begin = row ? s.out_end[row - 1] : 0, end = s.out_end[row];
    for (uint64_t tile = (begin + kLineTile - 1) / kLineTile; tile * kLineTile < end; tile++) s.tiles[tile] = row;
    if (row < batch.ranges) s.range_end[row] = s.out_end[s.range_line[row + 1] - 1];
}

// 16 bytes of the result from the byte `place` on, which is in `row`.
__device__ uint4 copied_bytes(const SortingLines &s, uint32_t row, uint32_t place, uint32_t total) {
    uint32_t end = s.out_end[row];
    uint32_t at = s.starts[row] + place - (row ? s.out_end[row - 1] : 0);
    if (end - place >= 16) {
        const uint64_t low = bytes_at(s.text, at), high = bytes_at(s.text, at + 8);
        return uint4{uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
    }
    const uint32_t count = min(16u, total - place);
    uint32_t words[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 16; i++) {
        if (i >= count) break;
        while (place + i == end) {
            row++; // an empty row was dropped
            end = s.out_end[row];
            at = s.starts[row];
        }
        words[i / 4] |= uint32_t(s.text[at++]) << i % 4 * 8;
    }
    return uint4{words[0], words[1], words[2], words[3]};
}

// Copies the part of a row that lies in the tile to shared memory.
__device__ void copy_row(const uint8_t *__restrict__ text, uint32_t at, uint32_t begin, uint32_t end, uint8_t *tile) {
    for (uint32_t i = begin; i < end; i += 8, at += 8) {
        uint64_t bytes = bytes_at(text, at);
        for (uint32_t k = i; k < min(i + 8, end); k++, bytes >>= 8) tile[k] = uint8_t(bytes);
    }
}

// A tile of many rows is assembled in shared memory, by one thread for each row: a thread that read row after row would
// wait for each of them. A tile of few long rows is copied from memory to memory.
__global__ void __launch_bounds__(kThreads) copy_lines_kernel(SortingLines s, LineBatch batch) {
    __shared__ uint4 tile[kThreads];
    const uint32_t total = s.out_end[batch.lines - 1], first = blockIdx.x * kLineTile, place = first + threadIdx.x * 16;
    if (first >= total) return;
    const uint32_t bytes = min(kLineTile, total - first), first_row = s.tiles[blockIdx.x];
    const uint32_t last_row = total - first > kLineTile ? s.tiles[blockIdx.x + 1] : batch.lines - 1;
    uint4 *const out = reinterpret_cast<uint4 *>(s.sorted + place);
    if (last_row - first_row < kManyRows) {
        if (place >= total) return;
        // The first row that ends after the place.
        const uint32_t row = first_row + lower_bound(s.out_end + first_row, last_row - first_row, place + 1);
        *out = copied_bytes(s, row, place, total);
        return;
    }
    for (uint32_t row = first_row + threadIdx.x; row <= last_row; row += kThreads) {
        const uint32_t row_begin = row ? s.out_end[row - 1] : 0, begin = max(row_begin, first) - first;
        copy_row(s.text, s.starts[row] + (begin + first - row_begin), begin, min(s.out_end[row] - first, bytes),
                 reinterpret_cast<uint8_t *>(tile));
    }
    __syncthreads();
    if (place < total) *out = tile[threadIdx.x];
}

} // namespace

cudaError_t place_lines(SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    row_lengths_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(s, batch);
    const cudaError_t error = sum_up(s, s.out_end, batch.lines, stream);
    tile_rows_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(s, batch);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t copy_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    copy_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(s, batch);
    return cudaGetLastError();
}

} // namespace hybz
