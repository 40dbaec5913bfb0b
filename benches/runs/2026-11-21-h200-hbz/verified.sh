cd .carry; tar xJf bin.tar.xz; xz -dkT0 linux203.tar.xz
t() { local s=$(date +%s.%N); "$@" >/dev/null 2>/tmp/err; local rc=$?; local e=$(date +%s.%N); printf '%7.2f s rc %d  %s\n' $(awk "BEGIN{print $e-$s}") $rc "$(echo $* | sed 's#[^ ]*/##' | cut -c1-90)"; head -c 300 /tmp/err; }
{
./bench-cu check 5000 | tail -1; ./bench-cu code 5000 | tail -1; ./bench-cu suffixes 70000 | tail -1
./bench-cu time linux203.tar 224 | sed -n '2,3p;$p'
for s in "900000 225" "4500000 45" "9000000 22" "9000000 4" "64000000 3" "203000000 1"; do ./bench-cu suffixes linux203.tar $s | tail -2; done
timeout 60 compute-sanitizer --tool racecheck ./bench-cu suffixes 1000 | tail -1
} 2>&1 | tee $OUT/kernels.log
timeout 100 ./test-hybz gpu 2>&1 | grep "test result\|panicked" | tee $OUT/tests.log
{
for k in 1 2 3 4 5; do cat linux203.tar; done > /dev/shm/1g; for k in 1 2 3 4 5 6 7 8; do cat /dev/shm/1g; done > /dev/shm/8g
for r in 1 2 3; do for f in 1g 8g; do t ./hybz -kc /dev/shm/$f; t ./hybz -p1 --gpu-required -kc /dev/shm/$f; done; done
t ./hybz --no-gpu -kc /dev/shm/1g; t ./lbzip2 -n16 -kc /dev/shm/1g; t ./hybz --no-gpu -kc /dev/shm/1g; t ./lbzip2 -n16 -kc /dev/shm/1g; t ./hybz --no-gpu -kc /dev/shm/8g
./hybz -kc /dev/shm/1g > /dev/shm/a; ./hybz --no-gpu -kc /dev/shm/1g | cmp - /dev/shm/a && echo "1 GB: the same bytes"; ./lbzip2 -dc /dev/shm/a | cmp - /dev/shm/1g && echo "and back"
rm /dev/shm/8g /dev/shm/1g /dev/shm/a
} 2>&1 | tee $OUT/bz2.log
mkdir -p sets; mv linux203.tar sets/linux-6.1-203M.tar
HYBZ_DATA=$PWD/sets timeout 330 ./tables table-5.1 linux-6.1-203M.tar 2>&1 | tee $OUT/table-5.1.txt
