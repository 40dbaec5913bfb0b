# What happens to files: names, kinds, owners, modes, times, and who else touches them.

## compress: the result takes the source's place
take a
x a
code 0; silent; only a.bz2; packed a.bz2 a

## decompress: the text takes the file's place
take a.bz2
x -d a.bz2
code 0; silent; only a; kept a

## keep-$FLAG: the source stays | FLAG in -k -dk
case $FLAG in -k) take a; x -k a ;; -dk) take a.bz2; x -dk a.bz2 ;; esac
code 0; only a a.bz2; kept a; packed a.bz2 a

## stdout-keeps: -c leaves the source alone
take a
x -c a > ../out
code 0; only a; kept a; packed ../out a

## test-keeps: -t leaves the file alone
take a.bz2
x -t a.bz2
code 0; only a.bz2; kept a.bz2

## exists-$FLAG: an existing result is not touched without -f | FLAG in -z -d
take a a.bz2
case $FLAG in -z) echo old > a.bz2; x a ;; -d) echo old > a; x -d a.bz2 ;; esac
code 1; says "already exists"; only a a.bz2
case $FLAG in -z) kept a; is a.bz2 old ;; -d) kept a.bz2; is a old ;; esac

## exists-force-$FLAG: with -f it is replaced | FLAG in -z -d
take a a.bz2
case $FLAG in -z) echo old > a.bz2; x -f a ;; -d) echo old > a; x -df a.bz2 ;; esac
code 0
case $FLAG in -z) only a.bz2; packed a.bz2 a ;; -d) only a; kept a ;; esac

## force-over-damaged: -df of a damaged file keeps the old text
take damaged.bz2
echo old > damaged
x -df damaged.bz2
code 2; only damaged damaged.bz2; is damaged old; kept damaged.bz2

## force-over-cut: -df of a cut file keeps the old text
take cut.bz2
echo old > cut
x -df cut.bz2
code 2; only cut cut.bz2; is cut old; kept cut.bz2

## force-missing-source: -df of a file that is missing keeps the old text
echo old > a
x -df a.bz2
code 1; only a; is a old

## force-write-fails: a full disk keeps the old result
take n
echo old > n.bz2
( ulimit -f 2000; trap '' XFSZ; x -f n; [ "$rc" != 0 ] || bad "exit 0"; exit $failed ) || failed=1
only n n.bz2; is n.bz2 old; kept n

## output-is-symlink: a link where the result would be is not followed
take a
echo victim > ../victim; ln -s ../victim a.bz2
x a
code 1; is ../victim victim; kept a; [ -L a.bz2 ] || bad "the link is gone"

## output-is-symlink-force: with -f the link is replaced, not what it leads to
take a
echo victim > ../victim; ln -s ../victim a.bz2
x -f a
code 0; is ../victim victim; only a.bz2; [ ! -L a.bz2 ] || bad "still a link"; packed a.bz2 a

## output-is-dangling-symlink: nothing is made where it leads
take a
ln -s ../target a.bz2
x a
code 1; gone ../target; kept a; [ -L a.bz2 ] || bad "the link is gone"

## output-is-dangling-symlink-force: with -f the link itself is replaced
take a
ln -s ../target a.bz2
x -f a
code 0; gone ../target; packed a.bz2 a; [ ! -L a.bz2 ] || bad "still a link"

## output-is-directory: a directory is not replaced, with -f neither
take a
mkdir a.bz2
x -f a
code 1; kept a; only a a.bz2; [ -d a.bz2 ] || bad "the directory is gone"

## input-is-symlink: not followed
take a; ln -s a link
x link
code 1; only a link; kept a

## input-is-symlink-stdout: followed with -c
take a; ln -s a link
x -c link > ../out
code 0; only a link; packed ../out a

## input-is-symlink-force: with -f its target is compressed, and the link goes
take a; mv a ../a; ln -s ../a link
x -f link
code 0; only link.bz2; cmp -s ../a "$KIT/a" || bad "the target changed"; packed link.bz2 a

## input-has-hard-links: not removed, because another name has the same file
take a; ln a other
x a
code 1; says "other link"; only a other; kept a; same "$KIT/a" other

## input-has-hard-links-force: with -f, and the other name stays
take a; ln a other
x -f a
code 0; only a.bz2 other; packed a.bz2 a; cmp -s other "$KIT/a" || bad "the other changed"

