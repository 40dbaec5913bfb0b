// copy_lines.cu: the sorted text, from the order of the lines.
//
// A CTA writes kLineTile bytes, 16 for each thread: two searches find the rows that the tile has bytes of, each thread
// finds its own among them, and then goes on from row to row. So every write is of 16 bytes, whatever the lines are
// like, and a line of 1 GB is written by as many threads as a gigabyte of short ones.
#include "lines.cuh"

namespace hybz {

namespace {

// The last place of [0..count-1] whose value is at most `value`; the first value is.
__device__ uint32_t last_up_to(const uint32_t *__restrict__ sorted, uint32_t count, uint32_t value) {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] <= value) low = middle;
        else high = middle;
    }
    return low;
}

// Of each row of the result: where its line begins in the text, and how long it is with its end; 0 if it equals the one
// before and only one of them is wanted.
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

// The first row of [low..high-1] that ends behind `place`.
__device__ uint32_t row_at(const uint32_t *__restrict__ out_end, uint32_t low, uint32_t high, uint32_t place) {
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (out_end[middle] > place) high = middle;
        else low = middle + 1;
    }
    return low;
}

__global__ void __launch_bounds__(kThreads)
copy_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ from,
                  const uint32_t *__restrict__ out_end, uint8_t *__restrict__ sorted) {
    __shared__ uint32_t bounds[2];
    const uint32_t total = out_end[batch.lines - 1], tile = blockIdx.x * kLineTile;
    if (tile >= total) return;
    if (threadIdx.x < 2) {
        const uint32_t place = threadIdx.x ? min(kLineTile, total - tile) + tile - 1 : tile;
        bounds[threadIdx.x] = row_at(out_end, 0, batch.lines, place);
    }
    __syncthreads();
    const uint32_t place = tile + threadIdx.x * 16;
    if (place >= total) return;
    const uint32_t count = min(16u, total - place);
    uint32_t row = row_at(out_end, bounds[0], bounds[1], place);
    uint32_t end = out_end[row];
    uint32_t at = from[row] + place - (row ? out_end[row - 1] : 0);
    uint32_t words[4] = {};
#pragma unroll
    for (uint32_t i = 0; i < 16; i++) {
        if (i >= count) break;
        while (place + i == end) {
            row++; // one that is empty was dropped
            end = out_end[row];
            at = from[row];
        }
        words[i / 4] |= uint32_t(text[at++]) << i % 4 * 8;
    }
    *reinterpret_cast<uint4 *>(sorted + place) = uint4{words[0], words[1], words[2], words[3]};
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
    return cudaGetLastError();
}

cudaError_t copy_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    copy_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(batch, s.text, s.starts, s.out_end,
                                                                                  s.sorted);
    return cudaGetLastError();
}

} // namespace hybz
