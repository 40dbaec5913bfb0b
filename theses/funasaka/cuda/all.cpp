// all.cpp: files of ALL that theses/funasaka has written, decoded on a device: whole and damaged, against a plain twin;
// timed; and loaded from a disk into device memory (table 5.6).
#include "all.hpp"
#include "cold.hpp"
#include "../../../cuda/bench/common.hpp"
#include <cuda_runtime.h>
#include <fstream>
#include <iterator>
#include <random>

namespace hybz {

namespace {

using Bytes = std::vector<uint8_t>;

Bytes read_file(const char *path) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() < 6) printf("%s cannot be read\n", path), exit(1);
    return bytes;
}

struct Case {
    Bytes file, text;
};

// For each text: two numbers of 32 bits, the bytes of its file and its own, and then both.
std::vector<Case> read_cases(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<Case> cases;
    for (uint32_t sizes[2]; file.read(reinterpret_cast<char *>(sizes), sizeof sizes);) {
        Case one{Bytes(sizes[0]), Bytes(sizes[1])};
        file.read(reinterpret_cast<char *>(one.file.data()), long(sizes[0]));
        file.read(reinterpret_cast<char *>(one.text.data()), long(sizes[1]));
        if (!file) printf("cut cases\n"), exit(1);
        cases.push_back(std::move(one));
    }
    if (cases.empty()) printf("no cases\n"), exit(1);
    return cases;
}

uint32_t two(const uint8_t *in) { return in[0] | in[1] << 8; }

// Decodes a block, one word after the other. Returns the length of its text or kAllDamaged.
uint32_t plain_block(const uint8_t *in, size_t size, uint8_t *out, bool adaptive) {
    if (size < 6) return kAllDamaged;
    const uint32_t count = two(in) + 1, bytes = two(in + 2) + 1, strings = two(in + 4) & 0x7ff;
    const bool predictor = two(in + 4) >> 11 & 1;
    const uint8_t *ids = in + 6, *magic_ids = ids + (count + 7) / 8;
    const uint8_t *lengths = magic_ids + ((count + 31) / 32 + 7) / 8, *word = lengths + (strings * 12 + 7) / 8;
    const uint8_t *words_end = word + bytes, *magic = words_end, *end = in + size;
    if (words_end > end || (!adaptive && (strings || predictor))) return kAllDamaged;
    uint32_t at = 0, used = 0;
    for (uint32_t first = 0; first < count; first += 32) {
        const uint32_t start = at, last = std::min(count, first + 32);
        uint32_t own = 0;
        if (adaptive && magic_ids[first / 256] >> (first / 32 % 8) & 1) {
            if (used == strings) return kAllDamaged;
            own = (two(lengths + used * 3 / 2) >> used % 2 * 4 & 0xfff) + 1;
            used++;
        }
        if (own > end - magic) return kAllDamaged;
        for (uint32_t w = first; w < last; w++) {
            const bool pair = ids[w / 8] >> w % 8 & 1;
            if (words_end - word < 1 + pair) return kAllDamaged;
            const uint32_t value = pair ? two(word) : *word;
            word += 1 + pair;
            if (!pair) {
                if (at == kAllStrip) return kAllDamaged;
                out[at++] = uint8_t(value);
                continue;
            }
            uint32_t length = (value & 15) + 2;
            const uint32_t t = value >> 4;
            if ((value & 15) == kAllTwoWords) {
                if (++w == last || (ids[w / 8] >> w % 8 & 1) || word == words_end) return kAllDamaged;
                length = all_long(*word++);
            }
            if (length > kAllStrip - at || (t != kAllRun && t + length > kAllDictionary)) return kAllDamaged;
            for (uint32_t k = t; k < t + length; k++, at++) {
                const uint32_t from = start + k;
                out[at] = t == kAllRun             ? at ? out[at - 1] : 0
                          : k < own                ? magic[k]
                          : from < kAllDictionary ? 0
                                                   : out[from - kAllDictionary];
            }
        }
        magic += own;
    }
    if (word != words_end || magic != end || used != strings) return kAllDamaged;
    for (uint32_t k = 1; k < at && predictor; k++) out[k] = uint8_t(out[k] + out[k - 1]);
    return at;
}

// A strip of a file: its block, which may exceed the file.
struct Strip {
    uint64_t from, bytes;
    bool raw;
};

std::vector<Strip> strips_of(const Bytes &file) {
    const uint32_t count = all_strips(file.data());
    std::vector<Strip> strips;
    uint64_t from = 4 + uint64_t(count) * 2;
    for (uint32_t s = 0; s < count; s++) {
        uint64_t bytes = two(file.data() + 4 + s * 2) + 1;
        const bool raw = bytes == kAllStrip;
        if (raw && s + 1 == count && from <= file.size()) bytes = std::min<uint64_t>(bytes, file.size() - from);
        strips.push_back({from, bytes, raw});
        from += bytes;
    }
    return strips;
}

