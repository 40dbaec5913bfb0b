// all.cu: files of ALL, in the stages of section 5.2: a warp for each strip, and a counter that hands strips out.
//
// Prefix sums of a segment's 32 word identifiers give the words' positions; those of the codes' lengths give the
// positions of their texts. No code needs another code of its segment, except for the previous character of a run, so
// all texts are written at the same time. Unlike in the thesis, a lane does the first sums for a whole segment, so a
// warp finds the words and magic strings of 32 segments at once, and a lane writes a byte of the text, whatever its
// code is. kAllSteps has the thesis's five steps instead.
//
// Nothing in a file is trusted: whatever it contains, no byte is read or written outside its input and output.
#include "all.hpp"
#include "../../../cuda/copies.cuh"

namespace hybz {

namespace {

constexpr uint32_t kAllWarps = 2; // in a CTA, as in the thesis

__device__ uint32_t two_bytes(const uint8_t *in) { return in[0] | in[1] << 8; }

// A block's rows, in the order of the file.
struct Rows {
    const uint8_t *identifiers, *magic_identifiers, *magic_lengths, *words, *magic;
    uint32_t count, segments, strings, bytes, magic_bytes; // of words and magic strings
    bool predictor;

    // Whether the block has room for them.
    __device__ bool parse(const uint8_t *in, uint32_t size) {
        if (size < 6) return false;
        const uint32_t last = two_bytes(in + 4);
        count = two_bytes(in) + 1;
        bytes = two_bytes(in + 2) + 1;
        strings = last & 0x7ff;
        predictor = last >> 11 & 1;
        segments = (count + 31) / 32;
        identifiers = in + 6;
        magic_identifiers = identifiers + (count + 7) / 8;
        magic_lengths = magic_identifiers + (segments + 7) / 8;
        words = magic_lengths + (strings * 12 + 7) / 8;
        const uint32_t before = uint32_t(words - in);
        if (size < before + bytes) return false;
        magic = words + bytes;
        magic_bytes = size - before - bytes;
        return true;
    }

    __device__ uint32_t magic_length(uint32_t number) const {
        return (two_bytes(magic_lengths + number * 3 / 2) >> (number & 1) * 4 & 0xfff) + 1;
    }

    // The identifiers of a segment, and 0 after the last word.
    __device__ uint32_t segment_identifiers(uint32_t segment) const {
        uint32_t bits = 0;
        for (uint32_t k = segment * 4; k < min(segment * 4 + 4, (count + 7) / 8); k++)
            bits |= uint32_t(identifiers[k]) << (k & 3) * 8;
        const uint32_t left = count - segment * 32;
        return left < 32 ? bits & ((1u << left) - 1) : bits;
    }
};

// The dictionary of the segment at `at`: the text before it, with a magic string in place of its beginning.
struct AllDictionary {
    const uint8_t *magic;
    uint32_t length; // of the magic string
    const uint8_t *out;
    uint32_t at;

