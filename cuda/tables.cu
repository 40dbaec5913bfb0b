// tables.cu: bzip2's choice of tables, its selectors and its code lengths, exactly; one CTA a block.
//
// Each of the rounds gives every group of 50 symbols to the table that codes it in the fewest bits, then makes each
// table anew from the symbols of its groups. All steps but the last are sums of integers, in any order. The six lengths
// of a symbol share one 64-bit word, 10 bits each, so one look-up and one addition for each symbol give all costs (as
// in src/codec/selector/encode.rs).
//
// Code lengths are made by bzip2's binary heap, which is sequential (src/codec/huffman/encode.rs explains why no other
// method will do). Each table has a warp. One of its threads builds the tree, with a heap in shared memory and both
// children in one load; then the whole warp climbs from the leaves. The rest of the CTA waits, so a block takes about
// a millisecond, however few blocks there are; other blocks and other lanes keep the device busy.
//
// Measured (H200): linux 1.20 ms for 8 blocks, 1.51 for 32, 1.57 for 64, 1.82 for 256, which is 53, 27 and 8 ps a byte
// for the last three; nci 0.32, dickens 1.22 (64 blocks). The prediction for linux was 1.0 ms. With one thread for each
// group instead of two: 1.58, 1.68, 1.89, and dickens 1.43. The heaps therefore take most of the time on linux, with
// its large alphabet. With other lanes running, all of the coding costs 10 to 15 ps a byte.
//
// Twin: src/codec/selector/encode.rs and src/codec/huffman/encode.rs; on the CPU sim/coding.hpp.
#include "coding.cuh"

