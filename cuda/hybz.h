/* hybz.h: the interface between hybz's Rust code and its CUDA code. bindings.rs makes the declarations of src/abi.rs
 * from this file.
 *
 * A lane is one CUDA stream with all the device memory that a batch of blocks needs, allocated once (an arena): a batch
 * allocates nothing. One thread at a time may use a lane; different lanes, on one device or several, are independent.
 *
 * Every function that returns an int returns 0, a CUDA error (positive: a cudaError_t) or one of the codes below
 * (negative). After any failure of a batch the lane may only be destroyed. After a sticky error (hybz_is_sticky) or a
 * timeout it must not even be destroyed: the context is lost, or a kernel that hangs still uses it, and its memory
 * stays allocated until the process ends.
 */
#ifndef HYBZ_H
#define HYBZ_H

#include "limits.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HYBZ_ARGUMENT (-1) /* a batch beyond the size of the lane, or a block shorter than HYBZ_MIN_LENGTH */
#define HYBZ_TIMEOUT (-2)  /* the device did not finish in time */
#define HYBZ_PERIODIC (-3) /* the sort does not end: a block is a repetition (callers must not send such blocks) */
#define HYBZ_WRONG (-4)    /* the device returned an impossible result */

/* The purpose of a lane: `pipeline` of hybz_lane_create. */
#define HYBZ_BWT 0      /* hybz_lane_bwt: sorts all rotations */
#define HYBZ_HYBRID 1   /* hybz_lane_thirds: sorts two thirds of the suffixes, derives the rest; the CPU merges */
#define HYBZ_RESIDENT 2 /* hybz_lane_code: sorts all rotations and codes the columns; the CPU writes headers */
#define HYBZ_SUFFIXES 3 /* hybz_lane_suffixes: sorts all suffixes of large blocks; the CPU codes */
#define HYBZ_DECODE 4   /* hybz_lane_decode: decodes blocks */
#define HYBZ_DECODE_LARGE 5 /* hybz_lane_decode_large: decodes blocks of .hbz streams up to their codes */
#define HYBZ_CODE_LARGE 6 /* hybz_lane_tokens and later steps: codes blocks of .hbz streams up to their segments */
#define HYBZ_LINES 7 /* hybz_lane_lines: sorts lines */
#define HYBZ_FACTOR 8 /* hybz_lane_factor: exact LZ77 factors; lanes for one block */
#define HYBZ_LZ4 9    /* hybz_lane_lz4: decodes LZ4 blocks; max_length is not used */
#define HYBZ_STRIPS 10 /* hybz_lane_strips: decodes strips of LZW; max_length is the bytes of codes of all strips */

/* Counts and times of one round of refinement. Times are in milliseconds of device time. */
struct hybz_round {
    uint32_t small;    /* rotations in groups sorted in shared memory */
    uint32_t large;    /* rotations in groups sorted by CUB */
    uint32_t resolved; /* rotations whose row became final */
    float small_ms, large_ms, commit_ms;
};

/* The timed steps of a batch. Rust uses the same names. */
enum hybz_step {
    HYBZ_STEP_UPLOAD,
    HYBZ_STEP_KEYS,
    HYBZ_STEP_SORT,
    HYBZ_STEP_GROUP,
    HYBZ_STEP_SMALL_ROUNDS, /* all rounds: small groups, in shared memory */
    HYBZ_STEP_LARGE_ROUNDS, /* large groups, by radix sort */
    HYBZ_STEP_COMMITS,      /* new ranks */
    HYBZ_STEP_THIRDS,       /* hybrid: from the sorted sample to the data for the CPU */
    HYBZ_STEP_MTF,          /* resident: columns to symbols */
    HYBZ_STEP_TABLES,       /* resident: tables and selectors */
    HYBZ_STEP_CODES,        /* resident */
    HYBZ_STEP_PROOF,        /* resident */
    HYBZ_STEP_SYMBOLS,      /* decode: codes to symbols */
    HYBZ_STEP_COLUMNS,      /* decode: symbols to columns */
    HYBZ_STEP_VECTOR,       /* decode, .hbz: columns to vectors; then the walk has only the walk */
    HYBZ_STEP_WALK,         /* decode: columns to run-length-coded text */
    HYBZ_STEP_EXPAND,       /* decode: run-length-coded text to text */
    HYBZ_STEP_DOWNLOAD,
    HYBZ_STEPS
};

