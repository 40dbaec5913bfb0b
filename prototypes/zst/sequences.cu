// sequences.cu: from the parse's ways to sequences, and from these to the next pass's prices.
#include "steps.cuh"

namespace zst {

namespace {

constexpr uint32_t kTraceThreads = 32; // few for each CTA: there are only thousands of chunks
constexpr uint32_t kCountThreads = kChunksOfBlock * 32;

// A thread a chunk: from its end back to its beginning.
__global__ void __launch_bounds__(kTraceThreads)
trace_kernel(Way way, uint32_t n, Sequence *__restrict__ sequences, uint32_t *counts, uint32_t *tails) {
    const uint32_t chunk = blockIdx.x * kTraceThreads + threadIdx.x;
    const uint32_t begin = chunk * kChunk;
    if (begin >= n) return;
    uint32_t i = min(n, begin + kChunk);
    Sequence *out = sequences + uint64_t(chunk + 1) * kMostSequences;
    uint32_t word = way.word[i - 1], length = way.length[i - 1], count = 0;
    // Goes back over the literals that end at i, if any do, to what they follow.
    const auto literals = [&] {
        const uint32_t run = length ? 0 : min(word, i - begin);
        i -= run;
        if (run && i > begin) word = way.word[i - 1], length = way.length[i - 1];
        return run;
    };
    tails[chunk] = literals();
    while (i > begin) {
        Sequence sequence{word, 0, uint16_t(length)};
        i -= length;
        if (i > begin) word = way.word[i - 1], length = way.length[i - 1], sequence.literals = uint16_t(literals());
        *--out = sequence;
        count++;
    }
    counts[chunk] = count;
}

// Prices from counts, by the whole CTA.
__device__ void set_prices(const Counts &counts, uint32_t (&sums)[4], Prices *prices) {
    const uint32_t t = threadIdx.x;
    if (t < 4) sums[t] = 0;
    __syncthreads();
    if (t < 256) atomicAdd(&sums[0], counts.literal[t]);
    if (t < kLiteralCodes) atomicAdd(&sums[1], counts.literals[t]);
    if (t < kLengthCodes) atomicAdd(&sums[2], counts.length[t]);
    if (t < kOffsetCodes) atomicAdd(&sums[3], counts.offset[t]);
    __syncthreads();
    if (t < 256) {
        prices->literal[t] = uint16_t(price(sums[0], 256, counts.literal[t]));
        const uint32_t code = t < kMinMatch ? 0 : length_code(t);
        const uint32_t bits = price(sums[2], kLengthCodes, counts.length[code]) + (length_bits(code) << 8);
        const uint32_t no_literals = price(sums[1], kLiteralCodes, counts.literals[0]);
        prices->length[t] = t < kMinMatch ? 0 : uint16_t(bits + no_literals + kSequencePrice);
    }
    if (t < kShortRun) {
        const uint32_t code = literals_code(t);
        const uint32_t bits = price(sums[1], kLiteralCodes, counts.literals[code]) + (literals_bits(code) << 8);
        prices->run[t] = uint16_t(bits);
    }
    if (t < kOffsetCodes) prices->offset[t] = uint16_t(price(sums[3], kOffsetCodes, counts.offset[t]) + (t << 8));
}
static_assert(kNice == 255, "a thread for each length");

__device__ void clear(Counts &counts) {
    uint32_t *all = reinterpret_cast<uint32_t *>(&counts);
    for (uint32_t k = threadIdx.x; k < sizeof counts / 4; k += kCountThreads) all[k] = 0;
    __syncthreads();
}

struct FirstCounts {
    uint16_t literals[kLiteralCodes], length[kLengthCodes], offset[kOffsetCodes];
};

__global__ void __launch_bounds__(kCountThreads)
first_prices_kernel(const uint8_t *__restrict__ text, uint32_t n, FirstCounts first, Prices *__restrict__ prices) {
    __shared__ Counts counts;
    __shared__ uint32_t sums[4];
    clear(counts);
    const uint32_t begin = blockIdx.x * kBlock, end = min(n, begin + kBlock);
    for (uint32_t i = begin + threadIdx.x; i < end; i += kCountThreads) atomicAdd(&counts.literal[text[i]], 1u);
    const uint32_t t = threadIdx.x;
    if (t < kLiteralCodes) counts.literals[t] = first.literals[t];
    if (t < kLengthCodes) counts.length[t] = first.length[t];
    if (t < kOffsetCodes) counts.offset[t] = first.offset[t];
    __syncthreads();
    set_prices(counts, sums, prices + blockIdx.x);
}

// A CTA a block, a warp a chunk, 32 sequences a step.
__global__ void __launch_bounds__(kCountThreads)
prices_kernel(const uint8_t *__restrict__ text, uint32_t n, const Sequence *__restrict__ sequences,
              const uint32_t *__restrict__ chunk_counts, const uint32_t *__restrict__ tails,
              Prices *__restrict__ prices) {
    __shared__ Counts counts;
    __shared__ uint32_t sums[4];
    clear(counts);
    const uint32_t lane = threadIdx.x & 31, chunk = blockIdx.x * kChunksOfBlock + threadIdx.x / 32;
    if (chunk * kChunk < n) {
        const uint32_t count = chunk_counts[chunk], tail = tails[chunk];
        const Sequence *own = sequences + uint64_t(chunk + 1) * kMostSequences - count;
        uint32_t at = chunk * kChunk;
        // The chunk's literals behind its last sequence come as one more.
        for (uint32_t from = 0; from <= count; from += 32) {
            const uint32_t k = from + lane;
            const Sequence s = k < count ? own[k] : Sequence{0, uint16_t(k == count ? tail : 0), 0};
            uint32_t place = s.literals + s.length;
            for (uint32_t d = 1; d < 32; d *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, place, d);
                if (lane >= d) place += other;
            }
            const uint32_t end = at + place;
            at = __shfl_sync(~0u, end, 31);
            const uint32_t begin = end - s.length - s.literals;
            if (k < count) {
                const uint32_t before = k == 0 && threadIdx.x >= 32 ? tails[chunk - 1] : 0;
                atomicAdd(&counts.literals[literals_code(before + s.literals)], 1u);
                atomicAdd(&counts.length[length_code(s.length)], 1u);
                atomicAdd(&counts.offset[s.offset_code >> kOffsetBits], 1u);
            }
            const bool many = s.literals > 32;
            if (!many)
                for (uint32_t j = 0; j < s.literals; j++) atomicAdd(&counts.literal[text[begin + j]], 1u);
            for (uint32_t rest = __ballot_sync(~0u, many); rest; rest &= rest - 1) {
                const uint32_t who = __ffs(rest) - 1;
                const uint32_t first = __shfl_sync(~0u, begin, who), all = __shfl_sync(~0u, uint32_t(s.literals), who);
                for (uint32_t j = lane; j < all; j += 32) atomicAdd(&counts.literal[text[first + j]], 1u);
            }
        }
    }
    __syncthreads();
    set_prices(counts, sums, prices + blockIdx.x);
}

__global__ void __launch_bounds__(256) starts_kernel(const State *__restrict__ ends, uint32_t chunks, State *starts) {
    const uint32_t chunk = blockIdx.x * 256 + threadIdx.x;
    if (chunk >= chunks) return;
    State start{{{1, 4, 8}}, 0};
    if (ends && chunk) start = ends[chunk - 1];
    if (chunk % kChunksOfBlock == 0) start.run = 0;
    starts[chunk] = start;
}

// One CTA adds up all counts.
__global__ void __launch_bounds__(1024)
places_kernel(const uint32_t *__restrict__ counts, uint32_t chunks, uint32_t *places) {
    __shared__ uint32_t of_warp[32];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    uint32_t all = 0;
    for (uint32_t from = 0; from < chunks; from += 1024) {
        const uint32_t k = from + threadIdx.x;
        const uint32_t own = k < chunks ? counts[k] : 0;
        uint32_t sum = own;
        for (uint32_t d = 1; d < 32; d *= 2) {
            const uint32_t other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += other;
        }
        if (lane == 31) of_warp[warp] = sum;
        __syncthreads();
        uint32_t before = 0, total = 0;
        for (uint32_t w = 0; w < 32; w++) {
            if (w < warp) before += of_warp[w];
            total += of_warp[w];
        }
        if (k < chunks) places[k] = all + before + sum - own;
        all += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) places[chunks] = all;
}

__global__ void __launch_bounds__(256)
pack_kernel(const Sequence *__restrict__ sequences, const uint32_t *__restrict__ counts,
            const uint32_t *__restrict__ places, uint32_t chunks, Sequence *__restrict__ packed) {
    const uint32_t chunk = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (chunk >= chunks) return;
    const uint32_t count = counts[chunk];
    const Sequence *own = sequences + uint64_t(chunk + 1) * kMostSequences - count;
    for (uint32_t k = lane; k < count; k += 32) packed[places[chunk] + k] = own[k];
}

} // namespace

