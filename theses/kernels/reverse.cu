// reverse.cu: table 4.3 of Patel's thesis (2012): the reverse Burrows-Wheeler transform by its number of threads.
//
// His way (section 3.3.1, algorithms 7 and 8): after Hillis and Steele, all threads square the map to the next row,
// while the number of rows known in the order of the text doubles; once there is a row for each thread, they walk on
// with
// steps as long as there are threads. Beside it the way of hybz (cuda/walk.cu): threads walk from rows at equal
// distances to the next such row, one thread puts their pieces in order, and they walk once more to write the text.
#include "common.hpp"

namespace theses {

namespace {

constexpr uint32_t kThreads = 256;

// Algorithm 7. `step` threads know a row: the rows of the text's positions before `step`.
__global__ void __launch_bounds__(kThreads)
double_step(const uint8_t *last, const uint32_t *map, uint32_t n, uint32_t origin, uint32_t step, uint32_t threads,
            uint32_t *known, uint32_t *doubled, uint8_t *out) {
    const uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
    if (thread >= threads) return;
    if (thread < step && thread + step - 1 < n) {
        const uint32_t row = map[thread ? known[thread - 1] : origin];
        known[thread + step - 1] = row;
        out[thread + step - 1] = last[row];
    }
    for (uint32_t i = thread; i < n; i += threads) doubled[i] = map[map[i]];
}

// Algorithm 8. The map now leads from a row to the one that is `threads` positions later in the text.
__global__ void __launch_bounds__(kThreads)
long_steps(const uint8_t *last, const uint32_t *map, uint32_t n, uint32_t origin, uint32_t threads,
           const uint32_t *known, uint8_t *out) {
    const uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
    if (thread >= threads) return;
    uint32_t row = thread ? known[thread - 1] : origin;
    for (uint64_t i = uint64_t(thread) + threads - 1; i < n; i += threads) {
        row = map[row];
        out[i] = last[row];
    }
}

// A splitter's piece: the number of rows up to the next splitter, and which that is.
struct Piece {
    uint32_t length, next, at;
};

// Walks from each splitter to the next one. Splitter s is row s * distance; the last is the origin.
__global__ void __launch_bounds__(kThreads)
measure_pieces(const uint32_t *map, uint32_t n, uint32_t origin, uint32_t distance, uint32_t splitters, Piece *pieces) {
    const uint32_t s = blockIdx.x * kThreads + threadIdx.x;
    if (s >= splitters) return;
    uint32_t row = s + 1 == splitters ? origin : s * distance, length = 0;
    do {
        row = map[row];
        length++;
    } while (row != origin && row % distance != 0 && length < n);
    pieces[s] = {length, row == origin ? splitters - 1 : row / distance, kNone};
}

__global__ void order_pieces(uint32_t splitters, uint32_t n, Piece *pieces) {
    if (threadIdx.x) return;
    uint32_t at = 0;
    for (uint32_t s = splitters - 1; at < n && pieces[s].at == kNone; s = pieces[s].next) {
        pieces[s].at = at;
        at += pieces[s].length;
    }
}

__global__ void __launch_bounds__(kThreads)
write_pieces(const uint8_t *last, const uint32_t *map, uint32_t origin, uint32_t distance, uint32_t splitters,
             const Piece *pieces, uint8_t *out) {
    const uint32_t s = blockIdx.x * kThreads + threadIdx.x;
    if (s >= splitters) return;
    const Piece piece = pieces[s];
    // Two splitters on one row: the origin's piece counts.
    if (piece.at == kNone) return;
    uint32_t row = s + 1 == splitters ? origin : s * distance;
    for (uint32_t k = 0; k < piece.length; k++) {
        row = map[row];
        out[piece.at + k] = last[row];
    }
}

// The stable order of the last column: the row that holds the next byte of the text, for each row.
std::vector<uint32_t> next_rows(const Text &last) {
    uint32_t starts[257] = {};
    for (const uint8_t byte : last) starts[byte + 1]++;
    for (int byte = 0; byte < 256; byte++) starts[byte + 1] += starts[byte];
    std::vector<uint32_t> map(last.size());
    for (uint32_t row = 0; row < last.size(); row++) map[starts[last[row]]++] = row;
    return map;
}

} // namespace

int reverse_bwt(const Text &text) {
    const uint32_t n = uint32_t(text.size());
    const Bwt bwt = transform(text);
    Memory<uint8_t> last(bwt.last), out(n);
    Memory<uint32_t> map(next_rows(bwt.last)), one(n), two(n), known(n);
    const auto right = [&] { return out.get() == text; };

    printf("threads,doubling_ms,doubling_MB/s,splitters_ms,splitters_MB/s\n");
    for (uint32_t threads = 1024; threads <= 65536 && threads < n; threads *= 2) {
        const double doubling = best_ms([&] {
            const uint32_t *from = map.at;
            uint32_t *to = one.at;
            for (uint32_t step = 1; step < threads; step *= 2) {
                double_step<<<blocks_for(threads, kThreads), kThreads, 0, stream>>>(
                    last.at, from, n, bwt.origin, step, threads, known.at, to, out.at);
                from = to;
                to = to == one.at ? two.at : one.at;
            }
            long_steps<<<blocks_for(threads, kThreads), kThreads, 0, stream>>>(
                last.at, from, n, bwt.origin, threads, known.at, out.at);
        });
        check(right(), "the reverse transform by doubling");
        out.put(Text(n));
        const uint32_t distance = std::max(n / threads, 2u), splitters = blocks_for(n, distance) + 1;
        Memory<Piece> pieces(splitters);
        const double walking = best_ms([&] {
            measure_pieces<<<blocks_for(splitters, kThreads), kThreads, 0, stream>>>(
                map.at, n, bwt.origin, distance, splitters, pieces.at);
            order_pieces<<<1, 32, 0, stream>>>(splitters, n, pieces.at);
            write_pieces<<<blocks_for(splitters, kThreads), kThreads, 0, stream>>>(
                last.at, map.at, bwt.origin, distance, splitters, pieces.at, out.at);
        });
        check(right(), "the reverse transform by splitters");
        const auto rate = [&](double ms) { return n / ms / 1e3; };
        printf("%u,%.3f,%.1f,%.3f,%.1f\n", threads, doubling, rate(doubling), walking, rate(walking));
    }
    return 0;
}

} // namespace theses
