// path.cu: finds the positions that begin a factor, and writes the factors. These positions are the path from position
// 0, where each position leads to the end of its longest earlier occurrence.
//
// For each position of a piece of 4,096, a warp computes where the path from it leaves the piece, going from the
// piece's end to its beginning. It handles 32 positions together; paths that stay within the 32 jump from lane to
// lane. A CTA does the same for a group of 64 pieces. One thread then follows the path from 0, with one load for each
// group; after that, the path takes one load for each piece, in all groups at the same time; and finally warps walk
// through all pieces at the same time, in shared memory.
//
// No step depends on how long factors are. Twin: crates/factor/src/tiled/path.rs.
#include "factor.cuh"
#include "scan.cuh"

namespace hybz {

namespace {

constexpr uint32_t kPieceWarps = 2;     // 16 kB of exits each
constexpr uint32_t kMarkWarps = 4;      // 8 kB of steps each
constexpr uint32_t kGroupThreads = 1024;
constexpr uint32_t kGroupItems = kPiece / kGroupThreads;

__device__ inline uint32_t length_at(const Factoring &f, uint32_t at) { return f.longest[at] & ~kLargerSide; }

// Where the paths from 32 positions, one for each lane, leave the piece. `exits` has the exits of the piece's later
// positions.
__device__ inline uint32_t exit_of(const uint32_t *exits, uint32_t begin, uint32_t end, uint32_t chunk,
                                   uint32_t length) {
    const uint32_t at = chunk + (threadIdx.x & 31), following = at + max(length, 1u);
    uint32_t exit = kNowhere, by = 0;
    if (at >= end || following >= end) exit = following;
    else if (following >= chunk + 32) exit = exits[following - begin];
    else by = following & 31;
    follow_parents(exit, by, exit == kNowhere, Second{});
    return exit;
}

// One warp for each piece.
__global__ void __launch_bounds__(kPieceWarps * 32) pieces_kernel(Factoring f) {
    __shared__ uint32_t exits[kPieceWarps][kPiece];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, piece = blockIdx.x * kPieceWarps + warp;
    if (piece >= f.pieces) return;
    const uint32_t begin = piece * kPiece, end = min(begin + kPiece, f.n);
    // Loading the lengths of the next eight chunks in advance was no faster.
    for (uint32_t chunk = begin + (end - 1 - begin) / 32 * 32;; chunk -= 32) {
        const uint32_t at = chunk + lane, length = at < end ? length_at(f, at) : 0;
        const uint32_t exit = exit_of(exits[warp], begin, end, chunk, length);
        exits[warp][at - begin] = exit;
        if (at < end) f.after_piece[at] = exit;
        __syncwarp();
        if (chunk == begin) return;
    }
}

// One CTA for each group: it handles the group's pieces from last to first, and all positions of a piece at the same
// time.
__global__ void __launch_bounds__(kGroupThreads) groups_kernel(Factoring f) {
    const uint32_t begin = blockIdx.x * kGroup, end = min(begin + kGroup, f.n);
    for (uint32_t piece = begin + (end - 1 - begin) / kPiece * kPiece;; piece -= kPiece) {
        uint32_t exits[kGroupItems];
#pragma unroll
        for (uint32_t k = 0; k < kGroupItems; k++) {
            const uint32_t at = piece + k * kGroupThreads + threadIdx.x;
            exits[k] = at < end ? f.after_piece[at] : end;
        }
#pragma unroll
        for (uint32_t k = 0; k < kGroupItems; k++)
            if (exits[k] < end) exits[k] = f.after_group[exits[k]];
#pragma unroll
        for (uint32_t k = 0; k < kGroupItems; k++) {
            const uint32_t at = piece + k * kGroupThreads + threadIdx.x;
            if (at < end) f.after_group[at] = exits[k];
        }
        if (piece == begin) return;
        __syncthreads();
    }
}

// One thread.
__global__ void enter_groups_kernel(Factoring f) {
    if (threadIdx.x != 0) return;
    for (uint32_t at = 0; at < f.n; at = f.after_group[at]) f.enters_group[at / kGroup] = at;
}

// One thread for each group.
__global__ void __launch_bounds__(kThreads) enter_pieces_kernel(Factoring f) {
    const uint32_t group = blockIdx.x * kThreads + threadIdx.x;
    if (group >= f.groups || f.enters_group[group] == kNowhere) return;
    const uint32_t end = min((group + 1) * kGroup, f.n);
    for (uint32_t at = f.enters_group[group]; at < end; at = f.after_piece[at]) f.enters_piece[at / kPiece] = at;
}

// One warp for each piece: marks the positions on the path, and counts them.
__global__ void __launch_bounds__(kMarkWarps * 32) marks_kernel(Factoring f) {
    __shared__ uint16_t steps[kMarkWarps][kPiece];
    __shared__ uint32_t words[kMarkWarps][kPieceWords];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, piece = blockIdx.x * kMarkWarps + warp;
    if (piece >= f.pieces) return;
    const uint32_t begin = piece * kPiece, size = min(kPiece, f.n - begin), enters = f.enters_piece[piece];
    for (uint32_t word = lane; word < kPieceWords; word += 32) words[warp][word] = 0;
    uint32_t count = 0;
    if (enters != kNowhere) {
#pragma unroll 8
        for (uint32_t i = lane; i < size; i += 32)
            steps[warp][i] = uint16_t(max(min(length_at(f, begin + i), kPiece), 1u));
        __syncwarp();
        if (lane == 0)
            for (uint32_t at = enters - begin; at < size; at += steps[warp][at], count++)
                words[warp][at / 32] |= 1u << (at & 31);
    }
    __syncwarp();
    for (uint32_t word = lane; word < kPieceWords; word += 32)
        f.marks[uint64_t(piece) * kPieceWords + word] = words[warp][word];
    if (lane == 0) f.before[piece] = count;
}

// A single CTA: converts counts of factors to offsets.
__global__ void __launch_bounds__(kGroupThreads) places_kernel(Factoring f) {
    __shared__ ScanMemory memory;
    const uint32_t all = sum_before(
        memory, f.pieces, [&](uint32_t piece) { return f.before[piece]; },
        [&](uint32_t piece, uint32_t before) { f.before[piece] = before; });
    if (threadIdx.x == 0) f.counts->factors = all;
}

// One warp for each piece: writes its factors.
__global__ void __launch_bounds__(kMarkWarps * 32) factors_kernel(Factoring f) {
    __shared__ uint16_t places[kMarkWarps][kPiece];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, piece = blockIdx.x * kMarkWarps + warp;
    if (piece >= f.pieces) return;
    uint32_t words[kPieceWords / 32], count = 0;
#pragma unroll
    for (uint32_t k = 0; k < kPieceWords / 32; k++) {
        words[k] = f.marks[uint64_t(piece) * kPieceWords + lane * (kPieceWords / 32) + k];
        count += __popc(words[k]);
    }
    const uint32_t sum = sum_up_to(count);
    const uint32_t all = __shfl_sync(~0u, sum, 31);
    uint32_t to = sum - count;
#pragma unroll
    for (uint32_t k = 0; k < kPieceWords / 32; k++)
        for (uint32_t word = words[k]; word; word &= word - 1)
            places[warp][to++] = uint16_t((lane * (kPieceWords / 32) + k) * 32 + __ffs(word) - 1);
    __syncwarp();
    hybz_factor *const factors = f.factors + f.before[piece];
    for (uint32_t i = lane; i < all; i += 32) {
        const uint32_t at = piece * kPiece + places[warp][i], found = f.longest[at], length = found & ~kLargerSide;
        uint32_t source = f.text[at];
        if (length) {
            const uint2 pair = f.pairs[f.rank[at]];
            source = found & kLargerSide ? pair.y : pair.x;
        }
        factors[i] = {source, length};
    }
}

} // namespace

cudaError_t find_path(const Factoring &f, cudaStream_t stream) {
    cudaMemsetAsync(f.enters_group, 0xff, uint64_t(f.groups) * 4, stream);
    cudaMemsetAsync(f.enters_piece, 0xff, uint64_t(f.pieces) * 4, stream);
    pieces_kernel<<<blocks_for(f.pieces, kPieceWarps), kPieceWarps * 32, 0, stream>>>(f);
    groups_kernel<<<f.groups, kGroupThreads, 0, stream>>>(f);
    enter_groups_kernel<<<1, 32, 0, stream>>>(f);
    enter_pieces_kernel<<<blocks_for(f.groups, kThreads), kThreads, 0, stream>>>(f);
    marks_kernel<<<blocks_for(f.pieces, kMarkWarps), kMarkWarps * 32, 0, stream>>>(f);
    places_kernel<<<1, kGroupThreads, 0, stream>>>(f);
    factors_kernel<<<blocks_for(f.pieces, kMarkWarps), kMarkWarps * 32, 0, stream>>>(f);
    return cudaGetLastError();
}

} // namespace hybz
