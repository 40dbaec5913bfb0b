// choose.cu: chooses a selector for each group of 32 tokens of a `.hbz` block, and counts the result: one round of
// Lloyd's algorithm (src/formats/hbz/codec/tally.rs has the rounds). The host computes prices from the counts.
//
//   1 counts   one thread a block: how many selectors it has, and which segments the first rounds look at
//   2 levels   one CTA a segment: each group by the mean of its ranks' logarithms
//   3 parts    one CTA a block: cuts the levels into parts of equal size
//   4 firsts   one warp a segment: the first choice, counted
//   5 rounds   one warp a segment: the cheapest selector for each group, after the one before; counted
//
// A selector's price depends on the selector before it, so a segment is a chain. The cost of a group's tokens does not
// depend on the selector before, and takes most of the time: each lane adds the prices of 8 of the 32 tokens for two
// of the 16 selectors. Measured (H200): 6.9 ms for the first choice and ten rounds of 25 MB of source code, transfers
// included, and 6.5 for 2 MB: most of it is ten round trips to the host, and the chains of 1,300 groups. The
// prediction was 0.2 ms a round.
//
// Twin: src/formats/hbz/codec/choose.rs.
#include "large_coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32; // segments of a CTA
constexpr uint32_t kPairs = kSelectors / 2;
constexpr uint32_t kQuarter = kTokenGroup / 4; // tokens of eight lanes
constexpr uint32_t kTokensPerTable = 32000;
constexpr uint32_t kPart = 4;             // the first rounds look at one segment of this many
constexpr uint32_t kSegmentsForParts = 30; // if there are more than these

__global__ void __launch_bounds__(HYBZ_MAX_BLOCKS) counts_kernel(LargeCoding coding) {
    const uint32_t block = threadIdx.x;
    if (block >= coding.blocks) return;
    hybz_tokens &about = coding.about[block];
    const uint32_t segments = coding.first_segment[block + 1] - coding.first_segment[block];
    about.selectors = min(max(about.tokens / kTokensPerTable, 1u), kSelectors);
    about.step = about.selectors > 1 && segments > kSegmentsForParts ? kPart : 1;
}

// The segment of a CTA or of one of its warps; it is empty if the first rounds skip that segment.
inline __device__ CodingSegment looked_at(const LargeCoding &coding, uint32_t block, uint32_t own, bool all) {
    CodingSegment segment = segment_of(coding, block, own);
    if (!all && own % coding.about[block].step != 0) segment.rows = 0;
    return segment;
}

__global__ void __launch_bounds__(kThreads) levels_kernel(LargeCoding coding, hybz_weights weights) {
    __shared__ uint32_t counts[kLevels];
    const uint32_t block = blockIdx.y;
    const CodingSegment segment = looked_at(coding, block, blockIdx.x, false);
    if (segment.rows == 0) return;
    for (uint32_t l = threadIdx.x; l < kLevels; l += kThreads) counts[l] = 0;
    __syncthreads();
    const uint8_t *const tokens = coding.tokens + row_place(segment);
    const uint32_t count = coding.coded[segment.number].tokens;
    for (uint32_t group = threadIdx.x; group < groups_of(count); group += kThreads) {
        const uint32_t from = group * kTokenGroup, end = min(from + kTokenGroup, count);
        uint32_t sum = 0;
        for (uint32_t i = from; i < end; i++) sum += weights.of[tokens[i]];
        const uint32_t level = min(sum / (end - from), kLevels - 1);
        coding.levels[group_place(segment) + group] = uint16_t(level);
        atomicAdd(&counts[level], 1u);
    }
    __syncthreads();
    for (uint32_t l = threadIdx.x; l < kLevels; l += kThreads)
        if (counts[l]) atomicAdd(&coding.histogram[block * kLevels + l], counts[l]);
}

__global__ void __launch_bounds__(kLevels) parts_kernel(LargeCoding coding) {
    __shared__ ScanMemory memory;
    uint32_t *const own = coding.histogram + blockIdx.x * kLevels + threadIdx.x;
    const Scanned groups = scan_before(memory, *own, Sum{});
    *own = groups.all ? uint32_t(uint64_t(groups.before) * coding.about[blockIdx.x].selectors / groups.all) : 0;
}

// Counts over all segments of a CTA, in shared memory.
inline __device__ void clear_tally(hybz_tally &memory) {
    for (uint32_t w = threadIdx.x; w < sizeof(hybz_tally) / 4; w += kThreads) (&memory.tokens[0][0])[w] = 0;
}

