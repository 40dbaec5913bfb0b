// cold.hpp: files that are not in the page cache (tables 4.9 and 5.6).
#pragma once
#include "../../../cuda/bench/common.hpp"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace hybz {

// Reads a file, past the page cache if that is possible, into memory with room for whole pages.
inline void read_cold(const std::string &name, uint8_t *to, size_t size) {
    int file = open(name.c_str(), O_RDONLY | O_DIRECT);
    if (file < 0) file = open(name.c_str(), O_RDONLY);
    for (size_t at = 0; at < size;) {
        const size_t most = std::min<size_t>((size - at + 4095) & ~size_t(4095), 16 << 20);
        const ssize_t got = pread(file, to + at, most, off_t(at));
        if (got <= 0) printf("%s cannot be read\n", name.c_str()), exit(1);
        at += size_t(got);
    }
    close(file);
}

inline void write_cold(const std::string &name, const std::vector<uint8_t> &bytes) {
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t put = write(file, bytes.data() + at, bytes.size() - at);
        if (put <= 0) printf("%s cannot be written\n", name.c_str()), exit(1);
        at += size_t(put);
    }
    fsync(file);
    close(file);
}

inline void drop(const std::string &name) {
    const int file = open(name.c_str(), O_RDONLY);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

// The median of seven times that `run` takes, in milliseconds, with the file out of the cache before each.
inline double median_cold(const std::string &name, const std::function<void()> &run) {
    std::vector<double> all;
    for (int round = 0; round < 7; round++) {
        drop(name);
        const auto start = Clock::now();
        run();
        must(int(cudaStreamSynchronize(nullptr)), name.c_str());
        all.push_back(seconds(start) * 1e3);
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

} // namespace hybz
