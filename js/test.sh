#!/usr/bin/env bash
# Builds the npm package and tests it: js/test.sh. Needs what js/build.sh needs; without bzip2 no bytes are compared.
set -euo pipefail
cd "$(dirname "$0")"
./build.sh
crafted=$PWD/../target/js/crafted
cargo run --quiet --locked -p hybz-testkit --example crafted "$crafted"
HYBZ_CRAFTED=$crafted node --test --test-reporter=tap test/
