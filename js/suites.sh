#!/usr/bin/env bash
# Runs the tests of unbzip2-stream and seek-bzip on hybz's replacements: js/suites.sh FOLDER. The folder has clones of
# regular/unbzip2-stream and cscott/seek-bzip by these names; copies of them are tested. Needs npm and a network.
# seek-bzip's test/stream.js is left out: it needs fibers, which no Node since 16 runs.
set -euo pipefail
suites=$(realpath "$1")
dist=$(realpath "$(dirname "$0")")/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund tape@4 concat-stream@1 mocha@8
cp -r "$suites/unbzip2-stream" "$suites/seek-bzip" .
echo "module.exports = require('$dist/unbzip2-stream.cjs');" >unbzip2-stream/index.js
echo "module.exports = require('$dist/seek-bzip.cjs');" >seek-bzip/lib/index.js
(cd unbzip2-stream && ../node_modules/.bin/tape test/simple.js)
(cd seek-bzip && ../node_modules/.bin/mocha test/basic.js test/block.js test/table.js)
