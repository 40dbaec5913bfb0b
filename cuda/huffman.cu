// huffman.cu: Huffman codes to symbols.
//
// The position of a code depends on all codes before it and on the table of each group of 50, so a block is one chain:
// one thread of a warp decodes a block, and many blocks are in flight. Each step waits for the look-up of the one
// before. A look-up therefore takes ten bits and returns up to two symbols, and the loop around it branches only for
// rare codes. Words come from shared memory, into which the whole warp loads them, and what the look-ups return goes
// there, for the warp to make symbols of. Measured on an H200, a batch of 32 blocks of linux, one lane alone: 11.7 ms;
// 16.0 when the thread wrote the symbols itself, before that 33 with words from global memory.
//
// In a batch that this device has coded, the coder says where each group begins, and a thread decodes a group. If each
// of them ends where the next one is said to begin, this is what the chain finds. No look-up tables are needed: the
// bounds of the six tables' codes are in different banks of shared memory.
//
// Twin: src/codec/huffman/decode.rs.
#include "coding.cuh"
#include "decoding.cuh"
#include "words.cuh"

namespace hybz {

namespace {

constexpr int kLookupBits = 10;
constexpr uint32_t kBatchGroups = 20; // groups between two loads and stores by the whole warp
constexpr uint32_t kBatch = kBatchGroups * HYBZ_GROUP;
constexpr uint32_t kWords = 256;      // of a block's bits in shared memory
constexpr uint32_t kGroupMost = 40;   // max words of a group, and those read ahead
constexpr uint32_t kTop = 1u << kMaxLength;

// An entry of a look-up table, lowest bits first: the total length of its one or two codes (5 bits), their number (3),
// the length of the first one (4), their symbols (9 each). The entry is `kRare` instead if there is no code of up to
// ten bits, or for the end of the block. It has no length and no symbols, so look-ups do not advance past it. The sum
// of three entries has the sums of their lengths and numbers, at most 30 and 6.
constexpr uint32_t kRare = 1u << 31;
constexpr int kCountAt = 5, kFirstLengthAt = 8, kFirstAt = 12, kSecondAt = 21;
inline __device__ uint32_t length_of(uint32_t entry) { return entry & 31; }
inline __device__ uint32_t count_of(uint32_t entry) { return entry >> kCountAt & 7; }
inline __device__ uint32_t first_length(uint32_t entry) { return entry >> kFirstLengthAt & 15; }
inline __device__ uint32_t first_symbol(uint32_t entry) { return entry >> kFirstAt & 511; }
inline __device__ uint32_t second_symbol(uint32_t entry) { return entry >> kSecondAt & 511; }

struct Codes {
    uint32_t bound[kMaxLength + 1]; // codes of this length and shorter ones are below this, in 20 bits
    uint32_t place[kMaxLength + 1]; // of a symbol of this length in the order, less its code
    uint16_t order[HYBZ_MAX_SYMBOLS + 8]; // symbols by length, then by value
    uint32_t count[kMaxLength + 1], next[kMaxLength + 1]; // for make_codes
};
static_assert(sizeof(Codes) % 8 == 4, "the same bound of six tables is in different banks");

struct Memory {
    uint32_t lookup[HYBZ_MAX_TABLES][1 << kLookupBits];
    Codes codes[HYBZ_MAX_TABLES];
    uint32_t words[kWords];
    uint32_t entries[kBatch + 3]; // at least one symbol each, and room for three that are rare
    uint8_t selectors[kBatchGroups];
};

// Makes the codes of a table from its lengths, by a warp. Returns whether they are at most complete.
__device__ bool make_codes(Codes &codes, const uint8_t *lengths, uint32_t symbols) {
    const uint32_t lane = threadIdx.x & 31;
    const auto length_at = [&](uint32_t s) { return min(uint32_t(lengths[s]), uint32_t(kMaxLength)); };
    if (lane <= kMaxLength) codes.count[lane] = 0;
    __syncwarp();
    for (uint32_t s = lane; s < symbols; s += 32) atomicAdd(&codes.count[length_at(s)], 1u);
    __syncwarp();
    uint32_t taken = 0, place = 0;
    for (int length = 1; length <= kMaxLength; length++) {
        const uint32_t count = codes.count[length];
        if (lane == 0) {
            codes.place[length] = place - (taken >> (kMaxLength - length));
            codes.next[length] = place;
        }
        taken += count << (kMaxLength - length); // at most 258 << 19
        place += count;
        if (lane == 0) codes.bound[length] = taken;
    }
    __syncwarp();
    for (uint32_t from = 0; from < symbols; from += 32) {
        const uint32_t s = from + lane;
        const uint32_t length = s < symbols ? length_at(s) : 0;
        const uint32_t same = __match_any_sync(~0u, length);
        const uint32_t to = codes.next[length] + __popc(same & ((1u << lane) - 1));
        __syncwarp();
        if (length) {
            codes.order[to] = uint16_t(s);
            if ((same >> lane >> 1) == 0) codes.next[length] = to + 1;
        }
        __syncwarp();
    }
    return taken <= kTop;
}

// The symbol at the top of 20 bits with a code of `kFrom` to `to` bits, and its length; a length of 0 if there is none.
// All bounds are read, because they wait for nothing.
template <int kFrom> inline __device__ uint2 find_code(const Codes &codes, uint32_t bits, int to) {
    int length = kFrom;
#pragma unroll
    for (int shorter = kFrom; shorter <= kMaxLength; shorter++) length += bits >= codes.bound[shorter];
    if (length > to) return make_uint2(0, 0);
    return make_uint2(codes.order[codes.place[length] + (bits >> (kMaxLength - length))], uint32_t(length));
}

__device__ void fill_lookup(uint32_t *lookup, const Codes &codes, uint32_t end_of_block) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t e = lane; e < 1u << kLookupBits; e += 32) {
        const uint2 code = find_code<1>(codes, e << (kMaxLength - kLookupBits), kLookupBits);
        const bool rare = code.y == 0 || code.x == end_of_block;
        lookup[e] = rare ? kRare : code.y | code.x << kFirstAt | 1u << kCountAt | code.y << kFirstLengthAt;
    }
    __syncwarp();
    for (uint32_t e = lane; e < 1u << kLookupBits; e += 32) {
        const uint32_t own = lookup[e];
        uint32_t both = own;
        if (own != kRare) {
            const uint32_t rest = e << first_length(own) & ((1u << kLookupBits) - 1);
            const int most = kLookupBits - int(first_length(own));
            const uint2 code = find_code<1>(codes, rest << (kMaxLength - kLookupBits), most);
            if (code.y && code.x != end_of_block) both = own + code.y + (code.x << kSecondAt) + (1u << kCountAt);
        }
        __syncwarp();
        lookup[e] = both;
        __syncwarp();
    }
}

