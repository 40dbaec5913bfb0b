// hybz's C interface; docs/C.md explains it. cbindgen makes this file from crates/capi/src: do not edit it.
//
// For every function: a handle is null, or the library has made it and the caller has not freed it. An array has as
// many bytes as the length after it says. A pointer to a result points to writable memory. `error` is null or points
// to HYBZ_ERROR_SIZE bytes, which get the error's text. A null that is not allowed is the error HYBZ_ARGUMENT.

#ifndef HYBZ_H
#define HYBZ_H

#include <stddef.h>
#include <stdint.h>

// The size of the buffer for an error's text, in bytes, including the zero at its end.
#define HYBZ_ERROR_SIZE 256

// What became of a call. Errors are negative.
enum hybz_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Everything that the call asked for is done.
  HYBZ_OK = 0,
  // The output buffer is full: call again, with more space and the rest of the input.
  HYBZ_MORE = 1,
  // An argument is null or out of its range, or the stream has been finished.
  HYBZ_ARGUMENT = -1,
  // A file cannot be opened or read, or a callback returned an error.
  HYBZ_IO = -2,
  // The input is in none of the formats that hybz reads.
  HYBZ_FORMAT = -3,
  // The input ends in the middle of a stream.
  HYBZ_TRUNCATED = -4,
  // The compressed data are damaged.
  HYBZ_DATA = -5,
  // A block needs more memory than the pool may use.
  HYBZ_MEMORY = -6,
  // The index is damaged, newer than this library, or another file's, or the file cannot have one.
  HYBZ_INDEX = -7,
  // The stream, reader or split was opened by the process that forked this one.
  HYBZ_FORKED = -8,
  // A defect of hybz.
  HYBZ_INTERNAL = -9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hybz_status hybz_status;
#else
typedef int32_t hybz_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What hybz_stream_code does in addition to taking input and giving output.
enum hybz_action
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing: output comes when it is ready, so threads work while the caller prepares the next call.
  HYBZ_RUN = 0,
  // Gives all output for the input so far. A compressor ends its block, as bzip2 does: do this rarely.
  HYBZ_FLUSH = 1,
  // Ends the stream, and gives all output. A decompressor's input must be complete.
  HYBZ_FINISH = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hybz_action hybz_action;
#else
typedef int32_t hybz_action;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A compressed file. Any number of threads, readers and splits may use it at a time.
typedef struct hybz_file hybz_file;

// The threads, and perhaps GPUs, that compress and decompress blocks. Any number of threads may use a pool at a time.
typedef struct hybz_pool hybz_pool;

// Reads the text of a file at any offset. Any number of threads may use it at a time.
typedef struct hybz_reader hybz_reader;

// Reads the text of the blocks that begin in a range of a file's bytes. Only one thread at a time may use it, but it
// need not always be the same one.
typedef struct hybz_split hybz_split;

// A stream to compress or decompress. Only one thread at a time may use it, but it need not always be the same one.
typedef struct hybz_stream hybz_stream;

// Reads up to `len` bytes at `offset`, as pread does: returns their number, 0 at the end, or a negative number for an
// error. It runs on the threads that call the library, on several at the same time if they read at the same time, and
// must neither unwind nor jump out.
typedef int64_t (*hybz_read_at)(void *context, uint8_t *out, size_t len, uint64_t offset);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0". It lives as long as the library.
const char *hybz_version(void);

// Makes a pool with this many threads (0: one for each core). If `gpus` is not 0 and the library was built for GPUs,
// the pool uses them, too. `memory` bounds the bytes of all pieces in flight (0: the number of threads decides).
hybz_status hybz_pool_new(uint32_t threads, int32_t gpus, uint64_t memory, hybz_pool **pool, char *error);

// Frees a pool. Its threads stay until the streams, readers and splits that use it are freed, too.
void hybz_pool_free(hybz_pool *pool);

// Compresses `len` bytes to one `.bz2` stream, the same bytes as bzip2 writes at this level, 1 to 9. If `pool` is
// null, the process's own pool is used, with a thread for each core. Free `out` with hybz_free.
hybz_status hybz_compress(const hybz_pool *pool,
                          int32_t level,
                          const uint8_t *in,
                          size_t len,
                          uint8_t **out,
                          size_t *out_len,
                          char *error);

