// lz4_time.cpp: times hybz_lz4_decode in device memory, and hybz_lz4_load from the host.
//
// Built with nvCOMP's headers on the path, and with HYBZ_NVCOMP naming its library, it decodes the same blocks by
// nvCOMP in the same run.
#include "lz4.hpp"
#include <fstream>
#include <iterator>
#if __has_include(<nvcomp/lz4.h>)
#include <dlfcn.h>
#include <nvcomp/lz4.h>
#endif

namespace hybz {

namespace {

// Blocks as in a file, and their text.
struct Blocks {
    std::vector<Bytes> coded;
    std::vector<uint32_t> lengths;
    std::vector<bool> plain;
    Bytes text;

    void add(Bytes bytes, bool is_plain, const Bytes &its_text) {
        coded.push_back(std::move(bytes));
        plain.push_back(is_plain);
        lengths.push_back(uint32_t(its_text.size()));
        text.insert(text.end(), its_text.begin(), its_text.end());
    }
};

uint32_t le32(const Bytes &bytes, size_t at) {
    uint32_t value = 0;
    if (at + 4 <= bytes.size()) memcpy(&value, bytes.data() + at, 4);
    return value;
}

// The blocks of a file: those of its first LZ4 frame, which must be independent, or, for any other file, 64 KiB each by
// the bench's plain encoder.
Blocks read_blocks(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Blocks blocks;
    Bytes text;
    if (le32(bytes, 0) != 0x184d2204) {
        for (size_t at = 0; at < bytes.size(); at += 65536) {
            text.assign(bytes.begin() + long(at), bytes.begin() + long(std::min(at + 65536, bytes.size())));
            blocks.add(encode(text.data(), text.size()), false, text);
        }
        return blocks;
    }
    const uint8_t flags = bytes.at(4);
    const size_t longest = size_t(1) << (8 + 2 * (bytes.at(5) >> 4 & 7));
    if (!(flags & 0x20) || flags & 1) must(HYBZ_ARGUMENT, "blocks that depend on others");
    size_t at = flags & 8 ? 15 : 7;
    while (const uint32_t head = le32(bytes, at)) {
        const size_t size = head & ~(1u << 31);
        at += 4;
        if (size > bytes.size() - at) must(HYBZ_ARGUMENT, "a cut frame");
        Bytes coded(bytes.begin() + long(at), bytes.begin() + long(at + size));
        const bool plain = head >> 31;
        text = coded;
        // All blocks but the last one have the maximum length.
        if (!plain && !plain_decode(coded, longest, text)) {
            size_t length = text.size();
            if (!plain_decode(coded, length, text)) must(HYBZ_ARGUMENT, "a damaged block");
        }
        blocks.add(std::move(coded), plain, text);
        at += size + (flags & 0x10 ? 4 : 0);
    }
    return blocks;
}

template <class Run> double best_of(Run run) {
    double best = 1e9;
    for (int round = 0; round < 8; round++) {
        const auto start = Clock::now();
        must(run(), "lz4");
        best = std::min(best, seconds(start));
    }
    return best;
}

struct Timed {
    const std::vector<hybz_lz4_block> &blocks;
    DeviceBytes &in, &out;
    size_t in_size, out_size;
    Pinned<uint8_t> &got; // by the last decoder
    const Bytes &text;    // of one repetition

