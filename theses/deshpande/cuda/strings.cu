// strings.cu: the thesis's string sort (chapter 4, algorithm 3) with today's primitives, for its tables.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 -cudart static -o strings theses/deshpande/cuda/strings.cu
//     ./strings FILE [RUNS]    sorts the file's lines in three variants: numbers of segments of as few bytes as needed,
//                              numbers of 4 bytes, and these with single strings sorted to their end
//     ./strings keys [COUNT]   figure 4.3: sorts keys of 1 to 16 bytes
//
// A key has 8 bytes: the number of the string's segment (none in the first step, then 1 to 4 bytes), and its next
// characters with the null that ends it. After each sort, single strings and those whose null is in the key are final;
// the others are listed and numbered by a scan, and get new keys. The times, in milliseconds, are the thesis's: setup
// (memory and transfers), sorts, scans and scatters, and the other kernels. The order is checked on the host.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#ifdef __CUDACC__
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kThreads = 256;
constexpr uint64_t kSegment = uint64_t(1) << 32; // in a place: a segment begins

void must(cudaError_t error) {
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class T> struct Memory {
    T *at = nullptr;
    explicit Memory(size_t count) { must(cudaMalloc(reinterpret_cast<void **>(&at), count * sizeof(T) + 16)); }
    ~Memory() { cudaFree(at); }
    Memory(const Memory &) = delete;
};

// Adds up the time between events.
struct Timer {
    cudaEvent_t begin, end;
    cudaStream_t stream = nullptr;
    double ms[3] = {};
    Timer() { must(cudaEventCreate(&begin)), must(cudaEventCreate(&end)); }
    ~Timer() { cudaEventDestroy(begin), cudaEventDestroy(end); }
    template <class Step> void time(int which, Step step) {
        float took = 0;
        must(cudaEventRecord(begin, stream));
        step();
        must(cudaEventRecord(end, stream));
        must(cudaStreamSynchronize(stream));
        must(cudaEventElapsedTime(&took, begin, end));
        ms[which] += took;
    }
};
enum { kSort, kScan, kKernels };

struct AddPlaces {
    __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

// Unaligned words make one load of eight characters.
__device__ uint64_t eight_characters(const uint8_t *text, uint32_t at) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(text) + at / 8;
    const uint32_t shift = at % 8 * 8;
    return shift ? words[0] >> shift | words[1] << (64 - shift) : words[0];
}

// The keys of the listed strings, whose values are the places where they begin.
__global__ void load_kernel(uint32_t count, const uint8_t *text, const uint32_t *values, const uint32_t *segments,
                            uint32_t offset, int number_bytes, uint64_t *keys) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    uint64_t rest = eight_characters(text, values[k] + offset), key = 0;
    const int characters = 8 - number_bytes;
    for (int i = 0; i < characters && (rest & 255); i++, rest >>= 8) key |= (rest & 255) << (8 * (characters - 1 - i));
    keys[k] = number_bytes ? uint64_t(segments[k]) << (8 * characters) | key : key;
}

// Final strings go to their rows; the others are marked, and where a segment begins.
__global__ void mark_kernel(uint32_t count, const uint64_t *keys, const uint32_t *values, const uint32_t *rows,
                            bool keep, uint32_t *order, uint64_t *places, uint32_t *tied) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    bool open = false;
    if (j < count) {
        const uint64_t key = keys[j];
        const bool begins = j == 0 || keys[j - 1] != key, ends = j + 1 == count || keys[j + 1] != key;
        const bool whole = (key & 255) == 0, single = begins && ends;
        const bool listed = !whole && (keep || !single);
        open = !whole && !single;
        places[j] = listed ? 1 | (begins ? kSegment : 0) : 0;
        if (!listed || single) order[rows[j]] = values[j];
    }
    const int all = __syncthreads_count(open);
    if (threadIdx.x == 0 && all) atomicAdd(tied, uint32_t(all));
}

