// Stands in for CUB's header: its inclusive scan.
#pragma once
#include <cuda_runtime.h>

namespace cub {

struct DeviceScan {
    template <class In, class Out, class Join>
    static cudaError_t InclusiveScan(void *temporary, size_t &bytes, In in, Out *out, Join join, int count,
                                     cudaStream_t) {
        if (!temporary) {
            bytes = 1;
            return cudaSuccess;
        }
        for (int i = 0; i < count; i++) out[i] = i == 0 ? in[0] : join(out[i - 1], in[uint32_t(i)]);
        return cudaSuccess;
    }
};

} // namespace cub
