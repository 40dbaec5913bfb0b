#include "twin.hpp"
#include <algorithm>
#include <cstring>
extern "C" {
#include "libsais.h"
}

namespace zst {

namespace {

uint64_t eight(const uint8_t *at) {
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    return bytes;
}

uint32_t agree(const uint8_t *a, const uint8_t *b, uint32_t limit) {
    uint32_t n = 0;
    while (n < limit && a[n] == b[n]) n++;
    return n;
}

} // namespace

std::vector<uint32_t> suffix_array(const uint8_t *text, uint32_t n) {
    std::vector<uint32_t> order(n);
    libsais(text, reinterpret_cast<int32_t *>(order.data()), int32_t(n), 0, nullptr);
    return order;
}

std::vector<uint16_t> common_prefixes(const uint8_t *text, uint32_t n, const std::vector<uint32_t> &order) {
    std::vector<uint32_t> rank(n);
    for (uint32_t row = 0; row < n; row++) rank[order[row]] = row;
    std::vector<uint16_t> common(n, 0);
    uint32_t length = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (rank[i] == 0) {
            length = 0;
            continue;
        }
        const uint32_t other = order[rank[i] - 1];
        const uint32_t limit = std::min(kCap, n - std::max(i, other));
        while (length < limit && text[i + length] == text[other + length]) length++;
        common[i] = uint16_t(std::min(length, limit));
        length = common[i] ? common[i] - 1 : 0;
    }
    return common;
}

std::vector<Far> far_matches(uint32_t n, const std::vector<uint32_t> &order, const std::vector<uint16_t> &common) {
    std::vector<Far> all(n);
    const auto before = [&](uint32_t row) -> uint32_t { return row < n ? common[order[row]] : 0; };
    for (uint32_t row = 0; row < n; row++) {
        const uint32_t i = order[row];
        Far far{};
        uint32_t kept = 0, nearest = ~0u;
        // The row reached on each side, and what all rows up to it agree on.
        uint32_t up = 0, down = 0, up_length = before(row), down_length = before(row + 1);
        while (kept <= kKept) {
            const bool upwards = up_length >= down_length;
            const uint32_t length = upwards ? up_length : down_length;
            if (length < kMinMatch) break;
            const uint32_t source = upwards ? order[row - ++up] : order[row + ++down];
            if (source < i && i - source < nearest) {
                nearest = i - source;
                if (kept && far.length[kept - 1] == length) kept--;
                if (kept == kKept) break;
                far.offset[kept] = nearest;
                far.length[kept++] = uint16_t(length);
            }
            if (upwards)
                up_length = up < kReach && row > up ? std::min(up_length, before(row - up)) : 0;
            else
                down_length = down < kReach ? std::min(down_length, before(row + down + 1)) : 0;
        }
        all[i] = far;
    }
    return all;
}

std::vector<uint16_t> near_matches(const uint8_t *text, uint32_t n) {
    std::vector<uint16_t> all(size_t(n) * kTables);
    std::vector<uint16_t> table(1 << kHashLog);
    for (uint32_t begin = 0; begin < n; begin += kPiece) {
        const uint32_t end = std::min(n, begin + kPiece);
        for (uint32_t k = 0; k < kTables; k++) {
            std::fill(table.begin(), table.end(), 0);
            for (uint32_t i = begin; i < end; i++) {
                uint16_t &entry = table[hash_of(eight(text + i), hashed_bytes(k))];
                const uint32_t offset = (i - entry) & 0xFFFF;
                all[size_t(k) * n + i] = offset <= i - begin ? uint16_t(offset) : 0;
                entry = uint16_t(i);
            }
        }
    }
    return all;
}

std::vector<Matches> all_matches(const uint8_t *text, uint32_t n, const std::vector<Far> &far,
                                 const std::vector<uint16_t> &near) {
    std::vector<Matches> all(n);
    for (uint32_t i = 0; i < n; i++) {
        constexpr uint32_t kFound = kKept + kTables;
        uint32_t offset[kFound] = {}, length[kFound] = {};
        for (uint32_t k = 0; k < kKept; k++) offset[k] = far[i].offset[k], length[k] = far[i].length[k];
        for (uint32_t k = kKept; k < kFound; k++) {
            offset[k] = near[size_t(kFound - 1 - k) * n + i];
            if (offset[k] == 0) continue;
            const uint32_t agreed = agree(text + i, text + i - offset[k], std::min(kNearCap, n - i));
            length[k] = agreed < kMinMatch ? 0 : agreed;
        }
        uint32_t kept = 0;
        for (uint32_t k = 0; k < kFound && kept < kSlots; k++) {
            bool beaten = length[k] == 0;
            for (uint32_t j = 0; j < kFound; j++)
                beaten |= j != k && length[j] && beats(offset[j], length[j], offset[k], length[k], j < k);
            if (beaten) continue;
            all[i].offset[kept] = offset[k];
            all[i].length[kept++] = uint8_t(std::min(kNice, length[k]));
        }
    }
    return all;
}

