#!/usr/bin/env bash
# What bsdtar and dpkg-deb gain by this library, in alternating rounds, each result compared:
#
#   crates/libbz2/archives.sh pack FOLDER            FOLDER gets all that another machine needs
#   FOLDER/archives.sh FILE.tar.bz2 [ROUNDS]         or FILE.deb; seconds (medians) and user and system time
#
# The columns: C's library, this one, and this one with HYBZ_THREADS=0 (THREADS says another number). libarchive reads
# 64 KiB at a time, in which no two blocks end; with `-b 8192` bsdtar reads 4 MiB, and blocks are decoded ahead.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

pack() {
  local folder=$1 program
  mkdir -p "$folder"/{bin,lib,C,hybz}
  for program in bsdtar dpkg-deb; do
    cp "$(command -v $program)" "$folder/bin/"
    ldd "$folder/bin/$program" | awk '$2 == "=>" {print $3}' |
      grep -vE '/(libc|libm|libpthread|libdl|librt|libbz2)\.so' | xargs -r cp -L -t "$folder/lib"
  done
  cp -L "$(ldconfig -p | awk '/libbz2.so.1.0 .*64/ {print $NF; exit}')" "$folder/C/libbz2.so.1.0"
  cp -L "${HYBZ_LIBBZ2:-$here/../../target/libbz2/libhybz_libbz2.so}" "$folder/hybz/libbz2.so.1.0"
  cp "$0" "$folder/archives.sh"
}
[ "${1-}" != pack ] || { pack "$2"; exit; }

file=$(realpath "$1") rounds=${2:-5} threads=${THREADS:-0}
work=$(mktemp -d -p "${TMPDIR:-/tmp}")
trap 'rm -rf "$work"' EXIT
cases=("C C -" "hybz hybz -" "hybz,threads hybz $threads")
case $file in
  *.deb) flags=(plain) ;;
  *) flags=(plain large made) ;;
esac
# What is measured: act FLAG OUT.
act() {
  case $file-$1 in
    *.deb-plain) "$here/bin/dpkg-deb" -x "$file" "$2" ;;
    *-plain) "$here/bin/bsdtar" -xf "$file" -C "$2" ;;
    *-large) "$here/bin/bsdtar" -b 8192 -xf "$file" -C "$2" ;;
    *-made) "$here/bin/bsdtar" -cjf "$2/made.tar.bz2" -C "$work/C-plain" . ;;
  esac
}
TIMEFORMAT='%R %U %S'
for ((round = 0; round < rounds; round++)); do
  for flag in "${flags[@]}"; do
    for case in "${cases[@]}"; do
      read -r name library number <<<"$case"
      out=$work/$name-$flag
      rm -rf "$out" && mkdir "$out"
      export LD_LIBRARY_PATH=$here/$library:$here/lib
      unset HYBZ_THREADS
      [ "$number" = - ] || export HYBZ_THREADS=$number
      { time act "$flag" "$out" 2>&3; } 3>&2 2>>"$work/times-$name-$flag"
      unset LD_LIBRARY_PATH HYBZ_THREADS
      [ "$flag" = made ] || diff -r "$work/C-plain" "$out" >&2
      [ "$flag" != made ] || cmp "$work/C-made/made.tar.bz2" "$out/made.tar.bz2" >&2
    done
  done
done
load=$(cut -d ' ' -f 1 /proc/loadavg)
echo "$(nproc) cores, load $load, $rounds rounds, $(stat -c %s "$file") bytes, threads: $threads"
echo "| what | with | seconds | user and system |"
echo "|---|---|---|---|"
for flag in "${flags[@]}"; do
  for case in "${cases[@]}"; do
    name=${case%% *}
    middle() { sort -g | awk '{v[NR] = $1} END {printf "%.2f", v[int((NR + 1) / 2)]}'; }
    printf '| %s | %s | %s | %s |\n' "$flag" "$name" "$(awk '{print $1}' "$work/times-$name-$flag" | middle)" \
      "$(awk '{print $2 + $3}' "$work/times-$name-$flag" | middle)"
  done
done
