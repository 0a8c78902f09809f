#!/usr/bin/env bash
# Compares `ctl grep` with ripgrep: the same lines for 200 patterns over each tree.
#   scripts/grep_check.sh [--ctl PROGRAM] [--patterns N] TREE...
# A tree is a folder; git's rules decide in both programs which files are searched. Files are compared that both
# programs hold with the same number of lines. Prints the patterns that differ and, of each tree, the times of both
# programs: medians of all patterns, in milliseconds. Exit status 1 when a pattern differs.
set -euo pipefail
ctl=ctl
n=200
while [[ ${1-} == --* ]]; do
  case $1 in
    --ctl) ctl=$2 ;;
    --patterns) n=$2 ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
  shift 2
done
[[ $# -gt 0 ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for tree in "$@"; do
  "$ctl" --repo "$tree" index --wait > /dev/null
  python3 - "$ctl" "$tree" "$n" <<'PYTHON'
import collections, os, random, re, statistics, subprocess, sys, time

ctl, tree, n = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3])

def run(*command):
    start = time.monotonic()
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = (time.monotonic() - start) * 1000
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "replace"), took

def lines(text):
    found = (re.match(r"([^\n]*?):(\d+):\d+:", line) for line in text.split("\n"))
    return {(m[1].removeprefix("./"), int(m[2])) for m in found if m}

def counts(text):
    pairs = (line.rsplit(":", 1) for line in text.split("\n") if ":" in line)
    return {path.removeprefix("./"): count for path, count in pairs}

mine = [ctl, "--repo", tree, "grep"]
rg = ["rg", "--no-config", "--hidden", "--glob=!.git", "--no-messages"]
here, there = counts(run(*mine, "-c", "^")[0]), counts(run(*rg, "-c", "^", ".")[0])
both = {path for path in here if there.get(path) == here[path]}
print(f"{tree}: {len(here)} files in the index, {len(there)} of ripgrep, {len(both)} alike")
random.seed(1)
words = collections.Counter()
for path in random.sample(sorted(both), min(len(both), 400)):
    with open(os.path.join(tree, path), errors="replace") as file:
        words.update(re.findall(r"[A-Za-z_][A-Za-z_0-9]{2,}", file.read(200_000)))
common = [w for w, _ in words.most_common(4_000)]
word = lambda: random.choice(common)
makers = [
    lambda: [word()], lambda: ["-w", word()], lambda: ["-i", word()], lambda: ["-F", word() + "("],
    lambda: [f"{word()}|{word()}"], lambda: [rf"{word()}\s*\("], lambda: [word()[:3]], lambda: ["-w", "-i", word()],
    lambda: [f"{word()}.*{word()}"], lambda: [rf"^\s*{word()}"], lambda: [rf"{word()};?$"], lambda: [f"[A-Z]{word()[1:]}"],
    lambda: ["-e", word(), "-e", word()], lambda: [rf"\b{word()[:4]}\w+"], lambda: [f"({word()})?{word()}"],
]
times, differ = ([], []), 0
for i in range(n):
    pattern = makers[i % len(makers)]()
    (a, ta), (b, tb) = run(*mine, "--vimgrep", "--all", *pattern), run(*rg, "--vimgrep", *pattern, ".")
    times[0].append(ta)
    times[1].append(tb)
    a, b = ({l for l in lines(t) if l[0] in both} for t in (a, b))
    if a != b:
        differ += 1
        print(f"differs: {pattern}: {sorted(a - b)[:3]} only here, {sorted(b - a)[:3]} only there")
a, b = (statistics.median(t) for t in times)
print(f"{tree}: {n} patterns, {differ} differ; ctl grep {a:.1f} ms, ripgrep {b:.1f} ms (medians)")
sys.exit(differ > 0)
PYTHON
done
