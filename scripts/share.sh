#!/bin/bash
# Measures what a published index saves: CPU, time and bytes of a second user with another home, and bytes
# of the pushes of further commits. With --rounds it then pushes and pulls for so long, kills in between,
# and compares indexes with fresh ones.
#
#   scripts/share.sh [--bin DIR] [--commits 3] [--rounds 0] REPOSITORY
#
# REPOSITORY is a clone with history, or a plain folder. The store is a folder of this machine. Nothing of
# the repository is changed. Without --bin the release programs are built.
set -euo pipefail

commits=3 rounds=0 bin=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --bin) bin=$(cd "$2" && pwd) ;;
        --commits) commits=$2 ;;
        --rounds) rounds=$2 ;;
        *) echo "share: unknown option $1" >&2; exit 64 ;;
    esac
    shift 2
done
[[ $# -eq 1 ]] || { echo "usage: scripts/share.sh [--bin DIR] [--commits N] [--rounds N] REPOSITORY" >&2; exit 64; }
top=$(cd "$(dirname "$0")/.." && pwd)
if [[ -z $bin ]]; then
    (cd "$top" && cargo build --release -q -p indexd -p ctlclient -p indexd-share)
    bin=$top/target/release
fi

dir=$(mktemp -d)
users=(one two fresh)
url=file://$dir/store
mkdir "$dir/store"
# Runs a program as a user with folders of its own.
as() {
    local home=$dir/$1
    mkdir -p "$home"/{cache,state,config} && mkdir -p -m 700 "$home/run"
    XDG_CACHE_HOME=$home/cache XDG_RUNTIME_DIR=$home/run XDG_STATE_HOME=$home/state \
        XDG_CONFIG_HOME=$home/config "${@:2}"
}
stop_all() { for user in "${users[@]}"; do as "$user" "$bin/ctl" daemon stop > /dev/null 2>&1 || true; done; }
trap 'stop_all; rm -rf "$dir"' EXIT
field() { sed 's/.*"'"$1"'":\([0-9a-z]*\).*/\1/'; }
now_ms() { date +%s%3N; }
# Runs the rest as a user; says its wall time, and the CPU time of it and of the user's daemon, in ms.
measured() {
    local user=$1 pid from cpu_from
    as "$user" "$bin/ctl" daemon start > /dev/null
    pid=$(as "$user" "$bin/ctl" status --json | field pid)
    from=$(now_ms)
    { time -p as "$user" "${@:2}" > "$dir/out" 2> "$dir/err"; } 2> "$dir/time" || { cat "$dir/err" >&2; exit 1; }
    wall=$(($(now_ms) - from))
    cpu=$(awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$pid/stat")
    cpu=$((cpu + $(awk '$1 != "real" { s += $2 } END { print int(s * 1000) }' "$dir/time")))
}
copy() {
    rm -rf "$2" && mkdir -p "$(dirname "$2")"
    if [[ -e $1/.git ]]; then git clone -q -c advice.detachedHead=false "$1" "$2"; else cp -r "$1" "$2"; fi
}
# 2 % of the files of source get another line.
edit() {
    find "$1" -name .git -prune -o -type f \( -name '*.[chmr]*' -o -name '*.py' -o -name '*.go' -o -name '*.java' \
        -o -name '*.ts' -o -name '*.S' \) -print | sort | awk 'NR % 50 == 7' | while read -r file; do
        echo "/* edit */" >> "$file"
    done
}
# Compares dumps by their hashes: each may be larger than the index.
same() {
    local of fresh
    of=$(as "$1" "$bin/ctl" --repo "$2" export dump | sha256sum)
    as fresh "$bin/ctl" workspace remove "$2" > /dev/null 2>&1 || true
    fresh=$(as fresh "$bin/ctl" --repo "$2" export dump | sha256sum)
    [[ $of == "$fresh" ]] || { echo "the index of $1 is not that of its tree" >&2; exit 1; }
    as fresh "$bin/ctl" workspace remove "$2" > /dev/null
}

copy "$1" "$dir/a/repo"
copy "$1" "$dir/b/repo"
if [[ -e $dir/a/repo/.git ]]; then
    mapfile -t heads < <(git -C "$dir/a/repo" log --first-parent --no-merges -n $((commits + 1)) --format=%H)
    git -C "$dir/a/repo" reset -q --hard "${heads[-1]}"
    git -C "$dir/b/repo" reset -q --hard "${heads[-1]}"
fi
measured one "$bin/ctl" --repo "$dir/a/repo" index --wait
first_wall=$wall first_cpu=$cpu
echo "first index: $first_wall ms, $first_cpu ms of CPU, $(du -sm "$dir/one/cache" | cut -f1) MB"
measured one "$bin/ctl" --repo "$dir/a/repo" share push "$url" --json
first_put=$(field bytesPut < "$dir/out")
echo "first push: $first_put bytes, $wall ms"
edit "$dir/b/repo"
measured two "$bin/ctl" --repo "$dir/b/repo" share pull "$url" --json
echo "second user, 2 % of the files changed: $wall ms ($((wall * 100 / first_wall)) %), $cpu ms of CPU ($((cpu * 100 / first_cpu)) %), $(field nExtracted < "$dir/out") of $(field nFiles < "$dir/out") files extracted"
same two "$dir/b/repo"
echo "the index is that of a first build"
if [[ -e $dir/a/repo/.git ]]; then
    for ((i = commits - 1; i >= 0; i--)); do
        git -C "$dir/a/repo" reset -q --hard "${heads[i]}"
        measured one "$bin/ctl" --repo "$dir/a/repo" share push "$url" --json
        put=$(field bytesPut < "$dir/out")
        stat=$(git -C "$dir/a/repo" show --shortstat --format= "${heads[i]}")
        echo "next commit ($stat): $put bytes ($(awk -v a="$put" -v b="$first_put" 'BEGIN { printf "%.2f", 100 * a / b }') %), $wall ms"
    done
fi
for ((i = 0; i < rounds; i++)); do
    edit "$dir/a/repo"
    as one "$bin/ctl" --repo "$dir/a/repo" share push "$url" > /dev/null 2>&1 &
    push=$!
    as two "$bin/ctl" workspace remove "$dir/b/repo" > /dev/null 2>&1 || true
    as two "$bin/ctl" --repo "$dir/b/repo" share pull "$url" > /dev/null 2>&1 &
    pull=$!
    sleep "0.$((RANDOM % 1000))"
    case $((RANDOM % 4)) in
        0) pkill -KILL -P $push 2> /dev/null || kill -KILL $push 2> /dev/null || true ;;
        1) pkill -KILL -P $pull 2> /dev/null || kill -KILL $pull 2> /dev/null || true ;;
        2) as two "$bin/ctl" daemon stop > /dev/null 2>&1 || true ;;
    esac
    wait $push $pull 2> /dev/null || true
    as two "$bin/ctl" --repo "$dir/b/repo" share pull "$url" > /dev/null
    if ((i % 5 == 4)); then
        as one "$bin/ctl" --repo "$dir/a/repo" share gc "$url" --keep-count 3 > /dev/null
        same two "$dir/b/repo"
        echo "round $((i + 1)): the index is that of its tree"
    fi
done
