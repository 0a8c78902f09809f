#!/bin/bash
# Feeds made-up bytes to whatever reads bytes of others: stored rows, sources, documents, messages,
# queries, imported indexes. Says what broke a reader, took above ten seconds or 2 GB.
#
#   scripts/fuzz.sh [--minutes 10] [TARGET...]
#
# Targets are those of fuzz/Cargo.toml, all by default, one after the other. It takes cargo-fuzz and a
# nightly compiler. Inputs that reach new code are kept in fuzz/corpus and tried again in the next run;
# what was found is in fuzz/artifacts. The exit status is 1 when something was.
#
# The first byte of an input draws what reads the others. Built without a sanitizer: targets are safe
# Rust but for libraries, and the C code of grammars, which a sanitizer would have to be built into, gives
# none of the hints of its own that guide the search; what extracts facts from their trees does.
set -euo pipefail

minutes=10
while [[ ${1:-} == --* ]]; do
    case $1 in
        --minutes) minutes=$2 ;;
        *) echo "fuzz: unknown option $1" >&2; exit 64 ;;
    esac
    shift 2
done
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
if [[ $# -gt 0 ]]; then targets=("$@"); else mapfile -t targets < <(sed -n 's/^name = "\(.*\)"/\1/p' fuzz/Cargo.toml | tail -n +2); fi

cargo +nightly fuzz build --sanitizer none
built=fuzz/target/$(rustc +nightly -vV | sed -n 's/^host: //p')/release

# Bytes of an input: as many as there is something to say in.
len_max() { case $1 in source | grammars | documents) echo 8192 ;; *) echo 4096 ;; esac; }

found=0
for target in "${targets[@]}"; do
    corpus=fuzz/corpus/$target artifacts=fuzz/artifacts/$target
    mkdir -p "$corpus" "$artifacts"
    INDEXD_FUZZ_SEEDS=$corpus "$built/$target" -runs=0 > /dev/null 2>&1
    # Goes on after what it finds, in one process after the other.
    "$built/$target" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -max_total_time=$((minutes * 60)) \
        -max_len="$(len_max "$target")" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$artifacts/" "$corpus" \
        > "fuzz/artifacts/$target.log" 2>&1 || true
    n=$(find "$artifacts" -type f | wc -l)
    echo "$target: $(grep '^#' "fuzz/artifacts/$target.log" | tail -n 1), $n found"
    found=$((found + n))
done
((found == 0))
