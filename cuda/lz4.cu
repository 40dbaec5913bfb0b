// lz4.cu: LZ4 blocks decoded in device memory, a warp for each.
//
// One lane of the warp reads the tokens of 32 sequences: the only chain in it is from token to token, one load of the
// first-level cache each. Then all lanes check and carry out a sequence each (copies.cuh). With the thousands of
// independent 64 KiB blocks of a frame all multiprocessors are busy.
//
// Nothing in a block is trusted: whatever it says, no byte is read or written outside the block's input and output.
#include "copies.cuh"
#include "lane.cuh"
#include <algorithm>
#include <new>

namespace hybz {

namespace {

constexpr uint32_t kLz4Warps = 4;

// Where a lane that reads tokens has got to.
struct Tokens {
    uint32_t at, end; // in the input
    uint32_t longest; // no length may be more
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

// Reads up to 32 sequences. The last one of a block is literals only.
__device__ uint32_t read_tokens(const uint8_t *__restrict__ in, Tokens &tokens, CopyCommand *commands) {
    uint32_t count = 0;
    while (count < 32 && !tokens.done) {
        if (tokens.at >= tokens.end) {
            tokens.wrong = true;
            break;
        }
        const uint32_t token = in[tokens.at++];
        CopyCommand command{0, token >> 4, 1, 0};
        if (command.literals == 15) command.literals = continued(in, tokens, 15);
        if (tokens.wrong || command.literals > tokens.end - tokens.at || command.literals > tokens.longest) {
            tokens.wrong = true;
            break;
        }
        command.from = tokens.at;
        tokens.at += command.literals;
        if (tokens.at == tokens.end) {
            tokens.done = true;
        } else {
            if (tokens.end - tokens.at < 2) {
                tokens.wrong = true;
                break;
            }
            command.distance = in[tokens.at] | uint32_t(in[tokens.at + 1]) << 8;
            tokens.at += 2;
            command.length = token & 15;
            if (command.length == 15) command.length = continued(in, tokens, 15);
            command.length += 4;
            if (tokens.wrong || command.distance == 0 || command.length > tokens.longest) {
                tokens.wrong = true;
                break;
            }
        }
        commands[count++] = command;
    }
    return count;
}

// Decodes a block: whether it is right, in all lanes.
__device__ bool decode_block(const uint8_t *__restrict__ in, const hybz_lz4_block &block, uint8_t *out,
                             CopyCommand *commands) {
    const uint32_t lane = threadIdx.x & 31;
    Tokens tokens{0, block.coded, block.length, false, false};
    uint32_t at = 0;
    for (;;) {
        uint32_t count = 0;
        if (lane == 0) count = read_tokens(in, tokens, commands);
        __syncwarp();
        count = __shfl_sync(~0u, count, 0);
        const uint32_t state = __shfl_sync(~0u, lane == 0 ? tokens.wrong | tokens.done << 1 : 0, 0);
        if (state & 1) return false;
        const CopyCommand own = lane < count ? commands[lane] : CopyCommand{0, 0, 1, 0};
        const CopyPlaces places = places_of_copies(own, at);
        // No sum overflows: 64 lengths of up to 4 MiB.
        const bool reaches_back = own.length == 0 || own.distance <= places.begin + own.literals;
        if (places.end > block.length || __ballot_sync(~0u, !reaches_back)) return false;
        carry_out(own, places.begin, in, out);
        at = places.end;
        if (state & 2) return at == block.length;
    }
}

__global__ void __launch_bounds__(kLz4Warps * 32)
lz4_kernel(const uint8_t *__restrict__ in, const hybz_lz4_block *__restrict__ blocks, uint32_t count, uint8_t *out,
           uint32_t *__restrict__ status) {
    __shared__ CopyCommand commands[kLz4Warps][32];
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
            for (uint32_t i = lane; i < block.length; i += 32) to[i] = from[i];
    } else {
        right = decode_block(from, block, to, commands[warp]);
    }
    if (lane == 0) status[number] = right ? 0 : 1;
}

} // namespace

} // namespace hybz

using namespace hybz;

// Two streams, so that one part is on its way while another one is decoded.
struct hybz_lz4 {
    int device = 0;
    uint32_t max_blocks = 0;
    hybz_lz4_block *blocks = nullptr; // device
    uint32_t *status = nullptr;       // device
    uint32_t *staged = nullptr;       // pinned
    cudaStream_t streams[2] = {};
};

