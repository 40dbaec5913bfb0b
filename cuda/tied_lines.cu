// tied_lines.cu: from sorted keys to final lines and to the list of lines that are still tied.
//
// Groups of up to kSmallLines lines are sorted immediately, kStep bytes a step: each line counts the smaller lines of
// its group, which gives its place, and the equal lines, which form its new group. A step reads the bytes of each line
// once, and the other lines see them in shared memory; groups become small after a step or two. There are at most
// kLineSteps steps; lines that still agree are listed as a separate group.
//
// With groups of up to 16, and a bit for each other line instead of counts, a line that was left to the rounds cost
// 280 to 340 ps a round (H200, words and paths of 600 MB), and a round of few lines 100 us.
#include "lines.cuh"
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

constexpr uint32_t kSettleThreads = 512;
constexpr uint32_t kSmallLines = 128;
constexpr uint32_t kLineWindow = kSettleThreads - kSmallLines; // a CTA has the small groups that begin in its window
constexpr uint32_t kStep = 7, kLineSteps = 64, kReach = kStep * kLineSteps;

// Sorted keys, and the results. A place that stays tied has its line in `lines` and the start of its group in `runs`
// (with kListed, and kFar if the group agrees on kReach bytes beyond its keys); all other places have 0 there.
struct Sorted {
    SortingLines s;
    uint32_t count;
    int number_bits;
    const uint64_t *keys;
    const uint32_t *values;
    uint32_t *runs, *lines;
    TiedLines in, out;

    __device__ bool is_whole(uint32_t j) const { return !(keys[j] & 128); }
    // The length of the common prefix of a group's lines.
    __device__ uint32_t depth(uint32_t j) const {
        return s.keyed[keys[j] >> (64 - number_bits)] + uint32_t(keys[j] & 127);
    }
    __device__ bool is_single(uint32_t j) const {
        return s.starts[j] == j && (j + 1 == count || s.starts[j + 1] == j + 1);
    }
    __device__ bool is_large(uint32_t j) const {
        const uint32_t last = s.starts[j] + kSmallLines;
        return last < count && s.starts[last] == s.starts[j];
    }
};
constexpr uint32_t kListed = 1u << 31, kFar = 1u << 30, kPlace = kFar - 1;
static_assert(HYBZ_MAX_LINES(HYBZ_MAX_TEXT) < kPlace, "a place fits");

// 1 for a listed line; and 1 in the upper half where a group begins.
struct Listed {
    const uint32_t *runs;
    __device__ uint64_t operator()(uint32_t p) const {
        if (!(runs[p] & kListed)) return 0;
        return (runs[p] & kPlace) == p ? (uint64_t(1) << 32) + 1 : 1;
    }
};

cudaError_t sum_listed(SortingLines &s, const uint32_t *runs, uint32_t count, cudaStream_t stream) {
    const auto each = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), Listed{runs});
    return cub::DeviceScan::InclusiveScan(s.temporary, s.temporary_bytes, each, s.places, Sum{}, int(count), stream);
}

__device__ inline uint32_t swapped(uint32_t word) { return __byte_perm(word, 0, 0x0123); }

// Up to seven bytes of a line, zero-padded, and below them their number. The values compare in the order of the lines.
__device__ inline uint64_t ordered_bytes(const uint8_t *__restrict__ text, uint32_t at, uint32_t rest) {
    if (rest == 0) return 0;
    const uint64_t bytes = bytes_at(text, at);
    const uint64_t number = uint64_t(swapped(uint32_t(bytes))) << 32 | swapped(uint32_t(bytes >> 32));
    const uint32_t count = min(rest, kStep);
    return (number & ~uint64_t(0) << (64 - count * 8)) | count;
}

// A line of the tile: its place, and the group in which it is still tied. A group of one is not tied.
struct Member {
    uint32_t place, first, size;
    uint32_t at, rest; // the bytes not compared yet
    bool equal;        // its group's lines are equal
    __device__ bool is_tied() const { return size > 1 && !equal; }
};

// Sorts the groups of the tile; all threads of the CTA call it.
__device__ void sort_groups(uint64_t (&shown)[kSettleThreads], const uint8_t *__restrict__ text, Member &mine) {
    for (uint32_t step = 0; step < kLineSteps && __syncthreads_or(mine.is_tied()); step++) {
        const bool tied = mine.is_tied();
        uint64_t bytes = 0;
        if (tied) shown[mine.place] = bytes = ordered_bytes(text, mine.at, mine.rest);
        __syncthreads();
        if (!tied) continue;
        uint32_t smaller = 0, before = 0, same = 0;
        for (uint32_t other = mine.first; other < mine.first + mine.size; other++) {
            const uint64_t theirs = shown[other];
            smaller += theirs < bytes;
            same += theirs == bytes;
            before += theirs == bytes && other < mine.place;
        }
        mine.first += smaller;
        mine.place = mine.first + before;
        mine.size = same;
        const uint32_t count = uint32_t(bytes & 255);
        mine.equal = count < kStep;
        mine.at += count;
        mine.rest -= count;
    }
}

