// keys.cu: the sort key of every rotation: block id, then the text in order-preserving code (codes.hpp explains it).
//
// One CTA handles kKeyTile rotations of one block: it looks up the code word of each of their symbols and of the kAhead
// symbols after them (each in the context of the symbol before it, cyclically), once, into shared memory; then each
// thread packs code words until its key is full: 8 to 16 steps on text. Looking up costs one read of a 256 KB table, of
// which text uses a small part; packing takes about 6 instructions a step.
//
// The keys of suffixes (of a text and an end mark below all bytes) are made in the same way, with one more symbol in
// each context. A suffix ends with the mark, and a key that contains the mark is unique.
//
// Twin: simulate() in sim/sim.hpp, first loop.
#include "keys.cuh"

namespace hybz {

namespace {

constexpr uint32_t kKeyTile = 1024;

__global__ void __launch_bounds__(kThreads)
make_keys_kernel(Batch batch, const uint32_t *__restrict__ table, KeyLayout layout, uint64_t *__restrict__ keys,
                 uint32_t *__restrict__ values) {
    __shared__ uint32_t words[kKeyTile + kAhead];
    const uint32_t block = blockIdx.y;
    const uint32_t base = batch.base[block];
    const uint32_t n = batch.base[block + 1] - base;
    const uint32_t first = blockIdx.x * kKeyTile;
    if (first >= n) return;
    const uint8_t *text = batch.text + base;
    const uint32_t count = min(kKeyTile, n - first);
    for (uint32_t t = threadIdx.x; t < count + kAhead; t += kThreads) {
        uint32_t i = first + t;
        if (i >= n) i -= n; // n >= kAhead
        const uint32_t before = text[i == 0 ? n - 1 : i - 1];
        words[t] = table[before << 8 | text[i]];
    }
    __syncthreads();
    for (uint32_t t = threadIdx.x; t < count; t += kThreads) {
        const uint32_t i = first + t;
        const uint32_t before = text[i == 0 ? n - 1 : i - 1];
        keys[base + i] = rotation_key(table, text[i], block, layout, [&](uint32_t k) { return words[t + k]; });
        values[base + i] = i | before << kIndexBits;
    }
}

// With kSample, only positions in the sample of thirds.cu, numbered without gaps; otherwise all positions.
template <bool kSample>
__global__ void __launch_bounds__(kThreads)
suffix_keys_kernel(Batch batch, const uint32_t *__restrict__ text_base, const uint32_t *__restrict__ table,
                   KeyLayout layout, uint64_t *__restrict__ keys, uint32_t *__restrict__ values) {
    __shared__ uint32_t words[kKeyTile + kAhead];
    const uint32_t block = blockIdx.y;
    const uint32_t from = text_base[block];
    const uint32_t n = text_base[block + 1] - from;
    const uint32_t first = blockIdx.x * kKeyTile;
    if (first > n) return;
    const uint8_t *text = batch.text + from;
    const uint32_t count = min(kKeyTile, n + 1 - first);
    for (uint32_t t = threadIdx.x; t < count + kAhead; t += kThreads) {
        const uint32_t i = first + t;
        if (i > n) break;
        const uint32_t before = text[i == 0 ? n - 1 : i - 1];
        words[t] = table[before * kMarkedSymbols + (i < n ? text[i] + 1u : 0u)];
    }
    __syncthreads();
    for (uint32_t t = threadIdx.x; t < count; t += kThreads) {
        const uint32_t i = first + t;
        if (kSample && i % 3 == 0) continue;
        const uint32_t word = table[256 * kMarkedSymbols + (i < n ? text[i] + 1u : 0u)];
        const Packed packed = pack<true>(word, layout.code_bits, n - i, [&](uint32_t k) { return words[t + k]; });
        const uint32_t number = kSample ? number_of(i) : i;
        const uint32_t at = batch.base[block] + number;
        const uint32_t complete = kSample ? packed.complete / 3 * 2 : packed.complete;
        keys[at] = key_of(packed, block, layout) | complete;
        values[at] = number;
    }
}

} // namespace

cudaError_t make_keys(const Batch &batch, const uint32_t *table, const KeyLayout &layout, uint32_t max_length,
                      uint64_t *keys, uint32_t *values, cudaStream_t stream) {
    const dim3 grid(blocks_for(max_length, kKeyTile), batch.blocks);
    make_keys_kernel<<<grid, kThreads, 0, stream>>>(batch, table, layout, keys, values);
    return cudaGetLastError();
}

cudaError_t suffix_keys(const Batch &batch, const uint32_t *text_base, bool sample, const uint32_t *table,
                        const KeyLayout &layout, uint32_t max_length, uint64_t *keys, uint32_t *values,
                        cudaStream_t stream) {
    const auto kernel = sample ? suffix_keys_kernel<true> : suffix_keys_kernel<false>;
    const dim3 grid(blocks_for(uint64_t(max_length) + 1, kKeyTile), batch.blocks);
    kernel<<<grid, kThreads, 0, stream>>>(batch, text_base, table, layout, keys, values);
    return cudaGetLastError();
}

} // namespace hybz
