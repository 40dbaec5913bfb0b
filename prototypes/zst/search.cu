// search.cu: the matches of all positions.
//
// - Common prefixes by the Phi rule (Karkkainen, Manzini, Puglisi 2009): in text order a suffix has at least one byte
//   less in common with the row before it than the suffix one byte earlier. A thread walks kWalk positions, so what it
//   compares is its walk and one prefix.
// - Far matches by rows: a tile of rows with kReach more on each side in shared memory; a thread goes up and down from
//   its row, always to the side that agrees longer, and keeps what is before it and nearer than all so far. What it
//   keeps goes to its position, one sector of memory.
// - Near matches by pieces: a warp goes over the text 32 positions a step, with a table of last places in shared
//   memory.
#include "bytes.cuh"

namespace zst {

namespace {

constexpr uint32_t kWalk = 64, kWalkers = 128;
constexpr uint32_t kTileRows = 1024, kRowThreads = 256;
constexpr uint32_t kThreads = 256;
constexpr uint32_t kNone = ~0u;

__global__ void __launch_bounds__(kThreads)
ranks_kernel(const uint32_t *__restrict__ order, uint32_t n, uint32_t *__restrict__ rank) {
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row < n) rank[order[row]] = row;
}

__global__ void __launch_bounds__(kWalkers)
common_kernel(const uint8_t *__restrict__ text, const uint32_t *__restrict__ order, const uint32_t *__restrict__ rank,
              uint32_t n, uint16_t *__restrict__ common) {
    // The neighbour of each position, and then what it has in common with it. A walk more than its length apart, so
    // that threads use different banks.
    __shared__ uint32_t values[kWalkers * (kWalk + 1)];
    const uint32_t begin = blockIdx.x * kWalkers * kWalk;
    for (uint32_t k = threadIdx.x; k < kWalkers * kWalk && begin + k < n; k += kWalkers) {
        const uint32_t row = rank[begin + k];
        values[k + k / kWalk] = row ? order[row - 1] : kNone;
    }
    __syncthreads();
    uint32_t length = 0;
    for (uint32_t k = 0; k < kWalk; k++) {
        const uint32_t i = begin + threadIdx.x * kWalk + k;
        if (i >= n) break;
        uint32_t &value = values[threadIdx.x * (kWalk + 1) + k];
        const uint32_t other = value;
        length = other == kNone ? 0 : agree(text + i, text + other, length, min(kCap, n - max(i, other)));
        value = length;
        if (length) length--;
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < kWalkers * kWalk && begin + k < n; k += kWalkers)
        common[begin + k] = uint16_t(values[k + k / kWalk]);
}

// kLook: kReach, or another number of rows to compare times with.
template <uint32_t kLook>
__global__ void __launch_bounds__(kRowThreads)
far_kernel(const uint32_t *__restrict__ order, const uint16_t *__restrict__ common, uint32_t n,
           Far *__restrict__ far) {
    __shared__ uint32_t places[kTileRows + 2 * kLook + 1];
    __shared__ uint16_t prefixes[kTileRows + 2 * kLook + 1];
    // A row is in slot row - first + kLook. Rows that do not exist have nothing in common.
    const uint32_t first = blockIdx.x * kTileRows;
    for (uint32_t k = threadIdx.x; k < kTileRows + 2 * kLook + 1; k += kRowThreads) {
        const uint32_t row = first + k - kLook, place = row < n ? order[row] : kNone;
        places[k] = place;
        prefixes[k] = row < n ? common[place] : 0;
    }
    __syncthreads();
    for (uint32_t tile_row = threadIdx.x; tile_row < kTileRows && first + tile_row < n; tile_row += kRowThreads) {
        const uint32_t slot = tile_row + kLook, i = places[slot];
        uint32_t offset[kKept] = {}, length[kKept] = {};
        uint32_t kept = 0, nearest = kNone, last_length = 0;
        uint32_t up = slot, down = slot, up_length = prefixes[slot], down_length = prefixes[slot + 1];
        while (true) {
            const bool upwards = up_length >= down_length;
            const uint32_t agreed = upwards ? up_length : down_length;
            if (agreed < kMinMatch) break;
            const uint32_t source = upwards ? places[--up] : places[++down];
            if (source < i && i - source < nearest) {
                if (agreed == last_length) kept--;
                if (kept == kKept) break;
                nearest = i - source;
                last_length = agreed;
#pragma unroll
                for (uint32_t k = 0; k < kKept; k++)
                    if (k == kept) offset[k] = nearest, length[k] = agreed;
                kept++;
            }
            if (upwards) up_length = slot - up < kLook ? min(up_length, uint32_t(prefixes[up])) : 0;
            else down_length = down - slot < kLook ? min(down_length, uint32_t(prefixes[down + 1])) : 0;
        }
        uint4 *out = reinterpret_cast<uint4 *>(far + i);
        out[0] = uint4{offset[0], offset[1], length[0] | length[1] << 16, 0};
        out[1] = uint4{0, 0, 0, 0}; // the rest of the sector, which memory would have to be asked for
    }
}
static_assert(kKept == 2 && sizeof(Far) == 32, "two stores");

// The text comes in stretches that are asked for one stretch ahead.
constexpr uint32_t kStretch = 512;
__global__ void __launch_bounds__(32) near_kernel(const uint8_t *__restrict__ text, uint32_t n, uint16_t *near) {
    __shared__ uint16_t table[1 << kHashLog];
    __shared__ uint4 stretch[kStretch / 16 + 1];
    const uint32_t lane = threadIdx.x, begin = blockIdx.x * kPiece, end = min(n, begin + kPiece);
    const uint32_t bytes = hashed_bytes(blockIdx.y);
    uint16_t *out = near + uint64_t(blockIdx.y) * n;
    const auto load = [&](uint32_t at) {
        return at < n ? *reinterpret_cast<const uint4 *>(text + at) : uint4{0, 0, 0, 0};
    };
    for (uint32_t k = lane; k < 1 << kHashLog; k += 32) table[k] = 0;
    uint4 next = load(begin + 16 * lane), behind = load(begin + kStretch);
    for (uint32_t from = begin; from < end; from += kStretch) {
        __syncwarp();
        stretch[lane] = next;
        if (lane == 0) stretch[32] = behind;
        next = load(from + kStretch + 16 * lane);
        behind = load(from + 2 * kStretch);
        __syncwarp();
        for (uint32_t base = from; base < min(end, from + kStretch); base += 32) {
            const uint32_t i = base + lane;
            const uint64_t here = eight(reinterpret_cast<const uint8_t *>(stretch) + (i - from));
            const uint32_t hash = i < end ? hash_of(here, bytes) : ~lane;
            const uint32_t same = __match_any_sync(~0u, hash), lower = same & ((1u << lane) - 1);
            if (i < end) {
                const uint32_t last = lower ? base + 31 - __clz(lower) : table[hash];
                const uint32_t offset = (i - last) & 0xFFFF;
                out[i] = uint16_t(offset <= i - begin ? offset : 0);
            }
            __syncwarp();
            if (i < end && same >> lane == 1) table[hash] = uint16_t(i);
            __syncwarp();
        }
    }
}
static_assert(kStretch == 32 * 16 && kPiece % kStretch == 0, "16 bytes by each lane");

__global__ void __launch_bounds__(kThreads)
join_kernel(const uint8_t *__restrict__ text, const Far *__restrict__ far, const uint16_t *__restrict__ near,
            uint32_t n, uint32_t *__restrict__ offsets, uint8_t *__restrict__ lengths) {
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const uint4 in = *reinterpret_cast<const uint4 *>(far + i);
    constexpr uint32_t kFound = kKept + kTables;
    uint32_t offset[kFound] = {in.x, in.y}, length[kFound] = {in.z & 0xFFFF, in.z >> 16};
#pragma unroll
    for (uint32_t k = kKept; k < kFound; k++) {
        const uint32_t back = near[uint64_t(kFound - 1 - k) * n + i];
        const uint32_t agreed = back ? agree(text + i, text + i - back, 0, min(kNearCap, n - i)) : 0;
        offset[k] = back;
        length[k] = agreed < kMinMatch ? 0 : agreed;
    }
    uint32_t out[kSlots] = {}, out_lengths = 0, kept = 0;
#pragma unroll
    for (uint32_t k = 0; k < kFound; k++) {
        bool beaten = length[k] == 0 || kept == kSlots;
#pragma unroll
        for (uint32_t j = 0; j < kFound; j++)
            if (j != k) beaten |= length[j] && beats(offset[j], length[j], offset[k], length[k], j < k);
        if (beaten) continue;
#pragma unroll
        for (uint32_t slot = 0; slot < kSlots; slot++)
            if (slot == kept) out[slot] = offset[k];
        out_lengths |= min(kNice, length[k]) << 8 * kept++;
    }
    reinterpret_cast<uint4 *>(offsets)[i] = uint4{out[0], out[1], out[2], out[3]};
    reinterpret_cast<uint32_t *>(lengths)[i] = out_lengths;
}
static_assert(kSlots == 4, "a store each");

uint32_t ctas(uint64_t items, uint32_t each) { return uint32_t((items + each - 1) / each); }

} // namespace

