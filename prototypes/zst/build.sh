#!/bin/sh
# Builds the prototype: build.sh twin|emulated|device OUT
# With LIBSAIS, libsais's source tree (the one in the crate libsais-sys will do); device: CUDA_HOME as in
# ../../cuda/install-nvcc.sh. libzstd is Debian's libzstd-dev, linked statically.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=$1
out=$2
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
gcc -O2 -c "${LIBSAIS:?set it to the source of libsais}/src/libsais.c" -I "$LIBSAIS/include" -o "$made/libsais.o"
options="-std=c++17 -I $LIBSAIS/include"
libzstd=$(find /usr/lib -name libzstd.a | head -n 1)
case $what in
twin)
    g++ -O2 -Wall $options -o "$out" "$here"/twin.cpp "$here"/twin_main.cpp "$here"/frame.cpp "$made/libsais.o" \
        "$libzstd" -pthread
    ;;
emulated)
    for step in "$here"/*.cu; do
        sed 's/\([a-z0-9_]*\)<<<\(.*\), 0, stream>>>(/emulated::launch(\1, \2, /' "$step" \
            >"$made/$(basename "$step" .cu).cpp"
    done
    g++ -O2 -Wall -Wno-unknown-pragmas $options -I "$here/../../cuda/sim/emulated" -iquote "$here" -o "$out" \
        "$made"/*.cpp "$here"/twin.cpp "$here"/frame.cpp "$here"/bench_zst.cpp "$made/libsais.o" "$libzstd" -pthread
    ;;
device)
    "${CUDA_HOME:?set it to the CUDA toolkit}/bin/nvcc" -O3 -lineinfo -arch="${HYBZ_CUDA_ARCH:-sm_90}" $options \
        -cudart static -L "$CUDA_HOME/lib" -Xcompiler -static-libstdc++,-static-libgcc,-pthread -o "$out" \
        "$here"/*.cu "$here"/twin.cpp "$here"/frame.cpp "$here"/bench_zst.cpp "$made/libsais.o" "$libzstd"
    ;;
*) exit 2 ;;
esac
