// bytes.cuh: how far two places of a text agree, by a thread.
#pragma once
#include "steps.cuh"

namespace zst {

// Eight bytes from any address.
__device__ __forceinline__ uint64_t eight(const uint8_t *at) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(at);
    const uint64_t *words = reinterpret_cast<const uint64_t *>(address & ~uintptr_t(7));
    const uint32_t shift = uint32_t(address & 7) * 8;
    const uint64_t low = words[0];
    return shift ? low >> shift | words[1] << (64 - shift) : low;
}
__device__ __forceinline__ uint32_t equal_bytes(uint64_t difference) {
    const uint32_t low = uint32_t(difference), high = uint32_t(difference >> 32);
    return low ? uint32_t(__ffs(low) - 1) / 8 : high ? 4 + uint32_t(__ffs(high) - 1) / 8 : 8;
}
// How many bytes from `length` on, up to `limit`, are the same at a and b.
__device__ __forceinline__ uint32_t agree(const uint8_t *a, const uint8_t *b, uint32_t length, uint32_t limit) {
    while (length < limit) {
        const uint32_t same = equal_bytes(eight(a + length) ^ eight(b + length));
        length += same;
        if (same < 8) break;
    }
    return length < limit ? length : limit;
}

} // namespace zst
