// ansv.cu: figure 4.3 of Ching's thesis (2014): all nearest smaller values of a suffix array, by the size of the
// chunks.
//
// His way (section 3.2): a binary tree of minima, built level by level; a thread for each chunk, which finds the
// neighbours within its chunk by a stack, and those outside in the tree.
#include "common.hpp"

namespace theses {

namespace {

constexpr uint32_t kThreads = 128, kLargest = 512;

__global__ void __launch_bounds__(kThreads)
build_level(const uint32_t *below, uint32_t count, uint32_t *level, uint32_t nodes) {
    const uint32_t node = blockIdx.x * kThreads + threadIdx.x;
    if (node >= nodes) return;
    level[node] = 2 * node + 1 < count ? min(below[2 * node], below[2 * node + 1]) : below[2 * node];
}

struct Tree {
    uint32_t levels;
    uint32_t sizes[32];
    const uint32_t *minima[32]; // level 0 is the suffix array itself
};

// The nearest smaller value before or after a row, from the tree alone.
template <bool kAfter> __device__ uint32_t search(const Tree &tree, uint32_t row, uint32_t value) {
    uint32_t node = row, level = 0;
    for (;; node /= 2, level++) {
        if (level == tree.levels) return kNone;
        if (kAfter ? node % 2 == 0 && node + 1 < tree.sizes[level] && tree.minima[level][node + 1] < value
                   : node % 2 == 1 && tree.minima[level][node - 1] < value)
            break;
    }
    node = kAfter ? node + 1 : node - 1;
    while (level-- > 0) {
        const uint32_t near = 2 * node + (kAfter ? 0 : 1);
        node = near < tree.sizes[level] && tree.minima[level][near] < value ? near : near ^ 1;
    }
    return tree.minima[0][node];
}

__global__ void __launch_bounds__(kThreads) nearest_in_chunks(Tree tree, uint32_t chunk, uint2 *pairs) {
    const uint32_t n = tree.sizes[0], first = (blockIdx.x * kThreads + threadIdx.x) * chunk;
    if (first >= n) return;
    const uint32_t end = min(first + chunk, n);
    const uint32_t *const order = tree.minima[0];
    uint32_t stack[kLargest], height = 0;
    for (uint32_t row = first; row < end; row++) {
        const uint32_t value = order[row];
        while (height && order[stack[height - 1]] > value) pairs[stack[--height]].y = value;
        pairs[row].x = height ? order[stack[height - 1]] : search<false>(tree, row, value);
        stack[height++] = row;
    }
    while (height) {
        const uint32_t row = stack[--height];
        pairs[row].y = search<true>(tree, row, order[row]);
    }
}

} // namespace

int nearest_smaller(const Text &text) {
    const std::vector<uint32_t> order = suffixes(text);
    const uint32_t n = uint32_t(order.size());
    // The plain twin: one stack.
    std::vector<uint2> want(n);
    std::vector<uint32_t> stack;
    const double core = best_ms([&] {
        stack.clear();
        for (uint32_t row = 0; row < n; row++) {
            while (!stack.empty() && order[stack.back()] > order[row]) {
                want[stack.back()].y = order[row];
                stack.pop_back();
            }
            want[row].x = stack.empty() ? kNone : order[stack.back()];
            stack.push_back(row);
        }
        for (const uint32_t row : stack) want[row].y = kNone;
    });
    Memory<uint32_t> values(order), minima(n + 64);
    Memory<uint2> pairs(n);
    Tree tree{0, {}, {}};
    const auto build = [&] {
        tree.levels = 0;
        const uint32_t *below = values.at;
        uint32_t *level = minima.at;
        for (uint32_t count = n;; count = (count + 1) / 2) {
            tree.sizes[tree.levels] = count;
            tree.minima[tree.levels++] = below;
            if (count == 1) break;
            const uint32_t nodes = (count + 1) / 2;
            build_level<<<blocks_for(nodes, kThreads), kThreads, 0, stream>>>(below, count, level, nodes);
            below = level;
            level += nodes;
        }
    };
    printf("chunk,tree_ms,chunks_ms,MB/s,core_ms\n");
    const double building = best_ms(build);
    for (uint32_t chunk = 2; chunk <= kLargest; chunk *= 2) {
        must(cudaMemsetAsync(pairs.at, 0xee, pairs.count * sizeof(uint2), stream), "marks");
        const double chunks = best_ms([&] {
            nearest_in_chunks<<<blocks_for(n, chunk * kThreads), kThreads, 0, stream>>>(
                tree, chunk, pairs.at);
        });
        const std::vector<uint2> got = pairs.get();
        bool right = true;
        for (uint32_t row = 0; row < n; row++) right &= got[row].x == want[row].x && got[row].y == want[row].y;
        check(right, "nearest smaller values");
        printf("%u,%.3f,%.3f,%.1f,%.1f\n", chunk, building, chunks, n / (building + chunks) / 1e3, core);
    }
    return 0;
}

} // namespace theses
