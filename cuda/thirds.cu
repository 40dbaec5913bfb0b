// thirds.cu: the hybrid pipeline's alternative to a full sort: it sorts two thirds of the suffixes, derives the order
// of the rest, and returns the data with which a CPU core merges the two lists, in the order of their use.
//
// Blocks of `.hbz` come as they are; those of `.bz2` rotated to their least rotations, so that suffix order is rotation
// order (src/codec/bwt/forward.rs). Each has an end mark below all bytes. The sample consists of the positions 1 and 2
// modulo 3, the end mark's included if it is one of them, so the sample of n bytes has n - n/3 positions. (This is the
// sample of DC3, Kaerkkaeinen and Sanders 2003; on a GPU Deshpande 2014, section 5.2.1.)
//
// A trick lets group.cu and refine.cu stay unchanged (first.cu takes no steps on text): the sample is numbered without
// gaps, 1 2 4 5 7 8 as 0 1 2 3 4 5. A step of 3 symbols in the text is a step of 2 in these numbers, for both residues.
// If depths are multiples of 3, counted in these numbers, doubling by rank over the sample is therefore doubling by
// rank over a block of two thirds of the length. Doubling never wraps around the end: members of a group agree on
// `depth` symbols, none of which is the end mark. Depth must be at least 3 after the first sort, so code words have at
// most kThirdCode bits.
//
// After the sample: a position sorts by its first byte and the rank of the next position. So sorting the sample stably
// by the byte before each row gives the rows at 0 and 1 modulo 3 in order: the first of the two orders. Sorting this
// order in the same way gives the rows at 0 and 2 (position 0 has no row before it; the row before the end mark is
// added, unless the mark is at 2 modulo 3). The rows at 0 are the remaining third. Their places among the other rows
// of each order tell how to merge the two lists: src/codec/bwt/merge.rs. This takes two radix sorts by a byte, each of
// two thirds of the rows.
//
// The output for each block, of m sample rows and t others:
//   bits    [2 * (m/32 + 1)] for each row of the first order whether it is one of the others, then for the second
//   bytes   [m + t] the byte before each row
//   entries the rows of entry points, or of the block itself, among these rows
// These are 1.17 bytes for each byte of text; a column alone would be 1.
//
// Measured (H200, the Linux source): without transfers 209, 232 and 239 ps a byte in blocks of 0.9, 4.5 and 9 MB, 34 of
// these after the sort; a full sort takes 269, 292 and 312.
//
// Twin: thirds() in the tests of src/codec/bwt/merge.rs.
#include "lane.cuh"
#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace hybz {

