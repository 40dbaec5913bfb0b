// shapes.hpp: the blocks that every sort must sort correctly, each with the reason for including it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hybz {

using Text = std::vector<uint8_t>;

struct Shape {
    std::string name;
    Text text;
};

inline uint64_t next_random(uint64_t &state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

inline Text random_text(uint64_t &seed, uint32_t size, uint32_t symbols, uint8_t first) {
    Text text(size);
    for (auto &c : text) c = uint8_t(first + (next_random(seed) >> 11) % symbols);
    return text;
}

// Byte i of the text is f(i).
template <class F> Text text_by(uint32_t n, F f) {
    Text text(n);
    for (uint32_t i = 0; i < n; i++) text[i] = uint8_t(f(i));
    return text;
}

inline Text changed(Text text, size_t at, uint8_t byte) {
    text[at] = byte;
    return text;
}

inline Text fibonacci_word(uint32_t n) {
    Text a{'b'}, b{'a'};
    while (b.size() < n) {
        Text c = b;
        c.insert(c.end(), a.begin(), a.end());
        a.swap(b);
        b.swap(c);
    }
    b.resize(n);
    return b;
}

// Every word of some number of bits once, by the greedy rule: the next bit is a one, unless that word has occurred.
inline Text de_bruijn_word(uint32_t n) {
    int order = 6;
    while ((2u << order) <= n) order++;
    Text text, seen(size_t(1) << order, 0);
    uint32_t window = 0;
    for (uint32_t i = 0; i < (1u << order); i++) {
        const uint32_t one = (window << 1 | 1) & ((1u << order) - 1);
        const uint32_t zero = one ^ 1;
        window = seen[one] ? zero : one;
        seen[window] = 1;
        text.push_back(uint8_t('0' + (window & 1)));
    }
    return text;
}

// Words from a small dictionary, and occasionally 300 bytes copied from far back.
inline Text words_text(uint64_t &seed, uint32_t n) {
    Text text;
    std::vector<Text> dictionary;
    for (int i = 0; i < 300; i++) dictionary.push_back(random_text(seed, 1 + uint32_t(next_random(seed) % 9), 26, 'a'));
    while (text.size() < n) {
        if (text.size() > 500 && next_random(seed) % 40 == 0) {
            const size_t from = next_random(seed) % (text.size() - 300);
            for (int i = 0; i < 300; i++) text.push_back(text[from + size_t(i)]);
        }
        const auto &w = dictionary[next_random(seed) % 300 * (next_random(seed) % 300) / 300];
        text.insert(text.end(), w.begin(), w.end());
        text.push_back(next_random(seed) % 8 ? ' ' : '\n');
    }
    text.resize(n);
    return text;
}

// Blocks of about n bytes.
inline std::vector<Shape> shapes(uint32_t n) {
    std::vector<Shape> all;
    uint64_t seed = 0x9E3779B97F4A7C15u ^ n;
    // Incompressible: nothing is tied after the first sort.
    all.push_back({"random", random_text(seed, n, 256, 0)});
    // Ties of 10 to 15 symbols.
    all.push_back({"five_letters", random_text(seed, n, 5, 'a')});
    all.push_back({"two_letters", random_text(seed, n, 2, 'a')});
    // Two halves that differ in one byte: every rotation is tied with one other for n/2 symbols.
    Text doubled = random_text(seed, n / 2, 256, 0);
    doubled.insert(doubled.end(), doubled.begin(), doubled.end());
    doubled.push_back('!');
    all.push_back({"doubled_halves", doubled});
    // (ab)^m c: two groups of n/2, all the rounds.
    all.push_back({"abab_c", changed(text_by(n, [](uint32_t i) { return i % 2 ? 'b' : 'a'; }), n - 1, 'c')});
    // All symbols but one the same: a group of n.
    all.push_back({"zeros_and_one", changed(Text(n, 0), n / 3, 1)});
    // RLE1 of a long run, broken once: period 5.
    Text runs = text_by(n, [](uint32_t i) { return i % 5 == 4 ? 0xFB : 0; });
    runs[n / 2] ^= 7;
    all.push_back({"zero_runs_but_one", runs});
    // The most repetitive aperiodic words.
    all.push_back({"fibonacci", fibonacci_word(n)});
    all.push_back({"thue_morse", text_by(n, [](uint32_t i) { return 'a' + __builtin_popcount(i) % 2; })});
    // All ties end at the same depth.
    all.push_back({"de_bruijn", de_bruijn_word(n)});
    // Every byte after every other, nearly periodic.
    all.push_back({"all_256", text_by(n, [](uint32_t i) { return i ^ (i >> 8) * 7; })});
    // Like text.
    all.push_back({"words", words_text(seed, n)});
    return all;
}

} // namespace hybz
