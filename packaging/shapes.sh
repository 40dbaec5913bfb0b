#!/bin/sh
# The ways in which scripts call bzip2, for comparing two bzip2s: packaging/shapes.sh DIRECTORY
# Each way runs in a folder of its own below DIRECTORY, with the bzip2, bunzip2, bzcat and bzip2recover of the PATH. It
# leaves there what came to stdout, the exit code, whether there were messages, and each file with its mode. After a run
# with each bzip2, `diff -r` of the two directories must be silent. A shell such as dash or busybox's suffices.
set -u
LC_ALL=C
export LC_ALL
unset BZIP BZIP2 HYBZ_OPTIONS
umask 022
mkdir -p "$1"
cd "$1" || exit 1

# The files that each way finds. `text` has more than one block at level 1 and 2.
files() {
  seq 1 70000 > text
  printf 'a line\n' > short
  : > empty
  mkdir folder
  printf 'inside\n' > folder/inside
  ln -s text link
  bzip2 -1 -c < text > text.coded
  bzip2 -c < short > short.coded
  head -c 9000 text.coded > cut
  { head -c 9000 text.coded; printf 'XXXX'; tail -c +9005 text.coded; } > damaged
}

count=0
# shape NAME: runs the commands on standard input.
shape() {
  count=$((count + 1))
  mkdir "$1"
  cat > "$1.commands"
  (
    cd "$1" || exit 1
    files
    code=0
    sh "../$1.commands" > ../"$1.stdout" 2> ../"$1.stderr" < /dev/null || code=$?
    messages=none
    [ ! -s "../$1.stderr" ] || messages=some
    rm "../$1.stderr"
    {
      echo "exit code $code, messages: $messages"
      find . | sort | while read -r path; do
        [ -L "$path" ] && { echo "$path: a link"; continue; }
        [ -d "$path" ] && { echo "$path: a folder"; continue; }
        echo "$path: $(ls -ld "$path" | cut -c 1-10)"
      done
    } > "../$1.outcome"
  )
}

shape compress <<'END'
bzip2 text short
END
shape keep <<'END'
bzip2 -k text
END
shape levels <<'END'
for level in 1 2 3 4 5 6 7 8 9; do bzip2 -$level -c text > text.$level; done
bzip2 --fast -c text > text.fast
bzip2 --best -c text > text.best
END
shape to-stdout <<'END'
bzip2 -c text short
END
shape pipe <<'END'
cat text | bzip2 | cat
END
shape decompress <<'END'
mv text.coded a.bz2; mv short.coded b.bz2
bunzip2 a.bz2 b.bz2
END
shape decompress-pipe <<'END'
bzip2 -d < text.coded
bunzip2 < short.coded
END
shape bzcat <<'END'
mv text.coded a.bz2; mv short.coded b.bz2
bzcat a.bz2 b.bz2
END
shape streams <<'END'
cat text.coded short.coded text.coded | bunzip2
END
shape test-good <<'END'
bzip2 -t text.coded && bzip2 -tv short.coded
END
shape test-damaged <<'END'
bzip2 -t damaged
END
shape damaged <<'END'
mv damaged damaged.bz2
bunzip2 damaged.bz2
END
shape cut <<'END'
mv cut cut.bz2
bunzip2 cut.bz2
END
shape not-bzip2 <<'END'
cp text text.bz2
bunzip2 -c text.bz2
END
shape plain-by-force <<'END'
bzip2 -dcf text
END
shape missing <<'END'
bzip2 missing text
END
shape target-exists <<'END'
echo old > text.bz2
bzip2 text
END
shape target-by-force <<'END'
echo old > text.bz2
bzip2 -f text
END
shape suffixes <<'END'
cp text.coded a.tbz2; cp text.coded b.tbz; cp text.coded c.bz; cp text.coded d
bunzip2 a.tbz2 b.tbz c.bz d
END
shape already-compressed <<'END'
cp text.coded a.bz2
bzip2 a.bz2
END
shape links-and-folders <<'END'
bzip2 link folder text
END
shape link-by-force <<'END'
bzip2 -f link
END
shape empty <<'END'
bzip2 -k empty && bzip2 -dc empty.bz2
END
shape environment <<'END'
BZIP2=-1 bzip2 -c text
BZIP=-3 bzip2 -k text
END
shape dashes <<'END'
cp text ./-x
bzip2 -- -x
END
shape mode-and-time <<'END'
chmod 640 text; touch -t 200102030405.06 text short
bzip2 text; ls -l text.bz2 | cut -c 1-10
[ text.bz2 -nt short ] || [ text.bz2 -ot short ] || echo 'the same time'
bunzip2 text.bz2; ls -l text | cut -c 1-10
[ text -nt short ] || [ text -ot short ] || echo 'the same time'
END
shape small <<'END'
bzip2 -s -k text; bzip2 -ds -c text.bz2
END
shape tar <<'END'
tar -cf - folder short | bzip2 > archive.tar.bz2
mkdir unpacked
bzip2 -dc archive.tar.bz2 | tar -xf - -C unpacked
rm archive.tar.bz2
END
shape recover <<'END'
cp damaged damaged.bz2
bzip2recover damaged.bz2 > said; code=$?
rm said
exit $code
END
shape bad-option <<'END'
bzip2 --no-such-option text
END
echo "$count" > count
