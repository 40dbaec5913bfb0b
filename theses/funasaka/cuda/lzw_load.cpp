// lzw_load.cpp: tables 4.8 and 4.9: strips of LZW in device memory; and an image from a disk, cold, into device memory.
// A: the image. B: its strips of LZW, decoded on a core and on all. C: its strips, decoded on the device.
#include "../../../cuda/bench/common.hpp"
#include "cold.hpp"
#include "lzw_codes.hpp"
#include <cuda_runtime.h>
#include <fstream>
#include <iterator>

namespace hybz {

namespace {

struct Image {
    Bytes text, coded;
    std::vector<hybz_lzw_strip> strips;
    uint32_t row; // 0: no differences

    // Strips of `size` bytes; rows hold differences of pixels of a byte.
    Image(const Bytes &given, uint32_t size, uint32_t row) : text(given.begin(), given.end()), row(row) {
        text.resize(text.size() / size * size);
        for (size_t at = 0; at < text.size(); at += size) {
            Bytes strip(text.begin() + long(at), text.begin() + long(at + size));
            for (size_t i = size; row && i-- > 0;)
                if (i % row) strip[i] -= strip[i - 1];
            const Bytes codes = encode(strip.data(), size);
            strips.push_back({coded.size(), at, uint32_t(codes.size()), size});
            coded.insert(coded.end(), codes.begin(), codes.end());
        }
    }

    void decode(const uint8_t *from, uint8_t *to, size_t s) const {
        static thread_local Bytes own;
        own.resize(strips[s].length + 32); // quick_decode writes past the end
        quick_decode(from + strips[s].from, own.data(), strips[s].length);
        for (uint32_t i = 0; row && i < strips[s].length; i++)
            if (i % row) own[i] += own[i - 1];
        memcpy(to + strips[s].to, own.data(), strips[s].length);
    }
};

void load(const Image &image, const char *path, const std::string &folder) {
    const std::string plain_name = folder + "/lzw-plain", coded_name = folder + "/lzw-coded";
    const size_t plain = image.text.size(), coded = image.coded.size();
    const uint32_t count = uint32_t(image.strips.size());
    write_cold(plain_name, image.text);
    write_cold(coded_name, image.coded);
    Pinned<uint8_t> in(std::max(plain, coded) + 4096), decoded(plain + 32);
    uint8_t *device_in = nullptr, *out = nullptr;
    must(int(cudaMalloc(reinterpret_cast<void **>(&device_in), coded)), "malloc");
    must(int(cudaMalloc(reinterpret_cast<void **>(&out), plain)), "malloc");
    const Lane lane(count, uint32_t(coded), HYBZ_STRIPS);
    must(hybz_lane_differences(lane.lane, 1, image.row), "differences");
    std::vector<hybz_lzw_found> found(count);
    const auto send = [](void *to, const void *from, size_t size) { copy(to, from, size, cudaMemcpyHostToDevice); };
    const auto median = [&](const std::string &name, const std::function<void()> &run) {
        const double took = median_cold(name, run);
        Bytes got(plain);
        copy(got.data(), out, plain, cudaMemcpyDeviceToHost);
        must(int(cudaMemsetAsync(out, 0x11, plain, nullptr)), "spoil");
        must(int(cudaStreamSynchronize(nullptr)), "spoil");
        if (got != image.text) printf("WRONG %s\n", name.c_str()), exit(1);
        return took;
    };
    const double a = median(plain_name, [&] {
        read_cold(plain_name, in.memory, plain);
        send(out, in.memory, plain);
    });
    const double core = median(coded_name, [&] {
        read_cold(coded_name, in.memory, coded);
        for (uint32_t s = 0; s < count; s++) image.decode(in.memory, decoded.memory, s);
        send(out, decoded.memory, plain);
    });
    const double cores = median(coded_name, [&] {
        read_cold(coded_name, in.memory, coded);
        parallel(count, [&](size_t s) { image.decode(in.memory, decoded.memory, s); });
        send(out, decoded.memory, plain);
    });
    const double c = median(coded_name, [&] {
        read_cold(coded_name, in.memory, coded);
        send(device_in, in.memory, coded);
        must(hybz_lane_strips(lane.lane, nullptr, device_in, coded, image.strips.data(), count, out, plain, nullptr,
                              found.data(), kTimeout),
             "lzw");
    });
    printf("LZW %s%s from %s: %zu bytes, coded %zu: A %.2f ms, B on a core %.2f, on all %.2f, C %.2f\n", path,
           image.row ? " with differences" : "", folder.c_str(), plain, coded, a, core, cores, c);
    cudaFree(device_in);
    cudaFree(out);
    unlink(plain_name.c_str());
    unlink(coded_name.c_str());
}

} // namespace

int load_lzw(const char *path, uint32_t size, uint32_t row, const std::string &folder) {
    std::ifstream file(path, std::ios::binary);
    const Bytes text{std::istreambuf_iterator<char>(file), {}};
    if (size == 0 || row == 0 || size % row || text.size() < size) return printf("%s has no rows\n", path), 1;
    for (const uint32_t differences : {0u, row}) load(Image(text, size, differences), path, folder);
    return 0;
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
    const Lane lane(count, uint32_t(in_size), HYBZ_STRIPS);
    double best = 1e9, loaded = 1e9, core = 1e9;
    for (int round = 0; round < 8; round++) {
        const auto start = Clock::now();
        copy(device_in.memory, in.memory, in_size, cudaMemcpyHostToDevice);
        const auto there = Clock::now();
        must(hybz_lane_strips(lane.lane, nullptr, device_in.memory, in_size, strips.data(), count, out.memory,
                              out_size, nullptr, found.data(), kTimeout),
             "lzw");
        best = std::min(best, seconds(there));
        loaded = std::min(loaded, seconds(start));
    }
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