/* The cost of one batch. Times are in milliseconds of device time, except for table_ms. */
struct hybz_report {
    uint64_t bytes;
    float table_ms; /* on the host: the code table */
    float ms[HYBZ_STEPS];
    uint32_t tied_small, tied_large; /* rotations still tied after the first sort */
    uint32_t rounds;
    struct hybz_round round[HYBZ_MAX_ROUNDS];
};

/* A coded block. */
struct hybz_coded {
    uint32_t origin;  /* the row of the block itself (bzip2's origPtr) */
    uint32_t symbols; /* EOB included: there is a selector for each 50 of them */
    uint32_t tables;  /* 2..6 */
    uint32_t bits;    /* of all codes; 0: the codes take more than HYBZ_CODED_BYTES and are missing */
    uint32_t at;      /* offset of the codes: (bits + 31) / 32 * 4 bytes, then the selectors, one byte each */
    uint32_t used[8]; /* bit c % 32 of word c / 32: whether byte c occurs */
    uint8_t lengths[HYBZ_MAX_TABLES][HYBZ_MAX_SYMBOLS]; /* code lengths of each table; otherwise zeros */
    uint64_t proof; /* 0: none; otherwise the codes have been proven to stand for the text, and this is the sum of all
                       words of the text (numbers 0..), of this structure up to here (HYBZ_PROOF_HEAD..), and of codes
                       and selectors (HYBZ_PROOF_CODES..): word i times (2 * i + 1) * HYBZ_PROOF_WEIGHT mod 2^32, and
                       all of it mod 2^64. A last word that is not full ends with zeros. */
};

/* A block to decode: what the CPU has read in its header. All offsets are in the batch's input. */
struct hybz_block {
    uint32_t at;           /* the byte at which its bits begin, a multiple of 4 */
    uint32_t first_bit;    /* the first bit of its codes, counted from there */
    uint32_t end_bit;      /* the end of its bits; less than 2^31 */
    uint32_t selectors_at; /* the byte at which its selectors begin, one byte each */
    uint32_t selectors;    /* 1..18002 */
    uint32_t origin;
    uint32_t limit;        /* its max number of rows, up to HYBZ_MAX_ROWS */
    uint32_t symbols;      /* of its alphabet: 3..258 */
    uint32_t tables;       /* 2..6 */
    uint8_t used[256];     /* the bytes in use, ascending: the first move-to-front list; then anything */
    uint8_t lengths[HYBZ_MAX_TABLES][HYBZ_MAX_SYMBOLS]; /* code lengths of each table, 1..20 */
};

/* The result for a block. */
struct hybz_decoded {
    uint32_t odd;     /* not 0: the block is unusual or wrong in some way; the other fields are undefined */
    uint32_t end_bit; /* the bit after its last code */
    uint32_t rows;    /* bytes of run-length-coded text */
    uint32_t at;      /* the offset of its output in that of the batch */
    uint32_t length;  /* of its output */
    uint32_t expanded; /* not 0: the output is the text, up to HYBZ_LONGEST_TEXT bytes; 0: it is run-length-coded */
};

/* A segment of a block of a `.hbz` stream, as the directory of its payload has it. */
struct hybz_segment {
    uint32_t at;     /* its offset in the batch's input */
    uint32_t bytes;
    uint32_t tokens; /* 1 to its number of rows */
};

/* A block of a `.hbz` stream: its payload, as the CPU has read it up to its segments. All offsets are in
 * the batch's input, multiples of 4. */
struct hybz_large {
    uint32_t rows;        /* 1 or more */
    uint32_t base;        /* position of its rows among those of all blocks: a multiple of 16 */
    uint32_t entry_log;   /* rows from entry point to entry point: HYBZ_MIN_ENTRY_LOG to HYBZ_MAX_ENTRY_LOG */
    uint32_t selectors;   /* 1..HYBZ_LARGE_TABLES */
    uint32_t segments_at; /* a hybz_segment for each 2^HYBZ_SEGMENT_LOG rows */
    uint32_t entries_at;  /* the first row of each 2^entry_log codes, 32 bits each */
    uint32_t shares_at;   /* the shares of the tables, 16 bits each: by selector and class HYBZ_TOKENS that add up to
                             2^HYBZ_TOKEN_LOG, then by selector as many as there are that add up to
                             2^HYBZ_SELECTOR_LOG */
    uint8_t list[256];    /* the codes in use, ascending: the first move-to-front list; then zeros */
};

/* For each token: 256 times the binary logarithm of (its number plus 1), rounded down. */
struct hybz_weights {
    uint32_t of[HYBZ_TOKENS];
};

