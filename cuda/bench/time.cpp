// time.cpp: device time per byte of each pipeline on the blocks of a file.
#include "common.hpp"
#include <numeric>

namespace hybz {

namespace {

constexpr uint32_t kLength = 900000; // of the lanes' blocks

// In the order of enum hybz_step.
constexpr const char *kStepNames[] = {"upload",  "keys",    "sort",   "group", "small rounds", "large rounds",
                                      "commits", "thirds",  "mtf",    "tables", "codes",       "proof",
                                      "symbols", "columns", "vector", "walk",  "expand",       "download"};
static_assert(sizeof kStepNames / sizeof *kStepNames == HYBZ_STEPS);

// The blocks of a file: bzip2's run-length coding and split at level 9, without the blocks that a lane does not accept.
std::vector<Shape> blocks_of(const char *path) {
    const Text data = read_file<Text>(path, ~size_t(0));
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
    std::vector<Shape> usable;
    for (Text &block : blocks)
        if (block.size() >= HYBZ_MIN_LENGTH && !is_periodic(block.data(), uint32_t(block.size())))
            usable.push_back({path, std::move(block)});
    if (usable.empty()) printf("no block in %s\n", path), exit(1);
    return usable;
}

// Runs a lane five times on as many of a file's blocks, in turn. Prints the steps of the run with the least device
// time, in picoseconds a byte. Then check(lane, block, number, its bytes before) describes the error of a block, or
// returns null. Returns the exit status.
template <class Kind, class Check>
int time_lane(const char *path, uint32_t count, const std::vector<Shape> &blocks, const char *checked, Check check) {
    Kind lane(count, kLength);
    Batch batch;
    for (uint32_t b = 0; b < count; b++) batch.push_back(b % blocks.size());
    const std::vector<uint32_t> lengths = fill(lane.text.memory, blocks, batch);
    double least = 1e9, wall = 1e9;
    hybz_report best{};
    for (int repeat = 0; repeat < 5; repeat++) {
        lane.run(lengths);
        wall = std::min(wall, lane.wall_ms);
        const float *const ms = lane.report.ms;
        const double all = std::accumulate(ms + HYBZ_STEP_KEYS, ms + HYBZ_STEP_DOWNLOAD, 0.0);
        if (all >= least) continue;
        least = all;
        best = lane.report;
    }
    const double bytes = double(best.bytes), ps = 1e9 / bytes;
    printf("%s, %.1f MB: device but transfers %.0f ps a byte = %.2f GB/s; all %.2f GB/s; code table on the host %.1f "
           "ms; ps a byte:",
           path, bytes / 1e6, least * ps, bytes / least / 1e6, bytes / wall / 1e6, best.table_ms);
    print_steps(best, ps);
    for (uint32_t r = 0; r < best.rounds; r++) {
        const hybz_round &round = best.round[r];
        printf("  round %2u: small %.4f large %.4f resolved %.4f | small %.1f large %.1f commit %.1f\n", r,
               round.small / bytes, round.large / bytes, round.resolved / bytes, round.small_ms * ps,
               round.large_ms * ps, round.commit_ms * ps);
    }
    int wrong = 0;
    size_t before = 0;
    for (uint32_t b = 0; b < count; b++) {
        const char *const what = check(lane, batch[b], b, before);
        if (what) printf("block %u WRONG: %s\n", b, what), wrong++;
        before += lengths[b];
    }
    printf("%d blocks wrong (%s)\n", wrong, checked);
    return wrong != 0;
}

} // namespace

void print_steps(const hybz_report &report, double scale) {
    for (int step = 0; step < HYBZ_STEPS; step++)
        if (report.ms[step] > 0) printf(" %s %.2f", kStepNames[step], report.ms[step] * scale);
    printf("\n");
}

int time_bwt(const char *path, uint32_t count) {
    const std::vector<Shape> blocks = blocks_of(path);
    std::vector<Column> wants(std::min<size_t>(count, blocks.size()));
    parallel(wants.size(), [&](size_t b) { wants[b] = expected_column(blocks[b].text); });
    const auto check = [&](const BwtLane &lane, size_t block, uint32_t number, size_t before) {
        return column_error(wants[block], lane.column.memory + before, lane.origins[number]);
    };
    return time_lane<BwtLane>(path, count, blocks, "all compared", check);
}

int time_coding(const char *path, uint32_t count) {
    const std::vector<Shape> blocks = blocks_of(path);
    std::vector<Coded> wants(std::min({size_t(count), size_t(16), blocks.size()}));
    parallel(wants.size(), [&](size_t b) { wants[b] = expected_coding(blocks[b].text); });
    const auto check = [&](const CodingLane &lane, size_t block, uint32_t number, size_t) {
        const hybz_coded &coded = lane.coded[number];
        if (coded.proof != expected_proof(blocks[block].text, coded, lane.bytes.memory)) return "proof";
        return block < wants.size() ? coding_error(wants[block], coded, lane.bytes.memory) : nullptr;
    };
    return time_lane<CodingLane>(path, count, blocks, "the first 16 compared, all proven", check);
}

} // namespace hybz
