// tied_lines.cu: from sorted keys to lines that are final and to the list of those that are still tied; and the keys by
// which these are sorted next.
#include "lines.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

// Of sorted keys: which of them are tied, and which begin a group.
struct Ties {
    const uint64_t *keys;
    const uint32_t *starts;
    uint32_t count;
    WholeLine whole;
    bool keep;

    __device__ bool is_single(uint32_t j) const {
        return starts[j] == j && (j + 1 == count || starts[j + 1] == j + 1);
    }
    __device__ bool is_listed(uint32_t j) const { return !whole(keys[j]) && (keep || !is_single(j)); }
    // 1 for a line that is listed; in the upper half for a group.
    __device__ uint64_t operator()(uint32_t j) const {
        if (!is_listed(j)) return 0;
        return starts[j] == j ? (uint64_t(1) << 32) + 1 : 1;
    }
};

struct AddBoth {
    __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

cudaError_t sum_ties(void *temporary, size_t *bytes, const Ties &ties, uint64_t *places, cudaStream_t stream) {
    const auto each = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), ties);
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, each, places, AddBoth{}, int(ties.count), stream);
}

// Writes the rows that are final. kFirst: the places of the keys are the rows.
template <bool kFirst>
__global__ void __launch_bounds__(kThreads)
settle_kernel(Ties ties, const uint32_t *__restrict__ values, const uint32_t *__restrict__ rows,
              uint32_t *__restrict__ order, uint8_t *__restrict__ same, uint32_t *__restrict__ tied) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    const bool mine = j < ties.count;
    const bool whole = mine && ties.whole(ties.keys[j]), single = mine && ties.is_single(j);
    if (mine && (whole || single)) {
        const uint32_t row = kFirst ? j : rows[j];
        order[row] = values[j];
        same[row] = !single && ties.starts[j] != j;
    }
    const uint32_t others = __ballot_sync(~0u, mine && !whole && !single);
    if ((threadIdx.x & 31) == 0 && others) atomicAdd(tied, uint32_t(__popc(others)));
}

template <bool kFirst>
__global__ void __launch_bounds__(kThreads)
list_kernel(Ties ties, const uint32_t *__restrict__ values, const uint64_t *__restrict__ places, TiedLines in,
            TiedLines out, uint32_t *__restrict__ first, uint32_t *__restrict__ common) {
    const uint32_t j = blockIdx.x * kThreads + threadIdx.x;
    if (j >= ties.count || !ties.is_listed(j)) return;
    const uint64_t place = places[j];
    const uint32_t k = uint32_t(place) - 1, group = uint32_t(place >> 32) - 1;
    out.line[k] = values[j];
    out.row[k] = kFirst ? j : in.row[j];
    out.depth[k] = kFirst ? uint32_t(ties.keys[j] & 127) : in.depth[j];
    out.group[k] = group;
    if (ties.starts[j] == j) {
        first[group] = k;
        common[group] = ~0u;
    }
}

// Eight bytes from `at` on, the first one lowest. The text has room behind it.
__device__ inline uint64_t eight_bytes(const uint8_t *__restrict__ text, uint32_t at) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(text) + at / 8;
    const uint32_t shift = at % 8 * 8;
    return shift ? words[0] >> shift | words[1] << (64 - shift) : words[0];
}

// How many bytes two places have in common, up to `most`.
__device__ inline uint32_t bytes_in_common(const uint8_t *__restrict__ text, uint32_t a, uint32_t b, uint32_t most) {
    for (uint32_t i = 0; i < most; i += 8) {
        const uint64_t other = eight_bytes(text, a + i) ^ eight_bytes(text, b + i);
        if (other == 0) continue;
        const uint32_t low = uint32_t(other);
        const uint32_t bit = low ? uint32_t(__ffs(low)) - 1 : uint32_t(__ffs(uint32_t(other >> 32))) + 31;
        return min(i + bit / 8, most);
    }
    return most;
}

