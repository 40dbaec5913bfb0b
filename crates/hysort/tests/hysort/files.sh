# Each line is a script, run with hysort as $SORT and with GNU sort: same output, messages, exit code and files.
$SORT a b c d e f
cat c | $SORT f e d - b a c
$SORT -u a b c d e f
cat c | $SORT -u f e d - b a c
$SORT -r a b c d e f
cat c | $SORT -r f e d - b a c
$SORT -z a b c d e f
cat c | $SORT -z f e d - b a c
$SORT -m a b c d e f
cat c | $SORT -m f e d - b a c
$SORT -mu a b c d e f
cat c | $SORT -mu f e d - b a c
$SORT -mz a b c d e f
cat c | $SORT -mz f e d - b a c
# 100 files.
. ./many; $SORT f*
. ./many; for f in f*; do sort -o $f $f; done; $SORT -m f*
. ./many; for f in f*; do sort -o $f $f; done; $SORT -mu --batch-size=3 f*
. ./many; for f in f*; do sort -o $f $f; done; ulimit -n 40; $SORT -m f*