## input-is-directory: refused, the others are done
take a; mkdir d
x d a
code 1; only a.bz2 d

## input-is-missing: refused, the others are done
take a b
x a missing b
code 1; only a.bz2 b.bz2

## input-is-fifo-$FLAG: a FIFO that nobody writes to does not hang | FLAG in -z -d
mkfifo f.bz2 f; LIMIT=10
case $FLAG in -z) x f ;; -d) x -d f.bz2 ;; esac
code 1; only f f.bz2; says "is not a normal file"

## input-is-device: a device is not compressed
x /dev/null
code 1; [ -c /dev/null ] || bad "no device any more"; only

## test-device [root]: -t as root leaves a device alone
before=$(stat -c %a%t%T /dev/null)
x -t /dev/null
[ "$rc" -lt 124 ] || bad "exit $rc"; [ "$(stat -c %a%t%T /dev/null)" = "$before" ] || bad "the device changed"

## unreadable [root setpriv]: a file that may not be read stays
take a b; chmod 0 a; chmod 777 .; chown 1 a; chown 65534 b; AS=("${NOBODY[@]}")
x a b
code 1; only a b.bz2; says "Can't open input file a: Permission denied"

## read-only-directory-$FLAG [root setpriv]: nothing is changed | FLAG in -z -d -f
take a a.bz2; [ $FLAG = -d ] && rm a || rm a.bz2
chown 65534 *; chmod 555 .; AS=("${NOBODY[@]}")
case $FLAG in -d) x -d a.bz2 ;; *) x $FLAG a ;; esac
code 1; case $FLAG in -d) only a.bz2; kept a.bz2 ;; *) only a; kept a ;; esac
says "Can't create output file a"

## unlisted-directory [root setpriv]: a directory that may be written and not be listed will do
mkdir d; cp "$KIT/a" d; chown -R 65534 d; chmod 300 d; AS=("${NOBODY[@]}")
x d/a
code 0; packed d/a.bz2 a; gone d/a

## missing-directory [hybz]: a sentence, and the source stays
take a
x -o no/such/dir/x a
code 1; only a; says "Can't create output file no/such/dir/x: No such file or directory."

## sticky-directory [root setpriv]: a source that cannot be removed stays, and that is an error
take a; chmod 1777 .; chmod 644 a; chown 1 a; AS=("${NOBODY[@]}")
x a
code 1; kept a; says "remove"

## odd-name-$N: names are bytes | N in 1 2 3 4 5 6 7 8
names=('' $'new\nline' '%s%n' "'quote\"" ' spaces  in ' $'\xff\xfe' '.hidden' '*' '$(touch x)')
cp "$KIT/a" "${names[$N]}"
x "${names[$N]}"
code 0; [ "$(ls -A | wc -l)" = 1 ] || [ $N = 1 ] || bad "there is: $(ls -A)"
packed "${names[$N]}.bz2" a
x -d "${names[$N]}.bz2"
code 0; same "$KIT/a" "${names[$N]}"

## name-like-a-flag: after -- everything is a file
cp "$KIT/a" ./-x
x -- -x > ../out
code 0; only -x.bz2; packed ./-x.bz2 a

## longest-name: 251 bytes and a suffix
name=$(printf 'n%.0s' {1..251}); cp "$KIT/a" $name
x $name
code 0; only $name.bz2; packed $name.bz2 a

## too-long-name: no room for a suffix: the source stays
name=$(printf 'n%.0s' {1..253}); cp "$KIT/a" $name
x $name
code 1; only $name; same "$KIT/a" $name

## suffix-$S: what has a suffix is not compressed again | S in bz2 bz tbz2 tbz
cp "$KIT/a" f.$S
x f.$S
code 1; only f.$S; same "$KIT/a" f.$S

## suffix-force-$S: with -f neither | S in bz2 bz tbz2 tbz
cp "$KIT/a" f.$S
x -f f.$S
code 1; only f.$S; same "$KIT/a" f.$S

## own-results: results of this call are not its inputs
cp "$KIT/a" f; cp "$KIT/a" g; echo old > g.bz2
x -f f g g.bz2
packed f.bz2 a; packed g.bz2 a; only f.bz2 g.bz2

## made-by-this-call: an operand that an earlier one makes is done, too
take a.bz2; mv a.bz2 x; "$X" x 2>/dev/null; mv x.bz2 y 2>/dev/null; mv y x.bz2
x -d x.bz2 x
code 0; only x.out; same "$KIT/a" x.out

