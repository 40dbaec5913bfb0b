// expand.cu: expands runs of equal bytes: from the run-length-coded text to the text.
//
//   1 lengths  one thread a piece of 64 bytes: where in a run it begins, from the bytes before it, how much text it
//              makes
//   2 places   one CTA a block: where in the block's text each piece begins
//   3 bases    one CTA: which blocks are expanded, and where the output of each begins
//   4 write    one thread a piece: writes its bytes
//
// Four equal bytes are followed by a count, which may equal them, so where a run begins depends on all bytes before it.
// But a stretch of three or fewer equal bytes cannot end with a run of four, so the byte after it is not a count.
// Nearly always there is such a stretch a few bytes before a piece. The CPU expands a block if one of its pieces has
// no such stretch near it, if its text is very long, or if its text does not fit the output.
//
// Expanding takes 11 ps a byte of a batch of 32 blocks (H200).
//
// Twin: src/codec/run_length/decode.rs.
#include "decoding.cuh"
#include "scan.cuh"

namespace hybz {

namespace {

constexpr uint32_t kLookBack = 256; // bytes before a piece in which such a stretch is looked for: few are needed, and
                                    // one thread should not walk far
constexpr uint32_t kUnknown = 5;
constexpr int kEqualShift = 28; // of Runs::equal, above a length or a place
static_assert(uint64_t(HYBZ_MAX_ROWS) * 52 < 1u << kEqualShift, "five bytes make 259 at most");

// The state between two bytes.
struct Runs {
    uint32_t equal; // the number of equal bytes so far; after 4 comes a count, and after that 0
    bool count = false; // whether the byte was one

