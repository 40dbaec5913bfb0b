// Makes a frame of zstd's as the kernels would, on one core: twin FILE [OUT]
#include "frame.hpp"
#include "twin.hpp"
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <zstd.h>

using namespace zst;

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "twin FILE [OUT]\n"), 2;
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<uint8_t> text{std::istreambuf_iterator<char>(file), {}};
    const uint32_t n = uint32_t(text.size());
    text.resize(n + kPad);
    auto time = std::chrono::steady_clock::now();
    const auto lap = [&](const char *what) {
        const auto now = std::chrono::steady_clock::now();
        fprintf(stderr, "%s %.2f s, ", what, std::chrono::duration<double>(now - time).count());
        time = now;
    };
    const auto order = suffix_array(text.data(), n);
    lap("order");
    std::vector<Matches> matches;
    {
        const auto common = common_prefixes(text.data(), n, order);
        lap("common");
        const auto far = far_matches(n, order, common);
        lap("far");
        const auto near = near_matches(text.data(), n);
        lap("near");
        matches = all_matches(text.data(), n, far, near);
        lap("all");
    }
    std::vector<Prices> prices = first_prices(text.data(), n);
    std::vector<State> starts = starts_of(n, nullptr);
    Coder coder;
    Coder::Result frame{};
    for (uint32_t pass = 0; pass < kPasses; pass++) {
        const auto chunks = parse(text.data(), n, matches, prices, starts);
        lap("parse");
        std::vector<ChunkView> views;
        for (const Chunk &chunk : chunks)
            views.push_back({chunk.sequences.data(), uint32_t(chunk.sequences.size()), chunk.tail});
        frame = coder.code(text.data(), n, views, 19);
        fprintf(stderr, "compared %.0f MB/s, coded %.0f MB/s\n", n / frame.compare / 1e6, n / frame.code / 1e6);
        size_t sequences = 0;
        for (const Chunk &chunk : chunks) sequences += chunk.sequences.size();
        printf("%s pass %u: %zu bytes, %zu sequences\n", argv[1], pass + 1, frame.size, sequences);
        fflush(stdout);
        prices = prices_of(text.data(), n, chunks);
        starts = starts_of(n, &chunks);
        lap("prices");
    }
    std::vector<uint8_t> back(n);
    if (ZSTD_decompress(back.data(), n, coder.out.data(), frame.size) != n ||
        !std::equal(back.begin(), back.end(), text.begin()))
        return fprintf(stderr, "the frame is not the text\n"), 1;
    if (argc > 2)
        std::ofstream(argv[2], std::ios::binary)
            .write(reinterpret_cast<char *>(coder.out.data()), std::streamsize(frame.size));
}
