#!/usr/bin/env bash
# Unpacks Alpine Linux 3.22 for x86-64, with Python 3.12, into a folder: packaging/alpine-root.sh FOLDER. Needs root.
# It is Docker's image python:3.12-alpine as Python's package flashvm carries it; nothing else of the package is used.
set -euo pipefail
mkdir -p "$1"
folder=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo 'flashvm==0.1.3 --hash=sha256:c199e9945e0b28e88678fd0c136abd0f4828087658ca6373ebd009a8b59a6ed0' > wanted
python3 -m pip download -q --require-hashes --no-deps --only-binary=:all: --platform manylinux_2_39_x86_64 \
  --python-version 3.11 -r wanted
python3 -m zipfile -e flashvm-*.whl .
# The index has the checksum of the manifest, which has the checksums of the layers.
cd flashvm/data/oci/blobs/sha256
manifest=$(sed -E 's/.*"digest":"sha256:([0-9a-f]+)".*/\1/' ../../index.json)
for layer in $(grep -oE '"layers":.*' "$manifest" | grep -oE '"digest":"sha256:[0-9a-f]+' | sed 's/.*://'); do
  tar -C "$folder" -xzf "$layer"
done
echo "Alpine $(cat "$folder/etc/alpine-release")"
