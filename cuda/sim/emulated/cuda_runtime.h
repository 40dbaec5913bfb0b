// Stands in for CUDA's header: a kernel's source compiled by a C++ compiler, its threads run on one CPU thread. It
// finds errors without a device; emulate.sh builds with it.
//
// A CTA's threads are contexts that run until they reach a barrier or a warp function, which hand over to the next one;
// the order in which they run changes at random from turn to turn, so that a missing barrier is likely to show. One CTA
// runs after the other, so __shared__ is static. Misuse (a warp function that not all 32 lanes reach) aborts.
//
// The host's functions work on the host's memory, immediately: a stream is always empty. Fresh device memory holds
// garbage.
#pragma once
#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }

// The host's side, as far as the lanes use it.
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorECCUncorrectable = 214,
    cudaErrorNvlinkUncorrectable = 220,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchTimeout = 702,
    cudaErrorAssert = 710,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorHardwareStackError = 714,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorInvalidAddressSpace = 717,
    cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719,
    cudaErrorUnknown = 999
};
using cudaStream_t = void *;
using cudaEvent_t = void *;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostRegisterPortable, cudaStreamNonBlocking };

struct cudaFuncAttributes {};
template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel) { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t) { return "an emulated error"; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
    *memory = malloc(bytes);
    if (*memory) memset(*memory, 0xA5, bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void *memory) { return free(memory), cudaSuccess; }
inline cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) { return cudaMalloc(memory, bytes); }
inline cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }
inline cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *, int *) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { return *ms = 0, cudaSuccess; }
// A lane has two streams with priorities, and may use one only if the host has found the other empty.
namespace emulated {
inline thread_local cudaStream_t busy = nullptr;

inline void use(cudaStream_t stream) {
    if (busy && stream && stream != busy) {
        fprintf(stderr, "a stream is used while the lane's other stream is busy\n");
        abort();
    }
    if (stream) busy = stream;
}
} // namespace emulated

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
    static uintptr_t last = 0;
    *stream = reinterpret_cast<cudaStream_t>(++last);
    return cudaSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
    emulated::use(stream);
    emulated::busy = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    emulated::use(stream);
    return memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream) {
    emulated::use(stream);
    return memset(memory, byte, bytes), cudaSuccess;
}

inline dim3 threadIdx, blockIdx, blockDim;

namespace emulated {

struct Barrier {
    unsigned arrived = 0, turn = 0;
};

struct Thread {
    ucontext_t context;
    jmp_buf jump;
    std::vector<uint8_t> stack;
    bool started = false, ended = false;
    const Barrier *waits = nullptr;
    unsigned turn = 0;
};

struct Warp {
    Barrier barrier;
    uint64_t values[2][32];
};

struct Cta {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    Barrier barrier;
    jmp_buf main;
    unsigned running = 0, alive = 0;
    uint64_t random = 88172645463325252u;
    const std::function<void()> *kernel = nullptr;
};
inline Cta cta;

// Switches to the loop in run_cta and back. Only the first entry into a thread uses setcontext, which makes a system
// call each time.
inline void hand_over() {
    if (!_setjmp(cta.threads[cta.running].jump)) _longjmp(cta.main, 1);
}

inline void enter(Thread &thread) {
    if (_setjmp(cta.main)) return;
    if (thread.started) _longjmp(thread.jump, 1);
    thread.started = true;
    setcontext(&thread.context);
}

inline void arrive(Barrier &barrier, unsigned all) {
    const unsigned turn = barrier.turn;
    if (++barrier.arrived == all) {
        barrier.arrived = 0;
        barrier.turn++;
        return;
    }
    Thread &mine = cta.threads[cta.running];
    mine.waits = &barrier;
    mine.turn = turn;
    hand_over();
}

inline void entry() {
    (*cta.kernel)();
    cta.threads[cta.running].ended = true;
    cta.alive--;
    hand_over();
}

inline void run_cta(unsigned count, const std::function<void()> &kernel) {
    if (cta.threads.size() < count) cta.threads.resize(count);
    cta.warps.assign(count / 32, Warp{});
    cta.barrier = Barrier{};
    cta.kernel = &kernel;
    cta.alive = count;
    for (unsigned t = 0; t < count; t++) {
        Thread &thread = cta.threads[t];
        thread.stack.resize(64 << 10);
        thread.started = thread.ended = false;
        thread.waits = nullptr;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, entry, 0);
    }
    while (cta.alive) {
        cta.random = cta.random * 6364136223846793005u + 1442695040888963407u;
        const unsigned first = unsigned(cta.random >> 33) % count, step = cta.random >> 20 & 1 ? 1 : count - 1;
        bool any = false;
        for (unsigned k = 0, t = first; k < count; k++, t = (t + step) % count) {
            Thread &thread = cta.threads[t];
            if (thread.ended || (thread.waits && thread.waits->turn == thread.turn)) continue;
            thread.waits = nullptr;
            cta.running = t;
            threadIdx.x = t;
            any = true;
            enter(thread);
        }
        if (any) continue;
        // A barrier does not wait for threads that have ended.
        if (cta.barrier.arrived == cta.alive) {
            cta.barrier.arrived = 0;
            cta.barrier.turn++;
        } else {
            fprintf(stderr, "emulated: a barrier that not all threads reach\n");
            abort();
        }
    }
}

