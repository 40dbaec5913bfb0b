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

__global__ void __launch_bounds__(kThreads) count_lines_kernel(SortingLines s, LineBatch batch) {
    __shared__ ScanMemory memory;
    const uint32_t ends = ends_from(s.text, batch, blockIdx.x * kLineTile + threadIdx.x * 16);
    const Scanned scanned = scan_before(memory, uint32_t(__popc(ends)), Sum{});
    if (threadIdx.x == 0) s.tiles[blockIdx.x] = scanned.all;
}

__global__ void __launch_bounds__(kThreads) find_lines_kernel(SortingLines s, LineBatch batch) {
    __shared__ ScanMemory memory;
    const uint32_t from = blockIdx.x * kLineTile + threadIdx.x * 16;
    uint32_t ends = ends_from(s.text, batch, from);
    const Scanned scanned = scan_before(memory, uint32_t(__popc(ends)), Sum{});
    uint32_t line = scanned.before + (blockIdx.x ? s.tiles[blockIdx.x - 1] : 0);
    if (blockIdx.x == 0 && threadIdx.x == 0) s.begin[0] = 0;
    for (; ends; ends &= ends - 1) s.begin[++line] = from + uint32_t(__ffs(int(ends)));
}

__global__ void __launch_bounds__(kThreads) range_lines_kernel(SortingLines s, LineBatch batch) {
    for (uint32_t r = threadIdx.x; r <= batch.ranges; r += kThreads) {
        const uint32_t line = lower_bound(s.begin, batch.lines + 1, s.range_begin[r]);
        if (line > batch.lines || s.begin[line] != s.range_begin[r]) s.flags[kBadRange] = 1;
        s.range_line[r] = line;
    }
}

} // namespace

cudaError_t sum_up(SortingLines &s, uint32_t *counts, uint32_t count, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveScan(s.temporary, s.temporary_bytes, counts, counts, Sum{}, int(count), stream);
}

cudaError_t count_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    count_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(s, batch);
    return cudaGetLastError();
}

cudaError_t find_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    find_lines_kernel<<<blocks_for(batch.bytes, kLineTile), kThreads, 0, stream>>>(s, batch);
    range_lines_kernel<<<1, kThreads, 0, stream>>>(s, batch);
    return cudaGetLastError();
}

} // namespace hybz
