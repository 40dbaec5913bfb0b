// lz4.cu: LZ4 blocks decoded in device memory, a warp for each.
//
// The position of a token depends on all tokens before it. Each lane therefore computes, for each of four bytes, where
// the next token would be if a token began at that byte; pointer jumping over these 128 answers gives the positions of
// 32 tokens. Then each lane reads a sequence, and all lanes execute them (gather.cuh). The thousands of independent 64
// KiB blocks of a frame keep all multiprocessors busy; of larger blocks, a frame has too few.
//
// On an H200, GB/s of text, nvCOMP 6.0 on the same blocks in the same run in brackets (64 KiB, lz4 -12, 1 GB): linux
// 294 (151), dickens 227 (102), nci 397 (215). From pinned memory 175, 98 and 309, while the text itself would come at
// 55.
//
// Nothing in a block is trusted: whatever it contains, no byte is written outside its output, and no byte outside its
// input and output has an effect.
#include "gather.cuh"
#include "lane.cuh"
#include <algorithm>

namespace hybz {

namespace {

constexpr uint32_t kLz4Warps = 4;
constexpr uint32_t kLz4Ctas = 12; // minimum in a multiprocessor: 40 registers a thread

constexpr uint32_t kTokenWindow = 128; // bytes of input searched for tokens together

// A warp's shared memory.
struct Lz4Shared {
    CopyTable table;
    uint32_t window[kTokenWindow / 4];      // the input
    uint32_t next[2][kTokenWindow / 4 + 1]; // bytes: the next token of each place; kTokenWindow: beyond the window
};

// The position of a lane that reads a sequence.
struct Tokens {
    uint32_t at, end; // in the input
    uint32_t longest; // the max length
    bool wrong, done;
};

// Adds the bytes that continue a length.
__device__ uint32_t continued(const uint8_t *__restrict__ in, Tokens &tokens, uint32_t length) {
    for (;;) {
        if (tokens.at >= tokens.end || length > tokens.longest) {
            tokens.wrong = true;
            return 0;
        }
        const uint32_t more = in[tokens.at++];
        length += more;
        if (more != 255) return length;
    }
}

// Reads a sequence. The last one of a block is literals only.
__device__ CopyCommand read_sequence(const uint8_t *__restrict__ in, Tokens &tokens, uint32_t token) {
    CopyCommand command{0, token >> 4, 1, 0};
    tokens.at++;
    if (command.literals == 15) command.literals = continued(in, tokens, 15);
    if (tokens.wrong || command.literals > tokens.end - tokens.at || command.literals > tokens.longest) {
        tokens.wrong = true;
        return command;
    }
    command.from = tokens.at;
    tokens.at += command.literals;
    tokens.done = tokens.at == tokens.end;
    if (tokens.done) return command;
    if (tokens.end - tokens.at < 2) {
        tokens.wrong = true;
        return command;
    }
    command.distance = in[tokens.at] | uint32_t(in[tokens.at + 1]) << 8;
    tokens.at += 2;
    command.length = token & 15;
    if (command.length == 15) command.length = continued(in, tokens, 15);
    command.length += 4;
    tokens.wrong |= command.distance == 0 || command.length > tokens.longest;
    return command;
}

// Four bytes of the input for each lane; zeros past its end.
__device__ uint32_t read_window(const uint8_t *__restrict__ in, uint32_t rest) {
    const uint32_t place = (threadIdx.x & 31) * 4;
    if (rest >= kTokenWindow + 8) {
        const uintptr_t address = reinterpret_cast<uintptr_t>(in + place);
        const uint32_t *words = reinterpret_cast<const uint32_t *>(address & ~uintptr_t(3));
        return __byte_perm(words[0], words[1], 0x3210 + uint32_t(address & 3) * 0x1111);
    }
    uint32_t word = 0;
    for (uint32_t k = 0; k < 4; k++)
        if (place + k < rest) word |= uint32_t(in[place + k]) << 8 * k;
    return word;
}

// The position of the token after one at `place`, if it is in the window and its lengths are continued by one byte at
// most.
__device__ uint32_t next_token(const uint8_t *window, uint32_t place, uint32_t token, uint32_t limit) {
    uint32_t next = place + 3 + (token >> 4);
    if (token >= 0xf0) {
        const uint32_t more = place + 1 < kTokenWindow ? window[place + 1] : 255;
        next = more == 255 ? kTokenWindow : next + 1 + more;
    }
    if ((token & 15) == 15) next = next >= kTokenWindow || window[next] == 255 ? kTokenWindow : next + 1;
    return next < limit ? next : kTokenWindow;
}

// The position in the window of the lane's token, if the first one is at 0; kTokenWindow if it is beyond.
__device__ uint32_t place_of_token(uint32_t word, uint32_t rest, Lz4Shared &shared) {
    const uint32_t lane = threadIdx.x & 31, limit = min(rest, kTokenWindow);
    shared.window[lane] = word;
    __syncwarp();
    const uint8_t *window = reinterpret_cast<const uint8_t *>(shared.window);
    uint32_t four = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        four |= next_token(window, lane * 4 + k, word >> 8 * k & 255, limit) << 8 * k;
    // After the first two steps a table advances by four tokens.
    uint32_t place = 0;
#pragma unroll
    for (uint32_t step = 0; step < 3; step++) {
        shared.next[step & 1][lane] = four;
        __syncwarp();
        const uint8_t *next = reinterpret_cast<const uint8_t *>(shared.next[step & 1]);
        if (step == 2) {
#pragma unroll
            for (uint32_t k = 0; k < 7; k++)
                if (k < lane / 4) place = next[place];
            break;
        }
        if (lane >> step & 1) place = next[place];
        four = next[four & 255] | uint32_t(next[four >> 8 & 255]) << 8 | uint32_t(next[four >> 16 & 255]) << 16 |
               uint32_t(next[four >> 24]) << 24;
    }
    return place;
}

// Decodes a block. Returns whether it is valid, in all lanes.
__device__ bool decode_block(const uint8_t *__restrict__ in, const hybz_lz4_block &block, uint8_t *out,
                             Lz4Shared &shared) {
    const uint32_t lane = threadIdx.x & 31;
    if (lane < 2) shared.next[lane][kTokenWindow / 4] = kTokenWindow;
    const uint8_t *window = reinterpret_cast<const uint8_t *>(shared.window);
    if (block.coded == 0) return false;
    uint32_t word = read_window(in, block.coded);
    for (uint32_t read = 0, at = 0;;) {
        const uint32_t place = place_of_token(word, block.coded - read, shared);
        const bool present = place < kTokenWindow;
        Tokens tokens{read + place, block.coded, block.length, false, false};
        CopyCommand own{0, 0, 1, 0};
        if (present) own = read_sequence(in, tokens, window[place]);
        const uint32_t last = __popc(__ballot_sync(~0u, present)) - 1;
        const CopyPlaces places = places_of_copies(own, at);
        // No sum overflows: at most 64 lengths of little more than 4 MiB, even in a damaged block.
        const bool too_far = own.length > 0 && own.distance > places.begin + own.literals;
        if (__ballot_sync(~0u, tokens.wrong || too_far || places.end > block.length)) return false;
        const bool done = __ballot_sync(~0u, tokens.done);
        read = __shfl_sync(~0u, tokens.at, last);
        if (!done && read >= block.coded) return false;
        if (!done) word = read_window(in + read, block.coded - read); // in flight meanwhile
        gather(own, places, at, in, out, shared.table);
        at = places.end;
        if (done) return at == block.length;
    }
}

__global__ void __launch_bounds__(kLz4Warps * 32, kLz4Ctas)
lz4_kernel(const uint8_t *__restrict__ in, const hybz_lz4_block *__restrict__ blocks, uint32_t count, uint8_t *out,
           uint32_t *__restrict__ status) {
    __shared__ Lz4Shared shared[kLz4Warps];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint32_t number = blockIdx.x * kLz4Warps + warp;
    if (number >= count) return;
    const hybz_lz4_block block = blocks[number];
    const uint8_t *from = in + block.from;
    uint8_t *to = out + block.to;
    bool right;
    if (block.plain) {
        right = block.coded == block.length;
        if (right)
#pragma unroll 8
            for (uint32_t i = lane; i < block.length; i += 32) to[i] = from[i];
    } else {
        right = decode_block(from, block, to, shared[warp]);
    }
    if (lane == 0) status[number] = right ? 0 : 1;
}

// The number of input bytes in one upload. The parts in flight must hold what the link carries while a warp decodes a
// block (1 ms or 2 for 64 KiB); there are eight such parts.
uint64_t bytes_at_once(const hybz_lz4_block *blocks, uint32_t count, uint64_t in_bytes) {
    uint32_t longest = 0;
    for (uint32_t b = 0; b < count; b++) longest = std::max(longest, blocks[b].length);
    const uint64_t most = (uint64_t(16) << 20) * (longest / 65536 + 1), least = uint64_t(4) << 20;
    return std::min(std::max(in_bytes / 8, least), most);
}

// Whether all blocks lie within the input and the output, one after the other, and have valid lengths.
bool are_in_place(const hybz_lz4_block *blocks, uint32_t count, uint64_t in_bytes, uint64_t out_bytes) {
    uint64_t from = 0, to = 0;
    for (uint32_t b = 0; b < count; b++) {
        const hybz_lz4_block &block = blocks[b];
        if (block.length > HYBZ_MAX_LZ4 || block.coded > 2 * HYBZ_MAX_LZ4 || block.from < from || block.to < to ||
            block.from > in_bytes || block.coded > in_bytes - block.from || block.to > out_bytes ||
            block.length > out_bytes - block.to)
            return false;
        from = block.from + block.coded;
        to = block.to + block.length;
    }
    return true;
}

// Starts decoding blocks whose bounds were checked.
int launch(hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_bytes, const hybz_lz4_block *blocks,
           uint32_t count, uint8_t *out, Clock::time_point deadline) {
    const Lz4Arrays &there = lane->lz4, &staged = lane->lz4_staged;
    std::copy(blocks, blocks + count, staged.blocks);
    const uint64_t at_once = from_host ? bytes_at_once(blocks, count, in_bytes) : 0;
    uint32_t turn = 0;
    for (uint32_t first = 0; first < count; turn++) {
        const cudaStream_t stream = lane->stream = lane->lz4_streams[turn % kLz4Streams];
        // A copy from unpinned memory would wait here, without a deadline.
        if (turn >= kLz4Streams) HYBZ_TRY(lane->wait(deadline));
        uint32_t end = first + 1;
        const uint64_t begin = blocks[first].from;
        while (end < count && (!from_host || blocks[end].from + blocks[end].coded - begin <= at_once)) end++;
        const uint32_t some = end - first;
        HYBZ_TRY(lane->send(there.blocks + first, staged.blocks + first, some * sizeof(hybz_lz4_block)));
        if (from_host) {
            const uint64_t bytes = blocks[end - 1].from + blocks[end - 1].coded - begin;
            HYBZ_TRY(lane->send(in + begin, from_host + begin, bytes));
        }
        lz4_kernel<<<blocks_for(some, kLz4Warps), kLz4Warps * 32, 0, stream>>>(in, there.blocks + first, some, out,
                                                                             there.status + first);
        HYBZ_TRY(cudaGetLastError());
        HYBZ_TRY(lane->fetch(staged.status + first, there.status + first, uint64_t(some) * 4));
        first = end;
    }
    return 0;
}

} // namespace

uint64_t lay_out_lz4(Lz4Arrays &arrays, uint8_t *memory, uint64_t blocks) {
    const Array both[] = {{&arrays.blocks, blocks * sizeof(hybz_lz4_block)}, {&arrays.status, blocks * 4}};
    return lay_out_arrays(both, memory);
}

extern "C" int hybz_lane_lz4(hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_bytes,
                             const hybz_lz4_block *blocks, uint32_t count, uint8_t *out, uint64_t out_bytes,
                             uint32_t *status, uint32_t timeout_ms) {
    if (lane->pipeline != HYBZ_LZ4 || count > lane->max_blocks || !are_in_place(blocks, count, in_bytes, out_bytes))
        return HYBZ_ARGUMENT;
    const Clock::time_point deadline = deadline_of(timeout_ms);
    HYBZ_TRY(cudaSetDevice(lane->device));
    int code = launch(lane, from_host, in, in_bytes, blocks, count, out, deadline);
    // Parts started before a failure still use the caller's memory.
    for (const cudaStream_t stream : lane->lz4_streams) {
        lane->stream = stream;
        if (const int waited = lane->wait(deadline)) code = waited;
    }
    HYBZ_TRY(code);
    std::copy(lane->lz4_staged.status, lane->lz4_staged.status + count, status);
    return 0;
}

} // namespace hybz