/* A block's tokens. */
struct hybz_tokens {
    uint32_t used[8];   /* bit c % 32 of word c / 32: whether code c occurs */
    uint32_t tokens;    /* how many */
    uint32_t selectors; /* how many */
    uint32_t step;      /* one segment of this many is sampled, except in the last rounds */
};

/* The choices for a block's groups of 32 tokens. A joint token is the class of the previous token times HYBZ_TOKENS,
 * plus a token. */
struct hybz_tally {
    uint32_t tokens[HYBZ_LARGE_TABLES][HYBZ_JOINT];       /* by selector: how often each joint token occurs */
    uint32_t moves[HYBZ_LARGE_TABLES][HYBZ_LARGE_TABLES]; /* by the previous selector: how often each follows */
};

/* The costs of joint tokens and selectors. Those of 32 tokens and a selector add up to less than 2^16. */
struct hybz_prices {
    uint16_t tokens[HYBZ_JOINT + 1][HYBZ_LARGE_TABLES];       /* by joint token, with each selector; then zeros */
    uint16_t selectors[HYBZ_LARGE_TABLES][HYBZ_LARGE_TABLES]; /* by the selector before */
};

/* The shares of a block's tables, which add up to 2^HYBZ_TOKEN_LOG and 2^HYBZ_SELECTOR_LOG. */
struct hybz_shares {
    uint16_t tokens[HYBZ_LARGE_TABLES * HYBZ_CLASSES][HYBZ_TOKENS]; /* by selector and class */
    uint16_t selectors[HYBZ_LARGE_TABLES][HYBZ_LARGE_TABLES];       /* by the selector before */
};

/* An encoded segment. */
struct hybz_coded_segment {
    uint32_t bits; /* their number, after which zeros fill the last byte */
    uint32_t tokens;
};

struct hybz_lane;

/* Creates a lane for batches of up to max_blocks blocks of up to max_length bytes. *lane is NULL after a failure. */
int hybz_lane_create(int device, uint32_t max_blocks, uint64_t max_length, int32_t pipeline, struct hybz_lane **lane);

/* The Burrows-Wheeler transforms of a batch of blocks: the last column of the sorted cyclic rotations, and the origin.
 *   blocks      1..max_blocks
 *   lengths     [0..blocks-1] HYBZ_MIN_LENGTH..max_length each
 *   text        [0..sum-1] the blocks back to back, pinned host memory; none may be periodic
 *   column      [0..sum-1] out: the last columns back to back, pinned host memory
 *   origins     [0..blocks-1] out: the row of the block itself (bzip2's origPtr), any host memory
 *   timeout_ms  the total time to wait for the device
 *   report      out, or NULL
 * Returns when column and origins are filled. */
int hybz_lane_bwt(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                  uint8_t *column, uint32_t *origins, uint32_t timeout_ms, struct hybz_report *report);

/* The suffixes of any blocks, periodic or not: two sorted lists of rows for the CPU to merge (thirds.cu describes
 * them). A block of n bytes has m = n - n/3 rows in the sample and t = (n + 2)/3 others. The suffixes of a block that
 * was rotated to its least rotation have the order of its rotations.
 *   turns      [0..blocks-1] the position of the first entry point: less than the block's length
 *   entry_log  1..30
 *   bits       out, pinned: for each block twice m / 32 + 1 words, back to back
 *   bytes      out, pinned: for each block the byte before each row, [0..m-1] and [0..t-1], back to back
 *   entries    out, pinned: the rows of the positions `turn`, and every 2^entry_log-th after it, numbered as in bytes;
 *              each block has as many as the longest one may have, (length - 1 >> entry_log) + 1 */
int hybz_lane_thirds(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint32_t *turns,
                     const uint8_t *text, uint32_t entry_log, uint32_t *bits, uint8_t *bytes, uint32_t *entries,
                     uint32_t timeout_ms, struct hybz_report *report);

/* The same blocks as for hybz_lane_bwt, coded all the way.
 *   first   the first of the blocks of which proofs are wanted, and
 *   proofs  their number, at most blocks - first; short lanes have no memory for those of many blocks
 *   coded   [0..blocks-1] out, any host memory
 *   bytes   out, pinned: codes and selectors of all blocks; its size is HYBZ_CODED_BYTES for each
 *   filled  out: the number of these bytes */
int hybz_lane_code(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                   uint32_t first, uint32_t proofs, struct hybz_coded *coded, uint8_t *bytes, uint64_t *filled,
                   uint32_t timeout_ms, struct hybz_report *report);

