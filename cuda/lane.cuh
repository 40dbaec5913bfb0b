// lane.cuh: a lane, and the host code that its pipelines (batch.cu, thirds.cu, resident.cu, suffixes.cu) share.
#pragma once
#include "codes.hpp"
#include "decoding.cuh"
#include "hybz.h"
#include "large.cuh"
#include "large_coding.cuh"
#include "lines.cuh"
#include "lzw.cuh"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace hybz {

constexpr uint32_t kMaxEvents = 16 + 4 * HYBZ_MAX_ROUNDS;

// The data that go to the device and back with a batch, in addition to text and column; pinned.
struct Staging {
    uint32_t table[kMarkedTable]; // the larger of the two sizes
    uint32_t base[HYBZ_MAX_BLOCKS + 1], text_base[HYBZ_MAX_BLOCKS + 1], third_base[HYBZ_MAX_BLOCKS + 1];
    uint32_t sample_base[HYBZ_MAX_BLOCKS + 1];
    uint32_t turn[HYBZ_MAX_BLOCKS + 1], bit_base[HYBZ_MAX_BLOCKS + 1];
    uint32_t origin[HYBZ_MAX_BLOCKS];
    Counters counters;
    hybz_coded coded[HYBZ_MAX_BLOCKS]; // resident
    Found found[HYBZ_MAX_BLOCKS];      // resident, of proofs
};

// The staging memory of a lane that decodes.
struct DecodeStaging {
    hybz_block heads[HYBZ_MAX_BLOCKS];
    Found found[HYBZ_MAX_BLOCKS];
};

// The staging memory of a lane that decodes `.hbz` blocks.
struct LargeStaging {
    LargeBlock blocks[HYBZ_MAX_LARGE];
    uint32_t odd[HYBZ_MAX_LARGE];
};

// The staging memory of a lane that codes `.hbz` blocks.
struct CodingStaging {
    hybz_tokens *about;
    hybz_tally *tallies;
    hybz_prices *prices;
    hybz_shares *shares;
    hybz_coded_segment *coded;
    uint32_t *first_segment;
};

// The memory of a lane that decodes LZ4, on the device and, to be copied from and to there, pinned.
struct Lz4Arrays {
    hybz_lz4_block *blocks;
    uint32_t *status;
};

// The memory of a lane that decodes strips.
struct DecodingStrips {
    hybz_lzw_strip *strips;
    uint32_t *slots, *used, *order, *total, *places;
    LzwTask *tasks;
    LzwFound *found;
    hybz_lzw_found *results;
    uint32_t *staged_slots;         // pinned
    hybz_lzw_found *staged_results; // pinned
    uint32_t pixel, row;            // hybz_lane_differences
};

// Device memory of a lane; lay_out in lane_memory.cu has the size of each array.
struct Arena {
    uint8_t *text, *column;
    uint32_t *table, *base, *text_base, *third_base, *sample_base, *turn, *bit_base, *origin;
    Counters *counters;
    SortBuffers sort;
    uint32_t *starts, *rank, *depth;
    List lists[2], done;
    uint32_t *order, *third_bits; // hybrid
    uint32_t *number_of, *head_of[2], *first_of; // large groups: LargeGroups has two generations
    uint8_t *tail; // resident
    uint8_t *temporary;
};

using Clock = std::chrono::steady_clock;

// An array in device memory: the address of the pointer to it, and its size.
struct Array {
    void *pointer;
    uint64_t bytes;
};

// Lays the arrays out one after another from `memory` on and sets their pointers (null: leaves them). Returns their
// total bytes.
template <size_t kArrays> uint64_t lay_out_arrays(const Array (&arrays)[kArrays], uint8_t *memory) {
    uint64_t at = 0;
    for (const Array &array : arrays) {
        if (memory) {
            uint8_t *address = memory + at;
            memcpy(array.pointer, &address, sizeof address);
        }
        at += (array.bytes + 255) / 256 * 256;
    }
    return at;
}

// The bytes of memory of a lane, on the device and pinned.
struct Needs {
    uint64_t memory, pinned;
};

// An upload and its blocks take turns in the streams of LZ4, which overlaps copying and decoding: a warp takes longer
// for its block than a part takes to copy.
constexpr uint32_t kLz4Streams = 8;

} // namespace hybz

