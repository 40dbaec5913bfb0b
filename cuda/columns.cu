// columns.cu: last columns of `.hbz` blocks to tokens (docs/FORMAT.md): move-to-front as in mtf.cu, but runs are cut
// where segments end, and far ranks share tokens.
//
//   1 lasts    one warp a chunk: where each byte occurs last in it
//   2 lists    one CTA a block: running maximum over its chunks; which bytes are used
//   3 ranks    one warp a chunk: heads and their ranks
//   4 joins    one warp a segment: how many tokens there are before each chunk; the run at the end
//   5 digits   one warp a chunk: each head writes the digits of the run before it, and itself
//   6 joints   one CTA a segment: tokens with the class of the token before
//
// Reads skip the mark's row, which the format leaves out.
//
// Twin: src/codec/mtf/encode.rs, src/formats/hbz/codec/token.rs.
#include "large_coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32;

// Row i of a block's column.
struct Column {
    const uint8_t *bytes;
    uint32_t origin;
    __device__ uint32_t operator()(uint32_t i) const { return bytes[i + (i >= origin)]; }
};

inline __device__ Column column_of(const LargeCoding &coding, uint32_t block) {
    return {coding.column + coding.base[block], coding.origin[block]};
}

__global__ void __launch_bounds__(kThreads) lasts_kernel(LargeCoding coding) {
    __shared__ uint32_t last[kWarps][256];
    const uint32_t block = blockIdx.y, warp = threadIdx.x >> 5;
    const uint32_t chunk = blockIdx.x * kWarps + warp, from = chunk * kChunk, n = rows_of(coding, block);
    if (from >= n) return;
    uint32_t *out = coding.last + (uint64_t(block) * coding.chunk_pitch + chunk) * 256;
    find_last(last[warp], from, min(from + kChunk, n), out, column_of(coding, block));
}

__global__ void __launch_bounds__(kListThreads) lists_kernel(LargeCoding coding) {
    __shared__ ListMemory memory;
    const uint32_t block = blockIdx.x, chunks = (rows_of(coding, block) + kChunk - 1) / kChunk;
    start_lists(memory, coding.last + uint64_t(block) * coding.chunk_pitch * 256, chunks, coding.order + block * 256,
                coding.about[block].used);
}

// A chunk of a segment.
struct SegmentChunk {
    CodingSegment segment;
    uint32_t number, from, end; // its rows in the segment
};

inline __device__ SegmentChunk chunk_of(const LargeCoding &coding, uint32_t block, uint32_t chunk) {
    const CodingSegment segment = segment_of(coding, block, chunk / kCodingChunks);
    const uint32_t number = chunk % kCodingChunks, from = number * kChunk;
    return {segment, number, from, min(from + kChunk, segment.rows)};
}

__global__ void __launch_bounds__(kThreads) ranks_kernel(LargeCoding coding) {
    __shared__ RankMemory memories[kWarps];
    const uint32_t block = blockIdx.y, warp = threadIdx.x >> 5, number = blockIdx.x * kWarps + warp;
    const SegmentChunk chunk = chunk_of(coding, block, number);
    if (chunk.from >= chunk.segment.rows) return;
    const Column column = column_of(coding, block);
    const uint8_t *order = coding.order + block * 256;
    RankMemory &memory = memories[warp];
    const uint32_t used = count_used(coding.about[block].used), first = chunk.segment.from + chunk.from;
    first_list(memory, order, coding.last + (uint64_t(block) * coding.chunk_pitch + number) * 256, used);
    const Chunk found = rank_chunk(memory, chunk.from, chunk.end, first == 0 ? order[0] : column(first - 1), used,
                                   coding.heads + row_place(chunk.segment) + chunk.from,
                                   [&](uint32_t i) { return column(chunk.segment.from + i); });
    if ((threadIdx.x & 31) == 0) coding.chunks[chunk.segment.number * kCodingChunks + chunk.number] = found;
}

