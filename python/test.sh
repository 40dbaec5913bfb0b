#!/usr/bin/env bash
# Builds the Python package and runs its tests: python/test.sh [PYTHON]. Tests that lack a module are named as skipped.
# The build uses the workspace's profile `dev`, which is optimised.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter=${1:-python3}
"$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { echo "skipped: $interpreter is older than Python 3.11"; exit 0; }
version=$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=target/python-test-$version
[ -x "$venv/bin/python" ] || "$interpreter" -m venv "$venv"
python=$PWD/$venv/bin/python

"$python" -c 'import maturin' 2>/dev/null || "$python" -m pip install -q 'maturin>=1.9,<2' ||
  { echo "skipped: maturin cannot be had"; exit 0; }
# Without it, its tests are skipped.
"$python" -c 'import fsspec' 2>/dev/null || "$python" -m pip install -q fsspec || true

wheels=target/wheels/test-$version
rm -rf "$wheels"
PATH="$PWD/$venv/bin:$PATH" maturin build --quiet --locked --profile dev --manifest-path python/Cargo.toml \
  --interpreter "$python" --out "$wheels"
"$python" -m pip install -q --force-reinstall --no-deps "$wheels"/hybz-*.whl

# The place of the tests.
cd python/tests
# python/engines.sh runs the tests of the engines.
tests=("${@:2}")
[ $# -gt 1 ] || for file in test_[!e]*.py; do tests+=("${file%.py}"); done
"$python" -X dev -W error -m unittest -v "${tests[@]}" 2>&1 |
  sed "s/^\(.*\) \.\.\. skipped '\(.*\)'$/skipped: \1: \2/" | { grep -v ' \.\.\. ok$' || true; }
[ $# -le 1 ] || exit 0

# CPython's own tests. Debian has them in a separate package, which is unpacked and not installed.
suite=
if ! "$python" -c 'import test.test_bz2' 2>/dev/null; then
  suite=$OLDPWD/target/python-suite-$version
  if [ ! -d "$suite" ]; then
    (cd "$(dirname "$suite")" && apt-get download -qq "libpython$version-testsuite" 2>/dev/null &&
      dpkg -x "libpython$version-testsuite"_*.deb "$suite") || true
  fi
  suite=$suite/usr/lib/python$version/test
fi
"$python" cpython.py $suite
