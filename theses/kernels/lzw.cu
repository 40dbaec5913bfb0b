// lzw.cu: tables 4.3 to 4.5 of Funasaka's thesis (2018): LZW compression of pictures for TIFF files.
//
// His way (section 4.2): the picture is transposed, so that threads that read the same column of their rows read
// neighbouring bytes; a thread encodes a row, which is a strip, with a table and a hash of its own; prefix sums of the
// lengths give the places of the strips, which are then joined. The hash has 2^14 places of two bytes: a code of 12
// bits, and a stamp of four that is counted up at each clear code, so that it is seldom cleared. It is in global
// memory. Beside it a hash of 2^13 places in shared memory, one strip a warp, and rows that are not transposed.
#include "common.hpp"
#include <cub/device/device_scan.cuh>

namespace theses {

namespace {

constexpr uint32_t kThreads = 32, kWidth = 4096, kClear = 256, kEnd = 257, kFirst = 258, kLast = 4093;
// Every byte a code of 12 bits, and a clear code after each 3,836 of them.
constexpr uint32_t kWords = (kWidth + 2 + kWidth / 3836 + 1) * 12 / 32 + 2;

// How strips lie: byte i of strip s.
template <bool kTransposed> struct Picture {
    const uint8_t *at;
    uint32_t strips;
    __device__ uint8_t get(uint32_t s, uint32_t i) const {
        return kTransposed ? at[size_t(i) * strips + s] : at[size_t(s) * kWidth + i];
    }
};

// A strip's dictionary: strings by code, and codes by string.
template <uint32_t kBits> struct Dictionary {
    uint16_t hash[1 << kBits];
    uint16_t prefix[kLast + 1];
    uint8_t last[kLast + 1];
};

// Codes of 9 to 12 bits, the highest bit first, in words whose bytes are turned around at the end.
struct Bits {
    uint32_t *words;
    uint32_t stride, count = 0, held = 0;
    uint64_t bits = 0;
    __device__ void put(uint32_t code, uint32_t width) {
        bits = bits << width | code;
        held += width;
        if (held < 32) return;
        held -= 32;
        store(uint32_t(bits >> held));
    }
    __device__ void store(uint32_t word) {
        words[size_t(count++) * stride] = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
    }
    // Returns the number of bytes.
    __device__ uint32_t finish() {
        const uint32_t bytes = 4 * count + (held + 7) / 8;
        if (held) store(uint32_t(bits << (32 - held)));
        return bytes;
    }
};

// The hash is clear.
template <uint32_t kBits, bool kTransposed>
__device__ uint32_t encode(const Picture<kTransposed> &picture, uint32_t s, Dictionary<kBits> &own, Bits out) {
    constexpr uint32_t kMask = (1 << kBits) - 1;
    uint32_t stamp = 0, next = kFirst, width = 9;
    out.put(kClear, 9);
    uint32_t string = picture.get(s, 0);
    for (uint32_t i = 1; i < kWidth; i++) {
        const uint32_t byte = picture.get(s, i);
        uint32_t place = (string ^ byte << 10 ^ byte >> 4) & kMask, found = 0;
        for (;; place = (place + 501) & kMask) {
            const uint32_t value = own.hash[place], code = value & 0xfff;
            if (code == 0 || value >> 12 != stamp) break;
            if (own.prefix[code] == string && own.last[code] == byte) {
                found = code;
                break;
            }
        }
        if (found) {
            string = found;
            continue;
        }
        out.put(string, width);
        own.hash[place] = uint16_t(stamp << 12 | next);
        own.prefix[next] = uint16_t(string);
        own.last[next] = uint8_t(byte);
        string = byte;
        if (next == kLast) {
            out.put(kClear, 12);
            next = kFirst;
            width = 9;
            if (++stamp == 16) {
                stamp = 0;
                for (uint32_t k = 0; k <= kMask; k++) own.hash[k] = 0;
            }
        } else if (++next == 1u << width) {
            width++;
        }
    }
    out.put(string, width);
    if (next + 1 == 1u << width && width < 12) width++;
    out.put(kEnd, width);
    return out.finish();
}

__global__ void __launch_bounds__(256) transpose(const uint8_t *in, uint32_t strips, uint8_t *out) {
    __shared__ uint8_t tile[32][33];
    const uint32_t x = threadIdx.x & 31, y = threadIdx.x >> 5, column = blockIdx.x * 32, row = blockIdx.y * 32;
    for (uint32_t k = y; k < 32; k += 8)
        if (row + k < strips) tile[k][x] = in[size_t(row + k) * kWidth + column + x];
    __syncthreads();
    for (uint32_t k = y; k < 32; k += 8)
        if (row + x < strips) out[size_t(column + k) * strips + row + x] = tile[x][k];
}

template <bool kTransposed>
__global__ void __launch_bounds__(kThreads)
encode_in_global(const uint8_t *in, uint32_t strips, Dictionary<14> *all, uint32_t *words, uint32_t *sizes) {
    const uint32_t s = blockIdx.x * kThreads + threadIdx.x;
    if (s >= strips) return;
    sizes[s] = encode<14, kTransposed>({in, strips}, s, all[s], Bits{words + s, strips});
}

__global__ void __launch_bounds__(kThreads)
encode_in_shared(const uint8_t *in, uint32_t strips, uint32_t *words, uint32_t *sizes) {
    __shared__ Dictionary<13> own;
    const uint32_t s = blockIdx.x;
    for (uint32_t i = threadIdx.x; i < 1 << 13; i += kThreads) own.hash[i] = 0;
    __syncthreads();
    if (threadIdx.x == 0) sizes[s] = encode<13, true>({in, strips}, s, own, Bits{words + s, strips});
}

// A word a thread: neighbours read neighbouring words, of neighbouring strips.
__global__ void __launch_bounds__(256)
join_strips(const uint32_t *words, uint32_t strips, const uint32_t *ends, uint8_t *out) {
    const uint32_t s = blockIdx.x * 256 + threadIdx.x, w = blockIdx.y;
    if (s >= strips) return;
    const uint32_t begin = s ? ends[s - 1] : 0, size = ends[s] - begin;
    if (4 * w >= size) return;
    const uint32_t word = words[size_t(w) * strips + s];
    for (uint32_t k = 0; k < 4 && 4 * w + k < size; k++) out[begin + 4 * w + k] = uint8_t(word >> 8 * k);
}

struct Sum {
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

// A core's decoder: one code after the other. Returns whether a strip is its text and nothing else.
bool decodes(const uint8_t *coded, uint32_t size, const uint8_t *text) {
    std::vector<std::pair<uint32_t, uint32_t>> strings; // position and length of the text of code 258 + i
    uint32_t bit = 0, width = 9, at = 0;
    for (;;) {
        if (bit + width > 8 * size) return false;
        uint32_t code = 0;
        for (uint32_t k = 0; k < width; k++, bit++) code = code << 1 | (coded[bit / 8] >> (7 - bit % 8) & 1);
        if (code == kEnd) return at == kWidth && (bit + 7) / 8 == size;
        if (code == kClear) {
            strings.clear();
            width = 9;
            continue;
        }
        if (!strings.empty()) strings.back().second++;
        std::pair<uint32_t, uint32_t> string{at, 1};
        if (code >= kFirst) {
            if (code - kFirst >= strings.size()) return false;
            string = {at, strings[code - kFirst].second};
            const uint32_t from = strings[code - kFirst].first;
            if (at + string.second > kWidth || memcmp(text + from, text + at, string.second)) return false;
        } else if (at >= kWidth || text[at] != code) {
            return false;
        }
        at += string.second;
        strings.push_back(string);
        if (kFirst + strings.size() >= 1u << width && width < 12) width++;
    }
}

struct Lzw {
    uint32_t strips;
    Memory<uint8_t> picture, transposed, out;
    Memory<uint32_t> words, sizes, ends;
    Memory<Dictionary<14>> dictionaries;
    size_t temporary_bytes = 0;
    Memory<uint8_t> temporary;

