// suffixes.cu: rotations or suffixes in order, by rank doubling (Manber and Myers 1990) with a radix sort for each
// round:
// plain and short, to make the other kernels' inputs.
#include "common.hpp"
#include <cub/device/device_radix_sort.cuh>

namespace theses {

namespace {

constexpr uint32_t kThreads = 256;

// A key: the rank of a position and of the one `step` further.
__global__ void __launch_bounds__(kThreads)
doubled_keys(const uint32_t *rank, uint32_t n, uint32_t step, bool cyclic, uint64_t *keys, uint32_t *values) {
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const uint32_t next = uint32_t((uint64_t(i) + step) % n);
    const uint32_t second = cyclic || uint64_t(i) + step < n ? rank[next] + 1 : 0;
    keys[i] = uint64_t(rank[i]) << 32 | second;
    values[i] = i;
}

std::vector<uint32_t> sorted(const Text &text, bool cyclic) {
    const uint32_t n = uint32_t(text.size());
    std::vector<uint32_t> rank(text.begin(), text.end()), order(n);
    Memory<uint32_t> ranks(n), values(n), other(n);
    Memory<uint64_t> keys(n), spare(n);
    size_t bytes = 0;
    cub::DoubleBuffer<uint64_t> key_buffers(keys.at, spare.at);
    cub::DoubleBuffer<uint32_t> value_buffers(values.at, other.at);
    must(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key_buffers, value_buffers, int(n), 0, 64, stream), "sort");
    Memory<uint8_t> temporary(bytes);
    for (uint64_t step = 1;; step *= 2) {
        ranks.put(rank);
        cub::DoubleBuffer<uint64_t> by_key(keys.at, spare.at);
        cub::DoubleBuffer<uint32_t> by_value(values.at, other.at);
        doubled_keys<<<blocks_for(n, kThreads), kThreads, 0, stream>>>(
            ranks.at, n, uint32_t(step), cyclic, keys.at, values.at);
        must(cub::DeviceRadixSort::SortPairs(temporary.at, bytes, by_key, by_value, int(n), 0, 64, stream), "sort");
        const std::vector<uint64_t> in_order = by_key.selector ? spare.get() : keys.get();
        order = by_value.selector ? other.get() : values.get();
        uint32_t last = 0;
        for (uint32_t row = 0; row < n; row++) {
            if (row && in_order[row] != in_order[row - 1]) last = row;
            rank[order[row]] = last;
        }
        bool unique = true;
        for (uint32_t row = 1; row < n && unique; row++) unique = in_order[row] != in_order[row - 1];
        if (unique || step >= n) return order;
    }
}

} // namespace

std::vector<uint32_t> rotations(const Text &text) { return sorted(text, true); }
std::vector<uint32_t> suffixes(const Text &text) { return sorted(text, false); }

Bwt transform(const Text &text) {
    const uint32_t n = uint32_t(text.size());
    Bwt bwt{Text(n), 0};
    const std::vector<uint32_t> order = rotations(text);
    for (uint32_t row = 0; row < n; row++) {
        bwt.last[row] = text[(order[row] + n - 1) % n];
        if (order[row] == 0) bwt.origin = row;
    }
    return bwt;
}

Text plain_mtf(const Text &text) {
    uint8_t list[256];
    for (int i = 0; i < 256; i++) list[i] = uint8_t(i);
    Text indices;
    indices.reserve(text.size());
    for (const uint8_t byte : text) {
        uint32_t at = 0;
        while (list[at] != byte) at++;
        memmove(list + 1, list, at);
        list[0] = byte;
        indices.push_back(uint8_t(at));
    }
    return indices;
}

} // namespace theses