/* Sorts all suffixes of each text, which is followed by an end mark below all bytes, on a HYBZ_SUFFIXES lane. Texts
 * may be periodic. A block of n bytes has n + 1 rows; the first one is the mark's own.
 *   entry_log  1..30
 *   column   out, pinned: for each block [0..n] the byte before each row, back to back
 *   origins  [0..blocks-1] out: the row of the whole text, which no byte precedes (the column has a 0 there)
 *   entries  out, pinned: for each block the rows of the suffixes at multiples of 2^entry_log, not counting the mark's
 *            row: every block has as many entries as the longest block of the batch; its own come first */
int hybz_lane_suffixes(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                       uint32_t entry_log, uint8_t *column, uint32_t *origins, uint32_t *entries, uint32_t timeout_ms,
                       struct hybz_report *report);

/* Codes blocks, as for hybz_lane_suffixes, on a HYBZ_CODE_LARGE lane. Coding takes three steps: this one,
 * hybz_lane_choose any number of times, and hybz_lane_segments.
 *   about    [0..blocks-1] out, any host memory
 *   tallies  [0..blocks-1] out, any host memory: the first choices
 *   entries  out, pinned: as for hybz_lane_suffixes */
int hybz_lane_tokens(struct hybz_lane *lane, uint32_t blocks, const uint32_t *lengths, const uint8_t *text,
                     uint32_t entry_log, const struct hybz_weights *weights, struct hybz_tokens *about,
                     struct hybz_tally *tallies, uint32_t *entries, uint32_t timeout_ms, struct hybz_report *report);

/* Chooses again, with these prices for each block, in all segments or the sampled ones, and counts. */
int hybz_lane_choose(struct hybz_lane *lane, const struct hybz_prices *prices, int32_t all, struct hybz_tally *tallies,
                     uint32_t timeout_ms, struct hybz_report *report);

/* Encodes all segments with these shares for each block. Every joint token that was counted must have a share in the
 * table of its selector, and every selector in that of the previous one.
 *   segments  out, any host memory: for all blocks, one for each 2^HYBZ_SEGMENT_LOG codes
 *   bytes     out, pinned: the segments' bytes, back to back
 *   room      the size of bytes
 *   filled    out: the number of bytes; 0 if they do not fit */
int hybz_lane_segments(struct hybz_lane *lane, const struct hybz_shares *shares, struct hybz_coded_segment *segments,
                       uint8_t *bytes, uint64_t room, uint64_t *filled, uint32_t timeout_ms,
                       struct hybz_report *report);

/* Decodes blocks, on a HYBZ_DECODE lane, whose max_length is its room for input in bytes per block. The device does not
 * judge blocks: bzip2 may accept a block that the device calls odd.
 *   heads    [0..blocks-1] any host memory
 *   input    [0..bytes-1] codes and selectors, pinned; 8 bytes after each block's last bit belong to the input
 *   decoded  [0..blocks-1] out, any host memory
 *   text     out, pinned: their texts, where they have room and their runs are found; else run-length-coded texts
 *   room     the size of text: at least HYBZ_MAX_ROWS bytes for each of max_blocks, at most four times as many
 *   filled   out: the number of bytes written to it */
int hybz_lane_decode(struct hybz_lane *lane, uint32_t blocks, const struct hybz_block *heads, const uint8_t *input,
                     uint64_t bytes, struct hybz_decoded *decoded, uint8_t *text, uint64_t room, uint64_t *filled,
                     uint32_t timeout_ms, struct hybz_report *report);

/* Decodes blocks of `.hbz` streams into their codes, on a HYBZ_DECODE_LARGE lane: all blocks together have up to
 * max_blocks * max_length rows, and HYBZ_LARGE_INPUT bytes of input. Blocks may have different lengths.
 *   blocks   1..max_blocks
 *   heads    [0..blocks-1] any host memory
 *   input    [0..bytes-1] pinned
 *   odd      [0..blocks-1] out, any host memory: not 0: the block is unusual or wrong in some way, and its codes
 *            are undefined
 *   codes    out, pinned: at each block's base a byte for each row: the codes in the order of the text */
int hybz_lane_decode_large(struct hybz_lane *lane, uint32_t blocks, const struct hybz_large *heads,
                           const uint8_t *input, uint64_t bytes, uint32_t *odd, uint8_t *codes, uint32_t timeout_ms,
                           struct hybz_report *report);

