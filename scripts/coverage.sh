#!/usr/bin/env bash
# Measures which lines of the product the tests run, by the compiler's own instrumentation (cargo llvm-cov).
#
#   scripts/coverage.sh                 the whole workspace, the programs that tests start included
#   scripts/coverage.sh CRATE...        the tests of these crates, and the lines of these crates alone
#   COVERAGE_MIN=85                     fails below so many percent of lines
#
# It needs llvm-profdata and llvm-cov of the LLVM that rustc has: `rustup component add llvm-tools`, else the
# package llvm-NN of the system (Debian: `apt-get install llvm-22`; `rustc -vV` names the version).
# A test that fails takes nothing from the figure; the check says whether tests pass. Daemons that tests kill
# leave profiles that cannot be read; those are passed over.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=target/tools
version=0.9.1
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
bundled=$(rustc --print target-libdir)/../bin
for tool in cov profdata; do
  for found in "$bundled/llvm-$tool" "$(command -v "llvm-$tool-$major" || true)"; do
    if [ -x "$found" ]; then
      declare -x "LLVM_${tool^^}=$found"
      break
    fi
  done
  name=LLVM_${tool^^}
  if [ -z "${!name:-}" ]; then
    echo "there is no llvm-$tool of LLVM $major: see the head of this script" >&2
    exit 1
  fi
done
if ! [ -x "$tools/bin/cargo-llvm-cov" ]; then
  cargo install --quiet --locked --root "$tools" --version "$version" cargo-llvm-cov
fi
only=() ignore='/(tests|benches|examples)/|/tests\.rs$|/scripts/'
if [ $# -gt 0 ]; then
  others=()
  for crate in "$@"; do
    only+=(-p "$crate")
  done
  # Lines of other crates that these tests happen to run say nothing about those.
  for dir in indexd/crates/* proto ctlclient; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$dir/Cargo.toml" | head -n 1)
    [[ " $* " == *" $name "* ]] || others+=("/$dir/")
  done
  [[ " $* " == *" indexd "* ]] || others+=("/indexd/src/")
  ignore+="|$(IFS='|'; echo "${others[*]}")"
else
  only=(--workspace --exclude xtask --exclude indexd-bench)
fi
"$tools/bin/cargo-llvm-cov" llvm-cov test "${only[@]}" --ignore-run-fail --failure-mode all --ignore-filename-regex "$ignore" --summary-only \
  ${COVERAGE_MIN:+--fail-under-lines "$COVERAGE_MIN"}
