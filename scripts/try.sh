#!/usr/bin/env bash
# Builds the release binaries and asks a question of a repository: this one, or the one named.
#
#   scripts/try.sh [DIR] [QUERY]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
repo=${1:-$here}
query=${2:-where is the freshness of an answer decided}
cargo build --release --manifest-path "$here/Cargo.toml" -p indexd -p ctlclient
"$here/target/release/ctl" --repo "$repo" search "$query"
echo "The code: $here/target/release/ctl --repo $repo pack '$query'"
