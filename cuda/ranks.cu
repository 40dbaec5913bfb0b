// ranks.cu: symbols to the last column: the digits of zero runs, and move-to-front ranks.
//
//   1 rows     one warp a chunk of symbols: how many rows they make. A digit's weight is the number of digits before
//              it in its run, which may begin in the previous chunk.
//   2 place    one CTA a block: scans the chunks' rows
//   3 ranks    one warp a chunk: move-to-front from a list that holds 0, 1, 2, ... (ranks.cuh)
//   4 lists    one CTA a block: composes the permutations: the first list of every chunk
//   5 expand   one warp a chunk: looks the places up, and writes the rows
//
// Twin: src/codec/mtf/decode.rs.
#include "decoding.cuh"
#include "ranks.cuh"
#include "scan.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = kThreads / 32;
constexpr uint32_t kTooMany = 1u << 30;

struct SumUpTo {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return min(a + b, kTooMany); }
};

// A chunk of symbols, for one warp.
struct Tokens {
    uint32_t block, chunk, from, end;
    const uint16_t *symbols;
};

inline __device__ Tokens tokens_of(const Decoding &decoding) {
    const uint32_t block = blockIdx.y, chunk = blockIdx.x * kWarps + (threadIdx.x >> 5);
    const uint32_t from = chunk * kTokens, count = decoding.found[block].symbols;
    return {block, chunk, from, min(from + kTokens, count), decoding.symbols + uint64_t(block) * kSymbolPitch};
}

// The number of digits directly before symbol `from`, up to 32.
inline __device__ uint32_t digits_before(const uint16_t *symbols, uint32_t from) {
    const uint32_t lane = threadIdx.x & 31;
    const uint32_t digits = __ballot_sync(~0u, lane < from && symbols[from - 1 - lane] < 2);
    return digits == ~0u ? 32 : __ffs(~digits) - 1;
}

__global__ void __launch_bounds__(kThreads) rows_kernel(Decoding decoding) {
    const Tokens tokens = tokens_of(decoding);
    if (tokens.from >= tokens.end) return;
    const uint32_t lane = threadIdx.x & 31;
    uint32_t carry = digits_before(tokens.symbols, tokens.from), rows = 0;
    bool odd = false;
    for (uint32_t i = tokens.from + lane; i - lane < tokens.end; i += 32) {
        const bool mine = i < tokens.end;
        rows += rows_of(mine, mine ? tokens.symbols[i] : 2, carry, odd);
    }
    rows = __reduce_add_sync(~0u, rows); // at most 1,024 times 2^21
    if (lane == 0) decoding.chunk_rows[tokens.block * kTokenChunks + tokens.chunk] = min(rows, kTooMany);
    if (odd) atomicOr(&decoding.found[tokens.block].odd, 1u);
}

__global__ void __launch_bounds__(1024) place_kernel(Decoding decoding) {
    __shared__ ScanMemory memory;
    const uint32_t block = blockIdx.x, chunk = threadIdx.x;
    Found &found = decoding.found[block];
    uint32_t *const rows = decoding.chunk_rows + block * kTokenChunks + chunk;
    const bool mine = chunk * kTokens < found.symbols;
    const Scanned scanned = scan_before(memory, mine ? *rows : 0, SumUpTo{});
    if (mine) *rows = scanned.before;
    __syncthreads(); // all have read `found`
    if (chunk != 0) return;
    found.odd |= scanned.all > decoding.heads[block].limit || decoding.heads[block].origin >= scanned.all;
    found.rows = found.odd ? 0 : scanned.all;
    if (found.odd) found.symbols = 0;
}

// The first row of each block.
__global__ void __launch_bounds__(HYBZ_MAX_BLOCKS) base_kernel(Decoding decoding) {
    __shared__ ScanMemory memory;
    const bool mine = threadIdx.x < decoding.blocks;
    const uint32_t rows = mine ? decoding.found[threadIdx.x].rows : 0;
    const Scanned scanned = scan_before(memory, (rows + 15) / 16 * 16, Sum{});
    if (mine) decoding.found[threadIdx.x].base = scanned.before;
}

__global__ void __launch_bounds__(kThreads) ranks_kernel(Decoding decoding) {
    const Tokens tokens = tokens_of(decoding);
    if (tokens.from >= tokens.end) return;
    const uint32_t lane = threadIdx.x & 31;
    uint8_t *const places = decoding.places + uint64_t(tokens.block) * kSymbolPitch;
    List256 list;
    first_list(list);
    uint32_t front = 0;
    for (uint32_t from = tokens.from; from < tokens.end; from += 32) {
        const uint32_t symbol = from + lane < tokens.end ? tokens.symbols[from + lane] : 0;
        const uint32_t own = place_of_symbol(list, symbol, front);
        if (from + lane < tokens.end) places[from + lane] = uint8_t(own);
    }
    store_list(list, decoding.lists + (uint64_t(tokens.block) * kTokenChunks + tokens.chunk) * 256);
}

__global__ void __launch_bounds__(256) lists_kernel(Decoding decoding) {
    __shared__ uint8_t list[2][256];
    const uint32_t block = blockIdx.x, chunks = (decoding.found[block].symbols + kTokens - 1) / kTokens;
    uint8_t *const lists = decoding.lists + uint64_t(block) * kTokenChunks * 256;
    compose_lists(list, lists, chunks, decoding.heads[block].used[threadIdx.x]);
}

__global__ void __launch_bounds__(kThreads) expand_kernel(Decoding decoding) {
    __shared__ uint8_t lists[kWarps][256];
    const Tokens tokens = tokens_of(decoding);
    if (tokens.from >= tokens.end) return;
    const uint32_t lane = threadIdx.x & 31;
    uint8_t *const list = lists[threadIdx.x >> 5];
    const uint64_t number = uint64_t(tokens.block) * kTokenChunks + tokens.chunk;
    for (uint32_t place = lane; place < 256; place += 32) list[place] = decoding.lists[number * 256 + place];
    __syncwarp();
    const uint8_t *const places = decoding.places + uint64_t(tokens.block) * kSymbolPitch;
    uint8_t *const column = decoding.column + decoding.found[tokens.block].base;
    uint32_t carry = digits_before(tokens.symbols, tokens.from), begin = decoding.chunk_rows[number];
    bool odd = false; // it is known
    for (uint32_t i = tokens.from + lane; i - lane < tokens.end; i += 32) {
        const bool mine = i < tokens.end;
        const uint32_t rows = rows_of(mine, mine ? tokens.symbols[i] : 2, carry, odd);
        const uint32_t byte = mine ? list[places[i]] : 0;
        const uint32_t until = sum_up_to(rows);
        write_rows(column, begin + until - rows, rows, byte);
        begin += __shfl_sync(~0u, until, 31);
    }
}

} // namespace

cudaError_t decode_columns(const Decoding &decoding, cudaStream_t stream) {
    const dim3 chunks(blocks_for(kTokenChunks, kWarps), decoding.blocks);
    rows_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    place_kernel<<<decoding.blocks, 1024, 0, stream>>>(decoding);
    base_kernel<<<1, HYBZ_MAX_BLOCKS, 0, stream>>>(decoding);
    ranks_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    lists_kernel<<<decoding.blocks, 256, 0, stream>>>(decoding);
    expand_kernel<<<chunks, kThreads, 0, stream>>>(decoding);
    return cudaGetLastError();
}

cudaError_t load_columns() {
    return load_kernels(rows_kernel, place_kernel, base_kernel, ranks_kernel, lists_kernel, expand_kernel);
}

} // namespace hybz
