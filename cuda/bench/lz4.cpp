// lz4.cpp: compares the results of hybz_lz4_decode on shapes, damaged blocks and files with the original texts.
#include "lz4.hpp"
#include <random>

namespace hybz {

namespace {

void put_length(Bytes &out, size_t rest) {
    for (; rest >= 255; rest -= 255) out.push_back(255);
    out.push_back(uint8_t(rest));
}

void put_sequence(Bytes &out, const uint8_t *literals, size_t count, size_t distance, size_t length) {
    const size_t more = length ? length - 4 : 0;
    out.push_back(uint8_t(std::min<size_t>(count, 15) << 4 | std::min<size_t>(more, 15)));
    if (count >= 15) put_length(out, count - 15);
    out.insert(out.end(), literals, literals + count);
    if (length == 0) return;
    out.push_back(uint8_t(distance));
    out.push_back(uint8_t(distance >> 8));
    if (more >= 15) put_length(out, more - 15);
}

} // namespace

// A plain encoder: takes the last place with the same four bytes, and the match there. It keeps LZ4's rule that a block
// ends in at least five literals.
Bytes encode(const uint8_t *text, size_t size) {
    Bytes out;
    std::vector<uint32_t> last(1 << 14, ~0u);
    size_t anchor = 0, at = 0;
    while (at + 12 < size) {
        uint32_t four;
        memcpy(&four, text + at, 4);
        uint32_t &place = last[four * 2654435761u >> 18];
        const size_t from = place;
        place = uint32_t(at);
        if (from == ~0u || at - from > 65535 || memcmp(text + from, text + at, 4) != 0) {
            at++;
            continue;
        }
        size_t length = 4;
        while (at + length + 5 < size && text[from + length] == text[at + length]) length++;
        put_sequence(out, text + anchor, at - anchor, at - from, length);
        at += length;
        anchor = at;
    }
    put_sequence(out, text + anchor, size - anchor, 0, 0);
    return out;
}

// Decodes one byte after the other. Empty if the block is damaged.
bool plain_decode(const Bytes &in, size_t size, Bytes &out) {
    out.clear();
    for (size_t at = 0; at < in.size();) {
        const auto length = [&](size_t own, bool *good) {
            if (own < 15) return own;
            for (;;) {
                if (at >= in.size() || own > size) return *good = false, own;
                own += in[at];
                if (in[at++] != 255) return own;
            }
        };
        bool good = true;
        const uint8_t token = in[at++];
        const size_t literals = length(token >> 4, &good);
        if (!good || literals > in.size() - at || literals > size - out.size()) return false;
        out.insert(out.end(), in.begin() + long(at), in.begin() + long(at + literals));
        at += literals;
        if (at == in.size()) return out.size() == size;
        if (in.size() - at < 2) return false;
        const size_t distance = in[at] | size_t(in[at + 1]) << 8;
        at += 2;
        const size_t copied = length(token & 15, &good) + 4;
        if (!good || distance == 0 || distance > out.size() || copied > size - out.size()) return false;
        for (size_t i = 0; i < copied; i++) out.push_back(out[out.size() - distance]);
    }
    return false;
}

namespace {

// Blocks with gaps of 64 bytes between them, in the input and in the output, where nothing may be written.
struct Job {
    std::vector<hybz_lz4_block> blocks;
    Bytes in, want;
    size_t out_size = 0;
    std::vector<uint32_t> damaged;

    void add(const Bytes &coded, size_t size, bool plain, const Bytes *text) {
        in.resize(in.size() + 64, 0xee);
        out_size += 64;
        want.resize(out_size, 0x11);
        blocks.push_back({in.size(), out_size, uint32_t(coded.size()), uint32_t(size), plain, 0});
        in.insert(in.end(), coded.begin(), coded.end());
        out_size += size;
        if (text) want.insert(want.end(), text->begin(), text->end());
        else want.resize(out_size, 0x11);
        damaged.push_back(text ? 0 : 1);
    }

