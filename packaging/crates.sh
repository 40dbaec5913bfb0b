#!/usr/bin/env bash
# Checks the crates as crates.io would get them, in the order in which they are published, and publishes nothing:
# packaging/crates.sh [OPTION OF CARGO PUBLISH...]
# The links of the pages that registries show must lead somewhere, and cargo may warn of nothing but the dry run.
# packaging/crates.sh --url URL makes URL that of the repository: in Cargo.toml, pyproject.toml, the formula and the
# recipe.
set -euo pipefail
cd "$(dirname "$0")/.."
crates=(hybz-queue hybz-files hybz-gpu hybz-factor hybz hybz-lz4-gpu hybz-tiff-lzw hysort)
elsewhere=(python/pyproject.toml packaging/homebrew/hybz.rb packaging/conda/meta.yaml)

url=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)
if [ "${1-}" = --url ]; then
  sed -i "s|$url|$2|g" Cargo.toml "${elsewhere[@]}"
  url=$2
  set -- "${@:3}"
fi
for file in "${elsewhere[@]}"; do
  others=$(grep -oE 'https?://[^" ]+' "$file" | grep -vE "^$url(/archive/.*)?$" || true)
  [ -z "$others" ] || { echo "$file: not the URL of Cargo.toml: $others" >&2; exit 1; }
done
case $url in
https://github.com/* | https://gitlab.com/* | https://bitbucket.org/*) ;;
*) echo "note: crates.io drops the relative links of pages whose repository is $url" ;;
esac

# crates.io resolves relative links against the repository, but not those of srcset; docs.rs and PyPI resolve none.
python3 - <<'PYTHON'
import os, re, subprocess, sys

files = set(subprocess.check_output(["git", "ls-files"], text=True).split("\n"))
pages = {"README.md": True, "crates/queue/README.md": True, "crates/hysort/README.md": True,
         "crates/file-tools/README.md": False, "cuda/README.md": False, "crates/factor/README.md": False,
         "crates/lz4-gpu/README.md": False, "crates/tiff-lzw/README.md": False, "python/README.md": False}

def headings(path):
    found = re.findall(r"^#+ (.*)$", open(path).read(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}

def fault(page, link, relative):
    if re.match(r"https://", link):
        return None
    path, _, heading = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if path and not relative:
        return "a relative link on a page of docs.rs or PyPI"
    if target not in files or target.startswith(".."):
        return "no such file in the repository"
    if heading and heading not in headings(target):
        return "no such heading"

faults = count = 0
for page, relative in pages.items():
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", open(page).read(), flags=re.M | re.S)
    found = [(link, fault(page, link, relative)) for link in re.findall(r"\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)", text)
             for link in link if link]
    found += [(link, "crates.io does not resolve srcset") for link in re.findall(r"srcset=\"([^\"]+)", text)]
    count += len(found)
    for link, why in found:
        if why:
            faults += 1
            print(f"{page}: {link}: {why}", file=sys.stderr)
print(f"{count} links of {len(pages)} pages: {faults or 'none'} wrong")
sys.exit(faults > 0)
PYTHON

mkdir -p target
log=target/crates.log
cargo publish --dry-run "${crates[@]/#/--package=}" "$@" 2>&1 | tee "$log"
if grep -E '^(warning|error)' "$log" | grep -vxF 'warning: aborting upload due to dry run'; then
  echo "crates.io would get crates with these warnings" >&2
  exit 1
fi
