#!/bin/sh
# Builds a program with all kernels and lanes, run on a CPU: cuda/sim/emulate.sh OUT SOURCE... [compiler options]
# A launch, kernel<<<grid, threads, 0, stream>>>(arguments), is the one thing that is not C++: it becomes a call.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
made=$(mktemp -d)
trap 'rm -r "$made"' EXIT
for step in "$here"/../*.cu "$here"/../bench/*.cu; do
    sed 's/\([a-z0-9_]*\)<<<\(.*\), 0, stream>>>(/emulated::launch(\1, \2, /' "$step" \
        >"$made/$(basename "$step" .cu).cpp"
done
g++ -std=c++17 -O2 -Wall -Wno-unknown-pragmas -pthread -I "$here/emulated" -iquote "$here/.." -iquote "$here/../bench" \
    -o "$out" "$made"/*.cpp "$@"
