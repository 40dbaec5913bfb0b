#!/bin/bash
# One device call: everything of issue 4's list. Outputs go to stdout.
cd "$(dirname "$0")"
export LD_LIBRARY_PATH=$PWD/lib PATH=$PWD:$PWD/bin:$PATH
T0=$SECONDS
say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm
say machine; nvidia-smi --query-gpu=name,driver_version,uuid,pci.bus_id,memory.total --format=csv,noheader; nproc; lscpu | grep 'Model name'; free -g | sed -n 2p; uname -r; hybz --version | head -1; lbzip2 --version | head -1; bzip2 --version </dev/null 2>&1 | head -1
xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
head -c 1000000 $S/l203 > $S/l1m; head -c 100000000 $S/l203 > $S/l100m
ls -l $S
say "bzip2 of 1 GB in the background, for cmp; no timings"
bzip2 -c $S/l1g > $S/ref1g & REF=$!
say "tests on the device"; ./test-hybz gpu --nocapture 2>&1 | tail -25
say "flags"
U=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | head -1); P=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader | head -1)
hybz --no-gpu -c $S/l203 | sha256sum
for f in "--gpu 0" "--gpu $U" "--gpu $P" "--gpu ${P#00000000:}" "--gpu 7" "--gpu-required" "--gpu-required --gpu 7"; do echo "[$f]"; hybz $f -c $S/l203 2>$S/err | sha256sum; echo "exit ${PIPESTATUS[0]}"; cat $S/err; done
echo "[CUDA_VISIBLE_DEVICES=]"; CUDA_VISIBLE_DEVICES= hybz -vvc $S/l203 2>&1 >/dev/null | tail -3
wait $REF; say "cmp with bzip2 1.0.8 on 1015 MB"; ls -l $S/ref1g
hybz --no-gpu -c $S/l1g | cmp - $S/ref1g && echo "CPU only: identical"
hybz -c $S/l1g | cmp - $S/ref1g && echo "all-core: identical"
HYBZ_OUT=$S/out1 bench-gpu $S/l203 1015 gpu; cmp $S/out1 $S/ref1g && echo "GPU only (cores finish): identical"; rm $S/out1
say "1015 MB, whole process, to /dev/null"
for i in 1 2; do t "lbzip2 -n16 -c $S/l1g >/dev/null"; t "hybz --no-gpu -c $S/l1g >/dev/null"; t "hybz -c $S/l1g >/dev/null"; done
t "hybz -c $S/l1g >/dev/null"; t "hybz -c $S/l1g >$S/o"; rm $S/o
hybz -vvc $S/l1g 2>&1 >/dev/null | grep -v 'block '
say "8120 MB, whole process"
t "hybz -c $S/l8g >/dev/null"; t "lbzip2 -n16 -c $S/l8g >/dev/null"; t "hybz -c $S/l8g >$S/all"; t "hybz --no-gpu -c $S/l8g >$S/cpu"; cmp $S/all $S/cpu && echo identical; rm $S/all $S/cpu
t "hybz -c $S/l8g >/dev/null"; hybz -vvc $S/l8g 2>&1 >/dev/null | grep -v 'block '
say "library bench, 8120 MB"
export MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=33554432
bench-gpu $S/l203 8120 null gpu all
for l in 6 8; do echo "lanes $l"; HYBZ_LANES=$l bench-gpu $S/l203 8120 all | grep all:; done
unset MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_
say "small inputs"
for f in l1m l100m l203; do for i in 1 2 3; do
 t "for k in 1 2 3 4 5; do hybz --gpu none -c $S/$f >/dev/null; done"; t "for k in 1 2 3 4 5; do hybz -c $S/$f >/dev/null; done"; done; done
say end
