#!/bin/sh
# Compares whole trees with find and xargs: benches/batch.sh FILE [COUNT] [ROUNDS]
#
# Makes a tree of COUNT (10,000) files in memory, always the same: pieces of FILE of 64 bytes to 32 kB, short ones more
# often, under names with spaces, line ends and bytes that are not text, and links. `find -print0 | xargs -0 -P2 bzip2`
# and `hybz -r` compress copies of it in turn, and the last two are compared. Prints medians of ROUNDS (3): seconds,
# seconds of the processors, and hybz's peak memory. Needs python3 and GNU time.
set -eu
file=$(realpath "${1:?a file to take pieces of}") count=${2:-10000} rounds=${3:-3}
hybz=$(realpath "${HYBZ:-target/release/hybz}")
place=$(mktemp -d -p "${PLACE:-/dev/shm}")
trap 'rm -rf "$place"' EXIT
cd "$place"
python3 - "$file" "$count" <<'PYTHON'
import os, random, sys

text, count, dice = open(sys.argv[1], "rb").read(), int(sys.argv[2]), random.Random(13)
odd = [b"with space", b"two\nlines", b"no\xff\xfe text", b"-dash", b"it's", b"\xc3\xbcml"]
made, directories = 0, [b"tree"]
os.mkdir(b"tree")
while made < count:
    directory = dice.choice(directories[-40:])
    if directory.count(b"/") < 30 and dice.random() < 0.5:
        directory += b"/%s %d" % (dice.choice(odd), len(directories))
        os.mkdir(directory)
        directories.append(directory)
    for _ in range(min(dice.randrange(1, 60), count - made)):
        size = int(2 ** dice.uniform(6, 15))
        at = dice.randrange(len(text) - size)
        name = b"%s/%s.%d" % (directory, dice.choice(odd) if dice.random() < 0.2 else b"file", made)
        with open(name, "wb") as made_file:
            made_file.write(text[at:at + size])
        if dice.random() < 0.01:
            os.symlink(os.path.basename(name), name + b".link")
        made += 1
PYTHON
theirs() { find theirs -type f -print0 | command time -o log -f '%e %U %S' xargs -0 -P2 bzip2; }
ours() { command time -o log -f '%e %U %S %M' "$hybz" -qr ours; }
column() { awk -v n="$1" '{ print $n }' | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
round=0
while [ $round -lt "$rounds" ]; do
    for who in theirs ours; do
        rm -rf $who
        cp -a tree $who
        $who
        awk '{ print $1, $2 + $3, $4 }' log >>$who.log
    done
    round=$((round + 1))
done
diff -r --no-dereference theirs ours && echo "$count files, $(du -sb tree | cut -f 1) bytes: the same results"
a=$(column 1 <theirs.log) b=$(column 1 <ours.log) c=$(column 2 <theirs.log) d=$(column 2 <ours.log)
echo "find and xargs -P2 bzip2: $a s, $c s of processors"
echo "hybz -r: $b s, $d s of processors, $(column 3 <ours.log) kB"
echo "$a $b $c $d" | awk '{ printf "ratios: %.3f, %.3f\n", $2 / $1, $4 / $3 }'
