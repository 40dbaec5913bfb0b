// huffman.cu: Huffman codes to symbols.
//
// Where a code begins depends on all codes before it, and on which table each group of 50 has: a block is one chain.
// So one thread of a warp decodes a block, and many blocks are in flight. Its next step waits for the look-up of this
// one; a look-up therefore sees ten bits and returns up to two symbols.
//
// Twin: src/codec/huffman/decode.rs.
#include "decoding.cuh"

namespace hybz {

namespace {

constexpr int kLookupBits = 10;
constexpr uint32_t kBatchGroups = 20;                        // groups between two times that the warp moves symbols
constexpr uint32_t kBatch = kBatchGroups * HYBZ_GROUP;
constexpr uint32_t kTop = 1u << kMaxLength;

// An entry of a look-up table: symbol (9 bits), its length (4; 0: no code of up to ten bits), the symbol after it (9),
// the length of both (4), whether there is a symbol after it.
constexpr uint32_t kBoth = 1u << 26;
inline __device__ uint32_t first_symbol(uint32_t entry) { return entry & 511; }
inline __device__ uint32_t first_length(uint32_t entry) { return entry >> 9 & 15; }
inline __device__ uint32_t second_symbol(uint32_t entry) { return entry >> 13 & 511; }
inline __device__ uint32_t both_length(uint32_t entry) { return entry >> 22 & 15; }

struct Codes {
    uint32_t bound[kMaxLength + 1]; // codes of this length and shorter ones are below this, in 20 bits
    uint32_t first[kMaxLength + 1]; // the first code of this length
    uint32_t start[kMaxLength + 1]; // its place in the order
    uint16_t order[HYBZ_MAX_SYMBOLS + 6]; // symbols by length, then by value
};

struct Memory {
    uint32_t lookup[HYBZ_MAX_TABLES][1 << kLookupBits];
    Codes codes[HYBZ_MAX_TABLES];
    uint32_t count[kMaxLength + 1];
    uint16_t symbols[kBatch + 2];
    uint8_t selectors[kBatchGroups];
};

// Makes the codes of a table from its lengths. Returns whether they are at most complete.
__device__ bool make_codes(Memory &memory, Codes &codes, const uint8_t *lengths, uint32_t symbols) {
    const uint32_t lane = threadIdx.x & 31;
    if (lane <= kMaxLength) memory.count[lane] = 0;
    __syncwarp();
    for (uint32_t s = lane; s < symbols; s += 32) atomicAdd(&memory.count[lengths[s]], 1u);
    __syncwarp();
    uint32_t taken = 0, place = 0;
    for (int length = 1; length <= kMaxLength; length++) {
        const uint32_t count = memory.count[length];
        if (lane == 0) {
            codes.first[length] = taken >> (kMaxLength - length);
            codes.start[length] = place;
        }
        taken += count << (kMaxLength - length); // at most 258 << 19
        place += count;
        if (lane == 0) codes.bound[length] = taken;
    }
    __syncwarp();
    if (lane <= kMaxLength) memory.count[lane] = lane ? codes.start[lane] : 0;
    __syncwarp();
    for (uint32_t from = 0; from < symbols; from += 32) {
        const uint32_t s = from + lane;
        const uint32_t length = s < symbols ? lengths[s] : 0;
        const uint32_t same = __match_any_sync(~0u, length);
        const uint32_t to = memory.count[length] + __popc(same & ((1u << lane) - 1));
        __syncwarp();
        if (length) {
            codes.order[to] = uint16_t(s);
            if ((same >> lane >> 1) == 0) memory.count[length] = to + 1;
        }
        __syncwarp();
    }
    return taken <= kTop;
}

// The symbol at the top of 20 bits with a code of `from` to `to` bits, and its length; a length of 0 if there is none.
inline __device__ uint2 find_code(const Codes &codes, uint32_t bits, int from, int to) {
    for (int length = from; length <= to; length++)
        if (bits < codes.bound[length]) {
            const uint32_t code = bits >> (kMaxLength - length);
            return make_uint2(codes.order[codes.start[length] + code - codes.first[length]], uint32_t(length));
        }
    return make_uint2(0, 0);
}

__device__ void fill_lookup(uint32_t *lookup, const Codes &codes, uint32_t end_of_block) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t e = lane; e < 1u << kLookupBits; e += 32) {
        const uint2 code = find_code(codes, e << (kMaxLength - kLookupBits), 1, kLookupBits);
        lookup[e] = code.x | code.y << 9 | code.y << 22;
    }
    __syncwarp();
    for (uint32_t e = lane; e < 1u << kLookupBits; e += 32) {
        const uint32_t own = lookup[e], length = first_length(own);
        // Perhaps that entry has its second symbol already; what is used of it stays.
        const uint32_t next = lookup[e << length & ((1u << kLookupBits) - 1)];
        const uint32_t both = length + first_length(next);
        const bool fits = length && first_length(next) && both <= uint32_t(kLookupBits);
        __syncwarp();
        if (fits && first_symbol(own) != end_of_block)
            lookup[e] = first_symbol(own) | length << 9 | first_symbol(next) << 13 | both << 22 | kBoth;
        __syncwarp();
    }
}

