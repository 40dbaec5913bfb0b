// lzw.cu: strips of LZW codes (TIFF files) decoded in device memory.
//
// The codes between two clears are a task for a warp. The positions of the codes are known before any code is decoded,
// since the number of a code determines its width; so the first kernel only looks for the clears. The second kernel
// computes the length of each task's text, the third its offset, and the last one writes it.
//
// Code 258 + j stands for the string of the j-th code and one byte more: the text from the first byte of string j to
// the first byte of string j + 1, inclusive. A warp therefore keeps only a table of where strings begin (in shared
// memory), and a code is a copy from a known place (copies.cuh). In a group of 32 codes, the lengths of those that
// refer to a code before the group are known immediately; chains of codes that refer to each other are resolved by
// pointer jumping. (Funasaka 2018 does so with all codes of a table, and has one thread write each string back to
// front, which takes as long as the longest string.)
//
// Nothing in a strip is trusted: whatever its codes, no byte is read or written outside its input and output.
#include "copies.cuh"
#include "lane.cuh"
#include <algorithm>

namespace hybz {

namespace {

constexpr uint32_t kFindThreads = 256, kFindCodes = 4; // codes that a thread examines together
constexpr uint32_t kPlaceThreads = 128, kAddThreads = 256;

struct Strips {
    const uint8_t *in;
    const hybz_lzw_strip *strips;
    const uint32_t *slots; // [0..count] where each strip's tasks begin in `tasks`; then: where the last ones end
    uint32_t count;
    LzwTask *tasks;
    uint32_t *used;  // [0..count-1] the number of a strip's tasks
    uint32_t *order; // the existing tasks
    uint32_t *total; // their number

