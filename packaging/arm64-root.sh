#!/usr/bin/env bash
# Unpacks Debian's packages for aarch64, with what they depend on, into a folder for an emulator's -L:
# packaging/arm64-root.sh FOLDER PACKAGE... Needs apt; this machine's packages and lists are left alone.
set -euo pipefail
folder=$1
shift
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$folder" "$apt"/{none,state/lists/partial,cache/archives/partial}
# The mirror and the suite of this machine.
sources=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
  grep -E '/debian/? [a-z]+$' | sort -u || true)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${sources:-http://deb.debian.org/debian bookworm} main" \
  > "$apt/list"
get() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" \
    -o Dir::State::status=/dev/null -o Dir::Cache="$apt/cache" -o Dir::Etc::sourceparts="$apt/none" \
    -o Dir::Etc::sourcelist="$apt/list" "$@"
}
get update
get install -y --no-install-recommends --download-only "$@" >/dev/null
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$folder"
done
