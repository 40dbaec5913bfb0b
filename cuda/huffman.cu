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

// An entry of a look-up table, lowest bits first: the length of its one or two codes (5 bits), their symbols (9 each),
// how many they are (2). `kRare` instead: no code of up to ten bits, or the end of the block.
constexpr uint32_t kRare = 1u << 31;
constexpr int kFirstAt = 5, kSecondAt = 14, kCountAt = 23;
inline __device__ uint32_t length_of(uint32_t entry) { return entry & 31; }
inline __device__ uint32_t first_symbol(uint32_t entry) { return entry >> kFirstAt & 511; }
inline __device__ uint32_t second_symbol(uint32_t entry) { return entry >> kSecondAt & 511; }
inline __device__ uint32_t count_of(uint32_t entry) { return entry >> kCountAt & 3; }

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
        const bool rare = code.y == 0 || code.x == end_of_block;
        lookup[e] = rare ? kRare : code.y | code.x << kFirstAt | 1u << kCountAt;
    }
    __syncwarp();
    for (uint32_t e = lane; e < 1u << kLookupBits; e += 32) {
        const uint32_t own = lookup[e];
        uint32_t both = own;
        if (own != kRare) {
            const uint32_t rest = e << length_of(own) & ((1u << kLookupBits) - 1);
            const int most = kLookupBits - int(length_of(own));
            const uint2 code = find_code(codes, rest << (kMaxLength - kLookupBits), 1, most);
            if (code.y && code.x != end_of_block) both = own + code.y + (code.x << kSecondAt) + (1u << kCountAt);
        }
        __syncwarp();
        lookup[e] = both;
        __syncwarp();
    }
}

// The bits of a block. Two words are at hand and a third is on its way: a look-up waits for one shift.
struct Bits {
    const uint32_t *words;
    uint32_t end;              // the number of words
    uint32_t at;               // the number of the word in `next`
    uint32_t high, low, next;
    uint32_t used;             // bits of `high` that are done with: below 32

    __device__ uint32_t load(uint32_t number) const {
        return number < end ? __byte_perm(words[number], 0, 0x0123) : 0;
    }
    __device__ void begin(uint32_t bit) {
        at = bit / 32 + 2;
        high = load(at - 2);
        low = load(at - 1);
        next = load(at);
        used = bit % 32;
    }
    // The next 32 bits.
    __device__ uint32_t peek() const { return __funnelshift_l(low, high, used); }
    // At most 20 bits.
    __device__ void skip(uint32_t count) {
        used += count;
        if (used < 32) return;
        used -= 32;
        high = low;
        low = next;
        next = load(++at);
    }
    __device__ uint32_t position() const { return (at - 2) * 32 + used; }
};

// Where the decoding thread is.
struct Progress {
    uint32_t filled; // symbols in shared memory
    bool ended, odd;
};

// Decodes one code that is not in the look-up table, or of which the next one is not wanted. Returns whether it is a
// symbol.
__device__ bool decode_one(const Codes &codes, Bits &bits, uint32_t end_of_block, uint16_t *out, Progress &progress) {
    const uint2 code = find_code(codes, bits.peek() >> (32 - kMaxLength), 1, kMaxLength);
    bits.skip(code.y);
    progress.odd = code.y == 0;
    progress.ended = progress.odd || code.x == end_of_block;
    if (!progress.ended) *out = uint16_t(code.x);
    return !progress.ended;
}

// Decodes up to kBatchGroups groups.
__device__ void decode_groups(Memory &memory, Bits &bits, uint32_t groups, uint32_t end_of_block, Progress &progress) {
    uint32_t filled = 0;
    for (uint32_t g = 0; g < groups && !progress.ended; g++) {
        const uint32_t table = memory.selectors[g];
        const uint32_t *const lookup = memory.lookup[table];
        uint32_t left = HYBZ_GROUP;
        while (left >= 2) {
            const uint32_t entry = lookup[bits.peek() >> (32 - kLookupBits)];
            if (entry == kRare) {
                if (!decode_one(memory.codes[table], bits, end_of_block, memory.symbols + filled, progress)) break;
                filled++;
                left--;
                continue;
            }
            bits.skip(length_of(entry));
            memory.symbols[filled] = uint16_t(first_symbol(entry));
            memory.symbols[filled + 1] = uint16_t(second_symbol(entry)); // if there is none, the next one comes here
            filled += count_of(entry);
            left -= count_of(entry);
        }
        if (left == 1 && !progress.ended)
            filled += decode_one(memory.codes[table], bits, end_of_block, memory.symbols + filled, progress);
    }
    progress.filled = filled;
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
    Bits bits{reinterpret_cast<const uint32_t *>(decoding.input + head.at), (head.end_bit + 31) / 32, 0, 0, 0, 0, 0};
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
        __syncwarp();
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
