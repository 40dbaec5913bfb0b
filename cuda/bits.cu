// bits.cu: the codes of all blocks, packed; and each block's selectors after them. Only these 0.2 bytes per byte of
// text go back to the host.
//
// One thread writes the codes of one group: tables.cu gives it their first bit. It shares its first and its last word
// with neighbours, and writes them with an atomic "or"; the other words are its own. Words are big-endian, so the bytes
// are the bit string. Nothing is staged in shared memory: a word is a quarter of a sector, but there are only 0.05 of
// them for a byte of text.
//
// Measured (H200, linux): 1.0 ps a byte, as predicted.
//
// Twin: BitWriter::write_codes in src/bits/writer.rs.
#include "coding.cuh"

namespace hybz {

namespace {

// The offsets of each block's codes and selectors, back to back; one thread a block.
__global__ void __launch_bounds__(HYBZ_MAX_BLOCKS) offsets_kernel(Coding coding) {
    __shared__ ScanMemory memory;
    const uint32_t block = threadIdx.x;
    uint32_t bytes = 0;
    if (block < coding.blocks) {
        const hybz_coded &coded = coding.coded[block];
        bytes = coded_bytes(coded);
        // This case has never been seen: codes and selectors are a quarter larger than the block. The CPU codes such a
        // block.
        if (bytes > HYBZ_CODED_BYTES(length_of(coding, block))) bytes = 0;
    }
    const Scanned at = scan_before(memory, bytes, Sum{});
    if (block < coding.blocks) {
        coding.coded[block].at = at.before;
        if (bytes == 0) coding.coded[block].bits = 0;
    }
}

// Appends codes to a bit string that begins anywhere in a word.
struct CodeWriter {
    uint32_t *out;
    uint32_t bits; // gathered so far, in the low end of:
    uint64_t gathered = 0;
    bool shared; // whether others write to the current word too

    __device__ CodeWriter(uint32_t *words, uint32_t offset)
        : out(words + offset / 32), bits(offset % 32), shared(bits != 0) {}

    __device__ __forceinline__ void append(uint32_t code) {
        const uint32_t length = code & 0xff;
        gathered = gathered << length | code >> 8;
        bits += length;
        if (bits < 32) return;
        bits -= 32;
        const uint32_t word = __byte_perm(uint32_t(gathered >> bits), 0, 0x0123);
        if (shared) atomicOr(out, word);
        else *out = word;
        out++;
        shared = false;
    }

    __device__ __forceinline__ void finish() {
        if (bits) atomicOr(out, __byte_perm(uint32_t(gathered << (32 - bits)), 0, 0x0123));
    }
};

__global__ void __launch_bounds__(kThreads) codes_kernel(Coding coding) {
    __shared__ uint32_t words[kThreads * kGroupWords];
    __shared__ uint32_t codes[HYBZ_MAX_TABLES * kRow];
    const uint32_t block = blockIdx.y, tile = blockIdx.x * kThreads;
    const hybz_coded &coded = coding.coded[block];
    const uint32_t groups = group_count(coded.symbols);
    if (tile >= groups || coded.bits == 0) return;
    const uint32_t count = min(kThreads, groups - tile);
    const uint32_t *symbols = symbol_words(coding, block) + tile * kGroupWords;
    for (uint32_t w = threadIdx.x; w < count * kGroupWords; w += kThreads) words[w] = symbols[w];
    const uint32_t *all = coding.codes + block * HYBZ_MAX_TABLES * kRow;
    for (uint32_t c = threadIdx.x; c < coded.tables * kRow; c += kThreads) codes[c] = all[c];
    __syncthreads();
    const uint32_t group = tile + threadIdx.x;
    if (group >= groups) return;

    const uint32_t selector = coding.selectors[block * coding.group_pitch + group];
    reinterpret_cast<uint8_t *>(coding.out)[coded.at + code_bytes(coded.bits) + group] = uint8_t(selector);
    const uint32_t *mine = words + threadIdx.x * kGroupWords;
    const uint32_t *table = codes + selector * kRow;
    CodeWriter writer(coding.out + coded.at / 4, coding.offsets[block * coding.group_pitch + group]);
#pragma unroll 5
    for (uint32_t w = 0; w < kGroupWords; w++) {
        writer.append(table[mine[w] & 0xffff]);
        writer.append(table[mine[w] >> 16]);
    }
    writer.finish();
}

} // namespace

cudaError_t write_codes(const Coding &coding, cudaStream_t stream) {
    offsets_kernel<<<1, HYBZ_MAX_BLOCKS, 0, stream>>>(coding);
    const dim3 tiles(blocks_for(coding.group_pitch, kThreads), coding.blocks);
    codes_kernel<<<tiles, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
