// sim.hpp: the sort of cuda/*.cu on a CPU, one rotation after the other, and plainer sorts against which both are
// tested.
//
// simulate() makes the same decisions as the device (keys, large groups, snapshots, steps), so not only the last column
// and the origin but also its counts of rotations per round must equal the device's exactly. The reference_ functions
// are twins so simple that they are unlikely to be wrong: rank doubling by std::sort.
#pragma once
#include "../codes.hpp"
#include "../hybz.h"
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace hybz {

struct SimCounts {
    uint64_t tied_small = 0, tied_large = 0;
    uint64_t rounds = 0;
    uint64_t small[HYBZ_MAX_ROUNDS] = {}, large[HYBZ_MAX_ROUNDS] = {}, resolved[HYBZ_MAX_ROUNDS] = {};
    uint64_t gathers = 0;
};

// Whether text is a repetition. Its rotations are then not all different, and the sort would not end.
inline bool is_periodic(const uint8_t *text, uint32_t n) {
    uint32_t rest = n;
    for (uint32_t q = 2; rest > 1; q++) {
        if (uint64_t(q) * q > rest) q = rest;
        if (rest % q) continue;
        while (rest % q == 0) rest /= q;
        const uint32_t p = n / q;
        if (std::equal(text + p, text + n, text)) return true;
    }
    return false;
}

// Sorts the rotations of a text whose symbols are in `rank`, which becomes their ranks.
inline std::vector<uint32_t> reference_order(std::vector<uint32_t> &rank) {
    const size_t n = rank.size();
    std::vector<uint32_t> order(n), next(n);
    std::vector<uint64_t> key(n);
    std::iota(order.begin(), order.end(), 0u);
    for (uint64_t depth = 1;; depth *= 2) {
        for (size_t i = 0; i < n; i++) key[i] = uint64_t(rank[i]) << 32 | rank[(i + depth) % n];
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
        uint32_t groups = 0;
        for (size_t j = 0; j < n; j++) {
            if (j == 0 || key[order[j]] != key[order[j - 1]]) groups++;
            next[order[j]] = groups - 1;
        }
        rank.swap(next);
        if (groups == n || depth >= n) return order;
    }
}

inline void reference_bwt(const uint8_t *text, uint32_t n, uint8_t *column, uint32_t *origin) {
    std::vector<uint32_t> rank(text, text + n);
    const std::vector<uint32_t> order = reference_order(rank);
    for (uint32_t j = 0; j < n; j++) {
        column[j] = text[(order[j] + n - 1) % n];
        if (order[j] == 0) *origin = j;
    }
}

struct SimGroup {
    uint32_t start, size, depth;
};

// One block being sorted.
struct Sim {
    const uint8_t *text;
    const uint32_t n;
    SimCounts &counts;
    std::vector<uint32_t> order, rank, depth; // depth: at the heads of groups
    std::vector<SimGroup> groups;             // of tied rotations

    // The first sort, whichever way (sample_sort.cu and ranges.cu; or keys.cu, sort.cu, first.cu).
    Sim(const uint8_t *text, uint32_t n, const uint32_t *table, const KeyLayout &layout, uint32_t text_steps,
        uint32_t small, SimCounts &counts)
        : text(text), n(n), counts(counts), order(n), rank(n), depth(n, 0) {
        std::vector<uint64_t> key(n);
        for (uint32_t i = 0; i < n; i++) key[i] = key_of(table, layout, i);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
        for (uint32_t j = 0; j < n;) {
            uint32_t end = j + 1;
            while (end < n && key[order[end]] == key[order[j]]) end++;
            first_group({j, end - j, uint32_t(key[order[j]] & 127)}, end - j > small ? 0 : text_steps, small);
            j = end;
        }
    }

    uint64_t key_of(const uint32_t *table, const KeyLayout &layout, uint32_t i) const {
        uint64_t bits = 0;
        int length = 0;
        uint32_t complete = 0;
        for (uint32_t t = 0;; t++) {
            const uint32_t symbol = text[(i + t) % n];
            const uint32_t entry = t == 0 ? table[65536 + symbol] : table[text[(i + t + n - 1) % n] << 8 | symbol];
            const int size = int(entry & 31);
            const int shift = 64 - length - size;
            bits |= shift >= 0 ? uint64_t(entry >> 5) << shift : uint64_t(entry >> 5) >> -shift;
            length += size;
            if (length > layout.code_bits) break;
            complete++;
        }
        return bits >> (64 - layout.code_bits) << layout.unused | complete;
    }

    // A group of equal keys: split `steps` times, by the 7 bytes that follow.
    void first_group(const SimGroup &g, uint32_t steps, uint32_t small) {
        const uint32_t from = g.start, end = g.start + g.size;
        const auto begin = order.begin();
        const auto next = [&](uint32_t i) {
            uint64_t bytes = 0;
            for (uint32_t k = 0; k < 7; k++) bytes = bytes << 8 | text[(i + g.depth + k) % n];
            return bytes;
        };
        if (g.size == 1 || steps == 0) {
            for (uint32_t j = from; j < end; j++) rank[order[j]] = from;
            if (g.size == 1) return;
            groups.push_back(g);
            depth[from] = g.depth;
            (g.size > small ? counts.tied_large : counts.tied_small) += g.size;
            return;
        }
        std::stable_sort(begin + from, begin + end, [&](uint32_t a, uint32_t b) { return next(a) < next(b); });
        for (uint32_t a = from, b; a < end; a = b) {
            for (b = a + 1; b < end && next(order[b]) == next(order[a]);) b++;
            first_group({a, b - a, g.depth + 7}, steps - 1, small);
        }
    }

    // Splits a group by the snapshot of the ranks; appends the groups that stay tied to `tied`.
    void split(const SimGroup &g, std::vector<uint32_t> &new_rank, uint64_t &resolved, std::vector<SimGroup> &tied) {
        std::vector<std::pair<uint32_t, uint32_t>> pairs;
        for (uint32_t j = g.start; j < g.start + g.size; j++)
            pairs.push_back({rank[(order[j] + g.depth) % n], order[j]});
        counts.gathers += g.size;
        std::sort(pairs.begin(), pairs.end());
        for (uint32_t a = 0; a < g.size;) {
            uint32_t b = a + 1;
            while (b < g.size && pairs[b].first == pairs[a].first) b++;
            for (uint32_t t = a; t < b; t++) {
                order[g.start + t] = pairs[t].second;
                new_rank[pairs[t].second] = g.start + a;
            }
            if (b - a > 1) tied.push_back({g.start + a, b - a, g.depth + depth[pairs[a].first]});
            else resolved++;
            a = b;
        }
    }

    // One round: refine.cu's steps for small groups, one step of group.cu's for large ones, and the commit.
    void refine(uint32_t round, int steps, uint32_t small) {
        counts.rounds = std::max<uint64_t>(counts.rounds, round + 1);
        std::vector<uint32_t> new_rank = rank;
        std::vector<SimGroup> all;
        for (const SimGroup &whole : groups) {
            const bool large = whole.size > small;
            (large ? counts.large : counts.small)[round] += whole.size;
            std::vector<SimGroup> todo{whole};
            for (int step = 0; step < (large ? 1 : steps); step++) {
                std::vector<SimGroup> tied;
                for (const SimGroup &g : todo) split(g, new_rank, counts.resolved[round], tied);
                todo.swap(tied);
            }
            all.insert(all.end(), todo.begin(), todo.end());
        }
        groups.swap(all);
        rank.swap(new_rank);
        for (const SimGroup &g : groups) depth[g.start] = g.depth;
    }
};

// Sorts one block. Returns false when the rounds do not end (a periodic block).
inline bool simulate(const uint8_t *text, uint32_t n, const uint32_t *table, const KeyLayout &layout,
                     uint32_t text_steps, int steps, uint32_t small, uint8_t *column, uint32_t *origin,
                     SimCounts &counts) {
    Sim sim(text, n, table, layout, text_steps, small, counts);
    for (uint32_t round = 0; !sim.groups.empty(); round++) {
        if (round == HYBZ_MAX_ROUNDS) return false;
        sim.refine(round, steps, small);
    }
    for (uint32_t j = 0; j < n; j++) {
        column[j] = text[(sim.order[j] + n - 1) % n];
        if (sim.order[j] == 0) *origin = j;
    }
    return true;
}

} // namespace hybz
