// coding.cuh: the shared declarations of the resident pipeline's steps after the sort: sizes, arrays, and the mapping
// to blocks.
//
// The symbols of a block form groups of kGroup; the last one is padded with kNoSymbol, which has cost 0 and no bits, so
// that no step needs to handle a short group.
#pragma once
#include "device.cuh"
#include "hybz.h"
#include "rank.cuh"
#include "scan.cuh"

namespace hybz {

constexpr uint32_t kMaxChunks = HYBZ_MAX_LENGTH / kChunk; // of a block
constexpr uint32_t kGroup = HYBZ_GROUP;                // symbols of one selector
constexpr uint32_t kGroupWords = kGroup / 2;           // two symbols in a word
constexpr uint32_t kNoSymbol = HYBZ_MAX_SYMBOLS;
constexpr uint32_t kRow = 260; // entries for all symbols and kNoSymbol
static_assert(kMaxChunks <= 1024, "one thread for each chunk of a block");
static_assert(kNoSymbol < kRow && kGroup % 2 == 0);

// Everything is numbered by block; most arrays have a pitch for each block.
struct Coding {
    uint32_t blocks;
    uint32_t max_length;       // of the batch's blocks
    uint32_t chunk_pitch;      // chunks of the longest
    uint32_t group_pitch;      // groups of the longest, at most
    const uint32_t *base;      // [0..blocks] the first byte of a block's column
    const uint8_t *column;     // [0..total-1]
    const uint32_t *origin;    // [0..blocks-1]
    uint32_t *last;            // [block][chunk][256] 1 + the last position of each byte: in the chunk; then: before it
    Chunk *chunks;             // [block][chunk]
    uint8_t *order;            // [block][256] the bytes used, ascending
    uint32_t *heads;           // [0..total-1] a chunk's from its first position on: position, rank << kIndexBits
    uint16_t *symbols;         // at symbol_base
    uint32_t *frequencies;     // [block][kRow]
    uint8_t *selectors;        // [block][group_pitch]
    uint32_t *offsets;         // [block][group_pitch] the bit at which a group begins
    uint32_t *codes;           // [block][HYBZ_MAX_TABLES][kRow] code above 8 bits of length
    hybz_coded *coded;         // [block] out
    uint32_t *out;             // codes and selectors of all blocks
};

// Where the symbols of a block begin: there is room for one for each byte, EOB, and the padding of the last group.
__host__ __device__ inline uint32_t symbol_base(uint32_t base, uint32_t block) {
    return (base + 64 * block + 7) / 8 * 8;
}
__host__ __device__ inline uint32_t group_count(uint32_t symbols) { return (symbols + kGroup - 1) / kGroup; }
// Bytes of a block's codes, without its selectors; and of both.
__host__ __device__ inline uint32_t code_bytes(uint32_t bits) { return (bits + 31) / 32 * 4; }
__host__ __device__ inline uint32_t coded_bytes(const hybz_coded &coded) {
    return code_bytes(coded.bits) + (group_count(coded.symbols) + 3) / 4 * 4;
}

inline __device__ uint32_t length_of(const Coding &coding, uint32_t block) {
    return coding.base[block + 1] - coding.base[block];
}

inline __device__ const uint32_t *symbol_words(const Coding &coding, uint32_t block) {
    return reinterpret_cast<const uint32_t *>(coding.symbols + symbol_base(coding.base[block], block));
}

// resident.cu: lays out the arrays of coding from `memory` on (null: only adds up). Returns their total bytes.
uint64_t lay_out_codes(Coding &coding, uint8_t *memory, uint64_t blocks, uint64_t max_length);

// The steps, each in the file of its name. All are asynchronous, and return the launch's error.

// mtf.cu: columns to symbols and their frequencies, which must be zero before.
cudaError_t code_symbols(const Coding &coding, cudaStream_t stream);
// tables.cu: tables, selectors, and where each group's codes go.
cudaError_t choose_tables(const Coding &coding, cudaStream_t stream);
// bits.cu: where each block's codes go, and the codes. `out` must be zero.
cudaError_t write_codes(const Coding &coding, cudaStream_t stream);

} // namespace hybz
