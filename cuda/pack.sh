#!/bin/sh
# Bundles everything needed to try, test and measure hybz on a GPU machine without Rust (and nvcc):
#
#     CUDA_HOME=target/cuda cuda/pack.sh target/pack    # here
#     ./hybz --gpu-required -vv FILE                    # or: ./test-hybz gpu; ./test-hysort gpu; ./bench-gpu FILE 8000
#
# All files are stripped, and take a dozen megabytes. HYBZ_CUDA_ARCHS (see cuda/kernels.rs) makes them smaller and the
# build faster.
set -eu
if [ $# -ne 1 ]; then
    echo "usage: $0 DIRECTORY" >&2
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
# cargo names the files that it built: `Executable benches/gpu.rs (DIRECTORY/gpu-0123456789abcdef)`.
built() { sed -n 's/.*Executable.*(\(.*\))$/\1/p'; }
pack() { # prefix; paths on stdin
    while read -r path; do
        strip -o "$out/$1$(basename "$path" | sed 's/-[0-9a-f]\{16\}$//')" "$path"
    done
}
cargo build --release --features cuda --bin hybz
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
echo "$target/release/hybz" | pack ""
lanes="-p hybz-gpu -p hybz-factor -p hybz-lz4-gpu -p hybz-tiff-lzw -p hybz -p hysort"
# shellcheck disable=SC2086 # words
cargo test --features cuda $lanes --lib --no-run 2>&1 | built | pack test-
cargo bench --features cuda --bench gpu --no-run 2>&1 | built | pack bench-
ls -l "$out"
