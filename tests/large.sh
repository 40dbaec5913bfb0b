#!/usr/bin/env bash
# Tests that are too large for `cargo test`: gigabytes of real data through the built command, judged by bzip2.
#
#   cargo build --release && tests/large.sh FILE...
#
# HYBZ_BINARY names another binary, SCRATCH another folder for the outputs, LEVELS="1 9" fewer levels than all nine.
#
# For each file: hybz's bytes against bzip2's at every level with 1, 2 and 7 threads, from the file and from a pipe; the
# decompression of the files that bzip2, lbzip2, pbzip2 and 7z write; peak memory with 2 threads. Then 3 GB through a
# pipe both ways, a bomb, and 2,000 small files against bzip2. Prints a line for each check that has passed, names
# missing programs, and stops at the first check that fails.
set -euo pipefail
hybz=$(readlink -f "${HYBZ_BINARY:-$(dirname "$0")/../target/release/hybz}")
scratch=$(mktemp -d "${SCRATCH:-/tmp}/hybz-large.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
levels=${LEVELS:-1 2 3 4 5 6 7 8 9}
for program in bzip2 cmp /usr/bin/time; do
  command -v "$program" >/dev/null || { echo "needs $program" >&2; exit 1; }
done
shown() { printf 'ok  %s\n' "$*"; }
has() { command -v "$1" >/dev/null || { printf 'skipped: %s is not installed\n' "$1"; false; }; }
# Peak resident memory in kB of a command whose output goes to a file.
peak() { local out=$1; shift; /usr/bin/time -f %M -o "$scratch/peak" "$@" >"$out"; cat "$scratch/peak"; }
under() { [ "$1" -lt "$2" ] || { echo "FAILED: $3: $1 kB, wanted under $2"; exit 1; }; shown "$3: $1 kB"; }

for file in "$@"; do
  for level in $levels; do
    bzip2 -c"$level" "$file" >"$scratch/bzip2"
    for threads in 1 2 7; do
      "$hybz" -c -"$level" -p$threads "$file" | cmp - "$scratch/bzip2"
      # shellcheck disable=SC2002
      cat "$file" | "$hybz" -"$level" -p$threads | cmp - "$scratch/bzip2"
    done
    shown "$file: level $level, 1, 2 and 7 threads, file and pipe: bzip2's bytes"
  done
  bzip2 -c "$file" >"$scratch/by-bzip2.bz2"
  if has lbzip2; then lbzip2 -c "$file" >"$scratch/by-lbzip2.bz2"; fi
  if has pbzip2; then pbzip2 -c "$file" >"$scratch/by-pbzip2.bz2"; fi
  if has 7z; then 7z a -tbzip2 -bso0 -bsp0 "$scratch/by-7z.bz2" "$file"; fi
  for made in "$scratch"/by-*.bz2; do
    for threads in 1 2 7; do
      "$hybz" -dc -p$threads "$made" | cmp - "$file"
      "$hybz" -d -p$threads <"$made" | cmp - "$file"
    done
    shown "$file: $(basename "$made") decompressed with 1, 2 and 7 threads, file and pipe"
  done
  under "$(peak "$scratch/out" "$hybz" -c -p2 "$file")" 65536 "$file: peak memory compressing, 2 threads"
  under "$(peak /dev/null "$hybz" -dc -p2 "$scratch/by-bzip2.bz2")" 98304 "$file: peak memory decompressing, 2 threads"
  rm -f "$scratch"/*
done

"$hybz" < <(yes | head -c 3G) | "$hybz" -d | cmp - <(yes | head -c 3G)
shown "yes | head -c 3G | hybz | hybz -d"

"$hybz" < <(head -c 20G /dev/zero) >"$scratch/bomb.bz2"
/usr/bin/time -f %M -o "$scratch/peak" "$hybz" -dc -p2 "$scratch/bomb.bz2" | { sleep 2; cat; } |
  cmp - <(head -c 20G /dev/zero)
size=$(stat -c %s "$scratch/bomb.bz2")
under "$(cat "$scratch/peak")" 524288 "20 GB of zeros from $size bytes, slow reader: peak memory"

mkdir "$scratch/small"
if [ $# -gt 0 ]; then split -b 30000 -a 4 -d <(head -c 60000000 "$1") "$scratch/small/f"; else
  for i in $(seq -w 0 1999); do head -c 22500 /dev/urandom | base64 -w0 >"$scratch/small/f$i"; done; fi
cp -r "$scratch/small" "$scratch/again"
n=$(find "$scratch/small" -type f | wc -l)
sync
start=$(date +%s%N); (cd "$scratch/small" && bzip2 f*); bzip2_ns=$(($(date +%s%N) - start))
sync
start=$(date +%s%N); (cd "$scratch/again" && "$hybz" f*); hybz_ns=$(($(date +%s%N) - start))
diff -r "$scratch/small" "$scratch/again"
times="bzip2 $((bzip2_ns / 1000000)) ms, hybz $((hybz_ns / 1000000)) ms"
ratio=$(awk "BEGIN { printf \"%.2f\", $bzip2_ns / $hybz_ns }")
shown "$n small files: $times, $ratio times as fast, same bytes"