namespace {

// 1 if a row is of the other third, else 0.
struct IsOther {
    const uint32_t *positions;
    __device__ uint32_t operator()(uint32_t row) const { return positions[row] % 3 == 0; }
};

// The block of this CTA.
struct ThirdBlock {
    uint32_t base, m, n, third;
    const uint8_t *text;
    __device__ ThirdBlock(const Batch &batch, const Thirds &thirds, uint32_t block)
        : base(batch.base[block]), m(batch.base[block + 1] - base),
          n(thirds.text_base[block + 1] - thirds.text_base[block]), third(thirds.third_base[block]),
          text(batch.text + thirds.text_base[block]) {}
    __device__ uint8_t before(uint32_t position) const { return text[position == 0 ? n - 1 : position - 1]; }
};

// Writes the row of an entry point.
__device__ void write_entry(const Thirds &thirds, uint32_t block, uint32_t position, uint32_t row) {
    const uint32_t turn = thirds.turn[block];
    if (position < turn || (position - turn) & ((1u << thirds.entry_log) - 1)) return;
    thirds.entries[block * thirds.each + ((position - turn) >> thirds.entry_log)] = row;
}

// Writes the bit of row `row` of an order; whole warps call it.
__device__ void write_bit(const Thirds &thirds, uint32_t block, uint32_t m, uint32_t order, uint32_t row, bool bit) {
    const uint32_t words = m / 32 + 1;
    const uint32_t word = __ballot_sync(~0u, bit);
    if ((row & 31) == 0 && row <= m) thirds.bits[thirds.bit_base[block] + order * words + row / 32] = word;
}

// Writes the sample's rows; and, as (block << kByteBits | byte, position), the rows before them.
__global__ void __launch_bounds__(kThreads)
sample_rows_kernel(Batch batch, Thirds thirds, uint32_t *__restrict__ keys, uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y, row = blockIdx.x * kThreads + threadIdx.x;
    const ThirdBlock own(batch, thirds, block);
    if (row >= own.m) return;
    const uint32_t position = position_of(batch.order[own.base + row]);
    const uint32_t byte = own.text[position - 1];
    keys[own.base + row] = block << kByteBits | byte;
    values[own.base + row] = position - 1;
    thirds.bytes[own.base + own.third + row] = uint8_t(byte);
    if (position < own.n) write_entry(thirds, block, position, row);
}

// From `positions`, the order of the rows at 0 and 1 modulo 3: writes its bits, the other third's rows, and, as
// sample_rows_kernel does, the rows before those of this order, one more for each block.
__global__ void __launch_bounds__(kThreads)
other_rows_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ others,
                  const uint32_t *__restrict__ positions, uint32_t *__restrict__ keys, uint32_t *__restrict__ values) {
    const uint32_t block = blockIdx.y, row = blockIdx.x * kThreads + threadIdx.x;
    const ThirdBlock own(batch, thirds, block);
    const uint32_t position = row < own.m ? positions[own.base + row] : 1;
    const bool other = position % 3 == 0;
    write_bit(thirds, block, own.m, 0, row, other);
    if (row > own.m) return;
    // The rows to sort for the second order: first the row before the mark, unless that row is at 1 modulo 3 (then it
    // is in the first order), and then the rows before those of the first order.
    const bool mark = row == own.m;
    const uint32_t before = mark ? own.n - 1 : position - 1; // of position 0 there is none
    const bool exists = mark ? before % 3 != 1 : position != 0;
    const uint32_t at = own.base + block + (mark ? 0 : row + 1);
    keys[at] = block << kByteBits | (exists ? own.text[before] : kNoByte);
    values[at] = exists ? before : 1; // 1: not one of the others
    if (!other) return;
    const uint32_t place = own.m + others[own.base + row] - 1 - own.third;
    thirds.bytes[own.base + own.third + place] = own.before(position);
    write_entry(thirds, block, position, place);
}

// Writes the bits of the order of the rows at 0 and 2 modulo 3.
__global__ void __launch_bounds__(kThreads)
second_bits_kernel(Batch batch, Thirds thirds, const uint32_t *__restrict__ positions) {
    const uint32_t block = blockIdx.y, row = blockIdx.x * kThreads + threadIdx.x;
    const ThirdBlock own(batch, thirds, block);
    write_bit(thirds, block, own.m, 1, row, row <= own.m && positions[own.base + block + row] % 3 == 0);
}

static_assert(kSortBits - ceil_log2(HYBZ_MAX_BLOCKS) >= 3 * kThirdCode, "three code words fit in every key");

// The numbers of rows, bytes and words of a batch.
struct Totals {
    uint32_t text = 0, sample = 0, others = 0, words = 0, max_length = 0;
};

// Fills in the starts of the blocks in text, sample, others and bits. Returns false if the blocks exceed the lane's
// size.
bool stage_blocks(const hybz_lane &lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                  Totals &totals) {
    Staging &staging = lane.staged<Staging>();
    for (uint32_t b = 0; b <= HYBZ_MAX_BLOCKS; b++) {
        staging.text_base[b] = totals.text;
        staging.base[b] = totals.sample;
        staging.third_base[b] = totals.others;
        staging.bit_base[b] = totals.words;
        if (b >= blocks) continue;
        if (lengths[b] < HYBZ_MIN_LENGTH || lengths[b] > lane.max_length || turns[b] >= lengths[b]) return false;
        staging.turn[b] = turns[b];
        totals.text += lengths[b];
        totals.sample += sample_count(lengths[b]);
        totals.others += others_count(lengths[b]);
        totals.words += 2 * (sample_count(lengths[b]) / 32 + 1);
        totals.max_length = std::max(totals.max_length, lengths[b]);
    }
    return true;
}

