// line_table.cu: the code words of a batch's keys (codes.hpp), made on the device from a sample of the batch's text,
// so that the device does not wait for the host. When a core made them from 1/32 of the text, finding lines took 1.3
// ms for 74 MB and 6.9 ms for 600 MB (H200), nearly all of it on that core.
#include "codes.hpp"
#include "lines.cuh"
#include "scan.cuh"

namespace hybz {

namespace {

constexpr uint32_t kPiece = 1024, kPieces = 1024; // at most this many pieces of this many bytes

// How often each byte follows each byte in the sample: one CTA for each piece.
__global__ void __launch_bounds__(kThreads) count_pairs_kernel(SortingLines s, uint32_t bytes, uint32_t step) {
    const uint32_t from = blockIdx.x * step, to = min(from + kPiece, bytes);
    for (uint32_t i = from + 1 + threadIdx.x; i < to; i += kThreads)
        atomicAdd(&s.pairs[uint32_t(s.text[i - 1]) << 8 | s.text[i]], 1);
}

constexpr uint32_t kTableThreads = 288; // whole warps, a thread for each symbol
static_assert(kTableThreads >= kMarkedSymbols && kTableThreads % 32 == 0);

// A CTA makes the table of a context: each thread walks down to its symbol, as split_codes does for all symbols. The
// first symbol of a line follows the end of another line, so the table without context replaces the end byte's table.
__global__ void __launch_bounds__(kTableThreads) split_kernel(SortingLines s, uint32_t end) {
    __shared__ uint32_t sums[kMarkedSymbols + 1]; // the sample has 2^20 bytes, each counts 16
    __shared__ ScanMemory memory;
    const uint32_t symbol = threadIdx.x, context = blockIdx.x;
    const uint32_t *counts = s.pairs + 256 * (context == 256 ? end : context);
    uint32_t weight = 0;
    if (symbol == 0) weight = 16 * counts[end] + 1;
    else if (symbol < kMarkedSymbols) weight = symbol - 1 == end ? 1 : 16 * counts[symbol - 1] + 1;
    const Scanned scanned = scan_before(memory, weight, Sum{});
    if (symbol < kMarkedSymbols) sums[symbol] = scanned.before;
    if (symbol == 0) sums[kMarkedSymbols] = scanned.all;
    __syncthreads();
    if (symbol >= kMarkedSymbols) return;
    int from = 0, to = int(kMarkedSymbols), depth = 0;
    uint32_t bits = 0;
    for (; to - from > 1; depth++) {
        const int middle = split_at(sums, from, to, depth, kMaxCode);
        const bool is_upper = int(symbol) >= middle;
        bits = bits << 1 | uint32_t(is_upper);
        (is_upper ? from : to) = middle;
    }
    s.table[context * kMarkedSymbols + symbol] = code_entry(bits, depth);
}

} // namespace

cudaError_t line_table(const SortingLines &s, const LineBatch &batch, cudaStream_t stream) {
    cudaMemsetAsync(s.pairs, 0, kPairs * 4, stream);
    const uint32_t pieces = max(1u, min(kPieces, batch.bytes / kPiece));
    count_pairs_kernel<<<pieces, kThreads, 0, stream>>>(s, batch.bytes, batch.bytes / pieces);
    split_kernel<<<kMarkedSymbols, kTableThreads, 0, stream>>>(s, batch.end);
    return cudaGetLastError();
}

} // namespace hybz
