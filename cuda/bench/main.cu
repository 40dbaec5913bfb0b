// Tests and times the batched sort on a device, without Rust: no registry, no build tools.
//
//     bench check [LONGEST]     every shape, alone and in batches, all tunings, against the simulation and the plain sort
//     bench code [LONGEST]      every shape, alone and in batches, sorted and coded, against the plain sort and coding
//     bench resident FILE [BLOCKS]  as `time`, coded as well; the first 16 against the plain coding of their columns
//     bench time FILE [BLOCKS]  the file's blocks (run-length-coded as bzip2 does), repeated up to BLOCKS (256): device time a byte
//     bench suffixes [LONGEST] | FILE LONGEST BLOCKS  every shape, periodic ones too, against the plain sort; the file's blocks: device time a byte
//     bench lanes FILE LANES BLOCKS [code]  several lanes at once (which code as well): bytes a second, transfers included
#include "../sim/coding.hpp"
#include "../sim/shapes.hpp"
#include "../sim/sim.hpp"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

using namespace hybz;
using Clock = std::chrono::steady_clock;

namespace {

int must(int code, const char *what) {
    if (code != 0) {
        printf("%s: %d %s\n", what, code, hybz_error_text(code));
        exit(1);
    }
    return code;
}

double seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

void parallel(size_t count, const std::function<void(size_t)> &work) {
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); t++)
        threads.emplace_back([&] {
            for (size_t i; (i = next++) < count;) work(i);
        });
    for (auto &t : threads) t.join();
}

struct Pinned {
    uint8_t *text = nullptr, *column = nullptr;
    size_t bytes;
    explicit Pinned(size_t bytes) : bytes(bytes) {
        must(hybz_pinned_alloc(0, bytes, reinterpret_cast<void **>(&text)), "pinned");
        must(hybz_pinned_alloc(0, bytes, reinterpret_cast<void **>(&column)), "pinned");
    }
    ~Pinned() {
        hybz_pinned_free(text, bytes);
        hybz_pinned_free(column, bytes);
    }
};

struct Answer {
    std::vector<uint8_t> column;
    uint32_t origin = ~0u;
};

