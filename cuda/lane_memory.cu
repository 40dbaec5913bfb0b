// lane_memory.cu: a lane's memory, which is allocated once.
#include "coding.cuh"
#include "lane.cuh"
#include <algorithm>
#include <mutex>
#include <new>

using namespace hybz;

namespace {

// Whether a lane sorts all suffixes of blocks of any length.
bool is_wide(int32_t pipeline) {
    return pipeline == HYBZ_SUFFIXES || pipeline == HYBZ_CODE_LARGE || pipeline == HYBZ_FACTOR;
}

// The max number of rotations or suffixes that a lane sorts, for this many bytes of text in this many blocks.
uint64_t sorted_count(int32_t pipeline, uint64_t text, uint64_t blocks) {
    if (pipeline == HYBZ_HYBRID) return text - text / 3 + 2 * blocks; // thirds.cu has a place more
    return is_wide(pipeline) ? text + blocks : text;
}

// The sizes that determine a lane's arrays.
struct Sizes {
    int32_t pipeline;
    uint64_t text, blocks; // bytes, in this many blocks
    uint64_t rows;         // with pitch
    uint64_t temporary;    // bytes that CUB needs
    uint64_t coding;       // bytes that coding needs; it reuses the memory of the sort
};

// Lays out the arena from `memory` on (null: only adds up). Returns its total bytes.
uint64_t lay_out(Arena &a, uint8_t *memory, const Sizes &sizes) {
    const bool hybrid = sizes.pipeline == HYBZ_HYBRID, factor = sizes.pipeline == HYBZ_FACTOR;
    const uint64_t text = sizes.text, m = sizes.rows;
    const uint64_t n = sorted_count(sizes.pipeline, text, sizes.blocks);
    const uint64_t others = hybrid ? text / 3 + sizes.blocks : 0;
    const uint64_t large_groups = 4 * (m >> kSmallBits);
    const uint64_t sorting = n * 60; // from keys[0] to done.head
    const Array arrays[] = {
        // pointer               bytes                               what
        {&a.text, text},                                          // the blocks, back to back
        {&a.column, factor ? 0 : n + others},                     // their last columns
        {&a.table, kMarkedTable * 4},                             // code words
        {&a.base, (HYBZ_MAX_BLOCKS + 1) * 4},                     // first rotation of each block
        {&a.text_base, (HYBZ_MAX_BLOCKS + 1) * 4},                // hybrid, suffixes: first byte
        {&a.third_base, (HYBZ_MAX_BLOCKS + 1) * 4},               // hybrid: first row outside the sample
        {&a.sample_base, (HYBZ_MAX_BLOCKS + 1) * 4},              // rotations: first sample
        {&a.turn, (HYBZ_MAX_BLOCKS + 1) * 4},                     // hybrid: the first entry point
        {&a.bit_base, (HYBZ_MAX_BLOCKS + 1) * 4},                 // hybrid: its first word of bits
        {&a.order, hybrid || factor ? n * 4 : 0},                 // sorted values; hybrid: of the sample
        {&a.third_bits, hybrid ? (n / 32 + sizes.blocks) * 8 : 0}, // hybrid: the CPU's bits
        {&a.origin, HYBZ_MAX_BLOCKS * 4},                         //
        {&a.counters, (HYBZ_MAX_ROUNDS + 1) * sizeof(Counters)},  // one for each round, and one for the first sort
        {&a.sort.keys[0], n * 8},                                 // radix sort: keys
        {&a.sort.keys[1], n * 8},                                 //
        {&a.sort.values[0], n * 4},                               //   values
        {&a.sort.values[1], n * 4},                               //
        {&a.starts, n * 4},                                       // where the run of equal keys begins
        {&a.rank, m * 4},                                         // of each rotation
        {&a.depth, m * 4},                                        // of each group, at its head's row
        {&a.lists[0].value, n * 4},                               // tied rotations, two generations
        {&a.lists[0].head, n * 4},                                //
        {&a.lists[0].depth, n * 4},                               //
        {&a.lists[1].value, n * 4},                               //
        {&a.lists[1].head, n * 4},                                //
        {&a.lists[1].depth, n * 4},                               //
        {&a.done.value, n * 4},                                   // rotations that became final in this round
        {&a.done.head, n * 4},                                    //
        {&a.number_of, large_groups},                             // large groups
        {&a.head_of[0], large_groups},                            //   two generations
        {&a.head_of[1], large_groups},                            //
        {&a.first_of, large_groups},                              //
        {&a.tail, sizes.coding > sorting ? sizes.coding - sorting : 0}, // resident: tables of tiny blocks
        {&a.temporary, sizes.temporary},                          // CUB's
    };
    return lay_out_arrays(arrays, memory);
}

// Enough bits for an index.
int pitch_bits_for(int32_t pipeline, uint32_t max_length) {
    const uint64_t rows = pipeline == HYBZ_HYBRID ? sample_count(max_length) : uint64_t(max_length) + is_wide(pipeline);
    int bits = 0;
    while (uint64_t(1) << bits < rows) bits++;
    return bits;
}

bool fits(uint32_t max_blocks, uint64_t max_length, int32_t pipeline) {
    if (pipeline < HYBZ_BWT || pipeline > HYBZ_STRIPS || max_blocks < 1) return false;
    if (pipeline == HYBZ_LZ4) return true;
    // Tasks are numbered in 32 bits.
    if (pipeline == HYBZ_STRIPS) return max_blocks <= 1u << 30 && max_length <= uint64_t(1) << 42;
    if (max_blocks > HYBZ_MAX_BLOCKS || max_length < HYBZ_MIN_LENGTH || max_length > UINT32_MAX) return false;
    if (pipeline == HYBZ_DECODE) return uint64_t(max_blocks) * max_length <= INT32_MAX;
    if (pipeline == HYBZ_DECODE_LARGE)
        return max_blocks <= HYBZ_MAX_LARGE && uint64_t(max_blocks) * max_length <= uint64_t(1) << 30;
    // Byte numbers have 32 bits, and CUB's counts of lines have 31.
    if (pipeline == HYBZ_LINES) return uint64_t(max_blocks) * max_length <= HYBZ_MAX_TEXT;
    if (!is_wide(pipeline) && pipeline != HYBZ_HYBRID) return max_length <= HYBZ_MAX_LENGTH;
    if (pipeline == HYBZ_FACTOR && max_blocks != 1) return false;
    // Row numbers have 32 bits, and CUB's counts have 31.
    return max_length <= HYBZ_MAX_WIDE_LENGTH &&
           uint64_t(max_blocks) << pitch_bits_for(pipeline, uint32_t(max_length)) <= uint64_t(1) << 32 &&
           uint64_t(max_blocks) * (max_length + 1) <= INT32_MAX;
}

// Lays out the arena of a lane that sorts.
int lay_out_sort(hybz_lane *lane, Needs *needs) {
    const uint32_t blocks = lane->max_blocks, length = lane->max_length;
    const uint64_t text = uint64_t(blocks) * length;
    size_t for_sort = 0, for_thirds = 0;
    HYBZ_TRY(sort_temporary(uint32_t(std::max(text, sorted_count(lane->pipeline, text, blocks))), &for_sort));
    if (lane->pipeline == HYBZ_HYBRID) HYBZ_TRY(third_scan(nullptr, &for_thirds, nullptr, nullptr, uint32_t(text), 0));
    lane->temporary_bytes = std::max(for_sort, for_thirds);
    uint64_t coding = 0, pinned = (sizeof(Staging) + 255) / 256 * 256;
    Coding codes{};
    if (lane->pipeline == HYBZ_RESIDENT) coding = lay_out_codes(codes, nullptr, blocks, length);
    if (lane->pipeline == HYBZ_CODE_LARGE) {
        coding = large_coding_memory(blocks, length);
        uint8_t *const after = lane->pinned ? lane->pinned + pinned : nullptr;
        pinned += lay_out_coding(lane->coding_staging, after, blocks, length);
    }
    const uint64_t rows = uint64_t(blocks) << lane->pitch_bits;
    const Sizes sizes{lane->pipeline, text, blocks, rows, lane->temporary_bytes, coding};
    *needs = {lay_out(lane->arena, lane->memory, sizes), pinned};
    return 0;
}

// Lays out a lane's memory.
int lay_out(hybz_lane *lane, Needs *needs) {
    const uint64_t blocks = lane->max_blocks, length = lane->max_length;
    switch (lane->pipeline) {
    case HYBZ_DECODE:
        *needs = {lay_out_decoding(lane->decoding, lane->memory, blocks, length), sizeof(DecodeStaging)};
        return 0;
    case HYBZ_DECODE_LARGE:
        *needs = {lay_out_large(lane->large, lane->memory, blocks, blocks * length), sizeof(LargeStaging)};
        return 0;
    case HYBZ_LZ4:
        *needs = {lay_out_lz4(lane->lz4, lane->memory, blocks), lay_out_lz4(lane->lz4_staged, lane->pinned, blocks)};
        return 0;
    case HYBZ_STRIPS:
        *needs = lay_out_strips(lane->strips, lane->memory, lane->pinned, blocks, lane->max_coded);
        return 0;
    case HYBZ_LINES: return lay_out_lines(lane, needs);
    default: return lay_out_sort(lane, needs);
    }
}

// Has the driver load the kernels that decode, once, while none of them runs yet. It would load each of them at its
// first launch, and wait for the kernels of other lanes: 8 GB took 1.12 s, with this 1.07 (H200, medians of five). Two
// devices gained nothing (24 GB 2.26, 2.31 s).
int load_decoding() {
    static std::mutex mutex;
    static bool done = false;
    const std::lock_guard<std::mutex> lock(mutex);
    if (done) return 0;
    done = true;
    int devices = 0;
    HYBZ_TRY(cudaGetDeviceCount(&devices));
    if (devices > 1) return 0;
    for (const auto load : {load_symbols, load_columns, load_walk, load_expand}) HYBZ_TRY(load());
    return 0;
}

int create(hybz_lane *lane) {
    HYBZ_TRY(cudaSetDevice(lane->device));
    if (lane->pipeline == HYBZ_DECODE) HYBZ_TRY(load_decoding());
    Needs needs{};
    HYBZ_TRY(lay_out(lane, &needs)); // adds up
    HYBZ_TRY(cudaMalloc(reinterpret_cast<void **>(&lane->memory), needs.memory));
    HYBZ_TRY(cudaHostAlloc(reinterpret_cast<void **>(&lane->pinned), needs.pinned, cudaHostAllocDefault));
    HYBZ_TRY(lay_out(lane, &needs));
    int least = 0, most = 0;
    HYBZ_TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
    HYBZ_TRY(cudaStreamCreateWithPriority(&lane->usual, cudaStreamNonBlocking, least));
    HYBZ_TRY(cudaStreamCreateWithPriority(&lane->urgent, cudaStreamNonBlocking, most));
    lane->stream = lane->usual;
    if (lane->pipeline == HYBZ_LZ4)
        for (cudaStream_t &stream : lane->lz4_streams)
            HYBZ_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    // Their batches may take less than a sleep, which is some 60 us longer than requested.
    if (lane->pipeline == HYBZ_LZ4 || lane->pipeline == HYBZ_STRIPS) lane->polled = std::chrono::milliseconds(2);
    for (cudaEvent_t &event : lane->events) HYBZ_TRY(cudaEventCreate(&event));
    return 0;
}

} // namespace

