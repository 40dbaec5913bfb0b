// frame.hpp: sequences to a frame of zstd's, by libzstd, on one core.
#pragma once
#include "model.hpp"
#include <vector>

namespace zst {

// A chunk's sequences as they lie in memory.
struct ChunkView {
    const Sequence *sequences;
    uint32_t count, tail;
};

// Codes a text (one frame, its window as large). Compares every match first: a wrong one throws. Empty: libzstd failed,
// and has said why.
std::vector<uint8_t> code_frame(const uint8_t *text, uint32_t n, const std::vector<ChunkView> &chunks, int level,
                                double seconds[2]);

} // namespace zst
