#include "frame.hpp"
#include <chrono>
#include <cstring>
#include <stdexcept>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

namespace zst {

struct Coder::Inner {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    std::vector<ZSTD_Sequence> sequences;

    void set(ZSTD_cParameter parameter, int value) {
        if (ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)))
            throw std::runtime_error("a parameter that libzstd does not know");
    }
    void join(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks);
};

Coder::Coder() : inner(new Inner) {}

Coder::~Coder() {
    ZSTD_freeCCtx(inner->context);
    delete inner;
}

// zstd's sequences: chunks joined, and at the end of each block one without a match.
void Coder::Inner::join(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks) {
    constexpr uint32_t kAhead = 16; // sequences whose sources are asked for before they are compared
    sequences.clear();
    uint32_t at = 0, literals = 0;
    for (const ChunkView &chunk : chunks) {
        uint32_t ahead = at;
        for (uint32_t k = 0; k < chunk.count + kAhead; k++) {
            if (k < chunk.count) {
                const Sequence &s = chunk.sequences[k];
                const uint32_t offset = s.offset_code & kOffsetMask;
                ahead += s.literals;
                if (offset <= ahead) __builtin_prefetch(text + ahead - offset);
                ahead += s.length;
            }
            if (k < kAhead) continue;
            const Sequence &s = chunk.sequences[k - kAhead];
            const uint32_t offset = s.offset_code & kOffsetMask;
            at += s.literals;
            if (s.length < kMinMatch || offset == 0 || offset > at || at > n || s.length > n - at ||
                memcmp(text + at, text + at - offset, s.length) != 0)
                throw std::runtime_error("a match that is none");
            sequences.push_back({offset, literals + s.literals, s.length, 0});
            literals = 0;
            at += s.length;
        }
        literals += chunk.tail;
        at += chunk.tail;
        if (at % kBlock == 0 || at == n) sequences.push_back({0, literals, 0, 0}), literals = 0;
    }
    if (at != n) throw std::runtime_error("sequences of another text");
}

Coder::Result Coder::code(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks, int level) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    inner->join(text, n, chunks);
    const auto joined = Clock::now();
    int window = 10;
    while (window < 27 && (1u << window) < n) window++;
    // The frame before counts as unfinished after ZSTD_compressSequences.
    ZSTD_CCtx_reset(inner->context, ZSTD_reset_session_and_parameters);
    inner->set(ZSTD_c_compressionLevel, level);
    inner->set(ZSTD_c_windowLog, window);
    // The match finder's tables are not used; libzstd would clear them.
    inner->set(ZSTD_c_hashLog, 6);
    inner->set(ZSTD_c_chainLog, 6);
    inner->set(ZSTD_c_minMatch, 3);
    inner->set(ZSTD_c_checksumFlag, 1);
    inner->set(ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters);
    inner->set(ZSTD_c_validateSequences, 0);
#ifdef ZSTD_c_searchForExternalRepcodes
    inner->set(ZSTD_c_searchForExternalRepcodes, ZSTD_ps_enable);
#endif
    if (out.size() < ZSTD_compressBound(n)) out.resize(ZSTD_compressBound(n));
    const size_t size = ZSTD_compressSequences(inner->context, out.data(), out.size(), inner->sequences.data(),
                                               inner->sequences.size(), text, n);
    if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
    const std::chrono::duration<double> compare = joined - start, code = Clock::now() - joined;
    return {size, compare.count(), code.count()};
}

} // namespace zst
