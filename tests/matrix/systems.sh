# File systems that lack something: simulated, and where they can be mounted the real ones.

## $LACKS-compress [hybz]: works
| LACKS in tmpfile tmpfile,noreplace tmpfile,noreplace,nolink,nomode nomode noflock,tmpfile
take a; FAULT=$LACKS
x a
code 0; only a.bz2; packed a.bz2 a
case $LACKS in *nomode) says "has mode 600, not 644" ;; *) silent ;; esac

## $LACKS-decompress [hybz]: works
| LACKS in tmpfile tmpfile,noreplace tmpfile,noreplace,nolink,nomode nomode noflock,tmpfile
take a.bz2; FAULT=$LACKS
x -d a.bz2
code 0; only a; kept a
case $LACKS in *nomode) says "has mode 600, not 644" ;; *) silent ;; esac

## $LACKS-force [hybz]: -f replaces | LACKS in tmpfile tmpfile,noreplace tmpfile,noreplace,nolink,nomode noflock,tmpfile
take a; echo old > a.bz2; FAULT=$LACKS
x -f a
code 0; only a.bz2; packed a.bz2 a

## $LACKS-damaged [hybz]: nothing is left of a result | LACKS in tmpfile tmpfile,noreplace,nolink,nomode
take damaged.bz2; FAULT=$LACKS
x -d damaged.bz2
code 2; only damaged.bz2; kept damaged.bz2

## $LACKS-appears [hybz]: a result that appears meanwhile is not overwritten
| LACKS in tmpfile tmpfile,noreplace tmpfile,noreplace,nolink,nomode
mkfifo p; exec 3<> p; FAULT=$LACKS
start -o late < p 3>&-; cat "$KIT/a" >&3; sleep 0.3; echo mine > late; exec 3>&-; ended
code 1; says "already exists"; is late mine; only late p

## leftover-$LACKS [hybz]: what kill -9 left goes when the same result is made again
| LACKS in tmpfile tmpfile,noreplace,nolink,nomode
mkfifo p; exec 3<> p; take a; FAULT=$LACKS
start -o a.bz2 < p 3>&-; cat "$KIT/a" >&3; sleep 0.3; kill -KILL $pid; ended; exec 3>&-
only .a.bz2.hybz-tmp a p
x a
code 0; only a.bz2 p; packed a.bz2 a

## hidden-name-of-another-process-$LACKS [hybz]: it is left to that process, and both results are made
| LACKS in tmpfile tmpfile,noreplace,nolink,nomode
mkfifo p; exec 3<> p; take a; FAULT=$LACKS
start -o a.bz2 < p 3>&-; cat "$KIT/b" >&3
for i in $(seq 500); do [ -e .a.bz2.hybz-tmp ] && break; sleep 0.02; done
x -kf a
code 0; only .a.bz2.hybz-tmp a a.bz2 p; packed a.bz2 a; rm a.bz2; exec 3>&-; ended
code 0; only a a.bz2 p; packed a.bz2 b

## hidden-name-taken-by-$WHAT [hybz]: another is used, and what has it stays | WHAT in file directory link hardlink fifo
take a; FAULT=tmpfile
case $WHAT in
file) echo mine > .a.bz2.hybz-tmp; chown 1 .a.bz2.hybz-tmp 2>/dev/null || skip "only root can do this" ;;
directory) mkdir .a.bz2.hybz-tmp ;; link) ln -s ../victim .a.bz2.hybz-tmp; echo victim > ../victim ;;
fifo) mkfifo .a.bz2.hybz-tmp ;; hardlink) echo victim > ../victim; ln ../victim .a.bz2.hybz-tmp ;;
esac
x a
code 0; only .a.bz2.hybz-tmp a.bz2; packed a.bz2 a
case $WHAT in file) is .a.bz2.hybz-tmp mine ;; link) is ../victim victim ;; hardlink) is .a.bz2.hybz-tmp victim ;; esac

## life-on-$FS [root]: compress, refuse, replace, decompress, on a real one
| FS in exfat vfat ntfs bindfs overlay tmpfs ext4
mkdir ../at ../behind; trap 'cd /; umount -l "$at" 2>/dev/null; [ ! -s "$loop" ] || losetup -d $(cat "$loop")' EXIT
at=$(realpath ../at); behind=$(realpath ../behind); loop=$behind/loop; truncate -s 64M "$behind/image"
mkloop() { losetup -f --show "$behind/image" > "$loop"; }
case $FS in
exfat) mkfs.exfat "$behind/image" && mkloop && { mount -t exfat $(cat "$loop") "$at" ||
    mount.exfat-fuse $(cat "$loop") "$at"; } ;;
vfat) mkfs.vfat "$behind/image" && { mount -o loop "$behind/image" "$at" || fusefat -o rw+ "$behind/image" "$at"; } ;;
ntfs) mkntfs -F -q "$behind/image" && ntfs-3g "$behind/image" "$at" ;;
bindfs) bindfs "$behind" "$at" ;;
overlay) mkdir "$behind"/{l,u,w} &&
    mount -t overlay o -o "lowerdir=$behind/l,upperdir=$behind/u,workdir=$behind/w" "$at" ;;
tmpfs) mount -t tmpfs -o size=64m tmpfs "$at" ;;
ext4) mkfs.ext4 -q "$behind/image" && mount -o loop "$behind/image" "$at" ;;
esac > ../mount.log 2>&1
mountpoint -q "$at" || skip "$FS cannot be mounted here"
mkdir "$at/life"; cd "$at/life"
y() { rc=0; timeout --foreground -k 1 "$LIMIT" "$X" "$@" 2> "$behind/err" || rc=$?; }
life
cd /

## life-without-$LACKS [hybz]: the same on a simulated one
| LACKS in tmpfile tmpfile,noreplace tmpfile,noreplace,nolink,nomode tmpfile,noreplace,nolink,noflock nomode noacl
[ -e "$KIT/faults.so" ] || skip "no C compiler"
y() { rc=0; LD_PRELOAD="$KIT/faults.so" FAULT=$LACKS timeout -k 1 "$LIMIT" "$X" "$@" 2> ../err || rc=$?; }
life

## full-$FLAG [root]: a full disk: nothing is left, the source stays | FLAG in -z -d
mkdir ../at; trap 'cd /; umount -l "$at"' EXIT; at=$(realpath ../at)
mount -t tmpfs -o size=14m tmpfs "$at" 2>/dev/null || skip "tmpfs cannot be mounted here"
cd "$at"
case $FLAG in -z) name=n; cp "$KIT/n" . ;; -d) name=n.bz2; cp "$KIT/n.bz2" . ;; esac
rc=0; timeout -k 1 "$LIMIT" "$X" $FLAG $name 2>/dev/null || rc=$?
code 1; only $name; kept $name
cd /

## full-tiny [root]: the same with a result of a few bytes, and garbage at its end
mkdir ../at; trap 'cd /; umount -l "$at"' EXIT; at=$(realpath ../at)
mount -t tmpfs -o size=16k tmpfs "$at" 2>/dev/null || skip "tmpfs cannot be mounted here"
cd "$at"
{ cat "$KIT/b.bz2"; echo garbage; } > b.bz2; head -c 100000 /dev/zero > full 2>/dev/null
rc=0; timeout -k 1 "$LIMIT" "$X" -d b.bz2 2>/dev/null || rc=$?
code 1; [ -e b.bz2 ] || bad "the source is gone"; gone b
cd /