/* Flags for sorting lines. */
#define HYBZ_LINES_REVERSE 1  /* descending */
#define HYBZ_LINES_UNIQUE 2   /* one of equal lines */

/* The cost of a batch of lines. Times are in milliseconds of device time. */
struct hybz_lines_report {
    uint64_t bytes;
    uint64_t sorted_again; /* lines, in all rounds */
    uint32_t lines;
    uint32_t tied; /* after the first sort */
    uint32_t rounds;
    float upload_ms, find_ms, keys_ms, sort_ms;
    float settle_ms; /* from the first sort to the list of ties; sorts small groups */
    float rounds_ms; /* all rounds */
    float place_ms, copy_ms, download_ms;
};

/* Sorts the lines of each range of a text by their bytes, on a HYBZ_LINES lane; a batch may have max_blocks ranges and
 * max_blocks * max_length bytes in all, in up to HYBZ_MAX_LINES lines.
 *   lengths        [0..ranges-1] bytes of each range, at least 1; each ends with a line
 *   text           the ranges back to back, any host memory (pinned memory is faster)
 *   end            the byte that ends a line
 *   flags          HYBZ_LINES_...
 *   sorted         out: the sorted ranges back to back; its size is that of the text
 *   sorted_lengths [0..ranges-1] out */
int hybz_lane_lines(struct hybz_lane *lane, uint32_t ranges, const uint32_t *lengths, const uint8_t *text, uint32_t end,
                    uint32_t flags, uint8_t *sorted, uint32_t *sorted_lengths, uint32_t timeout_ms,
                    struct hybz_lines_report *report);
/* Like hybz_lane_lines, for one range from device memory to device memory. */
int hybz_lane_lines_on_device(struct hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t end,
                              uint32_t flags, uint8_t *sorted, uint32_t *sorted_length, uint32_t timeout_ms,
                              struct hybz_lines_report *report);
/* Like hybz_lane_lines, for one range from host memory to device memory: `kept` has `length` bytes on this lane's
 * device. After the call, other lanes of the device may read it. */
int hybz_lane_lines_keep(struct hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t end, uint8_t *kept,
                         uint32_t timeout_ms, struct hybz_lines_report *report);

/* A part of a range that is in device memory already. */
struct hybz_slice {
    const uint8_t *text;
    uint64_t length;
};

/* Like hybz_lane_lines, for ranges in parts: the first host_lengths[r] bytes of each range are in `text`, back to back;
 * then come counts[r] slices. `slices` has those of all ranges one after another. */
int hybz_lane_lines_gather(struct hybz_lane *lane, uint32_t ranges, const uint32_t *lengths,
                           const uint32_t *host_lengths, const uint8_t *text, const uint32_t *counts,
                           const struct hybz_slice *slices, uint32_t end, uint32_t flags, uint8_t *sorted,
                           uint32_t *sorted_lengths, uint32_t timeout_ms, struct hybz_lines_report *report);

/* A factor of a text. */
struct hybz_factor {
    uint32_t source; /* position of its source (of two, the one whose suffix is smaller), or a letter */
    uint32_t length; /* 0: a letter that has not occurred before */
};

/* The results for a text. */
struct hybz_factor_counts {
    uint32_t factors;
    uint32_t runs; /* of equal letters in the Burrows-Wheeler transform of the text and an end mark */
};

/* The cost of a text. Times are in milliseconds of device time, except for table_ms. */
struct hybz_factor_report {
    uint64_t bytes;
    uint32_t rounds; /* of the sort */
    float table_ms;  /* on the host: the code table */
    float upload_ms, sort_ms, neighbours_ms, longest_ms, path_ms, runs_ms;
};

/* Finds the exact LZ77 factors of a text, on a HYBZ_FACTOR lane (max_blocks must be 1). They stay on the device.
 *   length     HYBZ_MIN_LENGTH..max_length
 *   text       any host memory (pinned memory is faster)
 *   divisions  0 or 1: exact. Otherwise factors are cut at the ends of this many equal divisions (PLZ of Ching 2014:
 *              for benches); a source is then the source of the uncut factor
 *   runs       not 0: the runs are wanted as well
 *   counts     out */
int hybz_lane_factor(struct hybz_lane *lane, uint32_t length, const uint8_t *text, uint32_t divisions, int32_t runs,
                     struct hybz_factor_counts *counts, uint32_t timeout_ms, struct hybz_factor_report *report);
