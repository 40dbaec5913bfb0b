// common.hpp: what the kernels of the theses share: memory of a device, a clock, suffixes in order, texts.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

namespace theses {

using Text = std::vector<uint8_t>;

constexpr cudaStream_t stream = nullptr;
constexpr uint32_t kNone = ~0u;

inline void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

// Memory of a device.
template <class T> struct Memory {
    T *at = nullptr;
    size_t count;
    explicit Memory(size_t count) : count(count) {
        void *memory;
        must(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)), "memory");
        at = static_cast<T *>(memory);
    }
    explicit Memory(const std::vector<T> &values) : Memory(values.size()) { put(values); }
    Memory(const Memory &) = delete;
    ~Memory() { cudaFree(at); }
    void put(const std::vector<T> &values) {
        must(cudaMemcpyAsync(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream), "copy");
        must(cudaStreamSynchronize(stream), "copy");
    }
    std::vector<T> get() const {
        std::vector<T> values(count);
        must(cudaMemcpyAsync(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "copy");
        must(cudaStreamSynchronize(stream), "copy");
        return values;
    }
};

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Milliseconds of the fastest of some runs, each from an idle device until it is idle again.
template <class Run> double best_ms(Run run) {
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        must(cudaStreamSynchronize(stream), "wait");
        const double start = now();
        run();
        must(cudaStreamSynchronize(stream), "wait");
        best = std::min(best, 1e3 * (now() - start));
    }
    must(cudaGetLastError(), "launch");
    return best;
}

inline uint32_t blocks_for(uint64_t count, uint32_t each) { return uint32_t((count + each - 1) / each); }

// Ends the program: a kernel's answer is not the plain twin's.
inline void check(bool right, const char *what) {
    if (right) return;
    printf("WRONG: %s\n", what);
    exit(1);
}

// The rotations of a text in order, by doubling on the device (suffixes.cu). A shorter rotation that is a prefix of the
// next never occurs in texts that are not periodic.
std::vector<uint32_t> rotations(const Text &text);
// The same of suffixes: the end of the text is smaller than every byte.
std::vector<uint32_t> suffixes(const Text &text);

struct Bwt {
    Text last;
    uint32_t origin; // the row of the text itself
};
Bwt transform(const Text &text);

// A text's move-to-front indices, by one core.
Text plain_mtf(const Text &text);

int reverse_bwt(const Text &text);
int move_to_front(const Text &text);
int huffman(const Text &text);
int nearest_smaller(const Text &text);
// `path`: where a TIFF file of the strips is written, or null.
int lzw(const Text &text, const char *path);

} // namespace theses
