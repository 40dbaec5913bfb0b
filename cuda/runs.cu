// runs.cu: the runs of equal letters in the Burrows-Wheeler transform of a text and its end mark, which counts as a
// letter. Each warp has 4,096 rows; reading the letter of a row is a gather.
//
// Twin: runs() in crates/factor/src/suffixes.rs.
#include "factor.cuh"

namespace hybz {

namespace {

constexpr uint32_t kRunsRows = 4096;

__device__ inline uint32_t letter_of(const Factoring &f, uint32_t row) {
    const uint32_t position = f.order[row];
    return position ? f.text[position - 1] : 256; // the mark precedes the whole text
}

__global__ void __launch_bounds__(kThreads) runs_kernel(Factoring f) {
    const uint32_t lane = threadIdx.x & 31, warp = blockIdx.x * (kThreads / 32) + (threadIdx.x >> 5);
    const uint64_t first = uint64_t(warp) * kRunsRows;
    if (first >= f.rows) return;
    uint32_t last = first ? letter_of(f, uint32_t(first) - 1) : kNowhere, count = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < kRunsRows; k += 32) {
        const uint64_t row = first + k + lane;
        const uint32_t letter = row < f.rows ? letter_of(f, uint32_t(row)) : kNowhere;
        const uint32_t left = __shfl_up_sync(~0u, letter, 1);
        const bool is_first = row < f.rows && letter != (lane ? left : last);
        count += __popc(__ballot_sync(~0u, is_first));
        last = __shfl_sync(~0u, letter, 31);
    }
    if (lane == 0) atomicAdd(&f.counts->runs, count);
}

} // namespace

cudaError_t count_runs(const Factoring &f, cudaStream_t stream) {
    runs_kernel<<<blocks_for(f.rows, kRunsRows * (kThreads / 32)), kThreads, 0, stream>>>(f);
    return cudaGetLastError();
}

} // namespace hybz