## unknown-suffix: NAME.out, with a remark
cp "$KIT/a.bz2" packed
x -d packed
code 0; only packed.out; same "$KIT/a" packed.out; says "Can't guess original name"

## tar-suffix-$S: becomes .tar | S in tbz2 tbz
cp "$KIT/a.bz2" f.$S
x -d f.$S
code 0; only f.tar; same "$KIT/a" f.tar

## nothing-but-suffix: no name is left for the result: the file stays
cp "$KIT/a.bz2" .bz2
x -d .bz2
code 1; only .bz2; says "Can't create output file : No such file or directory."

## empty-file: 14 bytes
: > e
x e
code 0; only e.bz2; [ "$(od -An -tx1 e.bz2 | tr -d ' \n')" = 425a683917724538509000000000 ] || bad "other bytes"

## empty-compressed-file: refused, and stays
: > e.bz2
x -d e.bz2
code 2; only e.bz2

## mode-$M: the result has the source's | M in 600 640 755 444 604
take a; chmod $M a
x a
code 0; [ "$(stat -c %a a.bz2)" = $M ] || bad "mode $(stat -c %a a.bz2)"
x -d a.bz2
code 0; [ "$(stat -c %a a)" = $M ] || bad "mode $(stat -c %a a)"

## mode-setuid: set-user-ID is not copied
take a; chmod 6755 a
x a
code 0; [ "$(stat -c %a a.bz2)" = 755 ] || bad "mode $(stat -c %a a.bz2)"

## mode-after-garbage: also where trailing garbage is ignored
take a.bz2; echo garbage >> a.bz2; chmod 640 a.bz2
x -d a.bz2
code 0; [ "$(stat -c %a a)" = 640 ] || bad "mode $(stat -c %a a)"

## times: modification time to the nanosecond
take a; touch -d '2001-02-03 04:05:06.789' a; ! ours || touch -a -d '2000-01-02 03:04:05.678' a
before=$(stat -c %.9Y a); accessed=$(stat -c %.9X a)
x a
code 0; [ "$(stat -c %.9Y a.bz2)" = "$before" ] || bad "$(stat -c %.9Y a.bz2), not $before"
! ours || [ "$(stat -c %.9X a.bz2)" = "$accessed" ] || bad "accessed at $(stat -c %.9X a.bz2), not $accessed"
! ours || touch -a -d '2000-01-02 03:04:05.678' a.bz2
x -d a.bz2
code 0; [ "$(stat -c %.9Y a)" = "$before" ] || bad "$(stat -c %.9Y a), not $before"
! ours || [ "$(stat -c %.9X a)" = "$accessed" ] || bad "accessed at $(stat -c %.9X a), not $accessed"

## owner [root]: owner and group are kept
take a; chown 1234:2345 a
x a
code 0; [ "$(stat -c %u:%g a.bz2)" = 1234:2345 ] || bad "$(stat -c %u:%g a.bz2)"

## setuid-of-others [root setpriv]: who may not give it away does not get a set-user-ID file
take a; chown 1:1 a; chmod 6755 a; chmod 777 .; AS=("${NOBODY[@]}")
x -k a
[ ! -e a.bz2 ] || [ "$(stat -c %a a.bz2)" -le 755 ] || bad "mode $(stat -c %a a.bz2)"

## mode-of-others-$M [hybz root setpriv]: no user may do more with the result than with another's file
| M in 6755:755 664:644 646:644 604:600 640:
take a; chown 4321:4321 a; chmod ${M%:*} a; chmod 777 .; AS=("${NOBODY[@]}")
x -k a
case ${M#*:} in
'') code 1; says "Permission denied" ;;
*) code 0; [ "$(stat -c %a:%u a.bz2)" = "${M#*:}:65534" ] || bad "mode and user $(stat -c %a:%u a.bz2)" ;;
esac

## not-world-readable: while it is written, nobody else reads it
take n; chmod 600 n; umask 000
start n; sleep 0.15
for f in n.bz2 .n*; do [ ! -e "$f" ] || [ "$(stat -c %a "$f")" = 600 ] || bad "mode $(stat -c %a "$f") meanwhile"; done
ended; code 0

## hidden-until-complete: no part of a result has its name
take n
start n; sleep 0.15
[ ! -e n.bz2 ] || [ ! -e n ] || unpack < n.bz2 2>/dev/null | cmp -s - n || bad "a part is there"
ended; code 0; only n.bz2

