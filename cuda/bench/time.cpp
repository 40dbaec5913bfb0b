// time.cpp: device time per byte of each pipeline on the blocks of a file.
#include "common.hpp"
#include <numeric>

namespace hybz {

namespace {

constexpr uint32_t kLength = 900000; // of the lanes' blocks

Text read_file(const char *path, size_t max_bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("no %s\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    Text data(std::min(size_t(ftell(file)), max_bytes));
    rewind(file);
    if (fread(data.data(), 1, data.size(), file) != data.size()) exit(1);
    fclose(file);
    return data;
}

} // namespace

std::vector<Text> blocks_of(const char *path) {
    const Text data = read_file(path, ~size_t(0));
    std::vector<Text> blocks(1);
    for (size_t i = 0; i < data.size();) {
        size_t run = 1;
        while (run < 255 && i + run < data.size() && data[i + run] == data[i]) run++;
        Text &block = blocks.back();
        for (size_t r = 0; r < std::min<size_t>(run, 4); r++) block.push_back(data[i]);
        if (run >= 4) block.push_back(uint8_t(run - 4));
        i += run;
        if (block.size() >= 899981 && i < data.size()) blocks.emplace_back();
    }
    std::vector<Text> usable;
    for (Text &block : blocks)
        if (block.size() >= HYBZ_MIN_LENGTH && !is_periodic(block.data(), uint32_t(block.size())))
            usable.push_back(std::move(block));
    if (usable.empty()) {
        printf("no block in %s\n", path);
        exit(1);
    }
    return usable;
}

namespace {

// Copies `count` of the blocks, in turn from number `from` on, to the lane's input; returns their lengths.
std::vector<uint32_t> fill(uint8_t *text, const std::vector<Text> &blocks, uint32_t count, uint32_t from) {
    std::vector<uint32_t> lengths;
    for (uint32_t b = 0; b < count; b++) {
        const Text &block = blocks[(b + from) % blocks.size()];
        memcpy(text, block.data(), block.size());
        text += block.size();
        lengths.push_back(uint32_t(block.size()));
    }
    return lengths;
}

double sort_ms(const hybz_report &report) {
    return std::accumulate(report.ms + HYBZ_STEP_KEYS, report.ms + HYBZ_STEP_COMMITS + 1, 0.0);
}

// The factor that turns milliseconds into picoseconds a byte.
double ps_of(const hybz_report &report) { return 1e9 / double(report.bytes); }

// The report of the run with the least device time, and the least wall time of all runs.
struct Best {
    hybz_report report{};
    double ms = 1e9, wall_ms = 1e9;
    void add(const Lane &lane, double time) {
        wall_ms = std::min(wall_ms, lane.wall_ms);
        if (time >= ms) return;
        ms = time;
        report = lane.report;
    }
};

void print_rounds(const hybz_report &report) {
    const double ps = ps_of(report), bytes = double(report.bytes);
    for (uint32_t r = 0; r < report.rounds; r++) {
        const hybz_round &round = report.round[r];
        printf("  round %2u: small %.4f large %.4f resolved %.4f | small %.1f (%.0f each) large %.1f (%.0f each) "
               "commit %.1f\n",
               r, round.small / bytes, round.large / bytes, round.resolved / bytes, round.small_ms * ps,
               round.small ? round.small_ms * 1e9 / round.small : 0, round.large_ms * ps,
               round.large ? round.large_ms * 1e9 / round.large : 0, round.commit_ms * ps);
    }
}

} // namespace

int time_bwt(const char *path, uint32_t count) {
    const std::vector<Text> blocks = blocks_of(path);
    const auto start = Clock::now();
    must(hybz_device_use(0), "context");
    const double context = seconds(start);
    BwtLane lane(count, kLength);
    const double ready = seconds(start);
    const std::vector<uint32_t> lengths = fill(lane.text.memory, blocks, count, 0);
    Best best;
    for (int repeat = 0; repeat < 4; repeat++) {
        lane.spoil();
        lane.run(lengths);
        best.add(lane, sort_ms(lane.report));
    }
    const hybz_report &report = best.report;
    const double ps = ps_of(report), total = double(report.bytes);
    printf("%s: %zu blocks, batch of %u, %.1f MB; context %.3f s, lane and pinned memory %.3f s\n", path,
           blocks.size(), count, total / 1e6, context, ready - context);
    printf("device %.1f ms = %.0f ps/char = %.2f GB/s; wall %.1f ms = %.2f GB/s\n", best.ms, best.ms * ps,
           total / best.ms / 1e6, best.wall_ms, total / best.wall_ms / 1e6);
    printf("  ps/char: upload %.1f keys %.1f sort %.1f group %.1f download %.1f (code table on the host %.1f ms)\n",
           report.ms[HYBZ_STEP_UPLOAD] * ps, report.ms[HYBZ_STEP_KEYS] * ps, report.ms[HYBZ_STEP_SORT] * ps,
           report.ms[HYBZ_STEP_GROUP] * ps, report.ms[HYBZ_STEP_DOWNLOAD] * ps, report.table_ms);
    print_rounds(report);

    std::vector<Column> expected(std::min<size_t>(count, blocks.size()));
    parallel(expected.size(), [&](size_t b) { expected[b] = expected_column(blocks[b]); });
    const uint8_t *column = lane.column.memory;
    int wrong = 0;
    for (uint32_t b = 0; b < count; b++) {
        const Column &want = expected[b % blocks.size()];
        wrong += lane.origins[b] != want.origin || !std::equal(want.bytes.begin(), want.bytes.end(), column);
        column += lengths[b];
    }
    printf(wrong ? "%d of %u blocks WRONG\n" : "all blocks right\n", wrong, count);
    return wrong != 0;
}

int time_coding(const char *path, uint32_t count) {
    const std::vector<Text> blocks = blocks_of(path);
    CodingLane lane(count, kLength);
    const std::vector<uint32_t> lengths = fill(lane.text.memory, blocks, count, 0);
    Best best;
    for (int repeat = 0; repeat < 5; repeat++) {
        lane.spoil();
        lane.run(lengths);
        const float *const ms = lane.report.ms;
        best.add(lane, ms[HYBZ_STEP_MTF] + ms[HYBZ_STEP_TABLES] + ms[HYBZ_STEP_CODES]);
    }
    const hybz_report &report = best.report;
    const double ps = ps_of(report), total = double(report.bytes), sorted = sort_ms(report);
    printf("%s, %u blocks: ps/char: upload %.1f sort %.1f mtf %.1f tables %.1f (%.2f ms) codes %.1f download %.1f "
           "(%.3f bytes a byte); device but transfers %.2f GB/s, all %.2f GB/s\n",
           path, count, report.ms[HYBZ_STEP_UPLOAD] * ps, sorted * ps, report.ms[HYBZ_STEP_MTF] * ps,
           report.ms[HYBZ_STEP_TABLES] * ps, report.ms[HYBZ_STEP_TABLES], report.ms[HYBZ_STEP_CODES] * ps,
           report.ms[HYBZ_STEP_DOWNLOAD] * ps, double(lane.filled) / total, total / (sorted + best.ms) / 1e6,
           total / best.wall_ms / 1e6);

    std::vector<Coded> expected(std::min<size_t>(std::min<size_t>(count, 16), blocks.size()));
    parallel(expected.size(), [&](size_t b) { expected[b] = expected_coding(blocks[b]); });
    int wrong = 0;
    for (uint32_t b = 0; b < count; b++) {
        if (b % blocks.size() >= expected.size()) continue;
        const Coded &want = expected[b % blocks.size()];
        const char *what = difference(want.coding, lane.coded[b], lane.bytes.memory);
        if (lane.coded[b].origin != want.origin) what = "origin";
        if (what) printf("block %u WRONG: %s\n", b, what);
        wrong += what != nullptr;
    }
    printf(wrong ? "WRONG\n" : "right (those of the first 16 blocks, compared)\n");
    return wrong != 0;
}

namespace {

// Fills a lane with the blocks of a file; returns their lengths.
std::vector<uint32_t> fill_with(uint8_t *text, const char *path, uint32_t length, uint32_t count) {
    const Text data = read_file(path, size_t(count) * length);
    memcpy(text, data.data(), data.size());
    std::vector<uint32_t> lengths;
    for (size_t at = 0; at < data.size() && data.size() - at >= HYBZ_MIN_LENGTH; at += length)
        lengths.push_back(uint32_t(std::min<size_t>(length, data.size() - at)));
    return lengths;
}

// Runs a lane several times, and prints the times of the best run.
template <class Kind, class Run> void time_large(Kind &lane, const char *path, uint32_t length, Run run) {
    Best best;
    for (int repeat = 0; repeat < 4; repeat++) {
        lane.spoil();
        run();
        best.add(lane, sort_ms(lane.report) + lane.report.ms[HYBZ_STEP_THIRDS]);
    }
    const hybz_report &report = best.report;
    const double ps = ps_of(report);
    printf("%s, blocks of %u: ps/char: upload %.1f keys %.1f sort %.1f group %.1f small %.1f large %.1f commit %.1f "
           "(%u rounds) thirds %.1f download %.1f; sort %.0f = %.2f GB/s, all %.2f GB/s\n",
           path, length, report.ms[HYBZ_STEP_UPLOAD] * ps, report.ms[HYBZ_STEP_KEYS] * ps,
           report.ms[HYBZ_STEP_SORT] * ps, report.ms[HYBZ_STEP_GROUP] * ps, report.ms[HYBZ_STEP_SMALL_ROUNDS] * ps,
           report.ms[HYBZ_STEP_LARGE_ROUNDS] * ps, report.ms[HYBZ_STEP_COMMITS] * ps, report.rounds,
           report.ms[HYBZ_STEP_THIRDS] * ps, report.ms[HYBZ_STEP_DOWNLOAD] * ps, best.ms * ps, 1e3 / (best.ms * ps),
           double(report.bytes) / best.wall_ms / 1e6);
}

// Merges the lists of a block of n bytes: the column with the mark's row, and the rows of the entry points in it, not
// counting the mark's, as suffixes.cu has them.
std::vector<uint8_t> merged(const uint8_t *text, uint32_t n, const uint32_t *bits, const uint8_t *bytes,
                            std::vector<uint32_t> &entries) {
    const uint32_t m = n - n / 3, others = (n + 2) / 3, marks = n % 3 != 0;
    std::vector<uint32_t> before(others, 0);
    for (uint32_t order = 0; order < 2; order++) {
        const uint32_t *const words = bits + order * (m / 32 + 1);
        uint32_t other = 0;
        for (uint32_t row = 0; row <= m && other < others; row++)
            if (words[row / 32] >> row % 32 & 1) before[other] += row - other, other++;
    }
    std::vector<uint8_t> column(1, text[n - 1]);
    uint32_t row = 0;
    for (uint32_t other = 0; other < others; other++) {
        for (; row < before[other] && row < m - marks; row++) column.push_back(bytes[marks + row]);
        column.push_back(bytes[m + other]);
    }
    for (; row < m - marks; row++) column.push_back(bytes[marks + row]);
    for (uint32_t &entry : entries) {
        const auto past = std::upper_bound(before.begin(), before.end(), entry - marks);
        entry = entry >= m ? entry - m + before[std::min(entry - m, others - 1)]
                           : entry - marks + uint32_t(past - before.begin());
    }
    column[std::min(size_t(entries[0]) + 1, column.size() - 1)] = 0;
    return column;
}

// Prints and returns whether any block is wrong.
int print_wrong(int wrong) {
    printf(wrong ? "%d blocks WRONG\n" : "all blocks walked back\n", wrong);
    return wrong != 0;
}

} // namespace

int time_suffixes(const char *path, uint32_t length, uint32_t count) {
    SuffixLane lane(count, length, 15);
    const std::vector<uint32_t> lengths = fill_with(lane.text.memory, path, length, count);
    time_large(lane, path, length, [&] { lane.run(lengths, 15); });
    std::atomic<int> wrong{0};
    const size_t each = ((lengths[0] - 1) >> 15) + 1; // no block is longer than the first
    parallel(lengths.size(), [&](size_t b) {
        const size_t at = b * length;
        wrong += !walks_back(lane.text.memory + at, lengths[b], lane.column.memory + at + b, lane.origins[b],
                             lane.entries.memory + b * each, 15);
    });
    return print_wrong(wrong);
}

int time_thirds(const char *path, uint32_t length, uint32_t count) {
    ThirdsLane lane(count, length, 15);
    const std::vector<uint32_t> lengths = fill_with(lane.text.memory, path, length, count);
    const std::vector<uint32_t> turns(lengths.size(), 0);
    time_large(lane, path, length, [&] { lane.run(lengths, turns, 15); });
    std::atomic<int> wrong{0};
    const size_t each = ((lengths[0] - 1) >> 15) + 1, words = 2 * ((length - length / 3) / 32 + 1);
    parallel(lengths.size(), [&](size_t b) {
        const uint8_t *const text = lane.text.memory + b * length;
        const uint32_t *const points = lane.entries.memory + b * each;
        std::vector<uint32_t> entries(points, points + ((lengths[b] - 1) >> 15) + 1);
        const std::vector<uint8_t> column =
            merged(text, lengths[b], lane.bits.memory + b * words, lane.bytes.memory + b * (length + (length % 3 != 0)),
                   entries);
        wrong += !walks_back(text, lengths[b], column.data(), entries[0] + 1, entries.data(), 15);
    });
    return print_wrong(wrong);
}

} // namespace hybz
