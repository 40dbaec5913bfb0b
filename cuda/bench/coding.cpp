// coding.cpp: runs hybz_lane_tokens, hybz_lane_choose and hybz_lane_segments on batches written by Rust's test
// coding_cases_for_the_kernels, with the prices and shares that a core computed. Each step must give the core's result.
#include "common.hpp"

namespace hybz {

namespace {

struct CodingCase {
    uint32_t blocks, entry_log, rounds;
    std::vector<uint32_t> lengths;
    std::vector<uint8_t> text;
    hybz_weights weights;
    std::vector<hybz_tokens> about;
    std::vector<uint32_t> entries;
    std::vector<hybz_tally> first;
    std::vector<uint32_t> all; // by round: whether it is over all segments
    std::vector<hybz_prices> prices; // [round][block]
    std::vector<hybz_tally> tallies; // [round][block]
    std::vector<hybz_shares> shares;
    std::vector<hybz_coded_segment> segments;
    std::vector<uint8_t> bytes;
};

CodingCase read_case(Cases &file) {
    const auto counts = file.read<uint32_t>(3);
    CodingCase c{counts[0], counts[1], counts[2], file.read<uint32_t>(counts[0])};
    uint32_t total = 0, segments = 0, longest = 0;
    for (uint32_t length : c.lengths) {
        total += length;
        segments += (length + 65535) / 65536;
        longest = std::max(longest, length);
    }
    c.text = file.read<uint8_t>(total);
    c.weights = file.read<hybz_weights>(1)[0];
    c.about = file.read<hybz_tokens>(c.blocks);
    c.entries = file.read<uint32_t>(c.blocks * (((longest - 1) >> c.entry_log) + 1));
    c.first = file.read<hybz_tally>(c.blocks);
    c.all = file.read<uint32_t>(c.rounds);
    c.prices = file.read<hybz_prices>(c.rounds * c.blocks);
    c.tallies = file.read<hybz_tally>(c.rounds * c.blocks);
    c.shares = file.read<hybz_shares>(c.blocks);
    c.segments = file.read<hybz_coded_segment>(segments);
    size_t bytes = 0;
    for (const hybz_coded_segment &segment : c.segments) bytes += (segment.bits + 7) / 8;
    c.bytes = file.read<uint8_t>(bytes);
    return c;
}

template <class T> int differ(const char *what, size_t number, const T *got, const T *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &expected[i], sizeof(T)) == 0) continue;
        printf("WRONG case %zu: %s, number %zu of %zu\n", number, what, i, count);
        return 1;
    }
    return 0;
}

int check_case(const CodingCase &c, size_t number) {
    const uint32_t longest = *std::max_element(c.lengths.begin(), c.lengths.end());
    Lane lane(c.blocks, longest, HYBZ_CODE_LARGE);
    Pinned<uint8_t> text(c.text.size()), bytes(c.bytes.size() + 1000);
    Pinned<uint32_t> entries(c.entries.size());
    memcpy(text.memory, c.text.data(), c.text.size());
    std::vector<hybz_tokens> about(c.blocks);
    std::vector<hybz_tally> tallies(c.blocks);
    std::vector<hybz_coded_segment> segments(c.segments.size());
    int wrong = 0;
    for (int round = 0; round < 3 && !wrong; round++) {
        // In the last round the output buffer is too small, and nothing is written.
        const uint64_t room = round < 2 ? c.bytes.size() + 1000 : 0;
        hybz_report report{};
        bytes.spoil();
        must(hybz_lane_tokens(lane.lane, c.blocks, c.lengths.data(), text.memory, c.entry_log, &c.weights,
                              about.data(), tallies.data(), entries.memory, kTimeout, &report),
             "tokens");
        wrong += differ("tokens", number, about.data(), c.about.data(), c.blocks);
        // Blocks shorter than the longest have fewer entry points.
        for (uint32_t b = 0, each = ((longest - 1) >> c.entry_log) + 1; b < c.blocks; b++)
            wrong += differ("entries", number, entries.memory + b * each, c.entries.data() + b * each,
                            ((c.lengths[b] - 1) >> c.entry_log) + 1);
        wrong += differ("first choice", number, tallies.data(), c.first.data(), c.blocks);
        for (uint32_t r = 0; r < c.rounds && !wrong; r++) {
            must(hybz_lane_choose(lane.lane, c.prices.data() + r * c.blocks, int32_t(c.all[r]), tallies.data(),
                                  kTimeout, &report),
                 "choose");
            wrong += differ("a round", number, tallies.data(), c.tallies.data() + r * c.blocks, c.blocks);
        }
        uint64_t filled = 1;
        if (!wrong)
            must(hybz_lane_segments(lane.lane, c.shares.data(), segments.data(), bytes.memory, room, &filled, kTimeout,
                                    &report),
                 "segments");
        wrong += differ("segments", number, segments.data(), c.segments.data(), segments.size());
        const bool right = room ? filled == c.bytes.size() : filled == 0 && bytes.memory[0] == 0xA5;
        if (!right) printf("WRONG case %zu: %zu bytes, room %zu\n", number, size_t(filled), size_t(room)), wrong++;
        else wrong += differ("bytes", number, bytes.memory, c.bytes.data(), filled);
        if (c.text.size() < 1000000) continue;
        printf("%zu bytes, ms:", c.text.size());
        print_steps(report, 1);
    }
    if (hybz_lane_choose(lane.lane, c.prices.data(), 1, tallies.data(), kTimeout, nullptr) != HYBZ_ARGUMENT)
        printf("WRONG case %zu: chose without tokens\n", number), wrong++;
    return wrong;
}

} // namespace

int check_large_coding(const char *path) {
    const std::vector<CodingCase> cases = read_cases(path, read_case);
    int wrong = 0;
    for (size_t number = 0; number < cases.size(); number++) wrong += check_case(cases[number], number);
    printf("%zu batches, %d wrong\n", cases.size(), wrong);
    return wrong != 0;
}

} // namespace hybz
