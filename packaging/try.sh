#!/usr/bin/env bash
# Tries a release archive for Linux where there is nothing else: packaging/try.sh ARCHIVE [RUNNER [SYSTEM]]. Root is
# needed for the chroot.
# RUNNER is a static emulator for archives of other processors, such as /usr/bin/qemu-aarch64-static. From SYSTEM, / by
# default, comes the C library, which archives for glibc need, and of all archives the program that uses libbz2. Without
# a RUNNER the root gets a busybox, that of SYSTEM if it has one, so that scripts run in it. On Alpine's files, with
# a SYSTEM that packaging/alpine-root.sh has made: packaging/try.sh ARCHIVE "" SYSTEM
set -euo pipefail
cd "$(dirname "$0")/.."
archive=$(realpath "$1")
runner=${2-}
system=$(realpath "${3-/}")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -C "$root" --strip-components=1 -xzf "$archive"
mkdir "$root/tmp"
[ -z "$runner" ] || cp "$runner" "$root/emulator"
run() { chroot "$root" ${runner:+/emulator} "/bin/$1" "${@:2}"; }

# Copies the loader and the libraries that a program needs, if there are any.
with_libraries() {
  local needed place found
  needed=$(readelf -ld "$1" | sed -nE 's/.*(interpreter: |NEEDED.*\[)([^]]*)\]/\2/p')
  for file in $needed; do
    [ "$file" != libbz2.so.1 ] && [ "$file" != libbz2.so.1.0 ] || continue
    case $file in
    /*) place=$file ;;
    # musl's loader is the library.
    libc.so) continue ;;
    *) place=/lib/$file ;;
    esac
    [ ! -e "$root$place" ] || continue
    found=$(find "$system/lib" "$system/lib64" "$system/usr/lib" -name "$(basename "$file")" 2>/dev/null | sed -n 1p || true)
    [ -n "$found" ] || { echo "$system has no $file, which $1 needs" >&2; exit 1; }
    install -D "$found" "$root$place"
  done
}
with_libraries "$root/bin/hybz"
with_libraries "$root/bin/hysort"

{ seq 200000; head -c 300000 /dev/urandom; head -c 500000 /dev/zero; } > "$root/tmp/text"
text=$root/tmp/text
tried=0
same() { cmp "$1" "$2" && tried=$((tried + 1)); }
for level in 1 2 5 9; do
  bzip2 -"$level" -c "$text" > "$root/tmp/expected"
  run hybz -"$level" -c /tmp/text > "$root/tmp/coded"
  same "$root/tmp/expected" "$root/tmp/coded"
  run hybz -"$level" -c < "$text" | cmp - "$root/tmp/expected"
  same <(run hybz -dc /tmp/coded) "$text"
  same <(run hybz -dc < "$root/tmp/expected") "$text"
  run hybz -t /tmp/expected && tried=$((tried + 1))
done
same <(for part in 1 2 3; do run hybz --split "$part/3" /tmp/expected; done) "$text"
cp "$text" "$root/tmp/a"
run hybz /tmp/a
[ ! -e "$root/tmp/a" ] && same <(bzip2 -9c "$text") "$root/tmp/a.bz2"
run hybz -d /tmp/a.bz2
same "$root/tmp/a" "$text"
printf 'b\na\n' > "$root/tmp/lines"
same <(run hysort /tmp/lines) <(printf 'a\nb\n')
head -c 1000 "$root/tmp/expected" > "$root/tmp/cut"
! run hybz -tq /tmp/cut 2>/dev/null && tried=$((tried + 1))
echo "$(basename "$archive"): $tried tries in an empty root, all as expected"

# The ways in which scripts call bzip2.
names=(bzip2 bunzip2 bzcat bzip2recover)
packaging/shapes.sh "$root/tmp/by-bzip2"
busybox=$system/bin/busybox
[ -x "$busybox" ] || busybox=$(command -v busybox || true)
if [ -z "$runner" ] && [ -n "$busybox" ]; then
  for name in "${names[@]}"; do
    ln -s hybz "$root/bin/$name"
  done
  mkdir "$root/busybox" "$root/dev"
  cp "$busybox" "$root/busybox/busybox"
  with_libraries "$busybox"
  # Links for all programs of busybox except those that hybz replaces.
  chroot "$root" /busybox/busybox --list | grep -vE '^(bzip2|bunzip2|bzcat|busybox)$' | xargs -I '{}' ln -s busybox "$root/busybox/{}"
  mknod -m 666 "$root/dev/null" c 1 3
  shell() { chroot "$root" /busybox/env -i PATH=/bin:/busybox /busybox/sh "$@"; }
  # No /proc is mounted: with one, busybox's shell would run its own bzip2 instead of the one in the PATH.
  shell -c 'for name in bzip2 bunzip2 bzcat; do $name --version; done' < /dev/null 2>&1 | grep -c '^hybz' | grep -x 3 >/dev/null
  shell -s /tmp/by-hybz < packaging/shapes.sh
  where="with $(chroot "$root" /busybox/busybox | awk 'NR == 1 { print $1, $2 }')"
elif [ -n "$runner" ]; then
  # An emulated shell could not start an emulated program.
  mkdir "$root/emulated"
  for name in "${names[@]}"; do
    printf '#!/bin/sh\nexec %s -L %s -0 %s %s/bin/hybz "$@"\n' "$runner" "$root" "$name" "$root" > "$root/emulated/$name"
    chmod +x "$root/emulated/$name"
  done
  PATH=$root/emulated:$PATH packaging/shapes.sh "$root/tmp/by-hybz"
  where="each call emulated"
fi
if [ -e "$root/tmp/by-hybz" ]; then
  diff -r --no-dereference "$root/tmp/by-bzip2" "$root/tmp/by-hybz"
  echo "$(basename "$archive"): $(cat "$root/tmp/by-hybz/count") ways to call bzip2 ($where), no difference"
fi

# A program of C on the library.
target=$(basename "$archive" .tar.gz | sed -E 's/^hybz-[0-9.]+-//; s/-unknown//; s/-gnu$/-gnu.2.17/')
if [ -x target/packaging/bin/python ] && [ -d "$root/libbz2" ]; then
  target/packaging/bin/python -m ziglang cc -target "$target" -O1 -I "$root/libbz2/include" packaging/try.c \
    -L "$root/libbz2/lib" -lbz2 -o "$root/bin/try"
  with_libraries "$root/bin/try"
  with_libraries "$root/libbz2/lib/libbz2.so"
  library() { LD_LIBRARY_PATH=/libbz2/lib run try "$@"; }
  library < "$text" > "$root/tmp/coded"
  same <(bzip2 -9c "$text") "$root/tmp/coded"
  same <(library -d < "$root/tmp/coded") "$text"
  echo "$(basename "$archive"): a C program on $(basename "$(realpath "$root/libbz2/lib/libbz2.so")"), the same bytes"
fi
