// Runs the steps on a device (or emulated), times them, codes the sequences on cores:
//
//     bench_zst FILE [check] [limit=BYTES] [rounds=N] [lanes=8|16|32] [copies=N] [lean] [out=PATH]
//
// Copies make a longer text for the parse, which fills a device: the text again and again, with its own matches.
// A FILE that is a frame of zstd's is decoded first. `check` compares every array with the twin. The frame that comes
// of it is decoded and compared with the text in any case. Times are the best of the rounds, on an idle stream.
#include "frame.hpp"
#include "steps.cuh"
#include "twin.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <zstd.h>

using namespace zst;

namespace {

void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

cudaStream_t stream;

// Device memory.
template <class T> struct Array {
    T *memory = nullptr;
    size_t count;
    explicit Array(size_t count) : count(count) {
        void *got = nullptr;
        must(cudaMalloc(&got, count * sizeof(T)), "memory");
        memory = static_cast<T *>(got);
    }
    Array(const Array &) = delete;
    ~Array() { cudaFree(memory); }
    operator T *() const { return memory; }
    void put(const T *from, size_t n) {
        must(cudaMemcpyAsync(memory, from, n * sizeof(T), cudaMemcpyHostToDevice, stream), "upload");
        must(cudaStreamSynchronize(stream), "upload");
    }
    std::vector<T> get(size_t n) const {
        std::vector<T> all(n);
        must(cudaMemcpyAsync(all.data(), memory, n * sizeof(T), cudaMemcpyDeviceToHost, stream), "download");
        must(cudaStreamSynchronize(stream), "download");
        return all;
    }
};

struct Options {
    bool check = false, lean = false;
    uint32_t limit = ~0u, rounds = 5, lanes = 8, copies = 1; // lanes that share a chunk
    std::string out;
};

std::vector<uint8_t> read_text(const char *path, uint32_t limit) {
    std::ifstream file(path, std::ios::binary);
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    const unsigned long long whole = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (whole != ZSTD_CONTENTSIZE_ERROR && whole != ZSTD_CONTENTSIZE_UNKNOWN) {
        std::vector<uint8_t> text(whole);
        if (ZSTD_decompress(text.data(), whole, bytes.data(), bytes.size()) != whole) return {};
        bytes.swap(text);
    }
    if (bytes.size() > limit) bytes.resize(limit);
    return bytes;
}

// Times a step; 0 where time stands still (emulated).
double picoseconds(uint32_t n, uint32_t rounds, const std::function<cudaError_t()> &step, const char *what) {
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    float best = 1e9;
    for (uint32_t r = 0; r < rounds; r++) {
        must(cudaEventRecord(begin, stream), what);
        must(step(), what);
        must(cudaEventRecord(end, stream), what);
        must(cudaStreamSynchronize(stream), what);
        float ms = 0;
        must(cudaEventElapsedTime(&ms, begin, end), what);
        best = std::min(best, ms);
    }
    must(cudaEventDestroy(begin), "event");
    must(cudaEventDestroy(end), "event");
    const double each = double(best) * 1e9 / n;
    printf("  %-28s %7.1f ps/byte\n", what, each);
    fflush(stdout);
    return each;
}

int wrong = 0;
template <class T> void compare(const std::vector<T> &got, const std::vector<T> &want, const char *what) {
    if (got.size() == want.size() && memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0) return;
    size_t at = 0;
    while (at < std::min(got.size(), want.size()) && memcmp(&got[at], &want[at], sizeof(T)) == 0) at++;
    printf("WRONG: %s differ at %zu of %zu\n", what, at, want.size());
    wrong++;
}

struct Found {
    std::vector<Sequence> sequences;
    std::vector<uint32_t> places, tails;
};

void check_matches(const std::vector<Matches> &want, const Array<uint32_t> &offsets, const Array<uint8_t> &lengths) {
    std::vector<uint32_t> want_offsets;
    std::vector<uint8_t> want_lengths;
    for (const Matches &m : want)
        for (uint32_t k = 0; k < kSlots; k++) {
            want_offsets.push_back(m.offset[k]);
            want_lengths.push_back(m.length[k]);
        }
    compare(offsets.get(want_offsets.size()), want_offsets, "offsets");
    compare(lengths.get(want_lengths.size()), want_lengths, "lengths");
}

void check_pass(const Found &got, const std::vector<State> &ends, const std::vector<Chunk> &want) {
    std::vector<Sequence> sequences;
    std::vector<uint32_t> tails;
    std::vector<State> want_ends;
    for (const Chunk &chunk : want) {
        sequences.insert(sequences.end(), chunk.sequences.begin(), chunk.sequences.end());
        tails.push_back(chunk.tail);
        want_ends.push_back(chunk.end);
    }
    compare(got.sequences, sequences, "sequences");
    compare(got.tails, tails, "tails");
    compare(ends, want_ends, "ends");
}

// The matches of a text, by all steps of the search.
void search(const std::vector<uint8_t> &text, uint32_t n, const Array<uint8_t> &bytes, const Array<uint32_t> &offsets,
            const Array<uint8_t> &lengths, const Options &options, std::vector<Matches> &want) {
    const std::vector<uint32_t> order_here = suffix_array(text.data(), n);
    const uint32_t rounds = options.rounds;
    Array<uint32_t> order(n), rank(n);
    Array<uint16_t> common(n), near(size_t(n) * kTables);
    Array<Far> far(n);
    order.put(order_here.data(), n);
    picoseconds(n, rounds, [&] { return find_ranks(order, n, rank, stream); }, "(ranks: the sort has them)");
    double all = picoseconds(n, rounds, [&] { return find_common(bytes, order, rank, n, common, stream); },
                             "common prefixes");
    picoseconds(n, rounds, [&] { return find_far(order, common, n, 16, far, stream); }, "(far matches of 16 rows)");
    all += picoseconds(n, rounds, [&] { return find_far(order, common, n, kReach, far, stream); }, "far matches");
    all += picoseconds(n, rounds, [&] { return find_near(bytes, n, near, stream); }, "near matches");
    all += picoseconds(n, rounds, [&] { return join_matches(bytes, far, near, n, offsets, lengths, stream); },
                       "all matches");
    printf("  %-28s %7.1f ps/byte\n", "SEARCH", all);
    if (!options.check) return;
    const auto want_common = common_prefixes(text.data(), n, order_here);
    compare(common.get(n), want_common, "common prefixes");
    const auto want_far = far_matches(n, order_here, want_common);
    compare(far.get(n), want_far, "far matches");
    const auto want_near = near_matches(text.data(), n);
    compare(near.get(want_near.size()), want_near, "near matches");
    want = all_matches(text.data(), n, want_far, want_near);
    check_matches(want, offsets, lengths);
}

// `n` bytes, `copies` times.
Found run_device(const std::vector<uint8_t> &text, uint32_t n, const Options &options) {
    const uint32_t copies = options.copies, all_n = n * copies, chunks = chunks_of(all_n), rounds = options.rounds;
    Array<uint8_t> bytes(all_n + kPad), lengths(size_t(all_n) * kSlots);
    Array<uint32_t> offsets(size_t(all_n) * kSlots);
    std::vector<Matches> want;
    bytes.put(text.data(), n + kPad);
    search(text, n, bytes, offsets, lengths, options, want);
    for (uint32_t c = 1; c < copies; c++) {
        const auto copy = [&](void *to, const void *from, size_t size) {
            must(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream), "copy");
        };
        copy(bytes + size_t(n) * c, bytes, n);
        copy(lengths + size_t(n) * kSlots * c, lengths, size_t(n) * kSlots);
        copy(offsets + size_t(n) * kSlots * c, offsets, size_t(n) * kSlots * 4);
    }
    must(cudaMemsetAsync(bytes + all_n, 0, kPad, stream), "pad");
    if (copies > 1) {
        Array<uint16_t> near(size_t(all_n) * kTables);
        picoseconds(all_n, rounds, [&] { return find_near(bytes, all_n, near, stream); }, "near matches of all");
    }
    Array<uint32_t> counts(chunks), tails(chunks), places(chunks + 1), word(all_n);
    Array<uint32_t> behind(size_t(chunks) * 3 * kRing);
    Array<uint16_t> length(all_n);
    Array<Prices> prices(blocks_of(all_n));
    Array<State> starts(chunks), ends(chunks);
    Array<Sequence> sequences(size_t(chunks) * kMostSequences), packed(all_n / kMinMatch + 1);
    const Way way{word, length};
    Found found;
    std::vector<Prices> want_prices;
    std::vector<State> want_starts;
    if (options.check) want_prices = zst::first_prices(text.data(), n), want_starts = starts_of(n, nullptr);
    picoseconds(all_n, rounds, [&] { return first_prices(bytes, all_n, prices, stream); }, "first prices");
    must(find_starts(nullptr, all_n, starts, stream), "starts");
    for (uint32_t pass = 0; pass < kPasses; pass++) {
        if (options.check) compare(prices.get(blocks_of(n)), want_prices, "prices");
        double all = 0;
        for (const uint32_t kind : {32, 16, 8, 33, 17, 9}) {
            // The others only to compare, once; emulated they would take long.
            const bool lean = kind & 1, mine = kind == (options.lanes | options.lean);
            if (!mine && (options.check || pass)) continue;
            const uint32_t lanes = kind & ~1u;
            const std::string name = "parse, " + std::to_string(lanes) + " lanes" + (lean ? ", lean" : "");
            const auto step = [&] {
                return parse_chunks(bytes, all_n, offsets, lengths, prices, starts, lanes,
                                    lean ? behind.memory : nullptr, way, ends, stream);
            };
            const double time = picoseconds(all_n, rounds, step, name.c_str());
            if (mine) all += time;
        }
        all += picoseconds(all_n, rounds, [&] { return trace_ways(way, all_n, sequences, counts, tails, stream); },
                           "trace");
        all += picoseconds(
            all_n, rounds, [&] { return find_prices(bytes, all_n, sequences, counts, tails, prices, stream); },
            "prices");
        printf("  %-28s %7.1f ps/byte\n", "PASS", all);
        must(find_starts(ends, all_n, starts, stream), "starts");
        if (!options.check && pass + 1 < kPasses) continue;
        picoseconds(all_n, rounds, [&] { return pack_sequences(sequences, counts, all_n, places, packed, stream); },
                    "pack");
        found.places = places.get(chunks + 1);
        found.sequences = packed.get(found.places.back());
        found.tails = tails.get(chunks);
        if (!options.check) continue;
        const auto want_chunks = parse(text.data(), n, want, want_prices, want_starts);
        check_pass(found, ends.get(chunks), want_chunks);
        want_prices = prices_of(text.data(), n, want_chunks);
        want_starts = starts_of(n, &want_chunks);
    }
    return found;
}

} // namespace

