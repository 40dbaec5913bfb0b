// mtf.cu: figures 4.4 to 4.6 of Patel's thesis (2012): move-to-front as a scan over lists, in both directions.
//
// His way (sections 2.2.1 and 3.2.1): a thread for 64 characters, 32 threads in a block. Each makes the list that its
// characters leave behind; an exclusive scan joins the lists, by AppendUnique (algorithm 3) or, in reverse, by
// composing permutations (algorithm 6); then each thread codes its characters, beginning with the list that the scan
// has
// left it. The first kHere bytes of a list are in shared memory, the others in global memory: his figure 4.5 varies
// kHere.
#include "common.hpp"

namespace theses {

namespace {

constexpr uint32_t kEach = 64, kThreads = 32, kBlock = kEach * kThreads;

// A thread's list: kHere bytes in shared memory, the rest in global memory.
template <uint32_t kHere> struct List {
    uint8_t *here, *there;
    __device__ uint8_t get(uint32_t i) const { return i < kHere ? here[i * kThreads] : there[i]; }
    __device__ void set(uint32_t i, uint8_t byte) const {
        if (i < kHere) here[i * kThreads] = byte;
        else there[i] = byte;
    }
    __device__ void move_to_front(uint32_t at) const {
        const uint8_t byte = get(at);
        for (uint32_t i = at; i > 0; i--) set(i, get(i - 1));
        set(0, byte);
    }
};

struct Seen {
    uint32_t bits[8] = {};
    // Notes a byte and returns whether it is new.
    __device__ bool add(uint8_t byte) {
        const uint32_t bit = 1u << (byte & 31), word = byte >> 5;
        const bool fresh = !(bits[word] & bit);
        bits[word] |= bit;
        return fresh;
    }
};

// Algorithm 2: the characters from the last to the first, each once. Returns their number.
template <class Out> __device__ uint32_t recent(const uint8_t *text, uint32_t count, Seen &seen, const Out &list) {
    uint32_t size = 0;
    for (uint32_t i = count; i-- > 0;)
        if (seen.add(text[i])) list.set(size++, text[i]);
    return size;
}

struct Plain {
    uint8_t *at;
    __device__ uint8_t get(uint32_t i) const { return at[i]; }
    __device__ void set(uint32_t i, uint8_t byte) const { at[i] = byte; }
};

// Algorithm 3: appends what `before` has and `list` has not.
template <class Here, class Before>
__device__ uint32_t append_unique(const Here &list, uint32_t size, Seen &seen, const Before &before, uint32_t others) {
    for (uint32_t i = 0; i < others && size < 256; i++) {
        const uint8_t byte = before.get(i);
        if (seen.add(byte)) list.set(size++, byte);
    }
    return size;
}

// A block's lists, a thread's each, and how many bytes of each count.
template <bool kReverse, uint32_t kHere> struct Lists {
    uint8_t *shared, *rest;
    uint32_t *sizes;
    __device__ List<kHere> of(uint32_t thread) const { return {shared + thread, rest + 256 * size_t(thread)}; }

    // Algorithms 2 and 5: what this thread's characters leave behind.
    __device__ void begin(const uint8_t *text, uint32_t count) const {
        const List<kHere> own = of(threadIdx.x);
        if constexpr (kReverse) {
            for (uint32_t i = 0; i < 256; i++) own.set(i, uint8_t(i));
            for (uint32_t k = 0; k < count; k++) own.move_to_front(text[k]);
            sizes[threadIdx.x] = 256;
        } else {
            Seen seen;
            sizes[threadIdx.x] = recent(text, count, seen, own);
        }
    }

    // Algorithms 3 and 6: this thread's list after `before`, if `active`. All threads call it.
    __device__ void join(bool active, uint32_t with) const {
        const List<kHere> own = of(threadIdx.x), before = of(active ? with : threadIdx.x);
        uint32_t size = sizes[threadIdx.x];
        const uint32_t others = active ? sizes[with] : 0;
        uint8_t composed[256];
        if (active && kReverse)
            for (uint32_t i = 0; i < 256; i++) composed[i] = before.get(own.get(i));
        __syncthreads();
        if (active && kReverse)
            for (uint32_t i = 0; i < 256; i++) own.set(i, composed[i]);
        if (active && !kReverse) {
            // Only the end of the other list can change meanwhile.
            Seen seen;
            for (uint32_t i = 0; i < size; i++) seen.add(own.get(i));
            size = append_unique(own, size, seen, before, others);
        }
        __syncthreads();
        sizes[threadIdx.x] = size;
        __syncthreads();
    }
};

// The list of each block's characters: a reduction over its threads.
template <bool kReverse, uint32_t kHere>
__global__ void __launch_bounds__(kThreads)
lists_of_blocks(const uint8_t *text, uint32_t n, uint8_t *rest, uint8_t *lists, uint32_t *list_sizes) {
    __shared__ uint8_t shared[kHere * kThreads];
    __shared__ uint32_t sizes[kThreads];
    const uint32_t block = blockIdx.x, first = block * kBlock + threadIdx.x * kEach;
    const Lists<kReverse, kHere> all{shared, rest + 256 * size_t(block) * kThreads, sizes};
    all.begin(text + min(first, n), min(kEach, n - min(first, n)));
    __syncthreads();
    for (uint32_t step = 1; step < kThreads; step *= 2)
        all.join((threadIdx.x + 1) % (2 * step) == 0, threadIdx.x - step);
    const List<kHere> last = all.of(kThreads - 1);
    for (uint32_t i = threadIdx.x; i < sizes[kThreads - 1]; i += kThreads) lists[256 * size_t(block) + i] = last.get(i);
    if (threadIdx.x == 0) list_sizes[block] = sizes[kThreads - 1];
}

// One step of Hillis and Steele's scan over the blocks' lists.
template <bool kReverse>
__global__ void __launch_bounds__(kThreads)
scan_step(const uint8_t *from, const uint32_t *from_sizes, uint32_t blocks, uint32_t step,
          uint8_t *to, uint32_t *to_sizes) {
    const uint32_t block = blockIdx.x * kThreads + threadIdx.x;
    if (block >= blocks) return;
    const Plain out{to + 256 * size_t(block)};
    const uint8_t *const own = from + 256 * size_t(block), *const before = own - 256 * size_t(step);
    uint32_t size = from_sizes[block];
    Seen seen;
    for (uint32_t i = 0; i < size; i++) {
        const uint8_t byte = kReverse && block >= step ? before[own[i]] : own[i];
        out.set(i, byte);
        seen.add(byte);
    }
    if (!kReverse && block >= step)
        size = append_unique(out, size, seen, Plain{const_cast<uint8_t *>(before)}, from_sizes[block - step]);
    to_sizes[block] = size;
}

// The last step: a scan within the block, after what the blocks before it leave behind, and the output.
template <bool kReverse, uint32_t kHere>
__global__ void __launch_bounds__(kThreads)
code_block(const uint8_t *text, uint32_t n, const uint8_t *lists, const uint32_t *list_sizes, uint8_t *rest,
           uint8_t *out) {
    __shared__ uint8_t shared[kHere * kThreads];
    __shared__ uint32_t sizes[kThreads];
    const uint32_t block = blockIdx.x, first = block * kBlock + threadIdx.x * kEach;
    const Lists<kReverse, kHere> all{shared, rest + 256 * size_t(block) * kThreads, sizes};
    all.begin(text + min(first, n), min(kEach, n - min(first, n)));
    __syncthreads();
    for (uint32_t step = 1; step < kThreads; step *= 2) all.join(threadIdx.x >= step, threadIdx.x - step);
    // The scan is exclusive: each thread takes the list of the thread before it, and then the lists of earlier blocks.
    const List<kHere> list = all.of(threadIdx.x), before = all.of(threadIdx.x ? threadIdx.x - 1 : 0);
    uint32_t size = threadIdx.x ? sizes[threadIdx.x - 1] : 0;
    uint8_t copy[256];
    for (uint32_t i = 0; i < size; i++) copy[i] = before.get(i);
    __syncthreads();
    const uint8_t *const left = block ? lists + 256 * size_t(block - 1) : nullptr;
    if (kReverse) {
        for (uint32_t i = 0; i < 256; i++) {
            const uint8_t inner = threadIdx.x ? copy[i] : uint8_t(i);
            list.set(i, left ? left[inner] : inner);
        }
    } else {
        Seen seen;
        for (uint32_t i = 0; i < size; i++) {
            seen.add(copy[i]);
            list.set(i, copy[i]);
        }
        if (left) size = append_unique(list, size, seen, Plain{const_cast<uint8_t *>(left)}, list_sizes[block - 1]);
        for (uint32_t byte = 0; byte < 256; byte++)
            if (seen.add(uint8_t(byte))) list.set(size++, uint8_t(byte));
    }
    for (uint32_t k = first; k < first + kEach && k < n; k++) {
        uint32_t at = text[k];
        if (kReverse) {
            out[k] = list.get(at);
        } else {
            at = 0;
            while (list.get(at) != text[k]) at++;
            out[k] = uint8_t(at);
        }
        list.move_to_front(at);
    }
}

struct Job {
    Memory<uint8_t> text, one, two, rest, out;
    Memory<uint32_t> sizes, other;
    uint32_t n, blocks;
    explicit Job(const Text &given)
        : text(given), one(256 * blocks_for(given.size(), kBlock)), two(one.count),
          rest(256 * size_t(kThreads) * blocks_for(given.size(), kBlock)), out(given.size()),
          sizes(blocks_for(given.size(), kBlock)), other(sizes.count), n(uint32_t(given.size())),
          blocks(blocks_for(n, kBlock)) {}