// Writes the final rows, and marks the lines that stay tied. With kFirst, the places of the keys are the rows.
template <bool kFirst> __global__ void __launch_bounds__(kSettleThreads) settle_kernel(Sorted sorted) {
    __shared__ uint64_t shown[kSettleThreads];
    __shared__ uint32_t last[kSettleThreads]; // at each group's first place: its last place
    const SortingLines &s = sorted.s;
    const uint32_t t = threadIdx.x, window = blockIdx.x * kLineWindow, j = window + t;
    bool mine = j < sorted.count, tied = false, small = false;
    uint32_t start = 0, line = 0;
    if (mine) {
        start = s.starts[j];
        line = sorted.values[j];
        tied = !sorted.is_single(j) && !sorted.is_whole(j);
        small = tied && !sorted.is_large(j);
        mine = small ? start >= window && start - window < kLineWindow : t < kLineWindow;
        small = small && mine;
    }
    if (kFirst) {
        const int count = __syncthreads_count(mine && tied);
        if (t == 0 && count) atomicAdd(&s.flags[kTied], uint32_t(count));
    }
    Member member{t, t, 1, 0, 0, false};
    if (small) {
        member.first = start - window;
        if (j + 1 == sorted.count || s.starts[j + 1] != start) last[member.first] = t;
        member.at = s.begin[line] + sorted.depth(j);
        member.rest = s.begin[line + 1] - 1 - member.at;
    }
    __syncthreads();
    if (small) member.size = last[member.first] + 1 - member.first;
    sort_groups(shown, s.text, member);
    if (!mine) return;
    const uint32_t place = small ? window + member.place : j;
    if (small) start = window + member.first;
    const bool listed = small ? member.is_tied() : tied;
    sorted.runs[place] = listed ? kListed | (small ? kFar : 0) | start : 0;
    if (listed) {
        sorted.lines[place] = line;
        return;
    }
    const uint32_t row = kFirst ? place : sorted.in.row[place];
    s.order[row] = line;
    s.same[row] = place != start;
}

template <bool kFirst> __global__ void __launch_bounds__(kThreads) list_kernel(Sorted sorted) {
    const SortingLines &s = sorted.s;
    const uint32_t p = blockIdx.x * kThreads + threadIdx.x;
    if (p >= sorted.count) return;
    const uint32_t run = sorted.runs[p];
    if (!(run & kListed)) return;
    const uint64_t place = s.places[p];
    const uint32_t k = uint32_t(place) - 1, group = uint32_t(place >> 32) - 1;
    sorted.out.line[k] = sorted.lines[p];
    sorted.out.row[k] = kFirst ? p : sorted.in.row[p];
    sorted.out.group[k] = group;
    if ((run & kPlace) == p) {
        s.first[group] = k;
        s.depth[group] = sorted.depth(p) + (run & kFar ? kReach : 0);
        s.common[group] = ~0u;
    }
}

// For each group, the bytes that its lines have in common beyond those already known: the min over its lines of the
// common prefix with the first line.
__global__ void __launch_bounds__(kThreads)
common_kernel(SortingLines s, uint32_t count, TiedLines list, uint32_t limit) {
    const uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    uint32_t group = ~0u, mine = ~0u;
    if (k < count) {
        group = list.group[k];
        const uint32_t other = s.first[group];
        // The results of other threads so far bound the comparison, even if they are stale.
        const uint32_t most = min(limit, s.common[group]);
        if (other != k) mine = common_bytes_of(s, list.line[k], list.line[other], s.depth[group], most);
    }
    lower_common(s.common, group, mine);
}

// The sorted keys; the results go to the sort's other buffers.
Sorted sorted_keys(const SortingLines &s, const LineRound &round) {
    const int now = s.sort.current;
    return {s,
            round.count,
            round.number_bits,
            s.sort.keys[now],
            s.sort.values[now],
            reinterpret_cast<uint32_t *>(s.sort.keys[1 - now]),
            s.sort.values[1 - now],
            s.tied[round.from],
            s.tied[1 - round.from]};
}

} // namespace

cudaError_t settle_lines(SortingLines &s, const LineRound &round, cudaStream_t stream) {
    const Sorted sorted = sorted_keys(s, round);
    const auto kernel = round.first ? settle_kernel<true> : settle_kernel<false>;
    kernel<<<blocks_for(round.count, kLineWindow), kSettleThreads, 0, stream>>>(sorted);
    const cudaError_t error = sum_listed(s, sorted.runs, round.count, stream);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t list_lines(const SortingLines &s, const LineRound &round, cudaStream_t stream) {
    const auto kernel = round.first ? list_kernel<true> : list_kernel<false>;
    kernel<<<blocks_for(round.count, kThreads), kThreads, 0, stream>>>(sorted_keys(s, round));
    return cudaGetLastError();
}

cudaError_t common_bytes(const SortingLines &s, uint32_t count, int from, uint32_t limit, cudaStream_t stream) {
    common_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(s, count, s.tied[from], limit);
    return cudaGetLastError();
}

cudaError_t line_scans_temporary(uint32_t max_lines, uint32_t max_bytes, size_t *bytes) {
    SortingLines ties{}, sums{};
    cudaError_t error = sum_listed(ties, nullptr, max_lines, 0);
    if (error == cudaSuccess) error = sum_up(sums, nullptr, max(max_lines, blocks_for(max_bytes, kLineTile)), 0);
    *bytes = max(ties.temporary_bytes, sums.temporary_bytes);
    return error;
}

} // namespace hybz
