#!/usr/bin/env bash
# Puts manual pages and completions below PREFIX/share: packaging/share.sh PREFIX
# They are the files that the commands print, so that nothing of another architecture has to run.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
share=$1/share
for command in hybz hysort; do
  from=$here/src/cli/args/packaging
  [ $command = hybz ] || from=$here/crates/hysort/src/bin/hysort/packaging
  install -D -m 644 "$from/$command.1" "$share/man/man1/$command.1"
  install -D -m 644 "$from/$command.bash" "$share/bash-completion/completions/$command"
  install -D -m 644 "$from/$command.zsh" "$share/zsh/site-functions/_$command"
  install -D -m 644 "$from/$command.fish" "$share/fish/vendor_completions.d/$command.fish"
done
