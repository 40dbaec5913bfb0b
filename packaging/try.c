/* A program that uses libbz2: standard input, compressed at level 9, or with an argument decompressed, to stdout. */
#include <bzlib.h>
#include <stdio.h>

static char in[4 << 20], out[8 << 20];

int main(int argc, char **argv) {
    unsigned got = (unsigned)fread(in, 1, sizeof in, stdin), made = sizeof out;
    (void)argv;
    int code = argc > 1 ? BZ2_bzBuffToBuffDecompress(out, &made, in, got, 0, 0)
                        : BZ2_bzBuffToBuffCompress(out, &made, in, got, 9, 0, 30);
    return code == BZ_OK && fwrite(out, 1, made, stdout) == made ? 0 : 1;
}
