// Stands in for Thrust's header.
#pragma once
#include <cstdint>

namespace thrust {

template <class In, class F> struct transform_iterator {
    In in;
    F f;
    auto operator[](uint32_t i) const { return f(in[i]); }
};

template <class In, class F> transform_iterator<In, F> make_transform_iterator(In in, F f) { return {in, f}; }

} // namespace thrust
