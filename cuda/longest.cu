// longest.cu: the longest earlier occurrence at each position, in text order.
//
// If position i has a common prefix with a neighbour, position i + 1 has it, less a byte, with its own neighbour on
// that side (the Phi rule). A thread that handles a run of consecutive positions therefore compares each byte once or
// twice. It knows nothing about its first position, so the same is done earlier for each 128th position, and so on,
// until one run covers all. On each level all comparisons together are linear in the text.
//
// A single comparison may still be as long as the text. On the levels with few positions all threads of a CTA or a
// warp therefore compare together; on the lowest, a thread compares 128 bytes before its warp helps. Mostly neither
// takes long: once a comparison reaches the next run's first position, the rest is known if that position's neighbour
// is as far on: then both comparisons are of the same bytes.
//
// Twin: crates/factor/src/tiled/longest.rs, which compares in full instead.
#include "factor.cuh"

namespace hybz {

namespace {

constexpr uint32_t kTeamThreads = 1024; // of a CTA that compares together
constexpr uint32_t kOpen = 0x80000000;  // flag of a length: equal so far, and not compared further

// The number of equal bytes at the start of 16.
__device__ inline uint32_t equal_bytes(const uint8_t *text, uint32_t a, uint32_t b) {
    const uint64_t low = bytes_at(text, a) ^ bytes_at(text, b), high = bytes_at(text, a + 8) ^ bytes_at(text, b + 8);
    if (low) return uint32_t(__ffsll(static_cast<long long>(low)) - 1) / 8;
    return high ? 8 + uint32_t(__ffsll(static_cast<long long>(high)) - 1) / 8 : 16;
}

// The min of all threads' values, for a team of 32 or kTeamThreads.
template <uint32_t kTeam> __device__ uint32_t least_of_team(uint32_t (&parts)[32], uint32_t value) {
    value = __reduce_min_sync(~0u, value);
    if (kTeam == 32) return value;
    __syncthreads(); // all have read
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
    __syncthreads();
    return __reduce_min_sync(~0u, parts[threadIdx.x & 31]);
}

// The length of the common prefix of the suffixes at `before` and `at`, if `len` bytes are known to be common; from
// `limit` on it may stop, with the flag kOpen. All threads of the team have the same arguments and results.
template <uint32_t kTeam>
__device__ uint32_t common_by_team(uint32_t (&parts)[32], const Factoring &f, uint32_t before, uint32_t at,
                                   uint32_t len, uint32_t limit) {
    for (;;) {
        const uint32_t offset = len + threadIdx.x % kTeam * 16;
        const uint32_t left = at + offset < f.n ? f.n - at - offset : 0;
        const uint32_t equal = left ? min(equal_bytes(f.text, before + offset, at + offset), left) : 0;
        const uint32_t end = least_of_team<kTeam>(parts, equal < 16 ? offset + equal : kNowhere);
        if (end != kNowhere) return end;
        len += kTeam * 16;
        if (len >= limit) return len | kOpen;
    }
}

// The same by one thread. The caller has made the first step: `differ` has the bits in which eight bytes differ.
__device__ inline uint32_t common_alone(const Factoring &f, uint32_t before, uint32_t at, uint32_t len, uint32_t limit,
                                        uint64_t differ) {
    while (differ == 0) {
        len += 8;
        if (len >= f.n - at) return f.n - at;
        if (len >= limit) return len | kOpen;
        differ = bytes_at(f.text, before + len) ^ bytes_at(f.text, at + len);
    }
    return min(len + uint32_t(__ffsll(static_cast<long long>(differ)) - 1) / 8, f.n - at);
}

// The first position of the next run, if its result is known.
struct NextRun {
    uint32_t at; // kNowhere: there is none
    uint2 known;
};

__device__ inline NextRun next_run(const Factoring &f, uint32_t level, uint32_t run) {
    const uint64_t at = uint64_t(run + 1) << (kRunBits * (level + 1));
    if (level + 1 >= f.strides || at >= f.n) return {kNowhere, {0, 0}};
    return {uint32_t(at), f.known[level + 1][run + 1]};
}

// The common prefix with a neighbour, if all bytes are equal up to the next run and that run's comparison continues
// this one; otherwise `len` as it is.
template <bool kLarger>
__device__ inline uint32_t by_next_run(const Factoring &f, const NextRun &next, uint32_t before, uint32_t at,
                                       uint32_t len) {
    if (next.at == kNowhere || (len & ~kOpen) < next.at - at) return len;
    const uint2 pair = f.pairs[f.rank[next.at]];
    if ((kLarger ? pair.y : pair.x) != before + (next.at - at)) return len;
    return (kLarger ? next.known.y : next.known.x) + (next.at - at);
}

template <uint32_t kTeam, bool kLarger>
__device__ uint32_t side_by_team(uint32_t (&parts)[32], const Factoring &f, const NextRun &next, uint32_t before,
                                 uint32_t at, uint32_t least) {
    if (before == kNowhere) return 0;
    const uint32_t limit = next.at == kNowhere ? kNowhere : next.at - at;
    uint32_t len = common_by_team<kTeam>(parts, f, before, at, least, limit);
    if (len & kOpen) len = by_next_run<kLarger>(f, next, before, at, len);
    if (len & kOpen) len = common_by_team<kTeam>(parts, f, before, at, len & ~kOpen, kNowhere);
    return len;
}

// A level above the lowest: one team for each run.
template <uint32_t kTeam>
__global__ void __launch_bounds__(kTeam == 32 ? kThreads : kTeamThreads)
sparse_kernel(Factoring f, uint32_t level, uint32_t runs) {
    __shared__ uint32_t parts[32];
    constexpr uint32_t kTeams = kTeam == 32 ? kThreads / 32 : 1;
    const uint32_t run = blockIdx.x * kTeams + threadIdx.x / kTeam;
    if (run >= runs) return;
    const uint32_t stride = 1u << (kRunBits * level);
    const NextRun next = next_run(f, level, run);
    uint2 lens = level + 1 < f.strides ? f.known[level + 1][run] : make_uint2(0, 0);
    uint2 pairs = make_uint2(kNowhere, kNowhere);
    for (uint32_t k = 0; k < kRun; k++) {
        const uint64_t position = uint64_t(run * kRun + k) << (kRunBits * level);
        if (position >= f.n) return;
        const uint32_t at = uint32_t(position), lane = threadIdx.x & 31;
        // One lane for each position, so that 32 lanes wait for their neighbours at the same time.
        if (k % 32 == 0) {
            const uint64_t own = position + (uint64_t(lane) << (kRunBits * level));
            if (own < f.n) pairs = f.pairs[f.rank[own]];
        }
        const uint2 pair = make_uint2(__shfl_sync(~0u, pairs.x, k % 32), __shfl_sync(~0u, pairs.y, k % 32));
        // The first position of a run is known. (On the first level, that is position 0.)
        const uint32_t less = k ? stride : 0;
        lens.x = side_by_team<kTeam, false>(parts, f, next, pair.x, at, lens.x - min(lens.x, less));
        lens.y = side_by_team<kTeam, true>(parts, f, next, pair.y, at, lens.y - min(lens.y, less));
        if (threadIdx.x % kTeam == 0) f.known[level][run * kRun + k] = lens;
    }
}

// For a whole warp: finishes the comparisons that its lanes have left open.
__device__ inline uint32_t with_help(uint32_t (&parts)[32], const Factoring &f, uint32_t before, uint32_t at,
                                     uint32_t len) {
    for (uint32_t open = __ballot_sync(~0u, (len & kOpen) != 0); open; open &= open - 1) {
        const uint32_t who = __ffs(open) - 1;
        const uint32_t its_before = __shfl_sync(~0u, before, who), its_at = __shfl_sync(~0u, at, who);
        const uint32_t so_far = __shfl_sync(~0u, len, who) & ~kOpen;
        const uint32_t found = common_by_team<32>(parts, f, its_before, its_at, so_far, kNowhere);
        if ((threadIdx.x & 31) == who) len = found;
    }
    return len;
}

// The common prefixes of one position with both neighbours, of which `least` bytes are known. Both comparisons wait for
// memory at the same time.
__device__ inline uint2 both_sides(uint32_t (&parts)[32], const Factoring &f, const NextRun &next, uint2 pair,
                                   uint32_t at, uint2 least, bool is_any) {
    uint2 lens = make_uint2(0, 0);
    const bool smaller = is_any && pair.x != kNowhere, larger = is_any && pair.y != kNowhere;
    if (is_any) {
        const uint32_t before_x = smaller ? pair.x : 0, before_y = larger ? pair.y : 0;
        const uint64_t differ_x = bytes_at(f.text, before_x + least.x) ^ bytes_at(f.text, at + least.x);
        const uint64_t differ_y = bytes_at(f.text, before_y + least.y) ^ bytes_at(f.text, at + least.y);
        if (smaller) lens.x = common_alone(f, pair.x, at, least.x, least.x + kRun, differ_x);
        if (larger) lens.y = common_alone(f, pair.y, at, least.y, least.y + kRun, differ_y);
        if (lens.x & kOpen) lens.x = by_next_run<false>(f, next, pair.x, at, lens.x);
        if (lens.y & kOpen) lens.y = by_next_run<true>(f, next, pair.y, at, lens.y);
    }
    if (__any_sync(~0u, ((lens.x | lens.y) & kOpen) != 0)) {
        lens.x = with_help(parts, f, pair.x, at, lens.x);
        lens.y = with_help(parts, f, pair.y, at, lens.y);
    }
    return lens;
}

// The lowest level: one thread for each run, four positions at a time.
__global__ void __launch_bounds__(kThreads) longest_kernel(Factoring f) {
    __shared__ uint32_t unused[32]; // a warp alone needs none
    const uint32_t run = blockIdx.x * kThreads + threadIdx.x;
    const uint32_t first = run * kRun;
    const NextRun next = next_run(f, 0, run);
    uint2 lens = f.strides > 1 && first < f.n ? f.known[1][run] : make_uint2(0, 0);
    for (uint32_t k = 0; k < kRun; k += 4) {
        uint2 pairs[4];
        uint32_t found[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t at = first + k + i;
            pairs[i] = at < f.n ? f.pairs[f.rank[at]] : make_uint2(kNowhere, kNowhere);
        }
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t at = first + k + i, less = k + i ? 1 : 0;
            const uint2 least = make_uint2(lens.x - min(lens.x, less), lens.y - min(lens.y, less));
            lens = both_sides(unused, f, next, pairs[i], at, least, at < f.n);
            found[i] = lens.x >= lens.y ? lens.x : lens.y | kLargerSide;
        }
        const uint32_t at = first + k;
        if (at + 4 <= f.n)
            *reinterpret_cast<uint4 *>(f.longest + at) = {found[0], found[1], found[2], found[3]};
        else
            for (uint32_t i = 0; i < 4; i++)
                if (at + i < f.n) f.longest[at + i] = found[i];
    }
}

__global__ void __launch_bounds__(kThreads) cut_kernel(Factoring f, uint32_t divisions) {
    const uint32_t at = blockIdx.x * kThreads + threadIdx.x;
    if (at >= f.n) return;
    uint64_t division = uint64_t(at) * divisions / f.n, end;
    do end = uint64_t(f.n) * ++division / divisions;
    while (end <= at);
    const uint32_t found = f.longest[at], side = found & kLargerSide, most = uint32_t(end) - at;
    f.longest[at] = side | min(found & ~kLargerSide, most);
}

} // namespace

cudaError_t find_longest(const Factoring &f, cudaStream_t stream) {
    for (uint32_t level = f.strides - 1; level > 0; level--) {
        const uint32_t runs = runs_of_level(f.n, level);
        // If runs are too long for a warp to compare quickly, there are few runs.
        const auto by_warp = sparse_kernel<32>, by_cta = sparse_kernel<kTeamThreads>;
        if (level == 1)
            by_warp<<<blocks_for(runs, kThreads / 32), kThreads, 0, stream>>>(f, level, runs);
        else
            by_cta<<<runs, kTeamThreads, 0, stream>>>(f, level, runs);
    }
    longest_kernel<<<blocks_for(f.n, kRun * kThreads), kThreads, 0, stream>>>(f);
    return cudaGetLastError();
}

cudaError_t cut_longest(const Factoring &f, uint32_t divisions, cudaStream_t stream) {
    cut_kernel<<<blocks_for(f.n, kThreads), kThreads, 0, stream>>>(f, divisions);
    return cudaGetLastError();
}

} // namespace hybz
