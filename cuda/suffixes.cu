// suffixes.cu: sorts the blocks of `.hbz` streams, of up to 1 GB each: last column and entry points.
//
// Each text is followed by an end mark below all bytes, as in libsais (src/formats/hbz/codec/encode.rs), and all
// rotations of text and mark are sorted. Their order is the order of the suffixes, and no block is periodic. The sort
// is that of batch.cu, with wide values (device.cuh), which cost one gather of a byte for each row; a step of first.cu
// on text compares six bytes, not seven.
//
// Afterwards the ranks of all suffixes are in device memory, so the entry points are simply copied.
#include "lane.cuh"
#include <algorithm>

namespace hybz {

namespace {

__global__ void __launch_bounds__(kThreads)
entry_rows_kernel(Batch batch, int entry_log, uint32_t each, uint32_t *__restrict__ entries) {
    const uint32_t block = blockIdx.y;
    const uint32_t entry = blockIdx.x * kThreads + threadIdx.x;
    if (entry >= each) return;
    const uint32_t n = batch.base[block + 1] - batch.base[block] - 1;
    const uint64_t position = uint64_t(entry) << entry_log;
    // Row 0 is the mark's row, which is not counted.
    entries[block * each + entry] = position < n ? batch.rank[(block << batch.pitch_bits) + uint32_t(position)] - 1 : 0;
}

} // namespace

int sort_large(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text, uint32_t entry_log,
               Clock::time_point deadline, Events &events, hybz_report *report, uint32_t *each) {
    if (blocks < 1 || blocks > lane->max_blocks || entry_log < 1 || entry_log > 30) return HYBZ_ARGUMENT;
    Staging &staging = lane->staged<Staging>();
    uint32_t total = 0, max_length = 0;
    for (uint32_t b = 0; b <= HYBZ_MAX_BLOCKS; b++) {
        staging.text_base[b] = total;
        staging.base[b] = total + std::min(b, blocks);
        if (b >= blocks) continue;
        if (lengths[b] < HYBZ_MIN_LENGTH || lengths[b] > lane->max_length) return HYBZ_ARGUMENT;
        total += lengths[b];
        max_length = std::max(max_length, lengths[b]);
    }
    *each = ((max_length - 1) >> entry_log) + 1;
    HYBZ_TRY(upload(lane, kSuffixTable, text, total, events, report));
    const Batch batch = batch_of(*lane, blocks, total + blocks, true);
    HYBZ_TRY(sort_suffixes(lane, batch, false, max_length, deadline, events, report));
    const cudaStream_t stream = lane->stream;
    const dim3 grid(blocks_for(*each, kThreads), blocks);
    entry_rows_kernel<<<grid, kThreads, 0, stream>>>(batch, int(entry_log), *each, lane->arena.starts);
    return cudaGetLastError();
}

extern "C" int hybz_lane_suffixes(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                                  uint32_t entry_log, uint8_t *column, uint32_t *origins, uint32_t *entries,
                                  uint32_t timeout_ms, hybz_report *report) {
    const auto deadline = deadline_of(timeout_ms);
    if (lane->pipeline != HYBZ_SUFFIXES) return HYBZ_ARGUMENT;
    Events events;
    uint32_t each = 0;
    HYBZ_TRY(sort_large(lane, blocks, lengths, text, entry_log, deadline, events, report, &each));
    const Arena &arena = lane->arena;
    events.download = lane->record();
    HYBZ_TRY(lane->fetch(column, arena.column, lane->staged<Staging>().base[blocks]));
    HYBZ_TRY(lane->fetch(entries, arena.starts, uint64_t(blocks) * each * 4));
    return finish(lane, blocks, origins, deadline, events, report);
}

} // namespace hybz
