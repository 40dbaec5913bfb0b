# two threads against one, alternating; $1 = hybz, $2 = text file; prints seconds and medians
H=$1; T=$2
$H -c $T > /dev/shm/s.bz2
now() { date +%s.%N; }
for mode in c; do
  [ $mode = c ] && A="--no-gpu -c $T" || A="-dc /dev/shm/s.bz2"
  for i in 1 2 3 4 5; do for p in 1 2 4 8 16; do
    [ $i -gt 2 ] && [ $p -gt 2 ] && continue
    a=$(now); $H $A -p$p > /dev/null; b=$(now)
    echo "$mode $p $(echo "$b - $a" | bc -l 2>/dev/null || python3 -c "print($b-$a)")"
  done; done
done > /tmp/scaling.out
python3 - <<'P'
import statistics as s, collections
d=collections.defaultdict(list)
for l in open('/tmp/scaling.out'):
    m,p,t=l.split(); d[m,int(p)].append(float(t))
for m in "c":
    one=s.median(d[m,1])
    pairs=s.median(a/b for a,b in zip(d[m,1],d[m,2]))
    print(m, {p:round(s.median(d[m,p]),3) for p in (1,2,4,8,16)}, 'median of pairs 1/2: %.3f'%pairs, 'x:', {p:round(one/s.median(d[m,p]),2) for p in (2,4,8,16)})
P
