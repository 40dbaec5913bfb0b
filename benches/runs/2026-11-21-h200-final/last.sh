#!/bin/bash
# One H200, 16 cores, with cores that rest beside lanes.
cd "$(dirname "$0")"; xz -dc bins.tar.xz | tar xf - ; export PATH=$PWD:$PATH
export LD_LIBRARY_PATH=$PWD; xz -dc bench.xz > bench; chmod +x bench
T0=$SECONDS; say() { echo "== [$((SECONDS-T0)) s] $*"; }
TIMEFORMAT='%3R s real, %3U s user, %3S s system'
t() { echo "\$ $*"; time eval "$@"; }
S=/dev/shm; xz -dc -T0 linux203.tar.xz > $S/l203 || exit 1
for i in 1 2 3 4 5; do cat $S/l203; done > $S/l1g
for i in 1 2 3 4 5 6 7 8; do cat $S/l1g; done > $S/l8g
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc
say "whole process, 8120 MB: default; GPU and one core; CPU only once"
for i in 1 2 3; do t "hybz -c $S/l8g >/dev/null"; t "hybz -p1 -c $S/l8g >/dev/null"; done
t "hybz --no-gpu -c $S/l8g >$S/o1"; t "hybz -c $S/l8g >$S/o2"; cmp $S/o1 $S/o2 && echo identical; rm $S/o1 $S/o2
say "1015 MB against bzip2, levels of pipelines"
bzip2 -c $S/l203 > $S/b; for p in resident bwt hybrid; do hybz --gpu-required --gpu-pipeline $p -c $S/l203 | cmp - $S/b && echo "$p: bzip2's bytes, 203 MB"; done
t "lbzip2 -n16 -c $S/l1g >/dev/null"; for i in 1 2 3; do t "hybz -c $S/l1g >/dev/null"; done
hybz -vvc $S/l8g 2>&1 >/dev/null | grep -E "station|cpu (0|7|8|15) |lane (0|7)" | cut -c1-120
say racecheck; CS=$(which compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1); [ -n "$CS" ] && timeout 70 $CS --tool racecheck ./bench code 200 2>&1 | tail -3
say end
