// tokens.cu: the segments of `.hbz` blocks to symbols: asymmetric numeral systems with tables (docs/FORMAT.md).
//
//   1 tables    one warp a table: the shares of its symbols to its states
//   2 tokens    one warp a segment: one lane decodes; the others load words and store symbols
//
// The table and the position of a token depend on the token before it, so a segment is one chain. Each token waits for
// a look-up in tables of 786 kB a block, which fit no cache but the L2. Measured on an H200: 10 ms for a batch of 23
// blocks of source code (2,200 segments), while 5 were expected. All segments of a batch are in flight at the same
// time, and the walk (entries.cu) takes 19 ms, so this step was not improved.
//
// Twin: src/formats/hbz/codec/ans.rs, src/formats/hbz/codec/segment.rs.
#include "large.cuh"
#include "words.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = 4;
constexpr uint32_t kGroup = 32;        // tokens that a selector covers
constexpr uint32_t kBatchGroups = 16;  // groups between two loads and stores by the whole warp
constexpr uint32_t kWords = 128;       // of a segment's bits in shared memory
constexpr uint32_t kGroupMost = 20;    // words of a group (17 bits a token, 8 for the selector), and those read ahead
constexpr uint32_t kMaxSymbol = 256;

// An entry of a table, lowest bits first: the symbol's first value (8 bits), its extra bits (4), bits to read (4), next
// state without these (11), the token's class (3). In tables of selectors the value is the selector.
constexpr int kExtraAt = 8, kBitsAt = 12, kBaseAt = 16, kClassAt = 27;

inline __device__ uint32_t token_entry(uint32_t token) {
    const uint32_t of = class_of(token);
    if (token < kFirstRange) return token | of << kClassAt;
    const uint32_t range = token - kFirstRange, extra = 3 + range / 2;
    return (((2 + range % 2) << extra) + 2) | extra << kExtraAt | of << kClassAt;
}

__global__ void __launch_bounds__(kWarps * 32) tables_kernel(LargeDecoding decoding) {
    __shared__ TableMemory memories[kWarps];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, number = blockIdx.x * kWarps + warp;
    const uint32_t block = blockIdx.y;
    const hybz_large &head = decoding.blocks[block].head;
    const uint32_t token_tables = head.selectors * HYBZ_CLASSES;
    if (number >= token_tables + head.selectors) return;
    const bool is_token = number < token_tables;
    const uint32_t symbols = is_token ? HYBZ_TOKENS : head.selectors;
    const uint32_t state_log = is_token ? HYBZ_TOKEN_LOG : HYBZ_SELECTOR_LOG, states = 1u << state_log;
    const uint32_t at = is_token ? number * HYBZ_TOKENS
                                 : token_tables * HYBZ_TOKENS + (number - token_tables) * head.selectors;
    const uint16_t *const shares = reinterpret_cast<const uint16_t *>(decoding.input + head.shares_at) + at;
    uint32_t *const table =
        is_token ? decoding.token_tables + (uint64_t(block) * kTokenTables + number) * kTokenStates
                 : decoding.selector_tables +
                       (uint64_t(block) * HYBZ_LARGE_TABLES + number - token_tables) * kSelectorStates;
    const uint32_t share = lane < symbols ? shares[lane] : 0;
    assign_states(memories[warp], share, share, states, [&](uint32_t state, uint32_t symbol, uint32_t own) {
        const uint32_t bits = state_log + __clz(own) - 31; // fewer as it comes near `states`
        const uint32_t entry = is_token ? token_entry(symbol) : symbol;
        table[state] = entry | bits << kBitsAt | ((own << bits) - states) << kBaseAt;
    });
}

struct Memory {
    uint32_t words[kWords];
    uint16_t symbols[kBatchGroups * kGroup];
};

// The state of the decoding lane.
struct Decoder {
    const uint32_t *tables;    // of the block
    const uint32_t *selectors; //
    uint32_t states[2], selector_state, selector, before; // `before`: the class of the previous token
    uint32_t left;    // tokens
    uint32_t largest; // symbol so far

    __device__ void begin(Bits &bits) {
        states[0] = bits.read(HYBZ_TOKEN_LOG);
        states[1] = bits.read(HYBZ_TOKEN_LOG);
        selector_state = bits.read(HYBZ_SELECTOR_LOG);
    }

