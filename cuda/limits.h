/* limits.h: every limit on which the CUDA code and the Rust code must agree, in one place.
 *
 * bindings.rs makes Rust's constants from them (src/abi.rs). The formats' own limits belong to the header.rs of hybz's
 * formats; hybz's src/station/gpu/same.rs asserts that both are equal.
 */
#ifndef HYBZ_LIMITS_H
#define HYBZ_LIMITS_H

/* The limits of a lane. */
#define HYBZ_MIN_LENGTH 64              /* of a block, in bytes */
#define HYBZ_MAX_LENGTH 1048576         /* of a block, in bytes: the index of a rotation takes 20 bits */
#define HYBZ_MAX_WIDE_LENGTH 1073741824 /* where suffixes are sorted; all blocks of a lane together: less than 2^31 */
#define HYBZ_MAX_BLOCKS 512             /* blocks in a batch */
#define HYBZ_MAX_ROUNDS 32 /* doubling sorts any primitive block of 2^20 bytes in 20 rounds, suffixes of 2^30 in 30 */

#define HYBZ_MAX_LARGE 64  /* blocks in a batch of HYBZ_DECODE_LARGE; all of them together have up to 2^30 rows */
#define HYBZ_MAX_ENTRY_LOG 16 /* a chain of 2^16 dependent loads takes 40 ms; hybz writes 15 */

/* The max number of lines of a HYBZ_LINES lane for this many bytes: texts with shorter lines are left to cores. */
#define HYBZ_MAX_LINES(bytes) ((bytes) / 6 + 64)
#define HYBZ_MAX_TEXT 4294901760 /* bytes of a HYBZ_LINES lane: 2^32 - 2^16 */
/* Bounds the rounds: at one byte a round, lines may take as many rounds as their longest common prefix has bytes. */
#define HYBZ_MAX_LINE_ROUNDS 1000000

#define HYBZ_LONGEST_TEXT 2097152 /* of a block that a HYBZ_DECODE lane expands, in bytes */

#define HYBZ_MAX_LZ4 4194304 /* bytes of an LZ4 block */
#define HYBZ_MAX_LZW 268435456 /* bytes of an LZW strip, of its codes and of its text: bits have 32-bit numbers */

/* Constants of `.hbz`. */
#define HYBZ_SEGMENT_LOG 16   /* a segment has 2^16 rows */
#define HYBZ_MIN_ENTRY_LOG 12 /* rows from entry point to entry point: 2^12 or more */
#define HYBZ_LARGE_TABLES 16  /* selectors of a block */
#define HYBZ_CLASSES 6        /* classes of tokens; each selector has a table for each */
#define HYBZ_TOKENS 26        /* of the alphabet */
#define HYBZ_JOINT 156        /* tokens with the class of the previous token: HYBZ_CLASSES * HYBZ_TOKENS */
#define HYBZ_TOKEN_LOG 11     /* a table of tokens has 2^11 states */
#define HYBZ_SELECTOR_LOG 8   /* a table of selectors has 2^8 */

/* Constants of bzip2's format. */
#define HYBZ_MAX_SYMBOLS 258 /* of an alphabet: RUNA, RUNB, ranks 1 to 255, EOB */
#define HYBZ_MAX_TABLES 6    /* Huffman tables of a block */
#define HYBZ_GROUP 50        /* symbols that one selector covers */
#define HYBZ_MAX_CODE 17     /* bits of the longest code that bzip2 1.0.8 writes */

#define HYBZ_MAX_ROWS 900000 /* of a block of any level */
#define HYBZ_MAX_GROUPS 18002 /* groups of a block: bzip2 ignores further selectors */

/* The size in bytes of a HYBZ_DECODE_LARGE lane's input: most payloads have a fifth of a byte for each row. */
#define HYBZ_LARGE_INPUT(blocks, rows) ((rows) / 2 + 16384 * (blocks) + 65536)

/* The max bytes of codes and selectors that a lane returns for a block of `length` bytes, a multiple of 4. */
#define HYBZ_CODED_BYTES(length) (((length) + (length) / 4 + 128) / 4 * 4)

/* The proof of a coded block (hybz_coded): numbers of words after those of its text, and what makes their weights. */
#define HYBZ_PROOF_HEAD 262144
#define HYBZ_PROOF_CODES 524288
#define HYBZ_PROOF_WEIGHT 2654435761

/* The two sorted lists of a block of a HYBZ_HYBRID lane: the words with their bits, and the bytes before their rows. */
#define HYBZ_THIRDS_WORDS(length) (2 * (((length) - (length) / 3) / 32 + 1))
#define HYBZ_THIRDS_BYTES(length) ((length) - (length) / 3 + ((length) + 2) / 3)

#endif
