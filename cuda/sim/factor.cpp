// Tests the steps of factor.cuh, emulated, at every position: the neighbours of each suffix, and the length of the
// longest earlier occurrence. (bench factor tests them only where factors begin.) Build: emulate.sh OUT factor.cpp
#include "../factor.cuh"
#include "suffixes.hpp"
#include <cstdio>

using namespace hybz;

namespace {

struct Device {
    std::vector<uint8_t> text;
    std::vector<uint32_t> order, rank, minima, known, longest;
    std::vector<uint2> pairs;
    Factoring f{};

    // All suffixes in order, the end mark's first.
    explicit Device(const std::vector<uint32_t> &sorted, const Text &bytes) : text(bytes), order(sorted) {
        const uint32_t n = uint32_t(order.size()) - 1;
        text.resize(n + 64);
        rank.resize(n + 1);
        for (uint32_t row = 0; row <= n; row++) rank[order[row]] = row;
        minima.resize(n / 60 + 6);
        known.resize(n / 63 + 10);
        longest.resize(n + 1);
        pairs.resize(n + 1);
        set_levels(f, n, minima.data(), known.data());
        f.text = text.data();
        f.order = order.data();
        f.rank = rank.data();
        f.pairs = pairs.data();
        f.longest = longest.data();
    }
};

// Compares the neighbours of each row, except the mark's.
int check_neighbours(const char *name, Device &device) {
    find_neighbours(device.f, nullptr);
    const std::vector<uint32_t> &order = device.order;
    const std::vector<Neighbours> wants = reference_neighbours(order);
    for (uint32_t row = 1; row < order.size(); row++) {
        const uint2 got = device.pairs[row];
        const Neighbours want = wants[order[row]];
        if (got.x == want.first && got.y == want.second) continue;
        printf("WRONG %s %zu, row %u: neighbours %u %u, not %u %u\n", name, order.size() - 1, row, got.x, got.y,
               want.first, want.second);
        return 1;
    }
    return 0;
}

// Compares the lengths with the common prefixes with both neighbours (which are right).
int check_longest(const char *name, Device &device) {
    find_longest(device.f, nullptr);
    const uint32_t n = device.f.n;
    uint32_t lens[2] = {0, 0};
    for (uint32_t at = 0; at < n; at++) {
        const uint2 pair = device.pairs[device.rank[at]];
        const uint32_t before[2] = {pair.x, pair.y};
        for (int side = 0; side < 2; side++) {
            uint32_t &len = lens[side];
            len = before[side] == kNowhere ? 0 : len - (len > 0);
            while (before[side] != kNowhere && at + len < n && device.text[before[side] + len] == device.text[at + len])
                len++;
        }
        const uint32_t want = lens[0] >= lens[1] ? lens[0] : lens[1] | kLargerSide;
        if (device.longest[at] == want) continue;
        printf("WRONG %s %u at %u: %x, not %x\n", name, n, at, device.longest[at], want);
        return 1;
    }
    return 0;
}

} // namespace

// Neighbours in orders that no text has, with the three levels of the tree: the mark, then n positions.
int check_orders() {
    int wrong = 0;
    uint64_t seed = 88172645463325252u;
    for (const uint32_t n : {64u, 65u, 2047u, 2048u, 2049u, 65535u, 65537u, 200000u, 300000u}) {
        std::vector<uint32_t> up(n + 1, n), down(n + 1, n), random(n + 1, n), chains(n + 1, n), blocks(n + 1, n);
        for (uint32_t i = 0; i < n; i++) {
            up[i + 1] = random[i + 1] = blocks[i + 1] = i;
            down[i + 1] = n - 1 - i;
            // Even numbers downwards, then odd ones upwards.
            chains[i + 1] = i < (n + 1) / 2 ? ((n - 1) / 2 - i) * 2 : (i - (n + 1) / 2) * 2 + 1;
        }
        for (uint32_t i = n; i > 1; i--) std::swap(random[i], random[1 + next_random(seed) % i]);
        // Nearly in order: some positions are far from their place.
        for (uint32_t k = 0; k < 40; k++) {
            const size_t a = 1 + next_random(seed) % n, b = 1 + next_random(seed) % n;
            std::swap(blocks[a], blocks[b]);
        }
        const std::pair<const char *, std::vector<uint32_t> *> all[] = {
            {"up", &up}, {"down", &down}, {"random", &random}, {"chains", &chains}, {"nearly", &blocks}};
        for (const auto &[name, order] : all) {
            Device device(*order, Text(n, 'a'));
            wrong += check_neighbours(name, device);
        }
    }
    return wrong;
}

int main() {
    int wrong = check_orders(), done = 0;
    constexpr uint64_t kMost = uint64_t(1) << 30;
    wrong += runs_of_level(kMost, 4) != 1 || runs_of_level((1u << 28) + 1, 4) != 1 || runs_of_level(kMost, 3) != 4 ||
             runs_of_level((1u << 28) + 1, 3) != 2 || runs_of_level(129, 0) != 2;
    for (const uint32_t n : {64u, 129u, 3000u, 17000u, 40000u}) {
        std::vector<Shape> all = shapes(n);
        all.push_back({"all_equal", Text(n, 'a')});
        Text half = text_by(n / 2, [](uint32_t i) { return 'a' + i * i % 7 * (i / 9) % 5; }), doubled = half;
        doubled.insert(doubled.end(), half.begin(), half.end());
        all.push_back({"doubled", doubled});
        for (const Shape &shape : all) {
            Device device(suffix_order(shape.text), shape.text);
            wrong += check_neighbours(shape.name.c_str(), device) || check_longest(shape.name.c_str(), device);
            done++;
        }
    }
    printf("%d texts, every position: %d wrong\n", done, wrong);
    return wrong != 0;
}
