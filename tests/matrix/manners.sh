# How a command should behave: flags, names, messages.

## bad-flag: refused, nothing is touched
take a
x --nope a
code 1; only a; kept a

## bad-flag-one-line [hybz]: one line and where help is
x --nope
code 1; [ "$(wc -l < ../err)" -le 3 ] || bad "$(wc -l < ../err) lines"

## test-of-good-$FLAG: -t says nothing and exits 0 | FLAG in -t -tq
x $FLAG "$KIT/a.bz2"
code 0; silent

## test-of-bad: -t exits 2
x -t "$KIT/damaged.bz2"
code 2

## quiet-quiet [hybz]: -qq is silent about arguments, too
x -qq --nope
code 1; silent

## verbose: a line for each file
take a
x -v a
code 0; says "bits/byte"

## called-bunzip2 [hybz]: decompresses
take a.bz2; ln -s "$X" ../bunzip2
X=../bunzip2; x a.bz2
code 0; only a; kept a

## called-bzcat [hybz]: to stdout, and keeps
take a.bz2; ln -s "$X" ../bzcat
X=../bzcat; x a.bz2 > ../out
code 0; only a.bz2; same "$KIT/a" ../out

## last-mode-wins: -d -z compresses
take a
x -d -z a
code 0; only a.bz2

## accepted-$FLAG [hybz]: accepted, as lbzip2 accepts it | FLAG in -u --sequential
take a
x $FLAG a
code 0; only a.bz2

## list-of-a-fifo [hybz]: does not hang
mkfifo f
x -l f
[ "$rc" != 124 ] || bad "hangs"

## escape-in-a-name [hybz script]: quoted on a terminal
name=$'\e[31mred'
script -qec "'$X' -t '$name'" /dev/null < /dev/null > ../out 2>&1
! grep -qa $'\e\[31m' ../out || bad "a raw escape"

## environment-file: a bare word in BZIP2 is no file to be removed
take a b; export BZIP2=a LBZIP2=a
x b
[ -e a ] || bad "a is gone"

## repeated-force: a nightly -9f over everything changes results once only
take a
x -9f *; code 0; only a.bz2; packed a.bz2 a
for night in 2 3; do x -9f *; code 1; only a.bz2; packed a.bz2 a; done

## perturb-0 [hybz]: none
take a
x --perturb 0 -c a > ../out
[ "$rc" -lt 2 ] || bad "exit $rc"
