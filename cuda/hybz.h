/* hybz.h: the door between hybz's Rust code (src/gpu/ffi.rs declares the same) and its CUDA code.
 *
 * A lane is one CUDA stream with all the device memory that a batch of blocks needs, taken once (an arena): a batch
 * allocates nothing. A lane is used by one thread at a time; different lanes, on one device or several, are independent.
 *
 * Every function returns 0, a CUDA error (positive: a cudaError_t), or one of the codes below (negative). After any
 * failure of a sort the lane must only be destroyed; after a sticky error (hybz_is_sticky) or a missed deadline not
 * even that: the context is lost, or still in use by the kernel that hangs, and the memory is left to the end of the process.
 */
#ifndef HYBZ_H
#define HYBZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HYBZ_ARGUMENT (-1)  /* a batch that the lane was not made for, or a block shorter than HYBZ_SHORTEST */
#define HYBZ_DEADLINE (-2)  /* the device did not finish in time */
#define HYBZ_PERIODIC (-3)  /* the sort does not end: a block is u repeated (the caller must not send such blocks) */

#define HYBZ_WRONG (-4)     /* what the device answers cannot be */

/* What a lane is for: `pipeline` of hybz_lane_create. */
#define HYBZ_BWT 0    /* hybz_lane_bwt: all rotations sorted */
#define HYBZ_HYBRID 1 /* hybz_lane_thirds: two thirds of them, and the rest from these; the CPU merges */
#define HYBZ_RESIDENT 2 /* hybz_lane_code: all rotations sorted, and the columns coded; the CPU writes headers */
#define HYBZ_SUFFIXES 3 /* hybz_lane_suffixes: all suffixes of large blocks sorted; the CPU codes */

#define HYBZ_SHORTEST 64     /* the shortest block, in bytes */
#define HYBZ_LONGEST 1048576 /* the longest block, in bytes: a rotation's index takes 20 bits */
#define HYBZ_LONGEST_WIDE 1073741824 /* the longest block of HYBZ_SUFFIXES; and all blocks of a lane together are less than 2^31 */
#define HYBZ_MOST_BLOCKS 512 /* the most blocks in a batch */
#define HYBZ_MOST_ROUNDS 32  /* 20 rounds of doubling sort any primitive block of 2^20 bytes, 30 any suffixes of 2^30 */
#define HYBZ_MOST_SYMBOLS 258 /* RUNA, RUNB, places 1 to 255, EOB */
#define HYBZ_MOST_TABLES 6    /* of code lengths, in a block */
#ifndef HYBZ_SMALL
#define HYBZ_SMALL 256       /* groups of up to this many tied rotations are sorted in shared memory; a power of two */
#endif

/* How to sort; hybz_tuning_default gives what measured fastest. The result does not depend on it. */
struct hybz_tuning {
    int32_t sort_bits;   /* bits of the first sort's keys, block id included: 40..56; each 8 cost one pass */
    int32_t coded;       /* 1: keys are order-1 coded; 0: raw bytes */
    int32_t steps;       /* steps of doubling that a round takes from one snapshot of the ranks: 1..3 */
    int32_t counting;    /* 1: groups of up to HYBZ_SMALL rotations are sorted in shared memory; 0: all by CUB */
};

/* What one round of refinement did. Times are in milliseconds of device time. */
struct hybz_round {
    uint32_t small;    /* rotations in groups sorted in shared memory */
    uint32_t large;    /* rotations in groups sorted by CUB */
    uint32_t resolved; /* rotations whose place became known */
    float small_ms, large_ms, commit_ms;
};

/* What one batch cost. */
struct hybz_report {
    uint64_t bytes;
    float table_ms;    /* host: the code table */
    float upload_ms, keys_ms, sort_ms, group_ms, download_ms;
    float thirds_ms; /* hybrid: from the sorted sample to what goes to the CPU */
    float mtf_ms, tables_ms, bits_ms; /* resident: columns to symbols, tables and selectors, codes */
    uint32_t tied_small, tied_large; /* rotations still tied after the first sort */
    uint32_t rounds;
    struct hybz_round round[HYBZ_MOST_ROUNDS];
};

/* One block, coded. */
struct hybz_coded {
    uint32_t origin;  /* the row in which the block itself stands (bzip2's origPtr) */
    uint32_t symbols; /* EOB included: a selector for each 50 of them */
    uint32_t tables;  /* 2..6 */
    uint32_t bits;    /* of all codes; 0: they take more than HYBZ_CODED_BYTES, and none are there */
    uint32_t at;      /* where the codes begin: (bits + 31) / 32 * 4 bytes, then the selectors, one byte each */
    uint32_t used[8]; /* bit c % 32 of word c / 32: whether byte c occurs */
    uint8_t lengths[HYBZ_MOST_TABLES][HYBZ_MOST_SYMBOLS]; /* of the codes of each table */
};

