#!/usr/bin/env bash
# Builds the wheel for Linux into target/wheels and tries it: python/wheel.sh [PYTHON [MAKER'S OPTIONS]]
# One wheel serves Python 3.11 and newer, on glibc 2.17 and newer (manylinux2014). zig, from the package registry of
# Python, links it, so neither a container nor an old system is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter=${1:-python3}
maker=target/python-wheel
[ -x "$maker/bin/python" ] || "$interpreter" -m venv "$maker"
"$maker/bin/python" -c 'import maturin, ziglang, auditwheel' 2>/dev/null ||
  "$maker/bin/python" -m pip install -q 'maturin>=1.9,<2' ziglang auditwheel

wheels=$PWD/target/wheels/release
rm -rf "$wheels"
PATH="$PWD/$maker/bin:$PATH" maturin build --quiet --locked --release --zig --compatibility manylinux2014 \
  --manifest-path python/Cargo.toml --interpreter "$PWD/$maker/bin/python" --out "$wheels" "${@:2}"
wheel=$(echo "$wheels"/hybz-*.whl)

case $wheel in
*-cp311-abi3-*manylinux2014_*.whl) ;;
*) echo "not a wheel for manylinux2014: $wheel" >&2; exit 1 ;;
esac
"$maker/bin/python" -m auditwheel show "$wheel" | tee "$wheels/auditwheel.txt"
grep -q 'manylinux_2_17' "$wheels/auditwheel.txt"

# In an environment without other packages, and from a folder without sources.
clean=target/python-clean
rm -rf "$clean"
"$interpreter" -m venv "$clean"
"$clean/bin/python" -m pip install -q --no-index "$wheel"
python=$PWD/$clean/bin/python
cd /
"$python" - <<'END'
import bz2, hybz, os, tempfile
text = os.urandom(100_000) + bytes(1_000_000) + b"lines\n" * 300_000
coded = hybz.compress(text, 1)
assert coded == bz2.compress(text, 1) and hybz.decompress(coded) == text
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.bz2")
    with hybz.open(path, "wb", index=path + ".bzi") as file:
        file.write(text)
    assert b"".join(map(hybz.read_range, hybz.ranges(path, 1))) == text
print("it works")
END
ls -l "$wheel"
