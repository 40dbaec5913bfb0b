// Tests and times the lanes (hybz.h) on a device, without Rust: no registry, no build tools.
//
//     bench check [LENGTH]       hybz_lane_bwt on every shape of up to LENGTH bytes, alone and in batches, against the
//                                reference sort; counts of rotations against the simulation
//     bench thirds [LENGTH]      hybz_lane_thirds: the same, periodic shapes too
//     bench code [LENGTH]        hybz_lane_code: the same, against the reference coding
//     bench suffixes [LENGTH]    hybz_lane_suffixes: the same, periodic shapes too
//     bench decode [LENGTH]      hybz_lane_decode: what the reference coding made becomes the shape again
//     bench large CASES          hybz_lane_decode_large on batches that a test of Rust has written: HYBZ_CASES=CASES
//                                cargo test --lib cases_for_the_kernels
//     bench coding CASES         hybz_lane_tokens and later steps, on batches that the same test has written: each
//                                step must give the results of a core
//     bench lines [LENGTH]       hybz_lane_lines on shapes of lines, against the standard library's sort
//     bench lines FILE RANGES [FLAGS]
//                                its device time on the file's lines, with HYBZ_LINES_ flags (a number)
//     bench lz4 CASES            hybz_lane_lz4 on blocks that a test of Rust has written and decoded:
//                                HYBZ_LZ4_CASES=CASES cargo test --lib lz4_cases
//     bench factor [LENGTH]      hybz_lane_factor on shapes, against one core
//     bench lzw CASES            hybz_lane_strips the same way: HYBZ_LZW_CASES=CASES cargo test --lib lzw_cases
//     bench lzw FILE STRIPS BYTES
//                                its throughput with STRIPS strips of BYTES bytes, and a core's
//     bench lzw FILE BYTES ROW FOLDER
//                                the time to load an image, with strips of BYTES bytes, from files in FOLDER, cold
//     bench all CASES            files of ALL, whole and damaged, against a plain twin: HYBZ_ALL_CASES=CASES
//                                cargo test -p theses-funasaka
//     bench all FILE STRIPS [FOLDER]
//                                the time to decode STRIPS strips of a file that `theses funasaka all` has written; or
//                                to load them from files in FOLDER, cold, into device memory
//     bench time FILE [BLOCKS]   device time a byte of hybz_lane_bwt on the file's blocks (run-length-coded as bzip2
//                                does), repeated up to BLOCKS (256)
//     bench resident FILE [BLOCKS]
//                                the same of hybz_lane_code, with proofs; the first 16 blocks against the reference
//                                coding
//
// cuda/sim/emulate.sh builds it for a CPU, where the checks of up to some thousand bytes take seconds.
#include "common.hpp"

using namespace hybz;

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const auto number = [&](int at, uint32_t otherwise) { return argc > at ? uint32_t(atoi(argv[at])) : otherwise; };
    if (what == "check") return check_bwt(number(2, ~0u));
    if (what == "thirds") return check_thirds(number(2, ~0u));
    if (what == "code") return check_coding(number(2, ~0u));
    if (what == "suffixes") return check_suffixes(number(2, ~0u));
    if (what == "decode") return check_decode(number(2, ~0u));
    if (what == "large" && argc > 2) return check_large(argv[2]);
    if (what == "coding" && argc > 2) return check_large_coding(argv[2]);
    if (what == "lines" && argc > 3) return time_lines(argv[2], number(3, 1), number(4, 0));
    if (what == "lines") return check_lines(number(2, ~0u));
    if (what == "lz4" && argc > 2) return check_lz4(argv[2]);
    if (what == "factor") return check_factor(number(2, ~0u));
    if (what == "all" && argc > 4) return load_all(argv[2], number(3, 1000), argv[4]);
    if (what == "all" && argc > 3) return time_all(argv[2], number(3, 1000));
    if (what == "all" && argc > 2) return check_all(argv[2]);
    if (what == "lzw" && argc > 5) return load_lzw(argv[2], number(3, 65536), number(4, 4096), argv[5]);
    if (what == "lzw" && argc > 4) return time_lzw(argv[2], number(3, 1000), number(4, 65536));
    if (what == "lzw" && argc > 2) return check_lzw(argv[2]);
    if (what == "time" && argc > 2) return time_bwt(argv[2], number(3, 256));
    if (what == "resident" && argc > 2) return time_coding(argv[2], number(3, 256));
    fprintf(stderr, "usage: see cuda/bench/main.cpp\n");
    return 2;
}
