#!/usr/bin/env bash
# The suites of programs that use libbz2, unmodified, with three libraries: the system's, libbz2-rs, and this one.
#
#   crates/libbz2/judges.sh                  all judges; prints a table for README.md
#   crates/libbz2/judges.sh cpython zip      some of them (the names are those of the functions `judge_NAME` below)
#
# It fetches from Debian, PyPI's and Rust's registries only, into HYBZ_JUDGES (target/judges), and needs root for
# apt-get. HYBZ_PYTHONS names the interpreters (with the package `test`), HYBZ_LIBRARIES the columns of the table (C,
# rs, hybz). An object that is preloaded writes down the libbz2 that each process has mapped, as /proc/self/maps has it:
# one process with another library fails the judge.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
work=${HYBZ_JUDGES:-$root/target/judges}
pythons=${HYBZ_PYTHONS:-$(ls -d ~/.pyenv/versions/3.1[13].*/bin/python3.1[13] 2>/dev/null)}
pythons=${pythons:-python3}
mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/src" "$work/log"
say() { printf '%s\n' "$*" >&2; }

# --- what is compared -----------------------------------------------------------------------------------------------

declare -A library
library[C]=$(realpath "$(ldconfig -p | awk '/libbz2.so.1.0 .*64/ {print $NF; exit}')")
build_hybz() {
  crates/libbz2/install.sh "$work/hybz" >"$work/log/hybz.txt" 2>&1 && library[hybz]=$work/hybz/lib/libbz2.so.1.0
}
build_rs() {
  local folder=$work/rs
  mkdir -p "$folder/src" "$folder/lib"
  cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "bz2rs"
version = "0.0.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
[dependencies.libbz2-rs-sys]
version = "0.2"
default-features = false
features = ["c-allocator", "stdio", "export-symbols"]
[profile.release]
panic = "abort"
codegen-units = 1
lto = true
[workspace]
TOML
  echo 'pub use libbz2_rs_sys::*;' >"$folder/src/lib.rs"
  (cd "$folder" && RUSTFLAGS="-C link-arg=-Wl,-soname,libbz2.so.1.0" CARGO_TARGET_DIR=target cargo build --release) \
    >"$work/log/rs.txt" 2>&1 &&
    cp "$folder/target/release/libbz2rs.so" "$folder/lib/libbz2.so.1.0" && library[rs]=$folder/lib/libbz2.so.1.0
}

# Debian's source packages without a change to the machine's lists.
export_apt() {
  cat >"$work/apt/conf" <<CONF
Dir::Etc::sourceparts "$work/apt/parts";
Dir::Etc::sourcelist "/dev/null";
Dir::State::lists "$work/apt/lists";
APT::Sandbox::User "root";
CONF
  cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed 's/^Types: deb$/Types: deb deb-src/' >"$work/apt/parts/a.sources"
  sed -n '/^deb /{p;s/^deb /deb-src /;p}' /etc/apt/sources.list 2>/dev/null >"$work/apt/parts/a.list"
  [ -e "$work/apt/updated" ] || APT_CONFIG=$work/apt/conf apt-get update -qq >&2 && touch "$work/apt/updated"
}
packages() {
  DEBIAN_FRONTEND=noninteractive APT_CONFIG=$work/apt/conf apt-get install -y -qq --no-install-recommends "$@" \
    >"$work/log/apt.txt" 2>&1 || say "apt-get install $*: see $work/log/apt.txt"
}
# Prints the folder of a source package; where the newest version is no longer there, an older one's.
source_of() {
  local version folder
  folder=$(find "$work/src" -maxdepth 1 -type d -name "$1-*" | head -1)
  if [ -z "$folder" ]; then
    for version in $(APT_CONFIG=$work/apt/conf apt-cache showsrc "$1" | awk '/^Version:/ {print $2}' | sort -rV); do
      (cd "$work/src" && APT_CONFIG=$work/apt/conf apt-get source -qq "$1=$version") \
        >"$work/log/source.txt" 2>&1 && break
    done
    folder=$(find "$work/src" -maxdepth 1 -type d -name "$1-*" | head -1)
  fi
  [ -n "$folder" ] && echo "$folder"
}

