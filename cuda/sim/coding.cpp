// Runs the kernels of the resident shape on a CPU (emulated/cuda_runtime.h) on columns of every kind, several in a
// batch, and compares with the reference coding. emulate.sh builds it.
#include "coding.hpp"
#include "../coding.cuh"
#include "../lane.cuh"
#include "shapes.hpp"
#include "sim.hpp"
#include <cstdio>
#include <string>

using namespace hybz;

struct Column {
    std::string name;
    std::vector<uint8_t> bytes;
    uint32_t origin = 7;
};

// A batch in memory as on the device: initially garbage.
struct Device {
    Coding c{};
    std::vector<uint8_t> all, memory;
    std::vector<uint32_t> base{0}, origin;

    explicit Device(const std::vector<Column> &columns) {
        uint32_t longest = 0;
        for (const Column &column : columns) {
            all.insert(all.end(), column.bytes.begin(), column.bytes.end());
            base.push_back(uint32_t(all.size()));
            origin.push_back(column.origin);
            longest = std::max(longest, uint32_t(column.bytes.size()));
        }
        memory.resize(lay_out_codes(c, nullptr, columns.size(), longest), 0xA5);
        lay_out_codes(c, memory.data(), columns.size(), longest);
        c.base = base.data();
        c.column = all.data();
        c.origin = origin.data();
        memset(c.frequencies, 0, columns.size() * kRow * 4);
        memset(c.out, 0, columns.size() * HYBZ_CODED_BYTES(longest));
        code_symbols(c, nullptr);
        choose_tables(c, nullptr);
        write_codes(c, nullptr);
    }
};

static int check(const std::vector<Column> &columns) {
    const Device device(columns);
    int wrong = 0;
    for (size_t b = 0; b < columns.size(); b++) {
        const ReferenceCoding reference = reference_coding(columns[b].bytes);
        const uint16_t *made = device.c.symbols + symbol_base(device.base[b], uint32_t(b));
        const char *what = difference(reference, device.c.coded[b], reinterpret_cast<const uint8_t *>(device.c.out));
        if (!std::equal(reference.symbols.begin(), reference.symbols.end(), made)) what = "symbols themselves";
        if (device.c.coded[b].origin != columns[b].origin) what = "origin";
        if (!what) continue;
        wrong++;
        printf("WRONG %s, %zu bytes, %zu in the batch: %s\n", columns[b].name.c_str(), columns[b].bytes.size(),
               columns.size(), what);
    }
    return wrong;
}