// Each lane's value, once all 32 lanes have given theirs.
inline const uint64_t *exchange(uint64_t value) {
    const unsigned t = cta.running;
    Warp &warp = cta.warps[t / 32];
    const unsigned turn = warp.barrier.turn & 1;
    warp.values[turn][t & 31] = value;
    arrive(warp.barrier, 32);
    return warp.values[turn];
}

// The lanes for whose values `holds` is true.
template <class Holds> uint32_t lanes(uint64_t value, Holds holds) {
    const uint64_t *values = exchange(value);
    uint32_t mask = 0;
    for (int lane = 0; lane < 32; lane++) mask |= uint32_t(holds(values[lane])) << lane;
    return mask;
}

template <class Join> uint32_t reduce(uint32_t value, Join join) {
    const uint64_t *values = exchange(value);
    return uint32_t(std::accumulate(values + 1, values + 32, values[0], join));
}

template <class... Wanted, class... Given>
void launch(cudaStream_t stream, void (*kernel)(Wanted...), dim3 grid, unsigned threads, const Given &...given) {
    use(stream);
    const std::function<void()> call = [&] { kernel(given...); };
    blockDim = dim3(threads);
    for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = dim3(x, y);
            run_cta(threads, call);
        }
}

} // namespace emulated

inline void __syncthreads() { emulated::arrive(emulated::cta.barrier, unsigned(emulated::cta.warps.size() * 32)); }
inline int __syncthreads_count(int vote) {
    static int votes;
    votes += vote != 0;
    __syncthreads();
    const int result = votes;
    __syncthreads(); // all have read it
    votes = 0;
    __syncthreads(); // and it is 0 before anyone votes again
    return result;
}
inline int __syncthreads_or(int vote) { return __syncthreads_count(vote); }
inline void __syncwarp() { emulated::exchange(0); }
inline uint32_t __ballot_sync(uint32_t, bool vote) {
    return emulated::lanes(vote, [](uint64_t other) { return other; });
}
inline bool __any_sync(uint32_t all, bool vote) { return __ballot_sync(all, vote) != 0; }
inline uint32_t __shfl_sync(uint32_t, uint32_t value, uint32_t lane) {
    return uint32_t(emulated::exchange(value)[lane & 31]);
}
inline uint32_t __shfl_up_sync(uint32_t, uint32_t value, uint32_t by) {
    const uint32_t lane = threadIdx.x & 31;
    const uint64_t *values = emulated::exchange(value);
    return uint32_t(values[lane >= by ? lane - by : lane]);
}
inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, uint32_t with) {
    return uint32_t(emulated::exchange(value)[(threadIdx.x & 31) ^ with]);
}
inline uint32_t __reduce_add_sync(uint32_t, uint32_t value) { return emulated::reduce(value, std::plus<>()); }
inline uint32_t __reduce_or_sync(uint32_t, uint32_t value) { return emulated::reduce(value, std::bit_or<>()); }
inline uint32_t __reduce_max_sync(uint32_t, uint32_t value) {
    return emulated::reduce(value, [](uint64_t a, uint64_t b) { return std::max(a, b); });
}
inline uint32_t __reduce_min_sync(uint32_t, uint32_t value) {
    return emulated::reduce(value, [](uint64_t a, uint64_t b) { return std::min(a, b); });
}
inline uint32_t __match_any_sync(uint32_t, uint32_t value) {
    return emulated::lanes(value, [=](uint64_t other) { return other == value; });
}
inline uint32_t atomicAdd(uint32_t *at, uint32_t value) { return std::exchange(*at, *at + value); }
inline uint64_t atomicAdd(unsigned long long *at, uint64_t value) { return std::exchange(*at, *at + value); }
inline uint32_t atomicMax(uint32_t *at, uint32_t value) { return std::exchange(*at, std::max(*at, value)); }
inline uint32_t atomicMin(uint32_t *at, uint32_t value) { return std::exchange(*at, std::min(*at, value)); }
inline uint32_t atomicOr(uint32_t *at, uint32_t value) { return std::exchange(*at, *at | value); }
inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __clz(uint32_t x) { return x ? __builtin_clz(x) : 32; }
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift) {
    return uint32_t((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
// 0xff for each byte that is the same in both.
inline uint32_t __vcmpeq4(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (int k = 0; k < 32; k += 8) out |= (a >> k & 0xff) == (b >> k & 0xff) ? 0xffu << k : 0;
    return out;
}
inline int __clzll(int64_t x) { return x ? __builtin_clzll(uint64_t(x)) : 64; }
inline int __ffs(uint32_t x) { return __builtin_ffs(int(x)); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t which) {
    const uint64_t bytes = uint64_t(y) << 32 | x;
    uint32_t out = 0;
    for (int k = 0; k < 4; k++) out |= uint32_t(bytes >> 8 * (which >> 4 * k & 7) & 0xff) << 8 * k;
    return out;
}
using std::max;
using std::min;