namespace {

constexpr uint32_t kNever = 0x7FFFFFFF;

// The nodes of a chunk's parse: what is known of the cheapest way to each position.
struct Parser {
    const uint8_t *text;
    const Prices &prices;
    uint32_t begin, end;
    struct Node {
        uint32_t price = kNever, offset_code, length;
    };
    Node nodes[kRing]; // of positions ahead: the cheapest match that ends there
    Last lasts[kRing]; // of positions passed
    std::vector<uint32_t> word;   // [position - begin] of the way's last step: a match's offset_code, or the run
    std::vector<uint16_t> length; // its length; 0: literals

    struct Choice {
        uint32_t offset_code, length, price;
    };

    using Choices = Choice[2 + kSlots];

    // What could follow at i: the first repeat, the longer of the others, then the position's matches.
    uint32_t choices(uint32_t i, const State &state, const Matches &matches, Choices &choice) const {
        const uint32_t room = std::min(kNice, end - i);
        choice[0].length = choice[1].length = 0;
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t offset = repeated(state.last, k, state.run == 0);
            const uint32_t length = offset == 0 || offset > i ? 0 : agree(text + i, text + i - offset, room);
            Choice &c = choice[std::min(k, 1u)];
            if (k < 2 || length > c.length) c.length = length, c.offset_code = repeat_code(k) << kOffsetBits | offset;
        }
        for (uint32_t k = 0; k < kSlots; k++) {
            Choice &c = choice[2 + k];
            c.length = std::min<uint32_t>(matches.length[k], room);
            c.offset_code = c.length ? offset_code(matches.offset[k]) << kOffsetBits | matches.offset[k] : 0;
        }
        uint32_t longest = 0;
        for (Choice &c : choice) {
            if (c.length < kMinMatch) c.length = 0;
            c.price = prices.offset[c.offset_code >> kOffsetBits];
            longest = std::max(longest, c.length);
        }
        return longest;
    }

    // Weighs a length.
    void relax(uint32_t i, uint32_t price, const Choices &choice, uint32_t length) {
        const Choice *best = nullptr;
        for (const Choice &c : choice)
            if (c.length >= length && (!best || c.price < best->price)) best = &c;
        const uint32_t sum = price + best->price + prices.length[length];
        Node &node = nodes[(i + length) % kRing];
        if (sum < node.price) node = Node{sum, best->offset_code, length};
    }

    State run(State state, const std::vector<Matches> &matches) {
        word.assign(end - begin + 1, 0);
        length.assign(end - begin + 1, 0);
        uint32_t price = 0;
        bool fresh = true;
        for (uint32_t i = begin;;) {
            Node &node = nodes[i % kRing];
            if (!fresh) {
                const uint32_t literal = price + prices.literal[text[i - 1]] + run_price(prices, state.run + 1) -
                                         run_price(prices, state.run);
                if (node.price < literal) {
                    price = node.price;
                    state.last = after(lasts[(i - node.length) % kRing], node.offset_code & kOffsetMask);
                    state.run = 0;
                    word[i - begin] = node.offset_code;
                    length[i - begin] = uint16_t(node.length);
                } else {
                    price = literal;
                    word[i - begin] = ++state.run;
                }
            }
            fresh = false;
            node.price = kNever;
            lasts[i % kRing] = state.last;
            if (i == end) return state;
            Choices choice;
            const uint32_t longest = choices(i, state, matches[i], choice);
            if (longest < kNice) {
                for (uint32_t l = kMinMatch; l <= std::min(longest, kEvery); l++) relax(i, price, choice, l);
                for (const Choice &c : choice)
                    if (c.length > kEvery) relax(i, price, choice, c.length);
                i++;
                continue;
            }
            // The longer of the first repeat and the first match that are long; the repeat, if they are equal.
            uint32_t taken = 0, best = 0;
            bool seen[2] = {};
            for (uint32_t k = 0; k < 2 + kSlots; k++) {
                if (choice[k].length < kNice || seen[k >= 2]) continue;
                seen[k >= 2] = true;
                const uint32_t whole = agree(text + i, text + i - (choice[k].offset_code & kOffsetMask), end - i);
                if (whole > best) best = whole, taken = k;
            }
            i += best;
            word[i - begin] = choice[taken].offset_code;
            length[i - begin] = uint16_t(best);
            state.last = after(state.last, choice[taken].offset_code & kOffsetMask);
            state.run = 0;
            price = 0;
            fresh = true;
            for (Node &old : nodes) old.price = kNever;
        }
    }