cudaError_t find_ranks(const uint32_t *order, uint32_t n, uint32_t *rank, cudaStream_t stream) {
    ranks_kernel<<<ctas(n, kThreads), kThreads, 0, stream>>>(order, n, rank);
    return cudaGetLastError();
}

cudaError_t find_common(const uint8_t *text, const uint32_t *order, const uint32_t *rank, uint32_t n, uint16_t *common,
                        cudaStream_t stream) {
    common_kernel<<<ctas(n, kWalk * kWalkers), kWalkers, 0, stream>>>(text, order, rank, n, common);
    return cudaGetLastError();
}

cudaError_t find_far(const uint32_t *order, const uint16_t *common, uint32_t n, uint32_t look, Far *far,
                     cudaStream_t stream) {
    const auto kernel = look == kReach ? far_kernel<kReach> : far_kernel<16>;
    kernel<<<ctas(n, kTileRows), kRowThreads, 0, stream>>>(order, common, n, far);
    return cudaGetLastError();
}

cudaError_t find_near(const uint8_t *text, uint32_t n, uint16_t *near, cudaStream_t stream) {
    const dim3 grid(ctas(n, kPiece), kTables);
    near_kernel<<<grid, 32, 0, stream>>>(text, n, near);
    return cudaGetLastError();
}

cudaError_t join_matches(const uint8_t *text, const Far *far, const uint16_t *near, uint32_t n, uint32_t *offsets,
                         uint8_t *lengths, cudaStream_t stream) {
    join_kernel<<<ctas(n, kThreads), kThreads, 0, stream>>>(text, far, near, n, offsets, lengths);
    return cudaGetLastError();
}

} // namespace zst
