#!/usr/bin/env bash
# Makes the Debian packages hybz, hybz-as-bzip2 and hybz-libbz2 in target/, and checks them with lintian if that is
# installed: packaging/deb.sh. Needs dpkg-dev. packaging/try-deb.sh tries them.
# Debian's bzip2 and libbz2.so.1.0 are files and not alternatives, so hybz replaces none of them: the links of bzip2's
# names are in /usr/libexec/hybz, for those who put it on their PATH, and the library is in a folder of its own.
# Installing hybz-as-bzip2 makes alternatives of bzip2's names: it diverts Debian's programs to NAME.distrib.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --locked -p hybz -p hysort --bins

version=$(sed -n '0,/^version = "\(.*\)"/s//\1/p' Cargo.toml)
who="The hybz developers <maintainers@users.noreply.a-seed-233fc271.example>"

# Makes a package of a stage, whose other fields and description are standard input: package NAME STAGE ELF-FILE...
# Without a file it is for all architectures, and the input has its dependencies.
package() {
  local name=$1 stage=$2 depends=
  local architecture=all
  [ $# -eq 2 ] || architecture=$(dpkg --print-architecture)
  local doc=$stage/usr/share/doc/$name
  local package=target/${name}_$version-1_$architecture.deb
  mkdir -p "$doc" "$stage/DEBIAN" "$stage/debian"
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
  printf 'Source: hybz\nPackage: %s\n' "$name" > "$stage/debian/control"
  [ $# -eq 2 ] || depends=$(cd "$stage" && dpkg-shlibdeps -O "${@:3}" | sed 's/^shlibs:Depends=/Depends: /')
  rm -r "$stage/debian"
  { echo "Package: $name"
    [ "$name" = hybz ] || echo "Source: hybz"
    echo "Version: $version-1"
    echo "Architecture: $architecture"
    echo "Maintainer: $who"
    echo "Priority: optional"
    echo "Installed-Size: $(du -ks "$stage/usr" | cut -f1)"
    [ -z "$depends" ] || echo "$depends"
    cat
  } > "$stage/DEBIAN/control"
  (cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$stage/DEBIAN/md5sums"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) dpkg-deb --root-owner-group -b "$stage" "$package"
  dpkg-deb -c "$package"
  ! command -v lintian >/dev/null || lintian --fail-on error "$package"
  ls -l "$package"
}

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
install -m 755 -t $stage/usr/bin target/release/hybz target/release/hysort
gzip -9n $stage/usr/share/man/man1/*.1
package hybz $stage usr/bin/hybz usr/bin/hysort <<END
Section: utils
Suggests: hybz-as-bzip2, hybz-libbz2
Description: bzip2 on every core: the same bytes, and sorting of lines
 hybz compresses to the exact bytes of bzip2 1.0.8 and decompresses what it
 decompresses, on every core of a machine. It has indexes, parts of files,
 recovery of damaged files, and trees. hysort sorts lines as LC_ALL=C sort
 does. /usr/libexec/hybz has links of bzip2's names, for your PATH.
END

stage=target/deb-as-bzip2
rm -rf $stage
mkdir -p $stage/DEBIAN $stage/usr/share/doc/hybz-as-bzip2
cat > $stage/usr/share/doc/hybz-as-bzip2/README.Debian <<END
bzip2, bunzip2, bzcat and bzip2recover are alternatives now, and hybz is the
first choice. Debian's programs have the names bzip2.distrib and so on.

  update-alternatives --config bzip2    chooses, for all four names
  apt remove hybz-as-bzip2              gives Debian's programs their names back
END
install -m 755 packaging/debian/as-bzip2.postinst $stage/DEBIAN/postinst
install -m 755 packaging/debian/as-bzip2.prerm $stage/DEBIAN/prerm
package hybz-as-bzip2 $stage <<END
Depends: hybz (= $version-1), bzip2
Section: utils
Description: hybz as the bzip2 of this machine
 bzip2, bunzip2, bzcat and bzip2recover become alternatives, of which hybz's
 is the first choice: the same bytes, on every core. Debian's own programs stay,
 and removing this package gives them their names back.
END

stage=target/deb-libbz2
library=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/hybz
rm -rf $stage
DESTDIR=$PWD/$stage/staged crates/libbz2/install.sh "/$library"
install -D -m 644 -t "$stage/$library" "$stage/staged/$library/lib/libbz2.so.1.0"
rm -r $stage/staged
mkdir -p $stage/usr/share/doc/hybz-libbz2
cat > $stage/usr/share/doc/hybz-libbz2/README.Debian <<END
/$library/libbz2.so.1.0 takes the place of Debian's libbz2.so.1.0 in programs
that find it first; this package changes nothing by itself.

For one program:

  LD_LIBRARY_PATH=/$library python3 -c 'import bz2'

For all programs of the machine, and back:

  echo /$library >/etc/ld.so.conf.d/00-hybz-libbz2.conf && ldconfig
  rm /etc/ld.so.conf.d/00-hybz-libbz2.conf && ldconfig

Programs that are set-user-ID ignore LD_LIBRARY_PATH. The variable
HYBZ_THREADS gives the library threads (0: all cores); without it there are
none.
END
package hybz-libbz2 $stage "$library/libbz2.so.1.0" <<END
Section: libs
Description: libbz2.so.1.0 by hybz: the same bytes in less time
 Programs that use bzip2's library, such as Python, dpkg, apt, tar programs on
 libarchive, Perl and R, run with this one unchanged: the same functions and
 the exact bytes of bzip2 1.0.8, in a fraction of the processor time. It lies
 next to Debian's library, in a folder of its own; README.Debian says how
 programs find it.
END