// Of each group how many bytes its lines have in common, after those that are known to be: the least that one has with
// the first.
__global__ void __launch_bounds__(kThreads)
common_kernel(uint32_t count, TiedLines list, const uint32_t *__restrict__ first, const uint8_t *__restrict__ text,
              const uint32_t *__restrict__ begin, uint32_t limit, uint32_t *__restrict__ common) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    const uint32_t group = list.group[k], other = first[group];
    if (other == k) return;
    const uint32_t depth = list.depth[k], a = list.line[k], b = list.line[other];
    const uint32_t from_a = begin[a] + depth, from_b = begin[b] + depth;
    const uint32_t most = min(min(begin[a + 1] - 1 - from_a, begin[b + 1] - 1 - from_b), limit);
    atomicMin(&common[group], bytes_in_common(text, from_a, from_b, most));
}

__global__ void __launch_bounds__(kThreads)
tied_keys_kernel(uint32_t count, TiedLines list, const uint32_t *__restrict__ common, const uint8_t *__restrict__ text,
                 const uint32_t *__restrict__ begin, int group_bits, uint32_t chars, uint64_t *__restrict__ keys,
                 uint32_t *__restrict__ values) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    const uint32_t group = list.group[k], line = list.line[k];
    const uint32_t more = common[group];
    // ~0: a single line, which was kept.
    const uint32_t depth = list.depth[k] + (more == ~0u ? 0 : more);
    const uint32_t from = begin[line] + depth, rest = begin[line + 1] - 1 - from;
    // The bytes, zeros behind a line that ends, and how many there are: the end comes before every byte.
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < chars; i++) bytes = bytes << 8 | (i < rest ? text[from + i] : 0u);
    const uint32_t left = min(rest, chars + 1);
    keys[k] = uint64_t(group) << (64 - group_bits) | (bytes << 4 | left) << (60 - group_bits - int(chars) * 8);
    values[k] = line;
    list.depth[k] = depth + chars;
}

Ties ties_of(const SortingLines &s, const LineRound &round) {
    return {s.sort.keys[s.sort.current], s.starts, round.count, round.whole, round.keep};
}

} // namespace

cudaError_t settle_lines(const SortingLines &s, const LineRound &round, void *temporary, size_t bytes,
                         cudaStream_t stream) {
    const Ties ties = ties_of(s, round);
    const uint32_t *values = s.sort.values[s.sort.current], *rows = s.tied[round.from].row;
    const auto kernel = round.first ? settle_kernel<true> : settle_kernel<false>;
    kernel<<<blocks_for(round.count, kThreads), kThreads, 0, stream>>>(ties, values, rows, s.order, s.same,
                                                                       s.flags + 1);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? sum_ties(temporary, &bytes, ties, s.places, stream) : error;
}

cudaError_t list_lines(const SortingLines &s, const LineRound &round, cudaStream_t stream) {
    const auto kernel = round.first ? list_kernel<true> : list_kernel<false>;
    kernel<<<blocks_for(round.count, kThreads), kThreads, 0, stream>>>(
        ties_of(s, round), s.sort.values[s.sort.current], s.places, s.tied[round.from], s.tied[1 - round.from], s.first,
        s.common);
    return cudaGetLastError();
}

cudaError_t tied_keys(const SortingLines &s, uint32_t count, int from, int group_bits,
                      uint32_t chars, uint32_t limit, cudaStream_t stream) {
    const TiedLines list = s.tied[from];
    common_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(count, list, s.first, s.text, s.begin, limit,
                                                                       s.common);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    tied_keys_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
        count, list, s.common, s.text, s.begin, group_bits, chars, s.sort.keys[0], s.sort.values[0]);
    return cudaGetLastError();
}

cudaError_t line_scans_temporary(uint32_t max_lines, uint32_t max_bytes, size_t *bytes) {
    size_t for_ties = 0, for_sums = 0;
    cudaError_t error = sum_ties(nullptr, &for_ties, {nullptr, nullptr, max_lines, {}, false}, nullptr, 0);
    if (error == cudaSuccess)
        error = sum_up(nullptr, &for_sums, nullptr, max(max_lines, blocks_for(max_bytes, kLineTile)), 0);
    *bytes = max(for_ties, for_sums);
    return error;
}

} // namespace hybz
