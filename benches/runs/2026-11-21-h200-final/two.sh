#!/bin/bash
# Two H200s against one, 32 cores. Output to /dev/null unless said.
cd "$(dirname "$0")"; xz -dc bins.tar.xz | tar xf - ; export PATH=$PWD:$PATH
T0=$SECONDS; say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm; xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
cat $S/l8g $S/l8g $S/l8g > $S/l24g
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc
say whole process
for i in 1 2 3; do t "hybz --gpu 0 -c $S/l8g >/dev/null"; t "hybz -c $S/l8g >/dev/null"; done
for i in 1 2 3; do t "hybz --gpu 0 -c $S/l24g >/dev/null"; t "hybz -c $S/l24g >/dev/null"; done
for p in 1 8 16 24; do t "hybz -p$p -c $S/l24g >/dev/null"; done
t "hybz --gpu 0 -c $S/l8g >$S/o1"; t "hybz -c $S/l8g >$S/o2"; cmp $S/o1 $S/o2 && echo identical; rm $S/o?
say library, 24 GB; export MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432
for i in 1 2 3; do for d in 0 0,1; do echo "devices $d: $(CUDA_VISIBLE_DEVICES=$d bench-gpu $S/l203 24360 resident-gpu 2>/dev/null | grep -E '^(resident|bwt)' | cut -c1-120)"; done; done
for d in 0 0,1; do echo "devices $d: $(CUDA_VISIBLE_DEVICES=$d bench-gpu $S/l203 24360 resident-all 2>/dev/null | grep -E '^(resident|bwt)' | cut -c1-120)"; done
say end
