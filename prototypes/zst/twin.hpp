// twin.hpp: every step on one core, plainly. The kernels must come to the same answers.
#pragma once
#include "model.hpp"
#include <string>
#include <vector>

namespace zst {

// A text has kPad zero bytes more than `n`.
std::vector<uint32_t> suffix_array(const uint8_t *text, uint32_t n);
// [position] how many bytes a suffix has in common with that of the row before, up to kCap.
std::vector<uint16_t> common_prefixes(const uint8_t *text, uint32_t n, const std::vector<uint32_t> &order);

std::vector<Far> far_matches(uint32_t n, const std::vector<uint32_t> &order, const std::vector<uint16_t> &common);

// [table][position] How far back the last place with the same hash is, in the same piece and less than 64 KB away; 0:
// none.
std::vector<uint16_t> near_matches(const uint8_t *text, uint32_t n);

std::vector<Matches> all_matches(const uint8_t *text, uint32_t n, const std::vector<Far> &far,
                                 const std::vector<uint16_t> &near);

// What the parse leaves of a chunk: sequences, literals behind the last of them, and for the next pass the state at
// its end.
struct Chunk {
    std::vector<Sequence> sequences;
    uint32_t tail;
    State end;
};
std::vector<Prices> first_prices(const uint8_t *text, uint32_t n);
std::vector<Chunk> parse(const uint8_t *text, uint32_t n, const std::vector<Matches> &matches,
                         const std::vector<Prices> &prices, const std::vector<State> &starts);
// The states that chunks begin with: those at the ends before them, or before the first pass zstd's own.
std::vector<State> starts_of(uint32_t n, const std::vector<Chunk> *before);
std::vector<Prices> prices_of(const uint8_t *text, uint32_t n, const std::vector<Chunk> &chunks);

} // namespace zst
