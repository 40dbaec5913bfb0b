// Runs the kernels of the resident shape on a CPU (emulated/cuda_runtime.h) on columns of every kind, several in a batch, and
// compares with the plain coding.
//     coding [FILE]    (a file: pieces of it as columns, sorted backwards by the byte before, which is column enough)
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
        c.longest = std::max(c.longest, uint32_t(column.bytes.size()));
    }
    c.chunk_pitch = (c.longest + kChunk - 1) / kChunk;
    c.group_pitch = c.longest / kGroup + 2;
    const size_t blocks = columns.size(), n = blocks * c.longest;
    // Memory as the device has it: anything in it, and nothing behind it that anybody may touch.
    std::vector<uint8_t> order(blocks * 256, 0xA5), selectors(blocks * c.group_pitch, 0xA5);
    std::vector<uint32_t> last(blocks * c.chunk_pitch * 256, 0xA5A5A5A5), frequencies(blocks * kRow, 0),
        offsets(blocks * c.group_pitch, 0xA5A5A5A5), codes(blocks * HYBZ_MOST_TABLES * kRow, 0xA5A5A5A5),
        heads(n, 0xA5A5A5A5), out(blocks * HYBZ_CODED_BYTES(c.longest) / 4, 0);
    std::vector<uint16_t> symbols(blocks * (c.longest + 64) + 8, 0xA5A5);
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
        const PlainCoding plain = plain_coding(columns[b].bytes);
        const uint16_t *made = symbols.data() + symbol_base(base[b], uint32_t(b));
        const char *what = difference(plain, coded[b], reinterpret_cast<const uint8_t *>(out.data()));
        if (!std::equal(plain.symbols.begin(), plain.symbols.end(), made)) what = "symbols themselves";
        if (coded[b].origin != origin[b]) what = "origin";
        if (!what) continue;
        wrong++;
        printf("WRONG %s, %zu bytes, %zu in the batch: %s\n", columns[b].name.c_str(), columns[b].bytes.size(), blocks, what);
    }
    return wrong;
}

int main(int argc, char **argv) {
    int wrong = 0, done = 0;
    uint64_t seed = 12345;
    std::vector<Column> small, batch;
    for (uint32_t n : {64u, 65u, 100u, 1000u, 4096u, 4097u, 12300u}) {
        batch.clear();
        for (Shape &shape : shapes(n)) {
            std::vector<uint8_t> runs = shape.text;
            std::stable_sort(runs.begin(), runs.begin() + runs.size() / 2); // long runs, then none
            batch.push_back({shape.name, std::move(shape.text)});
            batch.push_back({shape.name + " half sorted", std::move(runs)});
        }
        wrong += check(batch);
        wrong += check({batch[0]});
        done += int(batch.size()) + 1;
        if (n < 1000) small.insert(small.end(), batch.begin(), batch.end());
    }
    wrong += check(small);
    // Around each number of tables; runs of all lengths; frequencies whose codes get too long.
    batch.clear();
    for (uint32_t symbols : {200u, 600u, 1200u, 2400u})
        for (uint32_t n = symbols - 3; n < symbols + 2; n++) {
            std::vector<uint8_t> column(n);
            for (uint32_t i = 0; i < n; i++) column[i] = uint8_t(i % 2 * 100 + next_random(seed) % 60);
            batch.push_back({"no runs", column});
        }
    std::vector<uint8_t> runs, fibonacci;
    for (uint32_t length = 1; length < 300; length++) runs.insert(runs.end(), length, uint8_t(length % 3));
    batch.push_back({"all runs", runs});
    uint32_t a = 1, b = 1;
    for (uint8_t place = 1; place < 22; place++) {
        // Bytes that come in turn, `place` different ones: so their place is always that.
        for (uint32_t i = 0; i < a; i++)
            for (int k = 0; k <= place; k += 7) fibonacci.push_back(uint8_t((i + uint32_t(k)) % (place + 1u)));
        b += a;
        std::swap(a, b);
    }
    batch.push_back({"fibonacci places", fibonacci});
    wrong += check(batch);
    done += int(batch.size());
    for (int f = 1; f < argc; f++) {
        FILE *file = fopen(argv[f], "rb");
        if (!file) continue;
        std::vector<uint8_t> text(150001);
        text.resize(fread(text.data(), 1, text.size(), file));
        fclose(file);
        std::vector<uint32_t> places(text.size() - 1);
        for (uint32_t i = 0; i < places.size(); i++) places[i] = i;
        std::stable_sort(places.begin(), places.end(), [&](uint32_t x, uint32_t y) { return text[x + 1] < text[y + 1]; });
        Column column{argv[f], {}};
        for (uint32_t i : places) column.bytes.push_back(text[i]);
        wrong += check({column, {"twice", column.bytes}});
        done += 2;
    }
    printf(wrong ? "%d of %d WRONG\n" : "%d wrong, %d columns: all right\n", wrong, done);
    return wrong != 0;
}
