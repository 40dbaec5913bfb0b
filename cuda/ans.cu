// ans.cu: encodes the segments of `.hbz` blocks from their ends, by asymmetric numeral systems with tables
// (docs/FORMAT.md).
//
//   1 encoders  one warp a table: the shares of its symbols to the states before each state
//   2 encode    one warp a segment: all lanes follow the two states that take turns, those of even lanes the first and
//               those of odd lanes the second; each keeps what one token gives off, and all write together
//   3 places    one CTA: where each segment's bytes begin
//   4 bytes     one CTA a segment: the bits, whose last one is known first, to bytes
//
// Each next state waits for a look-up in tables of 393 kB a block: a segment is two chains of at most 32,768 look-ups.
// All segments of a batch are therefore in flight at the same time. Measured (H200): 6.2 ms for 382 segments of source
// code, 5.9 for 34; 4 were predicted.
//
// Twin: src/formats/hbz/codec/ans.rs, src/formats/hbz/codec/encode.rs.
#include "large_coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kWarps = 4;
constexpr uint32_t kStage = 24; // words: the rest of the previous one, and a group of 32 tokens and a selector

__global__ void __launch_bounds__(kWarps * 32) encoders_kernel(LargeCoding coding) {
    __shared__ TableMemory memories[kWarps];
    const uint32_t lane = threadIdx.x & 31, block = blockIdx.y;
    const uint32_t number = blockIdx.x * kWarps + (threadIdx.x >> 5), selectors = coding.about[block].selectors;
    const uint32_t token_tables = selectors * HYBZ_CLASSES;
    if (number >= token_tables + selectors) return;
    const bool is_token = number < token_tables;
    const uint32_t table = is_token ? number : number - token_tables;
    const uint32_t alphabet = is_token ? HYBZ_TOKENS : selectors;
    const uint32_t state_log = is_token ? HYBZ_TOKEN_LOG : HYBZ_SELECTOR_LOG, states = 1u << state_log;
    const hybz_shares &all = coding.shares[block];
    const uint16_t *const shares = is_token ? &all.tokens[0][0] + table * HYBZ_TOKENS : all.selectors[table];
    Symbol *const symbols = is_token ? coding.symbols + (uint64_t(block) * kTokenTables + table) * HYBZ_TOKENS
                                     : coding.selector_symbols + (block * kSelectors + table) * kSelectors;
    uint16_t *const before = is_token
                                 ? coding.states + (uint64_t(block) * kTokenTables + table) * kTokenStates
                                 : coding.selector_states + (uint64_t(block) * kSelectors + table) * kSelectorStates;
    const uint32_t share = lane < alphabet ? shares[lane] : 0, from = sum_up_to(share) - share;
    // A state loses this many bits, or one fewer, to get into share..2 * share.
    const uint32_t most = state_log + __clz(max(share, 1u)) - 31;
    if (lane < alphabet)
        symbols[lane] = {(most << 16) - (share << most), int32_t(table * states + from) - int32_t(share)};
    assign_states(memories[threadIdx.x >> 5], share, from, states,
                  [&](uint32_t state, uint32_t, uint32_t number) { before[number] = uint16_t(states + state); });
}

inline __device__ uint32_t extra_bits(uint32_t joint) {
    const uint32_t token = joint % HYBZ_TOKENS;
    return token < kFirstRange ? 0 : 3 + (token - kFirstRange) / 2;
}

// Removes the bits that a symbol's state emits: returns them and sets their number. Leaves the next state's index.
inline __device__ uint32_t give_off(Symbol symbol, uint32_t &state, uint32_t &bits) {
    bits = (state + symbol.bits) >> 16;
    const uint32_t given = state & ((1u << bits) - 1);
    state = uint32_t(int32_t(state >> bits) + symbol.first);
    return given;
}

// A bit string to whose front a warp adds bits: word 0 is the last one.
struct Backwards {
    uint32_t *words; // kStage, shared; zero at first
    uint32_t *out;
    uint32_t done;   // words written
    uint32_t filled; // bits in the words

    // Puts the pieces of all lanes in front of the string, lane 0 first: up to 25 bits each.
    __device__ void put(uint32_t piece, uint32_t bits) {
        const uint32_t lane = threadIdx.x & 31, until = sum_up_to(bits);
        const uint32_t all = __shfl_sync(~0u, until, 31), at = filled + all - until;
        const uint64_t shifted = uint64_t(piece) << (at % 32);
        if (uint32_t(shifted)) atomicOr(&words[at / 32], uint32_t(shifted));
        if (shifted >> 32) atomicOr(&words[at / 32 + 1], uint32_t(shifted >> 32));
        __syncwarp();
        filled += all;
        const uint32_t whole = filled / 32, own = lane < kStage ? words[lane] : 0;
        const uint32_t left = __shfl_sync(~0u, own, whole);
        if (lane < whole) out[done + lane] = own;
        __syncwarp();
        if (lane < kStage) words[lane] = lane == 0 ? left : 0;
        __syncwarp();
        done += whole;
        filled %= 32;
    }

    // Writes the rest. Returns the total number of bits.
    __device__ uint32_t finish() {
        if ((threadIdx.x & 31) == 0) out[done] = words[0];
        return done * 32 + filled;
    }
};

struct EncodeMemory {
    Symbol symbols[kSelectors * kJoint];
    uint32_t words[kWarps][kStage];
};

