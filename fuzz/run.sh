#!/usr/bin/env bash
# Builds the fuzz targets and runs one or all of them, with the address sanitizer:
#
#   fuzz/run.sh [TARGET|all] [SECONDS]      (all targets, 30 seconds each)
#   fuzz/run.sh hostile [FILES]             (tests/hostile.rs: 5,000 hostile .hbz files of each kind)
#   fuzz/run.sh lz4_kernel [SECONDS]        (the kernel that decodes LZ4, emulated: random blocks, good and spoilt)
#
# Any Rust will do: this script passes the same flags to the compiler as cargo-fuzz, and tells a stable compiler to
# accept them. Findings lie in fuzz/artifacts/TARGET; `fuzz/target/*/release/TARGET FILE` runs one input again. The
# corpus in fuzz/corpus/TARGET grows from run to run; for the decoders it begins with the tests' crafted files.
set -euo pipefail
cd "$(dirname "$0")"
all=(decode roundtrip hbz_decode hbz_roundtrip lz4 lzw sort)
targets=("${1:-all}")
[ "${targets[0]}" != all ] || targets=("${all[@]}")
seconds=${2:-30}

if [ "${1:-}" = lz4_kernel ]; then
  mkdir -p target
  ../cuda/sim/emulate.sh target/emulated ../cuda/bench/*.cpp ../theses/funasaka/cuda/*.cpp -O1 -g -fsanitize=address
  ends=$((SECONDS + seconds)) seed=0 cases=$PWD/target/lz4-cases
  while [ $SECONDS -lt $ends ]; do
    seed=$((seed + 1))
    HYBZ_SEED=$seed HYBZ_LZ4_CASES=$cases cargo test --quiet -p hybz-lz4-gpu --manifest-path ../Cargo.toml --lib \
      lz4_cases >/dev/null
    target/emulated lz4 "$cases" >target/emulated.log 2>&1 || { cat target/emulated.log; exit 1; }
  done
  echo "$seed seeds, the last one: $(tail -n 1 target/emulated.log)"
  exit
fi
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
if [ "${1:-}" = hostile ]; then
  # Memory that is never freed is not an error: threads end with the process.
  export HYBZ_HOSTILE=${2:-5000} RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0
  cd .. && exec cargo test --release --target "$host" --target-dir fuzz/target --test hostile -- --nocapture
fi
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares"
flags="$coverage -Zsanitizer=address --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1"
RUSTFLAGS=$(xargs <<<"$flags") cargo build --release --target "$host" --bins

# Writes the cases of a module of tests/library as seeds.
write_seeds() {
  (cd .. && HYBZ_SEEDS="fuzz/corpus/$target" cargo test --quiet --test library "$1::write_seeds" -- --ignored)
}

# One case of each kind of trap, and for .hbz some files that hybz wrote.
seeds() {
  local target=$1
  [ -z "$(ls -A "corpus/$1")" ] || return 0
  case $1 in
  decode) write_seeds traps ;;
  hbz_decode) write_seeds hbz ;;
  esac
}

for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" "artifacts/$target"
  seeds "$target"
  # Short inputs, because each stands for a text of up to 110 kB; a decoder takes its input as it is.
  case $target in
  decode) limits=(-max_len=4096 -rss_limit_mb=1024) ;;
  hbz_decode) limits=(-max_len=16384 -rss_limit_mb=3000) ;;
  hbz_roundtrip) limits=(-max_len=512 -rss_limit_mb=3000) ;;
  lz4) limits=(-max_len=8192 -rss_limit_mb=1024) ;;
  sort) limits=(-max_len=4096 -rss_limit_mb=1024) ;;
  lzw) limits=(-max_len=8192 -rss_limit_mb=1024) ;;
  *) limits=(-max_len=512 -rss_limit_mb=2048) ;;
  esac
  echo "== $target, $seconds s"
  "target/$host/release/$target" -max_total_time="$seconds" "${limits[@]}" -len_control=10 -print_final_stats=1 \
    -artifact_prefix="artifacts/$target/" "corpus/$target" 2>&1 |
    grep -E 'INITED|DONE|ERROR|SUMMARY|panicked|assert|Test unit|Done |stat::(number|average|peak)'
done
