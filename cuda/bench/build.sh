#!/bin/sh
# Builds the bench for one architecture: cuda/bench/build.sh OUT [nvcc options], with CUDA_HOME as in install-nvcc.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
"${CUDA_HOME:?set it to the CUDA toolkit}/bin/nvcc" -std=c++17 -O3 -lineinfo -arch="${HYBZ_CUDA_ARCH:-sm_90}" \
    -cudart static -L "$CUDA_HOME/lib" -Xcompiler -static-libstdc++,-static-libgcc \
    "$@" -o "$out" "$here"/*.cpp "$here"/../*.cu "$here"/../../theses/funasaka/cuda/*.c*
