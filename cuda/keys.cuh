// keys.cuh: a sort key from code words, for keys.cu and sample_sort.cu.
#pragma once
#include "device.cuh"

namespace hybz {

constexpr uint32_t kAhead = 64; // a key of 56 bits of code has at most 57 symbols, the last one incomplete
static_assert(kLongSortBits - 1 < int(kAhead) && kSortBits <= kLongSortBits && kAhead <= HYBZ_MIN_LENGTH);

// Code words, one after another from the topmost bit on, and the number of them that are complete within the key's
// bits.
struct Packed {
    uint64_t bits;
    uint32_t complete;
};

// The first symbol's word is given, those of the others are word_at(1), word_at(2), ... kMarked: `left` symbols come
// before the end mark; a key that contains the mark is unique.
template <bool kMarked, class WordAt>
__device__ __forceinline__ Packed pack(uint32_t word, int code_bits, uint32_t left, WordAt word_at) {
    Packed packed{0, 0};
    int length = 0;
    for (;;) {
        const int size = int(word & 31);
        const int shift = 64 - length - size;
        const uint64_t code = word >> 5;
        packed.bits |= shift >= 0 ? code << shift : code >> -shift;
        length += size;
        if (length > code_bits) break;
        packed.complete++;
        if (kMarked && packed.complete > left) break;
        word = word_at(packed.complete);
    }
    return packed;
}

// The part of a key that is sorted by; the number of complete symbols goes below it.
__device__ __forceinline__ uint64_t key_of(const Packed &packed, uint32_t block, const KeyLayout &layout) {
    return uint64_t(block) << (64 - layout.block_bits) |
           packed.bits >> (64 - layout.code_bits) << (64 - layout.block_bits - layout.code_bits);
}

// The key of a rotation that begins with the byte `first`.
template <class WordAt>
__device__ __forceinline__ uint64_t rotation_key(const uint32_t *__restrict__ table, uint32_t first, uint32_t block,
                                                 const KeyLayout &layout, WordAt word_at) {
    const Packed packed = pack<false>(table[65536 + first], layout.code_bits, 0, word_at);
    return key_of(packed, block, layout) | packed.complete;
}

// The number of sorted keys that are smaller than this one; it is `from` at least, and `to` at most.
__device__ __forceinline__ uint32_t count_smaller(const uint64_t *sorted, uint32_t from, uint32_t to, uint64_t key) {
    while (from < to) {
        const uint32_t middle = (from + to) / 2;
        if (sorted[middle] < key) from = middle + 1;
        else to = middle;
    }
    return from;
}

} // namespace hybz
