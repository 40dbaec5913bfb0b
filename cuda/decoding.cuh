// decoding.cuh: the shared declarations of the steps of decoding. For `.bz2` blocks whose headers the CPU has read, the
// device does everything from the first Huffman code to the text:
//
//   huffman.cu   codes -> symbols           one thread a block decodes; the warp makes its tables and moves its symbols
//   ranks.cu     symbols -> column          digits to run lengths, ranks to bytes
//   walk.cu      column -> vector -> text   inverse BWT, from many places at once
//   expand.cu    text -> output             runs of equal bytes
//
// The text of a block may have 46 million bytes. A block that is long, has no room in the output, or has runs that are
// not found is expanded by the CPU. The CPU also computes the CRC, which is then a check of the transfers, too.
//
// The device never reports damage. Any irregularity (bits that are not a code, over-subscribed codes, too many rows, a
// permutation of several cycles) makes a block odd, and a core decodes it.
#pragma once
#include "device.cuh"
#include "hybz.h"

namespace hybz {

constexpr uint32_t kTokens = 1024; // symbols that one warp handles
constexpr uint32_t kRows = 1024;   // rows that one warp handles
constexpr uint32_t kSymbolPitch = HYBZ_MAX_GROUPS * HYBZ_GROUP + 60; // symbols of a block
constexpr uint32_t kTokenChunks = (kSymbolPitch + kTokens - 1) / kTokens;
constexpr uint32_t kRowChunks = (HYBZ_MAX_ROWS + kRows - 1) / kRows;
constexpr uint32_t kSplitBits = 13;                 // of the number of a splitter
constexpr uint32_t kSlots = (1u << kSplitBits) + 1; // splitters of a block, and its origin
constexpr uint32_t kSlotPitch = kSlots + 31;
constexpr uint32_t kStage = 320;                    // bytes of a walk that are staged, of 128 on average
constexpr uint32_t kStagePitch = 3 * kSymbolPitch;  // bytes of a block's stage
static_assert(kSlots * kStage <= kStagePitch, "the stage is where symbols and places were");
constexpr uint32_t kRunPiece = 64; // bytes of run-length-coded text that one thread expands
constexpr uint32_t kRunPieces = (HYBZ_MAX_ROWS + kRunPiece - 1) / kRunPiece;
static_assert(kRunPieces * 4 <= kStagePitch, "the pieces are where the stage was");
constexpr int kMaxLength = 20; // bits of a code that bzip2 reads
static_assert(kSymbolPitch % 32 == 0 && kTokenChunks <= 1024 && kRowChunks <= 1024);

// The results for a block.
struct Found {
    uint32_t odd;     // something is irregular
    uint32_t symbols; // without EOB
    uint32_t end_bit; // the bit after the last code
    uint32_t rows;
    uint32_t base;    // where its rows begin in column, vector and text: a multiple of 16
    uint32_t unknown; // it is not known where its runs are
    uint32_t expanded; // its output is its text
    uint32_t at;      // where its output begins: a multiple of 16
    uint32_t length;  // of its output
    uint32_t taken;   // of the first block: slots of all blocks that warps have begun to walk from
    unsigned long long sum, difference; // of a block that this device has coded: walk.cu
};

// Everything is numbered by block; most arrays have a pitch for each block.
struct Decoding {
    uint32_t blocks;
    const uint8_t *input;         // codes and selectors of all blocks
    const hybz_block *heads;      // [block]
    Found *found;                 // [block]
    uint16_t *symbols;            // [block][kSymbolPitch]
    uint8_t *places;              // [block][kSymbolPitch] a symbol's byte: its place in its chunk's first list
    uint8_t *lists;               // [block][kTokenChunks][256] the last list of a chunk, by places in its first one;
                                  // then: the first list, in bytes
    uint32_t *chunk_rows;         // [block][kTokenChunks] rows of a chunk; then: of all before it
    uint8_t *column;              // at base
    uint32_t *counts;             // [block][kRowChunks][256] how often each byte is in a chunk; then: where its next
                                  // one goes
    uint32_t *vector;             // at base: the row after this one, above its byte; then: output()
    uint32_t *slots;              // [block][kSlotPitch] steps to the next slot, above its number; then: text position
    uint32_t *steps;              // [block][kSlotPitch] steps to the next slot
    uint32_t *rests;              // [block][kSlotPitch] the row that is kStage steps on, if there is one
    uint8_t *stage;               // [block][kStagePitch] in place of symbols and places: the bytes of each walk;
                                  // then: pieces()
    uint8_t *text;                // at base

    // For a block's pieces, in place of the stage.
    __device__ uint32_t *pieces(uint32_t block) const {
        return reinterpret_cast<uint32_t *>(stage + block * kStagePitch);
    }
    // The output of all blocks, in place of the vector.
    __host__ __device__ uint8_t *output() const { return reinterpret_cast<uint8_t *>(vector); }
};

// The steps, each in the file of its name. All are asynchronous, and return the launch's error.
cudaError_t decode_symbols(const Decoding &decoding, cudaStream_t stream);
cudaError_t decode_columns(const Decoding &decoding, cudaStream_t stream);
cudaError_t walk_columns(const Decoding &decoding, cudaStream_t stream);
// The same for a batch that this device has coded: its codes to symbols, and the proof that its columns make its texts,
// for which `found` must be zero before. `rank` has the row of each rotation, with a pitch.
struct Coding;
cudaError_t decode_groups(const Decoding &decoding, const Coding &coding, cudaStream_t stream);
cudaError_t prove_columns(const Decoding &decoding, const Coding &coding, const uint8_t *text, const uint32_t *rank,
                          int pitch_bits, cudaStream_t stream);
// The output has room for `room` bytes.
cudaError_t expand_runs(const Decoding &decoding, uint32_t room, cudaStream_t stream);

// Have the driver load the kernels of each step (lane_memory.cu says why).
cudaError_t load_symbols();
cudaError_t load_columns();
cudaError_t load_walk();
cudaError_t load_expand();

template <class... Kernels> cudaError_t load_kernels(Kernels... kernels) {
    cudaFuncAttributes attributes;
    cudaError_t error = cudaSuccess;
    for (const cudaError_t found : {cudaFuncGetAttributes(&attributes, kernels)...})
        if (error == cudaSuccess) error = found;
    return error;
}

} // namespace hybz
