// Runs the kernels of the resident shape on a CPU (emulated/cuda_runtime.h) on columns of every kind, several in a
// batch, and compares with the reference coding. emulate.sh builds it.
//     coding [FILE]    (a file: a piece of it, sorted by the next byte, which resembles a column closely enough)
#include "coding.hpp"
#include "../coding.cuh"
#include "shapes.hpp"
#include <cstdio>
#include <string>

using namespace hybz;

struct Column {
    std::string name;
    std::vector<uint8_t> bytes;
};

static int check(const std::vector<Column> &columns) {
    Coding c{};
    c.blocks = uint32_t(columns.size());
    std::vector<uint8_t> all;
    std::vector<uint32_t> base{0}, origin;
    for (const Column &column : columns) {
        all.insert(all.end(), column.bytes.begin(), column.bytes.end());
        base.push_back(uint32_t(all.size()));
        origin.push_back(uint32_t(origin.size() * 7));
        c.max_length = std::max(c.max_length, uint32_t(column.bytes.size()));
    }
    c.chunk_pitch = (c.max_length + kChunk - 1) / kChunk;
    c.group_pitch = c.max_length / kGroup + 2;
    const size_t blocks = columns.size(), n = blocks * c.max_length;
    // Memory as on the device: initially garbage, and nothing after it that may be touched.
    std::vector<uint8_t> order(blocks * 256, 0xA5), selectors(blocks * c.group_pitch, 0xA5);
    std::vector<uint32_t> last(blocks * c.chunk_pitch * 256, 0xA5A5A5A5), frequencies(blocks * kRow, 0),
        offsets(blocks * c.group_pitch, 0xA5A5A5A5), codes(blocks * HYBZ_MAX_TABLES * kRow, 0xA5A5A5A5),
        heads(n, 0xA5A5A5A5), out(blocks * HYBZ_CODED_BYTES(c.max_length) / 4, 0);
    std::vector<uint16_t> symbols(blocks * (c.max_length + 64) + 8, 0xA5A5);
    std::vector<Chunk> chunks(blocks * c.chunk_pitch);
    std::vector<hybz_coded> coded(blocks);
    c.base = base.data();
    c.column = all.data();
    c.origin = origin.data();
    c.last = last.data();
    c.chunks = chunks.data();
    c.order = order.data();
    c.heads = heads.data();
    c.symbols = symbols.data();
    c.frequencies = frequencies.data();
    c.selectors = selectors.data();
    c.offsets = offsets.data();
    c.codes = codes.data();
    c.coded = coded.data();
    c.out = out.data();
    code_symbols(c, nullptr);
    choose_tables(c, nullptr);
    write_codes(c, nullptr);
    int wrong = 0;
    for (size_t b = 0; b < blocks; b++) {
        const ReferenceCoding reference = reference_coding(columns[b].bytes);
        const uint16_t *made = symbols.data() + symbol_base(base[b], uint32_t(b));
        const char *what = difference(reference, coded[b], reinterpret_cast<const uint8_t *>(out.data()));
        if (!std::equal(reference.symbols.begin(), reference.symbols.end(), made)) what = "symbols themselves";
        if (coded[b].origin != origin[b]) what = "origin";
        if (!what) continue;
        wrong++;
        printf("WRONG %s, %zu bytes, %zu in the batch: %s\n", columns[b].name.c_str(), columns[b].bytes.size(), blocks,
               what);
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

// A piece of a file, sorted by the next byte.
static std::vector<uint8_t> file_column(FILE *file) {
    std::vector<uint8_t> text(150001), column;
    text.resize(fread(text.data(), 1, text.size(), file));
    std::vector<uint32_t> places(text.size() - 1);
    for (uint32_t i = 0; i < places.size(); i++) places[i] = i;
    std::stable_sort(places.begin(), places.end(), [&](uint32_t x, uint32_t y) { return text[x + 1] < text[y + 1]; });
    for (uint32_t i : places) column.push_back(text[i]);
    return column;
}

int main(int argc, char **argv) {
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
    for (int f = 1; f < argc; f++) {
        FILE *file = fopen(argv[f], "rb");
        if (!file) continue;
        const Column column{argv[f], file_column(file)};
        fclose(file);
        run({column, {"twice", column.bytes}});
    }
    printf(wrong ? "%d of %d WRONG\n" : "%d wrong, %d columns: all right\n", wrong, done);
    return wrong != 0;
}
