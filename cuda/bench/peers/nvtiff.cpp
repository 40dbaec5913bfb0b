// nvtiff.cpp: NVIDIA's decoder of TIFF files on the strips that `bench lzw FILE STRIPS BYTES` decodes:
//
//     nvtiff FILE STRIPS
//
// An image of 1,024 columns, 64 rows of it in a strip of 64 KiB, from a file in host memory to device memory. Its time
// includes parsing the file and uploading it. Needs the package nvidia-nvtiff-cu13 (0.8); WHEEL is its directory:
//     nvcc -std=c++17 -O3 -I $WHEEL/nvidia/nvtiff/include -cudart static nvtiff.cpp
//         -Xlinker $WHEEL/nvidia/nvtiff/lib/libnvtiff.so.0
#include "../lzw_codes.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fstream>
#include <iterator>
#include <nvtiff.h>

using namespace hybz;
using Clock = std::chrono::steady_clock;

static void must(int code, const char *what) {
    if (code == 0) return;
    printf("nvtiff: %s: %d\n", what, code);
    exit(1);
}

static Bytes tiff_of(const std::vector<Bytes> &coded, uint32_t count) {
    Bytes file{'I', 'I', 42, 0, 0, 0, 0, 0};
    const auto put = [&](uint32_t value, int bytes) {
        for (int k = 0; k < bytes; k++) file.push_back(uint8_t(value >> 8 * k));
    };
    std::vector<uint32_t> offsets;
    for (uint32_t s = 0; s < count; s++) {
        const Bytes &strip = coded[s % coded.size()];
        offsets.push_back(uint32_t(file.size()));
        file.insert(file.end(), strip.begin(), strip.end());
    }
    const uint32_t offset_table = uint32_t(file.size());
    for (const uint32_t offset : offsets) put(offset, 4);
    const uint32_t size_table = uint32_t(file.size());
    for (uint32_t s = 0; s < count; s++) put(uint32_t(coded[s % coded.size()].size()), 4);
    const uint32_t directory = uint32_t(file.size());
    for (int k = 0; k < 4; k++) file[4 + size_t(k)] = uint8_t(directory >> 8 * k);
    const uint32_t entries[][4] = {{256, 4, 1, 1024}, {257, 4, 1, count * 64},   {258, 3, 1, 8},
                                   {259, 3, 1, 5},    {262, 3, 1, 1},            {273, 4, count, offset_table},
                                   {277, 3, 1, 1},    {278, 4, 1, 64},           {279, 4, count, size_table}};
    put(9, 2);
    for (const auto &entry : entries) {
        put(entry[0], 2);
        put(entry[1], 2);
        put(entry[2], 4);
        put(entry[3], 4);
    }
    put(0, 4);
    return file;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    constexpr uint32_t kSize = 65536;
    const uint32_t count = uint32_t(atoi(argv[2]));
    std::ifstream input(argv[1], std::ios::binary);
    const Bytes text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
    std::vector<Bytes> coded;
    for (size_t p = 0; p < std::min<size_t>(count, text.size() / kSize); p++)
        coded.push_back(encode(text.data() + p * kSize, kSize));
    const Bytes file = tiff_of(coded, count);
    uint8_t *pinned = nullptr, *out = nullptr;
    const size_t out_size = size_t(count) * kSize;
    must(cudaHostAlloc(reinterpret_cast<void **>(&pinned), file.size(), cudaHostAllocDefault), "pinned");
    memcpy(pinned, file.data(), file.size());
    must(cudaMalloc(reinterpret_cast<void **>(&out), out_size), "malloc");
    must(cudaMemset(out, 0x11, out_size), "memset");
    cudaStream_t stream;
    cudaEvent_t begin, end;
    must(cudaStreamCreate(&stream), "stream");
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    nvtiffDecoder_t decoder;
    nvtiffDecodeParams_t params;
    must(nvtiffDecoderCreateSimple(&decoder, stream), "decoder");
    must(nvtiffDecodeParamsCreate(&params), "params");
    double best = 1e9, best_decode = 1e9;
    float best_events = 1e9;
    for (int round = 0; round < 8; round++) {
        const auto start = Clock::now();
        nvtiffStream_t tiff;
        must(nvtiffStreamOpen(pinned, file.size(), &tiff), "open");
        nvtiffImageInfo_t info;
        must(nvtiffStreamGetImageInfo(tiff, 0, &info), "info");
        void *plane = out;
        size_t pitch = 1024;
        nvtiffImage_t image{&plane, &pitch, 1};
        const auto parsed = Clock::now();
        must(cudaEventRecord(begin, stream), "record");
        must(nvtiffDecode(tiff, decoder, params, &image, stream), "decode");
        must(cudaEventRecord(end, stream), "record");
        must(cudaStreamSynchronize(stream), "synchronize");
        const auto done = Clock::now();
        float ms = 0;
        must(cudaEventElapsedTime(&ms, begin, end), "elapsed");
        best = std::min(best, std::chrono::duration<double>(done - start).count());
        best_decode = std::min(best_decode, std::chrono::duration<double>(done - parsed).count());
        best_events = std::min(best_events, ms);
        must(nvtiffStreamClose(tiff), "close");
    }
    Bytes got(out_size);
    must(cudaMemcpy(got.data(), out, out_size, cudaMemcpyDeviceToHost), "copy");
    bool right = true;
    for (uint32_t s = 0; s < count; s++)
        right &= memcmp(got.data() + size_t(s) * kSize, text.data() + s % coded.size() * kSize, kSize) == 0;
    printf("nvTIFF %s: %u strips: all %.3f ms, %.1f GB/s; without parsing %.1f GB/s; device %.1f GB/s: %s\n", argv[1],
           count, best * 1e3, double(out_size) / best / 1e9, double(out_size) / best_decode / 1e9,
           double(out_size) / best_events / 1e6, right ? "right" : "WRONG");
    return !right;
}