/* The most bytes of codes and selectors that a block of so many bytes has. */
#define HYBZ_CODED_BYTES(length) (((length) + (length) / 4 + 128) / 4 * 4)

struct hybz_lane;

struct hybz_tuning hybz_tuning_default(void);

/* Bytes of device memory that such a lane takes (CUB's temporary memory included; needs a device). */
int hybz_lane_bytes(int device, uint32_t most_blocks, uint32_t longest, int32_t pipeline, uint64_t *bytes);

/* Makes a lane for batches of up to most_blocks blocks of up to longest bytes each. *lane is NULL after a failure. */
int hybz_lane_create(int device, uint32_t most_blocks, uint32_t longest, int32_t pipeline, struct hybz_lane **lane);

/* The Burrows-Wheeler transforms of a batch of blocks: the last column of the sorted cyclic rotations, and the origin.
 *   tuning   how, or NULL
 *   blocks   1..most_blocks
 *   lengths  [0..blocks-1] HYBZ_SHORTEST..longest each
 *   text     [0..sum-1] the blocks back to back, pinned host memory; none may be periodic
 *   column   [0..sum-1] out: the last columns back to back, pinned host memory
 *   origins  [0..blocks-1] out: the row in which the block itself stands (bzip2's origPtr), any host memory
 *   deadline_ms  how long to wait for the device altogether
 *   report   out, or NULL
 * Returns when column and origins are filled. */
int hybz_lane_bwt(struct hybz_lane *lane, const struct hybz_tuning *tuning, uint32_t blocks, const uint32_t *lengths,
                  const uint8_t *text, uint8_t *column, uint32_t *origins, uint32_t deadline_ms,
                  struct hybz_report *report);

/* The same blocks, each turned to its least rotation: two sorted lists of rows for the CPU to merge (thirds.cu says what they are).
 * A block of n bytes has m = n - n/3 rows in the sample and t = (n + 2)/3 others.
 *   turns    [0..blocks-1] where in the turned block the original begins: less than its length
 *   keys     out, pinned: for each block [0..m-1] and [0..2t-1], back to back
 *   bytes    out, pinned: for each block the byte before each row, [0..m-1] and [0..t-1], back to back
 *   origins  [0..blocks-1] out: the row of the original, the rows numbered as in bytes */
int hybz_lane_thirds(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                     const uint8_t *text, uint32_t *keys, uint8_t *bytes, uint32_t *origins, uint32_t deadline_ms,
                     struct hybz_report *report);

/* The same blocks as for hybz_lane_bwt, coded all the way.
 *   coded   [0..blocks-1] out, any host memory
 *   bytes   out, pinned: codes and selectors of all blocks; room for HYBZ_CODED_BYTES of each
 *   filled  out: how many bytes that is */
int hybz_lane_code(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                   struct hybz_coded *coded, uint8_t *bytes, uint64_t *filled, uint32_t deadline_ms,
                   struct hybz_report *report);

/* Blocks of a lane for HYBZ_SUFFIXES: each as the text it is with an end mark below all bytes, of which all suffixes are sorted. So
 * any text does, periodic ones too. A block of n bytes has n + 1 rows; the first one is the mark's own.
 *   entry_log  1..30
 *   column   out, pinned: for each block [0..n] the byte before each row, back to back
 *   origins  [0..blocks-1] out: the row of the whole text, before which there is no byte (the column has a 0 there)
 *   entries  out, pinned: for each block the rows of the suffixes at multiples of 2^entry_log, the mark's row not counted: for
 *            every block as many as the longest of the batch has, of which its own come first */
int hybz_lane_suffixes(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                       uint32_t entry_log, uint8_t *column, uint32_t *origins, uint32_t *entries, uint32_t deadline_ms,
                       struct hybz_report *report);

/* sizeof(struct hybz_report) and of struct hybz_coded, so that the other side can check its declarations. */
size_t hybz_report_bytes(void);
size_t hybz_coded_bytes(void);

/* Gives everything back. NULL is allowed. */
int hybz_lane_destroy(struct hybz_lane *lane);

/* Pinned host memory that the CPU can also read at full speed (not write-combined), zeroed. */
int hybz_pinned_alloc(int device, size_t bytes, void **memory);
int hybz_pinned_free(void *memory, size_t bytes);

/* Whether a code means that the context is lost for this process. */
int hybz_is_sticky(int code);
/* A code in words; static memory. */
const char *hybz_error_text(int code);

#ifdef __cplusplus
}
#endif
#endif
