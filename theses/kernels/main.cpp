// Kernels of the theses that hybz does otherwise, on the device present, each compared with a plain twin:
//
//     kernels reverse FILE [BYTES]        Patel's table 4.3: the reverse transform by the number of threads
//     kernels mtf FILE [BYTES]            Patel's figures 4.4 to 4.6: move-to-front by lists, both directions
//     kernels huffman FILE [BYTES]        Patel's figure 4.7: histogram, tree and coding
//     kernels ansv FILE [BYTES]           Ching's figure 4.3: nearest smaller values by the size of chunks
//     kernels lzw FILE [BYTES [TIFF]]     Funasaka's tables 4.3 to 4.5: rows of 4,096 bytes by LZW
//
// BYTES is how much of the file counts (1,000,000: Patel's blocks). build.sh builds it for a device; with the argument
// `emulated`, for a CPU.
#include "common.hpp"
#include <fstream>
#include <iterator>

int main(int argc, char **argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    const size_t bytes = argc > 3 ? size_t(atoll(argv[3])) : 1000000;
    theses::Text text;
    if (argc > 2) {
        std::ifstream file(argv[2], std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(file), {});
        text.resize(std::min(text.size(), bytes));
    }
    if (text.size() < 4096) {
        fprintf(stderr, "usage: kernels reverse | mtf | huffman | ansv | lzw FILE [BYTES], 4,096 bytes at least\n");
        return 2;
    }
    printf("# %s %s, %zu bytes\n", argv[1], argv[2], text.size());
    if (what == "reverse") return theses::reverse_bwt(text);
    if (what == "mtf") return theses::move_to_front(text);
    if (what == "huffman") return theses::huffman(text);
    if (what == "ansv") return theses::nearest_smaller(text);
    if (what == "lzw") return theses::lzw(text, argc > 4 ? argv[4] : nullptr);
    return 2;
}
