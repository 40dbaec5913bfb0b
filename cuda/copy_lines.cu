// copy_lines.cu: writes the sorted text in the order of the lines.
//
// A CTA writes kLineTile bytes, 16 for each thread. Every write therefore has 16 bytes, however long the lines are, and
// a line of 1 GB is written by as many threads as a gigabyte of short lines. Each row records the tiles that begin in
// it, because searching all rows took a CTA 25 reads, one after another.
#include "lines.cuh"

namespace hybz {

namespace {

constexpr uint32_t kManyRows = 64; // in a tile

// The last index in [0..count-1] whose value is at most `value`; index 0 always qualifies.
__device__ uint32_t last_up_to(const uint32_t *__restrict__ sorted, uint32_t count, uint32_t value) {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] <= value) low = middle;
        else high = middle;
    }
    return low;
}

// For each row of the result: where its line begins in the text, and its length with the end byte; 0 if it equals the
// row before and only one of equal lines is wanted.
__global__ void __launch_bounds__(kThreads)
row_lengths_kernel(LineBatch batch, const uint32_t *__restrict__ range_line, const uint32_t *__restrict__ begin,
                   const uint32_t *__restrict__ order, const uint8_t *__restrict__ same, uint32_t *__restrict__ from,
                   uint32_t *__restrict__ lengths) {
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= batch.lines) return;
    uint32_t source = row;
    if (batch.flags & HYBZ_LINES_REVERSE) {
        const uint32_t range = last_up_to(range_line, batch.ranges, row);
        source = range_line[range] + range_line[range + 1] - 1 - row;
    }
    const uint32_t line = order[source], at = begin[line];
    const bool dropped = (batch.flags & HYBZ_LINES_UNIQUE) && same[source];
    from[row] = at;
    lengths[row] = dropped ? 0 : begin[line + 1] - at;
}

__global__ void __launch_bounds__(kThreads)
range_ends_kernel(LineBatch batch, const uint32_t *__restrict__ range_line, const uint32_t *__restrict__ out_end,
                  uint32_t *__restrict__ range_end) {
    for (uint32_t r = threadIdx.x; r < batch.ranges; r += kThreads)
        range_end[r] = range_line[r + 1] ? out_end[range_line[r + 1] - 1] : 0;
}

// For each tile of the sorted text, the row of its first byte.
__global__ void __launch_bounds__(kThreads)
tile_rows_kernel(uint32_t rows, const uint32_t *__restrict__ out_end, uint32_t *__restrict__ tile_row) {
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= rows) return;
    const uint64_t begin = row ? out_end[row - 1] : 0, end = out_end[row];
    for (uint64_t tile = (begin + kLineTile - 1) / kLineTile; tile * kLineTile < end; tile++)
        tile_row[tile] = row;
}

// The first row of [low..high-1] that ends after `place`, or `high`.
__device__ uint32_t row_at(const uint32_t *__restrict__ out_end, uint32_t low, uint32_t high, uint32_t place) {
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (out_end[middle] > place) high = middle;
        else low = middle + 1;
    }
    return low;
}

// 16 bytes of the result from the byte `place` on, which is in `row`.
__device__ uint4 copied_bytes(const uint8_t *__restrict__ text, const uint32_t *__restrict__ from,
                              const uint32_t *__restrict__ out_end, uint32_t row, uint32_t place, uint32_t total) {
    uint32_t end = out_end[row];
    uint32_t at = from[row] + place - (row ? out_end[row - 1] : 0);
    if (end - place >= 16) {
        const uint64_t low = eight_bytes(text, at), high = eight_bytes(text, at + 8);
        return uint4{uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
    }
    const uint32_t count = min(16u, total - place);
    uint32_t words[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 16; i++) {
        if (i >= count) break;
        while (place + i == end) {
            row++; // an empty row was dropped
            end = out_end[row];
            at = from[row];
        }
        words[i / 4] |= uint32_t(text[at++]) << i % 4 * 8;
    }
    return uint4{words[0], words[1], words[2], words[3]};
}

// Copies the part of a row that lies in the tile to shared memory.
__device__ void copy_row(const uint8_t *__restrict__ text, uint32_t at, uint32_t begin, uint32_t end, uint8_t *tile) {
    for (uint32_t i = begin; i < end; i += 8, at += 8) {
        uint64_t bytes = eight_bytes(text, at);
        for (uint32_t k = i; k < min(i + 8, end); k++, bytes >>= 8) tile[k] = uint8_t(bytes);
    }
}

// A tile of many rows is assembled in shared memory, by one thread for each row: a thread that read row after row would
// wait for each of them. A tile of few long rows is copied from memory to memory.
__global__ void __launch_bounds__(kThreads)
copy_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ from,
                  const uint32_t *__restrict__ out_end, const uint32_t *__restrict__ tile_row,
                  uint8_t *__restrict__ sorted) {
    __shared__ uint4 tile[kThreads];
    const uint32_t total = out_end[batch.lines - 1], first = blockIdx.x * kLineTile, place = first + threadIdx.x * 16;
    if (first >= total) return;
    const uint32_t bytes = min(kLineTile, total - first), first_row = tile_row[blockIdx.x];
    const uint32_t last_row = total - first > kLineTile ? tile_row[blockIdx.x + 1] : batch.lines - 1;
    uint4 *const out = reinterpret_cast<uint4 *>(sorted + place);
    if (last_row - first_row < kManyRows) {
        if (place < total)
            *out = copied_bytes(text, from, out_end, row_at(out_end, first_row, last_row, place), place, total);
        return;
    }
    for (uint32_t row = first_row + threadIdx.x; row <= last_row; row += kThreads) {
        const uint32_t row_begin = row ? out_end[row - 1] : 0, begin = max(row_begin, first) - first;
        copy_row(text, from[row] + (begin + first - row_begin), begin, min(out_end[row] - first, bytes),
                 reinterpret_cast<uint8_t *>(tile));
    }
    __syncthreads();
    if (place < total) *out = tile[threadIdx.x];
}

} // namespace

cudaError_t place_lines(const SortingLines &s, const LineBatch &batch, void *temporary, size_t bytes,
                        cudaStream_t stream) {
    row_lengths_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(
        batch, s.range_line, s.begin, s.order, s.same, s.starts, s.out_end);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = sum_up(temporary, &bytes, s.out_end, batch.lines, stream);
    if (error != cudaSuccess) return error;
    range_ends_kernel<<<1, kThreads, 0, stream>>>(batch, s.range_line, s.out_end, s.range_end);
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    tile_rows_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(batch.lines, s.out_end, s.tiles);
    return cudaGetLastError();
}

cudaError_t copy_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    copy_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(batch, s.text, s.starts, s.out_end,
                                                                                  s.tiles, s.sorted);
    return cudaGetLastError();
}

} // namespace hybz