## acl [python3]: a list is copied, or the group may do no more than the list says
take a; acl a
x a
code 0; [ -n "$(list_of a.bz2)" ] || case $(stat -c %a a.bz2) in ?0?) ;; *) bad "the group may read it" ;; esac

## acl-$HOW [hybz python3]: the same list both ways; a narrow mode where lists are refused | HOW in copied refused
take a; acl a; list=$(list_of a); [ $HOW = copied ] || FAULT=noacl
x a
code 0; [ $HOW = copied ] || { says "a.bz2 has mode 600, not 660: Operation not supported."; list=; }
[ "$(list_of a.bz2)" = "$list" ] || bad "another list"
case $HOW in
copied) x -d a.bz2; code 0; [ "$(list_of a)" = "$list" ] && [ "$(stat -c %a a)" = 660 ] || bad "another list" ;;
refused) [ "$(stat -c %a a.bz2)" = 600 ] || bad "mode $(stat -c %a a.bz2)" ;;
esac

## acl-of-directory [python3]: what a directory gives to new files does not widen the result
take a; chmod 600 a; acl . default; chmod 640 a
x -k a
code 0; [ -z "$(list_of a.bz2)" ] || bad "others were let in"; ours || exit $failed
[ "$(stat -c %a a.bz2)" = 640 ] || bad "mode $(stat -c %a a.bz2)"
# A result of a pipe has no source: it gets the attributes of any new file.
x -o piped < a; cat a > made
[ "$(list_of piped),$(stat -c %a piped)" = "$(list_of made),$(stat -c %a made)" ] || bad "the piped result is another's"

## same-file [hybz]: -o with the source's own name
take a
x -f -o a a
code 1; kept a; only a

## stdout-is-input: a file is not appended to itself
take b
x -c b >> b
code 1; [ "$(stat -c %s b)" -lt 1000 ] || bad "it grew"; head -c 6 b | cmp -s - "$KIT/b" || bad "it changed"

## many-files-few-descriptors: 600 files with 40 descriptors
for i in {1..600}; do echo $i > f$i; done
ulimit -n 40
x f*
code 0; [ "$(ls -A | wc -l)" = 600 ] && [ -z "$(ls -A | grep -v bz2)" ] || bad "not all are done"
x -d f*
code 0; [ "$(cat f* | sort -n)" = "$(seq 600)" ] || bad "not all are back"

## one-bad-among-many: the others are done
take a damaged.bz2 a.bz2 b.bz2; rm a
x -d a.bz2 damaged.bz2 b.bz2
code 2; only a b damaged.bz2; kept damaged.bz2

## source-replaced: a file that took the source's name is not removed
take n; echo new > new
start n; opened n; mv new n; ended
is n new; ours && code 1

## source-gone: what another removed is not missed in silence
take n
start n; opened n; rm n; ended
[ ! -e n.bz2 ] || packed n.bz2 n; code 1; says "Can't remove input file n: No such file or directory."

## source-grew: bytes that came later are not lost
take n
start n; opened n; echo more >> n; ended
[ -e n ] || tail -c 5 <(unpack < n.bz2) | grep -q more || bad "the new bytes are lost"

## source-shrank: no crash, no hang, and what is left stays
take n
start n; opened n; truncate -s 1000 n; ended
[ "$rc" -lt 124 ] || bad "exit $rc"; [ -e n ] || [ "$(unpack < n.bz2 | wc -c)" -ge 12000000 ] || bad "text is lost"

## source-rewritten-with-its-old-time: its new bytes are not lost
take n; touch -d '2001-02-03' n
start n; opened n
printf 'new text' | dd of=n conv=notrunc status=none; touch -d '2001-02-03' n
ended
[ -e n ] || unpack < n.bz2 | head -c 8 | grep -q 'new text' || bad "the new bytes are lost"

## result-appears: a name that is taken meanwhile is not overwritten
take n
start n; sleep 0.1; [ -e n.bz2 ] && exit 0; echo mine > n.bz2; ended
[ -e n ] || bad "the source is gone"; is n.bz2 mine

## directory-moved: the directory moves while a file in it is worked on
mkdir d; cp "$KIT/n" d/n
start d/n; opened d/n; mv d e; mkdir d; echo other > d/n; ended
is d/n other