    // Decodes a token with one of the states: at most 17 bits.
    __device__ uint32_t token(const uint32_t *table, uint32_t &state, Bits &bits) {
        const uint32_t entry = table[before * kTokenStates + state], next = bits.peek();
        const uint32_t count = entry >> kBitsAt & 15, extra = entry >> kExtraAt & 15;
        before = entry >> kClassAt;
        state = (entry >> kBaseAt & (kTokenStates - 1)) + (next >> 1 >> (31 - count));
        const uint32_t symbol = (entry & 0xff) + (next << count >> 1 >> (31 - extra));
        largest = max(largest, symbol);
        bits.skip(count + extra);
        return symbol;
    }

    __device__ void group(Bits &bits, uint16_t *symbols) {
        const uint32_t entry = selectors[selector * kSelectorStates + selector_state];
        selector = entry & (HYBZ_LARGE_TABLES - 1);
        selector_state = (entry >> kBaseAt & (kSelectorStates - 1)) + bits.read(entry >> kBitsAt & 15);
        const uint32_t *const table = tables + selector * HYBZ_CLASSES * kTokenStates;
        const uint32_t count = min(left, kGroup);
        left -= count;
        for (uint32_t i = 0; i + 1 < count; i += 2) {
            symbols[i] = uint16_t(token(table, states[0], bits));
            symbols[i + 1] = uint16_t(token(table, states[1], bits));
        }
        if (count & 1) symbols[count - 1] = uint16_t(token(table, states[0], bits));
    }

    __device__ bool is_at_end() const { return (states[0] | states[1] | selector_state) == 0; }
};

__global__ void __launch_bounds__(kWarps * 32) tokens_kernel(LargeDecoding decoding) {
    __shared__ Memory memories[kWarps];
    const LargeSegment segment = segment_of(decoding, kWarps);
    if (!segment.is_any) return;
    const uint32_t lane = threadIdx.x & 31;
    Memory &memory = memories[threadIdx.x >> 5];
    const hybz_segment place = place_of_segment(decoding, segment);
    const uint32_t *const words = reinterpret_cast<const uint32_t *>(decoding.input + (place.at & ~3u));
    const uint32_t end_bit = (place.at % 4 + place.bytes) * 8;
    uint16_t *const symbols = decoding.symbols + segment.base;
    Decoder decoder{};
    decoder.tables = decoding.token_tables + uint64_t(segment.block) * kTokenTables * kTokenStates;
    decoder.selectors = decoding.selector_tables + uint64_t(segment.block) * HYBZ_LARGE_TABLES * kSelectorStates;
    decoder.left = place.tokens;
    uint32_t position = place.at % 4 * 8, done = 0;
    while (done < place.tokens && position <= end_bit) {
        const uint32_t first = position / 32;
        load_words(memory.words, words, first, (end_bit + 31) / 32);
        __syncwarp();
        uint32_t filled = 0;
        if (lane == 0) {
            Bits bits{memory.words};
            bits.begin(position - first * 32);
            if (done == 0) decoder.begin(bits);
            while (decoder.left && filled < kBatchGroups * kGroup && bits.at + kGroupMost <= kWords) {
                const uint32_t before = decoder.left;
                decoder.group(bits, memory.symbols + filled);
                filled += before - decoder.left;
            }
            position = first * 32 + bits.position();
        }
        __syncwarp();
        position = __shfl_sync(~0u, position, 0);
        filled = __shfl_sync(~0u, filled, 0);
        for (uint32_t i = lane; i < filled; i += 32) symbols[done + i] = memory.symbols[i];
        done += filled;
        __syncwarp();
    }
    const bool regular = position <= end_bit && decoder.is_at_end() && decoder.largest <= kMaxSymbol;
    if (lane == 0 && !regular) atomicOr(&decoding.odd[segment.block], 1u);
    // The later steps must not read uninitialised symbols.
    for (uint32_t i = done + lane; i < place.tokens; i += 32) symbols[i] = 0;
}

} // namespace

cudaError_t decode_tokens(const LargeDecoding &decoding, cudaStream_t stream) {
    const dim3 tables(blocks_for(kTokenTables + HYBZ_LARGE_TABLES, kWarps), decoding.count);
    const dim3 segments(blocks_for(decoding.most_segments, kWarps), decoding.count);
    tables_kernel<<<tables, kWarps * 32, 0, stream>>>(decoding);
    tokens_kernel<<<segments, kWarps * 32, 0, stream>>>(decoding);
    return cudaGetLastError();
}

} // namespace hybz
