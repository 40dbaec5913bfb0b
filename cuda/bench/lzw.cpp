// lzw.cpp: hybz_lzw_decode on shapes, damaged strips and files, against plain twins, and on strips with Rust's answers.
#include "common.hpp"
#include "lzw_codes.hpp"
#include <cuda_runtime.h>
#include <fstream>
#include <iterator>
#include <random>

namespace hybz {

namespace {

// The expected result for a strip; its text is `text`.
struct Answer {
    hybz_lzw_found found{HYBZ_LZW_RIGHT, 0, 0};
    Bytes text;
};

// Decodes by a table of strings, bits one by one.
Answer plain_decode(const Bytes &coded, size_t length) {
    const bool old = is_old(coded);
    Answer answer;
    std::vector<Bytes> strings;
    Bytes previous;
    uint32_t number = 0;
    bool cleared = false;
    for (size_t at = 0; answer.text.size() < length;) {
        const uint32_t width = width_of(number, old);
        if (at + width > coded.size() * 8) break;
        uint32_t code = 0;
        for (uint32_t k = 0; k < width; k++, at++) {
            const uint32_t bit = coded[at / 8] >> (old ? at % 8 : 7 - at % 8) & 1;
            code = old ? code | bit << k : code << 1 | bit;
        }
        if (code == 257) break;
        if (code == 256) {
            strings.clear();
            previous.clear();
            number = 0;
            cleared = true;
            continue;
        }
        if (!cleared) return {{HYBZ_LZW_START, 0, 0}, {}};
        if (number >= kMostCodes) return answer.found = {HYBZ_LZW_TABLE, 0, 0}, answer;
        Bytes string{uint8_t(code)};
        if (code > 257) {
            if (code - 258 >= number) return answer.found = {HYBZ_LZW_CODE, code, 258 + number}, answer;
            if (code - 258 < strings.size()) {
                string = strings[code - 258];
            } else {
                string = previous;
                string.push_back(previous[0]);
            }
        }
        if (number > 0) {
            previous.push_back(string[0]);
            strings.push_back(previous);
        }
        previous = string;
        answer.text.insert(answer.text.end(), string.begin(), string.end());
        number++;
    }
    if (answer.text.size() < length) answer.found = {HYBZ_LZW_LENGTH, uint32_t(answer.text.size()), 0};
    else answer.text.resize(length);
    return answer;
}

struct DeviceBytes {
    uint8_t *memory = nullptr;
    explicit DeviceBytes(size_t size) {
        must(int(cudaMalloc(reinterpret_cast<void **>(&memory), std::max<size_t>(size, 1))), "malloc");
    }
    DeviceBytes(const DeviceBytes &) = delete;
    ~DeviceBytes() { cudaFree(memory); }
};

void copy(void *to, const void *from, size_t size, cudaMemcpyKind way) {
    if (size == 0) return;
    must(int(cudaMemcpyAsync(to, from, size, way, nullptr)), "copy");
    must(int(cudaStreamSynchronize(nullptr)), "copy");
}

// Strips with gaps of 64 bytes between them, in the input and in the output, where nothing may be written.
struct Job {
    std::vector<hybz_lzw_strip> strips;
    std::vector<hybz_lzw_found> wants;
    Bytes in, want;
    std::vector<size_t> undefined; // offsets after the text of damaged strips

    void add(const Bytes &coded, size_t length, const Answer &answer) {
        in.resize(in.size() + 64, 0xee);
        want.resize(want.size() + 64, 0x11);
        strips.push_back({in.size(), want.size(), uint32_t(coded.size()), uint32_t(length)});
        wants.push_back(answer.found);
        in.insert(in.end(), coded.begin(), coded.end());
        want.insert(want.end(), answer.text.begin(), answer.text.end());
        undefined.push_back(want.size());
        want.resize(strips.back().to + length, 0x11);
    }
    void add(const Bytes &coded, size_t length) { add(coded, length, plain_decode(coded, length)); }

    int run(const char *name, size_t *total) {
        in.resize(in.size() + 64, 0xee);
        want.resize(want.size() + 64, 0x11);
        return run_as_is(name, total);
    }

    // The same after `run`, with rows of differences.
    int run_rows(const char *name, size_t *total) const {
        int wrong = 0;
        for (const auto &[pixel, row] : {std::pair(1u, 100u), {3u, 3000u}, {4u, 1u << 16}})
            wrong += run_as_is(name, total, pixel, row);
        return wrong;
    }

