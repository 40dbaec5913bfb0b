/* limits.h: every limit that the CUDA code and the Rust code must agree on, once.
 *
 * hybz_get_limits (hybz.h) hands these numbers to Rust, where a unit test (src/gpu/ffi.rs) compares each of them with
 * the constant that Rust uses. The format's own limits belong to src/format/bzip2.rs.
 */
#ifndef HYBZ_LIMITS_H
#define HYBZ_LIMITS_H

/* What a lane accepts. */
#define HYBZ_MIN_LENGTH 64              /* of a block, in bytes */
#define HYBZ_MAX_LENGTH 1048576         /* of a block, in bytes: the index of a rotation takes 20 bits */
#define HYBZ_MAX_WIDE_LENGTH 1073741824 /* the same for HYBZ_SUFFIXES; all blocks of a lane together: less than 2^31 */
#define HYBZ_MAX_BLOCKS 512             /* blocks in a batch */
#define HYBZ_MAX_ROUNDS 32 /* doubling sorts any primitive block of 2^20 bytes in 20 rounds, suffixes of 2^30 in 30 */

/* What bzip2's format fixes. */
#define HYBZ_MAX_SYMBOLS 258 /* of an alphabet: RUNA, RUNB, ranks 1 to 255, EOB */
#define HYBZ_MAX_TABLES 6    /* Huffman tables of a block */
#define HYBZ_GROUP 50        /* symbols that one selector covers */
#define HYBZ_MAX_CODE 17     /* bits of the longest code that bzip2 1.0.8 writes */

#define HYBZ_MAX_ROWS 900000 /* of a block of any level */
#define HYBZ_MAX_GROUPS 18002 /* groups of a block: bzip2 ignores further selectors */

/* The most bytes of codes and selectors that a lane returns for a block of `length` bytes, a multiple of 4. */
#define HYBZ_CODED_BYTES(length) (((length) + (length) / 4 + 128) / 4 * 4)

#endif
