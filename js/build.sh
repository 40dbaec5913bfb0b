#!/usr/bin/env bash
# Builds the npm package into js/dist: js/build.sh. Needs Rust with the target wasm32-unknown-unknown, and node; no C
# compiler. If there is a wasm-opt, it makes the modules a little smaller.
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-../target/js}
rustup -q target add wasm32-unknown-unknown 2>/dev/null || true
rm -rf dist
mkdir -p dist

module() { # NAME FEATURES...
  local name=$1
  shift
  RUSTFLAGS=${RUSTFLAGS--C target-feature=+simd128} cargo build --quiet --locked -p hybz-js --profile wasm \
    --target wasm32-unknown-unknown --target-dir "$target" "$@"
  local built=$target/wasm32-unknown-unknown/wasm/hybz_js.wasm
  if command -v wasm-opt >/dev/null; then
    wasm-opt -O3 --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals \
      "$built" -o "dist/$name.wasm"
  else
    cp "$built" "dist/$name.wasm"
  fi
}

module decode
module encode --features encode
node tools/pack.mjs
