#!/bin/bash
# Measures exact LZ77 factors on one core: HYBZ=target/release/hybz benches/factor.sh FILE [ROUNDS]
#
# Measures FILE, in memory, ROUNDS times (5), pinned to one core and without a GPU: the median and the best rate in
# MB/s, by the wall clock of the whole process and by the processor's time (which tells more on a busy machine), and the
# steps of the best round. The answer must be the same each time.
#
# Needs GNU time; cargo build --release --bin hybz
set -euo pipefail
file=$(realpath "${1:?a file}") rounds=${2:-5}
hybz=$(realpath "${HYBZ:-target/release/hybz}")
place=$(mktemp -d -p "${PLACE:-/dev/shm}")
trap 'rm -rf "$place"' EXIT
cd "$place"
cp "$file" text
size=$(stat -c %s text)
for _ in $(seq "$rounds"); do
    command time -o time -f '%e %U %S' taskset -c "${CORE:-0}" "$hybz" --measure --no-gpu -p1 -v text >out 2>steps
    [ -e first ] || cp out first
    cmp out first
    awk -v b="$size" -v steps="$(tail -n 1 steps)" \
        '{ print b / ($1 + 0.001) / 1e6, b / ($2 + $3 + 0.001) / 1e6, steps }' time >>log
done
median() { sort -n -k "$1,$1" log | awk -v n="$1" '{ all[NR] = $n } END { print all[int((NR + 1) / 2)] }'; }
cat first
printf '%d rounds: median %.1f MB/s, best %.1f; of the processor'\''s time: median %.1f\n' \
    "$rounds" "$(median 1)" "$(sort -n log | tail -n 1 | cut -d ' ' -f 1)" "$(median 2)"
sort -n log | tail -n 1 | cut -d ' ' -f 3-