// Lists the marked strings, whose places have been summed up.
__global__ void scatter_kernel(uint32_t count, const uint64_t *places, const uint32_t *values, const uint32_t *rows,
                               uint32_t *new_values, uint32_t *new_rows, uint32_t *segments) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= count) return;
    const uint64_t place = places[j];
    const uint32_t k = uint32_t(place);
    if (k == (j ? uint32_t(places[j - 1]) : 0)) return;
    new_values[k - 1] = values[j];
    new_rows[k - 1] = rows[j];
    segments[k - 1] = uint32_t(place >> 32) - 1;
}

__global__ void number_kernel(uint32_t count, uint32_t *rows) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j < count) rows[j] = j;
}

struct Result {
    uint32_t steps = 0;
    double setup = 0, ms[3] = {};
    double total() const { return setup + ms[kSort] + ms[kScan] + ms[kKernels]; }
};

unsigned grid(uint32_t count) { return (count + kThreads - 1) / kThreads; }

// Sorts strings that begin at `begin` and end with nulls. `order`: out, where they begin in their order.
Result sort_strings(const std::string &text, const std::vector<uint32_t> &begin, bool fixed, bool keep,
                    std::vector<uint32_t> &order) {
    Result result;
    const auto start = Clock::now();
    const size_t n = begin.size();
    Memory<uint8_t> characters(text.size() + 16);
    Memory<uint64_t> keys_a(n), keys_b(n), places(n);
    Memory<uint32_t> values_a(n), values_b(n), rows_a(n), rows_b(n), segments(n), sorted(n), tied(1);
    size_t for_sort = 0, for_scan = 0;
    uint64_t *const key[2] = {keys_a.at, keys_b.at};
    uint32_t *const value[2] = {values_a.at, values_b.at};
    cub::DoubleBuffer<uint64_t> keys(key[0], key[1]);
    cub::DoubleBuffer<uint32_t> values(value[0], value[1]);
    must(cub::DeviceRadixSort::SortPairs(nullptr, for_sort, keys, values, int(n), 0, 64, nullptr));
    must(cub::DeviceScan::InclusiveScan(nullptr, for_scan, places.at, places.at, AddPlaces{}, int(n), nullptr));
    Memory<uint8_t> temporary(std::max(for_sort, for_scan));
    const cudaStream_t stream = nullptr;
    must(cudaMemsetAsync(characters.at + text.size(), 0, 16, stream));
    must(cudaMemcpyAsync(characters.at, text.data(), text.size(), cudaMemcpyHostToDevice, stream));
    must(cudaMemcpyAsync(values_a.at, begin.data(), n * 4, cudaMemcpyHostToDevice, stream));
    number_kernel<<<grid(uint32_t(n)), kThreads, 0, stream>>>(uint32_t(n), rows_a.at);
    must(cudaStreamSynchronize(stream));
    result.setup = ms_since(start);

    Timer timer;
    uint32_t *rows = rows_a.at, *other_rows = rows_b.at, count = uint32_t(n), groups = 1, offset = 0;
    for (int number_bytes = fixed ? 4 : 0;;) {
        timer.time(kKernels, [&] {
            if (result.steps == 0) must(cudaMemsetAsync(segments.at, 0, n * 4, stream));
            load_kernel<<<grid(count), kThreads, 0, stream>>>(count, characters.at, value[values.selector],
                                                             segments.at, offset, number_bytes,
                                                             key[keys.selector]);
        });
        timer.time(kSort, [&] {
            size_t bytes = for_sort;
            must(cub::DeviceRadixSort::SortPairs(temporary.at, bytes, keys, values, int(count), 0, 64, stream));
        });
        result.steps++;
        const uint32_t *from = value[values.selector];
        timer.time(kKernels, [&] {
            must(cudaMemsetAsync(tied.at, 0, 4, stream));
            mark_kernel<<<grid(count), kThreads, 0, stream>>>(count, key[keys.selector], from, rows, keep,
                                                             sorted.at, places.at, tied.at);
        });
        timer.time(kScan, [&] {
            size_t bytes = for_scan;
            must(cub::DeviceScan::InclusiveScan(temporary.at, bytes, places.at, places.at, AddPlaces{}, int(count),
                                                stream));
        });
        uint64_t last = 0;
        uint32_t open = 0;
        must(cudaMemcpyAsync(&last, places.at + count - 1, 8, cudaMemcpyDeviceToHost, stream));
        must(cudaMemcpyAsync(&open, tied.at, 4, cudaMemcpyDeviceToHost, stream));
        must(cudaStreamSynchronize(stream));
        if (open == 0) break;
        timer.time(kScan, [&] {
            scatter_kernel<<<grid(count), kThreads, 0, stream>>>(count, places.at, from, rows,
                                                                value[1 - values.selector], other_rows,
                                                                segments.at);
        });
        values.selector = 1 - values.selector;
        std::swap(rows, other_rows);
        count = uint32_t(last);
        groups = uint32_t(last >> 32);
        offset += uint32_t(8 - number_bytes);
        if (!fixed) {
            number_bytes = 1;
            while (number_bytes < 4 && (groups - 1) >> (8 * number_bytes)) number_bytes++;
        }
    }
    const auto after = Clock::now();
    order.resize(n);
    must(cudaMemcpyAsync(order.data(), sorted.at, n * 4, cudaMemcpyDeviceToHost, stream));
    must(cudaStreamSynchronize(stream));
    result.setup += ms_since(after);
    std::copy(timer.ms, timer.ms + 3, result.ms);
    return result;
}