// Decodes the strips of a file into 65,536 bytes of `out` each, on all cores or one. Returns their lengths.
std::vector<uint32_t> plain_decode(const Bytes &file, uint8_t *out, bool adaptive, bool all_cores) {
    const std::vector<Strip> strips = strips_of(file);
    std::vector<uint32_t> lengths(strips.size(), kAllDamaged);
    const auto decode = [&](size_t s) {
        const auto &[from, bytes, raw] = strips[s];
        const uint64_t end = from + bytes;
        if (s + 1 == strips.size() ? end != file.size() : end > file.size()) return;
        uint8_t *to = out + s * kAllStrip;
        if (raw) memcpy(to, file.data() + from, bytes);
        lengths[s] = raw ? uint32_t(bytes) : plain_block(file.data() + from, bytes, to, adaptive);
    };
    if (all_cores) parallel(strips.size(), decode);
    else
        for (size_t s = 0; s < strips.size(); s++) decode(s);
    return lengths;
}

// A file of these blocks.
struct Blocks {
    Bytes sizes, body;
    void add(const uint8_t *block, size_t bytes) {
        sizes.push_back(uint8_t(bytes - 1));
        sizes.push_back(uint8_t((bytes - 1) >> 8));
        body.insert(body.end(), block, block + bytes);
    }
    Bytes file() const {
        const uint32_t last = uint32_t(sizes.size() / 2 - 1);
        Bytes file;
        for (uint32_t k = 0; k < 32; k += 8) file.push_back(uint8_t(last >> k));
        file.insert(file.end(), sizes.begin(), sizes.end());
        file.insert(file.end(), body.begin(), body.end());
        return file;
    }
};

struct Device {
    uint8_t *file = nullptr, *out = nullptr;
    uint32_t *lengths = nullptr, *next = nullptr;
    uint64_t *ends = nullptr;
    Device(size_t size, uint32_t strips) {
        const auto take = [](auto **memory, size_t bytes) {
            must(int(cudaMalloc(reinterpret_cast<void **>(memory), bytes)), "malloc");
        };
        take(&file, (size + 3) & ~size_t(3));
        take(&out, size_t(strips) * kAllStrip);
        take(&lengths, size_t(strips) * 4);
        take(&ends, size_t(strips) * 8);
        take(&next, 4);
    }
    Device(const Device &) = delete;
    ~Device() {
        for (void *memory : {static_cast<void *>(file), static_cast<void *>(out), static_cast<void *>(lengths),
                             static_cast<void *>(ends), static_cast<void *>(next)})
            cudaFree(memory);
    }
    void decode(size_t size, uint32_t strips, AllWay way) {
        must(decode_all(file, size, strips, out, lengths, ends, next, way), "all");
    }
};

const char *const kNames[] = {"bytes", "steps", "plain"};

