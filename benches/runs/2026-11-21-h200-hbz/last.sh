cd .carry; tar xJf bin.tar.xz; xz -dkT0 linux203.tar.xz
t() { local s=$(date +%s.%N); "$@" >/dev/null 2>/tmp/err; local rc=$?; local e=$(date +%s.%N); printf '%7.2f s rc %d  %s\n' $(awk "BEGIN{print $e-$s}") $rc "$(echo $* | cut -c1-90)"; head -c 300 /tmp/err; }
{
./bench-cu check 70000 | tail -2; ./bench-cu code 5000 | tail -1; ./bench-cu suffixes | tail -2
./bench-cu time linux203.tar 224 | sed -n 2p
./bench-cu resident linux203.tar 32 | tail -2
./bench-cu suffixes linux203.tar 9000000 4
timeout 100 compute-sanitizer --tool memcheck ./bench-cu suffixes 70000 | tail -2
timeout 100 compute-sanitizer --tool racecheck ./bench-cu suffixes 1000 | tail -1
timeout 200 ./test-hybz gpu 2>&1 | grep "^test \|test result\|panicked"
H=$PWD/hybz; for k in 1 2 3 4 5 6 7; do cat linux203.tar; done > /dev/shm/7; cd /dev/shm
head -c 1073741824 7 > gib; 
echo "== blocks of exactly 1 GiB, also perturbed (longer than a lane takes: cores)"
t $H --gpu-required -vv --block-size 1048576k -kfo g.hbz gib; grep "lane 0\|sorts of" /tmp/err | head -3; ls -l g.hbz; t sh -c "$H -dc g.hbz | cmp - gib"
t $H --gpu-required -vv --block-size 512M --perturb 100 -kfo g.hbz gib; grep "lane 0\|sorts of" /tmp/err | head -3; ls -l g.hbz; t sh -c "$H -dc g.hbz | cmp - gib"
rm g.hbz gib
for k in 1 2 3 4 5 6; do cat 7; done > 8g; rm 7; ls -l 8g
for r in 1 2; do
t $H --gpu-required --block-size 9M -kfo o 8g
t $H --gpu-required -kfo o 8g
t $H --gpu-required -p1 -kfo o 8g
done
t $H --block-size 9M -kfo o 8g
t sh -c "$H -dc o | cmp - 8g"
head -c 150000000 8g > s; t $H -vv --block-size 64M -kfo o s; grep lane /tmp/err | head -3
t $H --no-gpu --block-size 64M -kfo o s
rm -f 8g o s
} 2>&1 | tee $OUT/callD.log
