# System calls that fail, are interrupted, or do less than asked.

## $CALL-fails: the source stays, no part of a result | CALL in read write close fchmod
take a; FAULT=$CALL
x -1 a
code 1; only a; kept a

## $CALL-fails-decompressing: the file stays, no part of a result | CALL in read write close fchmod
take a.bz2; FAULT=$CALL
x -d a.bz2
code 1; only a.bz2; kept a.bz2

## $CALL-fails-force: the old result stays | CALL in read write close fdatasync tmpfile,rename
take a; echo old > a.bz2; FAULT=$CALL
x -1f a
code 1; only a a.bz2; kept a; is a.bz2 old

## $CALL-fails-hidden [hybz]: the same with a hidden file | CALL in write close fdatasync rename fchmod
take a; FAULT=tmpfile,$CALL
x -1 a
code 1; only a; kept a

## write-$N-fails: any of them | N in 2 3 4 5 8
take n; FAULT=write@$N
x -1 n
code 1; only n; kept n

## read-$N-fails: any of them | N in 2 3 4 5 8
take n; FAULT=read@$N
x -1 n
code 1; only n; kept n

## $CALL-fails-stdout-$FLAG: an error, not a short stream | CALL in read write close1 | FLAG in -zc -dc
take a a.bz2; FAULT=$CALL
case $FLAG in -zc) x -1c a > ../out ;; -dc) x -dc a.bz2 > ../out ;; esac
code 1; kept a a.bz2

## $CALL-fails [hybz]: nothing is removed that is not safe | CALL in fdatasync fsync linkat
take a; FAULT=$CALL
x a
code 1; kept a

## unlink-fails: both stay, and that is an error
take a; FAULT=unlink
x a
code 1; kept a; packed a.bz2 a; says "Can't remove input file a: Input/output error."

## rename-fails-force [hybz]: the old result stays
take a; echo old > a.bz2; FAULT=rename
x -f a
code 1; only a a.bz2; kept a; is a.bz2 old

## $HOW: the same bytes
| HOW in short eintr short,eintr tmpfile,short,eintr noreplace,tmpfile
head -c 30000 "$KIT/a" > s; cp s ../s; FAULT=$HOW
x s
code 0; only s.bz2; unpack < s.bz2 | cmp -s - ../s || bad "other bytes"
x -d s.bz2
code 0; only s; same ../s s
case $HOW in *tmpfile*) ;; *) x -c s > ../out; code 0; unpack < ../out | cmp -s - ../s || bad "other bytes" ;; esac

## no-thread-$WHAT: works with the only thread | WHAT in compress decompress force hidden
take n n.bz2; FAULT=nothread
case $WHAT in
compress) rm n.bz2; x n; code 0; only n.bz2; packed n.bz2 n ;;
decompress) rm n; x -d n.bz2; code 0; only n; kept n ;;
force) echo old > n.bz2; x -f n; code 0; only n.bz2; packed n.bz2 n ;;
hidden) FAULT=nothread,tmpfile; rm n.bz2; x n; code 0; only n.bz2; packed n.bz2 n ;;
esac

## disk-rots-$HOW [hybz]: --verify=file finds it: the source stays, no result | HOW in new hidden
take a; FAULT=rot; [ $HOW = new ] || FAULT=tmpfile,rot
x -1 --verify=file a
code 3; only a; kept a; says "read again from the disk, are not the same"

## disk-rots-over-old [hybz]: the old result stays
take a; echo old > a.bz2; FAULT=rot
x -1f --verify=file a
code 3; only a a.bz2; kept a; is a.bz2 old

## $CALL-fails-verified [hybz]: the source stays, no part of a result | CALL in read@3 write fdatasync linkat
take a; FAULT=$CALL
x -1 --verify=file a
code 1; only a; kept a

## name-of-another-file-$FAULTY [hybz]: an error, and the source stays: what has the name is not the result
| FAULTY in misled swapped tmpfile,swapped
take a; echo decoy > decoy; echo old > a.bz2; FAULT=$FAULTY
[ $FAULTY != misled ] || rm a.bz2
x -1f a
code 1; kept a; says "leads to another file"

## kill-before-rename-$THEN [hybz]: the complete hidden file goes with the next call on that name | THEN in new old kept
take a; echo old > a.bz2; FAULT=killrename
start -f a; ended
only .a.bz2.hybz-tmp a a.bz2; kept a; is a.bz2 old; FAULT=
case $THEN in
new) rm a.bz2; x a; code 0; only a.bz2; packed a.bz2 a ;;
old) x -f a; code 0; only a.bz2; packed a.bz2 a ;;
kept) x a; code 1; only a a.bz2; kept a; is a.bz2 old ;;
esac

## kill-before-rename-read-only [hybz root]: the same where the source belongs to another user and is read-only
take a; chown 65534 a; chmod 444 a; echo old > a.bz2; FAULT=killrename
start -f a; ended
only .a.bz2.hybz-tmp a a.bz2; rm a.bz2; FAULT=
x a; code 0; only a.bz2; packed a.bz2 a