    __device__ uint32_t operator[](uint32_t t) const {
        if (t < length) return magic[t];
        return at + t < kAllDictionary ? 0 : out[at + t - kAllDictionary];
    }
};

// A lane's code.
struct AllCode {
    uint32_t t, length, begin; // its interval, the length of its text, and where that begins
    uint32_t byte;             // of a single character or run
    bool interval, run;
};

// Stage 3 with a lane for each byte. `second` is whether the lane has the second word of the code before.
__device__ void write_bytes(AllCode code, bool second, const AllDictionary &dictionary, uint8_t *out) {
    // The engine needs lanes without gaps: a second word takes its code's text but for the first byte.
    const uint32_t back = code.begin - dictionary.at + kAllDictionary - code.t;
    uint32_t source = code.interval ? ~back : code.byte;
    const uint32_t whole = __shfl_up_sync(~0u, code.length, 1), its_source = __shfl_up_sync(~0u, source, 1);
    const uint32_t its_begin = __shfl_up_sync(~0u, code.begin, 1);
    uint32_t begin = code.begin, length = code.length > 17 ? 1 : code.length;
    if (second) source = its_source, begin = its_begin + 1, length = whole - 1;
    const uint32_t end = __shfl_sync(~0u, begin + length, 31);
    for (uint32_t at = dictionary.at; at < end; at += 64) {
        const ShortByte one = short_byte(source, begin, length, at, end);
        const ShortByte two = short_byte(source, begin, length, at + 32, end);
        const uint32_t start = dictionary.at - kAllDictionary;
        const uint32_t first = one.copied ? dictionary[one.from - start] : one.byte;
        const uint32_t last = two.copied ? dictionary[two.from - start] : two.byte;
        if (one.place < end) out[one.place] = uint8_t(first);
        if (two.place < end) out[two.place] = uint8_t(last);
    }
}

// Stage 3 in five steps.
__device__ void write_steps(AllCode code, const AllDictionary &dictionary, uint8_t *out) {
    const uint32_t lane = threadIdx.x & 31;
    const bool longer = code.length > 17;
    if (code.length == 1) out[code.begin] = uint8_t(code.byte);
    if (code.interval && !longer)
        for (uint32_t k = 0; k < code.length; k++) out[code.begin + k] = uint8_t(dictionary[code.t + k]);
    for (uint32_t left = __ballot_sync(~0u, code.interval && longer); left; left &= left - 1) {
        const uint32_t of = __ffs(int(left)) - 1, t = __shfl_sync(~0u, code.t, of);
        const uint32_t length = __shfl_sync(~0u, code.length, of), begin = __shfl_sync(~0u, code.begin, of);
        for (uint32_t k = lane; k < length; k += 32) out[begin + k] = uint8_t(dictionary[t + k]);
    }
    if (code.run && !longer)
        for (uint32_t k = 0; k < code.length; k++) out[code.begin + k] = uint8_t(code.byte);
    for (uint32_t left = __ballot_sync(~0u, code.run && longer); left; left &= left - 1) {
        const uint32_t of = __ffs(int(left)) - 1, byte = __shfl_sync(~0u, code.byte, of);
        const uint32_t length = __shfl_sync(~0u, code.length, of), begin = __shfl_sync(~0u, code.begin, of);
        for (uint32_t k = lane; k < length; k += 32) out[begin + k] = uint8_t(byte);
    }
}

// Stages 2 and 3: decodes a segment of `words` words. `word` is the lane's, `ids` has all identifiers. Returns the end
// of the text, or kAllDamaged.
template <AllWay kWay>
__device__ uint32_t decode_segment(uint32_t word, uint32_t ids, uint32_t words, const AllDictionary &dictionary,
                                   uint8_t *out) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const bool two = ids >> lane & 1;
    const uint32_t t = word >> 4, l = word & 15, next = __shfl_sync(~0u, word, lane + 1);
    const bool longer = two && l == kAllTwoWords;
    const bool second = (__ballot_sync(~0u, longer) << 1) >> lane & 1;
    AllCode code{t, 0, 0, word, two && t != kAllRun, two && t == kAllRun};
    if (lane < words && !second) code.length = !two ? 1 : longer ? all_long(next & 255) : l + 2;
    bool wrong = longer && (lane + 1 >= words || (ids >> (lane + 1) & 1));
    wrong |= code.interval && t + code.length > kAllDictionary;
    const uint32_t end = dictionary.at + sum_up_to(code.length);
    if (__ballot_sync(~0u, wrong || end > kAllStrip)) return kAllDamaged;
    code.begin = end - code.length;
    if (__ballot_sync(~0u, code.run)) {
        // The previous character of a run: the last one of the last code that is no run.
        const uint32_t others = __ballot_sync(~0u, code.length && !code.run) & below;
        const uint32_t last = code.interval ? dictionary[t + code.length - 1] : word;
        uint32_t previous = __shfl_sync(~0u, last, others ? 31 - __clz(int(others)) : 0);
        if (!others) previous = dictionary.at ? out[dictionary.at - 1] : 0;
        if (code.run) code.byte = previous & 255;
    }
    if (kWay == kAllSteps) write_steps(code, dictionary, out);
    else write_bytes(code, second, dictionary, out);
    __syncwarp();
    return __shfl_sync(~0u, end, 31);
}

// Sums of four bytes each.
__device__ uint32_t add_bytes(uint32_t a, uint32_t b) {
    return ((a & 0x7f7f7f7f) + (b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080);
}

// Stage 4: replaces bytes by their prefix sums, 16 in a lane at a time. It may change what is after them, up to a
// multiple of 16.
__device__ void sum_bytes(uint8_t *out, uint32_t length) {
    const uint32_t lane = threadIdx.x & 31;
    uint32_t carry = 0;
    for (uint32_t at = 0; at < length; at += 512) {
        const uint32_t mine = at + lane * 16;
        uint4 *place = reinterpret_cast<uint4 *>(out + mine);
        uint4 four = mine < length ? *place : uint4{0, 0, 0, 0};
        uint32_t *const words[4] = {&four.x, &four.y, &four.z, &four.w};
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t &word = *words[k];
            word = add_bytes(word, word << 8);
            word = add_bytes(word, word << 16);
            word = add_bytes(word, sum * 0x01010101);
            sum = word >> 24;
        }
        const uint32_t up_to = sum_up_to(sum), before = ((carry + up_to - sum) & 255) * 0x01010101;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) *words[k] = add_bytes(*words[k], before);
        if (mine < length) *place = four;
        carry += __shfl_sync(~0u, up_to, 31);
    }
}

