#!/usr/bin/env bash
# Measures relevance and graph accuracy. Data is not part of the repository.
#
#   EVAL_TASKS=dev.jsonl EVAL_MIRROR=DIR scripts/eval.sh            packs against tasks from history
#   ... scripts/eval.sh --ablate --by-repo                          each signal off; each repository apart
#   EVAL_GRAPH=DIR EVAL_TREES=DIR scripts/eval.sh                   edges against known-right answers
#
# EVAL_TASKS    one task a line: text of a change, base commit, functions it touched
# EVAL_MIRROR   bare clones as <owner>+<name>/repo
# EVAL_GRAPH    score.py and a folder of truth for each tree; EVAL_TREES the trees by the same names
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${EVAL_TASKS:-}" ]; then
  cargo build --release --quiet -p indexd-oracle --example relevance
  target/release/examples/relevance "$EVAL_TASKS" "${EVAL_MIRROR:?bare clones as <owner>+<name>/repo}" "$@"
fi
if [ -n "${EVAL_GRAPH:-}" ]; then
  cargo build --release --quiet -p indexd-oracle --example edges
  for truth in "$EVAL_GRAPH"/*/; do
    tree=$(basename "$truth")
    [ -d "${EVAL_TREES:?the trees}/$tree" ] || continue
    out=$(mktemp)
    target/release/examples/edges "$EVAL_TREES/$tree" >"$out"
    python3 "$EVAL_GRAPH/score.py" "${truth%/}" "$out" --min-confidence 0.5
    rm "$out"
  done
fi
