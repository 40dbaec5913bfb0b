#!/bin/sh
# Builds coding.cpp with the kernels of the resident shape, run on a CPU: cuda/sim/coding.sh OUT [compiler options]
# A launch, kernel<<<grid, threads, 0, stream>>>(arguments), is the one thing that is no C++: it becomes a call.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
for step in mtf tables bits; do
    sed 's/\([a-z_]*\)<<<\(.*\), 0, stream>>>(/emulated::launch(\1, \2, /; s/#include "coding.cuh"/#include "..\/coding.cuh"/' \
        "$here/../$step.cu" >"$made/$step.cpp"
done
g++ -std=c++17 -O2 -Wall -Wno-unknown-pragmas "$@" -I "$here/emulated" -iquote "$here" -o "$out" "$here/coding.cpp" "$made"/*.cpp
