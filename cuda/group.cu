// group.cu: a round of the large groups: from sorted keys to groups that are still tied, to lists, and to final rows.
//
// Their members are sorted by (number of the group, rank after `depth` symbols). Groups are numbered as they are
// found, so the keys of most batches of 32 blocks have at most 32 bits: four passes of 16 bytes a key, not five of 24.
// With the heads' rows as numbers, a rotation took 130 ps in the first round of linux, and with fewer bits 106 (H200).
//
// Twin: simulate() in sim/sim.hpp.
#include "groups.cuh"

namespace hybz {

namespace {

template <class Key, bool kWide>
__global__ void __launch_bounds__(kThreads)
large_keys_kernel(Batch batch, List in, uint32_t capacity, uint32_t count, const uint32_t *__restrict__ number_of,
                  Key *__restrict__ keys, uint32_t *__restrict__ values) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= count) return;
    const uint32_t at = capacity - 1 - j;
    const uint32_t value = in.value[at], head = in.head[at];
    const Key number = number_of[head >> kSmallBits];
    keys[j] = number << batch.pitch_bits | rank_after<kWide>(batch, head, value, in.depth[at]);
    values[j] = value;
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
mark_first_kernel(const Key *__restrict__ keys, uint32_t count, int pitch_bits, uint32_t *__restrict__ first_of) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= count) return;
    const uint32_t number = uint32_t(keys[j] >> pitch_bits);
    if (j == 0 || uint32_t(keys[j - 1] >> pitch_bits) != number) first_of[number] = j;
}

template <class Key, bool kWide>
__global__ void __launch_bounds__(kThreads)
group_large_kernel(Batch batch, Groups<Key> groups, const uint32_t *__restrict__ head_of,
                   const uint32_t *__restrict__ first_of, List out, LargeGroups large, List done, uint32_t capacity,
                   Counters *counters) {
    __shared__ SlotMemory<kThreads> memory;
    const uint32_t window = blockIdx.x * kWindow;
    uint32_t start[kItems], slot[kItems];
    int category[kItems];
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++)
        category[k] = categorize(groups.starts, groups.count, window, place_of(k), &start[k]);
    assign_slots(memory, category, counters, slot);
#pragma unroll
    for (uint32_t k = 0; k < kItems; k++) {
        if (category[k] == kNotMine) continue;
        const uint32_t j = window + place_of(k);
        const Key key = groups.keys[j];
        const uint32_t value = groups.values[j];
        const uint32_t number = uint32_t(key >> batch.pitch_bits);
        const uint32_t old_head = head_of[number];
        const uint32_t head = old_head + start[k] - first_of[number];
        if (category[k] == kToDone) {
            finalize<kWide>(batch, head, value); // a single rotation is its own head
            done.value[slot[k]] = value;
            done.head[slot[k]] = head;
        } else {
            const uint32_t mask = (1u << batch.pitch_bits) - 1;
            const uint32_t other = (old_head & ~mask) | (uint32_t(key) & mask);
            if (category[k] == kToLarge && start[k] == j) number_group(large, head, counters);
            append(out, capacity, category[k], slot[k], value, head, batch.depth[old_head] + batch.depth[other]);
        }
    }
}

} // namespace

template <class Key>
cudaError_t large_keys(const Batch &batch, List in, uint32_t capacity, uint32_t count, const uint32_t *number_of,
                       Key *keys, uint32_t *values, cudaStream_t stream) {
    const auto kernel = batch.wide ? large_keys_kernel<Key, true> : large_keys_kernel<Key, false>;
    kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(batch, in, capacity, count, number_of, keys, values);
    return cudaGetLastError();
}

template <class Key>
cudaError_t group_large(const Batch &batch, const Groups<Key> &groups, const uint32_t *head_of, uint32_t *first_of,
                        List out, LargeGroups large, List done, uint32_t capacity, Counters *counters,
                        cudaStream_t stream) {
    const auto mark_first = mark_first_kernel<Key>;
    mark_first<<<blocks_for(groups.count, kThreads), kThreads, 0, stream>>>(groups.keys, groups.count,
                                                                           batch.pitch_bits, first_of);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    const auto kernel = batch.wide ? group_large_kernel<Key, true> : group_large_kernel<Key, false>;
    kernel<<<blocks_for(groups.count, kWindow), kThreads, 0, stream>>>(batch, groups, head_of, first_of, out, large,
                                                                       done, capacity, counters);
    return cudaGetLastError();
}

#define HYBZ_KEYS(Key)                                                                                                 \
    template cudaError_t large_keys<Key>(const Batch &, List, uint32_t, uint32_t, const uint32_t *, Key *, uint32_t *, \
                                         cudaStream_t);                                                                \
    template cudaError_t group_large<Key>(const Batch &, const Groups<Key> &, const uint32_t *, uint32_t *, List,      \
                                          LargeGroups, List, uint32_t, Counters *, cudaStream_t);
HYBZ_KEYS(uint64_t)
HYBZ_KEYS(uint32_t)

} // namespace hybz