    explicit Lzw(const Text &text)
        : strips(uint32_t(text.size() / kWidth)), picture(text), transposed(text.size()),
          out(4 * size_t(kWords) * strips), words(size_t(kWords) * strips), sizes(strips), ends(strips),
          dictionaries(strips), temporary(temporary_for(strips, &temporary_bytes)) {}

    static size_t temporary_for(uint32_t count, size_t *bytes) {
        uint32_t *const none = nullptr;
        must(cub::DeviceScan::InclusiveScan(nullptr, *bytes, none, none, Sum{}, int(count), stream), "scan");
        return *bytes;
    }
    void turn() {
        const dim3 grid(kWidth / 32, blocks_for(strips, 32));
        transpose<<<grid, 256, 0, stream>>>(picture.at, strips, transposed.at);
    }
    template <bool kTransposed> void encode_strips() {
        const auto run = encode_in_global<kTransposed>;
        const uint8_t *const from = kTransposed ? transposed.at : picture.at;
        const size_t bytes = dictionaries.count * sizeof(Dictionary<14>);
        must(cudaMemsetAsync(dictionaries.at, 0, bytes, stream), "zeros");
        run<<<blocks_for(strips, kThreads), kThreads, 0, stream>>>(from, strips, dictionaries.at, words.at, sizes.at);
    }
    void encode_strips_in_shared() {
        encode_in_shared<<<strips, kThreads, 0, stream>>>(transposed.at, strips, words.at, sizes.at);
    }
    void sum() {
        size_t &bytes = temporary_bytes;
        const auto error =
            cub::DeviceScan::InclusiveScan(temporary.at, bytes, sizes.at, ends.at, Sum{}, int(strips), stream);
        must(error, "scan");
    }
    void join() {
        const dim3 grid(blocks_for(strips, 256), kWords);
        join_strips<<<grid, 256, 0, stream>>>(words.at, strips, ends.at, out.at);
    }
    void all() {
        turn();
        encode_strips<true>();
        sum();
        join();
    }
    // `text` is the first picture, of which the others are copies.
    void check_against(const Text &text) const {
        const Text coded = out.get();
        const std::vector<uint32_t> at = ends.get();
        const uint32_t rows = uint32_t(text.size() / kWidth);
        for (uint32_t s = 0; s < rows; s++) {
            const uint32_t begin = s ? at[s - 1] : 0;
            check(decodes(coded.data() + begin, at[s] - begin, text.data() + size_t(s) * kWidth), "a strip of LZW");
        }
        for (uint32_t s = rows, size = at[rows - 1]; s < strips; s++)
            check(at[s] - at[s - rows] == size, "the length of a copy's strip");
        for (size_t i = at[rows - 1]; i < at[strips - 1]; i++)
            if (coded[i] != coded[i - at[rows - 1]]) check(false, "a copy's strip");
    }
};

void little(Text &file, uint32_t value, uint32_t bytes) {
    for (uint32_t k = 0; k < bytes; k++) file.push_back(uint8_t(value >> 8 * k));
}

// A TIFF file: a grey picture, a strip a row.
Text tiff(const Text &coded, const std::vector<uint32_t> &ends) {
    const uint32_t strips = uint32_t(ends.size()), data = ends.back(), directory = 8 + data + (data & 1);
    const uint32_t lists = directory + 2 + 9 * 12 + 4;
    Text file{'I', 'I', 42, 0};
    little(file, directory, 4);
    file.insert(file.end(), coded.begin(), coded.begin() + data);
    file.resize(directory);
    const uint32_t entries[9][4] = {{256, 4, 1, kWidth}, {257, 4, 1, strips}, {258, 3, 1, 8},
                                    {259, 3, 1, 5},      {262, 3, 1, 1},      {273, 4, strips, lists},
                                    {277, 3, 1, 1},      {278, 4, 1, 1},      {279, 4, strips, lists + 4 * strips}};
    little(file, 9, 2);
    for (const auto &entry : entries) {
        little(file, entry[0], 2);
        little(file, entry[1], 2);
        little(file, entry[2], 4);
        // The value itself, where it is a single one.
        const bool is_list = entry[0] == 273 || entry[0] == 279;
        little(file, is_list && strips == 1 ? (entry[0] == 273 ? 8 : ends[0]) : entry[3], 4);
    }
    little(file, 0, 4);
    for (uint32_t s = 0; s < strips; s++) little(file, 8 + (s ? ends[s - 1] : 0), 4);
    for (uint32_t s = 0; s < strips; s++) little(file, ends[s] - (s ? ends[s - 1] : 0), 4);
    return file;
}

} // namespace

int lzw(const Text &given, const char *path) {
    const uint32_t rows = uint32_t(given.size() / kWidth);
    const Text text(given.begin(), given.begin() + size_t(rows) * kWidth);
    check(rows > 0, "a picture of less than a row");
    printf("images,strips,ratio,transpose_ms,encode_ms,sums_ms,join_ms,all_ms,MB/s,ms_an_image,not_transposed_ms,"
           "in_shared_memory_ms,download_ms\n");
    // Small pictures are for the emulation.
    const uint32_t most = text.size() < 100000 ? 2 : 64;
    for (uint32_t images = 1; images <= most && images * text.size() <= size_t(1) << 30; images *= 2) {
        Text many;
        for (uint32_t k = 0; k < images; k++) many.insert(many.end(), text.begin(), text.end());
        Lzw job(many);
        const double plain = best_ms([&] { job.encode_strips<false>(); });
        const double turn = best_ms([&] { job.turn(); }), shared = best_ms([&] { job.encode_strips_in_shared(); });
        job.sum();
        job.join();
        job.check_against(text);
        must(cudaMemsetAsync(job.out.at, 0, job.out.count, stream), "zeros");
        const double encoding = best_ms([&] { job.encode_strips<true>(); });
        const double sums = best_ms([&] { job.sum(); }), joining = best_ms([&] { job.join(); });
        const double all = best_ms([&] { job.all(); });
        job.check_against(text);
        const std::vector<uint32_t> ends = job.ends.get();
        Text coded(ends.back());
        const double download = best_ms([&] {
            must(cudaMemcpyAsync(coded.data(), job.out.at, coded.size(), cudaMemcpyDeviceToHost, stream), "copy");
        });
        printf("%u,%u,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.1f,%.3f,%.3f,%.3f,%.3f\n", images, job.strips,
               double(many.size()) / double(ends.back()), turn, encoding, sums, joining, all,
               double(many.size()) / all / 1e3, all / images, plain, shared, download);
        if (images > 1 || !path) continue;
        const Text file = tiff(coded, ends);
        FILE *const to = fopen(path, "wb");
        check(to && fwrite(file.data(), 1, file.size(), to) == file.size() && fclose(to) == 0, "the file of strips");
    }
    return 0;
}

} // namespace theses
