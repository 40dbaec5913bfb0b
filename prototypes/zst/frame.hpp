// frame.hpp: sequences to a frame of zstd's, by libzstd, on one core.
#pragma once
#include "model.hpp"
#include <cstddef>
#include <vector>

namespace zst {

// A chunk's sequences as they lie in memory.
struct ChunkView {
    const Sequence *sequences;
    uint32_t count, tail;
};

// What a core keeps from frame to frame.
class Coder {
  public:
    Coder();
    Coder(const Coder &) = delete;
    ~Coder();
    // Codes a text: one frame, its window as large. Compares every match first: a wrong one throws, as does a failure
    // of libzstd. `out` [0..size-1]. The seconds are those of comparing and of coding.
    struct Result {
        size_t size;
        double compare, code;
    };
    Result code(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks, int level);
    std::vector<uint8_t> out;

  private:
    struct Inner;
    Inner *inner;
};

} // namespace zst