struct hybz_lane {
    int device = 0;
    uint32_t max_blocks = 0, max_length = 0, max_bytes = 0;
    int32_t pipeline = HYBZ_BWT;
    uint32_t capacity = 0; // of rotations to be sorted
    int pitch_bits = 0;
    size_t temporary_bytes = 0;
    uint8_t *memory = nullptr, *pinned = nullptr; // all of it; `pinned` begins with the pipeline's staging memory
    hybz::Arena arena{};
    hybz::Decoding decoding{};              // HYBZ_DECODE
    hybz::LargeDecoding large{};            // HYBZ_DECODE_LARGE
    hybz::LargeCoding coding{};             // these two: HYBZ_CODE_LARGE
    hybz::CodingStaging coding_staging{};
    hybz::SortingLines lines{};             // HYBZ_LINES
    uint32_t factors = 0;                   // HYBZ_FACTOR: of the last text
    hybz::Lz4Arrays lz4{}, lz4_staged{};    // these two: HYBZ_LZ4
    cudaStream_t lz4_streams[hybz::kLz4Streams] = {};
    hybz::DecodingStrips strips{};          // these two: HYBZ_STRIPS
    uint64_t max_coded = 0;
    std::chrono::microseconds polled{0};    // how long `wait` polls without sleeping, after the first polls
    cudaStream_t usual = nullptr, urgent = nullptr; // kernels on the second have priority
    cudaStream_t stream = nullptr;                  // the current one of the two
    cudaEvent_t events[hybz::kMaxEvents] = {};
    uint32_t used_events = 0;
    cudaError_t event_error = cudaSuccess;

    template <class Staging> Staging &staged() const { return *reinterpret_cast<Staging *>(pinned); }

    // Begins a call: forgets the events of the one before.
    int begin() {
        used_events = 0;
        event_error = cudaSuccess;
        return int(cudaSetDevice(device));
    }

    // Gives the rest of the batch priority over batches of other lanes that are at their beginning. The stream must be
    // empty: the host has waited.
    void hurry() { stream = urgent; }

    // Copy to the device, and to pinned memory or the caller's.
    cudaError_t send(const void *to, const void *from, uint64_t bytes) const {
        return cudaMemcpyAsync(const_cast<void *>(to), from, bytes, cudaMemcpyHostToDevice, stream);
    }
    cudaError_t fetch(void *to, const void *from, uint64_t bytes) const {
        return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    }

    // Records an event at this point of the stream; returns its number.
    uint32_t record() {
        const cudaError_t error = cudaEventRecord(events[used_events], stream);
        if (error != cudaSuccess) event_error = error;
        return used_events++;
    }

    // Milliseconds of device time between two events.
    float elapsed(uint32_t from, uint32_t to) const {
        float ms = 0;
        if (cudaEventElapsedTime(&ms, events[from], events[to]) != cudaSuccess) return -1;
        return ms;
    }

    // Reports the times from an event on, of steps that follow each other.
    void report_steps(hybz_report *report, uint32_t event, std::initializer_list<hybz_step> steps) const {
        for (const hybz_step step : steps) {
            report->ms[step] = elapsed(event, event + 1);
            event++;
        }
    }

    // Waits until the stream is empty. It polls instead of blocking, because a hung kernel must not hang the thread: 50
    // times in a row, then with sleeps of 10 us, from poll 500 on of 100 us (which take 75 and 166 us with the kernel's
    // default timer slack). A waiting lane therefore leaves its core to other threads. With `part`, it sleeps for so
    // great a part of the time so far, up to 1 ms: for steps of many milliseconds in many lanes, whose sleeps of 10 us
    // were 7 % of all samples of their threads. An event that could not be recorded is an error, too.
    int wait(hybz::Clock::time_point deadline, uint32_t part = 0) const {
        using namespace std::chrono;
        const auto begun = hybz::Clock::now();
        for (uint32_t polls = 0;; polls++) {
            const cudaError_t state = cudaStreamQuery(stream);
            if (state != cudaErrorNotReady) return int(state ? state : event_error);
            if (polls < 50) continue;
            const auto now = hybz::Clock::now();
            if (now > deadline) return HYBZ_TIMEOUT;
            if (now - begun < polled) continue;
            const microseconds usual(polls < 500 || polled.count() ? 10 : 100);
            const microseconds longer = part ? duration_cast<microseconds>(now - begun) / part : usual;
            std::this_thread::sleep_for(std::clamp(longer, microseconds(10), microseconds(1000)));
        }
    }
};

