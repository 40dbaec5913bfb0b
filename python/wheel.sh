#!/usr/bin/env bash
# Builds the wheels into target/wheels/release and tries those that can run here: python/wheel.sh [PYTHON [KIND...]]
# KIND is manylinux-x86_64, manylinux-aarch64 (glibc 2.17 and newer), musllinux-x86_64, musllinux-aarch64 or macos (both
# processors in one); without one, all are built. Each serves Python 3.11 and newer. zig, from the package registry of
# Python, compiles and links for all of them, so no container and no other system is needed. Not for Windows:
# not tried again since crc-fast, whose exports could not be linked there, is gone.
# The wheel for aarch64 is tried where qemu-user-static is installed, with Debian's Python for it, which apt downloads,
# and that for musl, by root, in Alpine.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter=${1:-python3}
kinds=("${@:2}")
[ ${#kinds[@]} -gt 0 ] || kinds=({manylinux,musllinux}-{x86_64,aarch64} macos)
maker=target/python-wheel
[ -x "$maker/bin/python" ] || "$interpreter" -m venv "$maker"
"$maker/bin/python" -c 'import maturin, ziglang, auditwheel' 2>/dev/null ||
  "$maker/bin/python" -m pip install -q 'maturin>=1.9,<2' ziglang auditwheel

wheels=$PWD/target/wheels/release
rm -rf "$wheels"
mkdir -p "$wheels"
audit=$wheels/auditwheel.txt
test_module=$PWD/python/try_wheel.py

# Builds one wheel and prints its name: build TARGET TAG OPTION...
build() {
  local wheel
  for triple in ${1/universal2-apple-darwin/aarch64-apple-darwin x86_64-apple-darwin}; do
    [ -d "$(rustc --print target-libdir --target "$triple")" ] || rustup target add "$triple" >&2
  done
  PATH="$PWD/$maker/bin:$PATH" maturin build --quiet --locked --release --zig --target "$1" "${@:3}" \
    --manifest-path python/Cargo.toml --interpreter "$PWD/$maker/bin/python" --out "$wheels" >&2
  wheel=$(find "$wheels" -name "hybz-*-cp311-abi3-$2.whl")
  [ -n "$wheel" ] || { echo "no wheel for $2:" "$wheels"/* >&2; return 1; }
  echo "$wheel"
}

# What the policies say of it: audited WHEEL POLICY
audited() {
  "$maker/bin/python" -m auditwheel show "$1" | tee "$audit"
  grep -q "$2" "$audit"
}

# auditwheel knows musl by the name that it has in Alpine; zig links it by the one that musl's loader takes everywhere.
only_needs_libc() {
  unzip -p "$1" '*.so' > target/python-module.so
  readelf -d target/python-module.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tee "$audit"
  [ "$(cat "$audit")" = libc.so ]
}

for kind in "${kinds[@]}"; do
  processor=${kind#*-}
  case $kind in
  manylinux-*)
    wheel=$(build "$processor-unknown-linux-gnu" "manylinux2014_$processor*" --compatibility manylinux2014)
    audited "$wheel" manylinux_2_17
    ;;
  musllinux-*)
    wheel=$(build "$processor-unknown-linux-musl" "musllinux_1_2_$processor" --compatibility musllinux_1_2)
    only_needs_libc "$wheel"
    ;;
  macos) wheel=$(build universal2-apple-darwin "macosx_*_universal2*") ;;
  *) echo "$kind is not known" >&2; exit 2 ;;
  esac

  # In an environment without other packages, and from a folder without sources.
  clean=$PWD/target/python-clean
  rm -rf "$clean"
  if [ "$kind" = "manylinux-$(uname -m)" ]; then
    "$interpreter" -m venv "$clean"
    "$clean/bin/python" -m pip install -q --no-index "$wheel"
    (cd / && "$clean/bin/python" "$test_module")
  elif [ "$kind" = manylinux-aarch64 ] && command -v qemu-aarch64-static >/dev/null; then
    [ -e target/arm64-root/usr/bin/python3 ] || packaging/arm64-root.sh target/arm64-root python3
    "$interpreter" -m pip install -q --no-index --no-deps --target "$clean" --only-binary=:all: \
      --platform manylinux2014_aarch64 --python-version 3.11 --implementation cp --abi abi3 "$wheel"
    (here=$PWD && cd / && PYTHONPATH="$clean" qemu-aarch64-static -L "$here/target/arm64-root" \
      "$here/target/arm64-root/usr/bin/python3" "$test_module")
  elif [ "$kind-$(uname -m)-$(id -u)" = musllinux-x86_64-x86_64-0 ]; then
    alpine=target/alpine-root
    [ -e $alpine/etc/alpine-release ] || packaging/alpine-root.sh $alpine
    rm -rf $alpine/tmp/wheel
    install -D -t $alpine/tmp/wheel "$wheel" "$test_module"
    chroot $alpine /usr/bin/env -i PATH=/usr/local/bin:/bin sh -euc 'cd /tmp/wheel; python3 -m venv clean
      clean/bin/python -m pip install -q --no-index ./*.whl; clean/bin/python try_wheel.py'
  else
    echo "built and not tried: $(basename "$wheel")"
  fi
done
ls -l "$wheels"/*.whl
