#!/bin/bash
# Runs a daemon over clones of real repositories with random edits, checkouts, packs, kills and
# restarts, and prints what is left: answers that differ from a fresh index, memory, descriptors,
# threads and bytes on disk, and what failed packs said.
#
#   scripts/soak.sh [--minutes 20] [--copies 1] [--seed 1] [--roam 0] [--bin DIR] REPOSITORY...
#
# Each repository (three real ones make a fair run, a dozen of several languages another one) is cloned
# --copies times; nothing of it is changed. With --roam N there are up to N more folders at a time that
# come and go: worktrees at random commits, copies of repositories as they are, copies of sub-folders. A
# fifth of the edits is searched for at once. Without --bin the release programs are built. The exit status
# is 1 when an index differed from a fresh one, an edit was not found, or an index was called damaged.
set -euo pipefail

minutes=20 copies=1 seed=1 roam=0 bin=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --minutes) minutes=$2 ;;
        --copies) copies=$2 ;;
        --seed) seed=$2 ;;
        --roam) roam=$2 ;;
        --bin) bin=$(cd "$2" && pwd) ;;
        *) echo "soak: unknown option $1" >&2; exit 64 ;;
    esac
    shift 2
done
[[ $# -gt 0 ]] || { echo "usage: scripts/soak.sh [--minutes N] [--copies N] [--roam N] [--bin DIR] REPOSITORY..." >&2; exit 64; }
top=$(cd "$(dirname "$0")/.." && pwd)
if [[ -z $bin ]]; then
    (cd "$top" && cargo build --release -q -p indexd -p ctlclient)
    bin=$top/target/release
fi

dir=$(mktemp -d)
RANDOM=$seed
pid=

# Folders of a user of its own: `as NAME COMMAND...`.
as() {
    local user=$dir/$1
    shift
    mkdir -p -m 700 "$user"/{cache,run,state,config}
    XDG_CACHE_HOME=$user/cache XDG_RUNTIME_DIR=$user/run XDG_STATE_HOME=$user/state \
        XDG_CONFIG_HOME=$user/config INDEXD_NO_AUTOSTART="${no_autostart:-0}" "$@"
}
ctl() { as soak "$bin/ctl" "$@"; }
start() { ctl daemon start > /dev/null; pid=$(ctl status --json | sed 's/.*"pid":\([0-9]*\).*/\1/'); }
finish() { ctl daemon stop > /dev/null 2>&1 || true; as fresh "$bin/ctl" daemon stop > /dev/null 2>&1 || true; rm -rf "$dir"; }
trap finish EXIT

private_mb() { awk '/^Private_/ { kb += $2 } END { print int(kb / 1024) }' "/proc/$pid/smaps_rollup" 2> /dev/null || echo 0; }
count() { ls "/proc/$pid/$1" | wc -l; }
disk_kb() { du -sk --exclude=damaged.mdb "$dir/$1/cache" | cut -f1; }
pick() { eval "local n=\${#$1[@]}; echo \"\${$1[RANDOM % n]}\""; }

repos=()
for source in "$@"; do
    for ((i = 1; i <= copies; i++)); do
        clone=$dir/repos/$(basename "$source" .git)-$((${#repos[@]} + 1))
        git -c advice.detachedHead=false -c init.defaultBranch=main clone -q --no-hardlinks "$source" "$clone" \
            || [[ -n $(ls "$clone") ]] # A partial clone misses some files.
        repos+=("$clone")
    done
done

index_all() { for repo in "${repos[@]}"; do (cd "$repo" && "$@" index --wait > /dev/null); done; }
quiet_mb() {
    sleep 10
    private_mb
}

# Compares each index with one that is made from scratch by a daemon of another user.
n_compared=0 n_wrong=0 fresh_kb=0
compare() {
    look_for_damage
    as fresh "$bin/ctl" daemon stop > /dev/null 2>&1 || true
    rm -rf "$dir/fresh"
    for repo in "${repos[@]}" "${roaming[@]}"; do
        (cd "$repo" && ctl index --wait > /dev/null)
        local here scratch
        here=$(cd "$repo" && ctl export dump | sha256sum)
        scratch=$(cd "$repo" && as fresh "$bin/ctl" index --wait > /dev/null && as fresh "$bin/ctl" export dump | sha256sum)
        n_compared=$((n_compared + 1))
        if [[ $here != "$scratch" ]]; then
            n_wrong=$((n_wrong + 1))
            echo "soak: the index of $(basename "$repo") differs from a fresh one (seed $seed)" >&2
        fi
    done
    as fresh "$bin/ctl" daemon stop > /dev/null
    fresh_kb=$(disk_kb fresh)
}

# Indexes that were built anew without being touched.
look_for_damage() {
    local said
    said=$(ctl status 2> /dev/null | grep -E 'damaged|built anew|report it' || true)
    [[ -n $said ]] || return 0
    n[damaged]=$((n[damaged] + 1))
    echo "soak: at second $SECONDS, after $action: $said" >&2
}

declare -A n=([edit]=0 [checkout]=0 [pack]=0 [kill]=0 [restart]=0 [failed]=0 [looked]=0 [stale]=0 [damaged]=0 [roamed]=0)
words=(request error config parse client retry token path command flag)
edit() {
    local files file
    mapfile -t files < <(git -C "$1" ls-files -- '*.go' '*.py' '*.md' '*.rs' '*.ts' '*.js' '*.java' '*.c' '*.h' '*.cc' '*.cpp' \
        '*.rb' '*.tsx' 2> /dev/null | shuf -n 200 --random-source=<(yes $RANDOM))
    [[ ${#files[@]} -gt 0 ]] || return 0
    file=$1/$(pick files)
    # One that an edit before this one removed.
    [[ -f $file ]] || return 0
    case $((RANDOM % 5)) in
        0) echo "// edit $RANDOM" >> "$file" ;;
        1) sed -i "1,20s/$(pick words)/$(pick words)/" "$file" ;;
        2) mv "$file" "$file.moved" && mv "$file.moved" "$file" ;;
        3) rm -f "$file" ;;
        4) find_edit "$1" "$file" ;;
    esac
}

# Adds a word and searches for it at once; a file that is not indexed does not count.
find_edit() {
    local word="soaked${RANDOM}x$SECONDS"
    (cd "$1" && ctl why "${2#"$1"/}" 2> /dev/null | grep -q ': in the index') || return 0
    echo "$word = 1" >> "$2"
    n[looked]=$((n[looked] + 1))
    if ! (cd "$1" && ctl grep "$word" 2> "$dir/said" | grep -q "$word"); then
        # A request may fail between two daemons, and says so.
        [[ ! -s $dir/said ]] || (cd "$1" && ctl grep "$word" 2> /dev/null | grep -q "$word") && return 0
        n[stale]=$((n[stale] + 1))
        echo "soak: $word is not found in $2 at second $SECONDS" >&2
    fi
}

# Makes a folder that is like a repository, and removes the oldest when there are enough.
roaming=() n_roamed=0
wander() {
    local from=$1 to=$dir/roaming/$((++n_roamed)) sub
    mkdir -p "$dir/roaming"
    case $((RANDOM % 3)) in
        0) git -C "$from" worktree add -q -f --detach "$to" "$(git -C "$from" rev-list --all | shuf -n 1 --random-source=<(yes $RANDOM))" 2> /dev/null || return 0 ;;
        1) cp -a "$from" "$to" ;;
        2)
            sub=$(git -C "$from" ls-tree -d --name-only HEAD | shuf -n 1 --random-source=<(yes $RANDOM))
            [[ -n $sub && -d $from/$sub ]] || return 0
            cp -a "$from/$sub" "$to"
            ;;
    esac
    (cd "$to" && ctl index --wait > /dev/null 2> "$dir/said") || cat "$dir/said" >&2
    roaming+=("$to")
    if ((${#roaming[@]} > roam)); then
        ctl workspace remove "${roaming[0]}" > /dev/null 2>&1 || true
        rm -rf "${roaming[0]}"
        roaming=("${roaming[@]:1}")
    fi
}
checkout() {
    local commits
    # The copy of a sub-folder has none.
    mapfile -t commits < <(git -C "$1" rev-list --all 2> /dev/null | awk -v k=$((RANDOM % 97 + 1)) 'NR % 97 == k % 97')
    # A partial clone misses what some commits hold.
    [[ ${#commits[@]} -eq 0 ]] || git -C "$1" checkout -q -f "$(pick commits)" 2> /dev/null || true
}

# A pack; what a failed one said is kept with the action before it.
action=none
pack() {
    local status=0
    (cd "$1" && ctl pack "$(pick words) $(pick words) $RANDOM" 2> "$dir/said" > /dev/null) || status=$?
    ((status != 0)) || return 0
    n[failed]=$((n[failed] + 1))
    {
        echo "pack ${n[failed]} that failed: exit $status at second $SECONDS, after $action, in $(basename "$1")"
        sed 's/^/    /' "$dir/said"
    } | tee -a "$dir/failed" >&2
}

start
index_all ctl
first_mb=$(quiet_mb) first_fds=$(count fd) first_threads=$(count task) first_kb=$(disk_kb soak)
peak_mb=$first_mb
until_s=$((SECONDS + minutes * 60))
last_compare=$SECONDS
while ((SECONDS < until_s)); do
    if ((roam > 0 && RANDOM % 25 == 0)); then
        action=wander
        wander "$(pick repos)"
        n[roamed]=$((n[roamed] + 1))
    fi
    everywhere=("${repos[@]}" "${roaming[@]}")
    repo=$(pick everywhere)
    case $((RANDOM % 20)) in
        [0-7]) action=edit; edit "$repo"; n[edit]=$((n[edit] + 1)) ;;
        [89] | 1[01]) action=checkout; checkout "$repo"; n[checkout]=$((n[checkout] + 1)) ;;
        1[2-7]) action=pack; n[pack]=$((n[pack] + 1)) ;;
        18)
            if ((RANDOM % 4 == 0)); then
                action=kill
                look_for_damage
                kill -9 "$pid" && start
                n[kill]=$((n[kill] + 1))
            fi
            ;;
        19)
            if ((RANDOM % 4 == 0)); then
                action=restart
                look_for_damage
                ctl daemon stop > /dev/null && start
                n[restart]=$((n[restart] + 1))
            fi
            ;;
    esac
    pack "$repo"
    mb=$(private_mb)
    if ((mb > peak_mb)); then peak_mb=$mb; fi
    if ((SECONDS - last_compare >= 300)); then
        compare
        last_compare=$SECONDS
    fi
done
compare
last_mb=$(quiet_mb)
echo "actions: ${n[edit]} edits, ${n[checkout]} checkouts, ${n[pack]} packs alone, ${n[kill]} kills, ${n[restart]} restarts, ${n[failed]} packs failed, ${n[roamed]} folders came"
echo "edits searched for: ${n[looked]}, not found: ${n[stale]}; indexes called damaged: ${n[damaged]}"
[[ ! -f $dir/failed ]] || cat "$dir/failed"
printf '| %-28s | %8s | %8s |\n' "${#repos[@]} repositories, $minutes min" start end
printf '| %-28s | %8s | %8s |\n' "private memory when quiet, MiB" "$first_mb" "$last_mb" \
    "descriptors" "$first_fds" "$(count fd)" "threads" "$first_threads" "$(count task)" \
    "indexes on disk, MiB" "$((first_kb / 1024))" "$(($(disk_kb soak) / 1024))"
echo "peak of private memory $peak_mb MiB; fresh indexes take $((fresh_kb / 1024)) MiB"
echo "indexes compared with fresh ones: $n_compared, different: $n_wrong"
((n_wrong == 0 && n[stale] == 0 && n[damaged] == 0))