// Decodes a block. Returns the length of its text or kAllDamaged, in all lanes.
template <AllWay kWay> __device__ uint32_t decode_block(const uint8_t *in, uint32_t size, uint8_t *out) {
    const uint32_t lane = threadIdx.x & 31, below = (1u << lane) - 1;
    Rows rows;
    if (!rows.parse(in, size) || (kWay == kAllPlain && (rows.strings || rows.predictor))) return kAllDamaged;
    uint32_t at = 0, words_from = 0, magic_from = 0, strings = 0;
    for (uint32_t group = 0; group < rows.segments; group += 32) {
        // Stage 1, for 32 segments: a lane has one.
        const uint32_t mine = group + lane, in_group = min(32u, rows.segments - group);
        const bool there = lane < in_group;
        const uint32_t count = there ? min(32u, rows.count - mine * 32) : 0;
        const uint32_t ids = there ? rows.segment_identifiers(mine) : 0;
        const bool has_magic = kWay != kAllPlain && there && rows.magic_identifiers[mine / 8] >> (mine & 7) & 1;
        const uint32_t magics = __ballot_sync(~0u, has_magic), number = strings + __popc(magics & below);
        strings += __popc(magics);
        if (strings > rows.strings) return kAllDamaged;
        const uint32_t magic = has_magic ? rows.magic_length(number) : 0;
        const uint32_t words_to = words_from + sum_up_to(count + __popc(ids)), magic_to = magic_from + sum_up_to(magic);
        const uint32_t words_begin = words_to - count - __popc(ids), magic_begin = magic_to - magic;
        words_from = __shfl_sync(~0u, words_to, 31);
        magic_from = __shfl_sync(~0u, magic_to, 31);
        if (words_from > rows.bytes || magic_from > rows.magic_bytes) return kAllDamaged;
        const auto word_of = [&](uint32_t segment) {
            const uint32_t its_ids = __shfl_sync(~0u, ids, segment), words = __shfl_sync(~0u, count, segment);
            const uint8_t *word = rows.words + __shfl_sync(~0u, words_begin, segment) + lane + __popc(its_ids & below);
            return lane < words ? word[0] | (its_ids >> lane & 1 ? word[1] << 8 : 0) : 0u;
        };
        uint32_t ahead = word_of(0);
        for (uint32_t segment = 0; segment < in_group; segment++) {
            const uint32_t word = ahead;
            if (segment + 1 < in_group) ahead = word_of(segment + 1);
            AllDictionary dictionary{rows.magic, 0, out, at};
            if (kWay != kAllPlain) {
                dictionary.magic += __shfl_sync(~0u, magic_begin, segment);
                dictionary.length = __shfl_sync(~0u, magic, segment);
            }
            at = decode_segment<kWay>(word, __shfl_sync(~0u, ids, segment), __shfl_sync(~0u, count, segment),
                                      dictionary, out);
            if (at == kAllDamaged) return kAllDamaged;
        }
    }
    if (words_from != rows.bytes || magic_from != rows.magic_bytes || strings != rows.strings) return kAllDamaged;
    if (kWay != kAllPlain && rows.predictor) sum_bytes(out, at);
    return at;
}

