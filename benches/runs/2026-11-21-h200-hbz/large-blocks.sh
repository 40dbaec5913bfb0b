cd .carry; tar xJf bin.tar.xz; xz -dkT0 linux203.tar.xz
t() { local s=$(date +%s.%N); "$@" >/dev/null 2>/tmp/err; local rc=$?; local e=$(date +%s.%N); printf '%7.2f s rc %d  %s\n' $(awk "BEGIN{print $e-$s}") $rc "$(echo $* | cut -c1-90)"; head -c 300 /tmp/err; }
{
echo "== tests"; timeout 200 ./test-hybz gpu 2>&1 | grep -v "^Bwt\|^Hybrid\|^Resident" | tail -16
for k in 1 2 3 4 5; do cat linux203.tar; done > /dev/shm/gb
cd /dev/shm
H=$OLDPWD/hybz; B=$OLDPWD/bsc
echo "== 1 GB: same bytes, blocks of many sizes"
for s in 1M 4500k 9M 64M 200M "9M --perturb 0.1%" "64M --perturb 1%"; do
t $H --no-gpu --block-size $s -kfo cpu.hbz gb
t $H --gpu-required --block-size $s -kfo gpu.hbz gb
cmp cpu.hbz gpu.hbz && echo "same $s $(stat -c %s gpu.hbz)"; done
t $H -t gpu.hbz
for s in 1G "1G --perturb 0.1%"; do
t $H --gpu-required --block-size $s -kfo gpu.hbz gb; stat -c "%s" gpu.hbz
$H --gpu-required -vv --block-size $s -kfo gpu.hbz gb 2>&1 | grep "sorts of"
t $H -t gpu.hbz
done
echo "== 8 GB"
rm -f *.hbz; for k in 1 2 3 4 5 6 7 8; do cat gb; done > 8g; rm gb
t $H --no-gpu --block-size 9M -kfo o 8g
for r in 1 2; do
t $H --gpu-required --block-size 9M -kfo o 8g
t $H --gpu-required --block-size 9M -n 12 -kfo o 8g
t $H --gpu-required --block-size 64M -kfo o 8g
t $H --gpu-required -kfo o 8g
t $B e 8g o -G -b9 -e0
t $B e 8g o -G -b200 -e0
done
t $H --no-gpu --block-size 9M -kfo o 8g
time $H --gpu-required -vv --block-size 9M -kfo o 8g 2>&1 | grep "sorts of\|cpu 1 \|^real" | head -5
time $H --no-gpu --block-size 9M -kfo o 8g 2>&1 | tail -1
rm -f 8g o; cd $OLDPWD
nproc; lscpu | grep "Model name\|Thread"; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
} 2>&1 | tee $OUT/callB.log