/* Copies some of the last text's factors into host memory (pinned memory is faster). */
int hybz_lane_factors(struct hybz_lane *lane, uint32_t from, uint32_t count, struct hybz_factor *factors,
                      uint32_t timeout_ms);

/* An LZ4 block. */
struct hybz_lz4_block {
    uint64_t from, to; /* the first byte of the block in the input, and of its text in the output */
    uint32_t coded, length; /* bytes of both; a text has at most HYBZ_MAX_LZ4 */
    uint32_t plain; /* not 0: the block is not compressed */
    uint32_t unused;
};

/* Decodes LZ4 blocks, which are independent, on a HYBZ_LZ4 lane (lz4.cu), from device memory to device memory. Blocks
 * are in ascending order on both sides; gaps are allowed.
 *   from_host  NULL, or host memory (pinned memory is faster) with the input, which is copied to `in`: copying and
 *              decoding overlap
 *   status     [0..count-1] out, any host memory: 0: valid; 1: damaged, so that its part of the output is undefined */
int hybz_lane_lz4(struct hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_bytes,
                  const struct hybz_lz4_block *blocks, uint32_t count, uint8_t *out, uint64_t out_bytes,
                  uint32_t *status, uint32_t timeout_ms);

/* A strip of a TIFF file, coded with LZW. */
struct hybz_lzw_strip {
    uint64_t from, to; /* the first byte of the strip in the input, and of its text in the output */
    uint32_t coded, length; /* bytes of both, at most HYBZ_MAX_LZW */
};
#define HYBZ_LZW_RIGHT 0
#define HYBZ_LZW_START 1  /* the strip does not begin with a clear */
#define HYBZ_LZW_CODE 2   /* `code` occurs where only codes below `known` are defined */
#define HYBZ_LZW_TABLE 3  /* more codes than a table can have */
#define HYBZ_LZW_LENGTH 4 /* the strip ends after `code` bytes of text */
/* The result for a strip. */
struct hybz_lzw_found {
    uint32_t status, code, known; /* HYBZ_LZW_...; what it says of the code, or the length of the text */
};
/* From now on texts hold differences (TIFF's predictor 2), which are undone: rows of `row` bytes, at most HYBZ_MAX_LZW,
 * and pixels of `pixel` bytes, 1 to 4, that divide a row. After a call with `row` 0 texts are plain again. */
int hybz_lane_differences(struct hybz_lane *lane, uint32_t pixel, uint32_t row);
/* Decodes strips, on a HYBZ_STRIPS lane (lzw.cu), from device memory to device memory. Their texts are in ascending
 * order in the output; gaps are allowed.
 *   from_host  NULL, or any host memory with the input, which is copied to `in`
 *   to_host    NULL, or any host memory that receives the output; gaps between the texts are overwritten too
 *   found      [0..count-1] out, any host memory. The text of a damaged strip is written up to the damage, except for
 *              HYBZ_LZW_START. */
int hybz_lane_strips(struct hybz_lane *lane, const uint8_t *from_host, uint8_t *in, uint64_t in_bytes,
                     const struct hybz_lzw_strip *strips, uint32_t count, uint8_t *out, uint64_t out_bytes,
                     uint8_t *to_host, struct hybz_lzw_found *found, uint32_t timeout_ms);

/* Frees everything. NULL is allowed. */
int hybz_lane_destroy(struct hybz_lane *lane);

/* Makes a device the thread's current one, and creates its context. */
int hybz_device_use(int device);

/* Zeroed host memory for hybz_pinned_alloc, or null. The driver allocates pinned memory page by page and for one
 * thread at a time, which takes half a second for eight lanes. So each lane's thread touches its own memory, in huge
 * pages, while one thread creates the context; the driver then only has to pin that memory. */
void *hybz_touched_alloc(size_t bytes);
void hybz_touched_free(void *touched, size_t bytes);

/* Pinned host memory that the CPU can also read at full speed (not write-combined), zeroed: `touched`, or other
 * memory if that is null or cannot be pinned. If other memory is returned, `touched` is freed. */
int hybz_pinned_alloc(int device, size_t bytes, void *touched, void **memory);
int hybz_pinned_free(void *memory, size_t bytes);

/* Device memory that lanes share. Freeing waits for all work of the device. */
int hybz_device_alloc(int device, uint64_t bytes, void **memory);
int hybz_device_free(int device, void *memory);

/* Whether a code means that the context is lost for this process. */
int hybz_is_sticky(int code);
/* A description of a code; static memory. */
const char *hybz_error_text(int code);

#ifdef __cplusplus
}
#endif
#endif