// By 16 threads: one alone takes longer than all runs.
bool is_sorted(const std::string &text, const std::vector<uint32_t> &begin, const std::vector<uint32_t> &order) {
    std::atomic<uint64_t> difference{0};
    std::atomic<bool> right{true};
    std::vector<std::thread> threads;
    const size_t parts = 16;
    const auto check = [&](size_t part) {
        uint64_t mine = 0;
        const auto mixed = [](uint64_t place) { return (place ^ place >> 7) * 0x9e3779b97f4a7c15; };
        for (size_t i = order.size() * part / parts; i < order.size() * (part + 1) / parts; i++) {
            if (order[i] >= text.size() || (i && order[i - 1] < text.size() &&
                                            strcmp(&text[order[i - 1]], &text[order[i]]) > 0))
                right = false;
            mine += mixed(order[i]) - mixed(begin[i]);
        }
        difference += mine;
    };
    for (size_t part = 0; part < parts; part++) threads.emplace_back(check, part);
    for (std::thread &thread : threads) thread.join();
    return right && difference == 0;
}

// Millions of random keys of `Key` a second, of which `bits` are sorted, with values of 4 bytes.
template <class Key> double rate(uint32_t count, int bits) {
    std::vector<Key> random(count);
    uint64_t state = 1;
    for (Key &key : random) key = Key((state = state * 6364136223846793005u + 1442695040888963407u) >> 7);
    Memory<Key> a(count), b(count);
    Memory<uint32_t> c(count), d(count);
    double best = 1e30;
    for (int run = 0; run < 4; run++) {
        cub::DoubleBuffer<Key> keys(a.at, b.at);
        cub::DoubleBuffer<uint32_t> values(c.at, d.at);
        size_t bytes = 0;
        must(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, int(count), 0, bits, nullptr));
        Memory<uint8_t> temporary(bytes);
        must(cudaMemcpyAsync(a.at, random.data(), count * sizeof(Key), cudaMemcpyHostToDevice, nullptr));
        Timer timer;
        timer.time(kSort, [&] {
            must(cub::DeviceRadixSort::SortPairs(temporary.at, bytes, keys, values, int(count), 0, bits, nullptr));
        });
        best = std::min(best, timer.ms[kSort]);
    }
    return count / best / 1e3;
}

