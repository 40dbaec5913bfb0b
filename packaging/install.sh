#!/bin/sh
# Installs hybz and hysort: ./install.sh [--bzip2] [PREFIX]; PREFIX is /usr/local by default.
# With --bzip2 there are also bzip2, bunzip2, bzcat and bzip2recover, links to hybz. hybz installs itself, and replaces
# nothing that it did not put there. hysort and its pages are replaced. libbz2/ is not installed: programs find it there
# by LD_LIBRARY_PATH=$PWD/libbz2/lib, or where you copy it; do not put it over the system's.
set -eu
names=
if [ "${1-}" = --bzip2 ]; then
  names=--bzip2-names
  shift
fi
prefix=${1:-/usr/local}
from=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2086
"$from/bin/hybz" --install-to "$prefix" $names
# By a rename: the command may be running.
cp "$from/bin/hysort" "$prefix/bin/.hysort.new"
chmod 755 "$prefix/bin/.hysort.new"
mv -f "$prefix/bin/.hysort.new" "$prefix/bin/hysort"
(cd "$from/share" && find . -type f -name '*hysort*') | while read -r file; do
  mkdir -p "$prefix/share/$(dirname "$file")"
  cp "$from/share/$file" "$prefix/share/$file"
done
echo "hybz and hysort are in $prefix/bin"
