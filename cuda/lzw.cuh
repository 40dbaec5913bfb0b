// lzw.cuh: LZW strips as the kernels see them: the positions of codes, tasks, and their results.
#pragma once
#include "hybz.h"
#include <cstdint>
#include <cuda_runtime.h>

namespace hybz {

constexpr uint32_t kLzwClear = 256, kLzwEnd = 257, kLzwFirst = 258;
constexpr uint32_t kLzwMinBits = 9, kLzwMaxBits = 12;
constexpr uint32_t kLzwNamed = (1u << kLzwMaxBits) - kLzwFirst; // strings that a code can name
constexpr uint32_t kLzwCodes = 4862; // maximum after a clear: libtiff accepts more codes than can be named
// A task has at least this many codes, unless it is the last task of its strip. Tables are full after 3,836 codes.
constexpr uint32_t kLzwTask = 2048;

// The part of a strip from one clear to the next: it is decoded independently.
struct LzwTask {
    uint32_t strip;
    uint32_t begin, end; // in bits; the last task of a strip has an end of ~0: it continues until its codes end
};

// Why codes end; the first values are also the status of a strip.
enum LzwEvent : uint32_t {
    kLzwGoesOn = 0,
    kLzwUnknown = HYBZ_LZW_CODE,
    kLzwFull = HYBZ_LZW_TABLE,
    kLzwCut = HYBZ_LZW_LENGTH, // the end code, or the end of the input
    kLzwCleared,
};

// The result of a task: the length of its text, and the cause of its end.
struct LzwFound {
    uint32_t length;
    uint32_t event, code, known; // kLzwUnknown: the code, and the number of known codes
};

// The bytes of a code.
struct LzwBytes {
    uint32_t a, b, c;
};

// A strip's codes. Code number `m` after a clear has the fewest bits `w` for which early + m < 2^w.
struct LzwCodes {
    const uint8_t *bytes;
    uint32_t size, bits, early;

    __device__ LzwCodes(const uint8_t *bytes, uint32_t size) : bytes(bytes), size(size), bits(size * 8) {
        // Old versions of libtiff wrote the least significant bits first; a clear in this order is unambiguous.
        early = size >= 2 && bytes[0] == 0 && (bytes[1] & 1) ? kLzwFirst - 1 : kLzwFirst;
    }
    __device__ bool is_old() const { return early != kLzwFirst; }
    __device__ uint32_t width(uint32_t number) const {
        return min(max(32u - uint32_t(__clz(early + number)), kLzwMinBits), kLzwMaxBits);
    }
    // The bits between a clear and the code of this number.
    __device__ uint32_t before(uint32_t number) const {
        uint32_t sum = kLzwMinBits * number;
#pragma unroll
        for (uint32_t width = kLzwMinBits; width < kLzwMaxBits; width++)
            sum += number - min(number, (1u << width) - early);
        return sum;
    }
    // The bytes that contain the code at a bit; beyond the strip's end they are arbitrary.
    __device__ LzwBytes bytes_at(uint32_t bit) const {
        if (size == 0) return {0, 0, 0};
        const uint32_t from = bit >> 3, last = size - 1;
        return {bytes[min(from, last)], bytes[min(from + 1, last)], bytes[min(from + 2, last)]};
    }
    __device__ uint32_t code(const LzwBytes &there, uint32_t bit, uint32_t width) const {
        const uint32_t shift = bit & 7, mask = (1u << width) - 1;
        return (is_old() ? (there.a | there.b << 8 | there.c << 16) >> shift
                         : (there.a << 16 | there.b << 8 | there.c) >> (24 - shift - width)) &
               mask;
    }
};

// One lane's code of a group of 32.
struct LzwCode {
    uint32_t number, bit, width, code;
    LzwEvent event; // its meaning, if it is not a string

    __device__ LzwCode(const LzwCodes &codes, uint32_t segment, uint32_t number, const LzwBytes &bytes)
        : number(number), bit(segment + codes.before(number)), width(codes.width(number)) {
        const bool there = bit + width <= codes.bits;
        code = there ? codes.code(bytes, bit, width) : kLzwEnd;
        event = code == kLzwEnd       ? kLzwCut
                : code == kLzwClear   ? kLzwCleared
                : number >= kLzwCodes ? kLzwFull
                                      : kLzwGoesOn;
    }
    __device__ LzwCode(const LzwCodes &codes, uint32_t segment, uint32_t number)
        : LzwCode(codes, segment, number, codes.bytes_at(segment + codes.before(number))) {}
    __device__ uint32_t end() const { return bit + width; }
    __device__ bool is_literal() const { return code < 256; }
    // The number of the code whose string, plus one byte, is this code's string.
    __device__ uint32_t entry() const { return code - kLzwFirst; }
};

} // namespace hybz