__global__ void __launch_bounds__(kThreads) joins_kernel(LargeCoding coding) {
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31;
    const CodingSegment segment = segment_of(coding, block, blockIdx.x * kWarps + (threadIdx.x >> 5));
    if (segment.rows == 0) return;
    Chunk *const mine = coding.chunks + segment.number * kCodingChunks + lane;
    const bool is_chunk = lane < kCodingChunks && lane * kChunk < segment.rows;
    Chunk found{0, kNone, kNone, 0, 0};
    if (is_chunk) found = *mine;
    const bool any = found.first != kNone;
    // The start of the run of zeros that enters the chunk, or of the segment.
    const uint32_t after = scan_up_to(any ? found.last + 1 : 0, Larger{});
    const uint32_t all = __shfl_sync(~0u, after, 31), left = __shfl_up_sync(~0u, after, 1);
    const uint32_t before = lane ? left : 0;
    const uint32_t own = found.symbols + (any ? digits_of(found.first - before) : 0);
    const uint32_t until = sum_up_to(own);
    if (is_chunk) *mine = {found.heads, found.first, found.last, until - own, before};
    // The run at the end of the segment.
    const uint32_t run = segment.rows - all, digits = digits_of(run), tokens = __shfl_sync(~0u, until, 31);
    if (lane < digits) {
        const uint64_t at = row_place(segment) + tokens + lane;
        coding.tokens[at] = uint8_t((run + 1) >> lane & 1);
        coding.extras[at] = 0;
    }
    if (lane != 0) return;
    coding.coded[segment.number] = {0, tokens + digits};
    atomicAdd(&coding.about[block].tokens, tokens + digits);
}

// The token of a symbol from kFirstRange on, above 8 bits with its extra bits.
inline __device__ uint32_t range_of(uint32_t symbol) {
    const uint32_t place = symbol - 2, octave = 31 - __clz(place), bits = octave - 1;
    return (kFirstRange + 2 * (octave - 4) + (place >> bits & 1)) << 8 | (place & ((1u << bits) - 1));
}

__global__ void __launch_bounds__(kThreads) digits_kernel(LargeCoding coding) {
    const uint32_t block = blockIdx.y;
    const SegmentChunk chunk = chunk_of(coding, block, blockIdx.x * kWarps + (threadIdx.x >> 5));
    if (chunk.from >= chunk.segment.rows) return;
    const uint64_t place = row_place(chunk.segment);
    const uint32_t *heads = coding.heads + place + chunk.from;
    const Chunk found = coding.chunks[chunk.segment.number * kCodingChunks + chunk.number];
    each_head(found, heads, [&](uint32_t number, uint32_t run, uint32_t digits, uint32_t rank) {
        uint64_t to = place + number;
        for (uint32_t d = 0; d < digits; d++, to++) {
            coding.tokens[to] = uint8_t(run >> d & 1);
            coding.extras[to] = 0;
        }
        const uint32_t symbol = rank + 1, token = symbol < kFirstRange ? symbol << 8 : range_of(symbol);
        coding.tokens[to] = uint8_t(token >> 8);
        coding.extras[to] = uint8_t(token);
    });
}

__global__ void __launch_bounds__(kThreads) joints_kernel(LargeCoding coding) {
    const CodingSegment segment = segment_of(coding, blockIdx.y, blockIdx.x);
    if (segment.rows == 0) return;
    const uint8_t *const tokens = coding.tokens + row_place(segment);
    uint8_t *const joint = coding.joint + row_place(segment);
    const uint32_t count = coding.coded[segment.number].tokens;
    for (uint32_t i = threadIdx.x; i < count; i += kThreads)
        joint[i] = uint8_t((i ? class_of(tokens[i - 1]) : 0) * HYBZ_TOKENS + tokens[i]);
}

} // namespace

cudaError_t make_tokens(const LargeCoding &coding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(coding.max_rows, kWarps * kChunk), coding.blocks);
    const dim3 segments(blocks_for(coding.most_segments, kWarps), coding.blocks);
    const dim3 each(coding.most_segments, coding.blocks);
    lasts_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    lists_kernel<<<coding.blocks, kListThreads, 0, stream>>>(coding);
    ranks_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    joins_kernel<<<segments, kThreads, 0, stream>>>(coding);
    digits_kernel<<<chunks, kThreads, 0, stream>>>(coding);
    joints_kernel<<<each, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
