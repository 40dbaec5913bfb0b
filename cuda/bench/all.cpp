// all.cpp: strips of ALL that `theses funasaka cases` has written, decoded on a device; whole and damaged, against a
// plain twin.
#include "all.hpp"
#include "common.hpp"
#include <cuda_runtime.h>
#include <fstream>
#include <iterator>
#include <random>

namespace hybz {

namespace {

using Bytes = std::vector<uint8_t>;

struct Case {
    Bytes coded, text;
};

// For each strip: two numbers of 32 bits, the bytes of its code and of its text, and then both.
std::vector<Case> read_cases(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<Case> cases;
    for (uint32_t sizes[2]; file.read(reinterpret_cast<char *>(sizes), sizeof sizes);) {
        Case one{Bytes(sizes[0]), Bytes(sizes[1])};
        file.read(reinterpret_cast<char *>(one.coded.data()), long(sizes[0]));
        file.read(reinterpret_cast<char *>(one.text.data()), long(sizes[1]));
        if (!file) printf("cut cases\n"), exit(1);
        cases.push_back(std::move(one));
    }
    if (cases.empty()) printf("no cases\n"), exit(1);
    return cases;
}

// Decodes one word after the other. Returns whether the strip is valid.
bool plain_decode(const Bytes &in, size_t length, Bytes &out) {
    out.clear();
    size_t at = 0;
    while (out.size() < length) {
        if (in.size() - at < 8) return false;
        uint32_t flags[2];
        memcpy(flags, in.data() + at, 8);
        at += 8;
        const size_t start = out.size();
        for (int word = 0; word < 32 && out.size() < length; word++) {
            const size_t size = 1 + (flags[0] >> word & 1) + (flags[1] >> word & 1);
            if (in.size() - at < size) return false;
            uint32_t value = 0;
            memcpy(&value, in.data() + at, size);
            at += size;
            const uint32_t field = value >> 12, rest = value & 0xfff;
            size_t run = 0, copied = 0;
            if (size == 1) run = 1;
            else if (size == 2 && field == 0) run = (rest >> 8) + kAllShortRun;
            else if (size == 2) copied = field + 1;
            else if (field < kAllLongRuns) copied = field + kAllLongCopy;
            else run = ((field - kAllLongRuns) * 16 + (rest >> 8)) + kAllLongRun;
            if (run + copied > length - out.size()) return false;
            if (copied && (rest >= start || copied > rest + 1)) return false;
            for (size_t k = 0; k < copied; k++) out.push_back(out[start - rest - 1 + k]);
            out.insert(out.end(), run, uint8_t(value));
        }
    }
    return at == in.size();
}

struct Device {
    uint8_t *in = nullptr, *out = nullptr;
    AllStrip *strips = nullptr;
    uint32_t *status = nullptr, *next = nullptr;
    Device(size_t in_size, size_t out_size, size_t count) {
        const auto take = [](auto **memory, size_t bytes) {
            must(int(cudaMalloc(reinterpret_cast<void **>(memory), std::max<size_t>(bytes, 1))), "malloc");
        };
        take(&in, in_size);
        take(&out, out_size);
        take(&strips, count * sizeof(AllStrip));
        take(&status, count * 4);
        take(&next, 4);
    }
    Device(const Device &) = delete;
    ~Device() {
        for (void *memory : {static_cast<void *>(in), static_cast<void *>(out), static_cast<void *>(strips),
                             static_cast<void *>(status), static_cast<void *>(next)})
            cudaFree(memory);
    }
};

void copy(void *to, const void *from, size_t size, cudaMemcpyKind way) {
    must(int(cudaMemcpyAsync(to, from, size, way, nullptr)), "copy");
    must(int(cudaStreamSynchronize(nullptr)), "copy");
}

// Strips with gaps of 64 bytes between them, where nothing may be written.
struct Job {
    std::vector<AllStrip> strips;
    std::vector<bool> damaged;
    Bytes in, want;

    void add(const Bytes &coded, size_t length) {
        Bytes text;
        const bool right = plain_decode(coded, length, text);
        in.resize(in.size() + 64, 0xee);
        want.resize(want.size() + 64, 0x11);
        strips.push_back({in.size(), want.size(), uint32_t(coded.size()), uint32_t(length)});
        damaged.push_back(!right);
        in.insert(in.end(), coded.begin(), coded.end());
        if (right) want.insert(want.end(), text.begin(), text.end());
        want.resize(strips.back().to + length, 0x11);
    }

    int run() {
        in.resize(in.size() + 64, 0xee);
        want.resize(want.size() + 64, 0x11);
        return run_as_is();
    }

    // Runs some of the strips, each in memory of exactly its size, for tools that check memory bounds.
    int run_alone(size_t most) const {
        int wrong = 0;
        for (size_t s = 0; s < strips.size(); s += 1 + strips.size() / most) {
            const auto codes = in.begin() + long(strips[s].from), text = want.begin() + long(strips[s].to);
            Job one;
            one.strips = {{0, 0, strips[s].coded, strips[s].length}};
            one.damaged = {damaged[s]};
            one.in.assign(codes, codes + strips[s].coded);
            one.want.assign(text, text + strips[s].length);
            wrong += one.run_as_is();
        }
        return wrong;
    }

