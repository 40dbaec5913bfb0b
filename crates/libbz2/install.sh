#!/usr/bin/env bash
# Installs libbz2 under PREFIX: lib/libbz2.so.1.0 (or what HYBZ_LIBBZ2_SONAME says), lib/libbz2.so, lib/libbz2.a,
# include/bzlib.h and lib/pkgconfig/bzip2.pc. Programs find it by LD_LIBRARY_PATH=PREFIX/lib.
set -euo pipefail
[ $# = 1 ] || { echo "usage: install.sh PREFIX" >&2; exit 2; }
prefix=$(realpath -m "$1")
case "$prefix" in
  / | /usr | /usr/local)
    echo "install.sh: $prefix may hold the system's libbz2; choose a folder of its own" >&2
    exit 1
    ;;
esac
cd "$(dirname "$0")/../.."
soname=${HYBZ_LIBBZ2_SONAME:-libbz2.so.1.0}
cargo build -p hybz-libbz2 --profile libbz2
built=${CARGO_TARGET_DIR:-target}/libbz2
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
install -m 755 "$built/libhybz_libbz2.so" "$prefix/lib/$soname"
ln -sf "$soname" "$prefix/lib/libbz2.so"
install -m 644 "$built/libhybz_libbz2.a" "$prefix/lib/libbz2.a"
install -m 644 crates/libbz2/include/bzlib.h "$prefix/include/bzlib.h"
sed "s|@PREFIX@|$prefix|" crates/libbz2/bzip2.pc.in >"$prefix/lib/pkgconfig/bzip2.pc"
echo "installed in $prefix"
