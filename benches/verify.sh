#!/bin/bash
# The cost of --verify on one core: alternating pairs, user and system time, the median of the pairs' ratios.
#
#   benches/verify.sh target/release/hybz FILE [PAIRS]
set -eu
hybz=$1 file=$2 pairs=${3:-5}
TIMEFORMAT='%U %S'
seconds() { { time "$hybz" -p1 "$@" -kc "$file" > /dev/null; } 2>&1 | awk '{ print $1 + $2 }'; }
cmp <("$hybz" -p1 -kc "$file") <("$hybz" -p1 --verify -kc "$file")
for _ in $(seq "$pairs"); do
    plain=$(seconds)
    verified=$(seconds --verify)
    awk -v a="$plain" -v b="$verified" 'BEGIN { printf "%.3f %.3f %.3f\n", b / a, a, b }'
done | sort -n | awk '{ line[NR] = $0 } END { print "ratio, plain, verified: " line[int((NR + 1) / 2)] }'
