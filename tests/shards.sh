#!/usr/bin/env bash
# 10,000 shards through the built command: in random order, their workers killed at random times, some done twice, and
# joined under few descriptors into what bzip2 makes of a gigabyte.
#
#   cargo build --release && tests/shards.sh [SHARDS]
#
# HYBZ_BINARY names another binary, SCRATCH another folder. The test takes minutes, and 2 GB of disk.
set -euo pipefail
hybz=$(readlink -f "${HYBZ_BINARY:-$(dirname "$0")/../target/release/hybz}")
shards=${1:-10000}
scratch=$(mktemp -d "${SCRATCH:-/tmp}/hybz-shards.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
shown() { printf 'ok  %s\n' "$*"; }

# Lines of numbers, and runs that cross the ends of blocks.
awk -v bytes="$((shards * 135000))" 'BEGIN {
  srand(7)
  run = sprintf("%1000s", ""); gsub(" ", "r", run)
  while (written < bytes) {
    line = int(rand() * 1e9) " " int(rand() * 1e6) " " (rand() < 0.02 ? substr(run, 1, int(rand() * 600)) : "")
    written += length(line) + 1
    print line
  }
}' >text
bzip2 -1c text >expected
"$hybz" -1 --plan=1 text >plan
count=$(grep -vc '^#' plan)
shown "a plan of $count shards"

worker() { [ -e "part.$1" ] || "$hybz" -p1 --shard="$1" --plan-file=plan text -o "part.$1"; }
export -f worker
export hybz
for round in $(seq 8); do
  # The whole group of processes is killed.
  grep -v '^#' plan | cut -f1 | sort -R >order
  { timeout -s KILL "$((RANDOM % 3)).$((RANDOM % 10))1" xargs -a order -P "$(nproc)" -n 1 bash -c 'worker "$1"' _ ||
    true; } 2>/dev/null
done
made=$(find . -name 'part.*' | wc -l)
[ "$made" -lt "$count" ] || { echo "no worker was killed"; exit 1; }
shown "killed 8 times (SIGKILL), $made parts are there"
grep -v '^#' plan | cut -f1 | sort -R | xargs -P "$(nproc)" -n 1 bash -c 'worker "$1"' _
rm -f part.7
for number in 7 $((count - 1)) 0; do "$hybz" -f --shard="$number" --plan-file=plan text -o "part.$number"; done

join() { (ulimit -n 16; find . -name 'part.*' -print0 | sort -zR | xargs -0 -x -s 1500000 "$hybz" "$@"); }
join --join=plan -c | cmp - expected
shown "$count parts joined, in random order and with 16 descriptors: bzip2's bytes"
[ "$(find . -type f | wc -l)" -eq "$((count + 4))" ] || { find . -type f -name '.*'; echo "something is left"; exit 1; }
shown "nothing is left of what was killed"
