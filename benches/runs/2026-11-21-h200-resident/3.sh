#!/bin/bash
# Third call of the resident shape: who should do how much beside whom. Outputs go to stdout.
cd "$(dirname "$0")"
export PATH=$PWD:$PATH
T0=$SECONDS
say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm
say machine; nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader; nproc; lscpu | grep -E 'Model name|Thread|Core'; uname -r
xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
xz -dc nci.xz > $S/nci; xz -dc dickens.xz > $S/dickens
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
say "bench: sort and code against plain twins"
timeout 100 ./bench code | tail -1; echo "exit $?"
say "bench: times"
for n in 8 32 64 256; do timeout 60 ./bench resident $S/l203 $n; done
timeout 60 ./bench resident $S/nci 64; timeout 60 ./bench resident $S/dickens 64
for lb in "2 32" "4 32" "8 16" "8 32" "8 64"; do timeout 60 ./bench lanes $S/l203 $lb; timeout 60 ./bench lanes $S/l203 $lb code; done
say "library, 8120 MB"
export MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432
B="bench-gpu $S/l203 8120"
f() { grep -E '^[a-z]+(-[a-z]+)?:.*MB/s' | sed "s/ -> .* in / in /; s/; first.*//; s/^/$1 /"; }
for n in 1 3; do HYBZ_READERS=$n $B null | f "$n readers"; done
$B resident-gpu | grep -E "^resident|sorts of" | cut -c1-120
for i in 1 2 3; do
$B bwt-gpu bwt-all resident-gpu resident-all | f; HYBZ_NICE=10 $B bwt-all resident-all | f "nice 10"
for a in 0.05 0.1 0.2; do HYBZ_AHEAD=$a $B bwt-all resident-all | f "ahead $a"; HYBZ_AHEAD=$a HYBZ_NICE=10 $B bwt-all resident-all | f "nice 10, ahead $a"; done; done
HYBZ_AHEAD=0.1 HYBZ_NICE=10 $B resident-all | grep -E "^resident|cpu 0|cpu 9|sorts of|lane" | cut -c1-120
for lb in "8 16" "8 64" "12 32"; do set -- $lb; HYBZ_LANES=$1 HYBZ_BLOCKS=$2 HYBZ_AHEAD=0.1 HYBZ_NICE=10 $B resident-gpu resident-all | f "nice 10, ahead 0.1, lanes $1 x $2"; done
unset MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_
say "whole process"
for i in 1 2 3; do for p in bwt resident; do t "hybz --gpu-pipeline $p -c $S/l8g >/dev/null"; t "HYBZ_NICE=10 hybz --gpu-pipeline $p -c $S/l8g >/dev/null"; t "HYBZ_AHEAD=0.1 hybz --gpu-pipeline $p -c $S/l8g >/dev/null"; t "HYBZ_AHEAD=0.1 HYBZ_NICE=10 hybz --gpu-pipeline $p -c $S/l8g >/dev/null"; done; done
for i in 1 2; do t "HYBZ_AHEAD=0.1 HYBZ_NICE=10 hybz --gpu-pipeline bwt -c $S/l1g >/dev/null"; t "HYBZ_AHEAD=0.1 HYBZ_NICE=10 hybz --gpu-pipeline resident -c $S/l1g >/dev/null"; t "hybz --no-gpu -c $S/l1g >/dev/null"; done
t "HYBZ_AHEAD=0.1 HYBZ_NICE=10 hybz --gpu-pipeline resident -vvc $S/l8g 2>&1 >/dev/null | grep -v 'block ' | cut -c1-200"
t "hybz --no-gpu -c $S/l8g > $S/o1"; t "HYBZ_AHEAD=0.1 HYBZ_NICE=10 hybz --gpu-pipeline resident -c $S/l8g >$S/o2"; cmp $S/o1 $S/o2 && echo "8120 MB: identical"; rm -f $S/o1 $S/o2
t "lbzip2 -n16 -c $S/l8g >/dev/null"
say "tests on the device"; timeout 130 ./test-hybz gpu --nocapture 2>&1 | grep -v "Resident:\|Bwt:\|Hybrid:" | tail -2
say "sanitizer"
timeout 50 compute-sanitizer --tool memcheck ./bench code 5000 2>&1 | tail -1
timeout 60 compute-sanitizer --tool racecheck ./bench code 2050 2>&1 | tail -1
say end