// The position of the decoding thread.
struct Progress {
    uint32_t entries; // in shared memory
    uint32_t groups;  // decoded groups
    bool ended, odd;
};

// The entry's first code alone.
inline __device__ uint32_t first_of(uint32_t entry) {
    return (entry & 511u << kFirstAt) | 1u << kCountAt | first_length(entry);
}

// Decodes up to `groups` groups, as long as there are words. The look-ups' entries are kept as they are: what is done
// with their symbols here would delay the next look-up, since a thread issues in order.
__device__ void decode_groups(Memory &memory, Bits &bits, uint32_t groups, uint32_t end_of_block, Progress &progress) {
    uint32_t filled = 0, group = 0;
    while (group < groups && bits.at + kGroupMost <= kWords && !progress.ended) {
        const uint32_t table = memory.selectors[group++];
        const uint32_t *const lookup = memory.lookup[table];
        // As a shift and an addition; `>>` would be two shifts and an AND of the address.
        const auto look_up = [&] { return lookup[__funnelshift_l(bits.peek(), 0, kLookupBits)]; };
        uint32_t next = look_up();
        for (int left = HYBZ_GROUP; left > 0 && !progress.ended;) {
            uint32_t first = 0, second = 0, third = 0;
            // Three look-ups take at most 30 bits, and there is one branch for them, after the next look-up. The bits
            // are counted, and new ones fetched, while the third is in flight.
            while ((left >= 6) & (third != kRare)) {
                const uint32_t before = third;
                first = next;
                bits.shift(first);
                second = look_up();
                bits.shift(second);
                third = look_up();
                bits.have -= length_of(before + first + second);
                bits.refill();
                bits.shift(third);
                next = look_up();
                memory.entries[filled] = first;
                memory.entries[filled + 1] = second;
                memory.entries[filled + 2] = third;
                filled += 3;
                left -= int(count_of(first + second + third));
            }
            bits.have -= length_of(third);
            bits.refill();
            filled -= (first == kRare) + (second == kRare) + (third == kRare); // they are the last
            while ((left > 0) & (next != kRare)) {
                const uint32_t entry = left == 1 ? first_of(next) : next;
                memory.entries[filled++] = entry;
                left -= int(count_of(entry));
                bits.skip(length_of(entry));
                next = look_up();
            }
            if (left == 0) break;
            // The end of the block may have a short code; other codes of up to ten bits are in the look-up table.
            const Codes &codes = memory.codes[table];
            const uint32_t top = bits.peek() >> (32 - kMaxLength);
            const uint2 code = top < codes.bound[kLookupBits] ? find_code<1>(codes, top, kMaxLength)
                                                              : find_code<kLookupBits + 1>(codes, top, kMaxLength);
            bits.skip(code.y);
            progress.odd = code.y == 0;
            progress.ended = progress.odd || code.x == end_of_block;
            if (!progress.ended) memory.entries[filled++] = code.x << kFirstAt | 1u << kCountAt;
            left--;
            next = look_up();
        }
    }
    progress.entries = filled;
    progress.groups = group;
}

