// huffman.cu: figure 4.7 of Patel's thesis (2012): how long the histogram, the tree and the coding take.
//
// His way (section 2.3): a histogram a block in shared memory; one block of 128 threads builds the tree, in which a
// reduction finds the two least frequent entries for each node; 128 threads code 4,096 bytes, of which each writes 32,
// into bits that end with a whole byte.
#include "common.hpp"

namespace theses {

namespace {

constexpr uint32_t kThreads = 128, kEach = 32, kBlock = kThreads * kEach, kSymbols = 256, kNodes = 2 * kSymbols;
// The longest code of a text of 4 GB: the frequencies of its tree grow as Fibonacci's numbers.
constexpr uint32_t kMaxBytes = kBlock * 46 / 8 + 8;

struct Code {
    uint64_t bits;
    uint32_t length;
};

__global__ void __launch_bounds__(kThreads) count_bytes(const uint8_t *text, uint32_t n, uint32_t *counts) {
    __shared__ uint32_t own[kSymbols];
    for (uint32_t i = threadIdx.x; i < kSymbols; i += kThreads) own[i] = 0;
    __syncthreads();
    const uint32_t first = blockIdx.x * kBlock;
    for (uint32_t i = first + threadIdx.x; i < first + kBlock && i < n; i += kThreads) atomicAdd(&own[text[i]], 1);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kSymbols; i += kThreads)
        if (own[i]) atomicAdd(&counts[i], own[i]);
}

// An entry of the histogram as a number: the frequency, then the node; kNever is none.
constexpr uint64_t kNever = ~0ull;

__device__ void two_least(uint64_t *a, uint64_t *b, uint64_t c, uint64_t d) {
    const uint64_t low = min(*a, c), high = max(*a, c);
    *b = min(high, min(*b, d));
    *a = low;
}

__global__ void __launch_bounds__(kThreads) build_tree(const uint32_t *counts, Code *codes) {
    __shared__ uint64_t entries[kNodes], least[kThreads], second[kThreads];
    __shared__ uint32_t parent[kNodes];
    __shared__ uint32_t root;
    const uint32_t thread = threadIdx.x;
    for (uint32_t i = thread; i < kNodes; i += kThreads) {
        entries[i] = i < kSymbols && counts[i] ? uint64_t(counts[i]) << 32 | i : kNever;
        parent[i] = kNone;
    }
    if (thread == 0) root = kNone;
    __syncthreads();
    for (uint32_t node = kSymbols; node < kNodes; node++) {
        uint64_t a = kNever, b = kNever;
        for (uint32_t i = thread; i < node; i += kThreads) two_least(&a, &b, entries[i], kNever);
        least[thread] = a;
        second[thread] = b;
        for (uint32_t half = kThreads / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) {
                two_least(&a, &b, least[thread + half], second[thread + half]);
                least[thread] = a;
                second[thread] = b;
            }
        }
        __syncthreads();
        if (thread == 0 && least[0] != kNever) {
            const uint32_t left = uint32_t(least[0]);
            if (second[0] == kNever) {
                root = left;
                entries[left] = kNever;
            } else {
                const uint32_t right = uint32_t(second[0]);
                parent[left] = node;
                parent[right] = node | 1u << 31;
                entries[node] = ((least[0] >> 32) + (second[0] >> 32)) << 32 | node;
                entries[left] = entries[right] = kNever;
            }
        }
        __syncthreads();
    }
    for (uint32_t i = thread; i < kSymbols; i += kThreads) {
        Code code{0, 0};
        for (uint32_t node = i; counts[i] && parent[node] != kNone; node = parent[node] & ~(1u << 31))
            code.bits |= uint64_t(parent[node] >> 31) << code.length++;
        // A text of one kind of byte.
        if (counts[i] && root == i) code.length = 1;
        codes[i] = code;
    }
}