    // Goes on by one byte, which comes after `last`. Returns the number of bytes of text that this byte makes: one or,
    // if it is a count, as many copies of `last` as it says.
    __device__ uint32_t next(uint32_t last, uint32_t byte) {
        count = equal == 4;
        equal = count ? 0 : equal > 0 && byte == last ? equal + 1 : 1;
        return count ? byte : 1;
    }
};

// The start of the stretch of equal bytes that ends with the byte `at`, or of its part from `least` on.
inline __device__ uint32_t start_of(const uint8_t *text, uint32_t at, uint32_t least) {
    while (at > least && text[at - 1] == text[at]) at--;
    return at;
}

// The state before the byte `from`, or kUnknown if the bytes near it do not determine it.
inline __device__ uint32_t equal_before(const uint8_t *text, uint32_t from) {
    if (from == 0) return 0;
    const uint32_t least = from > kLookBack ? from - kLookBack : 0;
    uint32_t start = start_of(text, from - 1, least);
    while (start > least) {
        const uint32_t before = start_of(text, start - 1, least);
        if (start - before <= 3 && before > least) break; // its length is known
        start = before;
    }
    if (start == least && least > 0) return kUnknown;
    Runs runs{0};
    for (uint32_t i = start; i < from; i++) runs.next(i > start ? text[i - 1] : 0, text[i]);
    return runs.equal;
}

// A piece of a block, for one thread.
struct Piece {
    uint32_t from, end;
    const uint8_t *text;
    uint32_t *about; // Runs::equal before its first byte, above the length of its text; then: where that begins
};

inline __device__ Piece piece_of(const Decoding &decoding, const Found &found) {
    const uint32_t piece = blockIdx.x * kThreads + threadIdx.x, from = piece * kRunPiece;
    return {from, min(from + kRunPiece, found.rows), decoding.text + found.base,
            decoding.pieces(blockIdx.y) + piece};
}

// Calls `take(last, byte)` for each byte of a piece; `last` is the byte before it.
template <class Take> inline __device__ void each_byte(const Piece &piece, Take take) {
    uint32_t last = piece.from > 0 ? piece.text[piece.from - 1] : 0;
    for (uint32_t at = piece.from; at < piece.end; at += 4) {
        uint32_t word = *reinterpret_cast<const uint32_t *>(piece.text + at); // bases are multiples of 16
        const uint32_t count = min(piece.end - at, 4u);
        for (uint32_t k = 0; k < count; k++, word >>= 8) {
            take(last, word & 0xff);
            last = word & 0xff;
        }
    }
}

__global__ void __launch_bounds__(kThreads) lengths_kernel(Decoding decoding) {
    Found &found = decoding.found[blockIdx.y];
    if (found.odd) return;
    const Piece piece = piece_of(decoding, found);
    if (piece.from >= piece.end) return;
    const uint32_t equal = equal_before(piece.text, piece.from);
    Runs runs{equal};
    uint32_t length = 0;
    if (equal != kUnknown) each_byte(piece, [&](uint32_t last, uint32_t byte) { length += runs.next(last, byte); });
    // The CPU finds out whether a count is missing.
    if (equal == kUnknown || (piece.end == found.rows && runs.equal == 4)) atomicOr(&found.unknown, 1u);
    *piece.about = equal << kEqualShift | length;
}

__global__ void __launch_bounds__(1024) places_kernel(Decoding decoding) {
    __shared__ ScanMemory memory;
    Found &found = decoding.found[blockIdx.x];
    if (found.odd) return;
    const uint32_t pieces = (found.rows + kRunPiece - 1) / kRunPiece, each = (pieces + 1023) / 1024;
    const uint32_t first = min(threadIdx.x * each, pieces), end = min(first + each, pieces);
    uint32_t *const about = decoding.pieces(blockIdx.x);
    constexpr uint32_t mask = (1u << kEqualShift) - 1;
    uint32_t own = 0;
    for (uint32_t p = first; p < end; p++) own += about[p] & mask;
    const Scanned scanned = scan_before(memory, own, Sum{});
    uint32_t next = scanned.before;
    for (uint32_t p = first; p < end; p++) {
        const uint32_t piece = about[p];
        about[p] = (piece & ~mask) | next;
        next += piece & mask;
    }
    if (threadIdx.x == 0) found.length = scanned.all;
}

inline __device__ uint32_t padded(uint32_t bytes) { return (bytes + 15) / 16 * 16; }

// All blocks fit unexpanded; the first ones are expanded while there is space.
__global__ void __launch_bounds__(HYBZ_MAX_BLOCKS) bases_kernel(Decoding decoding, uint32_t room) {
    __shared__ uint32_t coded[HYBZ_MAX_BLOCKS], text[HYBZ_MAX_BLOCKS], bases[HYBZ_MAX_BLOCKS];
    __shared__ bool expanded[HYBZ_MAX_BLOCKS];
    const uint32_t b = threadIdx.x;
    const bool mine = b < decoding.blocks && !decoding.found[b].odd;
    coded[b] = mine ? padded(decoding.found[b].rows) : 0;
    expanded[b] = mine && !decoding.found[b].unknown && decoding.found[b].length <= HYBZ_LONGEST_TEXT;
    text[b] = expanded[b] ? padded(decoding.found[b].length) : 0;
    __syncthreads();
    if (b == 0) {
        uint32_t rest = 0, at = 0;
        for (uint32_t i = 0; i < decoding.blocks; i++) rest += coded[i];
        for (uint32_t i = 0; i < decoding.blocks; i++) {
            rest -= coded[i];
            expanded[i] = expanded[i] && at + text[i] + rest <= room;
            bases[i] = at;
            at += expanded[i] ? text[i] : coded[i];
        }
    }
    __syncthreads();
    if (!mine) return;
    Found &found = decoding.found[b];
    found.at = bases[b];
    found.expanded = expanded[b];
    if (!expanded[b]) found.length = found.rows;
}

// Writes bytes, four at a time where they fill an aligned word.
struct Writer {
    uint8_t *to;
    uint32_t word = 0, held = 0; // the bytes before `to` that are not stored yet, and how many
    __device__ void put(uint32_t byte) {
        word = word >> 8 | byte << 24;
        held++;
        if ((reinterpret_cast<uintptr_t>(++to) & 3) == 0) store();
    }
    __device__ void store() {
        if (held == 4) {
            *reinterpret_cast<uint32_t *>(to - 4) = word;
        } else {
            for (uint32_t k = held; k > 0; k--) *(to - k) = uint8_t(word >> 8 * (4 - k));
        }
        held = 0;
    }
};

__global__ void __launch_bounds__(kThreads) write_kernel(Decoding decoding) {
    const Found &found = decoding.found[blockIdx.y];
    if (found.odd) return;
    const Piece piece = piece_of(decoding, found);
    if (piece.from >= piece.end) return;
    uint8_t *const to = decoding.output() + found.at;
    if (!found.expanded) {
        for (uint32_t at = piece.from; at < piece.end; at += 16)
            *reinterpret_cast<uint4 *>(to + at) = *reinterpret_cast<const uint4 *>(piece.text + at);
        return;
    }
    Runs runs{*piece.about >> kEqualShift};
    Writer writer{to + (*piece.about & ((1u << kEqualShift) - 1))};
    each_byte(piece, [&](uint32_t last, uint32_t byte) {
        const uint32_t times = runs.next(last, byte);
        for (uint32_t k = 0; k < times; k++) writer.put(runs.count ? last : byte);
    });
    writer.store();
}

} // namespace

cudaError_t expand_runs(const Decoding &decoding, uint32_t room, cudaStream_t stream) {
    const dim3 pieces(blocks_for(kRunPieces, kThreads), decoding.blocks);
    lengths_kernel<<<pieces, kThreads, 0, stream>>>(decoding);
    places_kernel<<<decoding.blocks, 1024, 0, stream>>>(decoding);
    bases_kernel<<<1, HYBZ_MAX_BLOCKS, 0, stream>>>(decoding, room);
    write_kernel<<<pieces, kThreads, 0, stream>>>(decoding);
    return cudaGetLastError();
}

cudaError_t load_expand() { return load_kernels(lengths_kernel, places_kernel, bases_kernel, write_kernel); }

} // namespace hybz
