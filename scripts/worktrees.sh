#!/bin/bash
# Measures what worktrees of one repository cost: CPU of each further index, and bytes on disk.
#
#   scripts/worktrees.sh [--worktrees 40] [--bin DIR] REPOSITORY
#
# Each worktree is of the same commit with 2 % of its Go and Python files changed. Nothing of the
# repository is changed. Without --bin the release programs are built.
set -euo pipefail

n=40 bin=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --worktrees) n=$2 ;;
        --bin) bin=$(cd "$2" && pwd) ;;
        *) echo "worktrees: unknown option $1" >&2; exit 64 ;;
    esac
    shift 2
done
[[ $# -eq 1 ]] || { echo "usage: scripts/worktrees.sh [--worktrees N] [--bin DIR] REPOSITORY" >&2; exit 64; }
top=$(cd "$(dirname "$0")/.." && pwd)
if [[ -z $bin ]]; then
    (cd "$top" && cargo build --release -q -p indexd -p ctlclient)
    bin=$top/target/release
fi

dir=$(mktemp -d)
mkdir -m 700 "$dir"/{cache,run,state,config}
export XDG_CACHE_HOME=$dir/cache XDG_RUNTIME_DIR=$dir/run XDG_STATE_HOME=$dir/state XDG_CONFIG_HOME=$dir/config
trap '"$bin/ctl" daemon stop > /dev/null 2>&1 || true; rm -rf "$dir"' EXIT

ctl() { "$bin/ctl" "$@"; }
disk_kb() { du -sk "$dir/cache" | cut -f1; }
cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$pid/stat"; }

git clone -q "$1" "$dir/first"
ctl daemon start > /dev/null
pid=$(ctl status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')
(cd "$dir/first" && ctl index --wait > /dev/null)
first_kb=$(disk_kb) first_ms=$(cpu_ms)
for ((i = 1; i <= n; i++)); do
    git -C "$dir/first" worktree add -q --detach "$dir/w$i" HEAD
    git -C "$dir/w$i" ls-files -- '*.go' '*.py' | awk -v i=$i 'NR % 50 == i % 50' | while read -r file; do
        echo "# edit $i" >> "$dir/w$i/$file"
    done
    (cd "$dir/w$i" && ctl index --wait > /dev/null)
done
all_ms=$(cpu_ms)
ctl daemon stop > /dev/null
all_kb=$(disk_kb)

# Pages of each data file that the first one does not have at the same place, whole and compressed.
apart() {
    local first=
    find "$dir/cache" -name data.mdb -printf '%s %p\n' | sort -n | cut -d' ' -f2 | while read -r file; do
        if [[ -z $first ]]; then first=$file && continue; fi
        cmp -l "$first" "$file" 2> /dev/null | awk '{ page[int(($1 - 1) / 4096)] = 1 } END { print length(page) * 4 }'
    done | awk '{ kb += $1 } END { if (NR) print int(kb / NR) }'
}
echo "first index: $first_kb KB, $first_ms ms of CPU"
echo "each of $n more: $(((all_kb - first_kb) / n)) KB, $(((all_ms - first_ms) / n)) ms of CPU"
echo "all together: $((all_kb * 100 / first_kb)) % of the first; pages that differ: $(apart) KB each"
