// find_lines.cu: finds the beginnings of lines.
#include "lines.cuh"
#include "scan.cuh"
#include <cub/device/device_scan.cuh>

namespace hybz {

namespace {

// A bit mask that shows which of the 16 bytes from `from` on end a line. The text has padding after it.
__device__ inline uint32_t ends_from(const uint8_t *__restrict__ text, const LineBatch &batch, uint32_t from) {
    if (from >= batch.bytes) return 0;
    const uint4 bytes = reinterpret_cast<const uint4 *>(text)[from / 16];
    const uint32_t ends = batch.end * 0x01010101u;
    // Moves the lowest bits of a word's four bytes into four adjacent bits.
    const auto four = [ends](uint32_t word) { return (__vcmpeq4(word, ends) & 0x01010101u) * 0x01020408u >> 24 & 15; };
    const uint32_t all = four(bytes.x) | four(bytes.y) << 4 | four(bytes.z) << 8 | four(bytes.w) << 12;
    const uint32_t left = batch.bytes - from;
    return left < 16 ? all & ((1u << left) - 1) : all;
}

__global__ void __launch_bounds__(kThreads)
count_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, uint32_t *__restrict__ tiles) {
    __shared__ uint32_t warps[kThreads / 32];
    const uint32_t from = blockIdx.x * kLineTile + threadIdx.x * 16;
    const uint32_t ends = __reduce_add_sync(~0u, uint32_t(__popc(ends_from(text, batch, from))));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = ends;
    __syncthreads();
    if (threadIdx.x > 0) return;
    uint32_t all = 0;
    for (const uint32_t each : warps) all += each;
    tiles[blockIdx.x] = all;
}

__global__ void __launch_bounds__(kThreads)
find_lines_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ tiles,
                  uint32_t *__restrict__ begin) {
    __shared__ ScanMemory memory;
    const uint32_t from = blockIdx.x * kLineTile + threadIdx.x * 16;
    uint32_t ends = ends_from(text, batch, from);
    const Scanned scanned = scan_before(memory, uint32_t(__popc(ends)), Sum{});
    uint32_t line = scanned.before + (blockIdx.x ? tiles[blockIdx.x - 1] : 0);
    if (blockIdx.x == 0 && threadIdx.x == 0) begin[0] = 0;
    for (; ends; ends &= ends - 1) begin[++line] = from + uint32_t(__ffs(int(ends)));
}

__global__ void __launch_bounds__(kThreads)
range_lines_kernel(LineBatch batch, const uint32_t *__restrict__ range_begin, const uint32_t *__restrict__ begin,
                   uint32_t *__restrict__ range_line, uint32_t *__restrict__ flags) {
    for (uint32_t r = threadIdx.x; r <= batch.ranges; r += kThreads) {
        const uint32_t line = lower_bound(begin, batch.lines + 1, range_begin[r]);
        if (line > batch.lines || begin[line] != range_begin[r]) flags[kBadRange] = 1;
        range_line[r] = line;
    }
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

} // namespace hybz
