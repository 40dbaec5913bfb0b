#!/usr/bin/env bash
# Tries the packages that packaging/deb.sh made, in a Debian of its own: packaging/try-deb.sh [ROOT]. Needs root and
# debootstrap. ROOT is a Debian that debootstrap made, which is changed; without it one is made and removed.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${1-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  # The suite and the mirror of this machine.
  mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' | grep -m 1 -E '/debian/?$' || true)
  debootstrap --variant=minbase --include=bzip2 bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >/dev/null
fi
install -m 644 target/hybz_*.deb target/hybz-as-bzip2_*.deb target/hybz-libbz2_*.deb "$root/tmp"
install -m 755 packaging/shapes.sh "$root/tmp"
run() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
rm -rf "$root"/tmp/by-*
same() { diff -r --no-dereference "$root/tmp/by-bzip2" "$root/tmp/$1"; }
programs() { run sh -c 'cd /usr/bin && sha256sum bzip2 bunzip2 bzcat bzip2recover'; }

before=$(programs)
run /tmp/shapes.sh /tmp/by-bzip2

run sh -c 'dpkg -i /tmp/hybz_*.deb' >/dev/null
[ "$(programs)" = "$before" ]
echo "hybz installed: bzip2 is Debian's"
run env PATH=/usr/libexec/hybz:/usr/bin:/bin /tmp/shapes.sh /tmp/by-path
same by-path
echo "PATH=/usr/libexec/hybz:\$PATH: $(cat "$root/tmp/by-path/count") ways to call bzip2, no difference"

run sh -c 'dpkg -i /tmp/hybz-as-bzip2_*.deb' >/dev/null
run bzip2 --version 2>&1 </dev/null | grep hybz >/dev/null
run /tmp/shapes.sh /tmp/by-alternative
same by-alternative
echo "hybz-as-bzip2 installed: $(cat "$root/tmp/by-alternative/count") ways to call bzip2, no difference"
run update-alternatives --quiet --set bzip2 /usr/bin/bzip2.distrib
[ "$(programs)" = "$before" ]
run update-alternatives --quiet --auto bzip2
# An upgrade of Debian's bzip2 must leave the names alone.
run sh -c 'dpkg -i /tmp/hybz-as-bzip2_*.deb; cd /tmp && dpkg-query -W bzip2' >/dev/null
if run sh -c 'cd /tmp && apt-get -qq update && apt-get -qq install --reinstall bzip2' >/dev/null 2>&1; then
  run bzip2 --version 2>&1 </dev/null | grep hybz >/dev/null
  echo "bzip2 installed again: the alternative stays"
else
  echo "skipped: bzip2 cannot be installed again here"
fi

run sh -c 'dpkg -i /tmp/hybz-libbz2_*.deb' >/dev/null
folder=$(cd "$root" && echo usr/lib/*/hybz)
run env LD_LIBRARY_PATH="/$folder" LD_TRACE_LOADED_OBJECTS=1 /bin/bzip2.distrib | grep "/$folder/libbz2.so.1.0" >/dev/null
run sh -c "seq 500000 > /tmp/text; LD_LIBRARY_PATH=/$folder bzip2.distrib -c /tmp/text > /tmp/a; \
  bzip2.distrib -c /tmp/text | cmp - /tmp/a; LD_LIBRARY_PATH=/$folder bzip2.distrib -dc /tmp/a | cmp - /tmp/text"
echo "hybz-libbz2 installed: Debian's bzip2 on it writes and reads the same bytes"

run dpkg --purge hybz-as-bzip2 hybz hybz-libbz2 >/dev/null
[ "$(programs)" = "$before" ]
[ -z "$(run dpkg --verify)" ]
[ -z "$(run dpkg-divert --list '*bz*')" ]
! run update-alternatives --query bzip2 >/dev/null 2>&1
echo "all removed: bzip2 is Debian's, with no diversion and no alternative"