// Sorts rows, which are in the arena, by block and byte.
cudaError_t sort_by_byte(hybz_lane *lane, const Batch &batch, uint32_t count) {
    const int bits = kByteBits + ceil_log2(int(batch.blocks));
    Arena &arena = lane->arena;
    return sort_pairs<uint32_t>(arena.temporary, lane->temporary_bytes, arena.sort, count, 0, bits, lane->stream);
}

// Goes from the sorted sample to all rows, in the arena.
int sort_others(hybz_lane *lane, const Batch &batch, const Thirds &thirds, const Totals &totals) {
    Arena &arena = lane->arena;
    const cudaStream_t stream = lane->stream;
    const auto keys = [&](int which) { return reinterpret_cast<uint32_t *>(arena.sort.keys[which]); };
    arena.sort.current = 0;
    const dim3 grid(blocks_for(sample_count(totals.max_length) + 1, kThreads), batch.blocks);
    sample_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, keys(0), arena.sort.values[0]);
    HYBZ_TRY(cudaGetLastError());
    HYBZ_TRY(sort_by_byte(lane, batch, totals.sample));
    const uint32_t *const positions = arena.sort.values[arena.sort.current];
    HYBZ_TRY(third_scan(arena.temporary, &lane->temporary_bytes, positions, arena.starts, totals.sample, stream));
    const int next = arena.sort.current = 1 - arena.sort.current;
    other_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, arena.starts, positions, keys(next),
                                                     arena.sort.values[next]);
    HYBZ_TRY(cudaGetLastError());
    HYBZ_TRY(sort_by_byte(lane, batch, totals.sample + batch.blocks));
    second_bits_kernel<<<grid, kThreads, 0, stream>>>(batch, thirds, arena.sort.values[arena.sort.current]);
    return cudaGetLastError();
}

} // namespace

cudaError_t third_scan(void *temporary, size_t *bytes, const uint32_t *positions, uint32_t *others, uint32_t count,
                       cudaStream_t stream) {
    const auto is_other = thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), IsOther{positions});
    return cub::DeviceScan::InclusiveScan(temporary, *bytes, is_other, others, Sum{}, int(count), stream);
}

extern "C" int hybz_lane_thirds(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                                const uint8_t *text, uint32_t entry_log, uint32_t *bits, uint8_t *bytes,
                                uint32_t *entries, uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    Totals totals;
    if (blocks < 1 || blocks > lane->max_blocks || lane->pipeline != HYBZ_HYBRID || entry_log < 1 || entry_log > 30 ||
        !stage_blocks(*lane, blocks, lengths, turns, totals))
        return HYBZ_ARGUMENT;
    Arena &arena = lane->arena;
    Events events;
    HYBZ_TRY(upload(lane, kSampleTable, text, totals.text, events, report));
    const Staging &staging = lane->staged<Staging>();
    HYBZ_TRY(lane->send(arena.third_base, staging.third_base, sizeof staging.third_base));
    HYBZ_TRY(lane->send(arena.bit_base, staging.bit_base, sizeof staging.bit_base));
    HYBZ_TRY(lane->send(arena.turn, staging.turn, sizeof staging.turn));
    const Batch batch = batch_of(*lane, blocks, totals.sample, lane->max_length > HYBZ_MAX_LENGTH, arena.order);
    const uint32_t each = ((totals.max_length - 1) >> entry_log) + 1;
    // The lists are free after the sort.
    const Thirds thirds{arena.text_base, arena.third_base, arena.turn,   arena.bit_base,      int(entry_log),
                        each,            arena.third_bits, arena.column, arena.lists[0].value};
    HYBZ_TRY(sort_suffixes(lane, batch, true, totals.max_length, deadline, events, report));

    const uint32_t sampled = lane->record();
    HYBZ_TRY(sort_others(lane, batch, thirds, totals));
    events.download = lane->record();
    HYBZ_TRY(lane->fetch(bits, thirds.bits, totals.words * uint64_t(4)));
    HYBZ_TRY(lane->fetch(bytes, thirds.bytes, totals.sample + totals.others));
    HYBZ_TRY(lane->fetch(entries, thirds.entries, uint64_t(blocks) * each * 4));
    HYBZ_TRY(finish(lane, 0, lane->staged<Staging>().origin, deadline, events, report));
    if (report) report->ms[HYBZ_STEP_THIRDS] = lane->elapsed(sampled, events.download);
    return 0;
}

} // namespace hybz
