#!/bin/bash
# One GPU after the change of defaults: lanes x blocks, whole process. Outputs go to stdout.
cd "$(dirname "$0")"
export LD_LIBRARY_PATH=$PWD/lib PATH=$PWD:$PWD/bin:$PATH
T0=$SECONDS
say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm
say machine; nvidia-smi --query-gpu=name,driver_version,uuid,pci.bus_id,memory.total --format=csv,noheader; nproc; lscpu | grep -E 'Model name|NUMA node'; free -g | sed -n 2p; uname -r
xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
hybz --no-gpu -c $S/l203 | sha256sum; hybz --gpu-required -c $S/l203 | sha256sum
B="MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432 bench-gpu $S/l203 8120"
say "one GPU, 16 cores: lanes x blocks"
for lb in "4 64" "6 32" "8 32" "8 64" "12 32"; do set -- $lb; echo "lanes $1 x $2"; eval "HYBZ_LANES=$1 HYBZ_BLOCKS=$2 $B gpu all" | grep -E '^(gpu|all):'; done
say "one GPU, 16 cores, whole process, 1015 and 8120 MB"
t "lbzip2 -n16 -c $S/l1g >/dev/null"; for i in 1 2 3; do t "hybz -c $S/l1g >/dev/null"; t "hybz --no-gpu -c $S/l1g >/dev/null"; t "hybz -c $S/l8g >/dev/null"; done
hybz -vvc $S/l8g 2>&1 >/dev/null | grep -v 'block '
t "hybz -c $S/l8g >$S/o"; sha256sum $S/o
say "small inputs"
head -c 1000000 $S/l203 > $S/l1m; head -c 400000000 $S/l1g > $S/l400m; head -c 600000000 $S/l1g > $S/l600m
for f in l1m l203 l400m l600m; do for i in 1 2; do t "for k in 1 2 3 4 5; do hybz --gpu none -c $S/$f >/dev/null; done"; t "for k in 1 2 3 4 5; do hybz -c $S/$f >/dev/null; done"; done; done
say end
