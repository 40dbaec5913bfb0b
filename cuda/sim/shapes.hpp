// shapes.hpp: the blocks that every sort must get right, each with the reason why it is here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hybz {

struct Shape {
    std::string name;
    std::vector<uint8_t> text;
};

inline uint64_t next_random(uint64_t &state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// Blocks of about n bytes.
inline std::vector<Shape> shapes(uint32_t n) {
    std::vector<Shape> all;
    uint64_t seed = 0x9E3779B97F4A7C15u ^ n;
    auto random = [&](uint32_t size, uint32_t symbols, uint8_t first) {
        std::vector<uint8_t> text(size);
        for (auto &c : text) c = uint8_t(first + (next_random(seed) >> 11) % symbols);
        return text;
    };
    // Incompressible: nothing is tied after the first sort.
    all.push_back({"random", random(n, 256, 0)});
    // Ties of 10 to 15 symbols.
    all.push_back({"five_letters", random(n, 5, 'a')});
    all.push_back({"two_letters", random(n, 2, 'a')});
    // Two halves that differ in one byte: every rotation is tied with one other for n/2 symbols.
    auto doubled = random(n / 2, 256, 0);
    doubled.insert(doubled.end(), doubled.begin(), doubled.end());
    doubled.push_back('!');
    all.push_back({"doubled_halves", doubled});
    // (ab)^m c: two groups of n/2, all the rounds.
    std::vector<uint8_t> ab(n);
    for (uint32_t i = 0; i < n; i++) ab[i] = i % 2 ? 'b' : 'a';
    ab[n - 1] = 'c';
    all.push_back({"abab_c", ab});
    // One symbol but for one: a group of n.
    std::vector<uint8_t> zeros(n, 0);
    zeros[n / 3] = 1;
    all.push_back({"zeros_and_one", zeros});
    // RLE1 of a long run, broken once: period 5.
    std::vector<uint8_t> runs(n);
    for (uint32_t i = 0; i < n; i++) runs[i] = i % 5 == 4 ? 0xFB : 0;
    runs[n / 2] ^= 7;
    all.push_back({"zero_runs_but_one", runs});
    std::vector<uint8_t> a{'b'}, b{'a'};
    while (b.size() < n) {
        std::vector<uint8_t> c = b;
        c.insert(c.end(), a.begin(), a.end());
        a.swap(b);
        b.swap(c);
    }
    b.resize(n);
    // The most repetitive aperiodic words.
    all.push_back({"fibonacci", b});
    std::vector<uint8_t> thue(n);
    for (uint32_t i = 0; i < n; i++) thue[i] = uint8_t('a' + __builtin_popcount(i) % 2);
    all.push_back({"thue_morse", thue});
    // Every word of k bits once: all ties end at the same depth. By the FKM algorithm's greedy cousin: prefer one.
    int order = 6;
    while ((2u << order) <= n) order++;
    std::vector<uint8_t> bruijn, seen(size_t(1) << order, 0);
    uint32_t window = 0;
    for (uint32_t i = 0; i < (1u << order); i++) {
        const uint32_t one = (window << 1 | 1) & ((1u << order) - 1);
        const uint32_t zero = one ^ 1;
        window = seen[one] ? zero : one;
        seen[window] = 1;
        bruijn.push_back(uint8_t('0' + (window & 1)));
    }
    all.push_back({"de_bruijn", bruijn});
    std::vector<uint8_t> bytes(n);
    for (uint32_t i = 0; i < n; i++) bytes[i] = uint8_t(i ^ (i >> 8) * 7);
    // Every byte after every other, nearly periodic.
    all.push_back({"all_256", bytes});
    // Words from a small dictionary, with lines repeated far away: what text does.
    std::vector<uint8_t> words;
    std::vector<std::vector<uint8_t>> dictionary;
    for (int i = 0; i < 300; i++) dictionary.push_back(random(1 + uint32_t(next_random(seed) % 9), 26, 'a'));
    while (words.size() < n) {
        if (words.size() > 500 && next_random(seed) % 40 == 0) {
            const size_t from = next_random(seed) % (words.size() - 300);
            for (int i = 0; i < 300; i++) words.push_back(words[from + size_t(i)]);
        }
        const auto &w = dictionary[next_random(seed) % 300 * (next_random(seed) % 300) / 300];
        words.insert(words.end(), w.begin(), w.end());
        words.push_back(next_random(seed) % 8 ? ' ' : '\n');
    }
    words.resize(n);
    all.push_back({"words", words});
    return all;
}

} // namespace hybz
