// decode.cpp: runs hybz_lane_decode on every shape, alone and in batches. The output of the reference coding must
// decode to the shape or, if expanded, to the text whose run-length coding is the shape; irregular blocks must be odd.
#include "common.hpp"

namespace hybz {

namespace {

// The input of a batch.
struct Sent {
    std::vector<hybz_block> heads;
    std::vector<uint8_t> input;
};

struct DecodeLane : Lane {
    Pinned<uint8_t> input, text;
    std::vector<hybz_decoded> decoded;
    uint64_t filled = 0;
    DecodeLane(uint32_t blocks, uint32_t bytes, double room = 1.25)
        : Lane(blocks, bytes, HYBZ_DECODE), input(size_t(blocks) * bytes),
          text(size_t(room * blocks * HYBZ_MAX_ROWS)),
          decoded(blocks) {}
    void run(const Sent &sent) {
        text.spoil();
        memcpy(input.memory, sent.input.data(), sent.input.size());
        timed("decode", [&] {
            return hybz_lane_decode(lane, uint32_t(sent.heads.size()), sent.heads.data(), input.memory,
                                    sent.input.size(), decoded.data(), text.memory, text.bytes, &filled, kTimeout,
                                    &report);
        });
    }
};

// Adds a block, with its codes from bit `shift` of a word on, as in a stream.
void add(Sent &sent, const Coded &block, uint32_t shift) {
    const ReferenceCoding &coding = block.coding;
    hybz_block head{};
    head.at = uint32_t(sent.input.size());
    head.first_bit = shift;
    head.end_bit = shift + uint32_t(coding.bits.size());
    head.selectors = uint32_t(coding.selectors.size());
    head.origin = block.origin;
    head.limit = HYBZ_MAX_ROWS;
    head.symbols = uint32_t(coding.used.size()) + 2;
    head.tables = uint32_t(coding.lengths.size());
    std::copy(coding.used.begin(), coding.used.end(), head.used);
    for (size_t t = 0; t < coding.lengths.size(); t++)
        for (size_t s = 0; s < coding.lengths[t].size(); s++) head.lengths[t][s] = uint8_t(coding.lengths[t][s]);
    sent.input.resize(sent.input.size() + (head.end_bit + 31) / 32 * 4 + 8, 0xff); // others follow
    for (size_t bit = 0; bit < coding.bits.size(); bit++) {
        uint8_t &byte = sent.input[head.at + (shift + bit) / 8];
        const uint8_t mask = uint8_t(0x80 >> (shift + bit) % 8);
        byte = coding.bits[bit] ? byte | mask : byte & ~mask;
    }
    head.selectors_at = uint32_t(sent.input.size());
    sent.input.insert(sent.input.end(), coding.selectors.begin(), coding.selectors.end());
    sent.input.resize((sent.input.size() + 3) / 4 * 4);
    sent.heads.push_back(head);
}

// Expands runs. Returns false if the last run of four lacks the byte with its count.
bool plain_expand(const Text &coded, Text &text) {
    uint32_t equal = 0;
    for (const uint8_t byte : coded) {
        if (equal == 4) {
            text.insert(text.end(), byte, text.back());
            equal = 0;
        } else {
            equal = equal > 0 && byte == text.back() ? equal + 1 : 1;
            text.push_back(byte);
        }
    }
    return equal != 4;
}

// Describes the error of a decoded block, or returns null.
const char *error_of(const hybz_decoded &decoded, const hybz_block &head, const Text &coded, const uint8_t *output) {
    if (decoded.odd) return "odd";
    if (decoded.rows != coded.size()) return "rows";
    if (decoded.end_bit != head.end_bit) return "end";
    Text text;
    if (decoded.expanded && (!plain_expand(coded, text) || text.size() > HYBZ_LONGEST_TEXT)) return "expanded";
    const Text &expected = decoded.expanded ? text : coded;
    if (decoded.length != expected.size()) return "length";
    return memcmp(output + decoded.at, expected.data(), expected.size()) ? "text" : nullptr;
}

int report(const std::string &name, const char *what) {
    if (what) printf("WRONG %s: %s\n", name.c_str(), what);
    return what != nullptr;
}

// Run-length-coded texts with runs of many kinds.
std::vector<Shape> run_shapes(uint32_t n) {
    uint64_t seed = 88172645463325252;
    const auto runs = [&](auto next) {
        Text text;
        while (text.size() < n) next(text);
        text.resize(n);
        text[n - 1] = 'z'; // not a repetition of a shorter text; the last run has its count, or is shorter
        text[n - 2] = 'y';
        return text;
    };
    const auto random = [&](uint32_t below) { return uint32_t((next_random(seed) >> 11) % below); };
    return {
        {"runs of up to 7 bytes", runs([&](Text &text) {
             text.insert(text.end(), 1 + random(7), uint8_t('a' + random(3)));
         })},
        {"runs of four, counts up to 3", runs([&](Text &text) {
             text.insert(text.end(), 4, uint8_t('a' + random(9)));
             text.push_back(uint8_t(random(4)));
             text.push_back(uint8_t('k' + random(3)));
         })},
        {"runs of four, any count", runs([&](Text &text) {
             text.insert(text.end(), 40, uint8_t('a' + random(2)));
             text.insert(text.end(), 4, 'c');
             text.push_back(uint8_t(random(256)));
             text.push_back('d');
             for (uint32_t k = random(3000); k > 0; k--) text.push_back(uint8_t('e' + random(20)));
         })},
        {"chains of runs of four", runs([&](Text &text) { text.insert(text.end(), 4, uint8_t('a' + random(5))); })},
        {"long stretches", runs([&](Text &text) {
             text.insert(text.end(), 1 + random(700), uint8_t('0' + random(4)));
         })},
    };
}

// Whether the device must have expanded a shape; false for shapes in which it may fail to find the runs.
bool must_expand(const Shape &shape) {
    Text text;
    const bool usual = shape.name.rfind("runs of", 0) == 0 || shape.name == "random";
    return usual && plain_expand(shape.text, text) && text.size() <= HYBZ_LONGEST_TEXT;
}

// Blocks whose last run lacks its count, and texts about as long as the longest that is expanded.
std::vector<Shape> end_shapes() {
    const auto shape = [](const char *name, size_t words, const Text &end) {
        Text text;
        for (size_t k = 0; k < words; k++) text.push_back(uint8_t('a' + k * k % 23));
        text.insert(text.end(), end.begin(), end.end());
        return Shape{name, text};
    };
    const auto runs = [](size_t count, size_t rest) {
        Text text;
        for (size_t k = 0; k < count; k++) text.insert(text.end(), {'x', 'x', 'x', 'x', 251, 'y'});
        text.insert(text.end(), rest, 'z');
        return text;
    };
    const size_t longest = HYBZ_LONGEST_TEXT / 256 - 8; // runs of 255 bytes, each with another byte
    return {
        shape("last count missing", 60, {'z', 'z', 'z', 'z'}),
        shape("last count missing, next piece", 64, {'z', 'z', 'z', 'z'}),
        shape("last run complete", 59, {'z', 'z', 'z', 'z', 0}),
        shape("the longest text", 2046, runs(longest, 2)),
        shape("one byte more", 2046, runs(longest, 3)),
    };
}

// Checks blocks for which the answer is known, and a batch whose texts do not all fit the output.
int check_ends(uint32_t max_length) {
    std::vector<Shape> all = end_shapes();
    const bool expanded[] = {false, false, true, true, false};
    for (int copies = 0; copies < 3; copies++) all.push_back(all[3]);
    if (all[3].text.size() > max_length) return 0;
    Sent sent;
    for (const Shape &shape : all) add(sent, expected_coding(shape.text), 3);
    int wrong = 0;
    for (const bool spare : {true, false}) {
        DecodeLane lane(uint32_t(all.size()), uint32_t(sent.input.size() / all.size() + 4), spare ? 4 : 1);
        lane.run(sent);
        for (size_t i = 0; i < all.size(); i++) {
            wrong += report(all[i].name, error_of(lane.decoded[i], sent.heads[i], all[i].text, lane.text.memory));
            const bool right = i < 5 ? expanded[i] : spare || i < 7; // three of 2 MiB have room where eight blocks have
            if (bool(lane.decoded[i].expanded) != right) wrong += report(all[i].name, "expanded or not");
        }
    }
    printf("ends: %d wrong\n", wrong);
    return wrong;
}

// Blocks that only a core may judge, each between two regular ones.
int check_odd(DecodeLane &lane, const Coded &regular, const Text &text) {
    int wrong = 0;
    const auto check = [&](const char *name, auto spoil) {
        Sent sent;
        for (uint32_t b = 0; b < 3; b++) add(sent, regular, 7 * b);
        spoil(sent.heads[1], sent.input);
        lane.run(sent);
        if (!lane.decoded[0].expanded) wrong += report(name, "not expanded");
        wrong += report(name, lane.decoded[1].odd ? nullptr : "not odd");
        for (size_t b : {0, 2})
            wrong += report(name, error_of(lane.decoded[b], sent.heads[b], text, lane.text.memory));
    };
    using Input = std::vector<uint8_t>;
    check("bits end early", [](hybz_block &head, Input &) { head.end_bit -= 1; });
    check("too few selectors", [](hybz_block &head, Input &) { head.selectors -= 1; });
    check("too many rows", [&](hybz_block &head, Input &) { head.limit = uint32_t(text.size()) - 1; });
    check("origin past the block", [&](hybz_block &head, Input &) { head.origin = uint32_t(text.size()); });
    check("over-subscribed codes", [](hybz_block &head, Input &) { memset(head.lengths[0], 1, 3); });
    check("bits that are no code", [](hybz_block &head, Input &) { memset(head.lengths, 20, sizeof head.lengths); });
    return wrong;
}

} // namespace

int check_decode(uint32_t max_length) {
    int wrong = check_ends(max_length);
    uint32_t expanded = 0, coded_only = 0;
    for (uint32_t n : {64u, 200u, 5000u, 70000u, 899981u}) {
        if (n > max_length) break;
        std::vector<Shape> all = primitive_shapes(n);
        for (Shape &shape : run_shapes(n)) all.push_back(std::move(shape));
        if (n == 64) // tiny blocks
            for (long length : {1, 2, 3, 5, 17})
                all.push_back({"tiny", Text(all[0].text.begin(), all[0].text.begin() + length)});
        std::vector<Coded> coded(all.size());
        parallel(all.size(), [&](size_t i) { coded[i] = expected_coding(all[i].text); });
        Sent together;
        std::vector<Sent> batches;
        for (size_t i = 0; i < all.size(); i++) {
            batches.emplace_back();
            add(batches.back(), coded[i], uint32_t(i) % 32);
            add(together, coded[i], uint32_t(i) * 5 % 32);
        }
        batches.push_back(together);
        size_t most = 0;
        for (const Sent &sent : batches) most = std::max(most, sent.input.size() / sent.heads.size() + 4);
        DecodeLane lane(uint32_t(all.size()) + 3, uint32_t(most));
        for (size_t b = 0; b < batches.size(); b++) {
            lane.run(batches[b]);
            for (size_t i = 0; i < batches[b].heads.size(); i++) {
                const Shape &shape = all[b < all.size() ? b : i];
                const hybz_decoded &decoded = lane.decoded[i];
                wrong += report(shape.name, error_of(decoded, batches[b].heads[i], shape.text, lane.text.memory));
                if (!decoded.expanded && must_expand(shape)) wrong += report(shape.name, "not expanded");
                expanded += decoded.expanded;
                coded_only += !decoded.expanded;
            }
        }
        wrong += check_odd(lane, coded[0], all[0].text);
        printf("n %u: %zu shapes, %u blocks expanded, %u not, %d wrong\n", n, all.size(), expanded, coded_only,
               wrong);
        fflush(stdout);
    }
    return wrong != 0;
}

} // namespace hybz
