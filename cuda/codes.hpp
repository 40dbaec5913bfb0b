// codes.hpp: order-preserving codes, with which a sort key of 48 bits holds more than 6 bytes of the text.
//
// A rotation's key has the code of its first symbol, then the code of each next symbol given the symbol before it, and
// is cut off at some number of bits. Every table (one per preceding symbol) is an alphabetic prefix code: its code
// words, read as binary fractions, are in the order of the symbols. Two rotations that agree up to some symbol are in
// the same context there, so at their first difference both use the same table: the order of the bit strings is the
// order of the rotations, and equal keys agree on every symbol that is complete in them. 40 such bits tie as few
// rotations of source code as 64 bits of raw text do (docs/ALGORITHMS.md, "Order-preserving coded keys").
//
// Any table is correct; a good one ties fewer rotations. Each table splits its symbols in two halves of nearly equal
// weight, again and again (within 2 bits of the entropy; the optimum of Hu and Tucker 1971 saves little and takes more
// time). Counts come from a 1/32 sample of the batch: 4 ms of CPU time for 230 MB. Code words have 1 to 20 bits, never
// 0: a symbol without bits would leave the number of symbols in a key unbounded.
#pragma once
#include "tuned.hpp"
#include <cstddef>
#include <cstdint>
#include <vector>

// line_table.cu splits its tables on the device.
#ifdef __CUDACC__
#define HYBZ_BOTH __host__ __device__
#else
#define HYBZ_BOTH
#endif

namespace hybz {

constexpr int kMaxCode = 20; // bits of a code word
// Entries of the whole table: 256 contexts, then one table without context for a key's first symbol.
constexpr size_t kTableEntries = 257 * 256;

// One code word: the low 5 bits are its length, and its bits are above them.
HYBZ_BOTH inline uint32_t code_entry(uint32_t bits, int length) { return bits << 5 | uint32_t(length); }

HYBZ_BOTH constexpr int ceil_log2(int n) {
    int bits = 0;
    while ((1 << bits) < n) bits++;
    return bits;
}

// The boundary at which a node of this depth divides its symbols [from, to); sums[i] is the weight of the symbols
// before i.
template <class Sum>
HYBZ_BOTH inline int split_at(const Sum *sums, int from, int to, int depth, int max_code) {
    if (depth + 1 + ceil_log2(to - from - 1) > max_code) return (from + to) / 2;
    // The first boundary with at least half of the weight before it, or the one before that, whichever is nearer.
    const Sum twice_half = sums[from] + sums[to];
    int low = from + 1, high = to - 1;
    while (low < high) {
        const int m = (low + high) / 2;
        if (2 * sums[m] >= twice_half) high = m;
        else low = m + 1;
    }
    return low - 1 > from && twice_half - 2 * sums[low - 1] < 2 * sums[low] - twice_half ? low - 1 : low;
}

// Codes for symbols [from, to) below the node `bits` of depth `depth`.
inline void split_codes(const uint64_t *sums, int from, int to, uint32_t bits, int depth, int max_code,
                        uint32_t *table) {
    while (to - from > 1) {
        const int middle = split_at(sums, from, to, depth, max_code);
        depth++;
        split_codes(sums, from, middle, bits << 1, depth, max_code, table);
        bits = bits << 1 | 1;
        from = middle;
    }
    table[from] = code_entry(bits, depth);
}

// How often each byte follows each byte, in a sample of the text: [256 * byte before + byte].
inline std::vector<uint32_t> count_pairs(const uint8_t *text, size_t size) {
    std::vector<uint32_t> pairs(256 * 256, 0);
    const size_t piece = 1024;
    const size_t step = size > (size_t(1) << 20) ? 32 * piece : piece;
    for (size_t from = 0; from < size; from += step) {
        const size_t to = from + piece < size ? from + piece : size;
        for (size_t i = from + 1; i < to; i++) pairs[size_t(text[i - 1]) << 8 | text[i]]++;
    }
    return pairs;
}

// Builds the table of a batch from its text [0..size-1], the blocks back to back. In each context, `marks` symbols that
// the text does not contain come before the bytes (suffixes have an end mark): table [0..257*(256+marks)-1]. No code
// word has more than max_code bits.
inline void code_table(const uint8_t *text, size_t size, uint32_t *table, int marks = 0, int max_code = kMaxCode) {
    const std::vector<uint32_t> pairs = count_pairs(text, size);
    const int symbols = 256 + marks;
    std::vector<uint32_t> unseen(static_cast<size_t>(symbols)); // the table of a context that the sample lacks
    std::vector<uint64_t> sums(static_cast<size_t>(symbols) + 1, 0);
    for (int s = 0; s < 256; s++) sums[size_t(marks + s + 1)] = uint64_t(s + 1);
    split_codes(sums.data(), 0, symbols, 0, 0, max_code, unseen.data());
    uint64_t single[256] = {};
    for (int context = 0; context < 256; context++) {
        const uint32_t *counts = pairs.data() + 256 * context;
        uint64_t *sum = sums.data() + marks;
        for (int s = 0; s < 256; s++) {
            sum[s + 1] = sum[s] + 16 * uint64_t(counts[s]) + 1;
            single[s] += counts[s];
        }
        uint32_t *out = table + symbols * context;
        if (sum[256] == 256) {
            for (int s = 0; s < symbols; s++) out[s] = unseen[size_t(s)];
        } else {
            split_codes(sums.data(), 0, symbols, 0, 0, max_code, out);
        }
    }
    for (int s = 0; s < 256; s++) sums[size_t(marks + s + 1)] = sums[size_t(marks + s)] + 16 * single[s] + 1;
    split_codes(sums.data(), 0, symbols, 0, 0, max_code, table + symbols * 256);
}

// The layout of a batch's sort keys: block id, code bits, and below them the number of complete symbols, which the
// sort ignores.
struct KeyLayout {
    int block_bits; // at the top
    int code_bits;  // below them
    int unused;     // the rest, of which the low 7 bits hold the number of complete symbols

    explicit KeyLayout(uint32_t blocks, int sort_bits = kSortBits) {
        block_bits = ceil_log2(int(blocks));
        if (block_bits == 0) block_bits = 1;
        code_bits = sort_bits - block_bits;
        unused = 64 - sort_bits;
    }
};

} // namespace hybz
