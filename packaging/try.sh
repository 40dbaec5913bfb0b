#!/usr/bin/env bash
# Tries a release archive where there is nothing else: packaging/try.sh ARCHIVE [RUNNER]. Root is needed for the chroot.
# RUNNER is a static emulator for archives of other processors, such as /usr/bin/qemu-aarch64-static.
set -euo pipefail
archive=$(realpath "$1")
runner=${2-}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -C "$root" --strip-components=1 -xzf "$archive"
mkdir "$root/tmp"
[ -z "$runner" ] || cp "$runner" "$root/emulator"
run() { chroot "$root" ${runner:+/emulator} "/bin/$1" "${@:2}"; }

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