#define HYBZ_TRY(call)                                                                                                 \
    do {                                                                                                               \
        const int code_ = int(call);                                                                                   \
        if (code_ != 0) return code_;                                                                                  \
    } while (0)

namespace hybz {

// The numbers of the events at which the steps of a batch begin and end.
struct Events {
    uint32_t begin, uploaded, keys_begin, keys_end, sorted, grouped, download, end;
    uint32_t rounds = 0;
    uint32_t round[HYBZ_MAX_ROUNDS][4]; // before the small groups, the large groups, the commit; after it
};

// A batch of `rows` rows, of `blocks` blocks that are in the lane's arena.
inline Batch batch_of(const hybz_lane &lane, uint32_t blocks, uint32_t rows, bool wide, uint32_t *order = nullptr) {
    const Arena &a = lane.arena;
    return {blocks, rows, lane.pitch_bits, a.base, a.text, a.column, order, a.origin, a.rank, a.depth, wide};
}

// The deadline of a batch that starts now.
inline Clock::time_point deadline_of(uint32_t timeout_ms) {
    return Clock::now() + std::chrono::milliseconds(timeout_ms);
}

// The parameters of a code table (codes.hpp): its number of end marks, and the max bits of a code word.
struct TableKind {
    int marks, max_code;
};
constexpr TableKind kRotationTable{0, kMaxCode}, kSampleTable{1, kThirdCode}, kSuffixTable{1, kMaxCode};

// batch.cu: the steps that pipelines share.

// The first step: copies the text to the device, with the code table and the starts of the blocks: `base` of the
// staging memory, and `text_base` if there are end marks.
int upload(hybz_lane *lane, TableKind kind, const uint8_t *text, uint32_t total, Events &events, hybz_report *report);
// The keys of all rotations, and their sort.
int sort_rotations(hybz_lane *lane, const Batch &batch, uint32_t max_length, Clock::time_point deadline, Events &events,
                   hybz_report *report);
// The keys of the suffixes in the batch, or of the sample of them (thirds.cu), and their sort.
int sort_suffixes(hybz_lane *lane, const Batch &batch, bool sample, uint32_t max_length, Clock::time_point deadline,
                  Events &events, hybz_report *report);
// A batch of the BWT from upload to columns and origins, in the arena. Records all events but the last two.
int sort_columns(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                 Clock::time_point deadline, Events &events, hybz_report *report);
// suffixes.cu: a batch of `.hbz` blocks from upload to columns, origins, and the rows of entry points (`each` for a
// block) in arena.starts.
int sort_large(hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text, uint32_t entry_log,
               Clock::time_point deadline, Events &events, hybz_report *report, uint32_t *each);
// The last step: copies the origins to the host, and waits for all copies.
int finish(hybz_lane *lane, uint32_t blocks, uint32_t *origins, Clock::time_point deadline, Events &events,
           hybz_report *report);
// The times of all steps.
void fill_report(const hybz_lane &lane, const Events &events, hybz_report *report);

// code_large.cu: the bytes that coding takes after the sort, in the memory from sort.keys[0] on.
uint64_t large_coding_memory(uint64_t blocks, uint64_t max_length);

// Each of these lays out the memory of a pipeline from `memory` and `pinned` on (null: only adds up), in the file of
// that pipeline. They return its total bytes.
uint64_t lay_out_decoding(Decoding &decoding, uint8_t *memory, uint64_t blocks, uint64_t max_length);
uint64_t lay_out_large(LargeDecoding &decoding, uint8_t *memory, uint64_t blocks, uint64_t rows);
uint64_t lay_out_coding(CodingStaging &staging, uint8_t *pinned, uint64_t blocks, uint64_t max_length);
int lay_out_lines(hybz_lane *lane, Needs *needs);
uint64_t lay_out_lz4(Lz4Arrays &arrays, uint8_t *memory, uint64_t blocks);
Needs lay_out_strips(DecodingStrips &strips, uint8_t *memory, uint8_t *pinned, uint64_t count, uint64_t coded);

} // namespace hybz
