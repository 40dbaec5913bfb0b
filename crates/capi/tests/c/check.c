// Uses all of hybz.h, and checks it with the system's libbz2 in the same process: check PLACE.bz2 BYTES [fork]
#define _POSIX_C_SOURCE 200809L
#include <hybz.h>

#include "../../../libbz2/include/bzlib.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "check.c:%d: %s (%s)\n", __LINE__, #what, error); \
            exit(1); \
        } \
    } while (0)

typedef struct {
    uint8_t *bytes;
    size_t len;
} Bytes;

static _Thread_local char error[HYBZ_ERROR_SIZE] = "no error yet";
static Bytes text, coded;
static hybz_pool *pool;
static hybz_reader *reader;

// Lines of words, of few kinds.
static Bytes make_text(size_t len) {
    Bytes made = {malloc(len), len};
    uint32_t random = 1;
    for (size_t i = 0; i < len; i++) {
        random = random * 1664525 + 1013904223;
        made.bytes[i] = "etaoin shrdlu\n"[(random >> 24) * (random >> 28) % 14];
    }
    return made;
}

static int same(Bytes a, Bytes b) { return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0); }

// At levels 1, 5 and 9 libbz2 and hybz write the same bytes, and each library decompresses the other's.
static void like_libbz2(void) {
    for (int level = 1; level <= 9; level += 4) {
        unsigned theirs_len = text.len + text.len / 100 + 600, back_len = text.len;
        Bytes theirs = {malloc(theirs_len), 0}, ours, back = {malloc(text.len), text.len};
        char *from = (char *)text.bytes, *to = (char *)theirs.bytes;
        CHECK(BZ2_bzBuffToBuffCompress(to, &theirs_len, from, text.len, level, 0, 0) == 0);
        theirs.len = theirs_len;
        CHECK(hybz_compress(pool, level, text.bytes, text.len, &ours.bytes, &ours.len, error) == HYBZ_OK);
        CHECK(same(ours, theirs) && *error == 0);
        CHECK(BZ2_bzBuffToBuffDecompress((char *)back.bytes, &back_len, (char *)ours.bytes, ours.len, 0, 0) == 0);
        CHECK(back_len == text.len && same(back, text));
        hybz_free(ours.bytes, ours.len);
        CHECK(hybz_decompress(NULL, theirs.bytes, theirs.len, &ours.bytes, &ours.len, error) == HYBZ_OK);
        CHECK(same(ours, text));
        hybz_free(ours.bytes, ours.len);
        free(theirs.bytes);
        free(back.bytes);
    }
}

// The output of a stream for an input in pieces of `piece` bytes, with a buffer of `room` bytes for each call.
static Bytes through(hybz_stream *stream, Bytes input, size_t piece, size_t room, int32_t action) {
    const size_t most = 2 * text.len + room + 1000;
    Bytes out = {malloc(most), 0};
    for (size_t at = 0, last = 0; !last;) {
        last = input.len - at <= piece;
        Bytes rest = {input.bytes + at, last ? input.len - at : piece};
        at += rest.len;
        hybz_status status = HYBZ_MORE;
        while (status == HYBZ_MORE) {
            size_t taken, made;
            status = hybz_stream_code(stream, last ? HYBZ_FINISH : action, rest.bytes, rest.len, &taken,
                                      out.bytes + out.len, room, &made, error);
            CHECK(status >= 0 && taken <= rest.len && made <= room && (status == HYBZ_OK || made == room));
            rest.bytes += taken, rest.len -= taken, out.len += made;
            CHECK(out.len + room < most);
        }
        CHECK(rest.len == 0);
    }
    hybz_stream_free(stream);
    return out;
}

// Runs in several threads at the same time.
static void *streams(void *unused) {
    static const size_t sizes[][2] = {{1 << 20, 1 << 16}, {1000, 77}, {99999, 1 << 20}};
    for (int i = 0; i < 3; i++) {
        hybz_stream *stream;
        CHECK(hybz_stream_compress(pool, 1, &stream, error) == HYBZ_OK);
        Bytes made = through(stream, text, sizes[i][0], sizes[i][1], HYBZ_RUN);
        CHECK(same(made, coded));
        free(made.bytes);
        CHECK(hybz_stream_decompress(pool, &stream, error) == HYBZ_OK);
        made = through(stream, coded, sizes[i][0], sizes[i][1], i == 0 ? HYBZ_RUN : HYBZ_FLUSH);
        CHECK(same(made, text));
        free(made.bytes);
    }
    return unused;
}

