// model.hpp: what the twin (twin.cpp) and the kernels (*.cu) share: limits, what a position's matches are, zstd's
// codes and their prices. All in integers, so that both come to the same answers.
#pragma once
#include <cstdint>

#ifdef __CUDACC__
#define ZST_BOTH __host__ __device__ __forceinline__
#else
#define ZST_BOTH inline
#endif

namespace zst {

constexpr uint32_t kBlock = 1 << 17;  // a block of zstd's; its prices come from its own counts of the pass before
constexpr uint32_t kChunk = 1 << 13;  // parsed alone: no match crosses its end
constexpr uint32_t kPiece = 1 << 17;  // searched for short matches alone
constexpr uint32_t kCap = 1024;       // longest common prefix that is measured
constexpr uint32_t kReach = 32;       // rows of the suffix array looked at on each side
constexpr uint32_t kKept = 2;         // matches of a position from the suffix array
constexpr uint32_t kTables = 3;       // short matches: the last place with the same 3, 4, 6 bytes
constexpr uint32_t kNearCap = 64;     // their longest length
constexpr uint32_t kSlots = 4;        // matches of a position in all
constexpr uint32_t kHashLog = 14;
constexpr uint32_t kMinMatch = 3;
constexpr uint32_t kNice = 255;       // a match this long is taken at once; shorter ones are weighed
constexpr uint32_t kEvery = 34;       // every length up to this is weighed, and of longer matches the whole length
constexpr uint32_t kRing = kNice + 1; // nodes of the parse that may still change
constexpr uint32_t kPasses = 2;
constexpr uint32_t kPad = 32;         // zero bytes behind a text

// The matches of a position from the suffix array: how far back, how long (up to kCap; 0: none). The longest first,
// and each nearer than the one before.
struct alignas(32) Far {
    uint32_t offset[kKept];
    uint16_t length[kKept];
    uint32_t unused[5]; // a sector of memory
};

// The matches of a position that no other beats in length and nearness: far ones, then near ones of 6, 4, 3 bytes, as
// many as there is room for. `length` is up to kNice; longer ones are measured where they are taken.
struct Matches {
    uint32_t offset[kSlots];
    uint8_t length[kSlots];
};
// Whether match a makes b superfluous. `earlier`: a has the lower slot.
ZST_BOTH bool beats(uint32_t a_offset, uint32_t a_length, uint32_t b_offset, uint32_t b_length, bool earlier) {
    if (a_offset == b_offset) return a_length > b_length || (a_length == b_length && earlier);
    return a_offset < b_offset && a_length >= b_length;
}

// A sequence as the parse makes it. `code` is zstd's offset code; the offset's own bits follow from both.
struct Sequence {
    uint32_t offset_code; // code << 27 | offset
    uint16_t literals, length;
};
constexpr uint32_t kMostSequences = kChunk / kMinMatch + 1; // of a chunk
constexpr uint32_t kOffsetBits = 27;
constexpr uint32_t kOffsetMask = (1u << kOffsetBits) - 1;

ZST_BOTH uint32_t log2_of(uint32_t x) {
#ifdef __CUDA_ARCH__
    return 31 - __clz(x);
#else
    return 31 - uint32_t(__builtin_clz(x));
#endif
}

// zstd's codes of literal lengths and match lengths, and how many further bits follow a code.
ZST_BOTH uint32_t literals_code(uint32_t n) {
    if (n < 16) return n;
    if (n < 24) return 16 + (n - 16) / 2;
    if (n < 32) return 20 + (n - 24) / 4;
    if (n < 48) return 22 + (n - 32) / 8;
    if (n < 64) return 24;
    return log2_of(n) + 19;
}
ZST_BOTH uint32_t literals_bits(uint32_t code) {
    if (code < 16) return 0;
    if (code < 20) return 1;
    if (code < 22) return 2;
    if (code < 24) return 3;
    if (code < 25) return 4;
    return code - 19;
}
ZST_BOTH uint32_t length_code(uint32_t length) {
    const uint32_t n = length - kMinMatch;
    if (n < 32) return n;
    if (n < 40) return 32 + (n - 32) / 2;
    if (n < 48) return 36 + (n - 40) / 4;
    if (n < 64) return 38 + (n - 48) / 8;
    if (n < 96) return 40 + (n - 64) / 16;
    if (n < 128) return 42;
    return log2_of(n) + 36;
}
ZST_BOTH uint32_t length_bits(uint32_t code) {
    if (code < 32) return 0;
    if (code < 36) return 1;
    if (code < 38) return 2;
    if (code < 40) return 3;
    if (code < 42) return 4;
    if (code < 43) return 5;
    return code - 36;
}

// The hash of the next `bytes` bytes, of which `text` holds eight.
ZST_BOTH uint32_t hash_of(uint64_t text, uint32_t bytes) {
    return uint32_t((text << (64 - 8 * bytes)) * 0xCF1BBCDCB7A56463ull >> (64 - kHashLog));
}
ZST_BOTH uint32_t hashed_bytes(uint32_t table) { return table == 2 ? 6 : 3 + table; }

// A block's counts, and the prices that follow, in 256ths of a bit.
constexpr uint32_t kLiteralCodes = 36, kLengthCodes = 53, kOffsetCodes = 32;
struct Counts {
    uint32_t literal[256], literals[kLiteralCodes], length[kLengthCodes], offset[kOffsetCodes];
};
constexpr uint32_t kShortRun = 64;
struct Prices {
    uint16_t literal[256];
    uint16_t length[kNice + 1];    // by match length; with kSequencePrice and that of no literals
    uint16_t offset[kOffsetCodes]; // by code
    uint16_t run[kShortRun];       // by literal length; the last one's is that of all longer ones
};

// 256 times the logarithm, linear between powers of two (as zstd's own parser has it).
ZST_BOTH uint32_t weight(uint32_t count) {
    const uint32_t x = count + 1, high = log2_of(x);
    return (high << 8) + uint32_t(((uint64_t(x) << 8) >> high));
}
constexpr uint32_t kSharpness = 4; // a count of n weighs as kSharpness * n + 1
ZST_BOTH uint32_t price(uint32_t total, uint32_t symbols, uint32_t count) {
    return weight(total * kSharpness + symbols) - weight(count * kSharpness + 1);
}
constexpr uint32_t kSequencePrice = 50; // of a match besides its codes: few sequences are quick to decode
ZST_BOTH uint32_t run_price(const Prices &prices, uint32_t n) { return prices.run[n < kShortRun ? n : kShortRun - 1]; }

// The counts of the first pass: those of four passes over four texts, mixed. Zstd's own first guess, flatter, cost
// 0.5 % more bytes after two passes.
constexpr uint16_t kFirstLiterals[kLiteralCodes] = {600, 180, 90, 45, 24, 13, 7, 5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1,
                                                    1,   1,   1,  1,  1,  1,  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
constexpr uint16_t kFirstLength[kLengthCodes] = {50, 50, 60, 95, 70, 65, 60, 55, 50, 50, 40, 32, 28, 25,
                                                 25, 20, 16, 14, 12, 10, 8,  8,  6,  6,  6,  5,  4,  4,
                                                 4,  3,  3,  8,  5,  5,  4,  5,  4,  5,  5,  6,  6,  4,
                                                 3,  3,  2,  1,  1,  1,  1,  1,  1,  1,  1};
constexpr uint16_t kFirstOffset[kOffsetCodes] = {90, 20, 2,  10, 25, 30, 30, 30, 30, 30, 32, 34, 36, 40, 45, 55,
                                                 70, 90, 90, 90, 75, 55, 20, 5,  2,  1,  1,  1,  1,  1,  1,  1};

// The last three offsets, and how a match changes them.
struct Last {
    uint32_t offset[3];
};
// The offset that repeating number k (0..2) stands for; 0: none. After literals number 0 is the last one; after none,
// the last but one.
ZST_BOTH uint32_t repeated(const Last &last, uint32_t k, bool no_literals) {
    if (!no_literals) return last.offset[k];
    return k < 2 ? last.offset[k + 1] : last.offset[0] - 1;
}
ZST_BOTH uint32_t repeat_code(uint32_t k) { return k == 0 ? 0 : 1; }
ZST_BOTH uint32_t offset_code(uint32_t offset) { return log2_of(offset + 3); }
// What the parse knows at the end of a chunk, and begins the next one with in the next pass.
struct State {
    Last last;
    uint32_t run; // literals since the last match
};
// The update by offset alone agrees with zstd's by code.
ZST_BOTH Last after(const Last &last, uint32_t offset) {
    if (offset == last.offset[0]) return last;
    if (offset == last.offset[1]) return Last{{offset, last.offset[0], last.offset[2]}};
    return Last{{offset, last.offset[0], last.offset[1]}};
}

} // namespace zst