namespace hybz {

namespace {

constexpr uint32_t kTileGroups = 320;
constexpr uint32_t kTableThreads = 2 * kTileGroups; // two share a group: one takes 26 symbols, the other 24
constexpr uint32_t kHalf = (kGroupWords + 1) / 2;
constexpr uint32_t kTables = HYBZ_MAX_TABLES;
constexpr uint32_t kRounds = 4;
constexpr int kField = 10; // bits of one cost: 50 codes of 17 bits are 850
constexpr uint32_t kMaxCode = HYBZ_MAX_CODE;
static_assert(kTableThreads >= 32 * kTables, "a warp for each table");
static_assert(kGroup * kMaxCode < 1u << kField && kTables * kField <= 64);

// The memory in which one table is made.
struct Heap {
    uint4 pairs[kRow / 2]; // entries (node, weight), root at 1, two children in one
    uint32_t weights[kRow];
    uint16_t parents[2 * kRow];
};

struct TablesMemory {
    union {
        uint32_t words[kTileGroups * kGroupWords]; // symbols of a tile, two in a word
        Heap heaps[kTables];
    };
    uint64_t costs[kRow];
    uint32_t counts[kTables * kRow];
    uint8_t lengths[kTables][kRow];
    ScanMemory scan;
};

// Builds Huffman's tree with bzip2's heap, entry for entry: sets the parents of all nodes. Entry 0 is lighter than all
// others; the entry after the last one is heavier.
inline __device__ void build(Heap &heap, uint32_t count) {
    uint2 *const entries = reinterpret_cast<uint2 *>(heap.pairs);
    entries[0] = make_uint2(0, 0);
    const auto push = [&](uint32_t len, uint2 entry) {
        uint32_t at = len;
        for (;;) {
            const uint2 parent = entries[at >> 1];
            if (entry.y >= parent.y) break;
            entries[at] = parent;
            at >>= 1;
        }
        entries[at] = entry;
    };
    for (uint32_t leaf = 0; leaf < count; leaf++) push(leaf + 1, make_uint2(leaf + 1, heap.weights[leaf]));
    const auto pop = [&](uint32_t len) {
        const uint2 root = entries[1], moved = entries[len];
        entries[len] = make_uint2(0, ~0u);
        uint32_t at = 1;
        for (uint32_t child = 2; child < len; child = 2 * at) {
            const uint4 pair = heap.pairs[child / 2];
            const bool right = pair.w < pair.y;
            const uint2 lighter = right ? make_uint2(pair.z, pair.w) : make_uint2(pair.x, pair.y);
            if (moved.y < lighter.y) break;
            entries[at] = lighter;
            at = child + right;
        }
        entries[at] = moved;
        return root;
    };
    uint32_t node = count;
    for (uint32_t len = count; len > 1; len--) {
        const uint2 first = pop(len), second = pop(len - 1);
        node++;
        heap.parents[first.x] = uint16_t(node);
        heap.parents[second.x] = uint16_t(node);
        const uint32_t depth = 1 + max(first.y & 0xff, second.y & 0xff);
        push(len - 1, make_uint2(node, ((first.y & ~0xffu) + (second.y & ~0xffu)) | depth));
    }
}

// The code lengths for these frequencies; one warp.
inline __device__ void make_lengths(Heap &heap, const uint32_t *frequencies, uint32_t count, uint8_t *lengths) {
    const uint32_t lane = threadIdx.x & 31;
    for (uint32_t s = lane; s < count; s += 32) heap.weights[s] = max(frequencies[s], 1u) << 8;
    for (;;) {
        __syncwarp();
        if (lane == 0) build(heap, count);
        __syncwarp();
        bool too_long = false;
        for (uint32_t s = lane; s < count; s += 32) {
            uint32_t depth = 0;
            for (uint32_t node = s + 1; node != 2 * count - 1; node = heap.parents[node]) depth++;
            lengths[s] = uint8_t(depth);
            too_long |= depth > kMaxCode;
        }
        if (!__any_sync(~0u, too_long)) return;
        for (uint32_t s = lane; s < count; s += 32) heap.weights[s] = (1 + (heap.weights[s] >> 8) / 2) << 8;
    }
}

inline __device__ uint32_t table_count(uint32_t symbols) {
    return symbols < 200 ? 2 : symbols < 600 ? 3 : symbols < 1200 ? 4 : symbols < 2400 ? 5 : 6;
}

// The first tables: each has cheap codes for one range of the alphabet. One thread.
inline __device__ void first_tables(TablesMemory &memory, const uint32_t *frequencies, uint32_t tables,
                                    uint32_t alphabet, uint32_t symbols) {
    uint32_t left = symbols, from = 0;
    for (uint32_t part = tables; part >= 1; part--) {
        const uint32_t wanted = left / part;
        uint32_t to = from, sum = 0;
        while (sum < wanted && to < alphabet) sum += frequencies[to++];
        if (to > from + 1 && part != tables && part != 1 && (tables - part) % 2 == 1) sum -= frequencies[--to];
        for (uint32_t s = from; s < to; s++) memory.lengths[part - 1][s] = 0;
        from = to;
        left -= sum;
    }
}

// Packs each symbol's code lengths into its cost; whole CTA.
inline __device__ void set_costs(TablesMemory &memory, uint32_t tables, uint32_t alphabet) {
    constexpr uint64_t kNever = 20; // of tables that do not exist: more than any code
    for (uint32_t s = threadIdx.x; s < kRow; s += kTableThreads) {
        uint64_t packed = 0;
        for (uint32_t t = kTables; t-- > 0;) packed = packed << kField | (t < tables ? memory.lengths[t][s] : kNever);
        memory.costs[s] = s < alphabet ? packed : 0;
    }
}

// Calls `f` with the symbols of this thread's half of its group.
template <class F>
inline __device__ void each_symbol(const TablesMemory &memory, F f) {
    const uint32_t *words = memory.words + (threadIdx.x >> 1) * kGroupWords;
    const uint32_t from = threadIdx.x & 1 ? kHalf : 0;
#pragma unroll
    for (uint32_t w = 0; w < kHalf; w++) {
        if (w == kHalf - 1 && from) break;
        f(words[from + w] & 0xffff);
        f(words[from + w] >> 16);
    }
}

// The cost of this thread's group with each table; 0 unless there is a group (`any`). Whole warp.
inline __device__ uint64_t cost_of(const TablesMemory &memory, bool any) {
    uint64_t cost = 0;
    if (any) each_symbol(memory, [&](uint32_t symbol) { cost += memory.costs[symbol]; });
    const uint32_t low = __shfl_xor_sync(~0u, uint32_t(cost), 1), high = __shfl_xor_sync(~0u, uint32_t(cost >> 32), 1);
    return cost + (uint64_t(high) << 32 | low);
}

// The CTA's block.
struct Block {
    const uint32_t *symbols;   // two in a word
    uint32_t count, groups;    // number of symbols, and of groups of them
    uint32_t tables, alphabet; // number of tables, and of different symbols
};

inline __device__ Block block_of(const Coding &coding, const hybz_coded &coded) {
    return {symbol_words(coding, blockIdx.x), coded.symbols, group_count(coded.symbols), table_count(coded.symbols),
            count_used(coded.used) + 2};
}

// Calls `f`, for each tile of groups, with this thread's group, whether there is such a group, and its cost with each
// table. Whole CTA.
template <class F>
inline __device__ void each_group(TablesMemory &memory, const Block &block, F f) {
    for (uint32_t tile = 0; tile < block.groups; tile += kTileGroups) {
        __syncthreads();
        const uint32_t words = min(kTileGroups, block.groups - tile) * kGroupWords;
        for (uint32_t w = threadIdx.x; w < words; w += kTableThreads)
            memory.words[w] = block.symbols[tile * kGroupWords + w];
        __syncthreads();
        const uint32_t group = tile + threadIdx.x / 2;
        const bool any = group < block.groups;
        f(group, any, cost_of(memory, any));
    }
}

inline __device__ uint32_t cost_by(uint64_t cost, uint32_t table) {
    return uint32_t(cost >> (kField * table)) & ((1u << kField) - 1);
}

// Assigns each group to the table that codes it in the fewest bits, and counts each table's symbols; whole CTA.
inline __device__ void select_tables(TablesMemory &memory, const Block &block, uint8_t *selectors) {
    for (uint32_t c = threadIdx.x; c < kTables * kRow; c += kTableThreads) memory.counts[c] = 0;
    each_group(memory, block, [&](uint32_t group, bool any, uint64_t cost) {
        if (!any) return;
        uint32_t best = ~0u;
#pragma unroll
        for (uint32_t t = 0; t < kTables; t++) best = min(best, cost_by(cost, t) << 3 | t);
        best &= 7;
        if (threadIdx.x % 2 == 0) selectors[group] = uint8_t(best);
        uint32_t *counts = memory.counts + best * kRow;
        each_symbol(memory, [&](uint32_t symbol) { atomicAdd(&counts[symbol], 1u); });
    });
    __syncthreads();
}

// Sets the bit at which each group's codes begin. Returns the number of bits of all codes. Whole CTA.
inline __device__ uint32_t set_offsets(TablesMemory &memory, const Block &block, const uint8_t *selectors,
                                       uint32_t *offsets) {
    uint32_t bits = 0;
    each_group(memory, block, [&](uint32_t group, bool any, uint64_t cost) {
        const bool mine = any && threadIdx.x % 2 == 0;
        const uint32_t own = mine ? cost_by(cost, selectors[group]) : 0;
        const Scanned sum = scan_before(memory.scan, own, Sum{});
        if (mine) offsets[group] = bits + sum.before;
        bits += sum.all;
    });
    return bits;
}

// The canonical code of a symbol, above 8 bits of its length: shorter codes come before longer ones, equally long ones
// in the order of symbols.
inline __device__ uint32_t code_of(const uint8_t *lengths, uint32_t symbol, uint32_t alphabet) {
    const uint32_t own = lengths[symbol];
    uint32_t code = 0; // the share of all possible codes that the codes before it take
    for (uint32_t s = 0; s < alphabet; s++)
        if (lengths[s] < own || (lengths[s] == own && s < symbol)) code += 1u << (kMaxCode - lengths[s]);
    return code >> (kMaxCode - own) << 8 | own;
}

__global__ void __launch_bounds__(kTableThreads) tables_kernel(Coding coding) {
    __shared__ TablesMemory memory;
    const uint32_t thread = threadIdx.x, warp = thread >> 5;
    hybz_coded &coded = coding.coded[blockIdx.x];
    const Block block = block_of(coding, coded);
    uint8_t *selectors = coding.selectors + blockIdx.x * coding.group_pitch;

    for (uint32_t t = 0; t < kTables; t++)
        for (uint32_t s = thread; s < kRow; s += kTableThreads) memory.lengths[t][s] = 15;
    for (uint32_t s = thread; s < kRow; s += kTableThreads)
        memory.counts[s] = coding.frequencies[blockIdx.x * kRow + s];
    __syncthreads();
    if (thread == 0) first_tables(memory, memory.counts, block.tables, block.alphabet, block.count);
    __syncthreads();
    for (uint32_t round = 0; round < kRounds; round++) {
        set_costs(memory, block.tables, block.alphabet);
        select_tables(memory, block, selectors);
        if (warp < block.tables)
            make_lengths(memory.heaps[warp], memory.counts + warp * kRow, block.alphabet, memory.lengths[warp]);
        __syncthreads();
    }
    set_costs(memory, block.tables, block.alphabet);
    const uint32_t bits = set_offsets(memory, block, selectors, coding.offsets + blockIdx.x * coding.group_pitch);

    uint32_t *codes = coding.codes + blockIdx.x * kTables * kRow;
    for (uint32_t c = thread; c < block.tables * kRow; c += kTableThreads) {
        const uint32_t table = c / kRow, symbol = c % kRow;
        codes[c] = symbol < block.alphabet ? code_of(memory.lengths[table], symbol, block.alphabet) : 0;
    }
    for (uint32_t t = 0; t < block.tables; t++)
        for (uint32_t s = thread; s < block.alphabet; s += kTableThreads) coded.lengths[t][s] = memory.lengths[t][s];
    if (thread == 0) {
        coded.tables = block.tables;
        coded.bits = bits;
    }
}

} // namespace

cudaError_t choose_tables(const Coding &coding, cudaStream_t stream) {
    tables_kernel<<<coding.blocks, kTableThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
