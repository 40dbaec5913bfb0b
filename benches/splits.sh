#!/usr/bin/env bash
# What the parts of a .bz2 file cost without an index: benches/splits.sh FILE.bz2... >results.csv
#
# One thread decodes each FILE whole, and as N parts, one after the other (`hybz --split I/N`, for each N of PARTS):
# rows of the scenario `splits`, whose seconds are those of the processor. Then two processes have a half each at the
# same time: `splits-together`, seconds by the clock. The commands take turns, ROUNDS (5) times, every second time in
# reverse order. Before that, all parts together are compared with the whole. benches/summary.awk makes a table of the
# rows.
set -euo pipefail
hybz=$(realpath "${HYBZ:-target/release/hybz}") rounds=${ROUNDS:-5} counts=${PARTS:-1 2 4 16 64 100}
unset HYBZ # it would be read as flags
TIMEFORMAT='%R %U %S'

whole() { "$hybz" -p1 -dc "$1"; }
parts() { for ((i = 1; i <= $2; i++)); do "$hybz" -p1 --split "$i/$2" "$1"; done; }
together() {
    "$hybz" -p1 --split 1/2 "$1" &
    "$hybz" -p1 --split 2/2 "$1"
    wait -n
}
timed() { { time "$@" >/dev/null; } 2>&1 | tail -n 1; }
row() { # SCENARIO COMMAND PROCESSES ROUND SECONDS
    echo "$1,$name,$bytes,$2,hybz,$3,$4,$5,yes,"
}

echo scenario,input,bytes,command,tool,threads,round,seconds,verified,output_bytes
for file in "$@"; do
    name=$(basename "$file" .bz2)
    bytes=$(whole "$file" | wc -c)
    for n in $counts; do
        parts "$file" "$n" | cmp - <(whole "$file") >&2
    done
    for ((round = 1; round <= rounds; round++)); do
        order="0 $counts"
        [ $((round % 2)) = 1 ] || order=$(tr ' ' '\n' <<<"$order" | tac)
        for n in $order; do
            if [ "$n" = 0 ]; then
                row splits "hybz -p1 -dc" 1 "$round" "$(timed whole "$file" | awk '{ print $2 + $3 }')"
            else
                spent=$(timed parts "$file" "$n" | awk '{ print $2 + $3 }')
                row splits "hybz -p1 --split 1/$n to $n/$n" 1 "$round" "$spent"
            fi
        done
    done
    for ((round = 1; round <= rounds; round++)); do
        row splits-together "hybz -p1 -dc" 1 "$round" "$(timed whole "$file" | cut -d ' ' -f 1)"
        spent=$(timed together "$file" | cut -d ' ' -f 1)
        row splits-together "hybz -p1 --split 1/2 and 2/2 at once" 2 "$round" "$spent"
    done
done
