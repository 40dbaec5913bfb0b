#!/usr/bin/env bash
# Makes the release archives: packaging/dist.sh [TARGET...]; by default for Linux on x86-64 and aarch64, with static
# commands (musl) and with commands for glibc 2.17 and newer (gnu), and for macOS.
# Each archive has both commands, manual pages, completions, licences and install.sh; those for Linux have the C library,
# too, in libbz2/, by the name that it has in distributions of that kind. SHA256SUMS has the archives' sums.
# Needs rustup and Python; zig, which compiles and links for all targets, comes from Python's package registry.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ $# -gt 0 ] || targets=({x86_64,aarch64}-unknown-linux-{musl,gnu} {aarch64,x86_64}-apple-darwin)
build=${CARGO_TARGET_DIR:-target}
tools=$PWD/target/packaging
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/python" -c 'import ziglang' 2>/dev/null && [ -x "$tools/bin/cargo-zigbuild" ] ||
  "$tools/bin/python" -m pip install -q ziglang cargo-zigbuild
export PATH="$tools/bin:$PATH"

version=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' Cargo.toml)
# The same commit gives the same archive.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
out=$PWD/target/dist
mkdir -p "$out"

# The C library of TARGET below FOLDER, but not the static one, which is large: build_library TARGET FOLDER
build_library() {
  local zig=$1 soname=libbz2.so.1.0 flags=
  case $1 in
  *-gnu) zig=$1.2.17 ;;
  # Rust links programs for musl statically; a library must not be.
  *-musl) soname=libbz2.so.1 flags="-C target-feature=-crt-static" ;;
  esac
  CARGO_TARGET_DIR="$build/shared" RUSTFLAGS="$flags" HYBZ_LIBBZ2_SONAME=$soname \
    cargo-zigbuild zigbuild --profile libbz2 --locked --target "$zig" -p hybz-libbz2 --lib
  HYBZ_LIBBZ2_BUILT="$build/shared/$1/libbz2" HYBZ_LIBBZ2_SONAME=$soname DESTDIR="$2" \
    crates/libbz2/install.sh /libbz2
  rm "$2/libbz2/lib/libbz2.a"
  # Wherever the archive is unpacked.
  sed -i "s|^prefix=.*|prefix=\${pcfiledir}/../..|" "$2/libbz2/lib/pkgconfig/bzip2.pc"
}

for target in "${targets[@]}"; do
  [ -d "$(rustc --print target-libdir --target "$target")" ] || rustup target add "$target"
  name=hybz-$version-$target
  rm -rf "${out:?}/$name"
  zig=$target
  case $target in *-gnu) zig=$target.2.17 ;; esac
  cargo-zigbuild zigbuild --release --locked --target "$zig" -p hybz -p hysort --bins
  for command in hybz hysort; do
    install -D -m 755 -t "$out/$name/bin" "$build/$target/release/$command"
  done
  case $target in *linux*) build_library "$target" "$out/$name" ;; esac
  packaging/share.sh "$out/$name"
  install -m 644 -t "$out/$name" LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md
  install -m 755 packaging/install.sh "$out/$name/install.sh"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n > "$out/$name.tar.gz"
  rm -r "${out:?}/$name"
done
(cd "$out" && sha256sum hybz-*.tar.gz > SHA256SUMS && ls -l && cat SHA256SUMS)
