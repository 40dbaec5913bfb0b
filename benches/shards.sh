#!/bin/bash
# The cost of sharing the work: the rates of --plan and --join, the cost of one --shard in addition to its blocks, and
# the processor time of WORKERS workers compared with one process. Run it on an idle machine.
#
#   cargo build --release && benches/shards.sh target/release/hybz FILE [ROUNDS] [WORKERS]
#
# FILE should have a gigabyte. `cargo bench --bench shards -- FILE` compares the plan with reading and cutting alone.
set -eu
hybz=$(readlink -f "$1") file=$(readlink -f "$2") rounds=${3:-5} workers=${4:-8}
scratch=$(mktemp -d "${SCRATCH:-/tmp}/hybz-shards.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
TIMEFORMAT='%R %U %S'
# Wall, user and system time of a command; its output is dropped unless it has -o.
seconds() { { time "$@" >/dev/null; } 2>&1 | tail -n1; }
wall() { seconds "$@" | cut -d' ' -f1; }
work() { seconds "$@" | awk '{ print $2 + $3 }'; }
median() { sort -n | awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'; }
of() { for _ in $(seq "$rounds"); do "$@"; done | median; }
size=$(stat -c %s "$file")

"$hybz" --plan=50M "$file" >plan
for n in $(grep -v '^#' plan | cut -f1); do "$hybz" --shard="$n" --plan-file=plan "$file" -o "part.$n"; done
coded=$(cat part.* | wc -c)
# At least a gigabyte of parts: the plan is repeated, as if the text were repeated.
awk -v OFS='\t' -v OFMT=%.0f -v CONVFMT=%.0f -v coded="$coded" '
  /^#hybz/ { head = $1 OFS $2; len = $3; next }
  /^#/ { next }
  { line[count++] = $0 }
  END {
    times = int(1e9 / coded) + 1
    print head, len * times
    for (t = 0; t < times; t++)
      for (i = 0; i < count; i++) {
        split(line[i], f, OFS)
        print f[1] + t * count, f[2] + t * len, f[3], f[4], f[5]
      }
  }' plan >long
times=$(($(grep -vc '^#' long) / $(grep -vc '^#' plan)))
parts=(); for _ in $(seq "$times"); do parts+=(part.*); done
"$hybz" --join=long "${parts[@]}" -c >/dev/null
join() { wall "$hybz" -f --join=long "${parts[@]}" "$@"; }
planned=$(of wall "$hybz" --plan=50M "$file")
joined=$(of join -c) written=$(of join -o whole)
awk -v s="$size" -v c="$((coded * times))" -v p="$planned" -v j="$joined" -v w="$written" 'BEGIN {
  printf "plan: %.2f GB/s of text\n", s / p / 1e9
  printf "join: %.2f GB/s of compressed data, into a file %.2f\n", c / j / 1e9, c / w / 1e9 }'
rm -f whole

# A shard of ten bytes: the cost of starting, reading the plan, and naming the part. Then with a plan of 10,000 lines.
printf '0123456789' >tiny
"$hybz" --plan=1 tiny >tiny.plan
awk -v OFS='\t' '/^#hybz/ { print $1, $2, 100000; next } /^#/ { next }
  { for (i = 0; i < 10000; i++) print i, 10 * i, $3, $4, $5 }' tiny.plan >tiny.long
for _ in $(seq 10000); do cat tiny; done >tiny.10000
one() { wall "$hybz" -f --shard="$3" --plan-file="$1" "$2" -o x; }
awk -v a="$(of one tiny.plan tiny 0)" -v b="$(of one tiny.long tiny.10000 5000)" 'BEGIN {
  printf "a shard: %.1f ms in addition to its blocks; %.1f with a plan of 10,000 shards\n", a * 1000, b * 1000 }'

# One core, for comparison: the number of cores that a plan and a join keep busy.
first=$(awk '/^[^#]/ { print $3; exit }' plan)
core=$(of wall "$hybz" -p1 --shard=0 --plan-file=plan "$file" -c)
awk -v s="$size" -v c="$coded" -v t="$times" -v f="$first" -v p="$planned" -v w="$written" -v k="$core" 'BEGIN {
  core = f / k; plan = s / p; join = s * t / w
  printf "one core compresses at 1/%.0f of the rate of the plan, and 1/%.0f of that of the join (both of text)\n",
    plan / core, join / core
  for (n = 8; n <= 2000; n = n == 8 ? 64 : n == 64 ? 250 : n == 250 ? 1000 : n * 2)
    printf "%d cores: %.0f times one\n", n, 1 / (1 / n + core / plan + core / join) }'

# Many workers against one process: processor time for the same text.
each() {
  rm -f out.*
  grep -v '^#' plan | cut -f1 |
    xargs -P "$1" -I{} "$hybz" -p1 --shard={} --plan-file=plan "$file" -o out.{}
}
export -f each; export hybz file
whole=$(of work "$hybz" -c -p"$(nproc)" "$file")
shards=$(of work bash -c "each $workers")
awk -v a="$whole" -v b="$shards" -v w="$workers" 'BEGIN {
  printf "processor time of %d workers compared with one process: %.3f\n", w, b / a }'
