// check.cpp: compares every pipeline with the reference on every shape, alone and in batches.
#include "common.hpp"

namespace hybz {

namespace {

// Each shape alone and after another one, all of them, and all of them twice.
std::vector<Batch> batches(size_t count) {
    std::vector<Batch> all;
    Batch once, twice;
    for (size_t i = 0; i < count; i++) {
        all.push_back({i});
        all.push_back({(i + 1) % count, i}); // all bits of the last block's number are set
        once.push_back(i);
    }
    for (int time = 0; time < 2; time++) twice.insert(twice.end(), once.begin(), once.end());
    all.push_back(once);
    all.push_back(twice);
    return all;
}

// Counts errors.
struct Tally {
    int wrong = 0, done = 0;
    // Counts a block of a batch; `what` describes its error, or is null.
    void add(const Shape &shape, const Batch &batch, const char *what) {
        done++;
        if (!what) return;
        wrong++;
        printf("WRONG %s %u in a batch of %zu: %s\n", shape.name.c_str(), size_of(shape), batch.size(), what);
    }
};

// Calls `check` with each of these lengths up to the max one, its shapes, and a tally. Returns the exit status.
template <class Check>
int each_length(std::initializer_list<uint32_t> lengths, uint32_t max_length, decltype(shapes) shapes_of, Check check) {
    Tally tally;
    for (const uint32_t n : lengths) {
        if (n > max_length) break;
        const std::vector<Shape> all = shapes_of(n);
        check(n, all, tally);
        printf("n %u: %zu shapes, %d blocks so far, %d wrong\n", n, all.size(), tally.done, tally.wrong);
        fflush(stdout);
    }
    return tally.wrong != 0;
}

// Whether the device's counts equal the simulation's.
bool counts_agree(const std::vector<Shape> &all, const Batch &batch, const uint8_t *text, const hybz_report &report) {
    std::vector<uint32_t> table(kTableEntries);
    code_table(text, size_t(report.bytes), table.data());
    SimCounts counts;
    for (size_t i : batch) {
        Column ignored;
        ignored.bytes.resize(all[i].text.size());
        simulate(all[i].text.data(), size_of(all[i]), table.data(), KeyLayout(uint32_t(batch.size()), kLongSortBits),
                 kTextSteps, kSteps, kSmall, ignored.bytes.data(), &ignored.origin, counts);
    }
    bool same = counts.rounds == report.rounds && counts.tied_small == report.tied_small &&
                counts.tied_large == report.tied_large;
    for (uint32_t r = 0; same && r < report.rounds; r++)
        same = counts.small[r] == report.round[r].small && counts.large[r] == report.round[r].large &&
               counts.resolved[r] == report.round[r].resolved;
    if (!same)
        printf("COUNTS differ: batch of %zu, rounds %u for %llu, tied %u+%u for %llu+%llu\n", batch.size(),
               report.rounds, (unsigned long long)counts.rounds, report.tied_small, report.tied_large,
               (unsigned long long)counts.tied_small, (unsigned long long)counts.tied_large);
    return same;
}

// What hybz_lane_thirds returns for a block.
struct ThirdRows {
    std::vector<uint32_t> bits;
    std::vector<uint8_t> bytes;
    std::vector<uint32_t> entries;
};

// Computed from the order of all suffixes, including the end mark's, as hybz.h and thirds.cu define the results.
ThirdRows expected_thirds(const Text &text, uint32_t turn, uint32_t entry_log) {
    const uint32_t n = uint32_t(text.size());
    const std::vector<uint32_t> order = suffix_order(text);
    std::vector<uint32_t> all, others;
    for (uint32_t i : order)
        if (i % 3) all.push_back(i);
        else if (i < n) others.push_back(i);
    const size_t words = all.size() / 32 + 1;
    ThirdRows rows;
    rows.bits.resize(2 * words);
    for (uint32_t left_out : {2u, 1u}) { // the first order lacks the rows at 2 modulo 3
        uint32_t *const bits = rows.bits.data() + (left_out == 2 ? 0 : words);
        size_t row = 0;
        for (uint32_t i : order)
            if (i < n && i % 3 != left_out) bits[row / 32] |= uint32_t(i % 3 == 0) << row % 32, row++;
    }
    all.insert(all.end(), others.begin(), others.end());
    rows.entries.resize(((n - 1 - turn) >> entry_log) + 1);
    for (uint32_t row = 0; row < all.size(); row++) {
        const uint32_t i = all[row];
        rows.bytes.push_back(text[i == 0 ? n - 1 : i - 1]);
        if (i < n && i >= turn && (i - turn) % (1u << entry_log) == 0) rows.entries[(i - turn) >> entry_log] = row;
    }
    return rows;
}

} // namespace

int check_bwt(uint32_t max_length) {
    return each_length({64u, 200u, 5000u, 70000u, 899981u}, max_length, primitive_shapes,
                       [](uint32_t n, const std::vector<Shape> &all, Tally &tally) {
        std::vector<Column> expected(all.size());
        parallel(all.size(), [&](size_t i) { expected[i] = expected_column(all[i].text); });
        BwtLane lane(uint32_t(2 * all.size()), longest(all));
        for (const Batch &batch : batches(all.size())) {
            lane.run(fill(lane.text.memory, all, batch));
            const uint8_t *column = lane.column.memory;
            for (size_t b = 0; b < batch.size(); b++) {
                const Column &want = expected[batch[b]];
                tally.add(all[batch[b]], batch, column_error(want, column, lane.origins[b]));
                column += want.bytes.size();
            }
            if (n < 100000) tally.wrong += !counts_agree(all, batch, lane.text.memory, lane.report);
        }
    });
}

int check_thirds(uint32_t max_length) {
    return each_length({64u, 200u, 5000u, 5001u, 70000u, 899981u, 1500000u}, max_length, shapes,
                       [](uint32_t n, const std::vector<Shape> &all, Tally &tally) {
        // Suffixes are sorted, whether or not the block was rotated to its least rotation.
        const uint32_t entry_log = n < 5000 ? 3 : 12;
        const auto turn_of = [&](size_t i) { return i % 2 ? uint32_t(i * 97) % size_of(all[i]) : 0; };
        std::vector<ThirdRows> expected(all.size());
        parallel(all.size(), [&](size_t i) { expected[i] = expected_thirds(all[i].text, turn_of(i), entry_log); });
        ThirdsLane lane(uint32_t(2 * all.size()), longest(all), entry_log);
        for (const Batch &batch : batches(all.size())) {
            std::vector<uint32_t> turns;
            for (size_t i : batch) turns.push_back(turn_of(i));
            const std::vector<uint32_t> lengths = fill(lane.text.memory, all, batch);
            lane.run(lengths, turns, entry_log);
            const size_t each = ((*std::max_element(lengths.begin(), lengths.end()) - 1) >> entry_log) + 1;
            const uint32_t *bits = lane.bits.memory, *entries = lane.entries.memory;
            const uint8_t *bytes = lane.bytes.memory;
            for (size_t b = 0; b < batch.size(); b++) {
                const ThirdRows &want = expected[batch[b]];
                const char *what = !std::equal(want.bits.begin(), want.bits.end(), bits)            ? "bits"
                                   : !std::equal(want.bytes.begin(), want.bytes.end(), bytes)       ? "bytes"
                                   : !std::equal(want.entries.begin(), want.entries.end(), entries) ? "entries"
                                                                                                    : nullptr;
                tally.add(all[batch[b]], batch, what);
                bits += want.bits.size();
                bytes += want.bytes.size();
                entries += each;
            }
        }
    });
}

int check_coding(uint32_t max_length) {
    return each_length({64u, 200u, 2050u, 5000u, 70000u, 899981u}, max_length, primitive_shapes,
                       [](uint32_t n, const std::vector<Shape> &all, Tally &tally) {
        std::vector<Coded> expected(all.size());
        parallel(all.size(), [&](size_t i) { expected[i] = expected_coding(all[i].text); });
        // A lane of short blocks has no memory for proofs.
        CodingLane together(uint32_t(2 * all.size()), longest(all)), proving(2, HYBZ_MAX_ROWS);
        for (const Batch &batch : batches(all.size())) {
            CodingLane &lane = batch.size() <= 2 ? proving : together;
            const bool proves = n > 100000 || (n > 2000 && batch.size() <= 2);
            const size_t first = proves ? batch.back() % batch.size() : batch.size();
            lane.run(fill(lane.text.memory, all, batch), uint32_t(first));
            for (size_t b = 0; b < batch.size(); b++) {
                const Coded &want = expected[batch[b]];
                const hybz_coded &coded = lane.coded[b];
                const char *what = coding_error(want, coded, lane.bytes.memory);
                const bool proven = coded.proof == expected_proof(all[batch[b]].text, coded, lane.bytes.memory);
                if (b < first ? coded.proof != 0 : !proven) what = "proof";
                tally.add(all[batch[b]], batch, what);
            }
        }
    });
}

int check_suffixes(uint32_t max_length) {
    return each_length({64u, 1000u, 70000u, 1500000u}, max_length, shapes,
                       [](uint32_t n, const std::vector<Shape> &all, Tally &tally) {
        const uint32_t entry_log = n < 5000 ? 3 : 12;
        std::vector<Column> expected(all.size());
        std::vector<std::vector<uint32_t>> ranks(all.size());
        parallel(all.size(), [&](size_t i) {
            const Text &text = all[i].text;
            ranks[i].resize(text.size() + 1);
            for (const uint32_t suffix : suffix_order(text)) {
                ranks[i][suffix] = uint32_t(expected[i].bytes.size());
                expected[i].bytes.push_back(suffix ? text[suffix - 1] : 0);
            }
            expected[i].origin = ranks[i][0];
        });
        SuffixLane lane(uint32_t(2 * all.size()), longest(all), entry_log);
        for (const Batch &batch : batches(all.size())) {
            const std::vector<uint32_t> lengths = fill(lane.text.memory, all, batch);
            lane.run(lengths, entry_log);
            const size_t each = ((*std::max_element(lengths.begin(), lengths.end()) - 1) >> entry_log) + 1;
            const uint8_t *column = lane.column.memory;
            for (size_t b = 0; b < batch.size(); b++) {
                const char *what = column_error(expected[batch[b]], column, lane.origins[b]);
                for (size_t e = 0; e << entry_log < lengths[b]; e++)
                    if (lane.entries.memory[b * each + e] != ranks[batch[b]][e << entry_log] - 1) what = "entries";
                tally.add(all[batch[b]], batch, what);
                column += expected[batch[b]].bytes.size();
            }
        }
    });
}

} // namespace hybz