// Decodes a file in `device`, and compares it with the twin. Returns the number of wrong strips.
int compare(Device &device, const Bytes &file, AllWay way, uint32_t &damaged) {
    const uint32_t count = all_strips(file.data());
    Bytes want(size_t(count) * kAllStrip), got(want.size());
    const std::vector<uint32_t> lengths = plain_decode(file, want.data(), way != kAllPlain, count > 16);
    std::vector<uint32_t> found(count, 7);
    copy(device.file, file.data(), file.size(), cudaMemcpyHostToDevice);
    device.decode(file.size(), count, way);
    copy(found.data(), device.lengths, size_t(count) * 4, cudaMemcpyDeviceToHost);
    copy(got.data(), device.out, got.size(), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (size_t s = 0; s < count; s++) {
        damaged += lengths[s] == kAllDamaged;
        const bool right = found[s] == lengths[s] && (found[s] == kAllDamaged ||
                           memcmp(want.data() + s * kAllStrip, got.data() + s * kAllStrip, found[s]) == 0);
        if (!right) printf("WRONG strip %zu of %u, %s: %u, not %u\n", s, count, kNames[way], found[s], lengths[s]);
        wrong += !right;
    }
    return wrong;
}

// Files whose only strip has one fault each, except the first.
std::vector<Bytes> faults() {
    std::vector<Bytes> files;
    const auto add = [&](uint32_t words, uint32_t magics, Bytes identifiers, const Bytes &rest, size_t bytes) {
        Bytes block{uint8_t(words - 1), 0, uint8_t(bytes - 1), 0, uint8_t(magics), 0};
        block.insert(block.end(), identifiers.begin(), identifiers.end());
        block.insert(block.end(), rest.begin(), rest.end());
        Blocks one;
        one.add(block.data(), block.size());
        files.push_back(one.file());
    };
    const Bytes run{0xff, 0xff, 0xff};
    Bytes runs, letters(31, 'a');
    for (int k = 0; k < 32; k++) runs.insert(runs.end(), run.begin(), run.end());
    letters.insert(letters.end(), run.begin(), run.end());
    const auto after = [](uint8_t magic_identifiers, Bytes rest) {
        rest.insert(rest.begin(), magic_identifiers);
        return rest;
    };
    add(2, 0, {1}, after(0, run), 3);
    add(1, 0, {1}, after(0, {0xff, 0xff}), 2);                // a code that lacks its second word
    add(33, 0, {0, 0, 0, 0x80, 0}, after(0, letters), 34);    // a code in two segments
    add(64, 0, Bytes(8, 0x55), after(0, runs), 96);           // more text than a strip has
    add(1, 1, {0}, after(0, {0, 0, 'a'}), 1);                 // a magic string that no segment has
    add(1, 0, {0}, after(1, {'a'}), 1);                       // one too few
    add(1, 1, {0}, after(1, {0, 0, 'a'}), 1);                 // a magic string without bytes
    add(1, 0, {1}, after(0, {0xe1, 0xff}), 2);                // an interval beyond the dictionary
    files.push_back(files[0]);
    files.back().push_back(0); // a byte after the last block
    return files;
}

// The file with a byte changed, cut, or with another size of a block.
Bytes damage(const Bytes &file, uint32_t kind, std::mt19937 &random) {
    Bytes spoilt = file;
    const size_t head = 4 + size_t(all_strips(file.data())) * 2, body = file.size() - head;
    if (kind == 0) spoilt.resize(head + random() % (body + 1));
    else if (kind == 1 || !body) spoilt[4 + random() % (head - 4)] ^= uint8_t(1 << random() % 8);
    else spoilt[head + random() % (kind == 2 ? body : std::min<size_t>(body, 60))] = uint8_t(random());
    return spoilt;
}

} // namespace

int check_all(const char *path) {
    const std::vector<Case> cases = read_cases(path);
    std::mt19937 random(3);
    Device device(1 << 20, 16);
    Blocks all;
    uint32_t files = 0, damaged = 0;
    int wrong = 0;
    for (size_t c = 0; c < cases.size(); c++) {
        const Bytes &file = cases[c].file, &text = cases[c].text;
        const uint32_t count = all_strips(file.data());
        Bytes out(size_t(count) * kAllStrip);
        size_t length = 0;
        for (const uint32_t one : plain_decode(file, out.data(), true, false)) length += one;
        if (length != text.size() || !std::equal(text.begin(), text.end(), out.begin()))
            printf("WRONG twin: %zu\n", c), wrong++;
        for (const AllWay way : {kAllBytes, kAllSteps, kAllPlain})
            wrong += compare(device, file, way, damaged), files++;
        for (uint32_t kind = 0; kind < 5 && text.size() < 4000; kind++)
            wrong += compare(device, damage(file, kind, random), AllWay(kind % 2), damaged), files++;
        if (c % 20 == 0) { // in memory of exactly the size, for tools that check bounds
            Device exact(file.size(), count);
            wrong += compare(exact, file, kAllBytes, damaged);
        }
        for (const auto &[from, bytes, raw] : strips_of(file))
            if (bytes && all.sizes.size() < 1400 && (!raw || bytes == kAllStrip)) all.add(file.data() + from, bytes);
    }
    uint32_t faulty = 0;
    for (const Bytes &file : faults()) wrong += compare(device, file, kAllBytes, faulty);
    if (faulty + 1 != faults().size()) printf("WRONG: the twin finds %u faults\n", faulty), wrong++;
    const Bytes together = all.file();
    Device large(together.size(), all_strips(together.data()));
    for (const AllWay way : {kAllBytes, kAllSteps}) wrong += compare(large, together, way, damaged);
    printf("%u files of ALL, %u damaged strips, and one of %u strips: %d wrong\n", files, damaged,
           all_strips(together.data()), wrong);
    return wrong != 0;
}

