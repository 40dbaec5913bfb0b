// coded.cpp: runs hybz_lane_lz4 and hybz_lane_strips on blocks and strips that tests of Rust have written and decoded:
// from device memory and from the host, all together, and some alone.
#include "common.hpp"

namespace hybz {

namespace {

using Bytes = std::vector<uint8_t>;

// A block or strip. The file of cases has its numbers, its codes, and as much of its text as is present.
struct Numbers {
    uint32_t coded, wanted, present; // bytes; a damaged text is defined as far as it is present
    uint32_t found[3];               // LZ4: whether it is damaged, and whether it is plain
};
struct Case {
    Numbers numbers;
    Bytes codes, text;
};

struct Lz4 {
    using Item = hybz_lz4_block;
    using Result = uint32_t;
    static constexpr int32_t kPipeline = HYBZ_LZ4;
    static constexpr bool kWritesGaps = false;
    static Item item(const Case &one, uint64_t from, uint64_t to) {
        return {from, to, one.numbers.coded, one.numbers.wanted, one.numbers.found[1], 0};
    }
    static int run(hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_size, const Item *items,
                   uint32_t count, uint8_t *out, uint64_t out_size, uint8_t *, Result *results) {
        return hybz_lane_lz4(lane, from_host, in, in_size, items, count, out, out_size, results, kTimeout);
    }
};

struct Lzw {
    using Item = hybz_lzw_strip;
    using Result = hybz_lzw_found;
    static constexpr int32_t kPipeline = HYBZ_STRIPS;
    static constexpr bool kWritesGaps = true; // if it copies texts to the host
    static Item item(const Case &one, uint64_t from, uint64_t to) {
        return {from, to, one.numbers.coded, one.numbers.wanted};
    }
    static int run(hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_size, const Item *items,
                   uint32_t count, uint8_t *out, uint64_t out_size, uint8_t *to_host, Result *results) {
        return hybz_lane_strips(lane, from_host, in, in_size, items, count, out, out_size, to_host, results, kTimeout);
    }
};

// Blocks or strips with gaps between them, in the input and in the output; nothing may be written to the gaps.
template <class Kind> struct Job {
    using Result = typename Kind::Result;
    std::vector<typename Kind::Item> items;
    std::vector<Result> wants;
    Bytes in, want;
    std::vector<size_t> undefined; // offsets after the texts that are present

    void gap(size_t bytes) {
        in.resize(in.size() + bytes, 0xee);
        want.resize(want.size() + bytes, 0x11);
    }

    void add(const Case &one) {
        items.push_back(Kind::item(one, in.size(), want.size()));
        Result result;
        memcpy(&result, one.numbers.found, sizeof result);
        wants.push_back(result);
        in.insert(in.end(), one.codes.begin(), one.codes.end());
        want.insert(want.end(), one.text.begin(), one.text.end());
        undefined.push_back(want.size());
        want.resize(items.back().to + one.numbers.wanted, 0x11);
    }

    // If `row` is not 0, the texts hold differences.
    int run(const char *name, uint32_t pixel = 0, uint32_t row = 0) const {
        Bytes texts = want, got(want.size(), 0x11);
        for (size_t s = 0; row && s < items.size(); s++)
            for (size_t i = pixel; i < undefined[s] - items[s].to; i++)
                if (i % row >= pixel) texts[items[s].to + i] += texts[items[s].to + i - pixel];
        const uint32_t count = uint32_t(items.size());
        Lane lane(count, uint32_t(in.size()), Kind::kPipeline);
        must(hybz_lane_differences(lane.lane, pixel, row), "differences");
        DeviceBytes device_in(in.size()), out(got.size());
        copy(device_in.memory, in.data(), in.size(), cudaMemcpyHostToDevice);
        int wrong = 0;
        for (const bool host : {false, true}) {
            std::vector<Result> found(count);
            copy(out.memory, Bytes(got.size(), 0x11).data(), got.size(), cudaMemcpyHostToDevice);
            lane.timed(name, [&] {
                return Kind::run(lane.lane, host ? in.data() : nullptr, device_in.memory, in.size(), items.data(),
                                 count, out.memory, got.size(), host ? got.data() : nullptr, found.data());
            });
            if (!host || !Kind::kWritesGaps) copy(got.data(), out.memory, got.size(), cudaMemcpyDeviceToHost);
            wrong += compare(name, texts, got, found, host && Kind::kWritesGaps);
        }
        return wrong;
    }

    int compare(const char *name, const Bytes &texts, Bytes &got, const std::vector<Result> &found, bool gaps) const {
        int wrong = 0;
        size_t at = 0;
        for (size_t s = 0; s < items.size(); s++) {
            const size_t begin = items[s].to, end = begin + items[s].length;
            memset(got.data() + undefined[s], 0x11, end - undefined[s]);
            if (gaps) memset(got.data() + at, 0x11, begin - at);
            at = end;
            const bool same = memcmp(&found[s], &wants[s], sizeof found[s]) == 0;
            if (same && memcmp(got.data() + begin, texts.data() + begin, end - begin) == 0) continue;
            printf("WRONG %s, number %zu of %u bytes: %s\n", name, s, items[s].length, same ? "text" : "result");
            wrong++;
        }
        if (gaps) memset(got.data() + at, 0x11, got.size() - at);
        if (got != texts) printf("WRONG %s: bytes\n", name), wrong++;
        return wrong;
    }
};

Case read_case(Cases &file) {
    Case one{file.read<Numbers>(1)[0], {}, {}};
    one.codes = file.read<uint8_t>(one.numbers.coded);
    one.text = file.read<uint8_t>(one.numbers.present);
    return one;
}

template <class Kind> int check(const char *name, const char *path, bool rows) {
    const std::vector<Case> cases = read_cases(path, read_case);
    Job<Kind> together, few;
    for (size_t number = 0; number < cases.size(); number++)
        for (Job<Kind> *job : {&together, &few}) {
            if (job == &few && number % 8) continue;
            job->gap(64);
            job->add(cases[number]);
        }
    together.gap(64);
    int wrong = together.run(name);
    if (rows)
        for (const auto &[pixel, row] : {std::pair(1u, 100u), {3u, 3000u}, {4u, 1u << 16}})
            wrong += few.run("rows", pixel, row);
    // Each case alone, at any address, with nothing after it in memory: for tools that check memory bounds.
    for (size_t number = 0; number < cases.size(); number += 1 + cases.size() / 400) {
        Job<Kind> one;
        one.gap(number % 16);
        one.add(cases[number]);
        wrong += one.run("alone");
    }
    printf("%s: %zu cases, %d wrong\n", name, cases.size(), wrong);
    return wrong != 0;
}

} // namespace

int check_lz4(const char *path) { return check<Lz4>("LZ4", path, false); }
int check_lzw(const char *path) { return check<Lzw>("LZW", path, true); }

} // namespace hybz