#ifdef __CUDACC__
// A key of 9 to 16 bytes, for which Thrust has no radix sort.
struct Wide {
    uint64_t high, low;
};
struct LessWide {
    __host__ __device__ bool operator()(const Wide &a, const Wide &b) const {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
};

double wide_rate(uint32_t count, int length) {
    std::vector<Wide> random(count);
    uint64_t state = 1;
    const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 7; };
    // `length` bytes are left after the leading ones that are the same.
    for (Wide &key : random) key = {next() & (~uint64_t(0) >> (8 * (16 - length) % 64)), next() << 7};
    Memory<Wide> keys(count);
    Memory<uint32_t> values(count);
    double best = 1e30;
    for (int run = 0; run < 4; run++) {
        must(cudaMemcpyAsync(keys.at, random.data(), count * sizeof(Wide), cudaMemcpyHostToDevice, nullptr));
        Timer timer;
        timer.time(kSort, [&] {
            thrust::sort_by_key(thrust::device, thrust::device_ptr<Wide>(keys.at),
                                thrust::device_ptr<Wide>(keys.at) + count, thrust::device_ptr<uint32_t>(values.at),
                                LessWide{});
        });
        best = std::min(best, timer.ms[kSort]);
    }
    return count / best / 1e3;
}
#else
double wide_rate(uint32_t, int) { return 0; }
#endif

void time_keys(uint32_t count) {
    printf("keys,bytes,MKeys/s,ps_a_key_byte\n");
    for (int length = 1; length <= 16; length++) {
        const int bits = 8 * length;
        const double found = length == 1   ? rate<uint8_t>(count, bits)
                             : length == 2 ? rate<uint16_t>(count, bits)
                             : length <= 4 ? rate<uint32_t>(count, bits)
                             : length <= 8 ? rate<uint64_t>(count, bits)
                                           : wide_rate(count, length);
        printf("%u,%d,%.0f,%.2f\n", count, length, found, 1e6 / found / length);
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) return printf("usage: strings FILE [RUNS] or strings keys [COUNT]\n"), 2;
    if (argv[1] == std::string("keys")) {
        if (argc > 2) return time_keys(uint32_t(atol(argv[2]))), 0;
        for (const uint32_t millions : {1, 3, 10, 30}) time_keys(millions * 1000000);
        return 0;
    }
    std::string text;
    if (FILE *file = fopen(argv[1], "rb")) {
        fseek(file, 0, SEEK_END);
        text.resize(size_t(ftell(file)));
        fseek(file, 0, SEEK_SET);
        text.resize(fread(&text[0], 1, text.size(), file));
        fclose(file);
    }
    if (text.empty() || text.size() > 0xffffff00u || text.back() != '\n' || memchr(text.data(), 0, text.size()))
        return printf("no lines, nulls in them, or 4 GiB\n"), 2;
    std::vector<uint32_t> begin, order;
    for (size_t from = 0; from < text.size(); from = text.find('\n', from) + 1) begin.push_back(uint32_t(from));
    std::replace(text.begin(), text.end(), '\n', '\0');
    printf("rate %.0f\n", rate<uint64_t>(std::max(uint32_t(begin.size()), argc > 2 ? 1u : 10000000u), 64));
    for (int variant = 0; variant < 3; variant++) {
        Result best;
        for (int run = 0; run < (argc > 2 ? atoi(argv[2]) : 2); run++) {
            const Result result = sort_strings(text, begin, variant > 0, variant == 2, order);
            if (run == 0 && !is_sorted(text, begin, order)) return printf("WRONG order\n"), 1;
            if (run == 0 || result.total() < best.total()) best = result;
        }
        const char *const names[] = {"adaptive", "fixed", "kept"};
        printf("%s %u %.2f %.2f %.2f %.2f\n", names[variant], best.steps, best.setup, best.ms[kSort], best.ms[kScan],
               best.ms[kKernels]);
    }
}
