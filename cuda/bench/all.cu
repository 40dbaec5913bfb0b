// all.cu: strips of ALL, a warp for each; a counter hands them out.
//
// Each of a segment's 32 words has a lane: prefix sums give the positions of the words' codes and texts. No word refers
// to its own segment, so all texts are written at the same time (copies.cuh).
//
// Nothing in a strip is trusted: whatever it contains, no byte is read or written outside its input and output.
#include "all.hpp"
#include "../copies.cuh"

namespace hybz {

namespace {

constexpr uint32_t kAllWarps = 4;

// The meaning of a word: bytes of one kind, or text from `back` bytes before the segment.
struct AllWord {
    uint32_t length, back, byte;
};

__device__ AllWord word_of(uint32_t value, uint32_t size) {
    const uint32_t field = value >> 12, rest = value & 0xfff;
    if (size == 1) return {1, 0, value};
    if (size == 2) return field ? AllWord{field + 1, rest + 1, 0} : AllWord{(rest >> 8) + kAllShortRun, 0, rest & 255};
    if (field < kAllLongRuns) return {field + kAllLongCopy, rest + 1, 0};
    return {((field - kAllLongRuns) << 4 | rest >> 8) + kAllLongRun, 0, rest & 255};
}

__device__ uint32_t four_bytes(const uint8_t *in) { return in[0] | in[1] << 8 | in[2] << 16 | uint32_t(in[3]) << 24; }

// Decodes a strip. Returns whether it is valid, in all lanes.
__device__ bool decode_strip(const uint8_t *in, uint32_t coded, uint8_t *out, uint32_t length) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    uint32_t from = 0, at = 0;
    while (at < length) {
        if (coded - from < 8) return false;
        const uint32_t more = four_bytes(in + from), longer = four_bytes(in + from + 4);
        from += 8;
        const uint32_t size = 1 + (more >> lane & 1) + (longer >> lane & 1);
        const uint32_t begin = from + lane + __popc(more & below) + __popc(longer & below);
        const bool there = begin + size <= coded;
        uint32_t value = 0;
        for (uint32_t k = 0; k < size && there; k++) value |= uint32_t(in[begin + k]) << 8 * k;
        const AllWord word = word_of(value, size);
        uint32_t end = at + sum_up_to(word.length);
        // Words after the end of the text do not exist.
        const bool mine = end - word.length < length;
        const bool copied = word.back > 0;
        const bool wrong = !there || end > length || word.back > at || (copied && word.length > word.back);
        if (__ballot_sync(~0u, mine && wrong)) return false;
        const uint32_t target = mine ? end - word.length : length;
        const uint32_t source = copied ? ~(word.back + (target - at)) : word.byte;
        carry_out_short(source, target, mine ? word.length : 0, out);
        const uint32_t last = 31 - __clz(__ballot_sync(~0u, mine));
        at = __shfl_sync(~0u, end, last);
        from = __shfl_sync(~0u, begin + size, last);
    }
    return from == coded;
}

__global__ void __launch_bounds__(kAllWarps * 32)
all_kernel(const uint8_t *__restrict__ in, const AllStrip *__restrict__ strips, uint32_t count, uint8_t *out,
           uint32_t *__restrict__ status, uint32_t *next) {
    const uint32_t lane = threadIdx.x & 31;
    for (;;) {
        uint32_t number = 0;
        if (lane == 0) number = atomicAdd(next, 1);
        number = __shfl_sync(~0u, number, 0);
        if (number >= count) return;
        const AllStrip strip = strips[number];
        const bool right = decode_strip(in + strip.from, strip.coded, out + strip.to, strip.length);
        if (lane == 0) status[number] = right ? 0 : 1;
    }
}

} // namespace

int decode_all(const uint8_t *in, const AllStrip *strips, uint32_t count, uint8_t *out, uint32_t *status,
               uint32_t *next) {
    const cudaStream_t stream = nullptr;
    const cudaError_t cleared = cudaMemsetAsync(next, 0, 4, stream);
    if (cleared != cudaSuccess) return int(cleared);
    // As many warps as fit: 132 multiprocessors, 64 warps each.
    const uint32_t grid = (min(count, 132u * 64) + kAllWarps - 1) / kAllWarps;
    all_kernel<<<grid, kAllWarps * 32, 0, stream>>>(in, strips, count, out, status, next);
    return int(cudaGetLastError());
}

} // namespace hybz
