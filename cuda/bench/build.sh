#!/bin/sh
# Builds the bench for one architecture: cuda/bench/build.sh OUT [nvcc options], with CUDA_HOME as in install-nvcc.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
cuda=$here/..
"${CUDA_HOME:?set it to the CUDA toolkit}/bin/nvcc" -std=c++17 -O3 -lineinfo -arch="${HYBZ_CUDA_ARCH:-sm_90}" -cudart static -L "$CUDA_HOME/lib" \
    -Xcompiler -static-libstdc++,-static-libgcc "$@" -o "$out" "$here/main.cu" "$cuda/keys.cu" "$cuda/sort.cu" "$cuda/group.cu" \
    "$cuda/refine.cu" "$cuda/thirds.cu" "$cuda/mtf.cu" "$cuda/tables.cu" "$cuda/bits.cu" "$cuda/resident.cu" "$cuda/suffixes.cu" "$cuda/lane.cu"