__global__ void __launch_bounds__(kWarps * 32) encode_kernel(LargeCoding coding) {
    __shared__ EncodeMemory memory;
    const uint32_t block = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const Symbol *const symbols = coding.symbols + uint64_t(block) * kSelectors * kJoint;
    const uint32_t known = coding.about[block].selectors * kJoint;
    for (uint32_t s = threadIdx.x; s < known; s += kWarps * 32) memory.symbols[s] = symbols[s];
    if (lane < kStage) memory.words[warp][lane] = 0;
    __syncthreads();
    const CodingSegment segment = segment_of(coding, block, blockIdx.x * kWarps + warp);
    if (segment.rows == 0) return;
    const uint32_t count = coding.coded[segment.number].tokens;
    const uint8_t *const joint = coding.joint + row_place(segment), *const extras = coding.extras + row_place(segment);
    const uint8_t *const choice = coding.choice + group_place(segment);
    const uint16_t *const states = coding.states + uint64_t(block) * kTokenTables * kTokenStates;
    const Symbol *const selectors = coding.selector_symbols + block * kSelectors * kSelectors;
    const uint16_t *const selector_states = coding.selector_states + uint64_t(block) * kSelectors * kSelectorStates;
    Backwards bits{memory.words[warp], coding.bits + uint64_t(segment.number) * kSegmentWords, 0, 0};
    uint32_t state = kTokenStates, selector_state = kSelectorStates;
    for (uint32_t group = groups_of(count); group-- > 0;) {
        const uint32_t from = group * kTokenGroup, here = min(count - from, kTokenGroup);
        const uint32_t token = lane < here ? joint[from + lane] : 0, extra = lane < here ? extras[from + lane] : 0;
        const uint32_t selector = choice[group];
        const Symbol own = memory.symbols[selector * kJoint + token];
        uint32_t piece = 0, size = 0;
#pragma unroll
        for (uint32_t pair = kTokenGroup / 2; pair-- > 0;) {
            const uint32_t at = 2 * pair + (lane & 1);
            Symbol symbol;
            symbol.bits = __shfl_sync(~0u, own.bits, at);
            symbol.first = int32_t(__shfl_sync(~0u, uint32_t(own.first), at));
            if (at >= here) continue;
            uint32_t given_bits;
            const uint32_t given = give_off(symbol, state, given_bits);
            state = states[state];
            if (lane == at) piece = given, size = given_bits;
        }
        if (lane < here) {
            const uint32_t more = extra_bits(token);
            piece = piece << more | extra;
            size += more;
        }
        uint32_t given_bits;
        const uint32_t before = group ? choice[group - 1] : 0;
        const uint32_t given = give_off(selectors[before * kSelectors + selector], selector_state, given_bits);
        selector_state = selector_states[selector_state];
        if (lane == 0) {
            piece |= given << size;
            size += given_bits;
        }
        bits.put(piece, size);
    }
    // The states with which the decoder begins.
    const uint32_t odd = __shfl_sync(~0u, state, 1);
    const uint32_t first = (state - kTokenStates) << HYBZ_TOKEN_LOG | (odd - kTokenStates);
    bits.put(lane == 0 ? first : lane == 1 ? selector_state - kSelectorStates : 0,
             lane == 0 ? 2 * HYBZ_TOKEN_LOG : lane == 1 ? HYBZ_SELECTOR_LOG : 0);
    const uint32_t all = bits.finish();
    if (lane == 0) coding.coded[segment.number].bits = all;
}

__global__ void __launch_bounds__(kLevels) places_kernel(LargeCoding coding) {
    __shared__ ScanMemory memory;
    sum_before(
        memory, coding.segments, [&](uint32_t segment) { return (coding.coded[segment].bits + 7) / 8; },
        [&](uint32_t segment, uint32_t before) { coding.offsets[segment] = before; });
}

__global__ void __launch_bounds__(kThreads) bytes_kernel(LargeCoding coding) {
    const uint32_t segment = blockIdx.x, bits = coding.coded[segment].bits, bytes = (bits + 7) / 8;
    const uint32_t *const words = coding.bits + uint64_t(segment) * kSegmentWords;
    uint8_t *const out = coding.out + coding.offsets[segment];
    // Zero bits pad the last byte.
    const uint32_t padding = bytes * 8 - bits;
    for (uint32_t byte = threadIdx.x; byte < bytes; byte += kThreads) {
        const uint32_t end = (bytes - 1 - byte) * 8;
        if (end == 0) {
            out[byte] = uint8_t(words[0] << padding);
            continue;
        }
        const uint32_t at = end - padding, low = words[at / 32];
        const uint32_t high = at % 32 > 24 ? words[at / 32 + 1] : 0;
        out[byte] = uint8_t((uint64_t(high) << 32 | low) >> (at % 32));
    }
}

} // namespace

cudaError_t encode_segments(const LargeCoding &coding, cudaStream_t stream) {
    const dim3 tables(blocks_for(kTokenTables + kSelectors, kWarps), coding.blocks);
    const dim3 segments(blocks_for(coding.most_segments, kWarps), coding.blocks);
    encoders_kernel<<<tables, kWarps * 32, 0, stream>>>(coding);
    encode_kernel<<<segments, kWarps * 32, 0, stream>>>(coding);
    places_kernel<<<1, kLevels, 0, stream>>>(coding);
    bytes_kernel<<<coding.segments, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
