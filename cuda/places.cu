// places.cu: symbols of `.hbz` blocks to the last column: move-to-front ranks, and runs.
//
//   1 places    one warp a segment: writes each row as a place in the segment's first list, which is not known yet,
//               from a list that holds 0, 1, 2, ... (ranks.cuh); no run leaves a segment, so its rows are known
//   2 lists     one CTA a block: composes the permutations into the first list of every segment
//
// entries.cu converts the places to codes when it reads them. On an H200, a batch of 23 blocks of source code takes 7
// ms, while 1 was expected; a segment could be divided further, as ranks.cu divides blocks.
//
// Twin: src/formats/hbz/codec/segment.rs, src/formats/hbz/codec/vector.rs.
#include "large.cuh"
#include "ranks.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = 4;

__global__ void __launch_bounds__(kWarps * 32) places_kernel(LargeDecoding decoding) {
    const LargeSegment segment = segment_of(decoding, kWarps);
    if (!segment.is_any) return;
    const uint32_t lane = threadIdx.x & 31, tokens = place_of_segment(decoding, segment).tokens;
    const uint16_t *const symbols = decoding.symbols + segment.base;
    uint8_t *const column = decoding.column + segment.base;
    List256 list;
    first_list(list);
    uint32_t front = 0, carry = 0, begin = 0;
    bool odd = false;
    for (uint32_t i = lane; i - lane < tokens; i += 32) {
        const bool mine = i < tokens;
        const uint32_t symbol = mine ? min(uint32_t(symbols[i]), 256u) : 0;
        const uint32_t place = place_of_symbol(list, symbol, front);
        const uint32_t rows = rows_of(mine, symbol, carry, odd), until = sum_up_to(rows);
        const uint32_t all = __shfl_sync(~0u, until, 31);
        if (all > segment.rows - begin) { // all lanes; each symbol has a row
            odd = true;
            break;
        }
        write_rows(column, begin + until - rows, rows, place);
        begin += all;
    }
    odd |= begin != segment.rows;
    if (odd) atomicOr(&decoding.odd[segment.block], 1u);
    for (uint32_t i = begin + lane; i < segment.rows; i += 32) column[i] = 0; // not written yet
    store_list(list, decoding.lists + uint64_t(segment.number) * 256);
}

__global__ void __launch_bounds__(256) lists_kernel(LargeDecoding decoding) {
    __shared__ uint8_t list[2][256];
    const LargeBlock &block = decoding.blocks[blockIdx.x];
    compose_lists(list, decoding.lists + uint64_t(block.first_segment) * 256, block.segments,
                  block.head.list[threadIdx.x]);
}

} // namespace

cudaError_t decode_places(const LargeDecoding &decoding, cudaStream_t stream) {
    const dim3 segments(blocks_for(decoding.most_segments, kWarps), decoding.count);
    places_kernel<<<segments, kWarps * 32, 0, stream>>>(decoding);
    lists_kernel<<<decoding.count, 256, 0, stream>>>(decoding);
    return cudaGetLastError();
}

} // namespace hybz
