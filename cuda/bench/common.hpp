// common.hpp: shared by the bench's parts: lanes with their pinned memory, blocks of files, expected results.
#pragma once
#include "../sim/coding.hpp"
#include "../sim/suffixes.hpp"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <thread>

namespace hybz {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

// Ends the program if a call failed. Not by exit(): its handlers end CUDA, in which other threads may be, and two
// threads must not call it at once.
inline void must(int code, const char *what) {
    if (code == 0) return;
    printf("%s: %d %s\n", what, code, hybz_error_text(code));
    fflush(stdout);
    _Exit(1);
}

inline void parallel(size_t count, const std::function<void(size_t)> &work) {
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); t++)
        threads.emplace_back([&] {
            for (size_t i; (i = next++) < count;) work(i);
        });
    for (auto &t : threads) t.join();
}

// The first bytes of a file, at most `most`.
template <class Bytes> Bytes read_file(const char *path, size_t most) {
    FILE *file = fopen(path, "rb");
    if (!file) printf("no %s\n", path), exit(1);
    fseek(file, 0, SEEK_END);
    Bytes data(std::min(size_t(ftell(file)), most), 0);
    rewind(file);
    if (fread(&data[0], 1, data.size(), file) != data.size()) exit(1);
    fclose(file);
    return data;
}

// Cases that a test of Rust has written to a file, with this machine's byte order.
struct Cases {
    Text file;
    size_t at = 0;
    explicit Cases(const char *path) : file(read_file<Text>(path, ~size_t(0))) {}
    bool any_left() const { return at < file.size(); }
    template <class T> std::vector<T> read(size_t count) {
        if (count * sizeof(T) > file.size() - at) printf("the cases end early\n"), exit(1);
        std::vector<T> items(count);
        if (count) memcpy(items.data(), file.data() + at, count * sizeof(T));
        at += count * sizeof(T);
        return items;
    }
};

// All cases of a file.
template <class Case> std::vector<Case> read_cases(const char *path, Case read(Cases &)) {
    std::vector<Case> cases;
    for (Cases file(path); file.any_left();) cases.push_back(read(file));
    if (cases.empty()) printf("no cases in %s\n", path), exit(1);
    return cases;
}

// Pinned memory.
template <class T> struct Pinned {
    T *memory = nullptr;
    size_t bytes;
    explicit Pinned(size_t count) : bytes(count * sizeof(T)) {
        must(hybz_pinned_alloc(0, bytes, hybz_touched_alloc(bytes), reinterpret_cast<void **>(&memory)), "pinned");
    }
    Pinned(const Pinned &) = delete;
    ~Pinned() { hybz_pinned_free(memory, bytes); }
    void spoil() { memset(memory, 0xA5, bytes); }
};

// Device memory.
struct DeviceBytes {
    uint8_t *memory = nullptr;
    explicit DeviceBytes(size_t size) {
        must(int(cudaMalloc(reinterpret_cast<void **>(&memory), std::max<size_t>(size, 1))), "malloc");
    }
    DeviceBytes(const DeviceBytes &) = delete;
    ~DeviceBytes() { cudaFree(memory); }
};

inline void copy(void *to, const void *from, size_t size, cudaMemcpyKind way) {
    if (size > 0) must(int(cudaMemcpyAsync(to, from, size, way, nullptr)), "copy");
    must(int(cudaStreamSynchronize(nullptr)), "copy");
}

constexpr uint32_t kTimeout = 60000; // ms

// A lane and its last results. `run` of each kind of lane first overwrites the results of an earlier run.
struct Lane {
    hybz_lane *lane = nullptr;
    std::vector<uint32_t> origins;
    hybz_report report{};
    double wall_ms = 0;

    Lane(uint32_t blocks, uint32_t length, int32_t pipeline) : origins(blocks) {
        char what[80];
        snprintf(what, sizeof what, "a lane of %u blocks (up to %d) of %u bytes", blocks, HYBZ_MAX_BLOCKS, length);
        must(hybz_lane_create(0, blocks, length, pipeline, &lane), what);
    }
    Lane(const Lane &) = delete;
    ~Lane() { must(hybz_lane_destroy(lane), "destroy"); }

    template <class Call> void timed(const char *what, Call call) {
        report = {};
        const auto start = Clock::now();
        must(call(), what);
        wall_ms = 1e3 * seconds(start);
    }
};

struct BwtLane : Lane {
    Pinned<uint8_t> text, column;
    BwtLane(uint32_t blocks, uint32_t length)
        : Lane(blocks, length, HYBZ_BWT), text(size_t(blocks) * length), column(size_t(blocks) * length) {}
    void run(const std::vector<uint32_t> &lengths) {
        column.spoil();
        timed("bwt", [&] {
            return hybz_lane_bwt(lane, uint32_t(lengths.size()), lengths.data(), text.memory, column.memory,
                                 origins.data(), kTimeout, &report);
        });
    }
};

struct ThirdsLane : Lane {
    Pinned<uint8_t> text, bytes;
    Pinned<uint32_t> bits, entries;
    ThirdsLane(uint32_t blocks, uint32_t length, uint32_t entry_log)
        : Lane(blocks, length, HYBZ_HYBRID), text(size_t(blocks) * length), bytes(size_t(blocks) * (length + 1)),
          bits(size_t(blocks) * (length / 24 + 4)), entries(((length >> entry_log) + 1) * size_t(blocks)) {}
    void run(const std::vector<uint32_t> &lengths, const std::vector<uint32_t> &turns, uint32_t entry_log) {
        bytes.spoil();
        bits.spoil();
        entries.spoil();
        timed("thirds", [&] {
            return hybz_lane_thirds(lane, uint32_t(lengths.size()), lengths.data(), turns.data(), text.memory,
                                    entry_log, bits.memory, bytes.memory, entries.memory, kTimeout, &report);
        });
    }
};

