// The kernel on a CPU, for tests/device.rs: batches come from standard input, answers go to standard output, until the
// input ends. Compiled with the header that stands in for CUDA's, of cuda/sim/emulated:
//
//     g++ -std=c++17 -O2 -Wno-unknown-pragmas -I cuda/sim/emulated -o emulated theses/dither/cuda/emulated.cpp
//
// A batch: six numbers of 64 bits (slabs, strips, bytes of the input, bytes of the output, CTAs, warps of each), the
// table, the input. An answer: the output. The output is zeroed before, as a GPU's is. CTAs run one after another,
// their warps concurrently, in a random order: with several warps, strips wait for each other. All arrays are
// surrounded by garbage: reading it gives wrong pixels, and writing to it aborts.
#include <cuda_runtime.h>
#include <unistd.h>
inline void __threadfence() {}
#include "dither.cu"

static bool read_all(void *to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }

template <class T> struct Guarded {
    static const size_t FENCE = 4096;
    size_t size;
    std::vector<T> all;
    explicit Guarded(size_t size) : size(size), all(FENCE + size + FENCE, T(0xA5A5A5A5u)) {
        std::fill_n(data(), size, T(0));
    }
    T *data() { return all.data() + FENCE; }
    bool is_whole() {
        const auto intact = [](T value) { return value == T(0xA5A5A5A5u); };
        return std::all_of(all.begin(), all.begin() + FENCE, intact) &&
               std::all_of(all.end() - FENCE, all.end(), intact);
    }
};

int main() {
    uint64_t head[6];
    while (read_all(head, sizeof head)) {
        std::vector<slab> slabs(head[0]);
        Guarded<uint8_t> in(head[2]), out(head[3]);
        Guarded<uint32_t> control(1 + head[1]);
        if (!read_all(slabs.data(), slabs.size() * sizeof(slab)) || !read_all(in.data(), in.size)) return 1;
        alarm(60); // ends a kernel that waits for ever
        emulated::launch(nullptr, dither_slabs, dim3(unsigned(head[4])), unsigned(32 * head[5]), slabs.data(),
                         uint32_t(head[0]), uint32_t(head[1]), (const uint8_t *)in.data(), out.data(), control.data());
        alarm(0);
        if (!in.is_whole() || !out.is_whole() || !control.is_whole()) {
            fprintf(stderr, "the kernel wrote beyond its arrays\n");
            abort();
        }
        if (fwrite(out.data(), 1, out.size, stdout) != out.size || fflush(stdout)) return 1;
    }
    return 0;
}
