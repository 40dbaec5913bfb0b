// column.cuh: from a last column to the vector of its rows: a stable counting pass by byte. Shared by both formats'
// decoders, whose kernels define the rows of a chunk and the output.
#pragma once
#include "scan.cuh"

namespace hybz {

// How often each byte is in the rows of a chunk, by a warp. `byte_at` returns the byte of a row.
template <class ByteAt>
inline __device__ void count_rows(uint32_t (&count)[256], uint32_t from, uint32_t end, uint32_t *counts,
                                  ByteAt byte_at) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t byte = lane; byte < 256; byte += 32) count[byte] = 0;
    __syncwarp();
    for (uint32_t i = from + lane; i - lane < end; i += 32) {
        const uint32_t byte = i < end ? byte_at(i) : 256;
        const uint32_t same = __match_any_sync(~0u, byte);
        if (byte < 256 && (same & ((1u << lane) - 1)) == 0) count[byte] += __popc(same);
        __syncwarp();
    }
    for (uint32_t byte = lane; byte < 256; byte += 32) counts[byte] = count[byte];
}

// start_rows has one thread for each byte value and part of the chunks.
constexpr uint32_t kParts = 4;

struct StartMemory {
    ScanMemory scan;
    uint32_t parts[kParts][256], firsts[256];
};

// Replaces the count of each byte in each chunk of a block by the position of that chunk's first row of that byte. It
// takes 256 * kParts threads. After a barrier, `memory.firsts` has the first row of each byte.
inline __device__ void start_rows(StartMemory &memory, uint32_t *counts, uint32_t chunks) {
    const uint32_t byte = threadIdx.x & 255, part = threadIdx.x / 256;
    const uint32_t each = (chunks + kParts - 1) / kParts;
    const uint32_t first = min(part * each, chunks), end = min(first + each, chunks);
    counts += byte;
    uint32_t own = 0;
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) own += counts[uint64_t(chunk) * 256];
    memory.parts[part][byte] = own;
    __syncthreads();
    uint32_t all = 0, next = 0;
    for (uint32_t p = 0; p < kParts; p++) {
        if (p < part) next += memory.parts[p][byte];
        all += memory.parts[p][byte];
    }
    const Scanned scanned = scan_before(memory.scan, part == 0 ? all : 0, Sum{});
    if (part == 0) memory.firsts[byte] = scanned.before;
    __syncthreads();
    next += memory.firsts[byte];
#pragma unroll 8
    for (uint32_t chunk = first; chunk < end; chunk++) {
        const uint32_t count = counts[uint64_t(chunk) * 256];
        counts[uint64_t(chunk) * 256] = next;
        next += count;
    }
}

// Puts the rows of a chunk in their places, by a warp: `put(to, row, byte)`.
template <class ByteAt, class Put>
inline __device__ void place_rows(uint32_t (&next)[256], uint32_t from, uint32_t end, const uint32_t *counts,
                                  ByteAt byte_at, Put put) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t byte = lane; byte < 256; byte += 32) next[byte] = counts[byte];
    __syncwarp();
    for (uint32_t i = from + lane; i - lane < end; i += 32) {
        const uint32_t byte = i < end ? byte_at(i) : 256;
        const uint32_t same = __match_any_sync(~0u, byte), before = __popc(same & ((1u << lane) - 1));
        const uint32_t to = byte < 256 ? next[byte] : 0;
        __syncwarp();
        if (byte < 256) {
            put(to + before, i, byte);
            if (before == 0) next[byte] = to + __popc(same);
        }
        __syncwarp();
    }
}

} // namespace hybz