// Codes 4,096 bytes, the first bit of a code first; the last byte is filled with zeros.
__global__ void __launch_bounds__(kThreads)
code_bytes(const uint8_t *text, uint32_t n, const Code *codes, uint8_t *out, uint32_t *sizes) {
    __shared__ uint32_t ends[kThreads];
    __shared__ uint32_t words[kMaxBytes / 4 + 1];
    const uint32_t first = blockIdx.x * kBlock + threadIdx.x * kEach, last = min(first + kEach, n);
    uint32_t bits = 0;
    for (uint32_t i = first; i < last; i++) bits += codes[text[i]].length;
    ends[threadIdx.x] = bits;
    for (uint32_t i = threadIdx.x; i < kMaxBytes / 4 + 1; i += kThreads) words[i] = 0;
    __syncthreads();
    for (uint32_t step = 1; step < kThreads; step *= 2) {
        const uint32_t before = threadIdx.x >= step ? ends[threadIdx.x - step] : 0;
        __syncthreads();
        ends[threadIdx.x] += before;
        __syncthreads();
    }
    uint32_t at = ends[threadIdx.x] - bits;
    for (uint32_t i = first; i < last; i++) {
        const Code code = codes[text[i]];
        for (uint32_t k = code.length; k-- > 0; at++)
            if (code.bits >> k & 1) atomicOr(&words[at / 32], 1u << at % 32);
    }
    __syncthreads();
    const uint32_t size = (ends[kThreads - 1] + 7) / 8;
    const uint8_t *const made = reinterpret_cast<const uint8_t *>(words);
    for (uint32_t i = threadIdx.x; i < size; i += kThreads) out[size_t(blockIdx.x) * kMaxBytes + i] = made[i];
    if (threadIdx.x == 0) sizes[blockIdx.x] = size;
}

// Decodes bit by bit, by one core, from the codes alone.
Text decoded(const std::vector<Code> &codes, const Text &out, size_t blocks, uint32_t n) {
    std::vector<uint32_t> tree{kNone, kNone}; // pairs: a node, or a symbol plus 2^31
    for (uint32_t symbol = 0; symbol < kSymbols; symbol++) {
        uint32_t node = 0;
        for (uint32_t k = codes[symbol].length; k-- > 0;) {
            const uint32_t link = 2 * node + uint32_t(codes[symbol].bits >> k & 1);
            if (k == 0) {
                tree[link] = symbol | 1u << 31;
            } else {
                if (tree[link] == kNone) {
                    tree[link] = uint32_t(tree.size() / 2);
                    tree.insert(tree.end(), {kNone, kNone});
                }
                node = tree[link];
            }
        }
    }
    Text text;
    for (size_t block = 0; block < blocks; block++) {
        const uint8_t *const bits = out.data() + block * kMaxBytes;
        size_t at = 0;
        for (uint32_t k = 0; k < kBlock && text.size() < n; k++) {
            uint32_t node = 0;
            while (!(node >> 31)) {
                node = tree[2 * node + (bits[at / 8] >> at % 8 & 1)];
                at++;
                if (node == kNone) return text;
            }
            text.push_back(uint8_t(node));
        }
    }
    return text;
}

} // namespace

int huffman(const Text &given) {
    const Text text = plain_mtf(transform(given).last);
    const uint32_t n = uint32_t(text.size()), blocks = blocks_for(n, kBlock);
    Memory<uint8_t> in(text), out(size_t(blocks) * kMaxBytes);
    Memory<uint32_t> counts(kSymbols), sizes(blocks);
    Memory<Code> codes(kSymbols);
    const double histogram = best_ms([&] {
        must(cudaMemsetAsync(counts.at, 0, 4 * kSymbols, stream), "zeros");
        count_bytes<<<blocks, kThreads, 0, stream>>>(in.at, n, counts.at);
    });
    const double tree = best_ms([&] { build_tree<<<1, kThreads, 0, stream>>>(counts.at, codes.at); });
    const double coding = best_ms([&] {
        code_bytes<<<blocks, kThreads, 0, stream>>>(
            in.at, n, codes.at, out.at, sizes.at);
    });
    check(decoded(codes.get(), out.get(), blocks, n) == text, "Huffman coding");
    uint64_t size = 0;
    for (const uint32_t one : sizes.get()) size += one;
    const double all = histogram + tree + coding;
    printf("step,ms,share\nhistogram,%.4f,%.1f%%\ntree,%.4f,%.1f%%\ncoding,%.4f,%.1f%%\n", histogram,
           100 * histogram / all, tree, 100 * tree / all, coding, 100 * coding / all);
    printf("# %u bytes to %llu; all %.1f MB/s, coding alone %.1f\n", n, static_cast<unsigned long long>(size),
           n / all / 1e3, n / coding / 1e3);
    return 0;
}

} // namespace theses
