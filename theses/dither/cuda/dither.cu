// Floyd-Steinberg dithering of slabs (src/slab.rs), pixel for pixel as src/plain.rs defines it.
//
// One persistent kernel. A warp does a strip of 32 rows. Each lane does a row and lags two columns behind the lane
// above it: at step t lane i does column t - 2i. The errors of the row above come from the neighbouring lane, one
// shuffle a step; lane 0 has them from the line that the strip above leaves in device memory. Warps take strips by a
// counter, in order, so the strip that a warp waits for has already been taken by a running warp: there is no deadlock,
// however few warps there are. After 16 steps the last lane publishes the progress of its line, and the strip below may
// do its next 16 steps.
//
// | array | bytes | who writes, who reads |
// |---|---|---|
// | in: pixels | rows x columns | the host; all lanes, a byte a step of their own row |
// | in: above | columns + 64 | the host; the first strip. Column x is at x + 32 |
// | in: left | rows x 4 | the host: the three errors before each row |
// | out: bits | rows x columns / 8 | each lane, 16 bits after 16 steps; zeroed before |
// | out: lines | strips x (columns + 64) | the last lane of a strip; the next strip, and the host. Zeroed before |
// | out: right | rows x 4 | each lane, at its end |
// | control | 1 + strips words | word 0 counts strips; the others say how far lines are. Zeroed before |
//
// Columns count from the first of the slab's window, a multiple of 16. The structure is written by src/device/pack.rs.
#include <cuda_runtime.h>
#include <stdint.h>

struct slab {
    uint64_t pixels, above, left; // offsets in `in`
    uint64_t bits, lines, right;  // offsets in `out`
    uint32_t rows, columns;
    uint32_t first_strip; // its number in the batch
    int32_t from, steps;  // multiples of 16; of the first row
    uint32_t width;       // from the window's first column to the end of the picture
};

static const uint32_t ALL = 0xffffffffu;
static const int ROOM = 32;
static const int FAR = 64; // the values in `control` are this much larger: 0 is before all columns

// The line's error, which another multiprocessor may just have written: volatile reads do not stay in the first cache.
static __device__ int error_at(const volatile int8_t *line, int x, int width) { return x < width ? line[x] : 0; }

static __device__ void wait_for(const volatile uint32_t *published, uint32_t wanted, uint32_t lane) {
    uint32_t seen;
    do {
        seen = lane == 0 ? *published : 0;
        seen = __shfl_sync(ALL, seen, 0);
    } while (seen < wanted);
    __threadfence();
}

static __device__ void write_bits(uint8_t *row, int word, int columns, uint32_t before, uint32_t now, uint32_t skew) {
    if (word < 0 || word >= columns) return;
    const uint32_t bits = (before << 16 | now) << skew >> 16;
    *(uint16_t *)(row + word / 8) = uint16_t(bits >> 8 | bits << 8);
}

