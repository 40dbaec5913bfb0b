// groups.cuh: what first.cu and group.cu share: sorted keys to groups.
//
// A group is a run of equal keys. sort.cu's running maximum gives each member the place where its run begins, and one
// read tells whether a group has more than kSmall members: it has if the place kSmall further on is in the same run. A
// CTA handles the small groups that begin in its window (and so loads kSmall places beyond it), and the single
// rotations and members of large groups in the window itself.
#pragma once
#include "device.cuh"

namespace hybz {

// Chooses the list for a place, and sets where its run begins.
__device__ inline int categorize(const uint32_t *__restrict__ starts, uint32_t count, uint32_t window, uint32_t t,
                                 uint32_t *start) {
    const uint32_t j = window + t;
    if (j >= count) return kNotMine;
    const uint32_t s = *start = starts[j];
    if (s == j && (j + 1 == count || starts[j + 1] == j + 1)) return t < kWindow ? kToDone : kNotMine;
    const bool large = s + kSmall < count && starts[s + kSmall] == s;
    if (large) return t < kWindow ? kToLarge : kNotMine;
    return s >= window && s - window < kWindow ? kToSmall : kNotMine;
}

__device__ inline void append(List out, uint32_t capacity, int category, uint32_t slot, uint32_t value, uint32_t head,
                              uint32_t depth) {
    const uint32_t at = category == kToSmall ? slot : capacity - 1 - slot;
    out.value[at] = value;
    out.head[at] = head;
    out.depth[at] = depth;
}

// Numbers a large group of the next round.
__device__ inline void number_group(LargeGroups large, uint32_t head, Counters *counters) {
    const uint32_t number = atomicAdd(&counters->groups, 1u);
    large.number_of[head >> kSmallBits] = number;
    large.head_of[number] = head;
}

} // namespace hybz
