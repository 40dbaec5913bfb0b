// coding.hpp: bzip2's coding of a last column in its plainest form: searches the list from the front, adds up every
// cost of every group, and climbs from every node to the root. mtf.cu, tables.cu and bits.cu must return the same.
#pragma once
#include "../hybz.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hybz {

struct ReferenceCoding {
    std::vector<uint8_t> used; // ascending
    std::vector<uint16_t> symbols;
    std::vector<std::vector<uint32_t>> lengths;
    std::vector<uint8_t> selectors;
    std::vector<uint8_t> bits; // one for each
};

inline std::vector<uint32_t> reference_lengths(const std::vector<uint32_t> &frequencies) {
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
        if (*std::max_element(lengths.begin(), lengths.end()) <= HYBZ_MAX_CODE) return lengths;
        for (uint32_t &leaf : leaves) leaf = (1 + (leaf >> 8) / 2) << 8;
    }
}

// Move-to-front and the coding of zero runs.
inline void reference_symbols(const std::vector<uint8_t> &column, ReferenceCoding &coding) {
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
}

// The tables to start from: 0 for the symbols of a table's range of the alphabet, 15 for all others.
inline std::vector<std::vector<uint32_t>> reference_first_tables(const std::vector<uint16_t> &symbols,
                                                                 size_t alphabet) {
    const size_t n = symbols.size();
    const size_t tables = n < 200 ? 2 : n < 600 ? 3 : n < 1200 ? 4 : n < 2400 ? 5 : 6;
    std::vector<std::vector<uint32_t>> lengths(tables, std::vector<uint32_t>(alphabet, 15));
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
    return lengths;
}

// One round: assigns each group to the table that codes it in the fewest bits, then makes each table from the symbols
// of its groups.
inline void reference_round(ReferenceCoding &coding, size_t alphabet) {
    const auto &symbols = coding.symbols;
    auto &lengths = coding.lengths;
    const size_t n = symbols.size(), tables = lengths.size();
    std::vector<std::vector<uint32_t>> counts(tables, std::vector<uint32_t>(alphabet, 0));
    coding.selectors.clear();
    for (size_t g = 0; g < n; g += HYBZ_GROUP) {
        const size_t end = std::min<size_t>(g + HYBZ_GROUP, n);
        size_t best = 0, best_cost = ~size_t(0);
        for (size_t t = 0; t < tables; t++) {
            size_t cost = 0;
            for (size_t i = g; i < end; i++) cost += lengths[t][symbols[i]];
            if (cost < best_cost) best = t, best_cost = cost;
        }
        coding.selectors.push_back(uint8_t(best));
        for (size_t i = g; i < end; i++) counts[best][symbols[i]]++;
    }
    for (size_t t = 0; t < tables; t++) lengths[t] = reference_lengths(counts[t]);
}

// All codes, one bit after the other.
inline void reference_bits(ReferenceCoding &coding, size_t alphabet) {
    const auto &symbols = coding.symbols;
    const auto &lengths = coding.lengths;
    std::vector<std::vector<uint32_t>> codes(lengths.size(), std::vector<uint32_t>(alphabet));
    for (size_t t = 0; t < lengths.size(); t++) {
        uint32_t code = 0;
        for (uint32_t length = 1; length <= HYBZ_MAX_CODE; length++, code *= 2)
            for (size_t s = 0; s < alphabet; s++)
                if (lengths[t][s] == length) codes[t][s] = code++;
    }
    for (size_t i = 0; i < symbols.size(); i++) {
        const size_t t = coding.selectors[i / HYBZ_GROUP];
        for (uint32_t bit = lengths[t][symbols[i]]; bit-- > 0;) coding.bits.push_back(codes[t][symbols[i]] >> bit & 1);
    }
}

inline ReferenceCoding reference_coding(const std::vector<uint8_t> &column) {
    ReferenceCoding coding;
    reference_symbols(column, coding);
    const size_t alphabet = coding.used.size() + 2;
    coding.lengths = reference_first_tables(coding.symbols, alphabet);
    for (int round = 0; round < 4; round++) reference_round(coding, alphabet);
    reference_bits(coding, alphabet);
    return coding;
}

// Describes a difference between a block that the device coded and the reference; null if there is none.
inline const char *difference(const ReferenceCoding &reference, const hybz_coded &coded, const uint8_t *bytes) {
    if (coded.symbols != reference.symbols.size()) return "symbols";
    if (coded.tables != reference.lengths.size()) return "tables";
    std::vector<uint8_t> used;
    for (int c = 0; c < 256; c++)
        if (coded.used[c / 32] >> c % 32 & 1) used.push_back(uint8_t(c));
    if (used != reference.used) return "bytes used";
    for (size_t t = 0; t < reference.lengths.size(); t++)
        if (!std::equal(reference.lengths[t].begin(), reference.lengths[t].end(), coded.lengths[t])) return "lengths";
    const uint8_t *selectors = bytes + coded.at + (coded.bits + 31) / 32 * 4;
    if (!std::equal(reference.selectors.begin(), reference.selectors.end(), selectors)) return "selectors";
    if (coded.bits != reference.bits.size()) return "number of bits";
    for (size_t i = 0; i < reference.bits.size(); i++)
        if (reference.bits[i] != (bytes[coded.at + i / 8] >> (7 - i % 8) & 1)) return "bits";
    return nullptr;
}

// The sum that proves a block (hybz_coded).
inline uint64_t expected_proof(const std::vector<uint8_t> &text, const hybz_coded &coded, const uint8_t *bytes) {
    uint64_t sum = 0;
    const auto add = [&](const void *from, size_t size, uint32_t number) {
        for (size_t i = 0; i < size; i += 4, number++) {
            uint32_t word = 0;
            memcpy(&word, static_cast<const uint8_t *>(from) + i, std::min<size_t>(4, size - i));
            sum += uint64_t(word) * ((2 * number + 1) * uint32_t(HYBZ_PROOF_WEIGHT));
        }
    };
    const size_t groups = (coded.symbols + HYBZ_GROUP - 1) / HYBZ_GROUP;
    add(text.data(), text.size(), 0);
    add(&coded, offsetof(hybz_coded, proof), HYBZ_PROOF_HEAD);
    add(bytes + coded.at, (coded.bits + 31) / 32 * 4 + (groups + 3) / 4 * 4, HYBZ_PROOF_CODES);
    return sum;
}

} // namespace hybz
