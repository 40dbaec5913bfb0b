// lane.cuh: a lane, and what its shapes (lane.cu, resident.cu) share.
#pragma once
#include "codes.hpp"
#include "device.cuh"
#include <chrono>
#include <cstring>
#include <thread>

namespace hybz {

constexpr uint32_t kEvents = 12 + 4 * HYBZ_MOST_ROUNDS;

// What the host hands to the device for a batch, and gets back from it, besides text and column; pinned.
struct Staging {
    uint32_t table[kMarkedTable]; // the larger of the two
    uint32_t base[HYBZ_MOST_BLOCKS + 1], text_base[HYBZ_MOST_BLOCKS + 1], third_base[HYBZ_MOST_BLOCKS + 1];
    uint32_t turn[HYBZ_MOST_BLOCKS + 1];
    uint32_t origin[HYBZ_MOST_BLOCKS];
    Counters counters;
    hybz_coded coded[HYBZ_MOST_BLOCKS]; // resident
};

// Device memory of a lane; `lay_out` is the table of it.
struct Arena {
    uint8_t *text, *column;
    uint32_t *table, *base, *text_base, *third_base, *turn, *origin;
    Counters *counters;
    SortBuffers sort;
    uint32_t *starts, *rank, *depth;
    List lists[2], done;
    uint32_t *order, *third_keys; // hybrid
    LargeTables tables;
    uint8_t *more; // resident
    uint8_t *temporary;
};

using Clock = std::chrono::steady_clock;

// An array in device memory: where its pointer stands, and how many bytes it has.
struct Row {
    void *pointer;
    uint64_t bytes;
};

// Gives each array its place at `memory` (null: none). Answers how many bytes they take.
template <size_t kRows> uint64_t place_rows(const Row (&rows)[kRows], uint8_t *memory) {
    uint64_t at = 0;
    for (const Row &row : rows) {
        if (memory) {
            uint8_t *place = memory + at;
            memcpy(row.pointer, &place, sizeof place);
        }
        at += (row.bytes + 255) / 256 * 256;
    }
    return at;
}

} // namespace hybz

struct hybz_lane {
    int device = 0;
    uint32_t most_blocks = 0, longest = 0, most_bytes = 0;
    int32_t pipeline = HYBZ_BWT;
    uint32_t capacity = 0; // of rotations to be sorted
    int pitch_bits = 0;
    size_t temporary_bytes = 0;
    uint8_t *memory = nullptr;
    hybz::Arena arena{};
    hybz::Staging *staging = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t events[hybz::kEvents] = {};
    uint32_t used_events = 0;
    cudaError_t event_error = cudaSuccess;

    // Marks this point of the stream; returns the mark's number.
    uint32_t mark() {
        const cudaError_t error = cudaEventRecord(events[used_events], stream);
        if (error != cudaSuccess) event_error = error;
        return used_events++;
    }

    float between(uint32_t from, uint32_t to) const {
        float ms = 0;
        if (cudaEventElapsedTime(&ms, events[from], events[to]) != cudaSuccess) return -1;
        return ms;
    }

    // Waits until the stream is empty. A hung kernel must not hang the thread: so this asks instead of blocking.
    int wait(hybz::Clock::time_point deadline) const {
        for (uint32_t asked = 0;; asked++) {
            const cudaError_t state = cudaStreamQuery(stream);
            if (state != cudaErrorNotReady) return int(state);
            if (asked < 50) continue;
            if (hybz::Clock::now() > deadline) return HYBZ_DEADLINE;
            std::this_thread::sleep_for(std::chrono::microseconds(asked < 500 ? 10 : 100));
        }
    }
};

#define HYBZ_TRY(call)                                                                                                 \
    do {                                                                                                               \
        const int code_ = int(call);                                                                                   \
        if (code_ != 0) return code_;                                                                                  \
    } while (0)

namespace hybz {

// Notes of one batch: where its steps begin and end.
struct Marks {
    uint32_t begin, uploaded, keyed_from, keyed, sorted, grouped, download, end;
    uint32_t rounds = 0;
    uint32_t round[HYBZ_MOST_ROUNDS][4];
};

// The code table of a batch (codes.hpp): coded or raw bytes, with so many end marks, words of so many bits.
struct Codes {
    bool coded;
    int marks, longest;
};
// The first step: the text goes to the device, and with it the code table and where the blocks begin: `base` of the staging memory,
// and `text_base` if there are end marks.
int upload(hybz_lane *lane, const Codes &codes, const uint8_t *text, uint32_t total, Marks &marks, hybz_report *report);
// From keys to ranks that are all different: the first sort, groups, rounds. Keys and values stand in arena.sort.
int sort_all(hybz_lane *lane, const Batch &batch, const hybz_tuning &tuning, const KeyLayout &layout,
             Clock::time_point deadline, Marks &marks, hybz_report *report);
// suffixes.cu and thirds.cu: the keys of the suffixes in the batch, or of the sample of them, and then sort_all.
int sort_suffixes(hybz_lane *lane, const Batch &batch, bool sample, const hybz_tuning &tuning, const KeyLayout &layout,
                  uint32_t longest, Clock::time_point deadline, Marks &marks, hybz_report *report);
// A batch from upload to columns and origins, in the arena. Marks what it did but the end.
int sort_columns(hybz_lane *lane, const hybz_tuning &tuning, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                 Clock::time_point deadline, Marks &marks, hybz_report *report);
// Times of all steps of a sort.
void tell(const hybz_lane &lane, const Marks &marks, hybz_report *report);
// Bytes that coding takes after the sort, in the memory from sort.keys[0] on.
uint64_t coding_bytes(uint64_t most_blocks, uint64_t longest);

} // namespace hybz
