#!/usr/bin/env bash
# Installs libbz2 under PREFIX: lib/libbz2.so.1.0 (or what HYBZ_LIBBZ2_SONAME says), lib/libbz2.so, lib/libbz2.a,
# include/bzlib.h and lib/pkgconfig/bzip2.pc. Programs find it by LD_LIBRARY_PATH=PREFIX/lib.
# For packages, DESTDIR is put before PREFIX, and HYBZ_LIBBZ2_BUILT is a folder with the libraries, built elsewhere.
set -euo pipefail
[ $# = 1 ] || { echo "usage: install.sh PREFIX" >&2; exit 2; }
prefix=$(realpath -m "$1")
case "${DESTDIR-}$prefix" in
  / | /usr | /usr/local)
    echo "install.sh: $prefix may hold the system's libbz2; choose a folder of its own" >&2
    exit 1
    ;;
esac
to=${DESTDIR-}$prefix
cd "$(dirname "$0")/../.."
soname=${HYBZ_LIBBZ2_SONAME:-libbz2.so.1.0}
for there in "$to/lib/$soname" "$to/lib/libbz2.a"; do
  if [ -e "$there" ] && ! grep -q HYBZ_THREADS "$there"; then
    echo "install.sh: $there is another libbz2; choose a folder of its own" >&2
    exit 1
  fi
done
built=${HYBZ_LIBBZ2_BUILT:-${CARGO_TARGET_DIR:-target}/libbz2}
[ -n "${HYBZ_LIBBZ2_BUILT-}" ] || cargo build -p hybz-libbz2 --profile libbz2

# By a rename: programs may be using it.
put() {
  mkdir -p "$(dirname "$3")"
  install -m "$1" "$2" "$3.new"
  mv -f "$3.new" "$3"
}
put 755 "$built/libhybz_libbz2.so" "$to/lib/$soname"
ln -sfn "$soname" "$to/lib/libbz2.so"
put 644 "$built/libhybz_libbz2.a" "$to/lib/libbz2.a"
put 644 crates/libbz2/include/bzlib.h "$to/include/bzlib.h"
put 644 <(sed "s|@PREFIX@|$prefix|" crates/libbz2/bzip2.pc.in) "$to/lib/pkgconfig/bzip2.pc"
echo "installed in $to"
