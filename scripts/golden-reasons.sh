#!/usr/bin/env bash
# Finds commits that change a golden without saying why.
#
#   scripts/golden-reasons.sh [BASE]      the commits since BASE (default: the upstream branch, else HEAD~1)
#
# A golden is a file below tests/golden or fixtures, or a snapshot (*.snap). A commit that changes one has a
# line in its body that begins with "golden:" and says why the new output is right. Commits before the first one
# that has this script are left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-$(git rev-parse --verify --quiet '@{upstream}' || git rev-parse --verify --quiet 'HEAD~1' || true)}
[ -n "$base" ] || exit 0
start=$(git log --format=%H --diff-filter=A --reverse -- scripts/golden-reasons.sh | head -n 1)
failed=0
for commit in $(git rev-list --no-merges "$base..HEAD"); do
  # Nothing is asked of commits that do not come after the rule.
  [ -n "$start" ] && git merge-base --is-ancestor "$start" "$commit" || continue
  changed=$(git diff-tree --no-commit-id --name-only --diff-filter=MD -r "$commit" -- tests/golden fixtures '*.snap')
  [ -n "$changed" ] || continue
  if ! git log -1 --format=%b "$commit" | grep -qiE '^golden: .{10,}'; then
    echo "$(git log -1 --format='%h %s' "$commit")"
    echo "  changes $(echo "$changed" | tr '\n' ' ')and its body has no line \"golden: why\""
    failed=1
  fi
done
exit "$failed"
