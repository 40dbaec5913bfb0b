// suffixes.hpp: plain twins for whatever works on sorted suffixes: their order, and the neighbours of factor.cuh.
#pragma once
#include "shapes.hpp"
#include "sim.hpp"

namespace hybz {

// The suffixes of a text and its end mark in order; the mark's is the first. Nothing but the mark is 0, so the order of
// the rotations is that of the suffixes.
inline std::vector<uint32_t> suffix_order(const Text &text) {
    std::vector<uint32_t> rank(text.begin(), text.end());
    for (uint32_t &symbol : rank) symbol++;
    rank.push_back(0);
    return reference_order(rank);
}

// By position: the nearest smaller position before it in the order, and the nearest one after it; ~0: there is none.
using Neighbours = std::pair<uint32_t, uint32_t>;
inline std::vector<Neighbours> reference_neighbours(const std::vector<uint32_t> &order) {
    std::vector<Neighbours> all(order.size(), {~0u, ~0u});
    std::vector<uint32_t> stack;
    for (const uint32_t position : order) {
        for (; !stack.empty() && stack.back() > position; stack.pop_back()) all[stack.back()].second = position;
        if (!stack.empty()) all[position].first = stack.back();
        stack.push_back(position);
    }
    return all;
}

} // namespace hybz
