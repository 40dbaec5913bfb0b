# Signals at any time: the source is whole or the result is, and no part of a result has its name.

## $SIGNAL-after-$T: whole source or whole result | SIGNAL in INT TERM HUP QUIT XCPU ALRM KILL | T in 0.03 0.12 0.3
take n
start n; sleep $T; kill -$SIGNAL $pid 2>/dev/null; ended
[ -e n ] && kept n || packed n.bz2 n
[ ! -e n.bz2 ] || packed n.bz2 n
case $(ls -A | tr '\n' ' ') in 'n ' | 'n.bz2 ' | 'n n.bz2 ') ;; *) bad "there is: $(ls -A)" ;; esac
! ours || [ "$rc" = 0 ] || [ "$rc" = $((128 + $(kill -l $SIGNAL))) ] || bad "exit $rc: not by the signal itself"

## $SIGNAL-decompressing: whole file or whole text | SIGNAL in INT TERM HUP KILL
take n.bz2
start -d n.bz2; sleep 0.1; kill -$SIGNAL $pid 2>/dev/null; ended
[ -e n.bz2 ] && kept n.bz2 || kept n
[ ! -e n ] || kept n
case $(ls -A | tr '\n' ' ') in 'n ' | 'n.bz2 ' | 'n n.bz2 ') ;; *) bad "there is: $(ls -A)" ;; esac

## $SIGNAL-force: the old result stays or the new one is whole | SIGNAL in INT TERM HUP KILL
take n; echo old > n.bz2
start -f n; sleep 0.15; kill -$SIGNAL $pid 2>/dev/null; ended
[ "$(head -c 3 n.bz2 2>/dev/null)" = old ] || packed n.bz2 n
[ -e n ] && kept n || packed n.bz2 n

## $SIGNAL-hidden [hybz]: a hidden file is removed | SIGNAL in INT TERM HUP QUIT XCPU
take n; FAULT=tmpfile
start n; sleep 0.15; kill -$SIGNAL $pid 2>/dev/null; ended
[ -e n ] && kept n || packed n.bz2 n
[ "$rc" = 0 ] || [ "$rc" = $((128 + $(kill -l $SIGNAL))) ] || bad "exit $rc: not by the signal itself"
case $(ls -A | tr '\n' ' ') in 'n ' | 'n.bz2 ') ;; *) bad "there is: $(ls -A)" ;; esac

## $SIGNAL-hidden-no-thread [hybz]: also where no thread is to be had | SIGNAL in INT TERM
mkfifo p; exec 3<> p; FAULT=tmpfile,nothread
start -o out < p 3>&-; cat "$KIT/a" >&3; sleep 0.3; kill -$SIGNAL $pid; ended; exec 3>&-
[ "$rc" -ge 128 ] || bad "exit $rc"; only p

## TERM-is-the-cause: the waiting process sees the signal, so that loops stop
take n
start n; sleep 0.1; kill -TERM $pid; ended
[ -e n ] || exit 0
ours && [ "$rc" != 143 ] && bad "exit $rc"
[ "$rc" != 0 ] || bad "exit 0"

## nohup: what is ignored stays ignored
mkfifo p; exec 3<> p; trap '' HUP
start -c < p > ../out 3>&-; cat "$KIT/a" >&3; sleep 0.2; kill -HUP $pid; sleep 0.1; exec 3>&-; ended
code 0; packed ../out a

## nohup-hidden [hybz]: also where the result has a hidden name
mkfifo a; exec 3<> a; trap '' HUP; FAULT=tmpfile
start -o out -f a 3>&-; cat "$KIT/b" >&3; sleep 0.2; kill -HUP $pid; sleep 0.1; exec 3>&-; ended
code 0; packed out b

## stopped-and-continued: nothing happens
take n
start n; sleep 0.1; kill -STOP $pid; sleep 0.2; kill -CONT $pid; ended
code 0; only n.bz2; packed n.bz2 n

## KILL-at-call-$N-$HOW [hybz]: whole source or whole result, when it is verified too 
| N in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
| HOW in --verify --verify=file
take a; FAULT=kill@$N
start -1 $HOW a; ended
[ -e a ] && kept a || packed a.bz2 a
[ ! -e a.bz2 ] || packed a.bz2 a
case $(ls -A | tr '\n' ' ') in 'a ' | 'a.bz2 ' | 'a a.bz2 ') ;; *) bad "there is: $(ls -A)" ;; esac

## KILL-at-call-$N-hidden-verify [hybz]: the same with a hidden file | N in 2 5 8 11 14 17 20
take a; FAULT=tmpfile,kill@$N
start -1 --verify=file a; ended
[ -e a ] && kept a || packed a.bz2 a
[ ! -e a.bz2 ] || packed a.bz2 a
