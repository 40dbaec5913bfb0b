// find_lines.cu: where lines begin, and the first key of each.
#include "lines.cuh"
#include "scan.cuh"
#include <cub/device/device_scan.cuh>

namespace hybz {

namespace {

// How many of this thread's 16 bytes end a line.
__device__ uint32_t ends_of_thread(const uint8_t *text, const LineBatch &batch, uint32_t from) {
    uint32_t ends = 0;
    for (uint32_t i = from; i < from + 16 && i < batch.bytes; i++) ends += text[i] == batch.end;
    return ends;
}

__global__ void __launch_bounds__(kThreads)
count_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, uint32_t *__restrict__ tiles) {
    __shared__ ScanMemory memory;
    const uint32_t from = blockIdx.x * kLineTile + threadIdx.x * 16;
    const Scanned ends = scan_before(memory, ends_of_thread(text, batch, from), Sum{});
    if (threadIdx.x == 0) tiles[blockIdx.x] = ends.all;
}

__global__ void __launch_bounds__(kThreads)
find_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ tiles,
                  uint32_t *__restrict__ begin) {
    __shared__ ScanMemory memory;
    const uint32_t from = blockIdx.x * kLineTile + threadIdx.x * 16;
    const Scanned ends = scan_before(memory, ends_of_thread(text, batch, from), Sum{});
    uint32_t line = ends.before + (blockIdx.x ? tiles[blockIdx.x - 1] : 0);
    if (blockIdx.x == 0 && threadIdx.x == 0) begin[0] = 0;
    for (uint32_t i = from; i < from + 16 && i < batch.bytes; i++)
        if (text[i] == batch.end) begin[++line] = i + 1;
}

// The first place of `sorted` [0..count-1] whose value is at least `value`.
__device__ uint32_t lower_bound(const uint32_t *__restrict__ sorted, uint32_t count, uint32_t value) {
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (sorted[low + half] < value) low += half + 1, count -= half + 1;
        else count = half;
    }
    return low;
}

__global__ void __launch_bounds__(kThreads)
range_lines_kernel(LineBatch batch, const uint32_t *__restrict__ range_begin, const uint32_t *__restrict__ begin,
                   uint32_t *__restrict__ range_line, uint32_t *__restrict__ flags) {
    for (uint32_t r = threadIdx.x; r <= batch.ranges; r += kThreads) {
        const uint32_t line = lower_bound(begin, batch.lines + 1, range_begin[r]);
        if (line > batch.lines || begin[line] != range_begin[r]) flags[0] = 1;
        range_line[r] = line;
    }
}

// The code words of a line one after another, from the topmost bit on, up to the end mark or until the bits are full.
__global__ void __launch_bounds__(kThreads)
line_keys_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ begin,
                 const uint32_t *__restrict__ range_line, const uint32_t *__restrict__ table, int block_bits,
                 int code_bits, uint64_t *__restrict__ keys, uint32_t *__restrict__ values) {
    const uint32_t line = blockIdx.x * kThreads + threadIdx.x;
    if (line >= batch.lines) return;
    const uint32_t from = begin[line], len = begin[line + 1] - 1 - from;
    // The last range that begins at or before the line.
    const uint32_t range = lower_bound(range_line + 1, batch.ranges, line + 1);
    uint64_t bits = 0;
    int length = 0;
    uint32_t complete = 0, context = 256;
    bool whole = false;
    for (;;) {
        const uint32_t symbol = complete < len ? text[from + complete] + 1u : 0u;
        const uint32_t word = table[context * kMarkedSymbols + symbol];
        const int size = int(word & 31), shift = 64 - length - size;
        const uint64_t code = word >> 5;
        bits |= shift >= 0 ? code << shift : code >> -shift;
        length += size;
        if (length > code_bits) break;
        if (symbol == 0) {
            whole = true;
            break;
        }
        complete++;
        context = symbol - 1;
    }
    const uint64_t sorted = uint64_t(range) << (64 - block_bits) | bits >> (64 - code_bits)
                                                                       << (64 - block_bits - code_bits);
    keys[line] = sorted | (whole ? 0 : 128 | complete);
    values[line] = line;
}

struct Add {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

} // namespace

cudaError_t sum_up(void *temporary, size_t *bytes, uint32_t *counts, uint32_t count, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, counts, counts, Add{}, int(count), stream);
}

cudaError_t count_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    count_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(batch, s.text, s.tiles);
    return cudaGetLastError();
}

cudaError_t find_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    find_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(batch, s.text, s.tiles, s.begin);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    range_lines_kernel<<<1, kThreads, 0, stream>>>(batch, s.range_begin, s.begin, s.range_line, s.flags);
    return cudaGetLastError();
}

cudaError_t line_keys(const SortingLines &s, const LineBatch &batch, int block_bits, int code_bits,
                      cudaStream_t stream) {
    line_keys_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(
        batch, s.text, s.begin, s.range_line, s.table, block_bits, code_bits, s.sort.keys[0], s.sort.values[0]);
    return cudaGetLastError();
}

} // namespace hybz