// Copies a raw strip, four bytes in a lane at a time.
__device__ void copy_raw(const uint8_t *file, uint64_t from, uint32_t length, uint8_t *out) {
    const uint32_t *in = reinterpret_cast<const uint32_t *>(file + (from & ~uint64_t(3)));
    const uint32_t skip = uint32_t(from) & 3;
    for (uint32_t k = (threadIdx.x & 31) * 4; k < length; k += 128) {
        // The next word is read only if the strip extends into it.
        const uint32_t low = in[k / 4], high = skip && k + 4 - skip < length ? in[k / 4 + 1] : 0;
        reinterpret_cast<uint32_t *>(out)[k / 4] = uint32_t((uint64_t(high) << 32 | low) >> skip * 8);
    }
}

// The position of a strip's block, in all lanes: the end of the last one before it whose end is known, and the bytes of
// those between. Looks at 32 of them at a time.
__device__ uint64_t find_block(const uint8_t *file, uint32_t strips, uint32_t number, const volatile uint64_t *ends) {
    const uint32_t lane = threadIdx.x & 31;
    uint64_t between = 0;
    for (uint32_t left = number; left > 0; left -= min(left, 32u)) {
        const bool there = lane < left;
        const uint32_t other = left - 1 - lane;
        const uint64_t end = there ? ends[other] : 0;
        const uint32_t bytes = there ? two_bytes(file + 4 + uint64_t(other) * 2) + 1 : 0;
        const uint32_t known = __ballot_sync(~0u, end != 0), first = known ? __ffs(int(known)) - 1 : 32;
        between += __reduce_add_sync(~0u, lane < first ? bytes : 0);
        if (known) {
            const uint64_t high = __shfl_sync(~0u, uint32_t(end >> 32), first);
            return between + (high << 32 | __shfl_sync(~0u, uint32_t(end), first));
        }
    }
    return between + 4 + uint64_t(strips) * 2;
}

template <AllWay kWay>
__global__ void __launch_bounds__(kAllWarps * 32)
all_kernel(const uint8_t *__restrict__ file, uint64_t size, uint32_t strips, uint8_t *out, uint32_t *lengths,
           volatile uint64_t *ends, uint32_t *next) {
    const uint32_t lane = threadIdx.x & 31;
    for (;;) {
        uint32_t number = 0;
        if (lane == 0) number = atomicAdd(next, 1);
        number = __shfl_sync(~0u, number, 0);
        if (number >= strips) return;
        const uint64_t from = find_block(file, strips, number, ends);
        uint32_t bytes = two_bytes(file + 4 + uint64_t(number) * 2) + 1;
        if (lane == 0) ends[number] = from + bytes;
        const bool raw = bytes == kAllStrip, is_last = number + 1 == strips;
        if (raw && is_last && from <= size) bytes = uint32_t(min(uint64_t(kAllStrip), size - from));
        uint32_t length = kAllDamaged;
        if (is_last ? from + bytes == size : from + bytes <= size) {
            uint8_t *to = out + uint64_t(number) * kAllStrip;
            if (raw) copy_raw(file, from, length = bytes, to);
            else length = decode_block<kWay>(file + from, bytes, to);
        }
        if (lane == 0) lengths[number] = length;
    }
}

} // namespace

int decode_all(const uint8_t *file, uint64_t size, uint32_t strips, uint8_t *out, uint32_t *lengths, uint64_t *ends,
               uint32_t *next, AllWay way) {
    const cudaStream_t stream = nullptr;
    cudaError_t cleared = cudaMemsetAsync(next, 0, 4, stream);
    if (cleared == cudaSuccess) cleared = cudaMemsetAsync(ends, 0, size_t(strips) * 8, stream);
    if (cleared != cudaSuccess) return int(cleared);
    const auto kernel = way == kAllBytes   ? all_kernel<kAllBytes>
                        : way == kAllSteps ? all_kernel<kAllSteps>
                                           : all_kernel<kAllPlain>;
    // As many warps as fit: 132 multiprocessors, 64 warps each.
    const uint32_t grid = (min(strips, 132u * 64) + kAllWarps - 1) / kAllWarps;
    kernel<<<grid, kAllWarps * 32, 0, stream>>>(file, size, strips, out, lengths, ends, next);
    return int(cudaGetLastError());
}

} // namespace hybz
