// coding.hpp: bzip2's coding of a last column told plainly: the list searched from the front, every cost of every group
// added up, every node's parent climbed. What mtf.cu, tables.cu and bits.cu must give.
#pragma once
#include "../hybz.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace hybz {

struct PlainCoding {
    std::vector<uint8_t> used; // ascending
    std::vector<uint16_t> symbols;
    std::vector<std::vector<uint32_t>> lengths;
    std::vector<uint8_t> selectors;
    std::vector<uint8_t> bits; // one for each
};

inline std::vector<uint32_t> plain_lengths(const std::vector<uint32_t> &frequencies) {
    const size_t count = frequencies.size();
    std::vector<uint32_t> leaves;
    for (uint32_t f : frequencies) leaves.push_back(std::max(f, 1u) << 8);
    for (;;) {
        std::vector<uint32_t> weights{0}, heap{0};
        weights.insert(weights.end(), leaves.begin(), leaves.end());
        std::vector<size_t> parents(2 * count, 0);
        const auto up = [&](size_t at) {
            const uint32_t node = heap[at];
            for (; weights[node] < weights[heap[at / 2]]; at /= 2) heap[at] = heap[at / 2];
            heap[at] = node;
        };
        const auto take = [&] {
            const uint32_t top = heap[1], node = heap.back();
            heap.pop_back();
            if (heap.size() == 1) return top;
            size_t at = 1;
            for (;;) {
                size_t child = 2 * at;
                if (child >= heap.size()) break;
                if (child + 1 < heap.size() && weights[heap[child + 1]] < weights[heap[child]]) child++;
                if (weights[node] < weights[heap[child]]) break;
                heap[at] = heap[child];
                at = child;
            }
            heap[at] = node;
            return top;
        };
        for (uint32_t node = 1; node <= count; node++) {
            heap.push_back(node);
            up(heap.size() - 1);
        }
        while (heap.size() > 2) {
            const uint32_t a = take(), b = take();
            const uint32_t sum = (weights[a] & ~0xffu) + (weights[b] & ~0xffu);
            weights.push_back(sum | (1 + std::max(weights[a] & 0xff, weights[b] & 0xff)));
            parents[a] = parents[b] = weights.size() - 1;
            heap.push_back(uint32_t(weights.size() - 1));
            up(heap.size() - 1);
        }
        std::vector<uint32_t> lengths;
        for (size_t leaf = 1; leaf <= count; leaf++) {
            uint32_t length = 0;
            for (size_t node = leaf; parents[node]; node = parents[node]) length++;
            lengths.push_back(length);
        }
        if (*std::max_element(lengths.begin(), lengths.end()) <= 17) return lengths;
        for (uint32_t &leaf : leaves) leaf = (1 + (leaf >> 8) / 2) << 8;
    }
}

inline PlainCoding plain_coding(const std::vector<uint8_t> &column) {
    PlainCoding coding;
    for (int c = 0; c < 256; c++)
        if (std::count(column.begin(), column.end(), uint8_t(c))) coding.used.push_back(uint8_t(c));
    std::vector<uint8_t> list = coding.used;
    auto &symbols = coding.symbols;
    uint32_t zeros = 0;
    const auto flush = [&] {
        for (; zeros > 0; zeros = (zeros - 1) / 2) symbols.push_back(zeros % 2 ? 0 : 1);
    };
    for (uint8_t byte : column) {
        const auto at = std::find(list.begin(), list.end(), byte);
        if (at == list.begin()) {
            zeros++;
            continue;
        }
        flush();
        symbols.push_back(uint16_t(at - list.begin() + 1));
        std::rotate(list.begin(), at, at + 1);
    }
    flush();
    symbols.push_back(uint16_t(list.size() + 1));

    const size_t n = symbols.size(), alphabet = list.size() + 2;
    const size_t tables = n < 200 ? 2 : n < 600 ? 3 : n < 1200 ? 4 : n < 2400 ? 5 : 6;
    auto &lengths = coding.lengths;
    lengths.assign(tables, std::vector<uint32_t>(alphabet, 15));
    std::vector<uint32_t> frequencies(alphabet, 0);
    for (uint16_t s : symbols) frequencies[s]++;
    size_t left = n, from = 0;
    for (size_t part = tables; part > 0; part--) {
        size_t to = from, sum = 0;
        while (sum < left / part && to < alphabet) sum += frequencies[to++];
        if (to > from + 1 && part != tables && part != 1 && (tables - part) % 2 == 1) sum -= frequencies[--to];
        for (size_t s = from; s < to; s++) lengths[part - 1][s] = 0;
        from = to;
        left -= sum;
    }
    for (int round = 0; round < 4; round++) {
        std::vector<std::vector<uint32_t>> counts(tables, std::vector<uint32_t>(alphabet, 0));
        coding.selectors.clear();
        for (size_t g = 0; g < n; g += 50) {
            size_t best = 0, best_cost = ~size_t(0);
            for (size_t t = 0; t < tables; t++) {
                size_t cost = 0;
                for (size_t i = g; i < std::min(g + 50, n); i++) cost += lengths[t][symbols[i]];
                if (cost < best_cost) best = t, best_cost = cost;
            }
            coding.selectors.push_back(uint8_t(best));
            for (size_t i = g; i < std::min(g + 50, n); i++) counts[best][symbols[i]]++;
        }
        for (size_t t = 0; t < tables; t++) lengths[t] = plain_lengths(counts[t]);
    }
    std::vector<std::vector<uint32_t>> codes(tables, std::vector<uint32_t>(alphabet));
    for (size_t t = 0; t < tables; t++) {
        uint32_t code = 0;
        for (uint32_t length = 1; length <= 17; length++, code *= 2)
            for (size_t s = 0; s < alphabet; s++)
                if (lengths[t][s] == length) codes[t][s] = code++;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t t = coding.selectors[i / 50];
        for (uint32_t bit = lengths[t][symbols[i]]; bit-- > 0;) coding.bits.push_back(codes[t][symbols[i]] >> bit & 1);
    }
    return coding;
}

// What differs between a block that the device coded and the plain coding; nothing if they are the same.
inline const char *difference(const PlainCoding &plain, const hybz_coded &coded, const uint8_t *bytes) {
    if (coded.symbols != plain.symbols.size()) return "symbols";
    if (coded.tables != plain.lengths.size()) return "tables";
    std::vector<uint8_t> used;
    for (int c = 0; c < 256; c++)
        if (coded.used[c / 32] >> c % 32 & 1) used.push_back(uint8_t(c));
    if (used != plain.used) return "bytes used";
    for (size_t t = 0; t < plain.lengths.size(); t++)
        if (!std::equal(plain.lengths[t].begin(), plain.lengths[t].end(), coded.lengths[t])) return "lengths";
    const uint8_t *selectors = bytes + coded.at + (coded.bits + 31) / 32 * 4;
    if (!std::equal(plain.selectors.begin(), plain.selectors.end(), selectors)) return "selectors";
    if (coded.bits != plain.bits.size()) return "number of bits";
    for (size_t i = 0; i < plain.bits.size(); i++)
        if (plain.bits[i] != (bytes[coded.at + i / 8] >> (7 - i % 8) & 1)) return "bits";
    return nullptr;
}

} // namespace hybz