// A compressor that is flushed makes the same bytes whatever its buffer's size, and what it has flushed can be read.
static void flushes(void) {
    Bytes made[2];
    for (int i = 0; i < 2; i++) {
        hybz_stream *stream;
        CHECK(hybz_stream_compress(pool, 9, &stream, error) == HYBZ_OK);
        made[i] = through(stream, text, text.len / 3, i == 0 ? text.len / 2 : 5, HYBZ_FLUSH);
    }
    Bytes back;
    CHECK(same(made[0], made[1]));
    CHECK(hybz_decompress(pool, made[0].bytes, made[0].len, &back.bytes, &back.len, error) == HYBZ_OK);
    CHECK(same(back, text));
    hybz_free(back.bytes, back.len);
    free(made[0].bytes);
    free(made[1].bytes);
}

static int64_t read_coded(void *fails, uint8_t *out, size_t len, uint64_t offset) {
    if (fails) return *(int64_t *)fails;
    size_t n = offset >= coded.len ? 0 : coded.len - offset < len ? coded.len - offset : len;
    if (n) memcpy(out, coded.bytes + offset, n);
    return n;
}

static void *ranges(void *unused) {
    uint8_t part[1000];
    for (uint64_t i = 0; i <= 40; i++) {
        uint64_t at = text.len * i / 40;
        size_t made, expected = text.len - at < sizeof part ? text.len - at : sizeof part;
        CHECK(hybz_reader_read(reader, at, part, sizeof part, &made, error) == HYBZ_OK && made == expected);
        CHECK(same((Bytes){part, made}, (Bytes){text.bytes + at, made}));
    }
    return unused;
}

static void in_threads(void *(*work)(void *)) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

// Reads a file by its path and by a callback; with an index that is built, and with one that is loaded.
static void readers(const char *path) {
    hybz_file *file;
    Bytes index[2];
    for (int i = 0; i < 2; i++) {
        CHECK(i || hybz_file_open(path, &file, error) == HYBZ_OK);
        CHECK(!i || hybz_file_new(read_coded, NULL, coded.len, &file, error) == HYBZ_OK);
        CHECK(hybz_file_len(file) == coded.len);
        Bytes known = i ? index[0] : (Bytes){NULL, 0};
        CHECK(hybz_reader_open(pool, file, known.bytes, known.len, &reader, error) == HYBZ_OK);
        hybz_file_free(file);
        CHECK(hybz_reader_text_len(reader) == text.len);
        in_threads(ranges);
        CHECK(hybz_reader_index(reader, &index[i].bytes, &index[i].len, error) == HYBZ_OK);
        hybz_reader_free(reader);
    }
    CHECK(same(index[0], index[1]));
    hybz_free(index[0].bytes, index[0].len);
    hybz_free(index[1].bytes, index[1].len);
}

static void splits(void) {
    hybz_file *file;
    CHECK(hybz_file_new(read_coded, NULL, coded.len, &file, error) == HYBZ_OK);
    for (int lines = 0; lines < 2; lines++) {
        Bytes all = {malloc(text.len + 1), 0};
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t begin, end;
            hybz_split *split;
            CHECK(hybz_split_bytes(i, 4, hybz_file_len(file), &begin, &end) == HYBZ_OK);
            CHECK(hybz_split_open(pool, file, begin, end, lines, &split, error) == HYBZ_OK);
            for (size_t made = 1; made; all.len += made)
                CHECK(hybz_split_read(split, all.bytes + all.len, text.len + 1 - all.len, &made, error) == HYBZ_OK);
            CHECK(!lines || all.len == text.len || all.bytes[all.len - 1] == '\n');
            hybz_split_free(split);
        }
        CHECK(same(all, text));
        free(all.bytes);
    }
    hybz_file_free(file);
}

