// sort.cu: the two steps that CUB does: a radix sort of (u64 or u32 key, u32 value), one pass for each 8 bits (9.4 ps
// a u64 key and pass on an H200), and a running maximum, which tells every place where its run of equal keys begins.
#include "device.cuh"
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

// j if a run begins at place j, else 0.
template <class Key> struct RunHead {
    const Key *keys;
    __device__ uint32_t operator()(uint32_t j) const { return j > 0 && keys[j] != keys[j - 1] ? j : 0; }
};

} // namespace

template <class Key>
cudaError_t run_starts(void *temporary, size_t &bytes, const Key *keys, uint32_t *starts, uint32_t count,
                       cudaStream_t stream) {
    const auto heads = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), RunHead<Key>{keys});
    return cub::DeviceScan::InclusiveScan(temporary, bytes, heads, starts, Larger{}, int(count), stream);
}

template <class Key>
cudaError_t sort_pairs(void *temporary, size_t &bytes, SortBuffers &buffers, uint32_t count, int begin_bit,
                       int end_bit, cudaStream_t stream) {
    const int from = buffers.current;
    const auto keys_in = [&](int which) { return reinterpret_cast<Key *>(buffers.keys[which]); };
    cub::DoubleBuffer<Key> keys(keys_in(from), keys_in(1 - from));
    cub::DoubleBuffer<uint32_t> values(buffers.values[from], buffers.values[1 - from]);
    const cudaError_t error =
        cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, int(count), begin_bit, end_bit, stream);
    if (temporary) buffers.current = keys.selector == 0 ? from : 1 - from;
    return error;
}

// Raises `bytes` to what both steps need for keys of one size.
template <class Key> static cudaError_t add_temporary(uint32_t max_count, size_t *bytes) {
    size_t for_sort = 0, for_scan = 0;
    SortBuffers none{};
    cudaError_t error = sort_pairs<Key>(nullptr, for_sort, none, max_count, 0, 8 * sizeof(Key), 0);
    if (error == cudaSuccess) error = run_starts<Key>(nullptr, for_scan, nullptr, nullptr, max_count, 0);
    *bytes = std::max(*bytes, std::max(for_sort, for_scan));
    return error;
}

// (A sort of samples needs less than one of as many pairs.)
cudaError_t sort_temporary(uint32_t max_count, size_t *bytes) {
    *bytes = 0;
    const cudaError_t error = add_temporary<uint64_t>(max_count, bytes);
    return error == cudaSuccess ? add_temporary<uint32_t>(max_count, bytes) : error;
}

cudaError_t sort_samples(void *temporary, size_t bytes, SampleSort &samples, uint32_t count, cudaStream_t stream) {
    cub::DoubleBuffer<uint64_t> keys(samples.unsorted, samples.unsorted + count);
    const cudaError_t error =
        cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, int(count), 64 - kLongSortBits, 64, stream);
    samples.samples = keys.Current();
    return error;
}

#define HYBZ_KEYS(Key)                                                                                                 \
    template cudaError_t sort_pairs<Key>(void *, size_t &, SortBuffers &, uint32_t, int, int, cudaStream_t);           \
    template cudaError_t run_starts<Key>(void *, size_t &, const Key *, uint32_t *, uint32_t, cudaStream_t);
HYBZ_KEYS(uint64_t)
HYBZ_KEYS(uint32_t)

} // namespace hybz
