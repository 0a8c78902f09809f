#!/usr/bin/env bash
# Measures relevance and graph accuracy. Data is not part of the repository.
#
#   EVAL_TASKS=dev.jsonl EVAL_MIRROR=DIR scripts/eval.sh            packs against tasks from history
#   ... scripts/eval.sh --ablate --by-repo                          each signal off; each repository apart
#   EVAL_GRAPH=DIR EVAL_TREES=DIR scripts/eval.sh                   edges against known-right answers, and
#                                                                   the neighbourhood of named symbols
#   EVAL_QUESTIONS=FILE EVAL_TREES=DIR scripts/eval.sh              plain questions, and what a reader pays;
#                                                                   with EVAL_HINTS=FILE also as a caller asks
#                                                                   who says what to expect
#   ... scripts/eval.sh --ablate                                    each signal off
#
# EVAL_TASKS    one task a line: text of a change, base commit, functions it touched
# EVAL_MIRROR   bare clones as <owner>+<name>/repo
# EVAL_QUESTIONS  a question a line, with the definitions that answer it; scripts/bench/questions.jsonl has
#               forty, questions-test.jsonl 27 and questions-unseen.jsonl 40 to look at once, with the
#               repositories and commits of their trees in the first lines
# EVAL_HINTS    {id, names, words, rewrite} a line: what a model expects in the code that answers a question
# EVAL_GRAPH    score.py (score_ts.py for TypeScript) and a folder of truth for each tree; EVAL_TREES the trees
#               by the same names
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "${EVAL_TASKS:-}" ]; then
  cargo build --release --quiet -p indexd-oracle --example relevance
  target/release/examples/relevance changes "$EVAL_TASKS" "${EVAL_MIRROR:?bare clones as <owner>+<name>/repo}" "$@"
fi
if [ -n "${EVAL_QUESTIONS:-}" ]; then
  cargo build --release --quiet -p indexd-oracle --example relevance
  target/release/examples/relevance questions "$EVAL_QUESTIONS" "${EVAL_TREES:?the trees}" --budget 2000,4000,8000 "$@"
  target/release/examples/relevance reading "$EVAL_QUESTIONS" "$EVAL_TREES"
  if [ -n "${EVAL_HINTS:-}" ]; then
    target/release/examples/relevance reading "$EVAL_QUESTIONS" "$EVAL_TREES" --hints "$EVAL_HINTS"
    echo "asked of another tree:"
    target/release/examples/relevance reading "$EVAL_QUESTIONS" "$EVAL_TREES" --hints "$EVAL_HINTS" --wrong
  fi
fi
if [ -n "${EVAL_GRAPH:-}" ]; then
  cargo build --release --quiet -p indexd-oracle --example relevance
  cargo build --release --quiet -p indexd -p ctlclient
  # A daemon of its own, which ends with this.
  home=$(mktemp -d)
  mkdir -m 700 "$home/run"
  ctl() { HOME=$home XDG_CACHE_HOME=$home XDG_STATE_HOME=$home XDG_CONFIG_HOME=$home XDG_RUNTIME_DIR=$home/run target/release/ctl "$@"; }
  trap 'ctl daemon stop > /dev/null || true; rm -rf "$home"' EXIT
  score=$(ls "$EVAL_GRAPH"/score*.py | head -1)
  for truth in "$EVAL_GRAPH"/*/; do
    tree=$(basename "$truth")
    [ -d "${EVAL_TREES:?the trees}/$tree" ] || continue
    ctl export edges --jsonl --repo "$EVAL_TREES/$tree" >"$home/edges.jsonl"
    python3 "$score" "${truth%/}" "$home/edges.jsonl" --min-confidence 0.5
    if [ -f "${truth}uses.jsonl.gz" ]; then
      target/release/examples/relevance names "${truth%/}" "$EVAL_TREES/$tree"
    fi
  done
fi