// The status of decompressing, and no bytes.
static hybz_status refused(const uint8_t *bytes, size_t len) {
    Bytes out;
    hybz_status status = hybz_decompress(pool, bytes, len, &out.bytes, &out.len, error);
    CHECK(out.bytes == NULL && out.len == 0 && (*error || status == HYBZ_OK));
    return status;
}

static void errors(void) {
    Bytes out;
    size_t made, taken;
    hybz_file *file;
    hybz_stream *stream;
    CHECK(refused(coded.bytes, coded.len - 1) == HYBZ_TRUNCATED);
    CHECK(refused(text.bytes, text.len) == HYBZ_FORMAT && refused(NULL, 0) == HYBZ_TRUNCATED);
    CHECK(hybz_compress(pool, 9, NULL, 0, &out.bytes, &out.len, error) == HYBZ_OK && out.len == 14);
    CHECK(refused(out.bytes, out.len) == HYBZ_OK); // and no bytes
    hybz_free(out.bytes, out.len);
    coded.bytes[coded.len / 2] ^= 1;
    CHECK(refused(coded.bytes, coded.len) == HYBZ_DATA && strstr(error, "data integrity error in block"));
    coded.bytes[coded.len / 2] ^= 1;
    for (int32_t level = 0; level <= 10; level += 10)
        CHECK(hybz_compress(pool, level, text.bytes, 1, &out.bytes, &out.len, error) == HYBZ_ARGUMENT && !out.bytes);
    CHECK(strcmp(error, "the level must be 1 to 9") == 0);
    CHECK(hybz_file_open("/there/is/none", &file, error) == HYBZ_IO && file == NULL);
    CHECK(hybz_file_new(NULL, NULL, 1, &file, error) == HYBZ_ARGUMENT);
    int64_t returned[] = {-5, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        CHECK(hybz_file_new(read_coded, &returned[i], 100, &file, error) == HYBZ_OK);
        CHECK(hybz_reader_open(pool, file, NULL, 0, &reader, error) == HYBZ_IO && reader == NULL);
        hybz_file_free(file);
    }
    CHECK(hybz_file_new(read_coded, NULL, coded.len, &file, error) == HYBZ_OK);
    CHECK(hybz_reader_open(pool, file, text.bytes, text.len, &reader, error) == HYBZ_INDEX);
    hybz_file_free(file);
    CHECK(hybz_stream_decompress(pool, &stream, error) == HYBZ_OK);
    uint8_t room[10];
    CHECK(hybz_stream_code(stream, 3, NULL, 0, &taken, room, 10, &made, error) == HYBZ_ARGUMENT);
    for (size_t len = 9; len <= 9; len -= 9) // and again, without more input
        CHECK(HYBZ_TRUNCATED ==
              hybz_stream_code(stream, HYBZ_FINISH, coded.bytes, len, &taken, room, 10, &made, error));
    hybz_stream_free(stream);
    CHECK(hybz_stream_compress(pool, 1, &stream, error) == HYBZ_OK);
    for (int i = 0; i < 2; i++)
        CHECK(hybz_stream_code(stream, HYBZ_FINISH, text.bytes, i, &taken, room, 10, &made, NULL) ==
              (i ? HYBZ_ARGUMENT : HYBZ_MORE));
    hybz_stream_free(stream); // and the rest is not wanted
}