    void trace(Chunk &chunk) const {
        uint32_t i = end;
        const auto literals = [&] {
            const uint32_t count = length[i - begin] ? 0 : std::min(word[i - begin], i - begin);
            i -= count;
            return count;
        };
        chunk.tail = literals();
        while (i > begin) {
            Sequence sequence{word[i - begin], 0, length[i - begin]};
            i -= sequence.length;
            sequence.literals = uint16_t(literals());
            chunk.sequences.push_back(sequence);
        }
        std::reverse(chunk.sequences.begin(), chunk.sequences.end());
    }
};

Prices prices_from(const Counts &counts) {
    Prices prices{};
    const auto sum = [](const uint32_t *count, uint32_t symbols) {
        uint32_t all = 0;
        for (uint32_t s = 0; s < symbols; s++) all += count[s];
        return all;
    };
    const uint32_t literal = sum(counts.literal, 256), run = sum(counts.literals, kLiteralCodes);
    const uint32_t length = sum(counts.length, kLengthCodes), offset = sum(counts.offset, kOffsetCodes);
    for (uint32_t b = 0; b < 256; b++) prices.literal[b] = uint16_t(price(literal, 256, counts.literal[b]));
    const auto of_run = [&](uint32_t n) {
        const uint32_t code = literals_code(n);
        return uint16_t(price(run, kLiteralCodes, counts.literals[code]) + (literals_bits(code) << 8));
    };
    for (uint32_t n = 0; n < kShortRun; n++) prices.run[n] = of_run(n);
    for (uint32_t n = kMinMatch; n <= kNice; n++) {
        const uint32_t code = length_code(n);
        prices.length[n] = uint16_t(price(length, kLengthCodes, counts.length[code]) + (length_bits(code) << 8) +
                                      prices.run[0] + kSequencePrice);
    }
    for (uint32_t code = 0; code < kOffsetCodes; code++)
        prices.offset[code] = uint16_t(price(offset, kOffsetCodes, counts.offset[code]) + (code << 8));
    return prices;
}

} // namespace

std::vector<Prices> first_prices(const uint8_t *text, uint32_t n) {
    std::vector<Prices> all;
    for (uint32_t begin = 0; begin < n; begin += kBlock) {
        Counts counts{};
        for (uint32_t i = begin; i < std::min(n, begin + kBlock); i++) counts.literal[text[i]]++;
        for (uint32_t c = 0; c < kLiteralCodes; c++) counts.literals[c] = kFirstLiterals[c];
        for (uint32_t c = 0; c < kLengthCodes; c++) counts.length[c] = kFirstLength[c];
        for (uint32_t c = 0; c < kOffsetCodes; c++) counts.offset[c] = kFirstOffset[c];
        all.push_back(prices_from(counts));
    }
    return all;
}

std::vector<State> starts_of(uint32_t n, const std::vector<Chunk> *before) {
    std::vector<State> starts((n + kChunk - 1) / kChunk, State{{{1, 4, 8}}, 0});
    if (before)
        for (size_t c = 1; c < starts.size(); c++) {
            starts[c] = (*before)[c - 1].end;
            if (c % (kBlock / kChunk) == 0) starts[c].run = 0;
        }
    return starts;
}

std::vector<Chunk> parse(const uint8_t *text, uint32_t n, const std::vector<Matches> &matches,
                         const std::vector<Prices> &prices, const std::vector<State> &starts) {
    std::vector<Chunk> chunks(starts.size());
    for (size_t c = 0; c < chunks.size(); c++) {
        const uint32_t begin = uint32_t(c) * kChunk;
        Parser parser{text, prices[begin / kBlock], begin, std::min(n, begin + kChunk), {}, {}, {}, {}};
        chunks[c].end = parser.run(starts[c], matches);
        parser.trace(chunks[c]);
    }
    return chunks;
}

std::vector<Prices> prices_of(const uint8_t *text, uint32_t n, const std::vector<Chunk> &chunks) {
    std::vector<Prices> all;
    for (uint32_t begin = 0; begin < n; begin += kBlock) {
        Counts counts{};
        for (uint32_t at = begin; at < std::min(n, begin + kBlock); at += kChunk) {
            const Chunk &chunk = chunks[at / kChunk];
            uint32_t i = at, before = at > begin ? chunks[at / kChunk - 1].tail : 0;
            for (const Sequence &s : chunk.sequences) {
                for (uint32_t k = 0; k < s.literals; k++) counts.literal[text[i + k]]++;
                counts.literals[literals_code(before + s.literals)]++;
                counts.length[length_code(s.length)]++;
                counts.offset[s.offset_code >> kOffsetBits]++;
                i += s.literals + s.length;
                before = 0;
            }
            for (uint32_t k = 0; k < chunk.tail; k++) counts.literal[text[i + k]]++;
        }
        all.push_back(prices_from(counts));
    }
    return all;
}

} // namespace zst
