// factor.cuh: exact LZ77 factors of a text whose suffixes are sorted: the shared declarations of the steps.
// crates/factor/src/tiled is the plain twin of the first three, and docs/ALGORITHMS.md explains why they are correct.
//
//   ansv.cu     suffixes in order -> two neighbours of each     tiles in shared memory, and a tree of minima over them
//   longest.cu  neighbours -> the longest earlier occurrence    from sparse positions to all; 128 positions a thread
//   path.cu     these -> where factors begin -> factors         one warp a piece of 4,096 positions
//   runs.cu     suffixes in order -> runs of the transform      4,096 rows a warp
//
// Row 0 is the end mark's. The mark's position is larger than all others, so it is never a neighbour, and ranks need
// no shift. All arrays except the order reuse memory of the sort.
#pragma once
#include "device.cuh"
#include "hybz.h"

namespace hybz {

// The sizes of crates/factor/src/tiled (`Sizes::KERNELS`).
constexpr uint32_t kFactorTile = 2048;  // suffixes in a tile
constexpr uint32_t kStrip = 64;         // suffixes whose min the lowest tree has
constexpr uint32_t kFan = 32;           // children of a node: what a warp looks at together
constexpr uint32_t kRun = 128;          // positions that a thread handles one after the other
constexpr int kRunBits = 7;
static_assert(kRun == 1u << kRunBits, "levels are shifts");
constexpr uint32_t kPiece = 4096;       // positions in a piece
constexpr uint32_t kGroupPieces = 64;   // pieces in a group
constexpr uint32_t kGroup = kPiece * kGroupPieces;
constexpr uint32_t kPieceWords = kPiece / 32; // of marks

constexpr uint32_t kNowhere = ~0u;           // a missing neighbour; a position that no path reaches
constexpr uint32_t kLargerSide = 0x80000000; // flag of a length: it is that of the larger suffix
constexpr uint32_t kMinima = 5;              // levels of the tree, of up to 2^30 + 1 rows
constexpr uint32_t kStrides = 5;             // levels of positions: 128^4 is 2^28

// The number of runs of a level, whose positions are 128^level apart. (The length of a run of level 4 does not fit 32
// bits; texts of more than 256 MiB have one.)
inline uint32_t runs_of_level(uint64_t n, uint32_t level) {
    const uint64_t run = uint64_t(kRun) << (kRunBits * level);
    return uint32_t((n + run - 1) / run);
}

struct Factoring {
    uint32_t n;    // bytes
    uint32_t rows; // n + 1
    const uint8_t *text;
    const uint32_t *order; // [row] a position
    const uint32_t *rank;  // [position] its row
    // ansv.cu
    uint32_t levels;
    uint32_t nodes[kMinima];   // the number of nodes of a level
    uint32_t *minima[kMinima]; // [level][node] the least position below it
    uint2 *pairs;              // [row] the neighbours: of the smaller and the larger suffix
    // longest.cu
    uint32_t strides;       // levels; the lowest is all positions
    uint2 *known[kStrides]; // [level][number] for every 128^level-th position, the common prefixes with its neighbours
    uint32_t *longest;      // [position] length, and kLargerSide
    // path.cu
    uint32_t pieces, groups;
    uint32_t *after_piece;   // [position] the first position on its path that is after its piece
    uint32_t *after_group;   // [position] the same for its group
    uint32_t *enters_group;  // [group] where the path from 0 enters it, or kNowhere
    uint32_t *enters_piece;  // [piece] the same
    uint32_t *marks;         // [position / 32] the positions at which factors begin, a bit each
    uint32_t *before;        // [piece] factors in it; then: in those before it
    hybz_factor_counts *counts; // of all
    hybz_factor *factors;    // [factor]
};

// Sets n, rows, and the levels of the tree and of positions, which take less than n / 60 + 6 and n / 63 + 10 words from
// `minima` and `known` on.
void set_levels(Factoring &factoring, uint32_t n, uint32_t *minima, uint32_t *known);

// The steps, each in the file of its name. All are asynchronous, and return the launch's error.
cudaError_t find_neighbours(const Factoring &factoring, cudaStream_t stream);
cudaError_t find_longest(const Factoring &factoring, cudaStream_t stream);
// Cuts `longest` at the ends of this many equal divisions.
cudaError_t cut_longest(const Factoring &factoring, uint32_t divisions, cudaStream_t stream);
cudaError_t find_path(const Factoring &factoring, cudaStream_t stream);
cudaError_t count_runs(const Factoring &factoring, cudaStream_t stream);

} // namespace hybz