namespace {

// A file of `count` strips: those of the file at `path`, again and again.
Bytes repeated(const char *path, uint32_t count) {
    const Bytes file = read_file(path);
    std::vector<Strip> strips = strips_of(file);
    if (strips.size() > 1) strips.pop_back(); // the last one may be short
    Blocks blocks;
    for (uint32_t s = 0; s < count; s++) {
        const Strip &strip = strips[s % strips.size()];
        blocks.add(file.data() + strip.from, strip.bytes);
    }
    return blocks.file();
}

// The text of a file that is valid.
Bytes text_of(const Bytes &file) {
    Bytes text(size_t(all_strips(file.data())) * kAllStrip);
    const std::vector<uint32_t> lengths = plain_decode(file, text.data(), true, true);
    if (std::any_of(lengths.begin(), lengths.end(), [](uint32_t one) { return one != kAllStrip; }))
        printf("a file with a damaged or short strip\n"), exit(1);
    return text;
}

bool is_right(const Device &device, const Bytes &text) {
    Bytes found(text.size());
    copy(found.data(), device.out, found.size(), cudaMemcpyDeviceToHost);
    return found == text;
}

} // namespace

int time_all(const char *path, uint32_t count) {
    const Bytes file = repeated(path, count), text = text_of(file);
    Pinned<uint8_t> in(file.size());
    memcpy(in.memory, file.data(), file.size());
    Device device(file.size(), count);
    const double gigabytes = double(text.size()) / 1e9;
    printf("ALL %s: %u strips, %zu bytes, ratio %.5f", path, count, text.size(),
           double(file.size()) / double(text.size()));
    bool right = true;
    for (const AllWay way : {kAllBytes, kAllSteps, kAllPlain}) {
        double best = 1e9, loaded = 1e9;
        for (int round = 0; round < 8; round++) {
            const auto start = Clock::now();
            copy(device.file, in.memory, file.size(), cudaMemcpyHostToDevice);
            const auto there = Clock::now();
            device.decode(file.size(), count, way);
            must(int(cudaStreamSynchronize(nullptr)), "all");
            best = std::min(best, seconds(there));
            loaded = std::min(loaded, seconds(start));
        }
        std::vector<uint32_t> lengths(count);
        copy(lengths.data(), device.lengths, size_t(count) * 4, cudaMemcpyDeviceToHost);
        const bool none = std::all_of(lengths.begin(), lengths.end(), [](uint32_t one) { return one == kAllStrip; });
        if (way == kAllPlain && !none) continue; // a file that needs the adaptive parts
        right &= is_right(device, text);
        printf("; %s %.3f ms, %.1f GB/s, with the upload %.1f", kNames[way], best * 1e3, gigabytes / best,
               gigabytes / loaded);
    }
    printf(": %s\n", right ? "right" : "WRONG");
    return !right;
}

// Table 5.6: from a disk, cold, into device memory. A: the text. B: its file, decoded on a core and on all. C: its
// file, decoded on the device.
int load_all(const char *path, uint32_t count, const std::string &folder) {
    const Bytes file = repeated(path, count), text = text_of(file);
    const std::string plain_name = folder + "/all-plain", coded_name = folder + "/all-coded";
    write_cold(plain_name, text);
    write_cold(coded_name, file);
    Pinned<uint8_t> in(std::max(file.size(), text.size()) + 4096), decoded(text.size());
    Device device(file.size(), count);
    const auto median = [&](const std::string &name, const std::function<void()> &run) {
        const double took = median_cold(name, run);
        const bool right = is_right(device, text);
        must(int(cudaMemsetAsync(device.out, 0x11, text.size(), nullptr)), "spoil");
        return right ? took : (printf("WRONG "), -1.0);
    };
    const double a = median(plain_name, [&] {
        read_cold(plain_name, in.memory, text.size());
        copy(device.out, in.memory, text.size(), cudaMemcpyHostToDevice);
    });
    double b[2];
    for (const bool all_cores : {false, true})
        b[all_cores] = median(coded_name, [&] {
            read_cold(coded_name, in.memory, file.size());
            const Bytes read(in.memory, in.memory + file.size());
            plain_decode(read, decoded.memory, true, all_cores);
            copy(device.out, decoded.memory, text.size(), cudaMemcpyHostToDevice);
        });
    const double c = median(coded_name, [&] {
        read_cold(coded_name, in.memory, file.size());
        copy(device.file, in.memory, file.size(), cudaMemcpyHostToDevice);
        device.decode(file.size(), count, kAllBytes);
    });
    printf("ALL %s from %s: %zu bytes, coded %zu: A %.2f ms, B on a core %.2f, on all %.2f, C %.2f\n", path,
           folder.c_str(), text.size(), file.size(), a, b[0], b[1], c);
    unlink(plain_name.c_str());
    unlink(coded_name.c_str());
    return a < 0 || b[0] < 0 || b[1] < 0 || c < 0;
}

} // namespace hybz