static void nulls(void) {
    uint8_t byte = 0;
    size_t n;
    uint64_t at;
    hybz_stream *stream;
    CHECK(hybz_compress(pool, 9, NULL, 1, &text.bytes, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_compress(pool, 9, &byte, 1, NULL, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_decompress(pool, &byte, 1, &text.bytes, NULL, error) == HYBZ_ARGUMENT);
    CHECK(hybz_decompress(pool, &byte, SIZE_MAX, &text.bytes, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_pool_new(0, 0, 0, NULL, error) == HYBZ_ARGUMENT);
    CHECK(hybz_file_open(NULL, NULL, error) == HYBZ_ARGUMENT && hybz_file_len(NULL) == 0);
    CHECK(hybz_reader_open(pool, NULL, NULL, 0, &reader, error) == HYBZ_ARGUMENT && hybz_reader_text_len(NULL) == 0);
    CHECK(hybz_reader_read(NULL, 0, &byte, 1, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_reader_index(NULL, &text.bytes, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_split_open(pool, NULL, 0, 1, 0, NULL, error) == HYBZ_ARGUMENT);
    CHECK(hybz_split_read(NULL, &byte, 1, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_split_bytes(0, 1, 1, NULL, &at) == HYBZ_ARGUMENT);
    CHECK(hybz_split_bytes(1, 1, 1, &at, &at) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_compress(pool, 9, NULL, NULL) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_code(NULL, HYBZ_RUN, &byte, 1, &n, &byte, 1, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_compress(NULL, 9, &stream, NULL) == HYBZ_OK);
    CHECK(hybz_stream_code(stream, HYBZ_RUN, NULL, 1, &n, &byte, 1, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_code(stream, HYBZ_RUN, NULL, 0, &n, NULL, 1, &n, error) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_code(stream, HYBZ_RUN, NULL, 0, &n, NULL, 0, NULL, error) == HYBZ_ARGUMENT);
    CHECK(hybz_stream_code(stream, HYBZ_RUN, NULL, 0, &n, NULL, 0, &n, error) == HYBZ_OK);
    hybz_stream_free(stream);
    hybz_stream_free(NULL), hybz_reader_free(NULL), hybz_split_free(NULL), hybz_file_free(NULL), hybz_pool_free(NULL);
    hybz_free(NULL, 1);
}

// A child can use pools and files. Streams, readers and splits of the parent are errors there.
static void forks(void) {
    hybz_stream *stream;
    hybz_file *file;
    hybz_split *split;
    size_t n;
    int status;
    uint8_t room[1];
    CHECK(hybz_stream_compress(pool, 1, &stream, error) == HYBZ_OK);
    CHECK(hybz_stream_code(stream, HYBZ_RUN, text.bytes, text.len, &n, room, 0, &n, error) >= 0);
    CHECK(hybz_file_new(read_coded, NULL, coded.len, &file, error) == HYBZ_OK);
    CHECK(hybz_reader_open(pool, file, NULL, 0, &reader, error) == HYBZ_OK);
    CHECK(hybz_split_open(pool, file, 0, coded.len, 0, &split, error) == HYBZ_OK);
    CHECK(hybz_split_read(split, room, 1, &n, error) == HYBZ_OK && n == 1);
    pid_t child = fork();
    if (child == 0) {
        alarm(300); // in case it waits for a thread that the child does not have
        do { // output made before the fork comes first
            status = hybz_stream_code(stream, HYBZ_RUN, text.bytes, 1, &n, room, 1, &n, error);
        } while (status == HYBZ_MORE);
        CHECK(status == HYBZ_FORKED);
        CHECK(hybz_reader_read(reader, 0, room, 1, &n, error) == HYBZ_FORKED);
        for (n = 1; n == 1;) status = hybz_split_read(split, room, 1, &n, error);
        CHECK(status == HYBZ_FORKED);
        CHECK(refused(coded.bytes, coded.len - 1) == HYBZ_TRUNCATED);
        CHECK(hybz_reader_open(pool, file, NULL, 0, &reader, error) == HYBZ_OK);
        ranges(NULL);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    hybz_stream_free(stream), hybz_reader_free(reader), hybz_split_free(split), hybz_file_free(file);
}

int main(int count, char **arguments) {
    CHECK(count >= 3);
    text = make_text(strtoul(arguments[2], NULL, 10));
    CHECK(hybz_pool_new(2, 1, 0, &pool, error) == HYBZ_OK);
    CHECK(hybz_compress(pool, 1, text.bytes, text.len, &coded.bytes, &coded.len, error) == HYBZ_OK);
    FILE *out = fopen(arguments[1], "wb");
    CHECK(out && fwrite(coded.bytes, 1, coded.len, out) == coded.len && fclose(out) == 0);
    like_libbz2();
    in_threads(streams);
    flushes();
    readers(arguments[1]);
    splits();
    errors();
    if (count > 3) forks();
    free(text.bytes);
    hybz_free(coded.bytes, coded.len);
    nulls();
    hybz_pool_free(pool);
    printf("hybz %s, libbz2 %s\n", hybz_version(), BZ2_bzlibVersion());
    return 0;
}
