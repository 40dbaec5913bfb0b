#!/usr/bin/env bash
# Makes the release archives: packaging/dist.sh [TARGET...]; by default static binaries for x86-64 and aarch64 Linux.
# Each archive has both commands, manual pages, completions, licences and install.sh; SHA256SUMS has their sums.
# Needs rustup and Python; zig, which compiles and links for all targets, comes from Python's package registry.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
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
for target in "${targets[@]}"; do
  rustup target add "$target" >/dev/null 2>&1 || true
  cargo-zigbuild zigbuild --release --locked --target "$target" -p hybz -p hysort --bins
  name=hybz-$version-$target
  rm -rf "${out:?}/$name"
  for command in hybz hysort; do
    install -D -m 755 -t "$out/$name/bin" "$build/$target/release/$command"
  done
  packaging/share.sh "$out/$name"
  install -m 644 -t "$out/$name" LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md
  install -m 755 packaging/install.sh "$out/$name/install.sh"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n > "$out/$name.tar.gz"
  rm -r "${out:?}/$name"
done
(cd "$out" && sha256sum hybz-*.tar.gz > SHA256SUMS && ls -l && cat SHA256SUMS)
