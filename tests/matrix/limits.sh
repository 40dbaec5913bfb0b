# Little memory, few threads, small limits. (The program itself counts too. The test build is 1 MB larger than a release
# build, for which 20 MB suffice: with 22,000 kB 7 of 20 runs of this build succeeded, and 15 of the build before it;
# with 22,020 kB all of both.)

## compress-in-$V-kB: done (ulimit -v) | V in 22200 30000 40000 52000 60000 100000 150000 152000 155000 200000 400000
take n; ulimit -v $V
x n
code 0; only n.bz2
ulimit -v unlimited 2>/dev/null; packed n.bz2 n

## decompress-in-$V-kB: done (ulimit -v) | V in 20000 30000 40000 52000 60000 100000 150000 152000 155000 200000 400000
take n.bz2; ulimit -v $V
x -d n.bz2
code 0; only n; kept n

## data-in-$V-kB: done (ulimit -d) | V in 20000 40000 100000
take n; ulimit -d $V
x n
code 0; only n.bz2

## threads-in-$V-kB [hybz]: as many as fit, of -p8 | V in 40000 100000 200000
take n; ulimit -v $V
x -p8 n
code 0; only n.bz2; packed n.bz2 n

## next-to-nothing: a sentence and exit 1, no core (ulimit -v 12000)
take n; ulimit -v 12000
x -9 n
[ "$rc" -lt 124 ] || bad "exit $rc"; [ "$rc" = 0 ] || { only n; kept n; says "emory"; }

## next-to-nothing-hidden [hybz]: a hidden file is removed, too
take n; ulimit -v 12000; FAULT=tmpfile
x -9 n
[ "$rc" -lt 124 ] || bad "exit $rc"; [ "$rc" = 0 ] || { only n; kept n; }

## large-block-in-$V-kB [hybz]: --block-size 64M is refused with a sentence | V in 100000 200000 400000
head -c 60000000 /dev/zero | tr '\0' x > z; ulimit -v $V
x --block-size 64M z
code 1; only z; says "memory"

## large-block-in-a-group-of-$M-MB [hybz root]: the same, and it is not killed | M in 64 256
group_of $M
head -c 60000000 /dev/urandom > z
( echo $BASHPID > $group/cgroup.procs; x --block-size 64M z; code 1; says "memory"; exit $failed ) || failed=1
only z

## group-of-$M-MB [root]: a small container is enough | M in 24 32 64 256
group_of $M
take n
( echo $BASHPID > $group/cgroup.procs; x n; code 0; x -d n.bz2; code 0; exit $failed ) || failed=1
only n; kept n

## no-processes-$WHAT [root setpriv prlimit]: not one more thread (RLIMIT_NPROC) | WHAT in compress force decompress
# A user of its own: the limit counts all processes of a user, also those of other scenarios.
user=$((65500 + ${#WHAT}))
take a a.bz2; chown $user . a a.bz2; AS=(prlimit --nproc=1 setpriv --reuid $user --regid 65534 --clear-groups)
case $WHAT in
compress) rm a.bz2; x a; code 0; only a.bz2; packed a.bz2 a ;;
force) x -f a; code 0; only a.bz2; packed a.bz2 a ;;
decompress) rm a; x -d a.bz2; code 0; only a; kept a ;;
esac

## stack-of-$S-kB: done (ulimit -s) | S in 64 80 128 1000
take n; AS=(sh -c 'ulimit -s $0 && exec "$@"' $S)
x n
code 0; only n.bz2; packed n.bz2 n
x -d n.bz2
code 0; only n; kept n
x --help > ../out
code 0; [ -s ../out ] || bad "there is no help"

## stack-of-64-kB-alone [hybz]: no thread can be had either: a sentence and exit 1
take n; AS=(sh -c 'ulimit -s 64 && exec "$@"' -); FAULT=nothread
x n
code 1; only n; kept n; says "ulimit -s"

## file-size-limit: nothing is left, the source stays (ulimit -f)
take n
( ulimit -c 0; ulimit -f 2000; x n; [ "$rc" != 0 ] || bad "exit 0"
! ours || [ "$rc" = 153 ] || bad "exit $rc"; exit $failed ) || failed=1
only n; kept n

## small-$FLAG: little memory (10 MB; 4 for hybz) | FLAG in -s -ds
mkfifo p; exec 3<> p; take n n.bz2; limit=10000; ours && limit=4000
case $FLAG in -s) from=n ;; -ds) "$X" -1c n > n.bz2; from=n.bz2 ;; esac
start $FLAG -c < p > /dev/null 3>&-; head -c 6000000 $from >&3; sleep 0.5; below $(own) $limit; exec 3>&-; ended

## tiny-$FLAG: 3 MB for 6 bytes | FLAG in -9 -dc
mkfifo p; exec 3<> p
start $FLAG -c < p > /dev/null 3>&-; case $FLAG in -9) cat "$KIT/b" >&3 ;; *) cat "$KIT/b.bz2" >&3 ;; esac
sleep 0.3; below $(own) 3000; exec 3>&-; ended

## bomb-with-a-slow-reader: 932 MB out of 900 bytes, nobody reads: bounded memory
mkfifo p; "$X" -dc < "$KIT/bomb.bz2" > p 2>../err & pid=$!
exec 3< p; head -c 1000 <&3 > /dev/null; sleep 1
below $(peak) 110000; kill $pid; exec 3<&-; wait

## bomb-in-40-MB: the same, all of it, within ulimit -v 40000
ulimit -v 40000
rc=0; timeout -k 1 120 "$X" -dc < "$KIT/bomb.bz2" 2>../err | wc -c > ../out; rc=${PIPESTATUS[0]}
code 0; is ../out 932400000

## threads-$N [hybz]: nonsense is refused or capped
| N in 100000000 1000000000 9223372036854775808
take b; ulimit -v 4000000
x -p$N b
code 0 1; [ "$rc" = 0 ] && only b.bz2 || kept b

## threads-in-HYBZ-$N [hybz]: by the environment, too | N in 1000000000 9223372036854775808
take b; ulimit -v 4000000; export HYBZ=-p$N
x b
code 0 1; [ "$rc" = 0 ] && only b.bz2 || kept b

## one-core: works with an affinity to one core
take n
start n; taskset -pc 0 $pid > /dev/null 2>&1; ended
code 0; only n.bz2; packed n.bz2 n

## threads-256 [hybz]: many more threads than cores
take n
x -p256 n
code 0; only n.bz2; packed n.bz2 n

## hbz-slow-reader-m50: within -m50 and 32 MB while .hbz is decoded, or refused
head -c 640000000 /dev/zero > z; x --block-size 64M z; code 0
mkfifo p; "$X" -m50 -dc z.hbz > p 2>../err & pid=$!
exec 3< p; head -c 1000 <&3 > /dev/null; sleep 2
if kill -0 $pid 2>/dev/null; then below $(peak) 82000; kill $pid; exec 3<&-; wait; else ended; code 0 1; fi

## hbz-in-a-group-of-$M-MB [hybz root]: within the group or refused, never killed | M in 256
group_of $M
head -c 640000000 /dev/zero > z; x --block-size 64M z; code 0
( echo $BASHPID > $group/cgroup.procs; x -dc z.hbz > /dev/null; code 0 1; exit $failed ) || failed=1
