# Compressed data: what follows a stream, what is cut, what is wrong. (Section `format` has the traps of the format.)

## trailing-$N: what is no stream is ignored, with a remark | N in text zeros ones gzip BZx BZh0 newline
case $N in
text) more='some text' ;; ones) more=$'\xff\xff\xff' ;;
gzip) more=$'\x1f\x8b\x08' ;; BZx) more=BZx ;; BZh0) more=BZh0 ;;
newline) more=$'\n' ;; zeros) more= ;;
esac
{ cat "$KIT/a.bz2"; printf %s "$more"; [ $N != zeros ] || head -c 1000 /dev/zero; } > t.bz2
x -dc t.bz2 > ../out
code 0; same "$KIT/a" ../out; says "trailing garbage"

## cut-magic-$MAGIC: a stream that is only begun is an error | MAGIC in B BZ BZh BZh9 BZh91AY&S
{ cat "$KIT/a.bz2"; printf %s "$MAGIC"; } > t.bz2; cp t.bz2 ../t
x -d t.bz2
code 2; only t.bz2; same ../t t.bz2
x -t t.bz2
code 2

## bad-second-stream: a second stream of nonsense is damage
{ cat "$KIT/a.bz2"; printf 'BZh9junkjunkjunk'; } > t.bz2
x -d t.bz2
code 2; only t.bz2

## cut-at-$N: refused, the file stays | N in 1 3 4 5 10 14 100 1000 20000 -1 -4 -10
head -c $N "$KIT/a.bz2" > t.bz2; cp t.bz2 ../t
x -d t.bz2
code 2; only t.bz2; same ../t t.bz2

## flipped-$N: one bit: refused, the file stays | N in 0 2 4 10 14 18 40 300 5000 20000
cp "$KIT/a.bz2" t.bz2; old=$(od -An -tu1 -j $N -N 1 t.bz2)
printf "\\x$(printf %x $((old ^ 16)))" | dd of=t.bz2 bs=1 seek=$N conv=notrunc status=none; cp t.bz2 ../t
x -d t.bz2
code 2; only t.bz2; same ../t t.bz2

## concatenated-$N: all of them | N in 2 50 2000
for i in $(seq $N); do cat "$KIT/b.bz2"; done > t.bz2
x -dc t.bz2 > ../out
code 0; [ "$(stat -c %s ../out)" = $((N * 6)) ] || bad "$(stat -c %s ../out) bytes"

## levels-mixed: each stream has its own
for i in 1 5 9; do printf 'text %s\n' $i | "$X" -c$i; done > t.bz2
x -dc t.bz2 > ../out
code 0; printf 'text 1\ntext 5\ntext 9\n' | cmp -s - ../out || bad "other text"

## not-bzip2: refused
take a; mv a a.bz2
x -d a.bz2
code 2; only a.bz2; same "$KIT/a" a.bz2

## damaged-to-stdout: nothing that no CRC covers
x -dc "$KIT/damaged.bz2" > ../out
code 2; ! ours || cmp -s -n "$(stat -c %s ../out)" ../out "$KIT/a" || bad "unchecked bytes"

## same-bytes-$LEVEL [hybz bzip2]: bzip2's | LEVEL in 1 2 3 4 5 6 7 8 9
from=$KIT/a; case $LEVEL in 1 | 5 | 9) from=$KIT/n ;; esac
x -c$LEVEL "$from" > ../out
code 0; bzip2 -c$LEVEL "$from" | cmp -s - ../out || bad "other bytes than bzip2's"

## hbz-$BLOCK [hybz]: there and back | BLOCK in 1M 4M
take n
x --block-size $BLOCK n
code 0; only n.hbz
x -d n.hbz
code 0; only n; kept n

## hbz-cut-at-$N [hybz]: refused, the file stays | N in 1 4 20 1000 -1 -20
head -c 300000 "$KIT/n" > z; "$X" --block-size 1M z; head -c $N z.hbz > t.hbz; cp t.hbz ../t; rm z.hbz
x -d t.hbz
code 2; only t.hbz; same ../t t.hbz

## hbz-flipped-$N [hybz]: refused or the right text | N in 0 5 9 30 100 1000 200000
head -c 300000 "$KIT/n" > z; cp z ../z; "$X" --block-size 1M z; mv z.hbz t.hbz; old=$(od -An -tu1 -j $N -N 1 t.hbz)
printf "\\x$(printf %x $((old ^ 16)))" | dd of=t.hbz bs=1 seek=$N conv=notrunc status=none
x -d t.hbz
code 0 2; [ "$rc" != 0 ] || same ../z t

## hbz-and-bz2-$ORDER: both are ours: both are decoded | ORDER in hb bh
"$X" -k --block-size 1M -c "$KIT/a" > h.hbz; cp "$KIT/b.bz2" b.bz2
case $ORDER in
hb) cat h.hbz b.bz2 > t.hbz; cat "$KIT/a" "$KIT/b" > ../want ;;
bh) cat b.bz2 h.hbz > t.hbz; cat "$KIT/b" "$KIT/a" > ../want ;;
esac
x -dc t.hbz > ../out
code 0; same ../want ../out

## hbz-memory-too-small: -m too small says what is needed
head -c 9000000 "$KIT/n" > z; x --block-size 9M z
x -m1 -t z.hbz
code 0 1; [ "$rc" = 0 ] || says "-m"