    // Milliseconds of the lists, of their scan and of the output.
    template <bool kReverse, uint32_t kHere> std::vector<double> run() {
        const auto make_lists = lists_of_blocks<kReverse, kHere>;
        const auto join = scan_step<kReverse>;
        const auto code = code_block<kReverse, kHere>;
        const uint32_t grid = blocks_for(blocks, kThreads);
        const double lists = best_ms([&] {
            make_lists<<<blocks, kThreads, 0, stream>>>(
                text.at, n, rest.at, one.at, sizes.at);
        });
        uint8_t *scanned = nullptr;
        uint32_t *scanned_sizes = nullptr;
        const double scan = best_ms([&] {
            make_lists<<<blocks, kThreads, 0, stream>>>(text.at, n, rest.at, one.at, sizes.at);
            uint8_t *from = one.at, *to = two.at;
            uint32_t *from_sizes = sizes.at, *to_sizes = other.at;
            for (uint32_t step = 1; step < blocks; step *= 2) {
                join<<<grid, kThreads, 0, stream>>>(from, from_sizes, blocks, step, to, to_sizes);
                std::swap(from, to);
                std::swap(from_sizes, to_sizes);
            }
            scanned = from;
            scanned_sizes = from_sizes;
        });
        const double output = best_ms([&] {
            code<<<blocks, kThreads, 0, stream>>>(
                text.at, n, scanned, scanned_sizes, rest.at, out.at);
        });
        return {lists, std::max(scan - lists, 0.0), output};
    }
};

template <uint32_t kHere> void row(const Text &text, const Text &indices, double core, double back) {
    Job there(text), reverse(indices);
    const std::vector<double> forward = there.run<false, kHere>();
    check(there.out.get() == indices, "move-to-front by lists");
    const std::vector<double> inverse = reverse.run<true, kHere>();
    check(reverse.out.get() == text, "reverse move-to-front by lists");
    const auto all = [](const std::vector<double> &ms) { return ms[0] + ms[1] + ms[2]; };
    const auto rate = [&](double ms) { return double(text.size()) / ms / 1e3; };
    printf("%u,%.3f,%.3f,%.3f,%.1f,%.1f,%.3f,%.3f,%.3f,%.1f,%.1f\n", kHere, forward[0], forward[1], forward[2],
           rate(all(forward)), rate(core), inverse[0], inverse[1], inverse[2], rate(all(inverse)), rate(back));
}

} // namespace

int move_to_front(const Text &text) {
    const Text last = transform(text).last;
    Text indices, back(last.size());
    const double core = best_ms([&] { indices = plain_mtf(last); });
    const double reverse = best_ms([&] {
        uint8_t list[256];
        for (int i = 0; i < 256; i++) list[i] = uint8_t(i);
        for (size_t k = 0; k < indices.size(); k++) {
            const uint8_t byte = list[indices[k]];
            memmove(list + 1, list, indices[k]);
            list[0] = back[k] = byte;
        }
    });
    check(back == last, "the plain twin");
    printf("list_bytes_in_shared_memory,lists_ms,scan_ms,output_ms,MB/s,core_MB/s,reverse_lists_ms,reverse_scan_ms,"
           "reverse_output_ms,reverse_MB/s,reverse_core_MB/s\n");
    row<16>(last, indices, core, reverse);
    row<40>(last, indices, core, reverse);
    row<64>(last, indices, core, reverse);
    row<76>(last, indices, core, reverse);
    row<128>(last, indices, core, reverse);
    row<256>(last, indices, core, reverse);
    return 0;
}

} // namespace theses
