// thirds.cu: the hybrid pipeline's alternative to a full sort: it sorts two thirds of the suffixes, then the rest from
// them, and returns the data with which a CPU core merges the two lists, in the order of their use.
//
// The blocks come rotated to their least rotations, so that suffix order is rotation order (src/codec/bwt/forward.rs),
// and with an end mark below all bytes. The sample is the positions 1 and 2 modulo 3, with the end mark's if it is one
// of them, so the sample of n bytes has n - n/3 positions. (This is the sample of DC3, Kaerkkaeinen and Sanders 2003;
// on a GPU Deshpande 2014, section 5.2.)
//
// A trick lets group.cu and refine.cu stay unchanged: the sample is numbered without gaps, 1 2 4 5 7 8 as 0 1 2 3 4 5.
// A step of 3 symbols in the text is a step of 2 in these numbers, for both residues. If depths are multiples of 3,
// counted in these numbers, doubling by rank over the sample is therefore doubling by rank over a block of two thirds
// of the length. It never wraps around the end: members of a group agree on `depth` symbols, none of them the end mark.
// Depth must be at least 3 after the first sort, so code words have at most kThirdCode bits.
//
// After the sample: a position 3i sorts by its first byte and the rank of 3i+1. The sample's rows of residue 1, in
// order, sorted stably by the byte before them, therefore are the remaining third in order. That takes two radix passes
// over a third of the rows.
//
// The output for each block, of m sample rows and t others:
//   keys   [m]  of sample rows, for comparison with the others (src/codec/bwt/merge.rs)
//          [2t] of the others: rank after one symbol, then symbol and rank after two
//   bytes  [m + t] the byte before each row
//   origin the row of the block itself among these rows
// 6.33 bytes for each of the text, against 1 of a column: 102 to 119 ps a byte of download where a column takes 16 to
// 19.
//
// Measured (H200): linux 181 ps a byte without transfers, 23 of these after the sort (bwt 225); nci 282 and 27 (bwt
// 357).
//
// Twin: thirds() in the tests of src/codec/bwt/merge.rs.
#include "lane.cuh"
#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

// 1 for a row of residue 1: the row after one of the other third.
struct LeadsThird {
    const uint32_t *order;
    __device__ uint32_t operator()(uint32_t row) const { return 1 - (order[row] & 1); }
};

struct SumOfLeads {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

// Writes one row of the sample for the merge, and the other third's row that it leads, to be sorted by the byte before.
__global__ void __launch_bounds__(kThreads)
sample_rows_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ leads, uint64_t *__restrict__ keys,
                   uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y;
    const uint32_t base = batch.base[block];
    const uint32_t m = batch.base[block + 1] - base;
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= m) return;
    const uint32_t from = thirds.text_base[block];
    const uint32_t n = thirds.text_base[block + 1] - from;
    const uint32_t value = thirds.order[base + row];
    const uint32_t number = value & kIndexMask, byte = value >> kIndexBits;
    const uint32_t position = position_of(number);
    const uint32_t *rank = batch.rank + (block << batch.pitch_bits);
    uint32_t key = 0;
    if (number & 1) {
        if (position + 1 < n) key = (batch.text[from + position + 1] + 1u) << kIndexBits | rank[number + 1];
        key |= 1u << 31;
    } else {
        if (position < n) key = rank[number + 1];
        const uint32_t slot = leads[base + row] - 1;
        keys[slot] = uint64_t(block) << 8 | byte;
        values[slot] = position - 1;
    }
    const uint32_t third = thirds.third_base[block];
    thirds.keys[base + 2 * third + row] = key;
    thirds.bytes[base + third + row] = uint8_t(byte);
    if (position == thirds.turn[block]) batch.origin[block] = row;
}

// Writes one row of the other third.
__global__ void __launch_bounds__(kThreads)
other_rows_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y;
    const uint32_t third = thirds.third_base[block];
    const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= thirds.third_base[block + 1] - third) return;
    const uint32_t base = batch.base[block];
    const uint32_t m = batch.base[block + 1] - base;
    const uint32_t from = thirds.text_base[block];
    const uint32_t n = thirds.text_base[block + 1] - from;
    const uint32_t position = values[third + row];
    const uint32_t number = number_of(position + 1);
    const uint32_t *rank = batch.rank + (block << batch.pitch_bits);
    const uint8_t *text = batch.text + from;
    uint32_t *keys = thirds.keys + base + 2 * third + m + 2 * row;
    keys[0] = rank[number];
    keys[1] = position + 1 < n ? (text[position + 1] + 1u) << kIndexBits | rank[number + 1] : 0;
    thirds.bytes[base + third + m + row] = text[position == 0 ? n - 1 : position - 1];
    if (position == thirds.turn[block]) batch.origin[block] = m + row;
}

} // namespace

cudaError_t third_scan(void *temporary, size_t *bytes, const uint32_t *order, uint32_t *leads, uint32_t count,
                       cudaStream_t stream) {
    const auto leading = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), LeadsThird{order});
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, leading, leads, SumOfLeads{}, int(count), stream);
}