// Writes the symbols of entries, of one or two symbols each. Returns the number of symbols.
__device__ uint32_t write_symbols(const uint32_t *entries, uint32_t count, uint16_t *to) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t written = 0;
    for (uint32_t i = 0; i < count; i += 32) {
        const uint32_t entry = i + lane < count ? entries[i + lane] : 0;
        const uint32_t twos = __ballot_sync(~0u, count_of(entry) == 2);
        uint16_t *const own = to + written + lane + __popc(twos & ((1u << lane) - 1));
        if (entry) own[0] = uint16_t(first_symbol(entry));
        if (twos >> lane & 1) own[1] = uint16_t(second_symbol(entry));
        written += min(count - i, 32u) + __popc(twos);
    }
    return written;
}

__global__ void __launch_bounds__(32) symbols_kernel(Decoding decoding) {
    __shared__ Memory memory;
    const uint32_t block = blockIdx.x, lane = threadIdx.x;
    const hybz_block &head = decoding.heads[block];
    Found &found = decoding.found[block];
    const uint32_t end_of_block = head.symbols - 1;
    bool odd = false;
    for (uint32_t t = 0; t < head.tables; t++) {
        odd |= !make_codes(memory.codes[t], head.lengths[t], head.symbols);
        if (!odd) fill_lookup(memory.lookup[t], memory.codes[t], end_of_block);
    }
    const uint32_t *const words = reinterpret_cast<const uint32_t *>(decoding.input + head.at);
    const uint32_t word_count = (head.end_bit + 31) / 32;
    uint16_t *const symbols = decoding.symbols + uint64_t(block) * kSymbolPitch;
    uint32_t count = 0, group = 0, position = head.first_bit;
    bool ended = false;
    while (!odd && !ended) {
        // The words and selectors that a batch needs; a batch that runs out of words continues in the next one.
        const uint32_t first = position / 32, groups = min(kBatchGroups, head.selectors - group);
        for (uint32_t i = lane; i < groups; i += 32)
            memory.selectors[i] = decoding.input[head.selectors_at + group + i];
        load_words(memory.words, words, first, word_count);
        __syncwarp();
        Progress progress{0, 0, false, groups == 0};
        if (lane == 0) {
            Bits bits{memory.words};
            bits.begin(position - first * 32);
            decode_groups(memory, bits, groups, end_of_block, progress);
            position = first * 32 + bits.position();
            progress.odd |= position > head.end_bit;
        }
        __syncwarp();
        position = __shfl_sync(~0u, position, 0);
        group += __shfl_sync(~0u, progress.groups, 0);
        odd = __shfl_sync(~0u, progress.odd, 0);
        ended = __shfl_sync(~0u, progress.ended, 0);
        count += write_symbols(memory.entries, __shfl_sync(~0u, progress.entries, 0), symbols + count);
        __syncwarp();
    }
    if (lane == 0) found = {odd, odd ? 0 : count, position, 0, 0};
}