# Appends what libbz2 a process has mapped when it ends, or unloads something.
cat >"$work/mapped.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((destructor)) static void note(void) {
    const char *log = getenv("HYBZ_MAPPED");
    FILE *maps = log ? fopen("/proc/self/maps", "r") : NULL;
    char line[4096], *path;
    while (maps && fgets(line, sizeof line, maps))
        if ((path = strstr(line, "/")) && strstr(path, "libbz2") && strstr(line, "r-xp")) {
            FILE *out = fopen(log, "a");
            if (out) { fputs(path, out); fclose(out); }
        }
    if (maps) fclose(maps);
}
/* PHP unloads its extensions before it ends. */
int dlclose(void *handle) {
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    note();
    return next(handle);
}
C
gcc -O1 -shared -fPIC -o "$work/mapped.so" "$work/mapped.c" || exit 1

# --- the judges: each prints its outcome on one line, and fails if the suite does -------------------------------------

# The `Ran N tests` and verdicts of unittest, summed.
judge_cpython() {
  local python version out
  for python in $pythons; do
    version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
    for module in test_bz2 test_tarfile test_zipfile test_shutil; do
      out=$("$python" -m test -v "$module" 2>&1)
      printf '%s\n' "$out" >>"$log"
      printf '%s' "$out" | grep -qE '^(Result: SUCCESS|== Tests result: SUCCESS ==|Tests result: SUCCESS)' ||
        { echo "$version $module FAILED"; return 1; }
      printf '%s %s %s; ' "$version" "${module#test_}" \
        "$(printf '%s' "$out" | awk '/^Ran [0-9]+ tests?/ {n += $2} END {print n}')"
    done
  done
}
# The tests that match a pattern, in a folder of Perl's source.
perl_suite() {
  (
    cd "$perl_source/cpan/$1" || exit
    # shellcheck disable=SC2086 # the pattern is one
    prove -I t -I t/compress $2
  ) >>"$log" 2>&1
  local status=$?
  sed -nE 's/^Files=([0-9]+), Tests=([0-9]+).*/\2 in \1 files/p' "$log"
  return $status
}
prepare_perl() { packages perl && perl_source=$(source_of perl); }
prepare_perl_raw() { prepare_perl; }
prepare_perl_io() { prepare_perl; }
judge_perl_raw() { perl_suite Compress-Raw-Bzip2 't/*.t'; }
judge_perl_io() { perl_suite IO-Compress 't/*bzip2*.t'; }
prepare_php() { packages php8.2-cli php8.2-bz2 && php_source=$(source_of php8.2); }
judge_php() {
  (cd "$php_source" && NO_INTERACTION=1 TEST_PHP_EXECUTABLE=$(command -v php8.2) php8.2 run-tests.php -q ext/bz2/tests \
    >>"$log" 2>&1)
  local status=$?
  awk '/^Tests passed/ {p=$4} /^Tests failed/ {f=$4} END {print p " passed, " f " failed"}' "$log"
  return $status
}
prepare_libarchive() {
  packages cmake g++ zlib1g-dev liblzma-dev libzstd-dev libacl1-dev libbz2-dev pkg-config
  libarchive_source=$(source_of libarchive) || return 1
  [ -x "$work/libarchive/bin/libarchive_test" ] ||
    { cmake -S "$libarchive_source" -B "$work/libarchive" -DCMAKE_BUILD_TYPE=Release -DENABLE_OPENSSL=OFF \
      -DENABLE_WERROR=OFF && make -C "$work/libarchive" libarchive_test; } >"$work/log/libarchive.txt" 2>&1
}
judge_libarchive() {
  (cd "$work/libarchive" && bin/libarchive_test -q -r "$libarchive_source/libarchive/test" \
    '*bz2*' '*bzip2*' '*7zip*' '*zip*' >>"$log" 2>&1)
  local status=$?
  tail -n 1 "$log"
  return $status
}
prepare_htslib() {
  packages gcc make zlib1g-dev liblzma-dev libbz2-dev libdeflate-dev libhtscodecs-dev perl autoconf automake
  htslib_source=$(source_of htslib) || return 1
  [ -x "$htslib_source/test/test_view" ] ||
    { cd "$htslib_source" && autoreconf -i && ./configure --with-external-htscodecs --disable-libcurl && make -j2 &&
      make -j2 test/test_view; } \
      >"$work/log/htslib.txt" 2>&1
}
judge_htslib() {
  (cd "$htslib_source" && make check >>"$log" 2>&1)
  local status=$?
  awk '/^ *failed *\.\./ {f+=$NF} /^ *passed *\.\./ {p+=$NF} END {print p+0 " passed, " f+0 " failed"}' "$log"
  return $status
}
prepare_boost() {
  local tests=$work/boost/boost/libs/iostreams/test
  packages g++ xz-utils libboost-iostreams-dev libboost-test-dev
  if [ ! -d "$tests" ]; then
    # Only its tests: the whole source is 600 MB.
    mkdir -p "$work/boost" && (cd "$work/src" &&
      APT_CONFIG=$work/apt/conf apt-get source -qq --download-only boost1.74 &&
      tar -xJf boost1.74_*.orig.tar.xz -C "$work/boost" --wildcards '*/libs/iostreams/test/*') \
      >"$work/log/boost.txt" 2>&1 || return 1
  fi
  [ -x "$work/boost/bzip2_test" ] || (cd "$tests" && g++ -O1 -w bzip2_test.cpp -o "$work/boost/bzip2_test" \
    -lboost_iostreams -Wl,-Bstatic -lboost_unit_test_framework -Wl,-Bdynamic) >>"$work/log/boost.txt" 2>&1
}
judge_boost() {
  "$work/boost/bzip2_test" --report_level=short >>"$log" 2>&1
  local status=$?
  sed -nE 's/^ *([0-9]+) (assertion|test case)s? out of ([0-9]+) passed$/\1 of \3 \2s/p' "$log" | paste -sd ' ' |
    sed 's/s \([0-9]\)/s, \1/'
  return $status
}
# A map of 60,000 nodes, written and read by libosmium: by osmium-tool and by pyosmium.
prepare_osmium() {
  packages osmium-tool python3-pyosmium
  mkdir -p "$work/osmium" && awk 'BEGIN {
    print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"judge\">"
    common = "version=\"1\" timestamp=\"2020-01-01T00:00:00Z\" uid=\"1\" user=\"a\" changeset=\"1\""
    for (i = 1; i <= 60000; i++)
      printf "<node id=\"%d\" %s lat=\"%.7f\" lon=\"%.7f\"/>\n", i, common, i * 7919 % 170 - 85 + i % 1000 / 1000, \
        i * 104729 % 360 - 180 + i % 997 / 1000
    for (i = 1; i <= 5000; i++)
      printf "<way id=\"%d\" %s><nd ref=\"%d\"/><nd ref=\"%d\"/><tag k=\"highway\" v=\"x%d\"/></way>\n", i, common, i, \
        i + 7, i % 13
    print "</osm>"
  }' >"$work/osmium/made.osm"
}
judge_osmium() {
  (cd "$work/osmium" && rm -f a.osm* b.osm both.osm.bz2 && osmium cat made.osm -o a.osm &&
    osmium cat a.osm -o a.osm.bz2 && osmium cat a.osm.bz2 -o b.osm && cmp a.osm b.osm && osmium fileinfo -e a.osm.bz2 &&
    env -u LD_LIBRARY_PATH -u LD_PRELOAD sh -c 'bzip2 -dc a.osm.bz2 | bzip2 -6 | cmp - a.osm.bz2 &&
      head -c 4000000 a.osm | bzip2 >both.osm.bz2 && tail -c +4000001 a.osm | bzip2 >>both.osm.bz2' &&
    /usr/bin/python3 -c '
import osmium
class Count(osmium.SimpleHandler):
    nodes = ways = 0
    def node(self, _): self.nodes += 1
    def way(self, _): self.ways += 1
for name in "a.osm.bz2", "both.osm.bz2":
    count = Count()
    count.apply_file(name)
    assert (count.nodes, count.ways) == (60000, 5000), name
') >>"$log" 2>&1 && echo "written, read, two streams"
}
prepare_r() { packages r-base-core; }
# R puts the system's folders before those of LD_LIBRARY_PATH, and R_LD_LIBRARY_PATH before these.
judge_r() {
  mkdir -p "$work/r" && (cd "$work/r" && R_LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/lib/R/lib Rscript - <<'R'
x <- as.raw(sample(0:40, 2e6, TRUE))
stopifnot(identical(memDecompress(memCompress(x, "bzip2"), "bzip2"), x))
d <- data.frame(a = 1:100000, b = rnorm(100000))
saveRDS(d, "d.rds", compress = "bzip2"); stopifnot(identical(readRDS("d.rds"), d))
save(d, file = "d.rda", compress = "bzip2"); e <- new.env(); load("d.rda", e); stopifnot(identical(e$d, d))
f <- bzfile("t.bz2", "w", compression = 9); writeLines(as.character(d$b), f); close(f)
f <- bzfile("t.bz2", "a"); writeLines("end", f); close(f)
stopifnot(identical(readLines("t.bz2"), c(as.character(d$b), "end")))
f <- bzfile("t.bz2", "rb"); stopifnot(length(readBin(f, "raw", 1e7)) == sum(nchar(readLines("t.bz2")) + 1)); close(f)
example(memCompress, echo = FALSE, ask = FALSE); example(connections, echo = FALSE, ask = FALSE)
R
  ) >>"$log" 2>&1 && echo "memCompress, bzfile, saveRDS, save, examples"
}
# CRAM with its blocks coded by bzip2.
prepare_samtools() { packages samtools; }
judge_samtools() {
  (mkdir -p "$work/samtools" && cd "$work/samtools" && awk 'BEGIN {
      srand(7); split("A C G T", letter, " "); print "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr1\tLN:2000000"
      for (i = 1; i <= 20000; i++) {
        bases = quality = ""
        for (j = 0; j < 100; j++) {
          bases = bases letter[int(rand() * 4) + 1]
          quality = quality substr("FGHI:,", int(rand() * 6) + 1, 1)
        }
        printf "read%d\t0\tchr1\t%d\t60\t100M\t*\t0\t0\t%s\t%s\n", i, i * 90, bases, quality
      }
    }' >a.sam && samtools view --no-PG -C --output-fmt-option use_bzip2=1 --output-fmt-option no_ref=1 \
      --output-fmt-option level=9 -o a.cram a.sam && samtools view --no-PG -h a.cram | grep -v '^@' |
    cut -f 1-11 | cmp - <(grep -v '^@' a.sam) && grep -aq 'BZh91AY&SY' a.cram) >>"$log" 2>&1 &&
    echo "CRAM with blocks of bzip2's written, read"
}
prepare_bzip2() {
  packages gcc make libbz2-dev
  bzip2_source=$(source_of bzip2) || return 1
  gcc -O2 -w -D_FILE_OFFSET_BITS=64 -o "$bzip2_source/bzip2" "$bzip2_source/bzip2.c" -lbz2
}
judge_bzip2() {
  touch "$bzip2_source/bzip2"
  (cd "$bzip2_source" && rm -f sample*.rb2 sample*.tst && make -o bzip2 -o libbz2.a check >>"$log" 2>&1) &&
    echo "6 files the same"
}
# A package of this machine's packed anew with bzip2, listed, extracted and installed by dpkg and apt.
judge_dpkg() {
  local folder=$work/deb
  rm -rf "$folder" && mkdir -p "$folder/repository" "$folder/tree/DEBIAN" "$folder/tree/usr/share/hybz-judge"
  cp /usr/bin/perl /usr/lib/x86_64-linux-gnu/libc.a "$folder/tree/usr/share/hybz-judge/" 2>/dev/null
  tar -C /usr/share -cf "$folder/tree/usr/share/hybz-judge/perl.tar" perl perl5 2>/dev/null
  printf '%s\n' 'Package: hybz-judge' 'Version: 1' 'Architecture: all' 'Maintainer: judge <judge@example.org>' \
    'Description: judge' >"$folder/tree/DEBIAN/control"
  {
    # dpkg-deb no longer writes this compression, but reads it.
    echo 2.0 >"$folder/debian-binary" && tar -C "$folder/tree/DEBIAN" -czf "$folder/control.tar.gz" ./control &&
      tar -C "$folder/tree" --exclude=DEBIAN -cjf "$folder/data.tar.bz2" . &&
      ar rc "$folder/repository/hybz-judge_1_all.deb" "$folder"/{debian-binary,control.tar.gz,data.tar.bz2} &&
      dpkg-deb -x "$folder/repository/hybz-judge_1_all.deb" "$folder/out" &&
      diff -r "$folder/tree/usr" "$folder/out/usr" &&
      dpkg-deb -I "$folder/repository/hybz-judge_1_all.deb"
  } >>"$log" 2>&1 && echo "read and extracted, $(du -k "$folder/repository/hybz-judge_1_all.deb" | cut -f1) kB"
}
judge_apt() {
  local folder=$work/deb apt=$work/deb/apt
  [ -e "$folder/repository/hybz-judge_1_all.deb" ] || judge_dpkg >/dev/null
  rm -rf "$apt" && mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
  (cd "$folder/repository" && dpkg-scanpackages -m . 2>/dev/null | bzip2 >Packages.bz2 && rm -f Packages)
  echo "deb [trusted=yes] copy:$folder/repository ./" >"$apt/parts/a.list"
  {
    set -- -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists" \
      -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
    apt-get "$@" update && apt-cache "$@" show hybz-judge && apt-get "$@" install -y hybz-judge &&
      diff -r "$folder/tree/usr/share/hybz-judge" /usr/share/hybz-judge && dpkg -P hybz-judge
  } >>"$log" 2>&1 && echo "update, show, install, purge"
}
# Archives made by one program and read by the same, compared with the files.
archives() {
  local folder=$work/archives
  if [ ! -d "$folder/tree" ]; then
    mkdir -p "$folder/tree" && cp -r crates/libbz2 docs "$folder/tree/" && cp "$(command -v perl)" "$folder/tree/"
    head -c 3000000 /dev/urandom >"$folder/tree/noise" && : >"$folder/tree/empty"
  fi
  cd "$folder" && rm -rf out a.* && mkdir out
}
judge_zip() {
  (archives && zip -q -r -Z bzip2 a.zip tree && unzip -v a.zip | grep -c BZip2 && unzip -q a.zip -d out &&
    diff -r tree out/tree && zip -qT a.zip) >>"$log" 2>&1 && echo "made, tested, extracted"
}
judge_bsdtar() {
  (archives && bsdtar -cjf a.tar.bz2 tree && bsdtar -xf a.tar.bz2 -C out && diff -r tree out/tree &&
    env -u LD_LIBRARY_PATH -u LD_PRELOAD sh -c 'bzip2 -dc a.tar.bz2 | bzip2 | cmp - a.tar.bz2') >>"$log" 2>&1 &&
    echo "made, extracted, bzip2's bytes"
}
judge_gpg() {
  (archives && export GNUPGHOME=$work/gpg && mkdir -p -m 700 "$GNUPGHOME" && tar -cf a.tar tree &&
    set -- --batch --yes --passphrase judge --pinentry-mode loopback &&
    gpg "$@" --compress-algo bzip2 --bzip2-compress-level 9 -c a.tar &&
    gpg "$@" -d a.tar.gpg 2>/dev/null | cmp - a.tar) >>"$log" 2>&1 &&
    echo "written, read"
}
judge_pbzip2() {
  (archives && tar -cf a.tar tree && pbzip2 -k -p2 a.tar && pbzip2 -dc a.tar.bz2 | cmp - a.tar &&
    env -u LD_LIBRARY_PATH -u LD_PRELOAD bzip2 -t a.tar.bz2) >>"$log" 2>&1 && echo "written, read"
}
prepare_cxx() {
  cat >"$work/cxx.cpp" <<'CPP'
#include <bzlib.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
static_assert(sizeof(bz_stream) == 80, "bz_stream");
int main() {
    std::string text;
    for (int i = 0; i < 200000; i++) text += std::to_string(i * 7919L % 10007);
    std::vector<char> coded(text.size() + text.size() / 100 + 600), back(text.size());
    unsigned len = coded.size(), again = back.size();
    if (BZ2_bzBuffToBuffCompress(coded.data(), &len, &text[0], text.size(), 9, 0, 0) != BZ_OK) return 1;
    if (BZ2_bzBuffToBuffDecompress(back.data(), &again, coded.data(), len, 0, 0) != BZ_OK) return 2;
    if (again != text.size() || std::memcmp(back.data(), text.data(), again)) return 3;
    BZFILE *file = BZ2_bzopen("/dev/null", "w9");
    int code = 9;
    if (!file || BZ2_bzwrite(file, &text[0], 5) != 5 || std::strcmp(BZ2_bzerror(file, &code), "OK") || code) return 4;
    BZ2_bzflush(file), BZ2_bzclose(file);
    std::printf("%s: %u bytes to %u\n", BZ2_bzlibVersion(), again, len);
}
CPP
}
judge_cxx() {
  g++ -Wall -Wextra -Werror -I crates/libbz2/include -o "$work/cxx" "$work/cxx.cpp" "$lib" && "$work/cxx"
}
# bzip2's own source with both headers: the types that a program sees.
prepare_abi() {
  local folder=$work/abi name
  packages abigail-tools binutils libbz2-dev gcc
  bzip2_source=$(source_of bzip2) || return 1
  mkdir -p "$folder"
  for name in theirs ours; do
    cp "$bzip2_source"/*.[ch] "$folder/"
    [ "$name" = theirs ] || cp crates/libbz2/include/bzlib.h "$folder/"
    (cd "$folder" && gcc -g -O0 -w -fPIC -shared -D_FILE_OFFSET_BITS=64 -o "$name.so" \
      blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c) || return 1
  done
}
judge_abi() {
  local missing
  missing=$(comm -23 <(grep -oE 'BZ2_bz[A-Za-z0-9]+ ?\(' crates/libbz2/include/bzlib.h | tr -d ' (' | sort -u) \
    <(nm -D --defined-only "$lib" | awk '{print $3}' | sort -u))
  [ -z "$missing" ] || { echo "missing: $missing"; return 1; }
  abidiff "$work/abi/theirs.so" "$work/abi/ours.so" >>"$log" 2>&1 || { echo "bzlib.h differs: $log"; return 1; }
  echo "$(nm -D --defined-only "$lib" | grep -c ' T BZ2_') functions," \
    "$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
}

# --- the table ------------------------------------------------------------------------------------------------------

all=(abi cxx bzip2 cpython perl_raw perl_io php libarchive htslib samtools osmium boost r dpkg apt zip bsdtar gpg
  pbzip2)
judges=("${@:-${all[@]}}")
export_apt
packages binutils gcc g++ make zip unzip libarchive-tools gpg gpg-agent pbzip2 dpkg-dev bzip2
build_hybz || say "hybz-libbz2 cannot be built: $work/log/hybz.txt"
build_rs || say "libbz2-rs cannot be built: $work/log/rs.txt"
failed=0
read -ra columns <<<"${HYBZ_LIBRARIES:-C rs hybz}"
printf '| judge |' && printf ' %s |' "${columns[@]/#rs/libbz2-rs}" && printf '\n|---|' &&
  printf -- '---|%.0s' "${columns[@]}" && echo
for judge in "${judges[@]}"; do
  if declare -F "prepare_$judge" >/dev/null; then
    here=$PWD
    "prepare_$judge" || say "$judge cannot be prepared"
    cd "$here" || exit 1
  fi
  row="| ${judge//_/ }"
  for name in "${columns[@]}"; do
    lib=${library[$name]:-}
    log=$work/log/$judge-$name.txt mapped=$work/log/$judge-$name.mapped
    rm -f "$log" "$mapped"
    if [ -z "$lib" ]; then
      row+=" | not built"
      continue
    fi
    folder=$work/path-$name
    mkdir -p "$folder" && ln -sf "$lib" "$folder/libbz2.so.1.0"
    outcome=$(
      export LD_LIBRARY_PATH=$folder LD_PRELOAD=$work/mapped.so HYBZ_MAPPED=$mapped
      "judge_$judge"
    )
    status=$?
    other=$(sort -u "$mapped" 2>/dev/null | grep -vxF "$(realpath "$lib")" || true)
    [ "$status" = 0 ] && verdict="" || { verdict="**FAILED** "; failed=1; }
    if [ -n "$other" ]; then
      verdict+="**mapped $other** "
      failed=1
    elif [ ! -s "$mapped" ] && [ "$judge" != abi ]; then
      verdict+="**no process had it mapped** "
      failed=1
    fi
    row+=" | $verdict$outcome"
    say "$judge, $name: $verdict$outcome"
  done
  echo "$row |"
done
exit "$failed"
