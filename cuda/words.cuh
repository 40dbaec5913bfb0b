// words.cuh: bits that one thread of a warp reads sequentially, from words that the whole warp has loaded into shared
// memory. Loads from global memory in the decoding loop took twice the time (huffman.cu).
#pragma once
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

// Registers hold 96 bits, of which `have` are valid, and the word after them. A look-up waits for `high` only: the
// next words are needed 30 bits later, so `refill` may take as long as the next look-up.
struct Bits {
    const uint32_t *words; // in shared memory
    uint32_t at = 0;       // the index of the word in `next`, among those
    uint32_t high = 0, middle = 0, low = 0, next = 0;
    uint32_t have = 0; // 65 to 96 after `refill`

    __device__ void begin(uint32_t bit) {
        at = bit / 32 + 3;
        high = __funnelshift_l(words[at - 2], words[at - 3], bit);
        middle = __funnelshift_l(words[at - 1], words[at - 2], bit);
        low = words[at - 1] << bit % 32;
        next = words[at];
        have = 96 - bit % 32;
    }
    // The next 32 bits, all of them valid.
    __device__ uint32_t peek() const { return high; }
    // Skips at most 31 bits, by the lowest five bits of `count`: this is the only instruction between a look-up and
    // the next one's address. The caller updates `have`.
    __device__ void shift(uint32_t count) {
        high = __funnelshift_l(middle, high, count);
        middle = __funnelshift_l(low, middle, count);
        low = __funnelshift_l(0, low, count);
    }
    // After at most 32 bits.
    __device__ void refill() {
        const bool wanted = have <= 64; // then nothing valid is in `low`
        middle = wanted && have < 64 ? middle | next >> (have - 32) : middle;
        low = wanted ? __funnelshift_l(0, next, 64 - have) : low;
        at += wanted;
        have += wanted ? 32 : 0;
        next = words[at];
    }
    __device__ void skip(uint32_t count) {
        shift(count);
        have -= count;
        refill();
    }
    // The number in the next bits, at most 31.
    __device__ uint32_t read(uint32_t count) {
        const uint32_t value = peek() >> 1 >> (31 - count);
        skip(count);
        return value;
    }
    __device__ uint32_t position() const { return at * 32 - have; }
};

// Loads the words from number `first` up to `end`, as many as fit; the rest are zeros.
template <uint32_t kWords>
__device__ void load_words(uint32_t (&to)[kWords], const uint32_t *words, uint32_t first, uint32_t end) {
    for (uint32_t i = threadIdx.x & 31; i < kWords; i += 32)
        to[i] = first + i < end ? __byte_perm(words[first + i], 0, 0x0123) : 0;
}

} // namespace hybz
