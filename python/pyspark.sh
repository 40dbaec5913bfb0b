#!/usr/bin/env bash
# Tries README.md's recipe for PySpark, and compares it with Spark's own reader: python/pyspark.sh [PYTHON [FILE.bz2]]
# The script installs PySpark into target/pyspark-VERSION (450 MB, which takes minutes), and a JDK by apt-get if there
# is none.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter=${1:-python3}
version=$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
command -v java >/dev/null ||
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openjdk-17-jre-headless >/dev/null; }
venv=target/pyspark-$version
[ -x "$venv/bin/python" ] || "$interpreter" -m venv "$venv"
"$venv/bin/python" -c 'import pyspark' 2>/dev/null || "$venv/bin/python" -m pip install -q --no-compile pyspark
"$venv/bin/python" -c 'import hybz' 2>/dev/null || "$venv/bin/python" -m pip install -q ./python

PYSPARK_PYTHON=$PWD/$venv/bin/python SPARK_LOCAL_IP=127.0.0.1 "$venv/bin/python" - "${@:2}" <<'END'
import os, sys, tempfile, time
import hybz
from pyspark import SparkConf, SparkContext

folder = tempfile.TemporaryDirectory()
path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder.name, "lines.bz2")
if len(sys.argv) == 1:
    with hybz.open(path, "wt", compresslevel=1) as file:
        file.writelines(f"line {n} of {n * 7919 % 10007}\r\n" for n in range(500_000))
with hybz.open(path) as file:
    expected = sum(1 for _ in file)

sc = SparkContext("local[2]", "hybz", conf=SparkConf().set("spark.ui.showConsoleProgress", "false"))
sc.setLogLevel("ERROR")
for round in range(2):  # the first run starts the workers
    begin = time.monotonic()
    ranges = hybz.ranges(path, 1 << 20)
    lines = sc.parallelize(ranges, len(ranges)).flatMap(lambda part: hybz.read_lines(part, "utf-8"))
    counted = lines.count()
    middle = time.monotonic()
    own = sc.textFile(path, 2).count()
    end = time.monotonic()
assert counted == expected == own, (counted, expected, own)
print(f"{counted} lines of {len(ranges)} ranges: hybz {middle - begin:.2f} s, textFile {end - middle:.2f} s")
sc.stop()
END