    // Runs the strips one by one, each in memory of exactly its size, for tools that check memory bounds.
    int run_alone(const char *name, size_t most, size_t *total) const {
        int wrong = 0;
        for (size_t s = 0; s < strips.size(); s += 1 + strips.size() / most) {
            const hybz_lzw_strip &strip = strips[s];
            const auto codes = in.begin() + long(strip.from), text = want.begin() + long(strip.to);
            Job one;
            one.strips = {{0, 0, strip.coded, strip.length}};
            one.wants = {wants[s]};
            one.in.assign(codes, codes + strip.coded);
            one.want.assign(text, text + strip.length);
            one.undefined = {undefined[s] - strip.to};
            wrong += one.run_as_is(name, total);
        }
        return wrong;
    }

  private:
    // The texts, with differences undone.
    Bytes with_rows(uint32_t pixel, uint32_t row) const {
        Bytes texts = want;
        for (size_t s = 0; row && s < strips.size(); s++)
            for (size_t i = pixel; i < undefined[s] - strips[s].to; i++)
                if (i % row >= pixel) texts[strips[s].to + i] += texts[strips[s].to + i - pixel];
        return texts;
    }

    int run_as_is(const char *name, size_t *total, uint32_t pixel = 0, uint32_t row = 0) const {
        const Bytes want = with_rows(pixel, row);
        const uint32_t count = uint32_t(strips.size());
        hybz_lzw *lzw = nullptr;
        must(hybz_lzw_create(0, count, in.size(), want.size(), &lzw), "create");
        must(hybz_lzw_differences(lzw, pixel, row), "differences");
        DeviceBytes device_in(in.size()), out(want.size());
        Bytes got(want.size(), 0x11);
        copy(out.memory, got.data(), got.size(), cudaMemcpyHostToDevice);
        copy(device_in.memory, in.data(), in.size(), cudaMemcpyHostToDevice);
        std::vector<hybz_lzw_found> found(count);
        must(hybz_lzw_decode(lzw, device_in.memory, in.size(), strips.data(), count, out.memory, got.size(),
                             found.data(), kTimeout),
             name);
        copy(got.data(), out.memory, got.size(), cudaMemcpyDeviceToHost);
        int wrong = compare(name, want, got, found);
        memset(got.data(), 0x22, got.size());
        must(hybz_lzw_decode_host(lzw, in.data(), in.size(), strips.data(), count, got.data(), got.size(), found.data(),
                                  kTimeout),
             name);
        must(hybz_lzw_destroy(lzw), "destroy");
        for (size_t s = 0, at = 0; s <= count; s++) { // between the texts
            const size_t begin = s < count ? strips[s].to : got.size();
            memset(got.data() + at, 0x11, begin - at);
            if (s < count) at = begin + strips[s].length;
        }
        wrong += compare(name, want, got, found);
        *total += count;
        return wrong;
    }

