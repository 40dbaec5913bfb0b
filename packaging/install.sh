#!/bin/sh
# Installs hybz and hysort: ./install.sh [--bzip2] [PREFIX]; PREFIX is /usr/local by default.
# With --bzip2 there are also bzip2, bunzip2, bzcat and bzip2recover, links to hybz. Nothing that exists and is not
# hybz's is replaced.
set -eu
links="hybunz hybcat"
if [ "${1-}" = --bzip2 ]; then
  links="$links bzip2 bunzip2 bzcat bzip2recover"
  shift
fi
prefix=${1:-/usr/local}
from=$(cd "$(dirname "$0")" && pwd)
for link in $links; do
  path=$prefix/bin/$link
  if [ -e "$path" ] || [ -L "$path" ]; then
    if [ "$(readlink "$path" || true)" != hybz ]; then
      echo "$path exists, and is not hybz's: nothing is installed" >&2
      exit 1
    fi
  fi
done
mkdir -p "$prefix/bin"
for command in hybz hysort; do
  # By a rename: the command may be running.
  cp "$from/bin/$command" "$prefix/bin/.$command.new"
  chmod 755 "$prefix/bin/.$command.new"
  mv -f "$prefix/bin/.$command.new" "$prefix/bin/$command"
done
(cd "$from/share" && find . -type f) | while read -r file; do
  mkdir -p "$prefix/share/$(dirname "$file")"
  cp "$from/share/$file" "$prefix/share/$file"
done
for link in $links; do
  ln -sf hybz "$prefix/bin/$link"
done
echo "hybz is in $prefix/bin"
