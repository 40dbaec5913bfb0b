#!/usr/bin/env bash
# Writes the tables of docs/BENCHMARKS.md from benches/results: the newest figures of each race for each machine.
#
#     benches/report.sh            rewrites everything below the marker in docs/BENCHMARKS.md
#     benches/report.sh --check    fails if that would change anything
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
doc=$here/../docs/BENCHMARKS.md
marker='<!-- Below this line benches/report.sh writes. -->'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

field() { # NAME DIR: a string or number of env.json
    sed -n "s/^ *\"$1\": \"\{0,1\}\([^\"]*[^\",]\)\"\{0,1\},\{0,1\}$/\1/p" "$2/env.json" | sed -n 1p
}

describe() { # DIR: the machine in words
    local gpus
    gpus=$(sed -n '/"gpus"/,/\]/p' "$1/env.json" | tr -d '\n' | grep -o '"[^"]*MiB"' | sed 's/"\([^,]*\),.*/\1/' |
        sort | uniq -c | awk '{ n = $1; $1 = ""; printf ", %d x%s", n, $0 }' || true)
    echo "$(field cores "$1") cores of $(field cpu "$1")$gpus"
}

# The kind of a file of `theses` or of a converted log.
title() {
    case $1 in
        table-5.1.csv) echo "Table 5.1: seconds on one core, and bytes, by block size and perturbation" ;;
        table-5.2.csv) echo "Table 5.2: speed by number of cores" ;;
        table-5.3.csv) echo "Table 5.3: speed by number of cores, without and with a GPU" ;;
        figure-5.2.csv) echo "Figure 5.2: common prefixes of neighbouring suffixes" ;;
        figure-5.5.csv) echo "Figure 5.5: rounds of a sort" ;;
        figure-5.7.csv) echo "Figure 5.7: decompression by block size" ;;
        sizes.csv) echo "Bytes of .hbz by block size and perturbation (interval in bytes)" ;;
        speed.csv) echo "One core beside libsais alone, MB/s of text" ;;
        patel-compress.csv) echo "Patel's steps: compression, MB/s of text on one core and on a GPU" ;;
        patel-decompress.csv) echo "Patel's steps: decompression, MB/s of text on one core and on a GPU" ;;
        kernels.csv) echo "The GPU's sort alone, ps of device time a byte" ;;
        *) echo "$1" ;;
    esac
}

# A CSV as a table; of several sets only the Linux sources, or else the first. Leaves out the stations' shares.
csv_table() {
    awk -F, '
        FNR == NR { if (!/^#/ && $1 != "set" && (set == "" || set !~ /^linux/ && $1 ~ /^linux/)) set = $1; next }
        /^#/ { next }
        $1 == "set" {
            if (columns) next
            columns = NF
            if ($NF == "blocks_by_station") columns--
            print_line()
            rule()
            next
        }
        { if ($1 == set) print_line(); else left[$1] }
        function print_line(    i, line) {
            for (i = 1; i <= columns; i++) line = line "| " $i " "
            print line "|"
        }
        function rule(    i, line) {
            for (i = 1; i <= columns; i++) line = line "|---"
            print line "|"
        }
        END { for (s in left) n++; if (n) printf "\n%d more sets are in the file.\n", n }
    ' "$1" "$1"
}

generate() {
    local machine dir name scenario file newest how
    "$here/run.sh" list | awk '{ print $1 }' >"$scratch/listed"
    # Directories, newest first, as `date machine name`.
    for dir in "$here"/results/*/; do
        printf '%s %s %s\n' "$(field date "$dir")" "$(field machine "$dir")" "$(basename "$dir")"
    done | sort -r >"$scratch/dirs"
    awk '!seen[$2]++ { print $2 }' "$scratch/dirs" | sort >"$scratch/machines"
    while read -r machine; do
        awk -v machine="$machine" '$2 == machine { print $3 }' "$scratch/dirs" >"$scratch/names"
        newest=$(sed -n 1p "$scratch/names")
        printf '\n## %s: %s\n' "$machine" "$(describe "$here/results/$newest")"
        rm -rf "$scratch/kept"
        mkdir "$scratch/kept"
        # A race is taken from the newest results that have it; summary.awk defines a race in the same way.
        while read -r name; do
            [ ! -f "$here/results/$name/results.csv" ] || echo "$name"
        done <"$scratch/names" | sed "s|.*|$here/results/&/results.csv|" |
            xargs awk -F, -v kept="$scratch/kept" '
                FNR == 1 { n = split(FILENAME, part, "/"); dir = part[n - 1]; header = $0; next }
                {
                    race = $1 SUBSEP $2 ($1 ~ /^(cpu-peers|old-new)$/ ? SUBSEP $6 : "")
                    if (!(race in owner)) owner[race] = dir
                    if (owner[race] != dir) next
                    file = kept "/" $1 "@" dir
                    if (!(file in begun)) { begun[file]; print header >file }
                    print >file
                }'
        while read -r scenario; do
            while read -r name; do
                file=$scratch/kept/$scenario@$name
                [ -f "$file" ] || continue
                printf '\n### %s (commit %s)\n\n' "$scenario" "$(field commit "$here/results/$name")"
                how='By the commands in the table, '
                ! grep -qxF "$scenario" "$scratch/listed" || how="\`benches/run.sh $scenario\`, "
                printf '%s[%s](../benches/results/%s/README.md)\n\n' "$how" "$name" "$name"
                awk -v markdown=1 -f "$here/summary.awk" "$file"
            done <"$scratch/names"
        done < <(cat "$scratch/listed"
            find "$scratch/kept" -name '*@*' | sed 's|.*/||; s|@.*||' | sort -u | grep -vxFf "$scratch/listed" || true)
        # Other tables: the newest of each name.
        while read -r name; do
            for file in "$here/results/$name"/*.csv; do
                [ -f "$file" ] && [ "$(basename "$file")" != results.csv ] || continue
                [ ! -e "$scratch/kept/$(basename "$file")" ] || continue
                touch "$scratch/kept/$(basename "$file")"
                printf '\n### %s' "$(title "$(basename "$file")")"
                printf ' (commit %s)\n\n' "$(field commit "$here/results/$name")"
                printf '[%s](../benches/results/%s/%s),\n' "$(basename "$file")" "$name" "$(basename "$file")"
                printf '[how it was measured](../benches/results/%s/README.md)\n\n' "$name"
                csv_table "$file"
            done
        done <"$scratch/names"
        while read -r name; do
            [ -n "$(find "$here/results/$name" -name '*.csv')" ] ||
                printf '[%s](../benches/results/%s/README.md)\n' "$name" "$name"
        done <"$scratch/names" >"$scratch/others"
        [ ! -s "$scratch/others" ] || printf '\nAs text only: %s.\n' "$(paste -sd, "$scratch/others" | sed 's/,/,\n/g')"
    done <"$scratch/machines"
}

grep -qxF "$marker" "$doc" || { echo "report.sh: no marker in $doc" >&2; exit 1; }
{
    sed "\\|^$marker\$|q" "$doc"
    generate
} >"$scratch/new"
if [ "${1:-}" = --check ]; then
    cmp -s "$scratch/new" "$doc" || { echo "docs/BENCHMARKS.md is not up to date: run benches/report.sh" >&2; exit 1; }
else
    cp "$scratch/new" "$doc"
fi
