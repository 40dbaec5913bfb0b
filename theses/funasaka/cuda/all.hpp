// all.hpp: files of ALL, Shunji Funasaka's format (2018, chapter 5), decoded on a device. It is for the tables alone:
// no other program reads it. theses/funasaka/src/all/mod.rs describes it, and that program writes it.
#pragma once
#include <cstdint>

namespace hybz {

constexpr uint32_t kAllStrip = 65536, kAllDictionary = 4096, kAllRun = 4095;
constexpr uint32_t kAllTwoWords = 15; // the `l` of a code with two words
constexpr uint32_t kAllDamaged = ~0u;

// How a segment's text is written: a lane for each byte of it; in the five steps of section 5.2.3, a lane for each
// short code and all lanes for each long one; or as kAllBytes, without magic strings and predictor, which count as
// damage.
enum AllWay : uint32_t { kAllBytes, kAllSteps, kAllPlain };

// The number of strips of a file in host memory.
inline uint32_t all_strips(const uint8_t *file) {
    return (file[0] | file[1] << 8 | file[2] << 16 | uint32_t(file[3]) << 24) + 1;
}

// The length of a code whose second word is `c`.
#ifdef __CUDACC__
__device__ __host__
#endif
inline uint32_t all_long(uint32_t c) {
    return c <= 46 ? c + 18 : 16 * c - 672;
}

// Decodes a file of `size` bytes and `strips` strips, whose header is within it. All memory is the device's: `file`
// and the bytes up to the next multiple of four, at a multiple of four; `out`, 65,536 bytes for each strip, at a
// multiple of 16; and for each strip `lengths`, which becomes the length of its text or kAllDamaged, and `ends`, for
// the kernel's use; `next` is one number. Only the last strip of a valid file may be shorter than 65,536 bytes; that is
// not tested. Returns the launch's error.
int decode_all(const uint8_t *file, uint64_t size, uint32_t strips, uint8_t *out, uint32_t *lengths, uint64_t *ends,
               uint32_t *next, AllWay way);

} // namespace hybz
