# Pipes, terminals, descriptors that are closed or do not wait.

## filter: stdin to stdout
x < "$KIT/a" > ../out
code 0; silent; packed ../out a
x -d < ../out > ../text
code 0; same "$KIT/a" ../text

## dev-full-$FLAG: a full device is an error | FLAG in -zc -dc
take a a.bz2
case $FLAG in -zc) x -c a > /dev/full ;; -dc) x -dc a.bz2 > /dev/full ;; esac
code 1; kept a a.bz2

## dev-full-garbage: also where trailing garbage is ignored
{ cat "$KIT/b.bz2"; echo garbage; } > g.bz2
x -dc g.bz2 > /dev/full
code 1

## closed-stdin: an error, and not one byte
x < <(:) <&- > ../out
code 1; [ ! -s ../out ] || bad "$(stat -c %s ../out) bytes on stdout"

## closed-stdout: an error
take a
x -c a >&-
code 1; kept a

## closed-stderr: no message ends up in a file
take a damaged.bz2
timeout -k 1 "$LIMIT" "$X" -d damaged.bz2 2>&- >/dev/null; rc=$?
code 2; only a damaged.bz2; kept damaged.bz2

## all-closed: works
take a
timeout -k 1 "$LIMIT" "$X" a <&- >&- 2>&-; rc=$?
code 0; only a.bz2; packed a.bz2 a

## reader-gone-$FLAG: ends at once, by SIGPIPE or a code | FLAG in -zc -dc
take n n.bz2
case $FLAG in -zc) from=n ;; -dc) from=n.bz2 ;; esac
timeout -k 1 "$LIMIT" "$X" $FLAG $from 2>../err | head -c 10 > /dev/null; rc=${PIPESTATUS[0]}
[ "$rc" != 0 ] && [ "$rc" != 124 ] || bad "exit $rc"; kept n n.bz2; silent; ! ours || [ "$rc" = 141 ] || bad "exit $rc"

## reader-gone-ignored: with SIGPIPE ignored, an exit code
take n; trap '' PIPE
timeout -k 1 "$LIMIT" "$X" -c n 2>../err | head -c 10 > /dev/null; rc=${PIPESTATUS[0]}
[ "$rc" != 0 ] && [ "$rc" -lt 124 ] || bad "exit $rc"; kept n; silent

## slow-pipe: a byte now and then
{ head -c 1000 "$KIT/a"; sleep 0.2; tail -c +1001 "$KIT/a"; } |
    timeout -k 1 "$LIMIT" "$X" -c > ../out 2>../err
rc=${PIPESTATUS[1]}
code 0; packed ../out a

## nonblocking-stdin [python3]: waits
rc=0
{ sleep 0.3; cat "$KIT/a"; } | timeout -k 1 "$LIMIT" python3 -c '
import os, sys
os.set_blocking(0, False)
os.execv(sys.argv[1], [sys.argv[1], "-c"])' "$X" > ../out 2>../err || rc=$?
code 0; packed ../out a

## nonblocking-stdout [python3]: waits
rc=0
timeout -k 1 "$LIMIT" python3 -c '
import os, sys
os.set_blocking(1, False)
os.execv(sys.argv[1], [sys.argv[1], "-dc", sys.argv[2]])' "$X" "$KIT/n.bz2" 2>../err |
    { sleep 0.3; cat; } > ../out
rc=${PIPESTATUS[0]}
code 0; cmp -s ../out "$KIT/n" || bad "other bytes"

## terminal-$FLAG [script]: compressed data go to no terminal, and come from none | FLAG in -c -dc
take a
script -qec "$X $FLAG $([ $FLAG = -c ] && echo a)" /dev/null < /dev/null > ../out 2>&1; rc=$?
code 1; kept a; ! grep -qa BZh ../out || bad "compressed data on the terminal"

## several-on-stdout: one after the other
take a b
x -c a b > ../out
code 0; cat "$KIT/a" "$KIT/b" | cmp -s - <(unpack < ../out) || bad "other bytes"

## damage-in-the-middle-of-several: what follows on stdout does not hide it
take a.bz2 damaged.bz2 b.bz2
x -dc a.bz2 damaged.bz2 b.bz2 > ../out
code 2; ! tail -c 6 ../out | cmp -s - "$KIT/b" || bad "the last file came out after the damage"
says "some files have not been processed:"

## force-cat-of-a-pipe: what is no bzip2 passes unchanged with -dcf
head -c 8893 "$KIT/a" > ../plain
timeout -k 1 "$LIMIT" "$X" -dcf < <(cat ../plain) > ../out 2>../err; rc=$?
code 0; same ../plain ../out

## force-cat-garbage: -dcf of a file with trailing garbage writes its text, and not the file again
{ cat "$KIT/a.bz2"; echo garbage; } > g.bz2
x -dcf g.bz2 > ../out
[ "$rc" -lt 124 ] || bad "exit $rc"; head -c 300000 ../out | cmp -s - "$KIT/a" || bad "other bytes"
[ "$(stat -c %s ../out)" -lt 300100 ] || bad "$(stat -c %s ../out) bytes"

## proc-file: a file whose size says 0
x -c /proc/self/status > ../out
code 0; unpack < ../out 2>/dev/null | grep -q Name || bad "no text"

## tar [tar]: as tar's filter
mkdir d; cp "$KIT/a" d
tar -I "$X" -cf t.tbz2 d 2>../err || bad "tar -c"; mkdir e; tar -I "$X" -xf t.tbz2 -C e 2>>../err || bad "tar -x"
same "$KIT/a" e/d/a

## fifo-on-stdout-cat: a FIFO is read with -c
mkfifo f; cat "$KIT/a" > f & 
x -c f > ../out
code 0; packed ../out a; wait