// The decoder's head of a block that this device has coded: by 256 threads.
__device__ void write_head(hybz_block &head, const hybz_coded &coded) {
    const uint32_t byte = threadIdx.x, mask = coded.used[byte / 32];
    uint32_t place = __popc(mask & ((1u << byte % 32) - 1));
    for (uint32_t w = 0; w < byte / 32; w++) place += __popc(coded.used[w]);
    if (mask >> byte % 32 & 1) head.used[place] = uint8_t(byte);
    head.origin = coded.origin;
    head.limit = HYBZ_MAX_ROWS;
}

// Uses nothing that the coder has written but what will be downloaded, and where each group begins.
__global__ void __launch_bounds__(kThreads) groups_kernel(Decoding decoding, Coding coding) {
    __shared__ Codes tables[HYBZ_MAX_TABLES];
    __shared__ uint16_t symbols[kThreads * kGroup];
    const uint32_t block = blockIdx.y, tile = blockIdx.x * kThreads, group = tile + threadIdx.x;
    const hybz_coded &coded = coding.coded[block];
    const uint32_t groups = group_count(coded.symbols), alphabet = count_used(coded.used) + 2;
    if (tile >= groups || coded.bits == 0 || coded.symbols > kSymbolPitch) return;
    Found &found = decoding.found[block];
    if (tile == 0) write_head(const_cast<hybz_block *>(decoding.heads)[block], coded);
    if (group == 0) found.symbols = coded.symbols - 1;
    bool odd = false;
    const uint32_t table = threadIdx.x / 32, count = min(coded.tables, uint32_t(HYBZ_MAX_TABLES));
    if (table < count) odd = !make_codes(tables[table], coded.lengths[table], alphabet);
    __syncthreads();
    if (group < groups) {
        const uint32_t *const words = coding.out + coded.at / 4;
        const uint32_t *const begin = coding.offsets + block * coding.group_pitch + group;
        const uint32_t selector = reinterpret_cast<const uint8_t *>(words)[code_bytes(coded.bits) + group];
        uint32_t at = begin[0], s = group * kGroup;
        odd |= selector >= count || at > coded.bits || (group == 0 && at != 0);
        for (const uint32_t end = min(s + kGroup, coded.symbols); s < end && !odd; s++) {
            const uint32_t high = __byte_perm(words[at / 32], 0, 0x0123);
            const uint32_t low = __byte_perm(words[at / 32 + 1], 0, 0x0123);
            const uint2 code = find_code<1>(tables[selector], __funnelshift_l(low, high, at) >> (32 - kMaxLength),
                                            kMaxLength);
            symbols[s - tile * kGroup] = uint16_t(code.x);
            at += code.y;
            odd = code.y == 0 || (code.x == alphabet - 1) != (s + 1 == coded.symbols); // the last one ends the block
        }
        odd |= at != (group + 1 < groups ? begin[1] : coded.bits);
    }
    if (odd) atomicOr(&found.odd, 1u);
    __syncthreads();
    uint16_t *const to = decoding.symbols + uint64_t(block) * kSymbolPitch + tile * kGroup;
    for (uint32_t i = threadIdx.x; i < min(kThreads * kGroup, coded.symbols - tile * kGroup); i += kThreads)
        to[i] = symbols[i];
}

} // namespace

cudaError_t decode_symbols(const Decoding &decoding, cudaStream_t stream) {
    symbols_kernel<<<decoding.blocks, 32, 0, stream>>>(decoding);
    return cudaGetLastError();
}

cudaError_t decode_groups(const Decoding &decoding, const Coding &coding, cudaStream_t stream) {
    groups_kernel<<<dim3(blocks_for(coding.group_pitch, kThreads), decoding.blocks), kThreads, 0, stream>>>(decoding,
                                                                                                            coding);
    return cudaGetLastError();
}

cudaError_t load_symbols() { return load_kernels(symbols_kernel); }

} // namespace hybz
