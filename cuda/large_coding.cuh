// large_coding.cuh: the shared declarations of the steps of coding `.hbz` blocks. They follow the sort (suffixes.cu),
// whose memory they reuse; docs/FORMAT.md specifies their output:
//
//   columns.cu   columns -> tokens           move-to-front; runs are cut where segments end
//   choose.cu    tokens -> tables            rounds of Lloyd's algorithm: one warp a segment
//   ans.cu       tokens -> segments          tANS, from the end: one warp a segment
//
// Segments are numbered through the batch, and arrays are indexed by a segment's rows: each token stands for at least
// one row. The host computes the prices of tokens and the shares of tables from the device's counts. So only the
// host's floating-point arithmetic matters, and cores and devices produce the same bytes.
#pragma once
#include "device.cuh"
#include "hybz.h"
#include "large.cuh"
#include "rank.cuh"
#include "scan.cuh"

namespace hybz {

constexpr uint32_t kCodingChunks = kSegmentRows / kChunk;
constexpr uint32_t kTokenGroup = 32; // tokens of one selector
constexpr uint32_t kSegmentGroups = kSegmentRows / kTokenGroup;
constexpr uint32_t kSelectors = HYBZ_LARGE_TABLES;
constexpr uint32_t kJoint = HYBZ_JOINT;
constexpr uint32_t kLevels = 1024; // of groups, for the first choice
constexpr uint32_t kMostBits = 17; // of a token: 11 of its state, 6 extra bits
// The number of words for a segment's bits: all tokens, a selector for each group, the initial states, and a spare
// word.
constexpr uint32_t kSegmentWords = (kSegmentRows * kMostBits + kSegmentGroups * HYBZ_SELECTOR_LOG + 30) / 32 + 2;
static_assert(kSegmentRows <= 1u << kIndexBits, "heads have a row of their segment");
static_assert(kTokenGroup == 32, "a token for each lane");

// A symbol's entry in a table: `bits` gives the number of bits that a state emits, `first` the position of the next
// states.
struct Symbol {
    uint32_t bits;
    int32_t first;
};

// Arrays are indexed by block, or by the number of a segment in the batch.
struct LargeCoding {
    uint32_t blocks;
    uint32_t max_rows;             // of the batch's blocks
    uint32_t most_segments;        // of a block
    uint32_t segments;             // of all
    uint32_t chunk_pitch;          // chunks of the longest
    const uint32_t *base;          // [0..blocks] a block's rows in the column, the mark's among them
    const uint32_t *first_segment; // [0..blocks]
    const uint8_t *column;         //
    const uint32_t *origin;        // [block] the row that is left out
    uint32_t *last;                // [block][chunk][256] 1 + the last row of each byte: in the chunk; then: before it
    Chunk *chunks;                 // [segment][chunk]
    uint8_t *order;                // [block][256] the bytes used, ascending
    uint32_t *heads;               // [segment][row] a chunk's from its first row on
    uint8_t *tokens;               // [segment][row]; then: with the class of the previous one
    uint8_t *extras;               // [segment][row] extra bits
    uint8_t *joint;                // [segment][row] tokens with the class of the previous token
    uint16_t *levels;              // [segment][group]
    uint8_t *choice;               // [segment][group] its selector
    hybz_tokens *about;            // [block] out
    hybz_tally *tallies;           // [block] out
    uint32_t *histogram;           // [block][kLevels]; then: the selector of each level
    const hybz_prices *prices;     // [block] in
    const hybz_shares *shares;     // [block] in
    Symbol *symbols;               // [block][selector][joint token]
    uint16_t *states;              // [block][selector][class][state]
    Symbol *selector_symbols;      // [block][previous selector][selector]
    uint16_t *selector_states;     // [block][previous selector][state]
    uint32_t *bits;                // [segment][kSegmentWords] the bits from the last one on
    hybz_coded_segment *coded;     // [segment] out
    uint32_t *offsets;             // [segment] the offset of its bytes
    uint8_t *out;                  // the segments' bytes
};

// A segment.
struct CodingSegment {
    uint32_t block, number; // of the batch's segments
    uint32_t from, rows;    // its first row of the block, and its number of rows
};

inline __device__ uint32_t rows_of(const LargeCoding &coding, uint32_t block) {
    return coding.base[block + 1] - coding.base[block] - 1;
}

// Segment `own` of a block; it has no rows if the block has no such segment.
inline __device__ CodingSegment segment_of(const LargeCoding &coding, uint32_t block, uint32_t own) {
    const uint32_t n = rows_of(coding, block), from = own * kSegmentRows;
    return {block, coding.first_segment[block] + own, from, from < n ? min(n - from, kSegmentRows) : 0};
}

inline __device__ uint64_t row_place(const CodingSegment &segment) { return uint64_t(segment.number) * kSegmentRows; }
inline __device__ uint64_t group_place(const CodingSegment &segment) {
    return uint64_t(segment.number) * kSegmentGroups;
}
inline __device__ uint32_t groups_of(uint32_t tokens) { return (tokens + kTokenGroup - 1) / kTokenGroup; }

// The steps, each in the file of its name. All are asynchronous, and return the launch's error.
cudaError_t make_tokens(const LargeCoding &coding, cudaStream_t stream);
// The histogram and the tallies must be zero before each.
cudaError_t first_choice(const LargeCoding &coding, const hybz_weights &weights, cudaStream_t stream);
cudaError_t choose_again(const LargeCoding &coding, bool all, cudaStream_t stream);
cudaError_t encode_segments(const LargeCoding &coding, cudaStream_t stream);

} // namespace hybz