int check(uint32_t longest_shape) {
    int wrong = 0, done = 0;
    for (uint32_t n : {64u, 200u, 5000u, 70000u, 899981u}) {
        if (n > longest_shape) break;
        std::vector<Shape> all;
        for (Shape &shape : shapes(n))
            if (!is_periodic(shape.text.data(), uint32_t(shape.text.size()))) all.push_back(shape);
        std::vector<Answer> answers(all.size());
        std::vector<uint32_t> table(kTableEntries);
        raw_table(table.data());
        parallel(all.size(), [&](size_t i) {
            const uint32_t size = uint32_t(all[i].text.size());
            answers[i].column.resize(size);
            SimCounts ignored;
            if (n < 100000)
                plain_bwt(all[i].text.data(), size, answers[i].column.data(), &answers[i].origin);
            else
                simulate(all[i].text.data(), size, table.data(), KeyLayout(1, 56), 3, HYBZ_SMALL, answers[i].column.data(),
                         &answers[i].origin, ignored);
        });
        const uint32_t most = 20, longest = n + 100000 > HYBZ_LONGEST ? HYBZ_LONGEST : n + 100000;
        hybz_lane *lane = nullptr;
        must(hybz_lane_create(0, most, longest, HYBZ_BWT, &lane), "create");
        Pinned pinned(size_t(most) * longest);
        const auto run = [&](const std::vector<size_t> &which, hybz_tuning tuning) {
            std::vector<uint32_t> lengths, origins(which.size(), ~0u);
            size_t at = 0;
            for (size_t i : which) {
                memcpy(pinned.text + at, all[i].text.data(), all[i].text.size());
                lengths.push_back(uint32_t(all[i].text.size()));
                at += all[i].text.size();
            }
            memset(pinned.column, 0xA5, at);
            hybz_report report{};
            must(hybz_lane_bwt(lane, &tuning, uint32_t(which.size()), lengths.data(), pinned.text, pinned.column,
                               origins.data(), 20000, &report), "bwt");
            at = 0;
            for (size_t w = 0; w < which.size(); w++) {
                const Answer &answer = answers[which[w]];
                done++;
                if (memcmp(pinned.column + at, answer.column.data(), answer.column.size()) != 0 || origins[w] != answer.origin) {
                    wrong++;
                    size_t first = 0;
                    while (first < answer.column.size() && pinned.column[at + first] == answer.column[first]) first++;
                    printf("WRONG %s %u in a batch of %zu, bits %d coded %d steps %d counting %d: byte %zu, origin %u for %u\n",
                           all[which[w]].name.c_str(), lengths[w], which.size(), tuning.sort_bits, tuning.coded, tuning.steps,
                           tuning.counting, first, origins[w], answer.origin);
                }
                at += lengths[w];
            }
            // The device's counts must be the simulation's.
            if (n < 100000 && tuning.counting) {
                SimCounts counts;
                std::vector<uint32_t> codes(kTableEntries);
                if (tuning.coded) code_table(pinned.text, at, codes.data());
                else raw_table(codes.data());
                for (size_t i : which) {
                    Answer ignored;
                    ignored.column.resize(all[i].text.size());
                    simulate(all[i].text.data(), uint32_t(all[i].text.size()), codes.data(),
                             KeyLayout(uint32_t(which.size()), tuning.sort_bits), tuning.steps, HYBZ_SMALL,
                             ignored.column.data(), &ignored.origin, counts);
                }
                bool same = counts.rounds == report.rounds && counts.tied_small == report.tied_small &&
                            counts.tied_large == report.tied_large;
                for (uint32_t r = 0; same && r < report.rounds; r++)
                    same = counts.small[r] == report.round[r].small && counts.large[r] == report.round[r].large &&
                           counts.resolved[r] == report.round[r].resolved;
                if (!same) {
                    wrong++;
                    printf("COUNTS differ: n %u, batch of %zu, rounds %u for %llu, tied %u+%u for %llu+%llu\n", n, which.size(),
                           report.rounds, (unsigned long long)counts.rounds, report.tied_small, report.tied_large,
                           (unsigned long long)counts.tied_small, (unsigned long long)counts.tied_large);
                }
            }
        };
        const hybz_tuning tunings[] = {{56, 1, 3, 1}, {48, 1, 1, 1}, {40, 0, 2, 1}, {56, 0, 1, 0}, {50, 1, 3, 1}};
        for (const hybz_tuning &tuning : tunings) {
            std::vector<size_t> together;
            for (size_t i = 0; i < all.size(); i++) {
                run({i}, tuning);
                together.push_back(i);
            }
            run({0, all.size() - 1}, tuning);
            for (size_t i = 0; together.size() < most - 1; i++) together.push_back(i % all.size());
            run(together, tuning);
        }
        must(hybz_lane_destroy(lane), "destroy");
        printf("n %u: %zu shapes, %d blocks so far, %d wrong\n", n, all.size(), done, wrong);
        fflush(stdout);
    }
    return wrong != 0;
}

