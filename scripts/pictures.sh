#!/usr/bin/env bash
# Makes the pictures of the README, docs/images/*.png, from a repository and a question.
#
#   scripts/pictures.sh REPOSITORY QUERY
#
# Needs Chromium and what scripts/page_check.sh has put into the target folder; run that first.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
ctl=${CTL:-$target/debug/ctl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ctl" -C "$1" pack "$2" --budget 3000 --as html --out "$work/page.html"
COLUMNS=100 "$ctl" -C "$1" pack "$2" --budget 3000 --color always > "$work/terminal.txt"
mkdir -p "$root/docs/images"
NODE_PATH=${NODE_PATH:-$target/page-check/node_modules} node "$root/scripts/pictures.js" "$work/page.html" "$work/terminal.txt" "$root/docs/images"
