#!/usr/bin/env bash
# Finds commits that change a golden without saying why.
#
#   scripts/golden-reasons.sh [BASE]      the commits since BASE (default: since this script was changed last)
#
# A golden is a file below tests/golden or fixtures, or a snapshot (*.snap). A commit that changes one has a
# line in its body that begins with "golden:" and says why the new output is right. The default looks at the same
# commits in every clone, whether or not they were pushed.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-$(git log -1 --format=%H -- scripts/golden-reasons.sh)}
[ -n "$base" ] || exit 0
failed=0
for commit in $(git rev-list --no-merges "$base..HEAD"); do
  changed=$(git diff-tree --no-commit-id --name-only --diff-filter=MD -r "$commit" -- tests/golden fixtures '*.snap')
  [ -n "$changed" ] || continue
  if ! git log -1 --format=%b "$commit" | grep -qiE '^golden: .{10,}'; then
    echo "$(git log -1 --format='%h %s' "$commit")"
    echo "  changes $(echo "$changed" | tr '\n' ' ')and its body has no line \"golden: why\""
    failed=1
  fi
done
exit "$failed"
