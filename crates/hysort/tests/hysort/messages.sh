# Each line is a script, run with hysort as $SORT and with GNU sort: same output, messages, exit code and files.
$SORT
$SORT a
$SORT a b -
$SORT - - <a
$SORT -r a b
$SORT -u b b
$SORT -ru a b
$SORT -s a
$SORT a -r
$SORT -- a
$SORT -ruz a
$SORT -r -- -r
POSIXLY_CORRECT=1 $SORT a -r
$SORT --rev --uniq a b
$SORT --stable --reverse --unique --zero-terminated a
$SORT -o out a; cat out
$SORT -oout a; cat out
$SORT -o=out a; cat =out
$SORT --output=out a; cat out
$SORT --out out a; cat out
$SORT a -o out -o out; cat out
$SORT a -o out -o other
$SORT -o
$SORT --output
$SORT a -o a; cat a
$SORT -m b -o b; cat b
$SORT -o '' a
mkdir d; $SORT -o d a
$SORT -o a/ a
$SORT -o new/ a
$SORT -o no/out a
$SORT no
$SORT a no b
$SORT 'odd name'
$SORT 'no name'
$SORT "it's"
$SORT ''
$SORT a:b
$SORT $'no\nname'
mkdir d; $SORT d
mkdir d; $SORT <d
mkdir d; $SORT -c d
mkdir d; $SORT -m d
$SORT -m no
$SORT -c no
$SORT -c a
$SORT -c b
$SORT -cu b
$SORT -cr a
$SORT -C a
$SORT -C b
$SORT -c <a
$SORT -c empty
$SORT --check a
$SORT --check=quiet a
$SORT --check=silent a
$SORT --check=si a
$SORT --check=diagnose-first a
$SORT -cc a
$SORT -cC a
$SORT -C --check=quiet a
$SORT -c --check=quiet a
$SORT -c a b
$SORT -C a b
$SORT -c -o out a
$SORT -C -o out a
$SORT -cm a
$SORT -mc a
printf 'b\0a\0' | $SORT -zc
printf 'b\na' | $SORT -c
printf 'a\na' | $SORT -cu
$SORT -m b b
$SORT -mu b b
$SORT -mr a a
$SORT -m a
$SORT -m b - <b
$SORT -m b b b b b --batch-size=2
$SORT -m <&-
$SORT <&-
$SORT -c <&-
$SORT a >&-
$SORT a <&-
$SORT a -o out >&-; cat out
$SORT -c b >&-
$SORT empty >&-
$SORT --files0-from=names
$SORT --files0-from=- <names
$SORT --files0-from names
$SORT --files0-from=no
$SORT --files0-from=empty
$SORT --files0-from=names a
mkdir d; $SORT --files0-from=d
printf 'a\0\0b' | $SORT --files0-from=-
printf '\0' | $SORT --files0-from=-
printf 'a\0-' | $SORT --files0-from=-
printf 'a\0no' | $SORT --files0-from=-
$SORT -c --files0-from=names
$SORT -m --files0-from=names
$SORT -S 1 a
$SORT -S 10% a
$SORT -S10M -S 1b a
$SORT --buffer-size=1G a
$SORT -S K a
$SORT -S x a
$SORT -S 1Q a
$SORT -S 1KB a
$SORT -S -1 a
$SORT -S '' a
$SORT -S 99999999999999999999 a
$SORT -S 1Z a
$SORT --buffer-size=5x a
$SORT --parallel=3 a
$SORT --parallel=0 a
$SORT --parallel=x a
$SORT --parallel=3x a
$SORT --batch-size=16 a
$SORT --batch-size=1 a
$SORT --batch-size=x a
$SORT --batch-size=99999999999999999999 a
$SORT --batch-size=99999999 a
$SORT -T /no/such/place a
$SORT --temporary-directory=. a
$SORT -x
$SORT -rx
$SORT --xyzzy=1
$SORT --unique=1
$SORT -T
$SORT --p=3 a
$SORT --p 3 a
$SORT --p
$SORT --m a
$SORT --me a
$SORT --c a
$SORT --b a
$SORT --h a
$SORT --ver a
$SORT --=x a
$SORT a >/dev/full
yes | head -100000 | $SORT >/dev/full
$SORT -o /dev/full a
$SORT -o /dev/null a
$SORT -o /dev/stdout a
$SORT -o /dev/stdout a >out; cat out
yes | head -300000 | $SORT | head -1
trap '' PIPE; yes | head -300000 | { $SORT; echo $? >&2; } | head -1
# stdin of which another process has read a part, FIFOs, files without a length.
{ read line; $SORT; } <a
{ $SORT -; $SORT -; } <a
mkfifo f; cat a >f & $SORT f; rm f
mkfifo f; cat a >f & $SORT -m f; rm f
$SORT /proc/self/limits | wc -l
$SORT <(cat a) <(cat a)
{ printf 'b\n'; sleep 0.1; printf a; sleep 0.1; printf '\na2\n'; } | $SORT
$SORT a >>a; cat a
$SORT -c a >>a 2>/dev/null; cat a
# GNU sort copies such a file first.
ulimit -f 20000; seq -w 400000 >a; $SORT -m a >>a; cksum a
# Files that cannot be read, but by root.
chmod 0 a; $SORT a
chmod 0 a; $SORT -c a
chmod 0 a; $SORT -o a b
# A link stays, and its target is replaced, or made.
ln -s a l; $SORT -o l a; readlink l; cat a
mkdir d; ln -s ../new d/l; $SORT -o d/l a; readlink d/l; cat new
ln -s l2 l; ln -s a l2; $SORT -o l l; readlink l l2
ln -s l l; $SORT -o l a
ln -s no/such l; $SORT -o l a
# Compressed files are sorted as they are.
printf 'b\na\n' | bzip2 >z; $SORT z; cat z | $SORT
printf '\x89HBZ\nA\n' | $SORT
# Names in quotes, if a shell would need them.
$SORT "it's \$5"
$SORT '#a'
$SORT a#
$SORT dir/a-b_c.txt
