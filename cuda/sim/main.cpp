// Tests the simulation against the reference sort on every shape, with more keys, steps and sizes of small groups than
// the device uses; prints the number of rotations in the rounds.
#include "shapes.hpp"
#include "sim.hpp"
#include <cstdio>

using namespace hybz;

static int check(const std::string &name, const std::vector<uint8_t> &text, int sort_bits, bool coded,
                 uint32_t text_steps, int steps, uint32_t small, uint32_t blocks, bool print) {
    const uint32_t n = uint32_t(text.size());
    if (is_periodic(text.data(), n)) {
        if (print) printf("%-20s %7u periodic\n", name.c_str(), n);
        return 0;
    }
    std::vector<uint32_t> table(kTableEntries);
    // Raw bytes: any table is correct.
    for (size_t i = 0; i < kTableEntries; i++) table[i] = code_entry(i & 255, 8);
    if (coded) code_table(text.data(), n, table.data());
    std::vector<uint8_t> got(n), want(n);
    uint32_t got_origin = ~0u, want_origin = ~0u;
    SimCounts counts;
    const bool ended = simulate(text.data(), n, table.data(), KeyLayout(blocks, sort_bits), text_steps, steps, small,
                                got.data(), &got_origin, counts);
    reference_bwt(text.data(), n, want.data(), &want_origin);
    const bool right = ended && got == want && got_origin == want_origin;
    if (print || !right) {
        double all = 0, large = 0;
        for (uint64_t r = 0; r < counts.rounds; r++) {
            all += double(counts.small[r] + counts.large[r]);
            large += double(counts.large[r]);
        }
        printf("%-20s %7u bits %d coded %d text %u steps %d: %s, tied %.3f, rounds %llu, rotation-rounds %.3f, "
               "large %.3f, gathers %.3f\n",
               name.c_str(), n, sort_bits, coded, text_steps, steps, right ? "ok" : "WRONG",
               double(counts.tied_small + counts.tied_large) / n, (unsigned long long)counts.rounds, all / n, large / n,
               double(counts.gathers) / n);
    }
    return right ? 0 : 1;
}

int main() {
    int wrong = 0;
    for (uint32_t n : {64u, 65u, 100u, 1000u, 4099u, 60000u})
        for (const Shape &shape : shapes(n))
            for (int variant = 0; variant < 4; variant++)
                wrong += check(shape.name, shape.text, variant & 1 ? kSortBits : 40, variant & 2,
                               uint32_t(variant), variant == 3 ? kSteps : 1 + variant % 3, variant == 0 ? 1 : kSmall,
                               variant == 1 ? 512 : 1, n == 60000 && variant == 3);
    printf(wrong ? "%d WRONG\n" : "all right\n", wrong);
    return wrong != 0;
}
