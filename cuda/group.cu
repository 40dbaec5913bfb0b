// group.cu: from sorted keys to groups of rotations that are still tied, to ranks, and to final rows.
//
// A group is a run of equal keys. sort.cu's running maximum gives each member the place where its run begins, and one
// read tells whether a group has more than kSmall members: does the place kSmall further on begin at the same head? A
// CTA handles the small groups that begin in its window (and so loads kSmall places beyond it), and the single
// rotations and members of large groups in the window itself.
//
// Used twice: for all rotations after the first sort (their places are their rows), and in each round for the large
// groups, which are sorted by (number of the group, rank after `depth` symbols). Groups are numbered as they are found,
// so the keys of most batches of 32 blocks have at most 32 bits: four passes of 16 bytes a key, not five of 24. With
// the heads' rows as numbers, a rotation took 130 ps in the first round of linux, with fewer bits 106 (H200).
//
// Twin: simulate() in sim/sim.hpp.
#include "device.cuh"

namespace hybz {

namespace {

// The list for a place, and where its run begins.
__device__ int categorize(const uint32_t *__restrict__ starts, uint32_t count, uint32_t window, uint32_t t,
                          uint32_t *start) {
    const uint32_t j = window + t;
    if (j >= count) return kNotMine;
    const uint32_t s = *start = starts[j];
    if (s == j && (j + 1 == count || starts[j + 1] == j + 1)) return t < kWindow ? kToDone : kNotMine;
    const bool large = s + kSmall < count && starts[s + kSmall] == s;
    if (large) return t < kWindow ? kToLarge : kNotMine;
    return s >= window && s - window < kWindow ? kToSmall : kNotMine;
}

__device__ void append(List out, uint32_t capacity, int category, uint32_t slot, uint32_t value, uint32_t head,
                       uint32_t depth) {
    const uint32_t at = category == kToSmall ? slot : capacity - 1 - slot;
    out.value[at] = value;
    out.head[at] = head;
    out.depth[at] = depth;
}

// Numbers a large group of the next round.
__device__ void number_group(LargeGroups large, uint32_t head, Counters *counters) {
    const uint32_t number = atomicAdd(&counters->groups, 1u);
    large.number_of[head >> kSmallBits] = number;
    large.head_of[number] = head;
}

template <bool kWide>
__global__ void __launch_bounds__(kThreads)
group_first_kernel(Batch batch, Groups<uint64_t> groups, int block_bits, List out, LargeGroups large, uint32_t capacity,
                   Counters *counters) {
    __shared__ SlotMemory memory;
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
        const uint64_t key = groups.keys[j];
        const uint32_t value = groups.values[j];
        const uint32_t block = uint32_t(key >> (64 - block_bits));
        const uint32_t base = batch.base[block];
        const uint32_t pitched = block << batch.pitch_bits;
        batch.rank[pitched + index_of<kWide>(value)] = start[k] - base;
        if (category[k] == kToDone) {
            finalize<kWide>(batch, pitched + j - base, value);
        } else {
            const uint32_t head = pitched + start[k] - base;
            const uint32_t depth = uint32_t(key & 127);
            if (start[k] == j) {
                batch.depth[head] = depth;
                if (category[k] == kToLarge) number_group(large, head, counters);
            }
            append(out, capacity, category[k], slot[k], value, head, depth);
        }
    }
}

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
    __shared__ SlotMemory memory;
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

cudaError_t group_first(const Batch &batch, const Groups<uint64_t> &groups, int block_bits, List out,
                        LargeGroups large, uint32_t capacity, Counters *counters, cudaStream_t stream) {
    const auto kernel = batch.wide ? group_first_kernel<true> : group_first_kernel<false>;
    kernel<<<blocks_for(groups.count, kWindow), kThreads, 0, stream>>>(batch, groups, block_bits, out, large, capacity,
                                                                       counters);
    return cudaGetLastError();
}

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
