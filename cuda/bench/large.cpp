// large.cpp: runs hybz_lane_decode_large on batches written by Rust's test cases_for_the_kernels. Blocks from hybz's
// encoder must decode to a core's codes; blocks that a core finds damaged must be odd, or have other codes.
#include "common.hpp"

namespace hybz {

namespace {

struct Expected {
    uint32_t kind; // 0: regular; 1: a core finds damage before it has text; 2: a core finds damage in the text
    uint64_t hash;
};

struct Case {
    std::vector<hybz_large> heads;
    std::vector<uint8_t> input;
    std::vector<Expected> expected;
    uint32_t rows;
};

Case read_case(Cases &file) {
    const auto counts = file.read<uint32_t>(3);
    Case one{file.read<hybz_large>(counts[0]), file.read<uint8_t>(counts[1]), {}, counts[2]};
    for (uint32_t b = 0; b < counts[0]; b++)
        one.expected.push_back({file.read<uint32_t>(1)[0], file.read<uint64_t>(1)[0]});
    return one;
}

uint64_t hash_of(const uint8_t *codes, uint32_t count) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ codes[i]) * 0x100000001b3;
    return hash;
}

struct LargeLane : Lane {
    Pinned<uint8_t> input, codes;
    std::vector<uint32_t> odd;
    LargeLane(uint32_t blocks, uint32_t rows)
        : Lane(blocks, (rows + blocks - 1) / blocks, HYBZ_DECODE_LARGE),
          input(HYBZ_LARGE_INPUT(uint64_t(blocks), uint64_t(rows + blocks - 1) / blocks * blocks)), codes(rows),
          odd(blocks) {}
    int run(const Case &one) {
        codes.spoil();
        memcpy(input.memory, one.input.data(), one.input.size());
        return hybz_lane_decode_large(lane, uint32_t(one.heads.size()), one.heads.data(), input.memory,
                                      one.input.size(), odd.data(), codes.memory, kTimeout, &report);
    }
};

int compare(const Case &one, const LargeLane &lane, size_t number) {
    int wrong = 0;
    for (size_t b = 0; b < one.heads.size(); b++) {
        const uint64_t hash = hash_of(lane.codes.memory + one.heads[b].base, one.heads[b].rows);
        const char *what = nullptr;
        if (one.expected[b].kind == 1) what = lane.odd[b] ? nullptr : "not odd";
        else if (!lane.odd[b]) what = hash == one.expected[b].hash ? nullptr : "codes";
        // A core reads a nonexistent symbol as another one; the device makes the block odd.
        else if (one.expected[b].kind == 0) what = "odd";
        if (what) printf("WRONG case %zu block %zu: %s\n", number, b, what), wrong++;
    }
    return wrong;
}

// Batches that the lane must refuse: whatever its input, it must stay within bounds.
int check_impossible(const Case &usual) {
    int wrong = 0;
    LargeLane lane(4, usual.rows + 1000);
    const auto check = [&](const char *name, auto spoil) {
        Case spoilt = usual;
        spoilt.heads.resize(1);
        spoil(spoilt.heads[0], spoilt.input);
        if (lane.run(spoilt) != HYBZ_ARGUMENT) printf("WRONG %s: not refused\n", name), wrong++;
    };
    using Input = std::vector<uint8_t>;
    const auto segment = [](hybz_large &head, Input &input) {
        return reinterpret_cast<hybz_segment *>(input.data() + head.segments_at);
    };
    check("no rows", [](hybz_large &head, Input &) { head.rows = 0; });
    check("more rows than the lane has", [&](hybz_large &head, Input &) { head.rows = usual.rows + 1004; });
    check("a base that is odd", [](hybz_large &head, Input &) { head.base = 8; });
    check("a base past the lane", [](hybz_large &head, Input &) { head.base = 1u << 31; });
    check("long chains", [](hybz_large &head, Input &) { head.entry_log = HYBZ_MAX_ENTRY_LOG + 1; });
    check("short chains", [](hybz_large &head, Input &) { head.entry_log = HYBZ_MIN_ENTRY_LOG - 1; });
    check("17 selectors", [](hybz_large &head, Input &) { head.selectors = 17; });
    check("entries at no word", [](hybz_large &head, Input &) { head.entries_at += 2; });
    check("shares past the end", [](hybz_large &head, Input &input) { head.shares_at = uint32_t(input.size()); });
    check("shares of too much", [](hybz_large &head, Input &input) { input[head.shares_at] += 1; });
    check("an entry past the rows", [](hybz_large &head, Input &input) { input[head.entries_at + 3] = 1; });
    check("a segment past the end", [&](hybz_large &head, Input &input) { segment(head, input)->at = ~0u; });
    check("no tokens", [&](hybz_large &head, Input &input) { segment(head, input)->tokens = 0; });
    check("too many tokens", [&](hybz_large &head, Input &input) { segment(head, input)->tokens = 1u << 17; });
    return wrong;
}

} // namespace

int check_large(const char *path) {
    const std::vector<Case> cases = read_cases(path, read_case);
    int wrong = 0;
    size_t blocks = 0;
    for (size_t number = 0; number < cases.size(); number++) {
        const Case &one = cases[number];
        // The input must fit its buffer, too, whose size depends on the lane's rows.
        const size_t room = std::max<size_t>(one.rows, one.input.size() * 2);
        LargeLane lane(uint32_t(one.heads.size()), uint32_t(room));
        for (int round = 0; round < 2; round++) {
            must(lane.run(one), "decode large");
            wrong += compare(one, lane, number);
        }
        blocks += one.heads.size();
        if (one.rows < 1000000) continue;
        printf("%u rows, ms:", one.rows);
        print_steps(lane.report, 1);
    }
    if (cases[0].rows < 1000000) wrong += check_impossible(cases[0]);
    printf("%zu batches, %zu blocks, %d wrong\n", cases.size(), blocks, wrong);
    return wrong != 0;
}

} // namespace hybz
