#!/bin/bash
# Compares LZW with older programs: benches/lzw.sh FILE [ROUNDS]
#
# FILE is compressed by ncompress; hybz, gzip and ncompress decompress it in turn, on one core, and once more hybz with
# eight copies on all cores. FILE's bytes as a grey image of 1,024 columns: tiffcp and our tiff_lzw code it in
# strips of 64 KiB and decode it. All outputs are compared with FILE. Medians of ROUNDS (5), in MB/s of text; and of the
# processor's time (user and system), which tells more on a busy machine.
#
# Needs ncompress, gzip, libtiff-tools, GNU time;
# cargo build --release -p hybz -p hybz-tiff-lzw --bin hybz --example tiff_lzw
set -euo pipefail
file=$(realpath "${1:?a file}") rounds=${2:-5}
target=$(realpath "${TARGET:-target/release}")
place=$(mktemp -d -p "${PLACE:-/dev/shm}")
trap 'rm -rf "$place"' EXIT
cd "$place"
size=$(stat -c %s "$file")
compress -c <"$file" >text.Z
for i in 1 2 3 4 5 6 7 8; do cp text.Z "copy$i.Z"; done
rows=$((size / 1024))
{ printf 'P5\n1024 %d\n255\n' "$rows"; head -c $((rows * 1024)) "$file"; } >image.pgm
one=(taskset -c 0)
"$target/examples/tiff_lzw" to-tiff --rows=64 image.pgm image.tif
tiffcp -c none image.tif plain.tif
# Name, bytes of text, expected output, the command.
names=() bytes=() wants=() commands=()
add() { names+=("$1") bytes+=("$2") wants+=("$3") commands+=("$4"); }
add "hybz -dc, .Z, one core" "$size" "$file" "${one[*]} $target/hybz -p1 -dc text.Z"
add "gzip -dc, .Z" "$size" "$file" "${one[*]} gzip -dc text.Z"
add "compress -dc, .Z" "$size" "$file" "${one[*]} compress -dc text.Z"
copies=$(echo copy*.Z)
add "hybz -dc, 8 .Z, all cores" $((8 * size)) - "$target/hybz -dc $copies"
add "gzip -dc, 8 .Z" $((8 * size)) - "gzip -dc $copies"
add "tiff_lzw to-pnm, one core" "$size" image.pgm "${one[*]} $target/examples/tiff_lzw to-pnm image.tif /dev/stdout"
add "tiff_lzw to-pnm, all cores" "$size" image.pgm "$target/examples/tiff_lzw to-pnm image.tif /dev/stdout"
add "tiffcp -c none" "$size" - "${one[*]} tiffcp -c none image.tif out.tif"
add "tiff_lzw to-tiff, one core" "$size" - "${one[*]} $target/examples/tiff_lzw to-tiff --rows=64 image.pgm out.tif"
add "tiff_lzw to-tiff, all cores" "$size" - "$target/examples/tiff_lzw to-tiff --rows=64 image.pgm out.tif"
add "tiffcp -c lzw" "$size" - "${one[*]} tiffcp -c lzw -r 64 plain.tif out.tif"
for i in "${!names[@]}"; do
    [ "${wants[i]}" = - ] || ${commands[i]} | cmp - "${wants[i]}"
done
for i in copy*.Z; do cat "$file"; done | cmp - <("$target/hybz" -dc copy*.Z)
for _ in $(seq "$rounds"); do
    for i in "${!names[@]}"; do
        command time -o log -f '%e %U %S' ${commands[i]} >out
        awk -v b="${bytes[i]}" '{ print b / ($1 + 0.001) / 1e6, b / ($2 + $3 + 0.001) / 1e6 }' log >>"log.$i"
    done
done
median() { awk -v n="$1" '{ print $n }' "$2" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
printf '%-30s %10s %14s\n' "$size bytes" MB/s "MB/s of a core"
for i in "${!names[@]}"; do
    printf '%-30s %10.0f %14.0f\n' "${names[i]}" "$(median 1 "log.$i")" "$(median 2 "log.$i")"
done
