// all.hpp: strips of ALL, Funasaka's format (2018), decoded on a device. It is for the tables alone: no other program
// reads it. theses/funasaka/src/all.rs describes it and writes it.
#pragma once
#include <cstdint>

namespace hybz {

constexpr uint32_t kAllDictionary = 4096;
constexpr uint32_t kAllShortRun = 3, kAllLongRun = 19, kAllLongCopy = 17; // the least of each kind
constexpr uint32_t kAllLongRuns = 3392;                                   // from this field on

struct AllStrip {
    uint64_t from, to; // the first byte of the strip in the input, and of its text in the output
    uint32_t coded, length; // bytes of both
};

// Decodes strips in device memory, which also holds `strips`, `status` and `next`, the number of the next strip. A
// status of 0 means valid. Returns the launch's error.
int decode_all(const uint8_t *in, const AllStrip *strips, uint32_t count, uint8_t *out, uint32_t *status,
               uint32_t *next);

} // namespace hybz