    // Whether device memory holds the text, over and over. Overwrites the memory afterwards.
    bool is_right() {
        copy(got.memory, out.memory, out_size, cudaMemcpyDeviceToHost);
        bool right = true;
        for (size_t at = 0; at < out_size; at += text.size())
            right &= memcmp(got.memory + at, text.data(), text.size()) == 0;
        must(int(cudaMemsetAsync(out.memory, 0x5a, out_size, nullptr)), "memset");
        must(int(cudaStreamSynchronize(nullptr)), "memset");
        return right;
    }
};

#if __has_include(<nvcomp/lz4.h>)
template <class T> struct DeviceArray {
    DeviceBytes bytes;
    explicit DeviceArray(const std::vector<T> &from) : bytes(from.size() * sizeof(T)) {
        copy(bytes.memory, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    }
    T *memory() { return reinterpret_cast<T *>(bytes.memory); }
};

// GB/s of nvCOMP's decoder by CUDA's kernels, not by hardware; 0 without nvCOMP.
double time_nvcomp(Timed &job, bool *right) {
    const char *path = getenv("HYBZ_NVCOMP");
    void *library = path && *path ? dlopen(path, RTLD_NOW) : nullptr;
    if (!library) {
        if (path && *path) printf("%s\n", dlerror());
        return 0;
    }
    const auto temp_size = reinterpret_cast<decltype(&nvcompBatchedLZ4DecompressGetTempSize)>(
        dlsym(library, "nvcompBatchedLZ4DecompressGetTempSize"));
    const auto decompress = reinterpret_cast<decltype(&nvcompBatchedLZ4DecompressAsync)>(
        dlsym(library, "nvcompBatchedLZ4DecompressAsync"));
    const size_t count = job.blocks.size();
    std::vector<const void *> from;
    std::vector<void *> to;
    std::vector<size_t> coded, length;
    size_t longest = 0;
    for (const hybz_lz4_block &block : job.blocks) {
        from.push_back(job.in.memory + block.from);
        to.push_back(job.out.memory + block.to);
        coded.push_back(block.coded);
        length.push_back(block.length);
        longest = std::max<size_t>(longest, block.length);
    }
    DeviceArray<const void *> device_from(from);
    DeviceArray<void *> device_to(to);
    DeviceArray<size_t> device_coded(coded), device_length(length), found(length);
    std::vector<nvcompStatus_t> statuses(count, nvcompErrorInternal);
    DeviceArray<nvcompStatus_t> device_statuses(statuses);
    const nvcompBatchedLZ4DecompressOpts_t options = nvcompBatchedLZ4DecompressDefaultOpts;
    size_t temp = 0;
    must(int(temp_size(count, longest, options, &temp, job.out_size, nullptr)), "nvCOMP");
    DeviceBytes scratch(temp);
    const double best = best_of([&] {
        const int code = int(decompress(device_from.memory(), device_coded.memory(), device_length.memory(),
                                        found.memory(), count, scratch.memory, temp, device_to.memory(), options,
                                        device_statuses.memory(), nullptr));
        return code ? code : int(cudaStreamSynchronize(nullptr));
    });
    copy(statuses.data(), device_statuses.memory(), count * sizeof(nvcompStatus_t), cudaMemcpyDeviceToHost);
    *right = job.is_right() &&
             std::all_of(statuses.begin(), statuses.end(), [](nvcompStatus_t one) { return one == nvcompSuccess; });
    return double(job.out_size) / best / 1e9;
}
#else
double time_nvcomp(Timed &, bool *) { return 0; }
#endif

} // namespace

int time_lz4(const char *path, uint32_t repeats) {
    const Blocks file = read_blocks(path);
    std::vector<hybz_lz4_block> blocks;
    size_t in_size = 0, out_size = 0;
    for (uint32_t r = 0; r < repeats; r++)
        for (size_t b = 0; b < file.coded.size(); b++) {
            const uint32_t coded = uint32_t(file.coded[b].size());
            // nvCOMP wants blocks at multiples of four.
            blocks.push_back({in_size, out_size, coded, file.lengths[b], file.plain[b], 0});
            in_size += (coded + 3) & ~3u;
            out_size += file.lengths[b];
        }
    Pinned<uint8_t> in(in_size), got(out_size);
    for (size_t b = 0; b < blocks.size(); b++)
        memcpy(in.memory + blocks[b].from, file.coded[b % file.coded.size()].data(), blocks[b].coded);
    DeviceBytes device_in(in_size), out(out_size);
    Timed job{blocks, device_in, out, in_size, out_size, got, file.text};
    const uint32_t count = uint32_t(blocks.size());
    std::vector<uint32_t> status(count, 7);
    hybz_lz4 *lz4 = nullptr;
    must(hybz_lz4_create(0, count, &lz4), "create");
    copy(device_in.memory, in.memory, in_size, cudaMemcpyHostToDevice);
    const auto all_right = [&] {
        const bool good = std::all_of(status.begin(), status.end(), [](uint32_t one) { return one == 0; });
        std::fill(status.begin(), status.end(), 7);
        return job.is_right() && good;
    };
    const auto rate = [&](double time) { return double(out_size) / time / 1e9; };
    const double decode = rate(best_of([&] {
        return hybz_lz4_decode(lz4, device_in.memory, in_size, blocks.data(), count, out.memory, out_size,
                               status.data(), kTimeout);
    }));
    bool right = all_right(), theirs_right = true;
    const double load = rate(best_of([&] {
        return hybz_lz4_load(lz4, in.memory, in_size, device_in.memory, blocks.data(), count, out.memory, out_size,
                             status.data(), kTimeout);
    }));
    right &= all_right();
    must(hybz_lz4_destroy(lz4), "destroy");
    const double theirs = time_nvcomp(job, &theirs_right);
    const double plain = rate(best_of([&] {
        copy(out.memory, got.memory, out_size, cudaMemcpyHostToDevice);
        return 0;
    }));
    printf("%s: %zu bytes in %u blocks, ratio %.2f: decode %.1f GB/s", path, out_size, count,
           double(out_size) / double(in_size), decode);
    if (theirs > 0) printf(", nvCOMP %.1f%s (%.2f times)", theirs, theirs_right ? "" : " WRONG", decode / theirs);
    printf("; load %.1f, load plain %.1f (%.2f times): %s\n", load, plain, load / plain, right ? "right" : "WRONG");
    return !right;
}

} // namespace hybz
