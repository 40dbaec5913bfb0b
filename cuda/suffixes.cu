// suffixes.cu: the blocks of `.hbz` streams: up to 1 GB each, last column and entry points.
//
// Each text has an end mark below all bytes behind it, as libsais has it (src/codec/hbz/encode.rs), and what is sorted are all
// rotations of both, which are in the order of the suffixes: no block is periodic. The sort is that of lane.cu, over wide values
// (device.cuh); one gather of a byte for each row is what that costs, and refine.cu's comparisons.
//
// Afterwards the ranks of all suffixes stand in device memory, so the entry points are read off.
#include "lane.cuh"
#include <algorithm>
#include <cstring>

namespace hybz {

namespace {

__global__ void __launch_bounds__(kThreads)
entry_rows_kernel(Batch batch, int entry_log, uint32_t each, uint32_t *__restrict__ entries) {
    const uint32_t block = blockIdx.y;
    const uint32_t entry = blockIdx.x * kThreads + threadIdx.x;
    if (entry >= each) return;
    const uint32_t n = batch.base[block + 1] - batch.base[block] - 1;
    const uint64_t position = uint64_t(entry) << entry_log;
    // Row 0 is the mark's.
    entries[block * each + entry] = position < n ? batch.rank[(block << batch.pitch_bits) + uint32_t(position)] - 1 : 0;
}

} // namespace

cudaError_t entry_rows(const Batch &batch, int entry_log, uint32_t each, uint32_t *entries, cudaStream_t stream) {
    const dim3 grid(blocks_for(each, kThreads), batch.blocks);
    entry_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, entry_log, each, entries);
    return cudaGetLastError();
}

} // namespace hybz

using namespace hybz;

extern "C" int hybz_lane_suffixes(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                                  uint32_t entry_log, uint8_t *column, uint32_t *origins, uint32_t *entries,
                                  uint32_t deadline_ms, hybz_report *report) {
    const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
    const hybz_tuning tuning = hybz_tuning_default();
    if (blocks < 1 || blocks > lane->most_blocks || entry_log < 1 || entry_log > 30 || lane->pipeline != HYBZ_SUFFIXES)
        return HYBZ_ARGUMENT;
    Arena &arena = lane->arena;
    Staging &staging = *lane->staging;
    const cudaStream_t stream = lane->stream;
    uint32_t total = 0, longest = 0;
    for (uint32_t b = 0; b <= HYBZ_MOST_BLOCKS; b++) {
        staging.text_base[b] = total;
        staging.base[b] = total + std::min(b, blocks);
        if (b >= blocks) continue;
        if (lengths[b] < HYBZ_SHORTEST || lengths[b] > lane->longest) return HYBZ_ARGUMENT;
        total += lengths[b];
        longest = std::max(longest, lengths[b]);
    }
    const uint32_t each = ((longest - 1) >> entry_log) + 1;

    Marks marks;
    HYBZ_TRY(upload(lane, {true, 1, kLongestCode}, text, total, marks, report));
    const KeyLayout layout(blocks, tuning.sort_bits);
    const Batch batch{blocks,       total + blocks, lane->pitch_bits, arena.base, arena.text,
                      arena.column, nullptr,        arena.origin,     arena.rank, arena.depth, true};
    HYBZ_TRY(sort_suffixes(lane, batch, false, tuning, layout, longest, deadline, marks, report));

    HYBZ_TRY(entry_rows(batch, int(entry_log), each, arena.starts, stream));
    marks.download = lane->mark();
    HYBZ_TRY(cudaMemcpyAsync(column, arena.column, total + blocks, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(cudaMemcpyAsync(entries, arena.starts, uint64_t(blocks) * each * 4, cudaMemcpyDeviceToHost, stream));
    HYBZ_TRY(cudaMemcpyAsync(staging.origin, arena.origin, blocks * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream));
    marks.end = lane->mark();
    HYBZ_TRY(lane->wait(deadline));
    HYBZ_TRY(lane->event_error);
    memcpy(origins, staging.origin, blocks * sizeof(uint32_t));
    if (report) tell(*lane, marks, report);
    return 0;
}
