// thrust_lines.cu: the time of a comparator sort on the device for a file's lines, as the thesis measured (table 4.2)
// and as cuDF sorted strings until 2026: thrust::sort of the lines' places by comparing their bytes.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 -cudart static -o thrust_lines theses/deshpande/cuda/thrust_lines.cu
//     ./thrust_lines FILE [RUNS]
//
// The text and the places are in device memory before the clock starts; it times the sort of the places alone, which
// moves no text. The order is checked on the host.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace {

struct Line {
    uint32_t from;
    uint32_t length;
};

// Four bytes at a time where both lines have them: byte by byte is 1.5 times slower, which would flatter hybz.
struct Less {
    const uint8_t *text;

    __device__ uint32_t word(uint32_t at) const {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(text) + at / 4;
        return __byte_perm(__funnelshift_r(words[0], words[1], at % 4 * 8), 0, 0x0123);
    }

    __device__ bool operator()(const Line &a, const Line &b) const {
        const uint32_t both = min(a.length, b.length);
        uint32_t at = 0;
        for (; at + 4 <= both; at += 4) {
            const uint32_t x = word(a.from + at), y = word(b.from + at);
            if (x != y) return x < y;
        }
        for (; at < both; at++) {
            const uint8_t x = text[a.from + at], y = text[b.from + at];
            if (x != y) return x < y;
        }
        return a.length < b.length;
    }
};

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: thrust_lines FILE [RUNS]\n"), 2;
    std::stringstream read;
    read << std::ifstream(argv[1], std::ios::binary).rdbuf();
    std::string text = read.str();
    if (text.empty() || text.size() > 0xfffffff0u) return fprintf(stderr, "no text, or 4 GiB of it\n"), 2;
    if (text.back() != '\n') text += '\n';
    thrust::host_vector<Line> lines;
    for (size_t from = 0, to; from < text.size(); from = to + 1) {
        to = text.find('\n', from);
        lines.push_back({uint32_t(from), uint32_t(to - from)});
    }
    thrust::device_vector<uint8_t> bytes(text.begin(), text.end());
    bytes.resize(text.size() + 8);
    const thrust::device_vector<Line> given(lines);
    thrust::device_vector<Line> sorted(given);
    double best = 1e9;
    for (int run = 0; run < (argc > 2 ? atoi(argv[2]) : 3); run++) {
        sorted = given;
        cudaDeviceSynchronize();
        const auto start = std::chrono::steady_clock::now();
        thrust::sort(thrust::device, sorted.begin(), sorted.end(), Less{thrust::raw_pointer_cast(bytes.data())});
        cudaDeviceSynchronize();
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    const thrust::host_vector<Line> result(sorted);
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < result.size(); i++) {
        const Line a = result[i ? i - 1 : 0], b = result[i];
        const int order = memcmp(&text[a.from], &text[b.from], std::min(a.length, b.length));
        if (order > 0 || (order == 0 && a.length > b.length))
            return fprintf(stderr, "line %zu is out of order\n", i), 1;
        before += lines[i].from * 31ull + lines[i].length;
        after += b.from * 31ull + b.length;
    }
    if (before != after) return fprintf(stderr, "lines are missing\n"), 1;
    printf("%zu lines, %zu bytes: %.2f ms, %.0f ps a line\n", lines.size(), text.size(), best,
           best * 1e9 / double(lines.size()));
}
