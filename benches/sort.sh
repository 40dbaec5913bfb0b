#!/bin/sh
# Compares sorting lines with GNU sort: [SETS=...] benches/sort.sh [ROUNDS] [LARGE]
#
# Makes files of lines in memory: words of all word lists in /usr/share/dict, shuffled; the paths of this machine under
# five prefixes, shuffled; random lines of 99 bytes; strings of 9 of four letters; a column of numbers; and for keys a
# BED table (-k1,1 -k2,2n), comma-separated values (-t, -k3,3) and numbers (-n), each of $TABLE (100) million bytes.
# SETS are some of words, paths, random, genome, numbers, bed, csv and column, or all of them. `LC_ALL=C sort
# --parallel=N` and $HYSORT (target/release/hysort; target/release/examples/sort will do) sort each in turn, and the
# outputs are compared. N is the number of processors, or $N. Prints medians of ROUNDS (5): seconds, seconds of the
# processors, and peak memory.
#
# With LARGE, a number of GB, files of words and of paths of this size are sorted once, with `-S 1G -T $PLACE`, by
# hysort only, in $PLACE, which should be on a disk. Needs python3 and GNU time; word lists are in Debian's packages
# wamerican-huge, wpolish, wngerman, wfrench, witalian, wspanish.
set -eu
rounds=${1:-5} large=${2:-0} n=${N:-$(nproc)}
hysort=$(realpath "${HYSORT:-target/release/hysort}")
place=$(mktemp -d -p "${PLACE:-/dev/shm}")
trap 'rm -rf "$place"' EXIT
cd "$place"
export LC_ALL=C
sets=${SETS:-words paths random genome numbers bed csv column}
export SETS="$sets" TABLE="${TABLE:-100}"
find / -xdev -not -path '/proc/*' 2>/dev/null | head -n 440000 >found || true
python3 - <<'PYTHON'
import glob, os, random

dice = random.Random(14)
sets, table = os.environ["SETS"].split(), int(os.environ["TABLE"]) * 10**6

def keep(name, lines):
    dice.shuffle(lines)
    with open(name, "wb") as made:
        made.write(b"\n".join(lines) + b"\n" if lines else b"")

lists = [path for path in sorted(glob.glob("/usr/share/dict/*")) if not os.path.islink(path) and "README" not in path]
names = ["chr%d" % n for n in range(1, 23)] + ["chrX", "chrY", "chrM"]
towns = ["Bonn", "Ulm", "Ghent", "Porto", "Lund", "Turku"]

def bed():
    start = dice.randrange(248000000)
    name, score = dice.choice(names), dice.randrange(61)
    return f"{name}\t{start}\t{start + dice.randrange(50, 300)}\tread{dice.randrange(1 << 30)}\t{score}\t+\n"

def csv():
    price = dice.randrange(10**6) / 100
    return f"{dice.randrange(1 << 30)},{dice.choice(towns)},{dice.randrange(1 << 40):x},{price:.2f},{dice.random()}\n"

def column():
    return f"{dice.randrange(-(1 << 40), 1 << 40) / 1000}\n"

for name, line in [("bed", bed), ("csv", csv), ("column", column)]:
    with open(name, "w") as made:
        while name in sets and made.tell() < table:
            made.write("".join(line() for _ in range(10000)))
if not {"words", "paths", "random", "genome", "numbers"} & set(sets):
    raise SystemExit
keep("words", [word for path in lists for word in open(path, "rb").read().split(b"\n") if word])
found = open("found", "rb").read().split(b"\n")[:-1]
prefixes = [b"", b"/srv/backup/monday", b"/srv/backup/tuesday", b"/home/archive/old", b"/mnt/disk/copy"]
keep("paths", [prefix + path for prefix in prefixes for path in found])
keep("random", [bytes(dice.choices(range(32, 127), k=99)) for _ in range(1000000)])
keep("genome", [bytes(dice.choices(b"ACGT", k=9)) for _ in range(6000000)])
keep("numbers", [b"%d" % dice.randrange(1 << 40) for _ in range(4000000)])
PYTHON
rm found
measure() { # NAME COMMAND...: adds seconds, seconds of the processors and kilobytes to NAME.log
    log=$1.log
    shift
    command time -o log -f '%e %U %S %M' "$@" >out
    awk '{ print $1, $2 + $3, $4 }' log >>"$log"
}
column() { awk -v n="$1" '{ print $n }' "$2" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
for name in $sets; do
    case $name in
    bed) flags='-k1,1 -k2,2n' ;;
    csv) flags='-t, -k3,3' ;;
    column) flags=-n ;;
    *) flags= ;;
    esac
    [ -s $name ] || { echo "$name: there are none here"; continue; }
    rm -f theirs.log ours.log
    round=0
    while [ $round -lt "$rounds" ]; do
        # shellcheck disable=SC2086 # flags are words
        measure theirs sort --parallel="$n" $flags $name
        mv out expected
        # shellcheck disable=SC2086
        measure ours "$hysort" $flags $name
        cmp out expected
        round=$((round + 1))
    done
    a=$(column 1 theirs.log) b=$(column 1 ours.log) c=$(column 2 theirs.log) d=$(column 2 ours.log)
    echo "$name${flags:+ $flags}, $(wc -l <$name) lines, $(wc -c <$name) bytes, the same results"
    echo "  sort --parallel=$n: $a s, $c s of processors, $(column 3 theirs.log) kB"
    echo "  $(basename "$hysort"): $b s, $d s of processors, $(column 3 ours.log) kB"
    echo "$a $b $c $d" | awk '{ printf "  ratios: %.2f, %.2f\n", $1 / $2, $3 / $4 }'
done
[ "$large" -gt 0 ] || exit 0
bytes=0
: >large
while [ $bytes -lt $((large * 1000000000)) ]; do
    cat words paths >>large
    bytes=$(wc -c <large)
done
rm -f theirs.log ours.log
measure theirs sort --parallel="$n" -S 1G -T "$place" large
mv out expected
measure ours "$hysort" -S 1G -T "$place" large
cmp out expected
echo "large, $bytes bytes, the same results: seconds, seconds of processors, kilobytes"
echo "  sort --parallel=$n -S 1G: $(cat theirs.log)"
echo "  $(basename "$hysort") -S 1G: $(cat ours.log)"