struct CodingLane : Lane {
    Pinned<uint8_t> text, bytes;
    std::vector<hybz_coded> coded;
    uint64_t filled = 0;
    CodingLane(uint32_t blocks, uint32_t length)
        : Lane(blocks, length, HYBZ_RESIDENT), text(size_t(blocks) * length),
          bytes(size_t(blocks) * HYBZ_CODED_BYTES(length)), coded(blocks) {}
    // Proves the blocks from `first` on.
    void run(const std::vector<uint32_t> &lengths, uint32_t first = 0) {
        bytes.spoil();
        const uint32_t blocks = uint32_t(lengths.size());
        timed("code", [&] {
            return hybz_lane_code(lane, blocks, lengths.data(), text.memory, first, blocks - first, coded.data(),
                                  bytes.memory, &filled, kTimeout, &report);
        });
    }
};

struct SuffixLane : Lane {
    Pinned<uint8_t> text, column;
    Pinned<uint32_t> entries;
    SuffixLane(uint32_t blocks, uint32_t length, uint32_t entry_log)
        : Lane(blocks, length, HYBZ_SUFFIXES), text(size_t(blocks) * length), column(size_t(blocks) * (length + 1)),
          entries(((length >> entry_log) + 1) * size_t(blocks)) {}
    void run(const std::vector<uint32_t> &lengths, uint32_t entry_log) {
        column.spoil();
        entries.spoil();
        timed("suffixes", [&] {
            return hybz_lane_suffixes(lane, uint32_t(lengths.size()), lengths.data(), text.memory, entry_log,
                                      column.memory, origins.data(), entries.memory, kTimeout, &report);
        });
    }
};

// A block's last column.
struct Column {
    std::vector<uint8_t> bytes;
    uint32_t origin = ~0u;
};

// The column by the reference sort, or by the simulation for a long block, for which the reference takes too long.
inline Column expected_column(const Text &block) {
    const uint32_t n = uint32_t(block.size());
    Column column;
    column.bytes.resize(n);
    if (n < 100000) {
        reference_bwt(block.data(), n, column.bytes.data(), &column.origin);
        return column;
    }
    std::vector<uint32_t> table(kTableEntries);
    code_table(block.data(), n, table.data());
    SimCounts ignored;
    simulate(block.data(), n, table.data(), KeyLayout(1, kLongSortBits), kTextSteps, kSteps, kSmall,
             column.bytes.data(), &column.origin, ignored);
    return column;
}

// A coded block.
struct Coded {
    uint32_t origin;
    ReferenceCoding coding;
};

inline Coded expected_coding(const Text &block) {
    const Column column = expected_column(block);
    return {column.origin, reference_coding(column.bytes)};
}

// Describes the first wrong byte of a column; null if column and origin are right.
inline const char *column_error(const Column &expected, const uint8_t *column, uint32_t origin) {
    static char text[80];
    const size_t first =
        size_t(std::mismatch(expected.bytes.begin(), expected.bytes.end(), column).first - expected.bytes.begin());
    if (first == expected.bytes.size() && origin == expected.origin) return nullptr;
    snprintf(text, sizeof text, "byte %zu, origin %u for %u", first, origin, expected.origin);
    return text;
}

inline const char *coding_error(const Coded &expected, const hybz_coded &coded, const uint8_t *bytes) {
    return coded.origin == expected.origin ? difference(expected.coding, coded, bytes) : "origin";
}

inline uint32_t size_of(const Shape &shape) { return uint32_t(shape.text.size()); }

template <class Shapes> uint32_t longest(const Shapes &all) {
    size_t length = 0;
    for (const auto &shape : all) length = std::max(length, shape.text.size());
    return uint32_t(length);
}

// The shapes that are not periodic.
inline std::vector<Shape> primitive_shapes(uint32_t n) {
    std::vector<Shape> all;
    for (Shape &shape : shapes(n))
        if (!is_periodic(shape.text.data(), size_of(shape))) all.push_back(std::move(shape));
    return all;
}

using Batch = std::vector<size_t>; // numbers of shapes

// Copies the batch to a lane's input; returns the lengths.
inline std::vector<uint32_t> fill(uint8_t *text, const std::vector<Shape> &all, const Batch &batch) {
    std::vector<uint32_t> lengths;
    for (size_t i : batch) {
        memcpy(text, all[i].text.data(), all[i].text.size());
        text += all[i].text.size();
        lengths.push_back(size_of(all[i]));
    }
    return lengths;
}

// time.cpp: prints the time of each step that took any, in ms or with another scale.
void print_steps(const hybz_report &report, double scale);

// Parts of the program; each returns its exit status. check.cpp compares every pipeline's results on every shape of up
// to max_length bytes with the reference; time.cpp times a pipeline on a file's blocks.
int check_bwt(uint32_t max_length);
int check_thirds(uint32_t max_length);
int check_coding(uint32_t max_length);
int check_suffixes(uint32_t max_length);
int check_decode(uint32_t max_length);
int check_large(const char *cases);
int check_large_coding(const char *path);
int check_lines(uint32_t max_length);
int time_lines(const char *path, uint32_t ranges, uint32_t flags);
int check_lz4(const char *cases);
int check_lzw(const char *cases);
int check_factor(uint32_t max_length);
int time_lzw(const char *path, uint32_t count, uint32_t size);
int check_all(const char *path);
int time_all(const char *path, uint32_t count);
int load_all(const char *path, uint32_t count, const std::string &folder);
int load_lzw(const char *path, uint32_t size, uint32_t row, const std::string &folder);
int time_bwt(const char *path, uint32_t blocks);
int time_coding(const char *path, uint32_t blocks);

} // namespace hybz
