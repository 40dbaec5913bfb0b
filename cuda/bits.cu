// bits.cu: the codes of all blocks, packed; and each block's selectors behind them. What goes back to the host is this and
// nothing that grows with the text.
//
// One thread writes the codes of one group: it knows at which bit they begin (tables.cu). Words that it shares with a neighbour,
// the first and the last, are or-ed in; the others are its own. Words are big-endian, so the bytes are the bit string.
// No staging in shared memory: a word is a quarter of a sector, but there are only 0.05 of them for a byte of text.
//
// Measured (H200, linux): 1.0 ps a byte, as predicted.
//
// Twin: BitWriter::write_codes in src/codec/bits/writer.rs.
#include "coding.cuh"

namespace hybz {

namespace {

// One thread a block: their codes and selectors stand back to back.
__global__ void __launch_bounds__(HYBZ_MOST_BLOCKS) place_kernel(Coding coding) {
    __shared__ ScanMemory memory;
    const uint32_t block = threadIdx.x;
    uint32_t bytes = 0;
    if (block < coding.blocks) {
        const hybz_coded &coded = coding.coded[block];
        bytes = code_bytes(coded.bits) + (groups_of(coded.symbols) + 3) / 4 * 4;
        // Never seen: a code that takes an eighth more than the block. The CPU does it then.
        if (bytes > HYBZ_CODED_BYTES(length_of(coding, block))) bytes = 0;
    }
    const Scanned at = scan_before(memory, bytes, [](uint32_t a, uint32_t b) { return a + b; });
    if (block < coding.blocks) {
        coding.coded[block].at = at.before;
        if (bytes == 0) coding.coded[block].bits = 0;
    }
}

__global__ void __launch_bounds__(kThreads) codes_kernel(Coding coding) {
    __shared__ uint32_t words[kThreads * kGroupWords];
    __shared__ uint32_t codes[HYBZ_MOST_TABLES * kRow];
    const uint32_t block = blockIdx.y, tile = blockIdx.x * kThreads;
    const hybz_coded &coded = coding.coded[block];
    const uint32_t groups = groups_of(coded.symbols);
    if (tile >= groups || coded.bits == 0) return;
    const uint32_t count = min(kThreads, groups - tile);
    const uint32_t *symbols =
        reinterpret_cast<const uint32_t *>(coding.symbols + symbol_base(coding.base[block], block)) + tile * kGroupWords;
    for (uint32_t w = threadIdx.x; w < count * kGroupWords; w += kThreads) words[w] = symbols[w];
    const uint32_t *all = coding.codes + block * HYBZ_MOST_TABLES * kRow;
    for (uint32_t c = threadIdx.x; c < coded.tables * kRow; c += kThreads) codes[c] = all[c];
    __syncthreads();
    const uint32_t group = tile + threadIdx.x;
    if (group >= groups) return;

    const uint32_t selector = coding.selectors[block * coding.group_pitch + group];
    reinterpret_cast<uint8_t *>(coding.out)[coded.at + code_bytes(coded.bits) + group] = uint8_t(selector);
    const uint32_t *mine = words + threadIdx.x * kGroupWords;
    const uint32_t *table = codes + selector * kRow;
    const uint32_t offset = coding.offsets[block * coding.group_pitch + group];
    uint32_t *out = coding.out + coded.at / 4 + offset / 32;
    uint32_t bits = offset % 32; // gathered in the low end of:
    uint64_t gathered = 0;
    bool shared = bits != 0;
    const auto append = [&](uint32_t code) {
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
    };
#pragma unroll 5
    for (uint32_t w = 0; w < kGroupWords; w++) {
        append(table[mine[w] & 0xffff]);
        append(table[mine[w] >> 16]);
    }
    if (bits) atomicOr(out, __byte_perm(uint32_t(gathered << (32 - bits)), 0, 0x0123));
}

} // namespace

cudaError_t write_codes(const Coding &coding, cudaStream_t stream) {
    place_kernel<<<1, HYBZ_MOST_BLOCKS, 0, stream>>>(coding);
    const dim3 tiles(blocks_for(coding.group_pitch, kThreads), coding.blocks);
    codes_kernel<<<tiles, kThreads, 0, stream>>>(coding);
    return cudaGetLastError();
}

} // namespace hybz
