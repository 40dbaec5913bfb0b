#!/bin/bash
# Compares LZ4 frames with lz4: benches/lz4.sh FILE [ROUNDS]
#
# hybz and lz4 compress FILE at levels 1, 3 and 9 and decompress it in turn: hybz's file of independent blocks of
# 64 KiB and lz4's of linked ones; on one core, and hybz on all. The output of the first round is compared
# with FILE, through lz4 if it is compressed; hybz's files are read by lz4 and lz4's by hybz. Medians of ROUNDS (5),
# in MB/s of text; of the processor's time (user and system), which tells more on a busy machine; and the sizes.
#
# Needs lz4, GNU time; cargo build --release --bin hybz
set -euo pipefail
file=$(realpath "${1:?a file}") rounds=${2:-5}
hybz=$(realpath "${TARGET:-target/release}/hybz")
place=$(mktemp -d -p "${PLACE:-/dev/shm}")
trap 'rm -rf "$place"' EXIT
cd "$place"
size=$(stat -c %s "$file")
one="taskset -c 0"
# Name, and the command, which writes to standard output.
names=() commands=()
add() { names+=("$1") commands+=("$2"); }
for level in 1 3 9; do
    "$hybz" -c --format=lz4 -$level "$file" >"ours.$level"
    lz4 -cq -$level -B4 "$file" >"theirs.$level"
    lz4 -cq -$level -B4 -BD "$file" >"linked.$level"
    lz4 -dc "ours.$level" | cmp - "$file"
    for coded in "ours.$level" "theirs.$level" "linked.$level"; do "$hybz" -dc "$coded" | cmp - "$file"; done
    add "hybz -$level, one core" "$one $hybz -p1 -c --format=lz4 -$level $file"
    add "lz4 -$level -B4, one core" "$one lz4 -cq -$level -B4 $file"
    add "hybz -$level, all cores" "$hybz -c --format=lz4 -$level $file"
done
add "hybz -dc, one core" "$one $hybz -p1 -dc ours.1"
add "lz4 -dc, one core" "$one lz4 -dcq ours.1"
add "hybz -dc, all cores" "$hybz -dc ours.1"
add "hybz -dc, linked, all cores" "$hybz -dc linked.1"
add "lz4 -dc, linked" "$one lz4 -dcq linked.1"
for round in $(seq "$rounds"); do
    for i in "${!names[@]}"; do
        command time -o log -f '%e %U %S' ${commands[i]} >out
        if [ "$round" = 1 ]; then
            case ${names[i]} in *-dc*) cmp out "$file" ;; *) lz4 -dc <out | cmp - "$file" ;; esac
        fi
        awk -v b="$size" '{ print b / ($1 + 0.001) / 1e6, b / ($2 + $3 + 0.001) / 1e6 }' log >>"log.$i"
    done
done
median() { awk -v n="$1" '{ print $n }' "$2" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
printf '%-30s %10s %14s\n' "$size bytes" MB/s "MB/s of a core"
for i in "${!names[@]}"; do
    printf '%-30s %10.0f %14.0f\n' "${names[i]}" "$(median 1 "log.$i")" "$(median 2 "log.$i")"
done
for level in 1 3 9; do
    printf 'level %d: hybz %d bytes, lz4 -B4 %d, linked %d\n' \
        $level "$(stat -c %s "ours.$level")" "$(stat -c %s "theirs.$level")" "$(stat -c %s "linked.$level")"
done
