#!/usr/bin/env bash
# Tests the Python package in Dask distributed, Ray, DuckDB, Polars, pandas and s3fs: python/engines.sh [PYTHON]
# The engines are installed (1 GB) into target/engines-VERSION, which is kept. Run python/test.sh first: it builds the
# package.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter=${1:-python3}
version=$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=target/engines-$version
python=$PWD/$venv/bin/python
packages=("ray[data]" "dask[distributed,dataframe]" pandas polars duckdb pyarrow fsspec s3fs "moto[server]" psutil)
packages+=(ratarmountcore rapidgzip)
modules="ray.data, dask.bag, distributed, pandas, polars, duckdb, pyarrow, s3fs, moto.server, psutil"
modules+=", ratarmountcore, rapidgzip"
has_all() { "$python" -c "import $modules" 2>/dev/null; }

wheels=("target/wheels/test-$version"/hybz-*.whl)
[ -e "${wheels[0]}" ] || { echo "skipped: python/test.sh has built no package for Python $version"; exit 0; }
[ -x "$python" ] || "$interpreter" -m venv "$venv"
# No module is compiled beforehand, because that would take half a minute, and most modules are never used.
has_all || timeout "${HYBZ_ENGINES_SECONDS:-600}" "$python" -m pip install -q --no-compile "${packages[@]}" ||
  echo "skipped: cannot be installed in time: ${packages[*]}"
"$python" -m pip install -q --force-reinstall --no-deps "${wheels[@]}"

cd python/tests
export PYTHONPATH=$PWD
"$python" -m unittest -v test_engines test_others test_frames 2>&1 |
  sed "s/^\(.*\) \.\.\. skipped '\(.*\)'$/skipped: \1: \2/" | { grep -v ' \.\.\. ok$' || true; }