// The bits of a block, the next one on top.
struct Bits {
    const uint32_t *words;
    uint32_t at, end; // the next word that is not in `next`, and the number of words
    uint64_t bits;
    int have;
    uint32_t next;

    __device__ uint32_t load(uint32_t number) const {
        return number < end ? __byte_perm(words[number], 0, 0x0123) : 0;
    }
    __device__ void begin(uint32_t bit) {
        at = bit / 32;
        bits = uint64_t(load(at)) << 32 << (bit % 32);
        have = 32 - int(bit % 32);
        next = load(at + 1);
        at += 2;
        refill();
    }
    // At least 32 bits are there afterwards. The word after them is in flight meanwhile.
    __device__ void refill() {
        if (have > 32) return;
        bits |= uint64_t(next) << (32 - have);
        have += 32;
        next = load(at++);
    }
    __device__ void skip(uint32_t count) {
        bits <<= count;
        have -= int(count);
    }
    __device__ uint32_t position() const { return (at - 1) * 32 - uint32_t(have); }
};

// Where the decoding thread is.
struct Progress {
    uint32_t filled; // symbols in shared memory
    bool ended, odd;
};

// Decodes up to kBatchGroups groups.
__device__ void decode_groups(Memory &memory, Bits &bits, uint32_t groups, uint32_t end_of_block, Progress &progress) {
    uint16_t *out = memory.symbols;
    for (uint32_t g = 0; g < groups && !progress.ended; g++) {
        const uint32_t table = memory.selectors[g];
        const uint32_t *lookup = memory.lookup[table];
        uint16_t *const group_end = out + HYBZ_GROUP;
        while (out < group_end) {
            bits.refill();
            const uint32_t entry = lookup[bits.bits >> (64 - kLookupBits)];
            if (entry & kBoth && out + 1 < group_end) {
                out[0] = uint16_t(first_symbol(entry));
                out[1] = uint16_t(second_symbol(entry));
                bits.skip(both_length(entry));
                out += 2;
                if (second_symbol(entry) == end_of_block) {
                    out--;
                    progress.ended = true;
                    break;
                }
                continue;
            }
            uint32_t symbol = first_symbol(entry), length = first_length(entry);
            if (length == 0) {
                const uint32_t top = uint32_t(bits.bits >> (64 - kMaxLength));
                const uint2 code = find_code(memory.codes[table], top, kLookupBits + 1, kMaxLength);
                symbol = code.x;
                length = code.y;
                if (length == 0) {
                    progress.ended = progress.odd = true;
                    break;
                }
            }
            bits.skip(length);
            if (symbol == end_of_block) {
                progress.ended = true;
                break;
            }
            *out++ = uint16_t(symbol);
        }
    }
    progress.filled = uint32_t(out - memory.symbols);
}

__global__ void __launch_bounds__(32) symbols_kernel(Decoding decoding) {
    __shared__ Memory memory;
    const uint32_t block = blockIdx.x, lane = threadIdx.x;
    const hybz_block &head = decoding.heads[block];
    Found &found = decoding.found[block];
    const uint32_t end_of_block = head.symbols - 1;
    bool odd = false;
    for (uint32_t t = 0; t < head.tables; t++) {
        odd |= !make_codes(memory, memory.codes[t], head.lengths[t], head.symbols);
        if (!odd) fill_lookup(memory.lookup[t], memory.codes[t], end_of_block);
    }
    Bits bits{reinterpret_cast<const uint32_t *>(decoding.input + head.at), 0, (head.end_bit + 31) / 32, 0, 0, 0};
    bits.begin(head.first_bit);
    uint16_t *const symbols = decoding.symbols + uint64_t(block) * kSymbolPitch;
    uint32_t count = 0;
    bool ended = false;
    for (uint32_t group = 0; !odd && !ended; group += kBatchGroups) {
        const uint32_t groups = min(kBatchGroups, head.selectors - min(group, head.selectors));
        if (lane < groups) memory.selectors[lane] = decoding.input[head.selectors_at + group + lane];
        __syncwarp();
        Progress progress{0, false, groups == 0};
        if (lane == 0) {
            decode_groups(memory, bits, groups, end_of_block, progress);
            progress.odd |= bits.position() > head.end_bit;
        }
        const uint32_t filled = __shfl_sync(~0u, progress.filled, 0);
        odd = __shfl_sync(~0u, progress.odd, 0);
        ended = __shfl_sync(~0u, progress.ended, 0);
        for (uint32_t i = lane; i < filled; i += 32) symbols[count + i] = memory.symbols[i];
        count += filled;
        __syncwarp();
    }
    if (lane == 0) found = {odd, odd ? 0 : count, bits.position(), 0, 0};
}

} // namespace

cudaError_t decode_symbols(const Decoding &decoding, cudaStream_t stream) {
    symbols_kernel<<<decoding.blocks, 32, 0, stream>>>(decoding);
    return cudaGetLastError();
}

} // namespace hybz
