// line_keys.cu: the keys of lines: the number of the range or group, then the line's next characters in code.
#include "lines.cuh"

namespace hybz {

namespace {

// The code words of a line one after another, from the topmost bit on, up to the end mark or until `code_bits` are
// full. Below the sorted bits: 0 if the line is whole, else 128 and the number of complete symbols. `context` is the
// byte before, or 256 at a line's beginning. At least one symbol is complete: kMaxCode <= code_bits.
__device__ uint64_t coded_line(const uint8_t *__restrict__ text, uint32_t from, uint32_t rest, uint32_t context,
                               const uint32_t *__restrict__ table, uint64_t number, KeyLayout layout) {
    uint64_t bits = 0, ahead = 0;
    uint32_t complete = 0, low = 0;
    for (int length = 0;;) {
        if (complete % 8 == 0) ahead = eight_bytes(text, from + complete);
        const uint32_t symbol = complete < rest ? uint32_t(ahead & 255) + 1 : 0;
        ahead >>= 8;
        const uint32_t word = table[context * kMarkedSymbols + symbol];
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

// The line's range: the last one that begins at or before the line.
__device__ inline uint32_t range_of(const uint32_t *__restrict__ range_line, uint32_t ranges, uint32_t line) {
    return lower_bound(range_line + 1, ranges, line + 1);
}

// The common prefix of the lines of a range or group; 0 for a single line.
__device__ inline uint32_t common_of(const uint32_t *__restrict__ common, uint32_t number) {
    const uint32_t found = common[number];
    return found == ~0u ? 0 : found;
}

__global__ void __launch_bounds__(kThreads)
range_common_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ begin,
                    const uint32_t *__restrict__ range_line, uint32_t limit, uint32_t *common) {
    const uint32_t line = blockIdx.x * kThreads + threadIdx.x;
    uint32_t range = ~0u, mine = ~0u;
    if (line < batch.lines) {
        range = range_of(range_line, batch.ranges, line);
        const uint32_t first = range_line[range];
        if (line != first) mine = common_bytes_of(text, begin, line, first, 0, min(limit, common[range]));
    }
    lower_common(common, range, mine);
}

// The number of bits from the topmost bit down to the lowest bit that is set.
__device__ inline uint32_t bits_down_to_the_last(uint64_t key) {
    const uint32_t low = uint32_t(key), high = uint32_t(key >> 32);
    return low ? uint32_t(65 - __ffs(int(low))) : high ? uint32_t(33 - __ffs(int(high))) : 0;
}

__global__ void __launch_bounds__(kThreads)
first_keys_kernel(LineBatch batch, const uint8_t *__restrict__ text, const uint32_t *__restrict__ begin,
                  const uint32_t *__restrict__ range_line, const uint32_t *__restrict__ common,
                  const uint32_t *__restrict__ table, KeyLayout layout, uint32_t *__restrict__ keyed,
                  uint64_t *__restrict__ keys, uint32_t *__restrict__ values, uint32_t *used) {
    const uint32_t line = blockIdx.x * kThreads + threadIdx.x;
    uint32_t mine = 0;
    if (line < batch.lines) {
        const uint32_t range = range_of(range_line, batch.ranges, line);
        const uint32_t depth = common_of(common, range), from = begin[line] + depth, rest = begin[line + 1] - 1 - from;
        if (line == range_line[range]) keyed[range] = depth;
        const uint64_t key = coded_line(text, from, rest, depth ? text[from - 1] : 256, table, range, layout);
        keys[line] = key;
        values[line] = line;
        mine = bits_down_to_the_last(key >> layout.unused << layout.unused);
    }
    // The value read may be stale; then the atomic operation changes nothing.
    mine = __reduce_max_sync(~0u, mine);
    if (threadIdx.x % 32 == 0 && mine > *used) atomicMax(used, mine);
}

__global__ void __launch_bounds__(kThreads)
tied_keys_kernel(uint32_t count, TiedLines list, const uint32_t *__restrict__ common, const uint8_t *__restrict__ text,
                 const uint32_t *__restrict__ begin, const uint32_t *__restrict__ table, KeyLayout layout,
                 const uint32_t *__restrict__ first, const uint32_t *__restrict__ depths,
                 uint32_t *__restrict__ keyed, uint64_t *__restrict__ keys, uint32_t *__restrict__ values) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    const uint32_t group = list.group[k], line = list.line[k];
    const uint32_t depth = depths[group] + common_of(common, group);
    const uint32_t from = begin[line] + depth, rest = begin[line + 1] - 1 - from;
    keys[k] = coded_line(text, from, rest, depth ? text[from - 1] : 256, table, group, layout);
    values[k] = line;
    if (k == first[group]) keyed[group] = depth;
}

} // namespace

cudaError_t range_common(const SortingLines &s, const LineBatch &batch, uint32_t limit, cudaStream_t stream) {
    const cudaError_t error = cudaMemsetAsync(s.common, 0xff, batch.ranges * 4, stream);
    if (error != cudaSuccess) return error;
    range_common_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(batch, s.text, s.begin,
                                                                                   s.range_line, limit, s.common);
    return cudaGetLastError();
}

cudaError_t first_keys(const SortingLines &s, const LineBatch &batch, const KeyLayout &layout, cudaStream_t stream) {
    first_keys_kernel<<<blocks_for(batch.lines, kThreads), kThreads, 0, stream>>>(
        batch, s.text, s.begin, s.range_line, s.common, s.table, layout, s.keyed, s.sort.keys[0], s.sort.values[0],
        s.flags + kUsedBits);
    return cudaGetLastError();
}

cudaError_t tied_keys(const SortingLines &s, uint32_t count, int from, const KeyLayout &layout, cudaStream_t stream) {
    tied_keys_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
        count, s.tied[from], s.common, s.text, s.begin, s.table, layout, s.first, s.depth, s.keyed, s.sort.keys[0],
        s.sort.values[0]);
    return cudaGetLastError();
}

} // namespace hybz
