// lz4.hpp: shared by the bench's parts about LZ4.
#pragma once
#include "common.hpp"
#include <cuda_runtime.h>

namespace hybz {

using Bytes = std::vector<uint8_t>;

// A plain encoder of a block.
Bytes encode(const uint8_t *text, size_t size);
// Decodes a block one byte after the other. Returns whether it is valid.
bool plain_decode(const Bytes &in, size_t size, Bytes &out);

struct DeviceBytes {
    uint8_t *memory = nullptr;
    explicit DeviceBytes(size_t size) { must(int(cudaMalloc(reinterpret_cast<void **>(&memory), size + 1)), "malloc"); }
    DeviceBytes(const DeviceBytes &) = delete;
    ~DeviceBytes() { cudaFree(memory); }
};

inline void copy(void *to, const void *from, size_t size, cudaMemcpyKind way) {
    must(int(cudaMemcpyAsync(to, from, size, way, nullptr)), "copy");
    must(int(cudaStreamSynchronize(nullptr)), "copy");
}

} // namespace hybz
