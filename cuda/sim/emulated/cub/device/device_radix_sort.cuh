// Stands in for CUB's header: its radix sort, stable, by the standard library.
#pragma once
#include <algorithm>
#include <cstring>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

namespace cub {

template <class T> struct DoubleBuffer {
    T *buffers[2];
    int selector = 0;
    DoubleBuffer(T *current, T *other) : buffers{current, other} {}
    T *Current() const { return buffers[selector]; }
};

struct DeviceRadixSort {
    // The result is in the other buffers.
    template <class Key, class Value>
    static cudaError_t SortPairs(void *temporary, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values,
                                 int count, int begin_bit, int end_bit, cudaStream_t) {
        if (!temporary) {
            bytes = 1;
            return cudaSuccess;
        }
        const Key below = end_bit == int(8 * sizeof(Key)) ? ~Key(0) : (Key(1) << end_bit) - 1;
        const Key mask = below >> begin_bit << begin_bit;
        std::vector<std::pair<Key, Value>> pairs(static_cast<size_t>(count));
        for (size_t i = 0; i < pairs.size(); i++)
            pairs[i] = {keys.buffers[keys.selector][i], values.buffers[values.selector][i]};
        std::stable_sort(pairs.begin(), pairs.end(),
                         [&](const auto &a, const auto &b) { return (a.first & mask) < (b.first & mask); });
        keys.selector = 1 - keys.selector;
        values.selector = 1 - values.selector;
        for (size_t i = 0; i < pairs.size(); i++) {
            keys.buffers[keys.selector][i] = pairs[i].first;
            values.buffers[values.selector][i] = pairs[i].second;
        }
        return cudaSuccess;
    }

    template <class Key>
    static cudaError_t SortKeys(void *, size_t &, DoubleBuffer<Key> &keys, int count, int begin_bit, int,
                                cudaStream_t) {
        const Key *const from = keys.Current();
        keys.selector = 1 - keys.selector;
        std::copy(from, from + count, keys.Current());
        std::stable_sort(keys.Current(), keys.Current() + count,
                         [&](Key a, Key b) { return a >> begin_bit < b >> begin_bit; });
        return cudaSuccess;
    }
};

} // namespace cub