    int compare(const char *name, const Bytes &want, Bytes &got, const std::vector<hybz_lzw_found> &found) const {
        int wrong = 0;
        for (uint32_t s = 0; s < strips.size(); s++) {
            const size_t end = strips[s].to + strips[s].length;
            memset(got.data() + undefined[s], 0x11, end - undefined[s]);
            const bool same = found[s].status == wants[s].status && found[s].code == wants[s].code &&
                              found[s].known == wants[s].known;
            const bool text = memcmp(got.data() + strips[s].to, want.data() + strips[s].to, strips[s].length) == 0;
            if (same && text) continue;
            printf("WRONG %s, strip %u of %u bytes: %u %u %u, not %u %u %u; text %s\n", name, s, strips[s].length,
                   found[s].status, found[s].code, found[s].known, wants[s].status, wants[s].code, wants[s].known,
                   text ? "right" : "wrong");
            wrong++;
        }
        if (got != want) printf("WRONG %s: bytes\n", name), wrong++;
        return wrong;
    }
};

int check_shapes(uint32_t length, size_t *total) {
    int wrong = 0;
    Job job;
    for (const Shape &shape : shapes(length)) {
        const Bytes &text = shape.text;
        const size_t size = text.size();
        for (const bool old : {false, true})
            for (const uint32_t clear : {~0u, 100u, 1u}) {
                if (clear == 1 && size > 20000) continue;
                const Bytes coded = encode(text.data(), size, old, clear);
                const Answer answer = plain_decode(coded, size);
                if (answer.found.status != HYBZ_LZW_RIGHT || answer.text != text)
                    printf("WRONG twin: %s\n", shape.name.c_str()), wrong++;
                job.add(coded, size, answer);
                // Asks for less text than there is, and for more.
                if (size > 3) job.add(coded, size - 3);
                job.add(coded, size + 1);
            }
    }
    return wrong + job.run("shapes", total) + job.run_rows("rows", total) + job.run_alone("shapes, alone", 10, total);
}

// Codes in one order of bits, each with the width it has without clears.
Bytes strip_of(const std::vector<uint32_t> &codes, bool old) {
    Writer out;
    out.old = old;
    out.put(256, 9);
    for (uint32_t number = 0; number < codes.size(); number++) out.put(codes[number], width_of(number, old));
    out.finish();
    return out.bytes;
}

// Random valid codes: long chains, runs, and tables that are not cleared when they are full.
int check_codes(uint32_t rounds, size_t *total) {
    std::mt19937 random(7);
    Job job;
    for (uint32_t round = 0; round < rounds; round++) {
        const bool old = round & 1;
        const uint32_t count = random() % (round % 3 ? 500 : kMostCodes + 20), newest = 1 + random() % 40;
        std::vector<uint32_t> codes;
        for (uint32_t number = 0; number < count; number++) {
            const uint32_t known = std::min(number, 4096u - 258);
            if (known == 0 || random() % 6 == 0) codes.push_back(random() % 256);
            else codes.push_back(258 + (round & 2 ? known - 1 - random() % std::min(known, newest) : random() % known));
        }
        if (random() % 2) codes.push_back(257);
        const Bytes coded = strip_of(codes, old);
        for (const size_t length : {size_t(1) << 16, size_t(1) << 18, size_t(random() % 3000)}) job.add(coded, length);
    }
    for (const bool old : {false, true})
        for (const uint32_t count : {3836u, 3837u, 3838u, 3840u, 4862u, 4863u, 5200u}) {
            std::vector<uint32_t> codes(count);
            for (uint32_t number = 0; number < count; number++) codes[number] = number * 7 % 251;
            codes.push_back(257);
            job.add(strip_of(codes, old), count);
        }
    return job.run("codes", total) + job.run_alone("codes, alone", rounds / 2, total);
}

// Changed or cut bytes, wrong lengths, and noise.
int check_damage(uint32_t rounds, size_t *total) {
    std::mt19937 random(5);
    Job job;
    for (const bool old : {false, true}) {
        // One table, or several.
        Bytes text(old ? 9000 : 12000);
        for (uint8_t &byte : text) byte = uint8_t('a' + random() % (old ? 3 : 200));
        const Bytes coded = encode(text.data(), text.size(), old);
        for (uint32_t k = 0; k < 5 * rounds; k++) {
            Bytes spoilt = coded;
            for (uint32_t n = 1 + random() % 2; n > 0; n--)
                spoilt[random() % spoilt.size()] = uint8_t(random() % 8 ? random() : 255);
            job.add(spoilt, text.size());
        }
        for (size_t cut = 0; cut < coded.size(); cut += cut < 20 ? 1 : 4920 / rounds)
            job.add(Bytes(coded.begin(), coded.begin() + long(cut)), text.size());
        for (const size_t length : {size_t(0), size_t(1), text.size() - 1, text.size() + 1, size_t(70000)})
            job.add(coded, length);
    }
    for (uint32_t round = 0; round < 4 * rounds; round++) {
        Bytes noise(2 + random() % (round % 4 ? 100 : 9000));
        const uint32_t mask = random() % 2 ? 0x11 : 0x7f;
        for (uint8_t &byte : noise) byte = uint8_t(random()) & mask;
        noise[0] = round & 1 ? 0x80 : 0;
        noise[1] = uint8_t(round & 1 ? noise[1] & 0x7f : noise[1] | 1);
        job.add(noise, random() % 20000);
    }
    job.add(Bytes(5000, 0), 100);
    job.add(Bytes(5000, 255), 100);
    Writer clears;
    for (uint32_t k = 0; k < 5000; k++) clears.put(256, 9);
    clears.finish();
    job.add(clears.bytes, 10);
    return job.run("damage", total) + job.run_alone("damage, alone", 3 * rounds, total);
}

} // namespace

int check_lzw(uint32_t max_length) {
    size_t total = 0;
    int wrong = 0;
    for (const uint32_t length : {1u, 13u, 1000u, 65536u, 150000u})
        if (length <= max_length) wrong += check_shapes(length, &total);
    const uint32_t rounds = max_length < 1000 ? 24 : 120;
    wrong += check_codes(rounds, &total) + check_damage(rounds, &total);
    printf("%zu strips of LZW, %d wrong\n", total, wrong);
    return wrong != 0;
}

// A file of strips decoded by Rust. For each strip: six numbers of 32 bits (bytes of codes, of text wanted, of text
// present, and the three of hybz_lzw_found), the codes, and the text.
int check_lzw_cases(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const Bytes all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Job job;
    size_t at = 0, total = 0;
    const auto take = [&](size_t size) {
        if (size > all.size() - at) printf("cut cases\n"), exit(1);
        at += size;
        return Bytes(all.begin() + long(at - size), all.begin() + long(at));
    };
    int wrong = 0;
    while (at < all.size()) {
        uint32_t head[6];
        memcpy(head, take(sizeof head).data(), sizeof head);
        const Bytes coded = take(head[0]);
        const Answer answer{{head[3], head[4], head[5]}, take(head[2])};
        const Answer twin = plain_decode(coded, head[1]);
        if (twin.text != answer.text || memcmp(&twin.found, &answer.found, sizeof twin.found) != 0)
            printf("WRONG twin, strip %zu\n", job.strips.size()), wrong++;
        job.add(coded, head[1], answer);
    }
    wrong += job.run("cases", &total);
    printf("%zu strips of cases, %d wrong\n", total, wrong);
    return wrong != 0 || total == 0;
}

int time_lzw(const char *path, uint32_t count, uint32_t size) {
    std::ifstream file(path, std::ios::binary);
    const Bytes text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const size_t pieces = std::min<size_t>(count, text.size() / size);
    if (pieces == 0) return printf("%s is too short\n", path), 1;
    std::vector<Bytes> coded(pieces);
    parallel(pieces, [&](size_t p) { coded[p] = encode(text.data() + p * size, size); });
    std::vector<hybz_lzw_strip> strips;
    size_t in_size = 0;
    for (uint32_t s = 0; s < count; s++) {
        strips.push_back({in_size, uint64_t(s) * size, uint32_t(coded[s % pieces].size()), size});
        in_size += coded[s % pieces].size();
    }
    Pinned<uint8_t> in(in_size + 8);
    for (uint32_t s = 0; s < count; s++)
        memcpy(in.memory + strips[s].from, coded[s % pieces].data(), strips[s].coded);
    const size_t out_size = size_t(count) * size;
    DeviceBytes device_in(in_size), out(out_size);
    Pinned<uint8_t> got(out_size + 32);
    const auto is_right = [&] {
        for (uint32_t s = 0; s < count; s++)
            if (memcmp(got.memory + strips[s].to, text.data() + s % pieces * size, size) != 0) return false;
        return true;
    };
    std::vector<hybz_lzw_found> found(count);
    hybz_lzw *lzw = nullptr;
    must(hybz_lzw_create(0, count, in_size, 0, &lzw), "create");
    double best = 1e9, loaded = 1e9, core = 1e9;
    for (int round = 0; round < 8; round++) {
        const auto start = Clock::now();
        copy(device_in.memory, in.memory, in_size, cudaMemcpyHostToDevice);
        const auto there = Clock::now();
        must(hybz_lzw_decode(lzw, device_in.memory, in_size, strips.data(), count, out.memory, out_size, found.data(),
                             kTimeout),
             "lzw");
        best = std::min(best, seconds(there));
        loaded = std::min(loaded, seconds(start));
    }
    must(hybz_lzw_destroy(lzw), "destroy");
    copy(got.memory, out.memory, out_size, cudaMemcpyDeviceToHost);
    bool right = is_right();
    for (const hybz_lzw_found &one : found) right &= one.status == HYBZ_LZW_RIGHT;
    memset(got.memory, 0, got.bytes);
    const size_t some = std::min<size_t>(count, pieces);
    for (int round = 0; round < 3; round++) {
        const auto start = Clock::now();
        for (size_t s = 0; s < some; s++) quick_decode(in.memory + strips[s].from, got.memory + strips[s].to, size);
        core = std::min(core, seconds(start));
    }
    for (size_t s = some; s < count; s++) quick_decode(in.memory + strips[s].from, got.memory + strips[s].to, size);
    right &= is_right();
    printf("lzw %s: %u strips of %u, ratio %.2f: %.3f ms, %.1f GB/s; with the upload %.1f; a core %.2f: %s\n", path,
           count, size, double(out_size) / double(in_size), best * 1e3, double(out_size) / best / 1e9,
           double(out_size) / loaded / 1e9, double(some * size) / core / 1e9, right ? "right" : "WRONG");
    return !right;
}

} // namespace hybz