namespace {

constexpr uint64_t kUploaded = uint64_t(8) << 20; // bytes of input at once

int wait_for(cudaStream_t stream, Clock::time_point deadline) {
    for (uint32_t polls = 0;; polls++) {
        const cudaError_t state = cudaStreamQuery(stream);
        if (state != cudaErrorNotReady) return int(state);
        if (polls < 200) continue;
        if (Clock::now() > deadline) return HYBZ_TIMEOUT;
        std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
}

int create(hybz_lz4 *lz4) {
    HYBZ_TRY(cudaSetDevice(lz4->device));
    const uint64_t count = lz4->max_blocks;
    HYBZ_TRY(cudaMalloc(reinterpret_cast<void **>(&lz4->blocks), count * sizeof(hybz_lz4_block)));
    HYBZ_TRY(cudaMalloc(reinterpret_cast<void **>(&lz4->status), count * 4));
    HYBZ_TRY(cudaHostAlloc(reinterpret_cast<void **>(&lz4->staged), count * 4, cudaHostAllocDefault));
    for (cudaStream_t &stream : lz4->streams) HYBZ_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return 0;
}

// Whether all blocks lie within the input and the output, one after the other, and are of lengths that exist.
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

int decode(hybz_lz4 *lz4, const uint8_t *in, uint64_t in_bytes, uint8_t *copied, const hybz_lz4_block *blocks,
           uint32_t count, uint8_t *out, uint64_t out_bytes, uint32_t *status, Clock::time_point deadline) {
    if (count > lz4->max_blocks || !are_in_place(blocks, count, in_bytes, out_bytes)) return HYBZ_ARGUMENT;
    HYBZ_TRY(cudaSetDevice(lz4->device));
    uint32_t turn = 0;
    for (uint32_t first = 0; first < count; turn++) {
        const cudaStream_t stream = lz4->streams[turn & 1];
        uint32_t end = first + 1;
        const uint64_t begin = blocks[first].from;
        while (end < count && (!copied || blocks[end].from + blocks[end].coded - begin <= kUploaded)) end++;
        const uint32_t some = end - first;
        HYBZ_TRY(cudaMemcpyAsync(lz4->blocks + first, blocks + first, some * sizeof(hybz_lz4_block),
                                 cudaMemcpyHostToDevice, stream));
        if (copied) {
            const uint64_t from = blocks[first].from, bytes = blocks[end - 1].from + blocks[end - 1].coded - from;
            HYBZ_TRY(cudaMemcpyAsync(copied + from, in + from, bytes, cudaMemcpyHostToDevice, stream));
        }
        lz4_kernel<<<blocks_for(some, kLz4Warps), kLz4Warps * 32, 0, stream>>>(
            copied ? copied : in, lz4->blocks + first, some, out, lz4->status + first);
        HYBZ_TRY(cudaGetLastError());
        HYBZ_TRY(cudaMemcpyAsync(lz4->staged + first, lz4->status + first, some * 4, cudaMemcpyDeviceToHost, stream));
        first = end;
    }
    for (const cudaStream_t stream : lz4->streams) HYBZ_TRY(wait_for(stream, deadline));
    std::copy(lz4->staged, lz4->staged + count, status);
    return 0;
}

} // namespace

extern "C" int hybz_lz4_create(int device, uint32_t max_blocks, hybz_lz4 **out) {
    *out = nullptr;
    if (max_blocks < 1) return HYBZ_ARGUMENT;
    hybz_lz4 *lz4 = new (std::nothrow) hybz_lz4;
    if (!lz4) return int(cudaErrorMemoryAllocation);
    lz4->device = device;
    lz4->max_blocks = max_blocks;
    const int code = create(lz4);
    if (code != 0) {
        hybz_lz4_destroy(lz4);
        cudaGetLastError();
        return code;
    }
    *out = lz4;
    return 0;
}

extern "C" int hybz_lz4_decode(hybz_lz4 *lz4, const uint8_t *in, uint64_t in_bytes, const hybz_lz4_block *blocks,
                               uint32_t count, uint8_t *out, uint64_t out_bytes, uint32_t *status,
                               uint32_t timeout_ms) {
    return decode(lz4, in, in_bytes, nullptr, blocks, count, out, out_bytes, status, deadline_of(timeout_ms));
}

extern "C" int hybz_lz4_load(hybz_lz4 *lz4, const uint8_t *in, uint64_t in_bytes, uint8_t *copied,
                             const hybz_lz4_block *blocks, uint32_t count, uint8_t *out, uint64_t out_bytes,
                             uint32_t *status, uint32_t timeout_ms) {
    if (!copied) return HYBZ_ARGUMENT;
    return decode(lz4, in, in_bytes, copied, blocks, count, out, out_bytes, status, deadline_of(timeout_ms));
}

extern "C" int hybz_lz4_destroy(hybz_lz4 *lz4) {
    if (!lz4) return 0;
    int first = int(cudaSetDevice(lz4->device));
    const auto keep = [&first](cudaError_t error) {
        if (first == 0) first = int(error);
    };
    for (const cudaStream_t stream : lz4->streams)
        if (stream) keep(cudaStreamDestroy(stream));
    if (lz4->staged) keep(cudaFreeHost(lz4->staged));
    if (lz4->status) keep(cudaFree(lz4->status));
    if (lz4->blocks) keep(cudaFree(lz4->blocks));
    delete lz4;
    return first;
}

extern "C" size_t hybz_lz4_block_bytes(void) { return sizeof(hybz_lz4_block); }