    __device__ LzwCodes codes(uint32_t strip) const {
        return LzwCodes(in + strips[strip].from, strips[strip].coded);
    }
};

// Divides strips into tasks, one CTA for each strip: it looks for codes that are no strings, 1,024 codes at a time.
__global__ void __launch_bounds__(kFindThreads) find_kernel(const Strips strips) {
    __shared__ uint32_t firsts[2][kFindThreads / 32];
    const uint32_t strip = blockIdx.x;
    const LzwCodes codes = strips.codes(strip);
    uint32_t slot = strips.slots[strip];
    const auto add = [&](uint32_t begin, uint32_t end) {
        if (threadIdx.x == 0) {
            strips.tasks[slot] = {strip, begin, end};
            strips.order[atomicAdd(strips.total, 1)] = slot;
        }
        slot++;
    };
    uint32_t begin = 0, segment = 0, number = 0, passed = 0;
    for (uint32_t turn = 0;; turn ^= 1) {
        uint32_t first = ~0u;
#pragma unroll
        for (uint32_t k = kFindCodes; k-- > 0;) {
            const uint32_t place = k * kFindThreads + threadIdx.x;
            const LzwCode code(codes, segment, number + place);
            if (code.event != kLzwGoesOn) first = place;
        }
        first = __reduce_min_sync(~0u, first);
        if ((threadIdx.x & 31) == 0) firsts[turn][threadIdx.x >> 5] = first;
        __syncthreads(); // the barrier of the next iteration separates the uses of this iteration's half
#pragma unroll
        for (uint32_t w = 0; w < kFindThreads / 32; w++) first = min(first, firsts[turn][w]);
        const uint32_t count = min(first, kFindThreads * kFindCodes);
        passed += count;
        number += count;
        if (first == ~0u) continue;
        const LzwCode code(codes, segment, number);
        if (code.event != kLzwCleared) break;
        segment = code.end();
        number = 0;
        if (++passed < kLzwTask) continue;
        add(begin, segment);
        begin = segment;
        passed = 0;
    }
    add(begin, ~0u);
    if (threadIdx.x == 0) strips.used[strip] = slot - strips.slots[strip];
}

// Decodes the task of a warp: only its length (kWrite: false), or its text, of which at most `room` bytes fit the
// strip. `starts` [0..kLzwNamed] receives the starts of strings, counted from the last clear.
template <bool kWrite, class Start>
__device__ LzwFound decode_task(const LzwCodes &codes, const LzwTask &task, uint32_t room, uint8_t *out,
                                Start *starts) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t segment = task.begin, number = 0, base = 0, to = 0; // base: the offset of the segment's text
    LzwBytes bytes = codes.bytes_at(segment + codes.before(lane));
    for (;;) {
        const LzwCode own(codes, segment, number + lane, bytes);
        if (number == 0 && lane == 0) starts[0] = 0;
        bytes = codes.bytes_at(segment + codes.before(number + 32 + lane)); // in flight meanwhile
        const bool unknown = own.event == kLzwGoesOn && !own.is_literal() && own.entry() >= own.number;
        const uint32_t event = unknown ? uint32_t(kLzwUnknown) : own.event;
        const uint32_t events = __ballot_sync(~0u, event != kLzwGoesOn);
        const uint32_t strings = events ? __ffs(events) - 1 : 32;
        const bool mine = lane < strings, copies = mine && !own.is_literal();
        // Lengths of strings whose parents are in this group follow from the parents' lengths.
        const bool inside = copies && own.entry() >= number;
        const uint32_t within = own.entry() - number;
        uint32_t from = 0, length = mine ? 1 : 0;
        if (copies && !inside) {
            from = starts[own.entry()];
            length += Start(starts[own.entry() + 1] - from);
        }
        follow_parents(length, within, inside, Sum{});
        const uint32_t end = to + sum_up_to(length), begin = end - length;
        if (mine && own.number < kLzwNamed) starts[own.number + 1] = Start(end);
        if (kWrite) {
            const uint32_t older = __shfl_sync(~0u, begin, within & 31);
            if (inside) from = older;
            // A strip may end within a string.
            length = base + begin < room ? min(length, room - base - begin) : 0;
            const uint32_t source = copies ? ~(begin - from) : own.code;
            carry_out_short(source, min(base + begin, room), length, out);
        } else {
            __syncwarp();
        }
        to = __shfl_sync(~0u, end, 31);
        if (base + to >= room) return {base + to, kLzwGoesOn, 0, 0};
        if (!events) {
            number += 32;
            continue;
        }
        const uint32_t what = __shfl_sync(~0u, event, strings);
        segment = __shfl_sync(~0u, own.end(), strings);
        base += to;
        if (what != kLzwCleared) return {base, what, __shfl_sync(~0u, own.code, strings), number + strings};
        if (segment >= task.end) return {base, kLzwGoesOn, 0, 0};
        to = number = 0;
        bytes = codes.bytes_at(segment + codes.before(lane));
    }
}

// Strips of up to 64 KiB need only 16 bits for an offset, and half the shared memory.
template <class Start> constexpr uint32_t kTaskWarps = sizeof(Start) == 2 ? 4 : 2;

// Measures each task (kWrite: false), or writes its text from `places` on (~0: none).
template <bool kWrite, class Start>
__global__ void __launch_bounds__(kTaskWarps<Start> * 32)
tasks_kernel(const Strips strips, LzwFound *__restrict__ found, const uint32_t *__restrict__ places, uint8_t *out) {
    __shared__ Start starts[kTaskWarps<Start>][kLzwNamed + 1];
    const uint32_t warp = threadIdx.x >> 5, which = blockIdx.x * kTaskWarps<Start> + warp;
    if (which >= *strips.total) return;
    const uint32_t slot = strips.order[which], place = kWrite ? places[slot] : 0;
    if (place == ~0u) return;
    const LzwTask task = strips.tasks[slot];
    const hybz_lzw_strip &strip = strips.strips[task.strip];
    const LzwFound result = decode_task<kWrite>(strips.codes(task.strip), task, strip.length - place,
                                                out + strip.to + place, starts[warp]);
    if (!kWrite && (threadIdx.x & 31) == 0) found[slot] = result;
}

// Undoes TIFF's predictor 2 in place: each byte is stored as the difference from the same byte of the pixel before it
// in the row. A CTA for each strip, a warp for a row, 32 pixels at a time.
__global__ void __launch_bounds__(kAddThreads)
add_kernel(const hybz_lzw_strip *__restrict__ strips, uint32_t pixel, uint32_t row, uint8_t *out) {
    const auto add = [](uint32_t a, uint32_t b) { // four bytes, each modulo 256
        return ((a & 0x7f7f7f7f) + (b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080);
    };
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, length = strips[blockIdx.x].length;
    uint8_t *const text = out + strips[blockIdx.x].to;
    for (uint32_t begin = warp * row; begin < length; begin += kAddThreads / 32 * row) {
        const uint32_t end = min(begin + row, length);
        for (uint32_t at = begin, before = 0; at < end; at += 32 * pixel) {
            const uint32_t own = at + lane * pixel, there = own < end ? min(pixel, end - own) : 0;
            uint32_t sum = 0;
            for (uint32_t k = 0; k < there; k++) sum |= uint32_t(text[own + k]) << 8 * k;
            sum = add(scan_up_to(sum, add), before);
            before = __shfl_sync(~0u, sum, 31);
            for (uint32_t k = 0; k < there; k++) text[own + k] = uint8_t(sum >> 8 * k);
        }
    }
}

// Each thread computes the output offsets of one strip's tasks, and the strip's error.
__global__ void __launch_bounds__(kPlaceThreads)
place_kernel(const Strips strips, const LzwFound *__restrict__ found, uint32_t *__restrict__ places,
             hybz_lzw_found *__restrict__ results) {
    const uint32_t strip = blockIdx.x * kPlaceThreads + threadIdx.x;
    if (strip >= strips.count) return;
    const uint32_t length = strips.strips[strip].length, used = strips.used[strip];
    const LzwCodes codes = strips.codes(strip);
    hybz_lzw_found result{length ? uint32_t(HYBZ_LZW_LENGTH) : HYBZ_LZW_RIGHT, 0, 0};
    bool ends = length == 0;
    if (!ends && codes.bits >= kLzwMinBits) {
        const LzwCode first(codes, 0, 0);
        if (!(first.event == kLzwCleared || first.event == kLzwCut)) {
            result.status = HYBZ_LZW_START;
            ends = true;
        }
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < used; k++) {
        const uint32_t slot = strips.slots[strip] + k;
        places[slot] = ends ? ~0u : at;
        if (ends) continue;
        const LzwFound &task = found[slot];
        ends = true;
        if (task.length >= length - at) {
            result = {HYBZ_LZW_RIGHT, 0, 0};
            continue;
        }
        at += task.length;
        if (task.event == kLzwUnknown) result = {HYBZ_LZW_CODE, task.code, kLzwFirst + task.known};
        else if (task.event == kLzwFull) result = {HYBZ_LZW_TABLE, 0, 0};
        else if (task.event == kLzwCut) result = {HYBZ_LZW_LENGTH, at, 0};
        else ends = false;
    }
    results[strip] = result;
}

// The max number of tasks of a strip.
uint64_t tasks_of(uint64_t coded) { return coded * 8 / (uint64_t(kLzwMinBits) * kLzwTask) + 1; }

// Whether all strips lie within the input and the output (in the output one after the other) and have valid lengths;
// sets their tasks.
bool are_in_place(hybz_lane *lane, const hybz_lzw_strip *strips, uint32_t count, uint64_t in_bytes,
                  uint64_t out_bytes) {
    uint64_t to = 0, coded = 0, slots = 0;
    lane->strips.staged_slots[0] = 0;
    for (uint32_t s = 0; s < count; s++) {
        const hybz_lzw_strip &strip = strips[s];
        coded += strip.coded;
        slots += tasks_of(strip.coded);
        if (strip.length > HYBZ_MAX_LZW || strip.coded > HYBZ_MAX_LZW || strip.to < to || strip.from > in_bytes ||
            strip.coded > in_bytes - strip.from || strip.to > out_bytes || strip.length > out_bytes - strip.to ||
            coded > lane->max_coded)
            return false;
        to = strip.to + strip.length;
        lane->strips.staged_slots[s + 1] = uint32_t(slots);
    }
    return true;
}

template <class Start>
int decode(const DecodingStrips &s, const Strips &strips, uint8_t *out, cudaStream_t stream) {
    const uint32_t grid = blocks_for(s.staged_slots[strips.count], kTaskWarps<Start>);
    constexpr uint32_t kTaskThreads = kTaskWarps<Start> * 32;
    find_kernel<<<strips.count, kFindThreads, 0, stream>>>(strips);
    const auto measure = tasks_kernel<false, Start>, write = tasks_kernel<true, Start>;
    measure<<<grid, kTaskThreads, 0, stream>>>(strips, s.found, s.places, out);
    place_kernel<<<blocks_for(strips.count, kPlaceThreads), kPlaceThreads, 0, stream>>>(strips, s.found, s.places,
                                                                                       s.results);
    write<<<grid, kTaskThreads, 0, stream>>>(strips, s.found, s.places, out);
    return int(cudaGetLastError());
}

// Decodes strips whose bounds were checked; the results are in flight when this returns.
int launch(const DecodingStrips &s, const uint8_t *in, const hybz_lzw_strip *strips, uint32_t count, uint8_t *out,
           cudaStream_t stream) {
    HYBZ_TRY(cudaMemcpyAsync(s.strips, strips, count * sizeof(hybz_lzw_strip), cudaMemcpyHostToDevice, stream));
    HYBZ_TRY(cudaMemcpyAsync(s.slots, s.staged_slots, (uint64_t(count) + 1) * 4, cudaMemcpyHostToDevice, stream));
    HYBZ_TRY(cudaMemsetAsync(s.total, 0, 4, stream));
    const bool narrow = std::all_of(strips, strips + count, [](const auto &strip) { return strip.length <= 1u << 16; });
    const Strips all{in, s.strips, s.slots, count, s.tasks, s.used, s.order, s.total};
    HYBZ_TRY(narrow ? decode<uint16_t>(s, all, out, stream) : decode<uint32_t>(s, all, out, stream));
    if (s.row) {
        add_kernel<<<count, kAddThreads, 0, stream>>>(s.strips, s.pixel, s.row, out);
        HYBZ_TRY(cudaGetLastError());
    }
    return int(cudaMemcpyAsync(s.staged_results, s.results, count * sizeof(hybz_lzw_found), cudaMemcpyDeviceToHost,
                               stream));
}

} // namespace

Needs lay_out_strips(DecodingStrips &s, uint8_t *memory, uint8_t *pinned, uint64_t strips, uint64_t coded) {
    const uint64_t tasks = tasks_of(coded) + strips;
    const Array arrays[] = {
        {&s.strips, strips * sizeof(hybz_lzw_strip)},
        {&s.slots, (strips + 1) * 4},
        {&s.used, strips * 4},
        {&s.order, tasks * 4},
        {&s.total, 4},
        {&s.places, tasks * 4},
        {&s.tasks, tasks * sizeof(LzwTask)},
        {&s.found, tasks * sizeof(LzwFound)},
        {&s.results, strips * sizeof(hybz_lzw_found)},
    };
    const Array staged[] = {
        {&s.staged_slots, (strips + 1) * 4},
        {&s.staged_results, strips * sizeof(hybz_lzw_found)},
    };
    return {lay_out_arrays(arrays, memory), lay_out_arrays(staged, pinned)};
}

extern "C" int hybz_lane_differences(hybz_lane *lane, uint32_t pixel, uint32_t row) {
    if (row > HYBZ_MAX_LZW || pixel > 4 || (row && (pixel == 0 || row % pixel))) return HYBZ_ARGUMENT;
    lane->strips.pixel = pixel;
    lane->strips.row = row;
    return 0;
}

extern "C" int hybz_lane_strips(hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_bytes,
                                const hybz_lzw_strip *strips, uint32_t count, uint8_t *out, uint64_t out_bytes,
                                uint8_t *to_host, hybz_lzw_found *found, uint32_t timeout_ms) {
    if (lane->pipeline != HYBZ_STRIPS || count > lane->max_blocks ||
        !are_in_place(lane, strips, count, in_bytes, out_bytes))
        return HYBZ_ARGUMENT;
    if (count == 0) return 0;
    const Clock::time_point deadline = deadline_of(timeout_ms);
    HYBZ_TRY(lane->begin());
    const cudaStream_t stream = lane->stream;
    // An empty buffer may have a null address, which would be an error in a copy.
    const bool copies_text = to_host && out_bytes > 0;
    if (from_host && in_bytes > 0) HYBZ_TRY(lane->send(in, from_host, in_bytes));
    // This keeps bytes of an earlier batch from appearing after the text of a damaged strip.
    if (copies_text) HYBZ_TRY(cudaMemsetAsync(out, 0, out_bytes, stream));
    HYBZ_TRY(launch(lane->strips, in, strips, count, out, stream));
    // Copying to unpinned memory waits for the kernels, without a deadline.
    HYBZ_TRY(lane->wait(deadline));
    if (copies_text) {
        HYBZ_TRY(lane->fetch(to_host, out, out_bytes));
        HYBZ_TRY(lane->wait(deadline));
    }
    std::copy(lane->strips.staged_results, lane->strips.staged_results + count, found);
    return 0;
}

} // namespace hybz
