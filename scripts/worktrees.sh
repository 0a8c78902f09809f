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
stop_ms=$(date +%s%3N)
ctl daemon stop > /dev/null
stop_ms=$(($(date +%s%3N) - stop_ms))
all_kb=$(disk_kb)

echo "first index: $first_kb KB, $first_ms ms of CPU"
echo "each of $n more: $(((all_kb - first_kb) / n)) KB, $(((all_ms - first_ms) / n)) ms of CPU"
echo "all together: $((all_kb * 100 / first_kb)) % of the first; the daemon ended in $stop_ms ms"

# The time in which an index that was closed answers again, and of one that is open.
ctl daemon start > /dev/null
answer_ms() {
    local from
    from=$(date +%s%3N)
    (cd "$1" && ctl search main > /dev/null)
    echo $(($(date +%s%3N) - from))
}
for ((i = 1; i <= n && i <= 9; i++)); do
    echo "$(answer_ms "$dir/w$i") $(answer_ms "$dir/w$i")"
done | sort -n | awk '{ closed[NR] = $1; open[NR] = $2 } END {
    m = int((NR + 1) / 2); print "first answer of an index that was closed: " closed[m] " ms (median of " NR "), the next one: " open[m] " ms" }'