// Proves two blocks, and with one wrong bit anywhere only the first.
static int check_proofs(std::vector<Shape> texts) {
    constexpr int kPitchBits = 13;
    std::vector<Column> columns;
    std::vector<uint8_t> text;
    std::vector<uint32_t> rank(2 << kPitchBits);
    for (size_t b : {0, 1}) {
        const Text &own = texts[b].text;
        const uint32_t n = uint32_t(own.size());
        columns.push_back({texts[b].name, Text(n), 0});
        reference_bwt(own.data(), n, columns[b].bytes.data(), &columns[b].origin);
        text.insert(text.end(), own.begin(), own.end());
        const Text &column = columns[b].bytes;
        std::vector<uint32_t> vector(n);
        std::iota(vector.begin(), vector.end(), 0u);
        std::stable_sort(vector.begin(), vector.end(), [&](auto x, auto y) { return column[x] < column[y]; });
        for (uint32_t i = 0, row = columns[b].origin; i < n; i++, row = vector[row]) rank[(b << kPitchBits) + i] = row;
    }
    Device device(columns);
    Decoding decoding{};
    std::vector<uint8_t> memory(lay_out_decoding(decoding, nullptr, 2, 0));
    lay_out_decoding(decoding, memory.data(), 2, 0);
    decoding.blocks = 2;
    const auto proven = [&](size_t block) { return !decoding.found[block].odd && !decoding.found[block].difference; };
    const auto proves = [&](bool both) {
        memset(decoding.found, 0, 2 * sizeof(Found));
        decode_groups(decoding, device.c, nullptr);
        decode_columns(decoding, nullptr);
        prove_columns(decoding, device.c, text.data(), rank.data(), kPitchBits, nullptr);
        return proven(0) && proven(1) == both;
    };
    int wrong = !proves(true);
    hybz_coded &coded = device.c.coded[1];
    uint32_t *const out = device.c.out + coded.at / 4, *const ranks = rank.data() + (1 << kPitchBits);
    uint32_t *const offsets = device.c.offsets + device.c.group_pitch;
    const uint32_t codes = code_bytes(coded.bits) / 4;
    const std::pair<const char *, void *> places[] = {
        {"text", &text[text.size() - 1]}, {"text", &text[texts[0].text.size()]}, {"rank", ranks}, {"rank", ranks + 99},
        {"code", out}, {"code", out + codes / 2}, {"last code", out + codes - 1}, {"selector", out + codes},
        {"selector", out + codes + 1}, {"offset", offsets}, {"offset", offsets + 9}, {"origin", &coded.origin},
        {"symbols", &coded.symbols}, {"bits", &coded.bits}, {"used", &coded.used[3]},
        {"length", coded.lengths[0]}, {"length", &coded.lengths[coded.tables - 1][2]}};
    for (const auto &[name, at] : places) {
        *static_cast<uint8_t *>(at) ^= 1;
        if (!proves(false)) printf("WRONG: proven with another %s\n", name), wrong++;
        *static_cast<uint8_t *>(at) ^= 1;
    }
    return wrong;
}

// Columns around each number of tables; runs of all lengths; frequencies whose codes get too long.
static std::vector<Column> edge_columns() {
    std::vector<Column> all;
    uint64_t seed = 12345;
    for (uint32_t symbols : {200u, 600u, 1200u, 2400u})
        for (uint32_t n = symbols - 3; n < symbols + 2; n++) {
            std::vector<uint8_t> column(n);
            for (uint32_t i = 0; i < n; i++) column[i] = uint8_t(i % 2 * 100 + next_random(seed) % 60);
            all.push_back({"no runs", column});
        }
    std::vector<uint8_t> runs, fibonacci;
    for (uint32_t length = 1; length < 300; length++) runs.insert(runs.end(), length, uint8_t(length % 3));
    all.push_back({"all runs", runs});
    uint32_t a = 1, b = 1;
    for (uint8_t place = 1; place < 22; place++) {
        // Different bytes in turn, so that their place in the list is always about `place`.
        for (uint32_t i = 0; i < a; i++)
            for (int k = 0; k <= place; k += 7) fibonacci.push_back(uint8_t((i + uint32_t(k)) % (place + 1u)));
        b += a;
        std::swap(a, b);
    }
    all.push_back({"fibonacci places", fibonacci});
    return all;
}

int main() {
    int wrong = 0, done = 0;
    const auto run = [&](const std::vector<Column> &columns) {
        wrong += check(columns);
        done += int(columns.size());
    };
    std::vector<Column> small;
    for (uint32_t n : {64u, 65u, 100u, 1000u, 4096u, 4097u, 12300u}) {
        std::vector<Column> batch;
        for (Shape &shape : shapes(n)) {
            std::vector<uint8_t> runs = shape.text;
            std::stable_sort(runs.begin(), runs.begin() + runs.size() / 2); // long runs, then no runs
            batch.push_back({shape.name, std::move(shape.text)});
            batch.push_back({shape.name + " half sorted", std::move(runs)});
        }
        run(batch);
        run({batch[0]});
        if (n < 1000) small.insert(small.end(), batch.begin(), batch.end());
    }
    run(small);
    run(edge_columns());
    for (const uint32_t n : {600u, 5000u}) wrong += check_proofs({shapes(n).front(), shapes(n).back()});
    printf(wrong ? "%d of %d WRONG\n" : "%d wrong, %d columns: all right\n", wrong, done);
    return wrong != 0;
}
