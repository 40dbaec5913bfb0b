// lzw_codes.hpp: strips of LZW encoded and decoded by a core, for tables 4.8 and 4.9.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hybz {

using Bytes = std::vector<uint8_t>;
inline uint32_t width_of(uint32_t number) {
    uint32_t width = 9;
    while (width < 12 && 258 + number >= 1u << width) width++;
    return width;
}

// Encodes a strip; clears when the table is full.
inline Bytes encode(const uint8_t *text, size_t size) {
    Bytes out;
    uint64_t bits = 0;
    uint32_t held = 0, number = 0;
    std::vector<uint32_t> slots(1 << 13, ~0u); // code in the low 12 bits, above it the string: prefix and byte
    const auto put = [&](uint32_t code) {
        const uint32_t width = width_of(number++);
        bits = bits << width | code;
        for (held += width; held >= 8; held -= 8) out.push_back(uint8_t(bits >> (held - 8)));
    };
    const auto empty = [&] {
        put(256);
        std::fill(slots.begin(), slots.end(), ~0u);
        number = 0;
    };
    empty();
    for (size_t at = 0; at < size;) {
        uint32_t string = text[at++], slot = 0;
        for (; at < size; at++) {
            const uint32_t key = string << 8 | text[at];
            slot = key * 0x9e3779b1u >> 19;
            while (slots[slot] != ~0u && slots[slot] >> 12 != key) slot = (slot + 1) & 0x1fff;
            if (slots[slot] == ~0u) break;
            string = slots[slot] & 0xfff;
        }
        put(string);
        if (at == size) break;
        if (number == 3836) empty();
        else slots[slot] = (string << 8 | text[at]) << 12 | (258 + number - 1);
    }
    put(257);
    if (held) out.push_back(uint8_t(bits << (8 - held)));
    return out;
}

// Decodes as a core does: a table of places, and strings copied from there in steps of 16 bytes. For valid strips only;
// 32 bytes after the text may be overwritten.
inline void quick_decode(const uint8_t *coded, uint8_t *text, size_t length) {
    uint32_t starts[4097];
    uint32_t number = 0, width = 9;
    size_t at = 0, to = 0;
    while (to < length) {
        uint32_t word;
        memcpy(&word, coded + at / 8, 4);
        const uint32_t code = __builtin_bswap32(word) << (at % 8) >> (32 - width);
        at += width;
        if (code == 257) return;
        if (code == 256) {
            number = 0;
            width = 9;
            continue;
        }
        starts[number] = uint32_t(to);
        if (code < 256) {
            text[to++] = uint8_t(code);
        } else {
            const uint32_t from = starts[code - 258], size = starts[code - 257] - from + 1;
            uint32_t done = 0;
            do {
                uint8_t some[16];
                memcpy(some, text + from + done, 16);
                memcpy(text + to + done, some, 16);
            } while ((done += 16) < size);
            text[to + size - 1] = text[from + size - 1];
            to += size;
        }
        number++;
        if (258 + number >= 1u << width && width < 12) width++;
    }
}

} // namespace hybz