// Decompresses `len` bytes: all consecutive streams, in any format that hybz reads. Bytes after the last stream are
// ignored, as by bzip2. Free `out` with hybz_free; it is null if the text is empty.
hybz_status hybz_decompress(const hybz_pool *pool,
                            const uint8_t *in,
                            size_t len,
                            uint8_t **out,
                            size_t *out_len,
                            char *error);

// Frees bytes that the library has handed out. `len` is their length.
void hybz_free(uint8_t *bytes, size_t len);

// Opens a file by its path, which is in UTF-8 where the system's paths are not bytes.
hybz_status hybz_file_open(const char *path, hybz_file **file, char *error);

// Makes a file of `len` bytes, whose contents a callback returns.
hybz_status hybz_file_new(hybz_read_at read_at, void *context, uint64_t len, hybz_file **file, char *error);

// The length of the file in bytes; 0 if `file` is null.
uint64_t hybz_file_len(const hybz_file *file);

// Frees a file. It stays open until its readers and splits are freed, too.
void hybz_file_free(hybz_file *file);

// Opens a file for hybz_reader_read. `index` has the `index_len` bytes of its index, a `.bzi` or lines of offsets. If
// it is null, the index inside the file is used; a `.bz2`, which has none, is decoded once.
hybz_status hybz_reader_open(const hybz_pool *pool,
                             const hybz_file *file,
                             const uint8_t *index,
                             size_t index_len,
                             hybz_reader **reader,
                             char *error);

// The length of the text in bytes; 0 if the reader is null.
uint64_t hybz_reader_text_len(const hybz_reader *reader);

// Reads `len` bytes of the text from `offset` on. `made` gets the number of bytes read, which is less than `len` only
// at the text's end or before a damaged block: a call that begins at that block returns the error.
hybz_status hybz_reader_read(const hybz_reader *reader,
                             uint64_t offset,
                             uint8_t *out,
                             size_t len,
                             size_t *made,
                             char *error);

// Gives the index of the reader's file, as a `.bzi`: keep it as FILE.bz2.bzi. Free `out` with hybz_free. If the file
// contains its index, this is the error HYBZ_INDEX.
hybz_status hybz_reader_index(const hybz_reader *reader, uint8_t **out, size_t *out_len, char *error);

// Frees a reader.
void hybz_reader_free(hybz_reader *reader);

// Computes `begin` and `end`, the offsets of split `number` (from 0), if a file of `len` bytes is read in `splits`
// splits of about the same length.
hybz_status hybz_split_bytes(uint64_t number, uint64_t splits, uint64_t len, uint64_t *begin, uint64_t *end);

// Opens the blocks of a `.bz2` file that begin in bytes `begin` to `end`, without an index. Each block of a file is
// in exactly one of its splits. If `lines` is not 0, each line is in exactly one split, too: the last line of a split
// is read to its end, in the blocks of the next splits. Nothing is read before the first hybz_split_read.
hybz_status hybz_split_open(const hybz_pool *pool,
                            const hybz_file *file,
                            uint64_t begin,
                            uint64_t end,
                            int32_t lines,
                            hybz_split **split,
                            char *error);

// Reads the next bytes, up to `len`. `made` gets their number, 0 at the end of the split (or if `len` is 0).
hybz_status hybz_split_read(hybz_split *split, uint8_t *out, size_t len, size_t *made, char *error);

// Frees a split.
void hybz_split_free(hybz_split *split);

// Begins to compress one `.bz2` stream at this level, 1 to 9, with the stations of `pool` (null: the process's own).
hybz_status hybz_stream_compress(const hybz_pool *pool, int32_t level, hybz_stream **stream, char *error);

// Begins to decompress all consecutive streams of an input.
hybz_status hybz_stream_decompress(const hybz_pool *pool, hybz_stream **stream, char *error);

// Takes input and writes output until the buffer is full. HYBZ_OK: all input is taken, and the action is done.
// HYBZ_MORE: the buffer is full; call again with the same action, the rest of the input and more space. `taken` and
// `made` get the numbers of bytes, even after an error. After damage each call returns the same error.
hybz_status hybz_stream_code(hybz_stream *stream,
                             int32_t action,
                             const uint8_t *in,
                             size_t in_len,
                             size_t *taken,
                             uint8_t *out,
                             size_t out_len,
                             size_t *made,
                             char *error);

// Frees a stream, finished or not. Work that is underway is cancelled.
void hybz_stream_free(hybz_stream *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HYBZ_H */
