// host.cu: the parts of the interface (hybz.h) that are not lanes: devices, memory, error codes.
#include "lane.cuh"
#include <mutex>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace hybz;

#ifdef __linux__
namespace {

constexpr size_t kHugePage = size_t(2) << 20;

size_t whole_huge_pages(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

} // namespace
#endif

extern "C" int hybz_device_alloc(int device, uint64_t bytes, void **memory) {
    *memory = nullptr;
    HYBZ_TRY(cudaSetDevice(device));
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error != cudaSuccess) cudaGetLastError();
    return int(error);
}

extern "C" int hybz_device_free(int device, void *memory) {
    HYBZ_TRY(cudaSetDevice(device));
    return int(cudaFree(memory));
}

// One thread creates a context while others wait: with 64 busy cores and four devices, concurrent creation took 2.3 s
// instead of 1.6.
extern "C" int hybz_device_use(int device) {
    static std::mutex mutexes[64];
    const std::lock_guard<std::mutex> lock(mutexes[device & 63]);
    HYBZ_TRY(cudaSetDevice(device));
    const cudaError_t error = cudaFree(nullptr);
    if (error != cudaSuccess) cudaGetLastError();
    return int(error);
}

// Memory in huge pages if the system has any, with every page touched; null if there is no memory.
extern "C" void *hybz_touched_alloc([[maybe_unused]] size_t bytes) {
#ifdef __linux__
    const size_t size = whole_huge_pages(bytes);
    void *const mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    uint8_t *const begin = static_cast<uint8_t *>(mapped);
    const size_t before = whole_huge_pages(reinterpret_cast<uintptr_t>(begin)) - reinterpret_cast<uintptr_t>(begin);
    if (before) munmap(begin, before);
    if (before < kHugePage) munmap(begin + before + size, kHugePage - before);
    madvise(begin + before, size, MADV_HUGEPAGE);
    memset(begin + before, 0, size);
    return begin + before;
#else
    return nullptr;
#endif
}

extern "C" void hybz_touched_free([[maybe_unused]] void *touched, [[maybe_unused]] size_t bytes) {
#ifdef __linux__
    if (touched) munmap(touched, whole_huge_pages(bytes));
#endif
}

extern "C" int hybz_pinned_alloc(int device, size_t bytes, void *touched, void **memory) {
    *memory = nullptr;
    if (const cudaError_t error = cudaSetDevice(device)) {
        hybz_touched_free(touched, bytes);
        return int(error);
    }
#ifdef __linux__
    if (touched) {
        if (cudaHostRegister(touched, whole_huge_pages(bytes), cudaHostRegisterPortable) == cudaSuccess) {
            *memory = touched;
            return 0;
        }
        cudaGetLastError();
        hybz_touched_free(touched, bytes);
    }
#endif
    const cudaError_t error = cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    if (error != cudaSuccess) cudaGetLastError();
    else memset(*memory, 0, bytes);
    return int(error);
}

extern "C" int hybz_pinned_free(void *memory, [[maybe_unused]] size_t bytes) {
    if (!memory) return 0;
#ifdef __linux__
    const cudaError_t error = cudaHostUnregister(memory);
    if (error == cudaSuccess) return munmap(memory, whole_huge_pages(bytes)) == 0 ? 0 : int(cudaErrorInvalidValue);
    cudaGetLastError();
    if (error != cudaErrorHostMemoryNotRegistered && error != cudaErrorInvalidValue) return int(error);
#endif
    return int(cudaFreeHost(memory));
}

extern "C" int hybz_is_sticky(int code) {
    switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown: return 1;
    default: return 0;
    }
}

extern "C" const char *hybz_error_text(int code) {
    switch (code) {
    case HYBZ_ARGUMENT: return "a batch that the lane was not made for";
    case HYBZ_TIMEOUT: return "the device did not finish in time";
    case HYBZ_PERIODIC: return "the rounds of the sort did not end";
    case HYBZ_WRONG: return "the device computes wrongly";
    default: return cudaGetErrorString(cudaError_t(code));
    }
}
