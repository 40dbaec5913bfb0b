#!/bin/sh
# Compares recovery with bzip2recover and the usual shell loop after it: benches/recover.sh FILE [ROUNDS]
# FILE is compressed with bzip2 -9, and a byte in each quarter of the result is changed. Medians of ROUNDS (3), seconds.
set -eu
file=${1:?a file to be compressed} rounds=${2:-3}
hybz=${HYBZ:-target/release/hybz}
hybz=$(realpath "$hybz")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$hybz" -9c "$file" >"$place/a.bz2"
cd "$place"
size=$(stat -c %s a.bz2)
for quarter in 1 3 5 7; do
    printf '\252' | dd of=a.bz2 bs=1 seek=$((size * quarter / 8)) conv=notrunc 2>/dev/null
done
now() { date +%s.%N; }
theirs() {
    bzip2recover a.bz2 2>/dev/null
    for part in rec*a.bz2; do bzip2 -dc "$part" 2>/dev/null || true; done >all
    rm -f rec*a.bz2
}
ours() { "$hybz" --recover -fqq "$@" a.bz2 || [ $? = 2 ]; }
measure() {
    begin=$(now)
    "$@"
    echo "$(now) $begin" | awk '{ printf "%.3f\n", $1 - $2 }'
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
round=0
while [ $round -lt "$rounds" ]; do
    measure theirs >>theirs.log
    measure ours >>ours.log
    measure ours -p1 >>one.log
    round=$((round + 1))
done
a=$(median <theirs.log) b=$(median <ours.log) c=$(median <one.log)
echo "$size bytes: bzip2recover and its loop $a s, hybz --recover $b s, with one thread $c s"
echo "$a $b $c" | awk '{ printf "ratios: %.2f, %.2f\n", $2 / $1, $3 / $1 }'
