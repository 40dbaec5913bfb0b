// parse.cu: the priced parse: the cheapest way through each chunk, by forward relaxation.
//
// kLanes lanes of a warp work on a chunk, so that 32 / kLanes chunks share each instruction. At a position all of them
// know the cheapest way to it (price, last offsets, literals since the last match). They measure the three repeats
// together; then each lane weighs one length at a time, by whichever match is cheapest of those that reach it. Nodes
// up to kNice ahead are in a ring in shared memory. A match of kNice and more is taken at once.
//
// All control flow is the warp's, not the chunk's: a chunk that has nothing to do goes along.
#include "bytes.cuh"

namespace zst {

namespace {

constexpr uint32_t kThreads = 64;
constexpr uint32_t kNever = 0x7FFFFFFF;
constexpr uint32_t kAll = ~0u;
static_assert(kRing == 256, "lengths in the ring are bytes");

// What is ahead of a chunk's position, and the last offsets behind it.
// Lean: the last offsets are in device memory, which leaves room for twice as many warps.
template <bool kLean> struct Ring {
    uint32_t price[kRing], word[kRing], last[3][kLean ? 1 : kRing];
    uint8_t length[kRing];
};

template <uint32_t kLanes, bool kLean> struct Parser {
    const uint8_t *__restrict__ text;
    const Prices &prices;
    Ring<kLean> &ring;
    uint32_t *behind; // lean: the last offsets behind, [3][kRing]
    uint32_t end, lane; // the lane's number in its chunk
    uint32_t i, price, run, run_now; // run_now: the price of `run` literals
    using Choices = uint32_t[2 + kSlots];
    Last last;
    bool active, fresh;
    uint32_t literal;                 // text[i - 1], unless fresh
    uint32_t long_offset, long_until; // a repeat measured before: where it ends

    __device__ uint32_t of_lane(uint32_t value, uint32_t which) const {
        return __shfl_sync(kAll, value, (threadIdx.x & 31 & ~(kLanes - 1)) + which);
    }
    // The votes of the chunk's lanes.
    __device__ uint32_t votes(bool vote) const {
        const uint32_t all = __ballot_sync(kAll, vote) >> (threadIdx.x & 31 & ~(kLanes - 1));
        return kLanes == 32 ? all : all & ((1u << (kLanes & 31)) - 1);
    }

    __device__ uint32_t &last_at(uint32_t k, uint32_t slot) const {
        return kLean ? behind[k * kRing + slot] : ring.last[kLean ? 0 : k][kLean ? 0 : slot];
    }

    // Chooses the last step of the way to i.
    __device__ void arrive(const Way &way) {
        const uint32_t slot = i % kRing;
        uint32_t word = 0, length = 0;
        if (!fresh) {
            const uint32_t run_next = run_price(prices, run + 1);
            const uint32_t plain = price + prices.literal[literal] + run_next - run_now;
            const uint32_t matched = ring.price[slot];
            if (matched < plain) {
                price = matched;
                word = ring.word[slot];
                length = ring.length[slot];
                const uint32_t from = (i - length) % kRing;
                last = after(Last{{last_at(0, from), last_at(1, from), last_at(2, from)}}, word & kOffsetMask);
                run = 0;
                run_now = prices.run[0];
            } else {
                price = plain;
                run_now = run_next;
                word = ++run;
            }
        }
        __syncwarp();
        if (lane == 0 && active) {
            if (!fresh) {
                way.word[i - 1] = word;
                way.length[i - 1] = uint16_t(length);
            }
            ring.price[slot] = kNever;
        }
        if (active && lane < 3)
            last_at(lane, slot) = lane == 0 ? last.offset[0] : lane == 1 ? last.offset[1] : last.offset[2];
        fresh = false;
    }

    // How many bytes from `length` on are the same at i and `offset` before, by all lanes, eight each; up to `limit`.
    __device__ uint32_t measure(uint32_t offset, uint32_t length, uint32_t limit, bool wanted) const {
        bool more = wanted && length < limit;
        while (__any_sync(kAll, more)) {
            const uint32_t at = length + 8 * lane;
            uint32_t same = 0;
            if (more && at < limit) same = equal_bytes(eight(text + i + at) ^ eight(text + i + at - offset));
            const uint32_t whole = votes(same == 8);
            const bool all = whole == (kLanes == 32 ? kAll : (1u << (kLanes & 31)) - 1);
            const uint32_t first = all ? kLanes : __ffs(~whole) - 1;
            const uint32_t rest = of_lane(same, first < kLanes ? first : 0);
            if (more) {
                length += 8 * first + (first < kLanes ? rest : 0);
                more = first == kLanes && length < limit;
            }
        }
        return min(length, limit);
    }

    // The lengths of the three repeats: a byte by each lane, and more if all are the same.
    __device__ void measure_repeats(const uint32_t (&offset)[3], uint32_t (&length)[3]) {
        const uint32_t limit = active ? min(kNice, end - i) : 0;
        const uint32_t here = lane < limit ? text[i + lane] : 0;
        literal = of_lane(here, 0);
        uint32_t start[3], same[3];
        bool more = false;
#pragma unroll
        for (uint32_t k = 0; k < 3; k++) {
            const bool valid = offset[k] - 1 < i; // neither 0 nor before the text
            const uint32_t there = valid && lane < limit ? text[i + lane - offset[k]] : 256;
            same[k] = __ffs(~votes(here == there)) - 1;
            if (kLanes == 32 && same[k] == kAll) same[k] = 32;
            start[k] = min(same[k], limit);
            bool unknown = same[k] == kLanes && start[k] < limit;
            // Inside a repeat that was measured before: to its end, or it would have been taken.
            if (unknown && offset[k] == long_offset && long_until > i + kLanes)
                start[k] = min(long_until - i, limit), unknown = false;
            same[k] = unknown;
            more |= unknown;
            length[k] = start[k];
        }
        if (!__any_sync(kAll, more)) return;
#pragma unroll
        for (uint32_t k = 0; k < 3; k++) {
            length[k] = measure(offset[k], start[k], limit, same[k]);
            if (same[k]) long_offset = offset[k], long_until = i + length[k];
        }
    }

    // Takes the longer of the first long repeat and the first long match; the repeat, if they are equal.
    __device__ void jump(bool wanted, const uint32_t (&repeat_word)[2], const uint32_t (&repeat_length)[2],
                         uint32_t offset, uint32_t length, const Way &way) {
        const uint32_t repeats = repeat_length[0] >= kNice ? 0 : repeat_length[1] >= kNice ? 1 : 2;
        const uint32_t word_of_repeat = repeats == 0 ? repeat_word[0] : repeat_word[1];
        const uint32_t repeat_offset = word_of_repeat & kOffsetMask;
        const uint32_t longs = votes(length >= kNice);
        const uint32_t match_offset = of_lane(offset, longs ? __ffs(longs) - 1 : 0);
        const uint32_t limit = end - i;
        const uint32_t by_repeat = measure(repeat_offset, kNice, limit, wanted && repeats < 2);
        const uint32_t by_match = measure(match_offset, kNice, limit, wanted && longs);
        if (!wanted) return;
        const bool repeated = repeats < 2 && (!longs || by_repeat >= by_match);
        const uint32_t taken = repeated ? repeat_offset : match_offset;
        i += repeated ? by_repeat : by_match;
        if (lane == 0) {
            way.word[i - 1] = repeated ? word_of_repeat : offset_code(taken) << kOffsetBits | taken;
            way.length[i - 1] = uint16_t(repeated ? by_repeat : by_match);
        }
        last = after(last, taken);
        run = 0;
        run_now = prices.run[0];
        price = 0;
        fresh = true;
        for (uint32_t k = lane; k < kRing; k += kLanes) ring.price[k] = kNever;
    }

    __device__ void parse(const uint32_t *__restrict__ offsets, const uint8_t *__restrict__ lengths, const Way &way,
                          State *ends) {
        for (uint32_t k = lane; k < kRing; k += kLanes) ring.price[k] = kNever;
        __syncwarp();
        uint32_t loaded = i; // the position whose match the lane holds
        const uint32_t slot = lane & (kSlots - 1);
        const uint32_t *next_offsets = offsets + slot;
        const uint8_t *next_lengths = lengths + slot;
        uint32_t next_offset = active ? next_offsets[uint64_t(i) * kSlots] : 0;
        uint32_t next_length = active ? next_lengths[uint64_t(i) * kSlots] : 0;
        while (__any_sync(kAll, active)) {
            arrive(way);
            if (active && i == end) {
                if (lane == 0) *ends = State{last, run};
                active = false;
            }
            if (active && loaded != i) {
                next_offset = next_offsets[uint64_t(i) * kSlots];
                next_length = next_lengths[uint64_t(i) * kSlots];
            }
            const uint32_t offset = next_offset;
            uint32_t length = active && lane < kSlots ? min(next_length, end - i) : 0;
            if (length < kMinMatch) length = 0;
            if (active && i + 1 < end) {
                next_offset = next_offsets[uint64_t(i + 1) * kSlots];
                next_length = next_lengths[uint64_t(i + 1) * kSlots];
            }
            loaded = i + 1;
            const uint32_t repeat[3] = {repeated(last, 0, run == 0), repeated(last, 1, run == 0),
                                        repeated(last, 2, run == 0)};
            uint32_t measured[3];
            measure_repeats(repeat, measured);
            const bool second = measured[1] >= measured[2];
            const uint32_t repeat_length[2] = {measured[0], second ? measured[1] : measured[2]};
            const uint32_t repeat_word[2] = {repeat_code(0) << kOffsetBits | repeat[0],
                                             repeat_code(1) << kOffsetBits | (second ? repeat[1] : repeat[2])};
            uint32_t longest = max(repeat_length[0], repeat_length[1]);
            const uint32_t code = length ? offset_code(offset) : 0;
            const uint32_t own = uint32_t(prices.offset[code]) << 12 | (2 + slot) << 8 | length;
            Choices choice;
            choice[0] = uint32_t(prices.offset[repeat_code(0)]) << 12 | repeat_length[0];
            choice[1] = uint32_t(prices.offset[repeat_code(1)]) << 12 | 1 << 8 | repeat_length[1];
#pragma unroll
            for (uint32_t k = 0; k < kSlots; k++) {
                choice[2 + k] = of_lane(own, k);
                longest = max(longest, choice[2 + k] & 255);
            }
            if (longest < kMinMatch) longest = 0;
            const bool jumps = longest >= kNice;
            const uint32_t whole = lane < kSlots        ? length
                                 : lane == kSlots     ? repeat_length[0]
                                 : lane == kSlots + 1 ? repeat_length[1]
                                                      : 0;
            if (__any_sync(kAll, !jumps && longest))
                relax(choice, jumps ? 0 : longest, whole, repeat_word, code << kOffsetBits | offset);
            const bool was_active = active;
            if (__any_sync(kAll, jumps)) jump(jumps, repeat_word, repeat_length, offset, length, way);
            if (was_active && !jumps) i++;
            __syncwarp();
        }
    }

    // Weighs every length up to kEvery, one by each lane at a time, and then the whole lengths of those that are
    // longer: a lane has one, `whole`. Equal ones come to the same answer.
    __device__ void relax(const Choices &choice, uint32_t longest, uint32_t whole, const uint32_t (&repeat_word)[2],
                          uint32_t own_word) {
        const uint32_t every = min(longest, kEvery);
        for (uint32_t from = kMinMatch; __any_sync(kAll, from <= every); from += kLanes)
            weigh(choice, from + lane, from + lane <= every, repeat_word, own_word);
        if (__any_sync(kAll, longest > kEvery))
            weigh(choice, whole, longest > kEvery && whole > kEvery, repeat_word, own_word);
    }

    __device__ void weigh(const Choices &choice, uint32_t length, bool wanted, const uint32_t (&repeat_word)[2],
                          uint32_t own_word) {
        uint32_t best = kAll;
#pragma unroll
        for (uint32_t k = 0; k < 2 + kSlots; k++)
            best = min(best, (choice[k] & 255) >= length ? choice[k] & ~255u : kAll);
        const uint32_t number = best >> 8 & 15;
        const uint32_t match = of_lane(own_word, (number - 2) & (kSlots - 1));
        if (!wanted) return;
        const uint32_t word = number >= 2 ? match : number == 0 ? repeat_word[0] : repeat_word[1];
        const uint32_t sum = price + (best >> 12) + prices.length[length];
        const uint32_t slot = (i + length) % kRing;
        if (sum < ring.price[slot]) {
            ring.price[slot] = sum;
            ring.word[slot] = word;
            ring.length[slot] = uint8_t(length);
        }
    }
};
static_assert(kNice <= 255 && kSlots + 2 <= 8, "a choice is a word: price, number (4 bits), length (8 bits)");

template <uint32_t kLanes, bool kLean>
__global__ void __launch_bounds__(kThreads)
parse_kernel(const uint8_t *__restrict__ text, uint32_t n, const uint32_t *__restrict__ offsets,
             const uint8_t *__restrict__ lengths, const Prices *__restrict__ prices, const State *__restrict__ starts,
             Way way, State *__restrict__ ends, uint32_t *behind) {
    constexpr uint32_t kChunksOfCta = kThreads / kLanes;
    static_assert(kChunksOfBlock % kChunksOfCta == 0, "one block's prices");
    __shared__ Ring<kLean> rings[kChunksOfCta];
    __shared__ Prices own;
    const uint32_t block = blockIdx.x * kChunksOfCta / kChunksOfBlock;
    for (uint32_t k = threadIdx.x; k < sizeof(Prices) / 2; k += kThreads)
        reinterpret_cast<uint16_t *>(&own)[k] = reinterpret_cast<const uint16_t *>(prices + block)[k];
    __syncthreads();
    const uint32_t chunk = blockIdx.x * kChunksOfCta + threadIdx.x / kLanes, chunks = (n + kChunk - 1) / kChunk;
    const bool active = chunk < chunks;
    const uint32_t begin = active ? chunk * kChunk : 0;
    const State start = starts[active ? chunk : 0];
    Parser<kLanes, kLean> parser{text,
                                 own,
                                 rings[threadIdx.x / kLanes],
                                 behind + uint64_t(chunk) * 3 * kRing,
                                 min(n, begin + kChunk),
                                 threadIdx.x % kLanes,
                                 begin,
                                 0,
                                 start.run,
                                 run_price(own, start.run),
                                 start.last,
                                 active,
                                 true,
                                 0,
                                 0,
                                 0};
    parser.parse(offsets, lengths, way, ends + chunk);
}

} // namespace

template <bool kLean> auto kernel_of(uint32_t lanes) {
    return lanes == 8 ? parse_kernel<8, kLean> : lanes == 16 ? parse_kernel<16, kLean> : parse_kernel<32, kLean>;
}

cudaError_t parse_chunks(const uint8_t *text, uint32_t n, const uint32_t *offsets, const uint8_t *lengths,
                         const Prices *prices, const State *starts, uint32_t lanes, uint32_t *behind, Way way,
                         State *ends, cudaStream_t stream) {
    const auto kernel = behind ? kernel_of<true>(lanes) : kernel_of<false>(lanes);
    const uint32_t each = kThreads / lanes, grid = (chunks_of(n) + each - 1) / each;
    kernel<<<grid, kThreads, 0, stream>>>(text, n, offsets, lengths, prices, starts, way, ends, behind);
    return cudaGetLastError();
}

} // namespace zst