int main(int argc, char **argv) {
    Options options;
    for (int a = 2; a < argc; a++) {
        const std::string word = argv[a];
        const auto value = [&] { return word.substr(word.find('=') + 1); };
        if (word == "check") options.check = true;
        else if (word == "lean") options.lean = true;
        else if (word.rfind("limit=", 0) == 0) options.limit = uint32_t(std::stoul(value()));
        else if (word.rfind("rounds=", 0) == 0) options.rounds = uint32_t(std::stoul(value()));
        else if (word.rfind("lanes=", 0) == 0) options.lanes = uint32_t(std::stoul(value()));
        else if (word.rfind("copies=", 0) == 0) options.copies = uint32_t(std::stoul(value()));
        else if (word.rfind("out=", 0) == 0) options.out = value();
        else return printf("%s? See the comment at the top of bench_zst.cpp\n", word.c_str()), 2;
    }
    if (argc < 2) return 2;
    std::vector<uint8_t> text = read_text(argv[1], options.limit);
    uint32_t n = uint32_t(text.size());
    if (n == 0) return printf("no text\n"), 1;
    if (options.copies > 1) {
        // Whole blocks, so that all copies are cut alike.
        if (options.check || n < kBlock) return printf("copies: for timing, of a block at least\n"), 2;
        n -= n % kBlock;
    }
    text.resize(n);
    text.resize(n + kPad);
    printf("%s: %u bytes, %u times\n", argv[1], n, options.copies);
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    const Found found = run_device(text, n, options);
    text.resize(n);
    for (uint32_t c = 1; c < options.copies; c++) text.insert(text.end(), text.begin(), text.begin() + n);
    n *= options.copies;
    text.resize(n + kPad);

    std::vector<ChunkView> views;
    for (size_t c = 0; c < found.tails.size(); c++)
        views.push_back({found.sequences.data() + found.places[c], found.places[c + 1] - found.places[c],
                         found.tails[c]});
    std::vector<uint8_t> back(n);
    const bool once = options.copies > 1;
    Coder coder;
    Coder::Result frame{};
    for (int level : {3, 19}) {
        if (once && level == 3) continue;
        double compare = 1e9, code = 1e9;
        for (int r = 0; r < (once ? 2 : 3); r++) {
            frame = coder.code(text.data(), n, views, level);
            compare = std::min(compare, frame.compare);
            code = std::min(code, frame.code);
        }
        const size_t size = ZSTD_decompress(back.data(), n, coder.out.data(), frame.size);
        const bool right = size == n && memcmp(back.data(), text.data(), n) == 0;
        wrong += !right;
        printf("  level %2d: %zu bytes of %zu sequences, %s; ", level, frame.size, found.sequences.size(),
               right ? "decoded" : "NOT THE TEXT");
        printf("one core: compare %.0f, code %.0f, both %.0f MB/s\n", n / compare / 1e6, n / code / 1e6,
               n / (compare + code) / 1e6);
    }
    // All cores at once, each its own frames: the first makes room.
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<double> rates(cores);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < cores; t++)
        threads.emplace_back([&, t] {
            Coder own;
            own.code(text.data(), n, views, 19);
            const Coder::Result result = own.code(text.data(), n, views, 19);
            rates[t] = n / (result.compare + result.code) / 1e6;
        });
    for (std::thread &thread : threads) thread.join();
    std::sort(rates.begin(), rates.end());
    printf("  level 19, %u cores at once: %.0f to %.0f MB/s each\n", cores, rates.front(), rates.back());
    if (!options.out.empty())
        std::ofstream(options.out, std::ios::binary)
            .write(reinterpret_cast<const char *>(coder.out.data()), std::streamsize(frame.size));
    printf(wrong ? "%d WRONG\n" : "all right\n", wrong);
    return wrong != 0;
}
