// steps.cuh: the steps on a device, each in the file named. All are asynchronous on `stream`; all return the launch's
// error. Arrays are in device memory; `text` has kPad zero bytes behind its n.
#pragma once
#include "model.hpp"
#include <cuda_runtime.h>

namespace zst {

// search.cu
// rank[order[row]] = row. The sort of ../../cuda has ranks anyway.
cudaError_t find_ranks(const uint32_t *order, uint32_t n, uint32_t *rank, cudaStream_t stream);
// [position] what a suffix has in common with that of the row before. (By rows it would be written all over memory.)
cudaError_t find_common(const uint8_t *text, const uint32_t *order, const uint32_t *rank, uint32_t n, uint16_t *common,
                        cudaStream_t stream);
// `look`: kReach, or 16 to compare times.
cudaError_t find_far(const uint32_t *order, const uint16_t *common, uint32_t n, uint32_t look, Far *far,
                     cudaStream_t stream);
// near [table][position]
cudaError_t find_near(const uint8_t *text, uint32_t n, uint16_t *near, cudaStream_t stream);
// The matches' offsets and lengths, [position][slot].
cudaError_t join_matches(const uint8_t *text, const Far *far, const uint16_t *near, uint32_t n, uint32_t *offsets,
                         uint8_t *lengths, cudaStream_t stream);

// parse.cu
struct Way {            // [position - 1] the last step of the cheapest way to a position
    uint32_t *word;     // of a match: its offset code and offset; of literals: how many
    uint16_t *length;   // of a match; 0: literals
};
// `lanes` (8, 16, 32) work on a chunk. starts and ends: [chunk]. behind: 3 * kRing words for each chunk, or null: then
// they are in shared memory.
cudaError_t parse_chunks(const uint8_t *text, uint32_t n, const uint32_t *offsets, const uint8_t *lengths,
                         const Prices *prices, const State *starts, uint32_t lanes, uint32_t *behind, Way way,
                         State *ends, cudaStream_t stream);

// sequences.cu
// The first prices of all blocks.
cudaError_t first_prices(const uint8_t *text, uint32_t n, Prices *prices, cudaStream_t stream);
// sequences: kMostSequences for a chunk, the last ones of which are filled; counts and tails: [chunk].
cudaError_t trace_ways(Way way, uint32_t n, Sequence *sequences, uint32_t *counts, uint32_t *tails,
                       cudaStream_t stream);
cudaError_t find_prices(const uint8_t *text, uint32_t n, const Sequence *sequences, const uint32_t *counts,
                        const uint32_t *tails, Prices *prices, cudaStream_t stream);
// The states that the next pass begins with; before the first pass `ends` is null.
cudaError_t find_starts(const State *ends, uint32_t n, State *starts, cudaStream_t stream);
// All chunks' sequences without the gaps; places [0..chunks] where each begins.
cudaError_t pack_sequences(const Sequence *sequences, const uint32_t *counts, uint32_t n, uint32_t *places,
                           Sequence *packed, cudaStream_t stream);

inline uint32_t chunks_of(uint32_t n) { return (n + kChunk - 1) / kChunk; }
inline uint32_t blocks_of(uint32_t n) { return (n + kBlock - 1) / kBlock; }
constexpr uint32_t kChunksOfBlock = kBlock / kChunk;

} // namespace zst
