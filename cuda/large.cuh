// large.cuh: the shared declarations of the steps of decoding `.hbz` blocks. The CPU has read a payload up to its
// segments; the device does everything between these and the codes, which the dictionary turns into text:
//
//   tokens.cu   segments -> symbols         tANS: one warp a segment, of which one lane decodes
//   places.cu   symbols -> column           move-to-front and runs: one warp a segment
//   entries.cu  column -> vector -> codes   inverse BWT: one thread an entry point
//
// The work is parallel from the start, because segments have 65,536 rows and entry points are 32,768 rows apart: a
// block of 9 million rows has 138 warps and 275 chains. A chain is 32,768 loads, each of which waits for the one
// before, whatever else the device does. Therefore many blocks are in flight, in a batch and in several lanes.
//
// The output is a byte for each row. The dictionary's strings and the CRC are left to the lane's thread, which has to
// copy the text out of pinned memory anyway. A batch therefore downloads no more than its rows, although a block of 4
// MB may stand for 1 GiB.
//
// The device never reports damage: an irregular block is odd, and a core decodes it.
#pragma once
#include "device.cuh"
#include "hybz.h"

namespace hybz {

constexpr uint32_t kSegmentRows = 1u << HYBZ_SEGMENT_LOG;
constexpr uint32_t kLargeRows = 8192; // rows that one warp counts and places: 1,024 bytes of counts for them
constexpr uint32_t kSegmentChunks = kSegmentRows / kLargeRows;
constexpr uint32_t kPackedRows = 1u << 24; // with up to this many, the words of the vector have room for the bytes
constexpr uint32_t kTokenStates = 1u << HYBZ_TOKEN_LOG, kSelectorStates = 1u << HYBZ_SELECTOR_LOG;
constexpr uint32_t kFirstRange = 18; // the first token with extra bits
constexpr uint32_t kTokenTables = HYBZ_LARGE_TABLES * HYBZ_CLASSES;

// A block of a batch.
struct LargeBlock {
    hybz_large head;
    uint32_t segments;
    uint32_t first_segment; // of the batch's
};

// Blocks, segments and chunks of rows are numbered over the whole batch; rows are numbered from each block's base on.
struct LargeDecoding {
    uint32_t count;            // blocks
    uint32_t most_segments;    // of a block
    uint32_t most_entries;     // of a block
    const uint8_t *input;      //
    const LargeBlock *blocks;  // [block]
    uint32_t *odd;             // [block]
    uint32_t *token_tables;    // [block][selector][class][state]
    uint32_t *selector_tables; // [block][selector before][state]
    uint8_t *lists;            // [segment][256] the last list, by places in the first one; then: the first, in codes
    uint32_t *counts;          // [segment][chunk][256] how often each code is in it; then: where its next one goes
    uint32_t *firsts;          // [block][256] where the rows of each code begin
    uint8_t *column;           // [row] a place in the first list of its segment; in the end the codes, as in the text
    uint32_t *vector;          // [row] the row after this one, above its code if there is room
    uint16_t *symbols;         // [row] from a segment's first row on; in memory of the vector
};

// A segment, for one warp.
struct LargeSegment {
    uint32_t block, number, rows;
    uint64_t base; // its first row, of the batch's
    bool is_any;
};

inline __device__ LargeSegment segment_of(const LargeDecoding &decoding, uint32_t warps) {
    const uint32_t block = blockIdx.y, own = blockIdx.x * warps + (threadIdx.x >> 5);
    const LargeBlock &of = decoding.blocks[block];
    if (own >= of.segments) return {block, 0, 0, 0, false};
    const uint32_t from = own * kSegmentRows;
    return {block, of.first_segment + own, min(of.head.rows - from, kSegmentRows), uint64_t(of.head.base) + from, true};
}

inline __device__ const hybz_segment &place_of_segment(const LargeDecoding &decoding, const LargeSegment &segment) {
    const LargeBlock &of = decoding.blocks[segment.block];
    return reinterpret_cast<const hybz_segment *>(decoding.input + of.head.segments_at)[segment.number -
                                                                                         of.first_segment];
}

// Where a warp makes a table of states: the symbol of each state, and for each symbol the next number to give out.
struct TableMemory {
    uint8_t owner[kTokenStates];
    uint32_t next[32];
};

// Assigns states to symbols, one after the other, with a stride that visits each state once. Each lane has the share of
// its symbol, and the number of the symbol's first state. Calls `take(state, symbol, number)` for all states in order.
template <class Take>
inline __device__ void assign_states(TableMemory &memory, uint32_t share, uint32_t number, uint32_t states, Take take) {
    const uint32_t lane = threadIdx.x & 31, stride = states / 2 + states / 8 + 3;
    memory.next[lane] = number;
    uint32_t from = 0;
    for (uint32_t symbol = 0; symbol < 32; symbol++) {
        const uint32_t end = from + __shfl_sync(~0u, share, symbol);
        for (uint32_t k = from + lane; k < end; k += 32) memory.owner[k * stride & (states - 1)] = uint8_t(symbol);
        from = end;
    }
    __syncwarp();
    for (uint32_t state = lane; state < states; state += 32) {
        const uint32_t symbol = memory.owner[state];
        const uint32_t same = __match_any_sync(~0u, symbol), earlier = __popc(same & ((1u << lane) - 1));
        const uint32_t own = memory.next[symbol] + earlier;
        __syncwarp();
        if (earlier == 0) memory.next[symbol] = own + __popc(same);
        __syncwarp();
        take(state, symbol, own);
    }
}

// The class of a token, by which the next token has its table.
inline __device__ uint32_t class_of(uint32_t token) { return token < 3 ? token : token < 5 ? 3 : token < 10 ? 4 : 5; }

// The steps: decode_tokens is in tokens.cu, decode_places in places.cu, the other two are in entries.cu. All are
// asynchronous, and return the launch's error.
cudaError_t decode_tokens(const LargeDecoding &decoding, cudaStream_t stream);
cudaError_t decode_places(const LargeDecoding &decoding, cudaStream_t stream);
cudaError_t make_vectors(const LargeDecoding &decoding, cudaStream_t stream);
cudaError_t walk_entries(const LargeDecoding &decoding, cudaStream_t stream);

} // namespace hybz
