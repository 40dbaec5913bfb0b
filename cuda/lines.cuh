// lines.cuh: the device memory and the steps of sorting lines: sort_lines.cu runs all of them, line_table.cu,
// find_lines.cu, line_keys.cu, tied_lines.cu and copy_lines.cu one each.
//
// The text consists of ranges of lines, back to back; a line is some bytes and the end byte, and each range ends with
// a whole line. A line is numbered in the order of the text, a row in the order of the result. Within a range both
// begin at the same number, because ranges are not mixed: a range's rows are its lines.
//
// Algorithm: Deshpande 2014, chapter 4, with hybz's keys. Every line has a key: its range, and its first characters in
// an order-preserving code (codes.hpp) in which the end of a line comes before all bytes. After one radix sort of all
// keys, lines with unique keys are final, and so are equal lines whose keys hold the whole line. Small groups of other
// lines are sorted immediately (tied_lines.cu). The rest is sorted again and again by (number of the group, next
// characters in code), where a group first skips its lines' common prefix. The number takes as few bits as the number
// of groups allows, and the code gets the remaining bits.
#pragma once
#include "codes.hpp"
#include "device.cuh"
#include "hybz.h"

namespace hybz {

// Lines that are tied after a round, in the order of their rows, so that a group's lines are adjacent.
struct TiedLines {
    uint32_t *line, *row;
    uint32_t *group; // its number, from 0
};

struct SortingLines {
    uint8_t *text, *sorted;     // with kLinePadding bytes after them
    uint32_t *range_begin;      // [0..ranges] the first byte of each range
    uint32_t *range_line;       // [0..ranges] its first line
    uint32_t *range_end;        // [0..ranges-1] out: where its sorted text ends
    uint32_t *pairs, *table;    // how often bytes follow each other; code words
    uint32_t *tiles;            // ends of lines up to and including each tile; later: the first row of each
    uint32_t *begin;            // [0..lines] the first byte of each line
    SortBuffers sort;
    uint32_t *starts;           // where the run of equal keys begins; later: the first byte of each row's line
    uint32_t *order;            // [row] its line
    uint8_t *same;              // [row] whether its line equals the one before
    uint64_t *places;           // lines that are still tied, and groups in the upper half, up to and including each
    TiedLines tied[2];          // two generations; `line` and `group` are the same memory in both
    uint32_t *first;            // [group] its first place in the list
    uint32_t *depth;            // [group] bytes that its lines certainly have in common
    uint32_t *common;           // [group] how many more bytes, ~0 for a single line; at first: [range]
    uint32_t *keyed;            // [group] the byte from which its lines have keys; at first: [range]
    uint32_t *out_end;          // [row] where its line ends in the sorted text
    uint32_t *flags;            // [kBadRange], [kTied], [kUsedBits]
    uint8_t *temporary;         // CUB's
    size_t temporary_bytes;     // a scan without memory sets the bytes that it needs
};

// Numbers for the host: not 0 if a range does not end with a line; lines that are tied after the first sort; the number
// of leading bits that the first keys use. Lines of few short words use few bits, so the radix sort has fewer passes.
enum { kBadRange, kTied, kUsedBits, kLineFlags };

constexpr uint32_t kLinePadding = 16;
constexpr size_t kPairs = 256 * 256;
constexpr uint32_t kLineTile = 4096; // bytes of text for a CTA, 16 for each thread
static_assert(kLineTile == kThreads * 16, "16 bytes a thread");

// A batch as kernels see it.
struct LineBatch {
    uint32_t ranges, bytes, lines;
    uint32_t end;   // the end byte
    uint32_t flags; // HYBZ_LINES_...
};

// The range of a line: the last one that begins at or before the line.
inline __device__ uint32_t range_of(const SortingLines &s, const LineBatch &batch, uint32_t line) {
    return lower_bound(s.range_line + 1, batch.ranges, line + 1);
}

// The length, at most `limit`, of the common prefix of lines `a` and `b` after their first `depth` bytes.
inline __device__ uint32_t common_bytes_of(const SortingLines &s, uint32_t a, uint32_t b, uint32_t depth,
                                           uint32_t limit) {
    const uint32_t from_a = s.begin[a] + depth, from_b = s.begin[b] + depth;
    const uint32_t most = min(min(s.begin[a + 1] - 1 - from_a, s.begin[b + 1] - 1 - from_b), limit);
    for (uint32_t i = 0; i < most; i += 8) {
        const uint64_t other = bytes_at(s.text, from_a + i) ^ bytes_at(s.text, from_b + i);
        if (other) return min(i + uint32_t(__ffsll(static_cast<long long>(other)) - 1) / 8, most);
    }
    return most;
}

// Each lane of a warp lowers common[number] to `mine`, or does nothing if its `number` is ~0. A warp with equal
// numbers writes once: when all threads wrote, those of the first wave met at one address, and keys took 0.25 ms
// longer.
inline __device__ void lower_common(uint32_t *common, uint32_t number, uint32_t mine) {
    const bool alike = __reduce_min_sync(~0u, number) == __reduce_max_sync(~0u, number);
    if (alike) mine = __reduce_min_sync(~0u, mine);
    if (number == ~0u || (alike && threadIdx.x % 32 != 0)) return;
    if (mine < common[number]) atomicMin(&common[number], mine);
}

// line_table.cu
cudaError_t line_table(const SortingLines &s, const LineBatch &batch, cudaStream_t stream);
// find_lines.cu
cudaError_t count_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream);
cudaError_t find_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream);
// line_keys.cu: the keys of all lines, and those of `count` tied lines of generation `from`. A key begins with the
// number of the range or group, and the code follows. The sort ignores the low 8 bits; they are 0 if the key holds the
// whole line. To be called before the first keys: finds the common prefix of each range's lines, up to `limit` bytes.
cudaError_t range_common(const SortingLines &s, const LineBatch &batch, uint32_t limit, cudaStream_t stream);
cudaError_t first_keys(const SortingLines &s, const LineBatch &batch, const KeyLayout &layout, cudaStream_t stream);
cudaError_t tied_keys(const SortingLines &s, uint32_t count, int from, const KeyLayout &layout, cudaStream_t stream);
// tied_lines.cu: the results of sorted keys, of all lines if `first`, else of `count` tied lines of generation `from`:
// the rows of final lines, and a list of the other lines, in the other generation.
struct LineRound {
    uint32_t count;
    int number_bits; // at the top of the keys: of ranges or groups
    int from;
    bool first;
};
cudaError_t settle_lines(SortingLines &s, const LineRound &round, cudaStream_t stream);
cudaError_t list_lines(const SortingLines &s, const LineRound &round, cudaStream_t stream);
// The common prefix of each group of the list, up to `limit` bytes.
cudaError_t common_bytes(const SortingLines &s, uint32_t count, int from, uint32_t limit, cudaStream_t stream);
// copy_lines.cu
cudaError_t place_lines(SortingLines &s, const LineBatch &batch, cudaStream_t stream);
cudaError_t copy_lines(const SortingLines &s, const LineBatch &batch, cudaStream_t stream);
// The bytes of temporary memory that the scans need.
cudaError_t line_scans_temporary(uint32_t max_lines, uint32_t max_bytes, size_t *bytes);
cudaError_t sum_up(SortingLines &s, uint32_t *counts, uint32_t count, cudaStream_t stream);

} // namespace hybz