cudaError_t sample_rows(const Batch &batch, const Thirds &thirds, const uint32_t *leads, uint32_t max_length,
                        uint64_t *keys, uint32_t *values, cudaStream_t stream) {
    const dim3 grid(blocks_for(sample_count(max_length), kThreads), batch.blocks);
    sample_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, leads, keys, values);
    return cudaGetLastError();
}

cudaError_t other_rows(const Batch &batch, const Thirds &thirds, uint32_t max_length, const uint32_t *values,
                       cudaStream_t stream) {
    const dim3 grid(blocks_for(others_count(max_length), kThreads), batch.blocks);
    other_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, values);
    return cudaGetLastError();
}

namespace {

static_assert(kSortBits - ceil_log2(HYBZ_MAX_BLOCKS) >= 3 * kThirdCode, "three code words fit in every key");

// The numbers of rows and bytes of a batch.
struct Totals {
    uint32_t text = 0, sample = 0, others = 0, max_length = 0;
};

// Fills in the starts of the blocks in text, sample and others. Returns false if the blocks exceed the lane's size.
bool stage_blocks(const hybz_lane &lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                  Totals &totals) {
    Staging &staging = *lane.staging;
    for (uint32_t b = 0; b <= HYBZ_MAX_BLOCKS; b++) {
        staging.text_base[b] = totals.text;
        staging.base[b] = totals.sample;
        staging.third_base[b] = totals.others;
        if (b >= blocks) continue;
        if (lengths[b] < HYBZ_MIN_LENGTH || lengths[b] > lane.max_length || turns[b] >= lengths[b]) return false;
        staging.turn[b] = turns[b];
        totals.text += lengths[b];
        totals.sample += sample_count(lengths[b]);
        totals.others += others_count(lengths[b]);
        totals.max_length = std::max(totals.max_length, lengths[b]);
    }
    return true;
}

// Goes from the sorted sample to all rows, in the arena.
int sort_others(hybz_lane *lane, const Batch &batch, const Thirds &thirds, const Totals &totals) {
    Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    size_t temporary = lane->temporary_bytes;
    HYBZ_TRY(third_scan(arena.temporary, &temporary, arena.order, arena.starts, totals.sample, stream));
    arena.sort.current = 0;
    HYBZ_TRY(
        sample_rows(batch, thirds, arena.starts, totals.max_length, arena.sort.keys[0], arena.sort.values[0], stream));
    const int key_bits = 8 + KeyLayout(batch.blocks).block_bits;
    HYBZ_TRY(sort_pairs<uint64_t>(arena.temporary, lane->temporary_bytes, arena.sort, totals.others, 0, key_bits,
                                  stream));
    return other_rows(batch, thirds, totals.max_length, arena.sort.values[arena.sort.current], stream);
}

} // namespace

} // namespace hybz

using namespace hybz;

extern "C" int hybz_lane_thirds(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                                const uint8_t *text, uint32_t *keys, uint8_t *bytes, uint32_t *origins,
                                uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    Totals totals;
    if (blocks < 1 || blocks > lane->max_blocks || lane->pipeline != HYBZ_HYBRID ||
        !stage_blocks(*lane, blocks, lengths, turns, totals))
        return HYBZ_ARGUMENT;
    Arena &arena = lane->arena;
    const Staging &staging = *lane->staging;
    Events events;
    HYBZ_TRY(upload(lane, kSampleTable, text, totals.text, events, report));
    HYBZ_TRY(cudaMemcpyAsync(arena.third_base, staging.third_base, sizeof staging.third_base, cudaMemcpyHostToDevice,
                             lane->stream));
    HYBZ_TRY(cudaMemcpyAsync(arena.turn, staging.turn, sizeof staging.turn, cudaMemcpyHostToDevice, lane->stream));
    const Batch batch{blocks,       totals.sample, lane->pitch_bits, arena.base, arena.text,
                      arena.column, arena.order,   arena.origin,     arena.rank, arena.depth, false};
    const Thirds thirds{arena.text_base, arena.third_base, arena.turn, arena.order, arena.third_keys, arena.column};
    HYBZ_TRY(sort_suffixes(lane, batch, true, totals.max_length, deadline, events, report));

    const uint32_t sampled = lane->record();
    HYBZ_TRY(sort_others(lane, batch, thirds, totals));
    events.download = lane->record();
    const uint64_t key_count = totals.sample + 2 * uint64_t(totals.others);
    const cudaStream_t stream = lane->stream;
    HYBZ_TRY(cudaMemcpyAsync(keys, arena.third_keys, key_count * 4, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(cudaMemcpyAsync(bytes, arena.column, totals.sample + totals.others, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(finish(lane, blocks, origins, deadline, events, report));
    if (report) report->thirds_ms = lane->elapsed(sampled, events.download);
    return 0;
}