static __device__ void strip(const slab &s, uint32_t number, const uint8_t *in, uint8_t *out, uint32_t *control) {
    const uint32_t lane = threadIdx.x & 31;
    const int own = int(number - s.first_strip), left_rows = int(s.rows) - 32 * own;
    const int last = left_rows < 32 ? left_rows - 1 : 31;
    const int width = int(s.width), columns = int(s.columns), stride = columns + 2 * ROOM;
    const bool is_row = int(lane) <= last;
    const size_t y = size_t(32) * own + (is_row ? lane : 0);

    const uint8_t *pixels = in + s.pixels + y * columns;
    const int8_t *left = (const int8_t *)(in + s.left) + 4 * y;
    int8_t *right = (int8_t *)(out + s.right) + 4 * y;
    uint8_t *bits = out + s.bits + y * (columns / 8);
    int8_t *line = (int8_t *)(out + s.lines) + size_t(own) * stride + ROOM;
    const int8_t *above = own ? line - stride : (const int8_t *)(in + s.above) + ROOM;
    const volatile uint32_t *published = own ? control + number : control;
    volatile uint32_t *publish = control + 1 + number;

    // Steps before all lanes' first column in the picture, and after their last, change nothing.
    const int x0 = s.from - 64 * own;
    const int begin = min(max(-x0, 0), s.steps);
    const int end = min(max((width + 62 - x0 + 15) / 16 * 16, begin), s.steps);

    int e1 = is_row ? left[0] : 0, e2 = is_row ? left[1] : 0, e3 = is_row ? left[2] : 0;
    // The pixels left of the slab in its last row belong to another slab, but the strip below reads their errors here.
    if (int(lane) == last) {
        const int errors[3] = {e1, e2, e3};
        for (int k = 0; k < 3; k++) {
            const int x = x0 - 2 * last - 1 - k;
            if (x >= -ROOM && x < columns + ROOM) line[x] = int8_t(errors[k]);
        }
    }

    int s2 = int(__shfl_up_sync(ALL, uint32_t(e2), 1)), s3 = int(__shfl_up_sync(ALL, uint32_t(e3), 1));
    uint32_t before = 0;
    const uint32_t skew = 2 * lane & 15;
    const int behind = 2 * int(lane) / 16 * 16 + 16;
    for (int step = begin; step < end; step += 16) {
        const int head = x0 + step, x = head - 2 * int(lane);
        if (own) wait_for(published, uint32_t(min(head + 17, width) + FAR), lane);
        if (step == begin && lane == 0) {
            s2 = error_at(above, head, width);
            s3 = error_at(above, head - 1, width);
        }
        const int ahead = lane < 16 ? error_at(above, head + 1 + int(lane), width) : 0;
        uint32_t now = 0;
        int grey[16];
#pragma unroll
        for (int k = 0; k < 16; k++) grey[k] = is_row && x + k >= 0 && x + k < width ? pixels[x + k] : 0;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const int from_lane = int(__shfl_up_sync(ALL, uint32_t(e1), 1));
            const int from_line = int(__shfl_sync(ALL, uint32_t(ahead), k));
            const int s1 = lane ? from_lane : from_line;
            const int value = 16 * grey[k] + 8 + s3 + 5 * s2 + 7 * e1 + 3 * s1;
            const bool inside = is_row && x + k >= 0 && x + k < width, white = value >= 16 * 128;
            const int error = inside ? (value >> 4) - (white ? 255 : 0) : 0;
            now = now << 1 | uint32_t(inside && !white);
            if (int(lane) == last && inside) line[x + k] = int8_t(error);
            s3 = s2;
            s2 = s1;
            e3 = e2;
            e2 = e1;
            e1 = error;
        }
        if (is_row) write_bits(bits, head - behind, columns, before, now, skew);
        before = now;
        if (int(lane) == last) {
            __threadfence();
            *publish = uint32_t(max(x + 16, -FAR) + FAR);
        }
    }
    if (is_row) {
        write_bits(bits, x0 + end - behind, columns, before, 0, skew);
        const bool past = end < s.steps; // the last errors lie after the end of the picture
        right[0] = int8_t(past ? 0 : e1);
        right[1] = int8_t(past ? 0 : e2);
        right[2] = int8_t(past ? 0 : e3);
    }
    if (int(lane) == last) {
        __threadfence();
        *publish = ALL;
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(128)
    dither_slabs(const slab *slabs, uint32_t count, uint32_t strips, const uint8_t *in, uint8_t *out,
                 uint32_t *control) {
    const uint32_t lane = threadIdx.x & 31;
    for (;;) {
        uint32_t number = lane == 0 ? atomicAdd(control, 1u) : 0;
        number = __shfl_sync(ALL, number, 0);
        if (number >= strips) return;
        uint32_t which = 0;
        while (which + 1 < count && slabs[which + 1].first_strip <= number) which++;
        strip(slabs[which], number, in, out, control);
    }
}
