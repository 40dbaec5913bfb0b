#include "frame.hpp"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

namespace zst {

namespace {

// zstd's sequences: chunks joined, and at the end of each block one without a match.
std::vector<ZSTD_Sequence> join(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks) {
    std::vector<ZSTD_Sequence> all;
    uint32_t at = 0, literals = 0;
    for (const ChunkView &chunk : chunks) {
        for (uint32_t k = 0; k < chunk.count; k++) {
            const Sequence &s = chunk.sequences[k];
            const uint32_t offset = s.offset_code & kOffsetMask;
            at += s.literals;
            if (s.length < kMinMatch || offset == 0 || offset > at || s.length > n - at ||
                memcmp(text + at, text + at - offset, s.length) != 0)
                throw std::runtime_error("a match that is none");
            all.push_back({offset, literals + s.literals, s.length, 0});
            literals = 0;
            at += s.length;
        }
        literals += chunk.tail;
        at += chunk.tail;
        if (at % kBlock == 0 || at == n) all.push_back({0, literals, 0, 0}), literals = 0;
    }
    if (at != n) throw std::runtime_error("sequences of another text");
    return all;
}

} // namespace

std::vector<uint8_t> code_frame(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks, int level,
                                double seconds[2]) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::vector<ZSTD_Sequence> sequences = join(text, n, chunks);
    const auto joined = Clock::now();
    ZSTD_CCtx *context = ZSTD_createCCtx();
    const auto set = [&](ZSTD_cParameter parameter, int value) {
        if (ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)))
            throw std::runtime_error("a parameter that libzstd does not know");
    };
    int window = 10;
    while (window < 27 && (1u << window) < n) window++;
    set(ZSTD_c_compressionLevel, level);
    set(ZSTD_c_windowLog, window);
    // The match finder's tables are not used; libzstd would clear them.
    set(ZSTD_c_hashLog, 6);
    set(ZSTD_c_chainLog, 6);
    set(ZSTD_c_minMatch, 3);
    set(ZSTD_c_checksumFlag, 1);
    set(ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters);
    set(ZSTD_c_validateSequences, 0);
#ifdef ZSTD_c_searchForExternalRepcodes
    set(ZSTD_c_searchForExternalRepcodes, ZSTD_ps_enable);
#endif
    std::vector<uint8_t> out(ZSTD_compressBound(n));
    const size_t size =
        ZSTD_compressSequences(context, out.data(), out.size(), sequences.data(), sequences.size(), text, n);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(size)) {
        fprintf(stderr, "libzstd: %s\n", ZSTD_getErrorName(size));
        return {};
    }
    out.resize(size);
    seconds[0] = std::chrono::duration<double>(joined - start).count();
    seconds[1] = std::chrono::duration<double>(Clock::now() - joined).count();
    return out;
}

} // namespace zst
