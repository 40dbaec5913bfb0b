#!/usr/bin/env bash
# Installs the C interface under PREFIX: lib/libhybz.so.0, lib/libhybz.so, lib/libhybz.a, include/hybz.h and
# lib/pkgconfig/hybz.pc. For packages, DESTDIR is put before PREFIX; HYBZ_CAPI_BUILT is a folder with libhybz_capi.a,
# built elsewhere. The linker must be one for ELF: the shared library is made of the static one by CC.
set -euo pipefail
[ $# = 1 ] || { echo "usage: install.sh PREFIX" >&2; exit 2; }
prefix=$(realpath -m "$1")
to=${DESTDIR-}$prefix
cd "$(dirname "$0")/../.."
built=${HYBZ_CAPI_BUILT:-${CARGO_TARGET_DIR:-target}/release}
[ -n "${HYBZ_CAPI_BUILT-}" ] || cargo build -p hybz-capi --release --locked
version=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' crates/capi/Cargo.toml)

# By a rename: programs may be using it.
put() {
  mkdir -p "$(dirname "$3")"
  install -m "$1" "$2" "$3.new"
  mv -f "$3.new" "$3"
}
shared=$(mktemp)
trap 'rm -f "$shared"' EXIT
# The threads of a pool outlive a dlclose, so the library stays.
"${CC:-cc}" -shared -o "$shared" -Wl,-soname,libhybz.so.0 -Wl,--version-script=crates/capi/hybz.map -Wl,-z,defs \
  -Wl,-z,nodelete -Wl,--gc-sections -Wl,--whole-archive "$built/libhybz_capi.a" -Wl,--no-whole-archive \
  -lm -lpthread -ldl
put 755 "$shared" "$to/lib/libhybz.so.0"
ln -sfn libhybz.so.0 "$to/lib/libhybz.so"
put 644 "$built/libhybz_capi.a" "$to/lib/libhybz.a"
put 644 crates/capi/include/hybz.h "$to/include/hybz.h"
put 644 <(sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" crates/capi/hybz.pc.in) "$to/lib/pkgconfig/hybz.pc"
echo "installed in $to"
