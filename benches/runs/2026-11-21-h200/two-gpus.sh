#!/bin/bash
# Two GPUs against one,. Outputs go to stdout.
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
P=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader | tail -1)
say "one and two GPUs, 32 cores, whole process, 8120 MB"
t "hybz --gpu 0 -c $S/l8g >$S/one"
for i in 1 2; do t "hybz --gpu $P -c $S/l8g >/dev/null"; t "hybz -c $S/l8g >/dev/null"; done
t "hybz -c $S/l8g >$S/two"; cmp $S/one $S/two && echo identical; rm $S/one $S/two
t "hybz --no-gpu -c $S/l8g >/dev/null"
hybz -vvc $S/l8g 2>&1 >/dev/null | grep -v 'block '
say "one and two GPUs, GPU only (cores finish), library bench"
for lb in "8 32"; do set -- $lb; for d in 0 0,1; do echo "devices $d, lanes $1 x $2"; eval "CUDA_VISIBLE_DEVICES=$d HYBZ_LANES=$1 HYBZ_BLOCKS=$2 $B gpu all" | grep -E '^(gpu|all):'; done; done
eval "$B null" | grep null:
say end
