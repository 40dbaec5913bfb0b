// line_keys.cu: the keys of lines: the number of the range or group, then the line's next characters in code.
#include "lines.cuh"

namespace hybz {

namespace {

// Below `number`, the code words of a line after its first `depth` bytes one after another, from the topmost bit on, up
// to the end mark or until `code_bits` are full. Below the sorted bits: 0 if the line is whole, else 128 and the number
// of complete symbols. `context` is the byte before, or 256 at a line's beginning. At least one symbol is complete:
// kMaxCode <= code_bits.
__device__ uint64_t coded_line(const SortingLines &s, uint32_t line, uint32_t depth, uint64_t number,
                               KeyLayout layout) {
    const uint32_t from = s.begin[line] + depth, rest = s.begin[line + 1] - 1 - from;
    uint32_t context = depth ? s.text[from - 1] : 256;
    uint64_t bits = 0, ahead = 0;
    uint32_t complete = 0, low = 0;
    for (int length = 0;;) {
        if (complete % 8 == 0) ahead = bytes_at(s.text, from + complete);
        const uint32_t symbol = complete < rest ? uint32_t(ahead & 255) + 1 : 0;
        ahead >>= 8;
        const uint32_t word = s.table[context * kMarkedSymbols + symbol];
        const int size = int(word & 31), shift = 64 - length - size;
        const uint64_t code = word >> 5;
        bits |= shift >= 0 ? code << shift : code >> -shift;
        length += size;
        if (length > layout.code_bits) {
            low = 128 | complete;
            break;
        }
        if (symbol == 0) break;
        complete++;
        context = symbol - 1;
    }
    return number << (64 - layout.block_bits) | bits >> (64 - layout.code_bits) << layout.unused | low;
}

// The common prefix of the lines of a range or group; 0 for a single line.
__device__ inline uint32_t common_of(const SortingLines &s, uint32_t number) {
    const uint32_t found = s.common[number];
    return found == ~0u ? 0 : found;
}

__global__ void __launch_bounds__(kThreads) range_common_kernel(SortingLines s, LineBatch batch, uint32_t limit) {
    const uint32_t line = blockIdx.x * kThreads + threadIdx.x;
    uint32_t range = ~0u, mine = ~0u;
    if (line < batch.lines) {
        range = range_of(s, batch, line);
        const uint32_t first = s.range_line[range];
        if (line != first) mine = common_bytes_of(s, line, first, 0, min(limit, s.common[range]));
    }
    lower_common(s.common, range, mine);
}

__global__ void __launch_bounds__(kThreads) first_keys_kernel(SortingLines s, LineBatch batch, KeyLayout layout) {
    const uint32_t line = blockIdx.x * kThreads + threadIdx.x;
    uint32_t mine = 0; // bits from the topmost one down to the lowest that is set
    if (line < batch.lines) {
        const uint32_t range = range_of(s, batch, line), depth = common_of(s, range);
        const uint64_t key = coded_line(s, line, depth, range, layout), sorted = key >> layout.unused << layout.unused;
        if (line == s.range_line[range]) s.keyed[range] = depth;
        s.sort.keys[0][line] = key;
        s.sort.values[0][line] = line;
        mine = sorted ? uint32_t(65 - __ffsll(static_cast<long long>(sorted))) : 0;
    }
    // The value read may be stale; then the atomic operation changes nothing.
    mine = __reduce_max_sync(~0u, mine);
    if (threadIdx.x % 32 == 0 && mine > s.flags[kUsedBits]) atomicMax(&s.flags[kUsedBits], mine);
}

__global__ void __launch_bounds__(kThreads)
tied_keys_kernel(SortingLines s, uint32_t count, TiedLines list, KeyLayout layout) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    const uint32_t group = list.group[k], line = list.line[k], depth = s.depth[group] + common_of(s, group);
    const uint64_t key = coded_line(s, line, depth, group, layout);
    if (k == s.first[group]) s.keyed[group] = depth;
    s.sort.keys[0][k] = key;
    s.sort.values[0][k] = line;
}

} // namespace

cudaError_t range_common(const SortingLines &s, const LineBatch &batch, uint32_t limit, cudaStream_t stream) {
    cudaMemsetAsync(s.common, 0xff, batch.ranges * 4, stream);
    range_common_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(s, batch, limit);
    return cudaGetLastError();
}

cudaError_t first_keys(const SortingLines &s, const LineBatch &batch, const KeyLayout &layout, cudaStream_t stream) {
    first_keys_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(s, batch, layout);
    return cudaGetLastError();
}

cudaError_t tied_keys(const SortingLines &s, uint32_t count, int from, const KeyLayout &layout, cudaStream_t stream) {
    tied_keys_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(s, count, s.tied[from], layout);
    return cudaGetLastError();
}

} // namespace hybz