extern "C" int hybz_lane_create(int device, uint32_t max_blocks, uint64_t max_length, int32_t pipeline,
                                hybz_lane **out) {
    *out = nullptr;
    if (!fits(max_blocks, max_length, pipeline)) return HYBZ_ARGUMENT;
    hybz_lane *lane = new (std::nothrow) hybz_lane;
    if (!lane) return int(cudaErrorMemoryAllocation);
    lane->device = device;
    lane->max_blocks = max_blocks;
    lane->max_length = uint32_t(max_length);
    lane->max_bytes = max_blocks * lane->max_length;
    lane->max_coded = max_length;
    lane->pipeline = pipeline;
    lane->capacity = uint32_t(sorted_count(pipeline, lane->max_bytes, max_blocks));
    lane->pitch_bits = pitch_bits_for(pipeline, lane->max_length);
    const int code = create(lane);
    if (code != 0) {
        hybz_lane_destroy(lane);
        cudaGetLastError(); // an allocation that failed leaves its error behind
        return code;
    }
    *out = lane;
    return 0;
}

extern "C" int hybz_lane_destroy(hybz_lane *lane) {
    if (!lane) return 0;
    int first = int(cudaSetDevice(lane->device));
    const auto keep = [&first](cudaError_t error) {
        if (first == 0) first = int(error);
    };
    for (cudaEvent_t event : lane->events)
        if (event) keep(cudaEventDestroy(event));
    for (cudaStream_t stream : {lane->usual, lane->urgent})
        if (stream) keep(cudaStreamDestroy(stream));
    for (cudaStream_t stream : lane->lz4_streams)
        if (stream) keep(cudaStreamDestroy(stream));
    if (lane->pinned) keep(cudaFreeHost(lane->pinned));
    if (lane->memory) keep(cudaFree(lane->memory));
    delete lane;
    return first;
}