cudaError_t first_prices(const uint8_t *text, uint32_t n, Prices *prices, cudaStream_t stream) {
    FirstCounts first;
    for (uint32_t k = 0; k < kLiteralCodes; k++) first.literals[k] = kFirstLiterals[k];
    for (uint32_t k = 0; k < kLengthCodes; k++) first.length[k] = kFirstLength[k];
    for (uint32_t k = 0; k < kOffsetCodes; k++) first.offset[k] = kFirstOffset[k];
    first_prices_kernel<<<blocks_of(n), kCountThreads, 0, stream>>>(text, n, first, prices);
    return cudaGetLastError();
}

cudaError_t trace_ways(Way way, uint32_t n, Sequence *sequences, uint32_t *counts, uint32_t *tails,
                       cudaStream_t stream) {
    const uint32_t grid = (chunks_of(n) + kTraceThreads - 1) / kTraceThreads;
    trace_kernel<<<grid, kTraceThreads, 0, stream>>>(way, n, sequences, counts, tails);
    return cudaGetLastError();
}

cudaError_t find_prices(const uint8_t *text, uint32_t n, const Sequence *sequences, const uint32_t *counts,
                        const uint32_t *tails, Prices *prices, cudaStream_t stream) {
    prices_kernel<<<blocks_of(n), kCountThreads, 0, stream>>>(text, n, sequences, counts, tails, prices);
    return cudaGetLastError();
}

cudaError_t find_starts(const State *ends, uint32_t n, State *starts, cudaStream_t stream) {
    starts_kernel<<<(chunks_of(n) + 255) / 256, 256, 0, stream>>>(ends, chunks_of(n), starts);
    return cudaGetLastError();
}

cudaError_t pack_sequences(const Sequence *sequences, const uint32_t *counts, uint32_t n, uint32_t *places,
                           Sequence *packed, cudaStream_t stream) {
    const uint32_t chunks = chunks_of(n);
    places_kernel<<<1, 1024, 0, stream>>>(counts, chunks, places);
    pack_kernel<<<(chunks + 7) / 8, 256, 0, stream>>>(sequences, counts, places, chunks, packed);
    return cudaGetLastError();
}

} // namespace zst
