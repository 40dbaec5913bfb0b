#!/bin/sh
# Builds the theses' kernels: build.sh OUT for a device, with CUDA_HOME as in cuda/install-nvcc.sh; or build.sh OUT
# emulated for a CPU, with the header that stands in for CUDA's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${2:-}" = emulated ]; then
    made=$(mktemp -d)
    trap 'rm -r "$made"' EXIT
    for step in "$here"/*.cu; do
        sed 's/\([a-z0-9_]*\)<<<\(.*\), 0, stream>>>(/emulated::launch(stream, \1, \2, /' "$step" \
            >"$made/$(basename "$step" .cu).cpp"
    done
    g++ -std=c++17 -O2 -Wall -Wno-unknown-pragmas -I "$here/../../cuda/sim/emulated" -iquote "$here" -o "$1" \
        "$here/main.cpp" "$made"/*.cpp
else
    "${CUDA_HOME:?set it to the CUDA toolkit}/bin/nvcc" -std=c++17 -O3 -lineinfo -arch="${HYBZ_CUDA_ARCH:-sm_90}" \
        -cudart static -L "$CUDA_HOME/lib" -Xcompiler -static-libstdc++,-static-libgcc -o "$1" "$here"/*.cpp \
        "$here"/*.cu
fi
