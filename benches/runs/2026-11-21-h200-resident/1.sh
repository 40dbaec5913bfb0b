#!/bin/bash
# First call of the resident shape: right? how fast? who limits? Outputs go to stdout.
cd "$(dirname "$0")"
export LD_LIBRARY_PATH=$PWD/lib PATH=$PWD:$PATH
T0=$SECONDS
say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm
say machine; nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader; nproc; lscpu | grep -E 'Model name'; free -g | sed -n 2p; uname -r
xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
xz -dc nci.xz > $S/nci; xz -dc dickens.xz > $S/dickens
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
say "bench: sort and code against plain twins"
timeout 60 ./bench check 5000 | tail -3; timeout 100 ./bench code; echo "exit $?"
say "bench: times"
for n in 32 64 256; do timeout 60 ./bench resident $S/l203 $n; done
timeout 60 ./bench resident $S/nci 64; timeout 60 ./bench resident $S/dickens 64
say ncu
timeout 60 ncu --clock-control none --metrics gpu__time_duration.sum,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed -k regex:"last_k|start_k|rank_k|join_k|symbols_k|tables_k|place_k|codes_k" -c 8 ./bench resident $S/l203 64 2>&1 | grep -E "_kernel|duration|warps_active|inst_exec|issue_act|dram|l1tex" 
say "identity"
hybz --no-gpu -c $S/l203 | sha256sum; for p in bwt resident; do hybz --gpu-required --gpu-pipeline $p -c $S/l203 | sha256sum; done
say "library, 8120 MB"
export MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432
B="bench-gpu $S/l203 8120"
$B null | grep ^null
for i in 1 2; do $B bwt-gpu bwt-all resident-gpu resident-all | grep -E '^[a-z-]+:'; HYBZ_NICE=10 $B bwt-all resident-all | grep -E '^[a-z-]+:' | sed 's/^/nice 10 /'; done
for lb in "4 64" "8 64" "12 32" "6 32"; do set -- $lb; echo "lanes $1 x $2"; HYBZ_LANES=$1 HYBZ_BLOCKS=$2 HYBZ_NICE=10 $B resident-gpu resident-all | grep -E '^[a-z-]+:'; done
HYBZ_NICE=10 $B resident-all
unset MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_
say "whole process"
t "lbzip2 -n16 -c $S/l1g >/dev/null"
for i in 1 2; do t "hybz --gpu-pipeline bwt -c $S/l8g >/dev/null"; t "hybz --gpu-pipeline resident -c $S/l8g >/dev/null"; t "HYBZ_NICE=10 hybz --gpu-pipeline resident -c $S/l8g >/dev/null"; done
t "hybz --no-gpu -c $S/l8g > $S/o1"; t "HYBZ_NICE=10 hybz --gpu-pipeline resident -c $S/l8g >$S/o2"; cmp $S/o1 $S/o2 && echo "8120 MB: identical"; rm -f $S/o1 $S/o2
say "tests on the device"; timeout 130 ./test-hybz gpu --nocapture 2>&1 | grep -v "Resident:\|Bwt:\|Hybrid:" | tail -25
say "sanitizer"
timeout 50 compute-sanitizer --tool memcheck ./bench code 2050 2>&1 | tail -4
timeout 60 compute-sanitizer --tool racecheck ./bench code 200 2>&1 | tail -4
head -c 300000 $S/nci > $S/n300
timeout 70 compute-sanitizer --tool racecheck hybz --gpu-required --gpu-pipeline hybrid -1c $S/n300 2>&1 >/dev/null | tail -4
say end
