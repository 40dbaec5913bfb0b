// factor.cpp: compares hybz_lane_factor with a plain twin, on shapes.
#include "common.hpp"

namespace hybz {

namespace {

using Factors = std::vector<hybz_factor>;

uint32_t common(const Text &text, uint32_t before, size_t at, size_t end) {
    if (before == ~0u) return 0;
    const auto from = text.begin() + long(at), to = text.begin() + long(end);
    return uint32_t(std::mismatch(from, to, text.begin() + long(before)).first - from);
}

// The factors, cut at the ends of equal divisions.
Factors parse(const Text &text, const std::vector<Neighbours> &pairs, uint32_t divisions) {
    Factors all;
    for (uint64_t division = 0; division < divisions; division++) {
        const size_t end = text.size() * (division + 1) / divisions;
        for (size_t at = text.size() * division / divisions; at < end;) {
            const Neighbours pair = pairs[at];
            const uint32_t x = common(text, pair.first, at, end), y = common(text, pair.second, at, end);
            const uint32_t length = std::max(x, y);
            all.push_back({length ? x >= y ? pair.first : pair.second : text[at], length});
            at += std::max(length, 1u);
        }
    }
    return all;
}

// Runs of the transform of the text and its mark.
uint32_t runs_of(const Text &text, const std::vector<uint32_t> &order) {
    uint32_t last = ~0u, runs = 0;
    for (const uint32_t suffix : order) {
        const uint32_t letter = suffix ? text[suffix - 1] : 256;
        runs += letter != last;
        last = letter;
    }
    return runs;
}

struct Expected {
    std::vector<Neighbours> pairs;
    uint32_t runs;
};

Expected expected(const Text &text) {
    const std::vector<uint32_t> order = suffix_order(text);
    return {reference_neighbours(order), runs_of(text, order)};
}

struct FactorLane : Lane {
    Pinned<uint8_t> text;
    Pinned<hybz_factor> factors;
    hybz_factor_counts counts{};
    hybz_factor_report steps{};

    explicit FactorLane(uint32_t length, uint32_t room)
        : Lane(1, length, HYBZ_FACTOR), text(length), factors(room) {}

    void run(const Text &given, uint32_t divisions) {
        memcpy(text.memory, given.data(), given.size());
        factors.spoil();
        counts = {};
        timed("factor", [&] {
            return hybz_lane_factor(lane, uint32_t(given.size()), text.memory, divisions, 1, &counts, kTimeout, &steps);
        });
        if (size_t(counts.factors) * sizeof(hybz_factor) > factors.bytes) {
            printf("%u factors: more than there is room for\n", counts.factors);
            exit(1);
        }
        must(hybz_lane_factors(lane, 0, counts.factors, factors.memory, kTimeout), "factors");
    }
};

// Describes an error in a lane's results, or returns null. Sources of factors that are cut may differ (hybz.h), so
// their texts are compared.
const char *difference(const FactorLane &lane, const Text &text, const Expected &want, const Factors &factors,
                       uint32_t divisions) {
    if (lane.counts.runs != want.runs) return "runs";
    if (lane.counts.factors != factors.size()) return "count";
    size_t at = 0;
    for (size_t i = 0; i < factors.size(); i++) {
        const hybz_factor got = lane.factors.memory[i];
        if (got.length != factors[i].length) return "length";
        if (got.source != factors[i].source) {
            if (divisions < 2 || got.length == 0 || got.source >= at) return "source";
            if (common(text, got.source, at, at + got.length) != got.length) return "source of a cut factor";
        }
        at += std::max(got.length, 1u);
    }
    return nullptr;
}

// The shapes of the sort, and more with long comparisons or distant neighbours.
std::vector<Shape> factor_shapes(uint32_t n) {
    std::vector<Shape> all = shapes(n);
    uint64_t seed = 0x2545F4914F6CDD1Du ^ n;
    all.push_back({"all_equal", Text(n, 'a')});
    all.push_back({"period_2", text_by(n, [](uint32_t i) { return 'a' + i % 2; })});
    all.push_back({"period_3", text_by(n, [](uint32_t i) { return 'a' + i % 3; })});
    all.push_back({"period_129", text_by(n, [](uint32_t i) { return i % 129 * 7; })});
    // The second half repeats the first, and does not begin at the start of a run.
    Text half = random_text(seed, n / 2, 4, 'a'), doubled = half;
    doubled.insert(doubled.end(), half.begin(), half.end());
    all.push_back({"doubled", doubled});
    // Copies, each with a different byte changed: two positions are often not as far apart as their neighbours are.
    Text copies;
    const Text part = random_text(seed, std::max(n / 20, 16u), 3, 'a');
    while (copies.size() < n) {
        Text copy = part;
        copy[next_random(seed) % copy.size()] = uint8_t('x' + next_random(seed) % 3);
        copies.insert(copies.end(), copy.begin(), copy.end());
    }
    copies.resize(n);
    all.push_back({"changed_copies", copies});
    // Runs of one byte, longer and longer, with a different byte between them.
    Text runs(n, 'b');
    for (uint32_t i = 0, length = 1; i < n; i += length + 1, length += length / 3 + 1) runs[i] = 'a';
    all.push_back({"growing_runs", runs});
    return all;
}

} // namespace

int check_factor(uint32_t max_length) {
    int wrong = 0, done = 0;
    for (uint32_t n : {64u, 129u, 1000u, 4999u, 33000u, 300000u, 1000000u, 5000000u}) {
        if (n > max_length) break;
        const std::vector<Shape> all = factor_shapes(n);
        std::vector<Expected> wants(all.size());
        parallel(all.size(), [&](size_t i) { wants[i] = expected(all[i].text); });
        FactorLane lane(longest(all), longest(all));
        for (size_t i = 0; i < all.size(); i++)
            for (uint32_t divisions : {0u, 1u, 15u, 480u}) {
                const Text &text = all[i].text;
                lane.run(text, divisions);
                const Factors factors = parse(text, wants[i].pairs, std::max(divisions, 1u));
                done++;
                if (const char *what = difference(lane, text, wants[i], factors, divisions)) {
                    printf("WRONG %s %zu, %u divisions: %s\n", all[i].name.c_str(), text.size(), divisions, what);
                    wrong++;
                }
            }
    }
    FactorLane lane(100, 100);
    for (const uint32_t length : {0u, uint32_t(HYBZ_MIN_LENGTH) - 1, 101u})
        if (hybz_lane_factor(lane.lane, length, lane.text.memory, 0, 0, &lane.counts, kTimeout, nullptr) !=
            HYBZ_ARGUMENT)
            printf("WRONG %u bytes: not refused\n", length), wrong++;
    lane.run(Text(100, 'a'), 0);
    if (hybz_lane_factors(lane.lane, 1, 2, lane.factors.memory, kTimeout) != HYBZ_ARGUMENT)
        printf("WRONG: factors that are not there\n"), wrong++;
    printf("factors: %d runs on shapes, %d wrong\n", done, wrong);
    return wrong != 0;
}

} // namespace hybz