    int run(const char *name, bool load) {
        in.resize(in.size() + 64, 0xee);
        want.resize(out_size + 64, 0x11);
        hybz_lz4 *lz4 = nullptr;
        must(hybz_lz4_create(0, uint32_t(blocks.size()), &lz4), "create");
        DeviceBytes device_in(in.size()), out(want.size());
        Bytes got(want.size(), 0x11);
        copy(out.memory, got.data(), got.size(), cudaMemcpyHostToDevice);
        std::vector<uint32_t> status(blocks.size(), 7);
        const uint32_t count = uint32_t(blocks.size());
        if (load) {
            must(hybz_lz4_load(lz4, in.data(), in.size(), device_in.memory, blocks.data(), count, out.memory,
                               got.size(), status.data(), kTimeout),
                 name);
        } else {
            copy(device_in.memory, in.data(), in.size(), cudaMemcpyHostToDevice);
            must(hybz_lz4_decode(lz4, device_in.memory, in.size(), blocks.data(), count, out.memory, got.size(),
                                 status.data(), kTimeout),
                 name);
        }
        copy(got.data(), out.memory, got.size(), cudaMemcpyDeviceToHost);
        must(hybz_lz4_destroy(lz4), "destroy");
        int wrong = 0;
        for (uint32_t b = 0; b < count; b++) {
            // The output of a damaged block is undefined.
            if (damaged[b]) memset(got.data() + blocks[b].to, 0x11, blocks[b].length);
            if (status[b] != damaged[b]) printf("WRONG %s block %u: status %u\n", name, b, status[b]), wrong++;
        }
        if (got != want) printf("WRONG %s: bytes\n", name), wrong++;
        return wrong;
    }
};

int check_shapes(uint32_t length, size_t *blocks) {
    int wrong = 0;
    Job all, loaded;
    for (const Shape &shape : shapes(length)) {
        const Bytes &bytes = shape.text;
        const Bytes coded = encode(bytes.data(), bytes.size());
        Bytes again;
        if (!plain_decode(coded, bytes.size(), again) || again != bytes)
            printf("WRONG twin: %s\n", shape.name.c_str()), wrong++;
        for (Job *job : {&all, &loaded}) {
            job->add(coded, bytes.size(), false, &bytes);
            job->add(bytes, bytes.size(), true, &bytes);
        }
    }
    *blocks += all.blocks.size();
    return wrong + all.run("shapes", false) + loaded.run("shapes, from the host", true);
}

// HYBZ_SEED, a number, gives other random blocks (fuzz/run.sh lz4_kernel).
uint32_t seed(uint32_t own) {
    const char *const given = getenv("HYBZ_SEED");
    return own + (given ? 16 * uint32_t(strtoul(given, nullptr, 10)) : 0);
}

// Random sequences: all distances and lengths, overlaps, chains of references into the same group.
int check_sequences(size_t *blocks) {
    std::mt19937 random(seed(11));
    const auto below = [&](size_t n) { return n ? random() % n : 0; };
    Job job;
    for (int number = 0; number < 200; number++) {
        Bytes coded, text, literals;
        const size_t count = 1 + below(150), alphabet = 1 + below(4);
        for (size_t s = 0; s < count; s++) {
            literals.clear();
            const size_t most = below(8) ? 4 : 80;
            for (size_t i = below(most) + text.empty(); i > 0; i--) literals.push_back(uint8_t('a' + below(alphabet)));
            text.insert(text.end(), literals.begin(), literals.end());
            const size_t nearest = below(3) ? std::min<size_t>(text.size(), 1 + below(40)) : text.size();
            const size_t distance = 1 + below(std::min<size_t>(nearest, 65535));
            const size_t length = 4 + below(below(10) ? 20 : 400);
            put_sequence(coded, literals.data(), literals.size(), distance, length);
            for (size_t i = 0; i < length; i++) text.push_back(text[text.size() - distance]);
        }
        put_sequence(coded, literals.data(), literals.size(), 0, 0);
        text.insert(text.end(), literals.begin(), literals.end());
        job.add(coded, text.size(), false, &text);
    }
    *blocks += job.blocks.size();
    return job.run("sequences", false);
}

// Changed bytes, cuts, and wrong lengths: valid exactly if the twin says so, and nothing written out of bounds.
int check_damage(size_t *blocks) {
    std::mt19937 random(seed(5));
    Bytes text(3000), out;
    for (uint8_t &byte : text) byte = uint8_t('a' + random() % 3);
    const Bytes coded = encode(text.data(), text.size());
    Job job;
    const auto add = [&](const Bytes &spoilt, size_t size) {
        const bool good = plain_decode(spoilt, size, out);
        job.add(spoilt, size, false, good ? &out : nullptr);
    };
    for (size_t k = 0; k < 1500; k++) {
        Bytes spoilt = coded;
        for (size_t n = 1 + random() % 2; n > 0; n--)
            spoilt[random() % spoilt.size()] = uint8_t(random() % 8 ? random() : 255);
        add(spoilt, text.size());
    }
    for (size_t cut = 0; cut < coded.size(); cut += 7)
        add(Bytes(coded.begin(), coded.begin() + long(cut)), text.size());
    for (const size_t size : {size_t(0), size_t(1), text.size() - 1, text.size() + 1, size_t(HYBZ_MAX_LZ4)})
        add(coded, size);
    add({}, 0);
    add({0}, 0);
    add(Bytes(5000, 255), 60000);
    *blocks += job.blocks.size();
    return job.run("damage", false);
}

// Valid and damaged blocks, each in memory of exactly its size, at any address: for a sanitizer, which detects accesses
// out of bounds.
int check_alone(size_t *blocks) {
    std::mt19937 random(seed(3));
    int wrong = 0;
    hybz_lz4 *lz4 = nullptr;
    must(hybz_lz4_create(0, 1, &lz4), "create");
    for (size_t k = 0; k < 400; k++) {
        Bytes text(random() % 2000), expected, got;
        const uint32_t alphabet = 1 + random() % 4;
        for (uint8_t &byte : text) byte = uint8_t('a' + random() % alphabet);
        Bytes coded = encode(text.data(), text.size());
        for (size_t n = k % 4; n > 0; n--) coded[random() % coded.size()] = uint8_t(random() % 4 ? random() : 255);
        if (k % 7 == 0) coded.resize(random() % (coded.size() + 1));
        const size_t before = random() % 16, after = random() % 16;
        const hybz_lz4_block block{0, 0, uint32_t(coded.size()), uint32_t(text.size()), 0, 0};
        DeviceBytes in(before + coded.size()), out(after + text.size());
        copy(in.memory + before, coded.data(), coded.size(), cudaMemcpyHostToDevice);
        uint32_t status = 7;
        must(hybz_lz4_decode(lz4, in.memory + before, coded.size(), &block, 1, out.memory + after, text.size(), &status,
                             kTimeout),
             "alone");
        const bool good = plain_decode(coded, text.size(), expected);
        got.resize(text.size());
        copy(got.data(), out.memory + after, got.size(), cudaMemcpyDeviceToHost);
        if (status != (good ? 0 : 1) || (good && got != expected)) printf("WRONG alone, block %zu\n", k), wrong++;
    }
    must(hybz_lz4_destroy(lz4), "destroy");
    *blocks += 400;
    return wrong;
}

} // namespace

int check_lz4(uint32_t max_length) {
    size_t blocks = 0;
    int wrong = 0;
    for (const uint32_t length : {1u, 13u, 1000u, 65536u}) wrong += check_shapes(std::min(length, max_length), &blocks);
    wrong += check_sequences(&blocks) + check_damage(&blocks) + check_alone(&blocks);
    printf("%zu blocks of LZ4, %d wrong\n", blocks, wrong);
    return wrong != 0;
}

} // namespace hybz