// bzip2's run-length coding and split into blocks at level 9.
std::vector<std::vector<uint8_t>> blocks_of(const char *path) {
    std::vector<uint8_t> data;
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("no %s\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    data.resize(size_t(ftell(file)));
    rewind(file);
    if (fread(data.data(), 1, data.size(), file) != data.size()) exit(1);
    fclose(file);
    std::vector<std::vector<uint8_t>> blocks(1);
    for (size_t i = 0; i < data.size();) {
        size_t run = 1;
        while (run < 255 && i + run < data.size() && data[i + run] == data[i]) run++;
        auto &block = blocks.back();
        for (size_t r = 0; r < std::min<size_t>(run, 4); r++) block.push_back(data[i]);
        if (run >= 4) block.push_back(uint8_t(run - 4));
        i += run;
        if (block.size() >= 899981 && i < data.size()) blocks.emplace_back();
    }
    std::vector<std::vector<uint8_t>> usable;
    for (auto &block : blocks)
        if (block.size() >= 64 && !is_periodic(block.data(), uint32_t(block.size()))) usable.push_back(std::move(block));
    return usable;
}

struct Loaded {
    std::vector<uint32_t> lengths;
    size_t bytes = 0;
};

Loaded load(const std::vector<std::vector<uint8_t>> &blocks, uint32_t count, uint32_t from, uint8_t *text) {
    Loaded loaded;
    for (uint32_t b = 0; b < count; b++) {
        const auto &block = blocks[(b + from) % blocks.size()];
        memcpy(text + loaded.bytes, block.data(), block.size());
        loaded.lengths.push_back(uint32_t(block.size()));
        loaded.bytes += block.size();
    }
    return loaded;
}

int time_it(const char *path, uint32_t count) {
    const auto blocks = blocks_of(path);
    hybz_lane *lane = nullptr;
    const auto start = Clock::now();
    uint64_t bytes = 0;
    must(hybz_lane_bytes(0, count, 900000, HYBZ_BWT, &bytes), "bytes");
    const double context = seconds(start);
    must(hybz_lane_create(0, count, 900000, HYBZ_BWT, &lane), "create");
    const double created = seconds(start);
    Pinned pinned(size_t(count) * 900000);
    const double ready = seconds(start);
    const Loaded loaded = load(blocks, count, 0, pinned.text);
    printf("%s: %zu blocks, batch of %u, %.1f MB; context %.3f s, lane of %.2f GB %.3f s, pinned memory %.3f s\n", path,
           blocks.size(), count, double(loaded.bytes) / 1e6, context, double(bytes) / 1e9, created - context, ready - created);
    std::vector<uint32_t> origins(count);
    std::vector<Answer> first;
    int wrong = 0;
    const hybz_tuning tunings[] = {{56, 1, 3, 1}, {48, 1, 3, 1}, {56, 1, 2, 1}, {56, 1, 1, 1}, {56, 0, 1, 1}, {56, 0, 1, 0}};
    for (const hybz_tuning &tuning : tunings) {
        hybz_report best{};
        double best_ms = 1e9, best_wall = 1e9;
        for (int repeat = 0; repeat < 4; repeat++) {
            memset(pinned.column, 0xA5, loaded.bytes);
            hybz_report report{};
            const auto wall = Clock::now();
            must(hybz_lane_bwt(lane, &tuning, count, loaded.lengths.data(), pinned.text, pinned.column, origins.data(), 20000,
                               &report), "bwt");
            const double wall_ms = 1e3 * seconds(wall);
            double ms = report.keys_ms + report.sort_ms + report.group_ms;
            for (uint32_t r = 0; r < report.rounds; r++)
                ms += report.round[r].small_ms + report.round[r].large_ms + report.round[r].commit_ms;
            if (ms < best_ms) best_ms = ms, best = report;
            best_wall = std::min(best_wall, wall_ms);
        }
        const double ps = 1e9 / double(loaded.bytes); // ps a byte for each ms
        printf("bits %d coded %d steps %d counting %d: device %.1f ms = %.0f ps/char = %.2f GB/s; wall %.1f ms = %.2f GB/s\n",
               tuning.sort_bits, tuning.coded, tuning.steps, tuning.counting, best_ms, best_ms * ps,
               double(loaded.bytes) / best_ms / 1e6, best_wall, double(loaded.bytes) / best_wall / 1e6);
        printf("  ps/char: upload %.1f keys %.1f sort %.1f group %.1f download %.1f (code table on the host %.1f ms)\n",
               best.upload_ms * ps, best.keys_ms * ps, best.sort_ms * ps, best.group_ms * ps, best.download_ms * ps, best.table_ms);
        for (uint32_t r = 0; r < best.rounds; r++) {
            const hybz_round &round = best.round[r];
            printf("  round %2u: small %.4f large %.4f resolved %.4f | small %.1f (%.0f each) large %.1f (%.0f each) commit %.1f\n", r,
                   double(round.small) / double(loaded.bytes), double(round.large) / double(loaded.bytes),
                   double(round.resolved) / double(loaded.bytes), round.small_ms * ps,
                   round.small ? round.small_ms * 1e9 / round.small : 0, round.large_ms * ps,
                   round.large ? round.large_ms * 1e9 / round.large : 0, round.commit_ms * ps);
        }
        // Verified against the simulation the first time, against that after.
        if (first.empty()) {
            first.resize(std::min<size_t>(count, blocks.size()));
            std::vector<uint32_t> table(kTableEntries);
            code_table(pinned.text, loaded.bytes, table.data());
            parallel(first.size(), [&](size_t b) {
                first[b].column.resize(blocks[b].size());
                SimCounts ignored;
                simulate(blocks[b].data(), uint32_t(blocks[b].size()), table.data(), KeyLayout(1, 56), 3, HYBZ_SMALL,
                         first[b].column.data(), &first[b].origin, ignored);
            });
        }
        size_t at = 0;
        int bad = 0;
        for (uint32_t b = 0; b < count; b++) {
            const Answer &answer = first[b % blocks.size()];
            if (memcmp(answer.column.data(), pinned.column + at, answer.column.size()) != 0 || answer.origin != origins[b]) bad++;
            at += loaded.lengths[b];
        }
        if (bad) printf("  %d of %u blocks WRONG\n", bad, count);
        wrong += bad;
        fflush(stdout);
    }
    must(hybz_lane_destroy(lane), "destroy");
    printf(wrong ? "WRONG\n" : "all blocks right\n");
    return wrong != 0;
}

// A lane that codes, and what it gave last.
struct CodingLane {
    hybz_lane *lane = nullptr;
    uint32_t most, longest;
    uint8_t *text = nullptr, *bytes = nullptr;
    std::vector<hybz_coded> coded;
    uint64_t filled = 0;
    hybz_report report{};
    double wall_ms = 0;

    CodingLane(uint32_t most, uint32_t longest) : most(most), longest(longest), coded(most) {
        must(hybz_lane_create(0, most, longest, HYBZ_RESIDENT, &lane), "create");
        must(hybz_pinned_alloc(0, size_t(most) * longest, reinterpret_cast<void **>(&text)), "pinned");
        must(hybz_pinned_alloc(0, size_t(most) * HYBZ_CODED_BYTES(longest), reinterpret_cast<void **>(&bytes)), "pinned");
    }
    ~CodingLane() {
        hybz_lane_destroy(lane);
        hybz_pinned_free(text, size_t(most) * longest);
        hybz_pinned_free(bytes, size_t(most) * HYBZ_CODED_BYTES(longest));
    }
    void run(const std::vector<uint32_t> &lengths) {
        memset(bytes, 0xA5, size_t(most) * HYBZ_CODED_BYTES(longest));
        report = {};
        const auto start = Clock::now();
        must(hybz_lane_code(lane, uint32_t(lengths.size()), lengths.data(), text, coded.data(), bytes, &filled, 20000, &report),
             "code");
        wall_ms = 1e3 * seconds(start);
    }
};

struct Wanted {
    uint32_t origin;
    PlainCoding coding;
};

Wanted wanted_of(const std::vector<uint8_t> &block) {
    const uint32_t n = uint32_t(block.size());
    Wanted wanted;
    std::vector<uint8_t> column(n);
    if (n < 100000) {
        plain_bwt(block.data(), n, column.data(), &wanted.origin);
    } else {
        std::vector<uint32_t> table(kTableEntries);
        code_table(block.data(), n, table.data());
        SimCounts ignored;
        simulate(block.data(), n, table.data(), KeyLayout(1, 56), 3, HYBZ_SMALL, column.data(), &wanted.origin, ignored);
    }
    wanted.coding = plain_coding(column);
    return wanted;
}

int check_coding(uint32_t longest_shape) {
    int wrong = 0, done = 0;
    for (uint32_t n : {64u, 200u, 2050u, 5000u, 70000u, 899981u}) {
        if (n > longest_shape) break;
        std::vector<Shape> all;
        for (Shape &shape : shapes(n))
            if (!is_periodic(shape.text.data(), uint32_t(shape.text.size()))) all.push_back(shape);
        std::vector<Wanted> wanted(all.size());
        parallel(all.size(), [&](size_t i) { wanted[i] = wanted_of(all[i].text); });
        CodingLane lane(uint32_t(2 * all.size()), std::min(n * 5 / 3, uint32_t(HYBZ_LONGEST)));
        const auto run = [&](const std::vector<size_t> &which) {
            std::vector<uint32_t> lengths;
            size_t at = 0;
            for (size_t i : which) {
                memcpy(lane.text + at, all[i].text.data(), all[i].text.size());
                lengths.push_back(uint32_t(all[i].text.size()));
                at += all[i].text.size();
            }
            lane.run(lengths);
            for (size_t w = 0; w < which.size(); w++) {
                const char *what = difference(wanted[which[w]].coding, lane.coded[w], lane.bytes);
                if (lane.coded[w].origin != wanted[which[w]].origin) what = "origin";
                done++;
                if (!what) continue;
                wrong++;
                printf("WRONG %s %u in a batch of %zu: %s\n", all[which[w]].name.c_str(), lengths[w], which.size(), what);
            }
        };
        std::vector<size_t> together;
        for (size_t i = 0; i < all.size(); i++) {
            run({i});
            together.push_back(i);
        }
        run(together);
        for (size_t i = 0; i < all.size(); i++) together.push_back(i);
        run(together);
        printf("n %u: %zu shapes, %d blocks so far, %d wrong\n", n, all.size(), done, wrong);
        fflush(stdout);
    }
    return wrong != 0;
}

int time_coding(const char *path, uint32_t count) {
    const auto blocks = blocks_of(path);
    CodingLane lane(count, 900000);
    const Loaded loaded = load(blocks, count, 0, lane.text);
    hybz_report best{};
    double best_ms = 1e9, best_wall = 1e9;
    for (int repeat = 0; repeat < 5; repeat++) {
        lane.run(loaded.lengths);
        best_wall = std::min(best_wall, lane.wall_ms);
        const double ms = lane.report.mtf_ms + lane.report.tables_ms + lane.report.bits_ms;
        if (ms < best_ms) best_ms = ms, best = lane.report;
    }
    double sort_ms = best.keys_ms + best.sort_ms + best.group_ms;
    for (uint32_t r = 0; r < best.rounds; r++)
        sort_ms += best.round[r].small_ms + best.round[r].large_ms + best.round[r].commit_ms;
    const double ps = 1e9 / double(loaded.bytes); // ps a byte for each ms
    printf("%s, %u blocks: ps/char: upload %.1f sort %.1f mtf %.1f tables %.1f (%.2f ms) codes %.1f download %.1f (%.3f bytes a byte); "
           "device but transfers %.2f GB/s, all %.2f GB/s\n",
           path, count, best.upload_ms * ps, sort_ms * ps, best.mtf_ms * ps, best.tables_ms * ps, best.tables_ms,
           best.bits_ms * ps, best.download_ms * ps, double(lane.filled) / double(loaded.bytes),
           double(loaded.bytes) / (sort_ms + best_ms) / 1e6, double(loaded.bytes) / best_wall / 1e6);
    std::vector<Wanted> wanted(std::min<size_t>(std::min<size_t>(count, 16), blocks.size()));
    parallel(wanted.size(), [&](size_t b) { wanted[b] = wanted_of(blocks[b]); });
    int wrong = 0;
    for (uint32_t b = 0; b < count; b++) {
        if (b % blocks.size() >= wanted.size()) continue;
        const Wanted &want = wanted[b % blocks.size()];
        const char *what = difference(want.coding, lane.coded[b], lane.bytes);
        if (lane.coded[b].origin != want.origin) what = "origin";
        if (what) printf("block %u WRONG: %s\n", b, what);
        wrong += what != nullptr;
    }
    printf(wrong ? "WRONG\n" : "right (those of the first 16 blocks, compared)\n");
    return wrong != 0;
}

// A lane of large blocks, and what it gave last.
struct SuffixLane {
    hybz_lane *lane = nullptr;
    size_t most, longest;
    uint8_t *text = nullptr, *column = nullptr;
    uint32_t *entries = nullptr;
    size_t entry_bytes;
    std::vector<uint32_t> origins;
    hybz_report report{};
    double wall_ms = 0;

    SuffixLane(uint32_t most, uint32_t longest, uint32_t entry_log) : most(most), longest(longest), origins(most) {
        must(hybz_lane_create(0, most, longest, HYBZ_SUFFIXES, &lane), "create");
        entry_bytes = (size_t(longest >> entry_log) + 1) * most * 4;
        must(hybz_pinned_alloc(0, this->most * longest, reinterpret_cast<void **>(&text)), "pinned");
        must(hybz_pinned_alloc(0, this->most * (longest + 1), reinterpret_cast<void **>(&column)), "pinned");
        must(hybz_pinned_alloc(0, entry_bytes, reinterpret_cast<void **>(&entries)), "pinned");
    }
    ~SuffixLane() {
        hybz_lane_destroy(lane);
        hybz_pinned_free(text, most * longest);
        hybz_pinned_free(column, most * (longest + 1));
        hybz_pinned_free(entries, entry_bytes);
    }
    void run(const std::vector<uint32_t> &lengths, uint32_t entry_log) {
        memset(column, 0xA5, most * (longest + 1));
        memset(entries, 0xA5, entry_bytes);
        report = {};
        const auto start = Clock::now();
        must(hybz_lane_suffixes(lane, uint32_t(lengths.size()), lengths.data(), text, entry_log, column, origins.data(), entries,
                                60000, &report), "suffixes");
        wall_ms = 1e3 * seconds(start);
    }
};

int check_suffixes(uint32_t longest_shape) {
    int wrong = 0, done = 0;
    for (uint32_t n : {64u, 1000u, 70000u, 1500000u}) {
        if (n > longest_shape) break;
        const uint32_t entry_log = n < 5000 ? 3 : 12;
        const std::vector<Shape> all = shapes(n);
        std::vector<Answer> answers(all.size());
        std::vector<std::vector<uint32_t>> ranks(all.size());
        parallel(all.size(), [&](size_t i) {
            const uint32_t size = uint32_t(all[i].text.size());
            answers[i].column.resize(size + 1);
            plain_suffixes(all[i].text.data(), size, answers[i].column.data(), &answers[i].origin, ranks[i]);
        });
        SuffixLane lane(uint32_t(all.size()), n * 5 / 3, entry_log);
        const auto run = [&](const std::vector<size_t> &which) {
            std::vector<uint32_t> lengths;
            size_t at = 0, most = 0;
            for (size_t i : which) {
                memcpy(lane.text + at, all[i].text.data(), all[i].text.size());
                lengths.push_back(uint32_t(all[i].text.size()));
                at += all[i].text.size();
                most = std::max(most, all[i].text.size());
            }
            lane.run(lengths, entry_log);
            const size_t each = ((most - 1) >> entry_log) + 1;
            at = 0;
            for (size_t w = 0; w < which.size(); w++) {
                const Answer &answer = answers[which[w]];
                bool right = lane.origins[w] == answer.origin && memcmp(lane.column + at, answer.column.data(), answer.column.size()) == 0;
                for (size_t e = 0; e << entry_log < lengths[w]; e++)
                    right = right && lane.entries[w * each + e] == ranks[which[w]][e << entry_log] - 1;
                at += answer.column.size();
                done++;
                if (right) continue;
                wrong++;
                printf("WRONG %s %u in a batch of %zu\n", all[which[w]].name.c_str(), lengths[w], which.size());
            }
        };
        std::vector<size_t> together;
        for (size_t i = 0; i < all.size(); i++) {
            run({i});
            together.push_back(i);
        }
        run(together);
        printf("n %u: %zu shapes, %d blocks so far, %d wrong\n", n, all.size(), done, wrong);
        fflush(stdout);
    }
    return wrong != 0;
}

int time_suffixes(const char *path, uint32_t longest, uint32_t count) {
    SuffixLane lane(count, longest, 15);
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    const size_t got = fread(lane.text, 1, size_t(count) * longest, file);
    fclose(file);
    std::vector<uint32_t> lengths;
    for (size_t at = 0; at < got && got - at >= HYBZ_SHORTEST; at += longest) lengths.push_back(uint32_t(std::min<size_t>(longest, got - at)));
    double best = 1e9;
    for (int repeat = 0; repeat < 4; repeat++) {
        lane.run(lengths, 15);
        const hybz_report &report = lane.report;
        const double ps = 1e9 / double(report.bytes);
        double small = 0, large = 0, commit = 0;
        for (uint32_t r = 0; r < report.rounds; r++) {
            small += report.round[r].small_ms;
            large += report.round[r].large_ms;
            commit += report.round[r].commit_ms;
        }
        const double sort_ms = report.keys_ms + report.sort_ms + report.group_ms + small + large + commit;
        if (sort_ms >= best) continue;
        best = sort_ms;
        printf("%s, %zu blocks of %u: ps/char: upload %.1f keys %.1f sort %.1f group %.1f small %.1f large %.1f commit %.1f (%u rounds) "
               "download %.1f; sort %.0f = %.2f GB/s, all %.2f GB/s\n",
               path, lengths.size(), longest, report.upload_ms * ps, report.keys_ms * ps, report.sort_ms * ps, report.group_ms * ps,
               small * ps, large * ps, commit * ps, report.rounds, report.download_ms * ps, sort_ms * ps, 1e3 / (sort_ms * ps),
               double(report.bytes) / lane.wall_ms / 1e6);
    }
    std::atomic<int> wrong{0};
    const size_t each = ((lengths[0] - 1) >> 15) + 1; // the first block is as long as any
    parallel(lengths.size(), [&](size_t b) {
        const size_t at = b * longest;
        if (!walks_back(lane.text + at, lengths[b], lane.column + at + b, lane.origins[b], lane.entries + b * each, 15)) wrong++;
    });
    printf(wrong ? "%d blocks WRONG\n" : "all blocks walked back\n", wrong.load());
    return wrong != 0;
}

int lanes(const char *path, uint32_t count, uint32_t batch, bool code) {
    const auto blocks = blocks_of(path);
    std::vector<std::thread> threads;
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint32_t> ready{0};
    std::atomic<bool> go{false};
    for (uint32_t l = 0; l < count; l++)
        threads.emplace_back([&, l] {
            hybz_lane *lane = nullptr;
            must(hybz_lane_create(0, batch, 900000, code ? HYBZ_RESIDENT : HYBZ_BWT, &lane), "create");
            Pinned pinned(size_t(batch) * HYBZ_CODED_BYTES(900000));
            const Loaded loaded = load(blocks, batch, l * 37, pinned.text);
            std::vector<uint32_t> origins(batch);
            std::vector<hybz_coded> coded(batch);
            uint64_t filled = 0;
            const auto run = [&] {
                if (code)
                    must(hybz_lane_code(lane, batch, loaded.lengths.data(), pinned.text, coded.data(), pinned.column, &filled,
                                        20000, nullptr), "code");
                else
                    must(hybz_lane_bwt(lane, nullptr, batch, loaded.lengths.data(), pinned.text, pinned.column, origins.data(),
                                       20000, nullptr), "bwt");
            };
            run();
            ready++;
            while (!go) std::this_thread::yield();
            for (int repeat = 0; repeat < 8; repeat++) {
                run();
                bytes += loaded.bytes;
            }
            must(hybz_lane_destroy(lane), "destroy");
        });
    while (ready < count) std::this_thread::yield();
    const auto start = Clock::now();
    go = true;
    for (auto &t : threads) t.join();
    printf("%u lanes of %u blocks%s: %.2f GB/s, transfers included\n", count, batch, code ? ", coded" : "", double(bytes) / seconds(start) / 1e9);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "check") return check(argc > 2 ? uint32_t(atoi(argv[2])) : ~0u);
    if (what == "time" && argc > 2) return time_it(argv[2], argc > 3 ? uint32_t(atoi(argv[3])) : 256);
    if (what == "code") return check_coding(argc > 2 ? uint32_t(atoi(argv[2])) : ~0u);
    if (what == "resident" && argc > 2) return time_coding(argv[2], argc > 3 ? uint32_t(atoi(argv[3])) : 256);
    if (what == "suffixes" && argc > 4) return time_suffixes(argv[2], uint32_t(atoi(argv[3])), uint32_t(atoi(argv[4])));
    if (what == "suffixes") return check_suffixes(argc > 2 ? uint32_t(atoi(argv[2])) : ~0u);
    if (what == "lanes" && argc > 4) return lanes(argv[2], uint32_t(atoi(argv[3])), uint32_t(atoi(argv[4])), argc > 5);
    fprintf(stderr, "usage: bench check | code | suffixes [LONGEST] | suffixes FILE LONGEST BLOCKS | time FILE [BLOCKS] | resident FILE [BLOCKS] | lanes FILE LANES BLOCKS [code]\n");
    return 2;
}