  private:
    int run_as_is() {
        const size_t count = strips.size();
        Device device(in.size(), want.size(), count);
        Bytes got(want.size(), 0x11);
        std::vector<uint32_t> status(count, 7);
        copy(device.out, got.data(), got.size(), cudaMemcpyHostToDevice);
        copy(device.in, in.data(), in.size(), cudaMemcpyHostToDevice);
        copy(device.strips, strips.data(), count * sizeof(AllStrip), cudaMemcpyHostToDevice);
        must(decode_all(device.in, device.strips, uint32_t(count), device.out, device.status, device.next), "all");
        copy(status.data(), device.status, count * 4, cudaMemcpyDeviceToHost);
        copy(got.data(), device.out, got.size(), cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (size_t s = 0; s < count; s++) {
            if (damaged[s]) memset(got.data() + strips[s].to, 0x11, strips[s].length);
            if (status[s] != uint32_t(damaged[s])) printf("WRONG strip %zu: status %u\n", s, status[s]), wrong++;
        }
        if (got != want) printf("WRONG bytes\n"), wrong++;
        return wrong;
    }
};

} // namespace

int check_all(const char *path) {
    const std::vector<Case> cases = read_cases(path);
    std::mt19937 random(3);
    Job job;
    int wrong = 0;
    Bytes text;
    for (size_t c = 0; c < cases.size() && c < 300; c++) {
        const Bytes &coded = cases[c].coded;
        const size_t length = cases[c].text.size();
        if (!plain_decode(coded, length, text) || text != cases[c].text) printf("WRONG twin: %zu\n", c), wrong++;
        job.add(coded, length);
        job.add(coded, length + 1);
        if (length) job.add(coded, length - 1);
        for (int k = 0; k < 12 && !coded.empty(); k++) {
            Bytes spoilt = coded;
            for (uint32_t n = 1 + random() % 2; n > 0; n--)
                spoilt[random() % (k % 2 ? std::min<size_t>(spoilt.size(), 60) : spoilt.size())] = uint8_t(random());
            job.add(spoilt, length);
            job.add(Bytes(coded.begin(), coded.begin() + long(random() % coded.size())), length);
        }
    }
    for (uint32_t round = 0; round < 500; round++) {
        Bytes noise(random() % 400);
        for (uint8_t &byte : noise) byte = uint8_t(random() & random() & (round % 3 ? 0xff : random()));
        job.add(noise, random() % 3000);
    }
    wrong += job.run() + job.run_alone(400);
    printf("%zu strips of ALL, %d wrong\n", job.strips.size(), wrong);
    return wrong != 0;
}

int time_all(const char *path, uint32_t count) {
    const std::vector<Case> cases = read_cases(path);
    std::vector<AllStrip> strips;
    size_t in_size = 0, out_size = 0;
    for (uint32_t s = 0; s < count; s++) {
        const Case &one = cases[s % cases.size()];
        strips.push_back({in_size, out_size, uint32_t(one.coded.size()), uint32_t(one.text.size())});
        in_size += one.coded.size();
        out_size += one.text.size();
    }
    Pinned<uint8_t> in(in_size), got(out_size);
    for (uint32_t s = 0; s < count; s++)
        memcpy(in.memory + strips[s].from, cases[s % cases.size()].coded.data(), strips[s].coded);
    Device device(in_size, out_size, count);
    copy(device.strips, strips.data(), count * sizeof(AllStrip), cudaMemcpyHostToDevice);
    double best = 1e9, loaded = 1e9, plain = 1e9;
    for (int round = 0; round < 8; round++) {
        const auto start = Clock::now();
        copy(device.in, in.memory, in_size, cudaMemcpyHostToDevice);
        const auto there = Clock::now();
        must(decode_all(device.in, device.strips, count, device.out, device.status, device.next), "all");
        must(int(cudaStreamSynchronize(nullptr)), "all");
        best = std::min(best, seconds(there));
        loaded = std::min(loaded, seconds(start));
    }
    std::vector<uint32_t> status(count);
    copy(status.data(), device.status, count * 4, cudaMemcpyDeviceToHost);
    copy(got.memory, device.out, out_size, cudaMemcpyDeviceToHost);
    bool right = std::all_of(status.begin(), status.end(), [](uint32_t one) { return one == 0; });
    for (uint32_t s = 0; s < count; s++)
        right &= memcmp(got.memory + strips[s].to, cases[s % cases.size()].text.data(), strips[s].length) == 0;
    for (int round = 0; round < 4; round++) {
        const auto start = Clock::now();
        copy(device.out, got.memory, out_size, cudaMemcpyHostToDevice);
        plain = std::min(plain, seconds(start));
    }
    const auto rate = [&](double time) { return double(out_size) / time / 1e9; };
    printf("ALL %s: %u strips, %zu bytes, ratio %.2f: %.3f ms, %.1f GB/s; with the upload %.1f; plain %.1f: %s\n", path,
           count, out_size, double(out_size) / double(in_size), best * 1e3, rate(best), rate(loaded), rate(plain),
           right ? "right" : "WRONG");
    return !right;
}

} // namespace hybz
