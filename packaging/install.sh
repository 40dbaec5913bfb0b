#!/bin/sh
# Installs hybz and hysort: ./install.sh [--bzip2] [PREFIX]; PREFIX is /usr/local by default.
# With --bzip2 there are also bzip2, bunzip2, bzcat and bzip2recover, links to hybz; if one of these names is another
# program's in PREFIX/bin, nothing is installed. libbz2/ is not installed: programs find it there by
# LD_LIBRARY_PATH=$PWD/libbz2/lib, or where you copy it; do not put it over the system's.
set -eu
links="hybunz hybcat"
if [ "${1-}" = --bzip2 ]; then
  links="$links bzip2 bunzip2 bzcat bzip2recover"
  shift
fi
prefix=${1:-/usr/local}
from=$(cd "$(dirname "$0")" && pwd)
for link in $links; do
  if { [ -e "$prefix/bin/$link" ] || [ -h "$prefix/bin/$link" ]; } &&
    [ "$(readlink "$prefix/bin/$link")" != hybz ]; then
    echo "$prefix/bin/$link exists: nothing is installed." >&2
    exit 1
  fi
done
(cd "$from" && find bin share -type f) | while read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # By a rename: the command may be running.
  cp "$from/$file" "$prefix/$file.new"
  case $file in bin/*) chmod 755 "$prefix/$file.new" ;; *) chmod 644 "$prefix/$file.new" ;; esac
  mv -f "$prefix/$file.new" "$prefix/$file"
done
for link in $links; do ln -sf hybz "$prefix/bin/$link"; done
for page in hybunz hybcat; do ln -sf hybz.1 "$prefix/share/man/man1/$page.1"; done
echo "hybz and hysort are in $prefix/bin"