inline __device__ void add_tally(const hybz_tally &memory, hybz_tally *tally) {
    const uint32_t *const words = &memory.tokens[0][0];
    for (uint32_t w = threadIdx.x; w < sizeof(hybz_tally) / 4; w += kThreads)
        if (words[w]) atomicAdd(&tally->tokens[0][0] + w, words[w]);
}

__global__ void __launch_bounds__(kThreads) firsts_kernel(LargeCoding coding) {
    __shared__ hybz_tally memory;
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31;
    clear_tally(memory);
    __syncthreads();
    const CodingSegment segment = looked_at(coding, block, blockIdx.x * kWarps + (threadIdx.x >> 5), false);
    if (segment.rows) {
        const uint32_t *const parts = coding.histogram + block * kLevels;
        const uint8_t *const joint = coding.joint + row_place(segment);
        const uint32_t count = coding.coded[segment.number].tokens;
        uint32_t last = 0;
        for (uint32_t group = 0; group < groups_of(count); group++) {
            const uint32_t selector = parts[coding.levels[group_place(segment) + group]];
            const uint32_t i = group * kTokenGroup + lane;
            if (i < count) atomicAdd(&memory.tokens[selector][joint[i]], 1u);
            if (lane == 0) {
                atomicAdd(&memory.moves[last][selector], 1u);
                coding.choice[group_place(segment) + group] = uint8_t(selector);
            }
            last = selector;
        }
    }
    __syncthreads();
    add_tally(memory, &coding.tallies[block]);
}

struct RoundMemory {
    uint32_t prices[kJoint + 1][kPairs]; // of two selectors each; the last row stands for a missing token
    uint32_t selectors[kSelectors][kPairs];
    hybz_tally tally;
};

__global__ void __launch_bounds__(kThreads) rounds_kernel(LargeCoding coding, bool all) {
    __shared__ RoundMemory memory;
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, pair = lane % kPairs, quarter = lane / kPairs;
    const uint32_t *const prices = reinterpret_cast<const uint32_t *>(coding.prices + block);
    for (uint32_t w = threadIdx.x; w < sizeof(hybz_prices) / 4; w += kThreads) (&memory.prices[0][0])[w] = prices[w];
    clear_tally(memory.tally);
    __syncthreads();
    const CodingSegment segment = looked_at(coding, block, blockIdx.x * kWarps + (threadIdx.x >> 5), all);
    if (segment.rows) {
        const uint8_t *const joint = coding.joint + row_place(segment);
        const uint32_t count = coding.coded[segment.number].tokens;
        uint32_t last = 0, token = lane < count ? joint[lane] : kJoint;
        for (uint32_t group = 0; group < groups_of(count); group++) {
            const uint32_t i = (group + 1) * kTokenGroup + lane, next = i < count ? joint[i] : kJoint;
            // Two sums of less than 2^16 in a word.
            uint32_t sums = 0;
#pragma unroll
            for (uint32_t k = 0; k < kQuarter; k++)
                sums += memory.prices[__shfl_sync(~0u, token, quarter * kQuarter + k)][pair];
            sums += __shfl_xor_sync(~0u, sums, kPairs);
            sums += __shfl_xor_sync(~0u, sums, 2 * kPairs);
            sums += memory.selectors[last][pair];
            const uint32_t even = (sums & 0xffff) << 4 | (2 * pair), odd = (sums >> 16) << 4 | (2 * pair + 1);
            const uint32_t selector = __reduce_min_sync(~0u, min(even, odd)) % kSelectors;
            if (token < kJoint) atomicAdd(&memory.tally.tokens[selector][token], 1u);
            if (lane == 0) {
                atomicAdd(&memory.tally.moves[last][selector], 1u);
                coding.choice[group_place(segment) + group] = uint8_t(selector);
            }
            last = selector;
            token = next;
        }
    }
    __syncthreads();
    add_tally(memory.tally, &coding.tallies[block]);
}

} // namespace

cudaError_t first_choice(const LargeCoding &coding, const hybz_weights &weights, cudaStream_t stream) {
    const dim3 each(coding.most_segments, coding.blocks);
    const dim3 segments(blocks_for(coding.most_segments, kWarps), coding.blocks);
    counts_kernel<<<1, HYBZ_MAX_BLOCKS, 0, stream>>>(coding);
    levels_kernel<<<each, kThreads, 0, stream>>>(coding, weights);
    parts_kernel<<<coding.blocks, kLevels, 0, stream>>>(coding);
    firsts_kernel<<<segments, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

cudaError_t choose_again(const LargeCoding &coding, bool all, cudaStream_t stream) {
    const dim3 segments(blocks_for(coding.most_segments, kWarps), coding.blocks);
    rounds_kernel<<<segments, kThreads, 0, stream>>>(coding, all);
    return cudaGetLastError();
}

} // namespace hybz
