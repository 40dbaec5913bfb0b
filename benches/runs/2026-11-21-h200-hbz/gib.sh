cd .carry; tar xJf bin.tar.xz; xz -dkT0 linux203.tar.xz
t() { local s=$(date +%s.%N); "$@" >/dev/null 2>/tmp/err; local rc=$?; local e=$(date +%s.%N); printf '%7.2f s rc %d  %s\n' $(awk "BEGIN{print $e-$s}") $rc "$(echo $* | cut -c1-90)"; head -c 300 /tmp/err; }
{
H=$PWD/hybz; for k in 1 2 3 4 5 6; do cat linux203.tar; done | head -c 1073741824 > /dev/shm/gib; cd /dev/shm
t $H --gpu-required -vv --block-size 1073741824 -kfo g.hbz gib; grep "sorts of" /tmp/err; ls -l g.hbz; t sh -c "$H -dc g.hbz | cmp - gib"
head -c 800000000 /dev/urandom | od -An -v -tx1 | tr -d ' \n' | head -c 1073741824 | tr 0123456789abcdef '!#$%&()*+,-./:;<' > gib; ls -l gib
t $H --gpu-required -vv --block-size 1073741824 -kfo g.hbz gib; grep "sorts of\|gpu 0" /tmp/err; ls -l g.hbz; t sh -c "$H -dc g.hbz | cmp - gib"
} 2>&1 | tee $OUT/callE.log
