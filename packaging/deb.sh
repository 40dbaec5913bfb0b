#!/usr/bin/env bash
# Makes the Debian package target/hybz_*.deb, and checks it with lintian if that is installed: packaging/deb.sh
# Needs dpkg-dev. Debian's bzip2 is a file and not an alternative, so the links of its names are in a folder of their own,
# /usr/libexec/hybz, for the PATH of whoever wants them.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked -p hybz -p hysort --bins

stage=target/deb
rm -rf $stage
packaging/share.sh $stage/usr
# Debian's own folders for zsh; nothing is generated on the user's machine.
mkdir -p $stage/usr/share/zsh/vendor-completions $stage/usr/libexec/hybz
mv $stage/usr/share/zsh/site-functions/* $stage/usr/share/zsh/vendor-completions/
rmdir $stage/usr/share/zsh/site-functions
for link in bzip2 bunzip2 bzcat bzip2recover; do
  ln -s ../../bin/hybz "$stage/usr/libexec/hybz/$link"
done
for link in hybunz hybcat; do
  mkdir -p $stage/usr/bin
  ln -s hybz "$stage/usr/bin/$link"
  ln -s hybz.1.gz "$stage/usr/share/man/man1/$link.1.gz"
done
version=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' Cargo.toml)
who="The hybz developers <maintainers@users.noreply.a-seed-233fc271.example>"
install -m 755 -t $stage/usr/bin target/release/hybz target/release/hysort
strip --strip-unneeded $stage/usr/bin/hybz $stage/usr/bin/hysort
doc=$stage/usr/share/doc/hybz
mkdir -p "$doc" $stage/DEBIAN $stage/debian
{ echo "hybz ($version-1) unstable; urgency=medium"
  echo
  echo "  * The changes are in CHANGELOG.md of the source."
  echo
  echo " -- $who  $(git log -1 --format=%cD)"
} | gzip -9n > "$doc/changelog.Debian.gz"
{ echo "Copyright: 2026 The hybz developers"
  echo "License: MIT or Apache-2.0, as you choose. Apache-2.0 is in /usr/share/common-licenses/Apache-2.0; MIT:"
  echo
  cat LICENSE-MIT
} > "$doc/copyright"
gzip -9n $stage/usr/share/man/man1/*.1
printf 'Source: hybz\nPackage: hybz\n' > $stage/debian/control
depends=$(cd $stage && dpkg-shlibdeps -O usr/bin/hybz usr/bin/hysort | sed 's/^shlibs:Depends=//')
rm -r $stage/debian
cat > $stage/DEBIAN/control <<END
Package: hybz
Version: $version-1
Architecture: $(dpkg --print-architecture)
Maintainer: $who
Section: utils
Priority: optional
Installed-Size: $(du -ks $stage/usr | cut -f1)
Depends: $depends
Description: bzip2 on every core: the same bytes, and sorting of lines
 hybz compresses to the exact bytes of bzip2 1.0.8 and decompresses what it
 decompresses, on every core of a machine. It has indexes, parts of files,
 recovery of damaged files, and trees. hysort sorts lines as LC_ALL=C sort
 does. /usr/libexec/hybz has links of bzip2's names, for your PATH.
END
(cd $stage && find usr -type f -print0 | sort -z | xargs -0 md5sum) > $stage/DEBIAN/md5sums
package=target/hybz_$version-1_$(dpkg --print-architecture).deb
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) dpkg-deb --root-owner-group -b $stage "$package"
dpkg-deb -c "$package"
! command -v lintian >/dev/null || lintian --fail-on error "$package"
ls -l "$package"
