#!/bin/bash
# One H200, 16 cores. Outputs to /dev/null unless said.
cd "$(dirname "$0")"; xz -dc bins.tar.xz | tar xf - ; export PATH=$PWD:$PATH
T0=$SECONDS; say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@" 2> >(grep -v '^T ' >&2); }
S=/dev/shm; xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
cat $S/l203 $S/l203 > $S/l406; head -c 1000000 $S/l203 > $S/l1m
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc; cat /sys/kernel/mm/transparent_hugepage/enabled
R="--gpu-pipeline resident"
say timeline 1 GB; for i in 1 2; do time hybz $R -c $S/l1g >/dev/null 2>/tmp/e; grep '^T' /tmp/e | sed 's/of 0: //'| paste -sd';' | sed 's/T  *//g'; done
say whole process
t "lbzip2 -n16 -c $S/l8g >/dev/null"
for i in 1 2; do t "lbzip2 -n16 -c $S/l1g >/dev/null"; t "hybz --no-gpu -c $S/l1g >/dev/null"; t "hybz $R -c $S/l1g >/dev/null"; done
for i in 1 2 3; do t "hybz $R -c $S/l8g >/dev/null"; t "hybz -p1 $R -c $S/l8g >/dev/null"; done
t "hybz --no-gpu -c $S/l8g >$S/o1"; t "hybz $R -c $S/l8g >$S/o2"; cmp $S/o1 $S/o2 && echo identical; rm $S/o1 $S/o2
t "hybz --gpu-pipeline bwt -c $S/l8g >/dev/null"
say 1 MB; for i in 1 2 3; do t "hybz --no-gpu -c $S/l1m >/dev/null"; t "hybz -c $S/l1m >/dev/null"; done 2>&1 | grep real | paste -sd' '
say tests on the device; ./test-hybz gpu 2>&1 | grep -E "test result|FAILED|panicked"
say library, 24 GB; export MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432
for m in resident-gpu resident-all; do bench-gpu $S/l203 24360 $m 2>/dev/null | grep -E '^(resident|bwt)' | cut -c1-120; done
unset MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_
say threads; rm $S/l8g; bash scaling.sh ./hybz $S/l406 2>/dev/null
say end
