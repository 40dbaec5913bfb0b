#!/bin/sh
# Builds a program with all kernels and lanes, run on a CPU: cuda/sim/emulate.sh OUT SOURCE... [compiler options]
# A launch, kernel<<<grid, threads, 0, stream>>>(arguments), is the only syntax that is not C++: it becomes a call.
#
# EMULATE_FLAGS has options for the kernels, too.
# EMULATED=FOLDER keeps the compiled kernels there for the next program; remove the folder after a change.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
all=$here/../../theses/funasaka/cuda
flags="-std=c++17 -O2 -Wall -Wno-unknown-pragmas -pthread ${EMULATE_FLAGS:-}"
if [ -n "${EMULATED:-}" ]; then
    made=$EMULATED
    mkdir -p "$made"
else
    made=$(mktemp -d)
    trap 'rm -r "$made"' EXIT
fi
if [ ! -e "$made/kernels.a" ]; then
    for step in "$here"/../*.cu "$all"/*.cu; do
        sed 's/\([a-z0-9_]*\)<<<\(.*\), 0, stream>>>(/emulated::launch(stream, \1, \2, /' "$step" \
            >"$made/$(basename "$step" .cu).cpp"
    done
    printf '%s\n' "$made"/*.cpp | xargs -P "$(nproc)" -I '{}' \
        g++ $flags -I "$here/emulated" -iquote "$here/.." -iquote "$here/../bench" -iquote "$all" -c -o '{}.o' '{}'
    ar rcs "$made/kernels.a" "$made"/*.cpp.o
fi
g++ $flags -I "$here/emulated" -iquote "$here/.." -iquote "$here/../bench" -o "$out" "$@" \
    "$made/kernels.a"
