# Each line is a script, run with hysort as $SORT and with GNU sort: same output, messages, exit code and files.
$SORT -k1,1 -k2,2n a
$SORT -t, -k2,2nr b
$SORT -t, -k2 -t, b
$SORT -t, -t: b
$SORT -t '' b
$SORT -t ab b
$SORT -t '\0' b
$SORT -t: -k3,3n passwd
$SORT -t: -nk4 passwd -s -r
$SORT --key=2 --numeric-sort --ignore-case a
$SORT -k a
$SORT -k 0 a
$SORT -k 1.0 a
$SORT -k 1, a
$SORT -k 1,0 a
$SORT -k 1,1.x a
$SORT -k 1.x a
$SORT -k 1,1z a
$SORT -k 1x a
$SORT -k 99999999999999999999 a
$SORT -k 1,99999999999999999999 a
$SORT -k 1.99999999,2.99999999 a
$SORT -k
$SORT -t
$SORT -ni a
$SORT -nd a
$SORT -k1ni a
$SORT -k1nfd -k1x a
$SORT -nid -k1,1b a
$SORT -di a
$SORT -dif a
$SORT -c -k1,1 a
$SORT -c -k2,2n a
$SORT -cu -k1,1 b
$SORT -su -k1,1 b
$SORT -ru -t, -k1,1 b
$SORT -m -k1,1 a b a
for i in $(seq 9); do seq $i 40 400 | sed s/$/:$i/ >f$i; done; $SORT -m -s -n --batch-size=2 f*
for i in $(seq 9); do seq $((i+9)) 99 | sed s/$/:$i/ >f$i; done; $SORT -m -u -k1.1,1.2n --batch-size=3 f*
$SORT -k2n -o a a; cat a
cat a | $SORT -k2n - b
$SORT --sort=version a
$SORT --sort=g a
$SORT -gM a
$SORT -hn a
$SORT -nR a
$SORT -R -k2,2n a
# Keys of old are files, as under the POSIX of 2001.
export _POSIX2_VERSION=200112; $SORT +1 a
export _POSIX2_VERSION=200112; cp a +1; $SORT +1 a
export _POSIX2_VERSION=200112; $SORT +1x a
export POSIXLY_CORRECT=1; $SORT -r -- +1 -2 a
$SORT --compress-program=a --compress-program=b a
printf '1e3\n999\n0x3e7\n-inf\nnan\nx\n1e4931\n2e4931\n' | $SORT -gs
printf '1K\n2\n1M\n0.5G\n-1K\n1k\n' | $SORT -h
