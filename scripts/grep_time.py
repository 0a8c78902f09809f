#!/usr/bin/env python3
"""Times `ctl grep` beside ripgrep on a tree: 60 literals and 40 expressions with a literal of at least three letters.

  scripts/grep_time.py [--ctl PROGRAM] [--rounds N] [--words met|distinct] TREE

The patterns are drawn by a fixed seed from words of the tree: `met` as one meets them in its files, so that frequent ones
come often, or `distinct`, each word once, as names are looked for. Each is run
N times (default 3) in turn by both programs as a process of its own, output read and thrown away; the least time counts.
`ctl grep` prints what fits its budget (its default form), or with `-l` names of files; ripgrep prints all lines, or with
`-l` names. Prints p50 and p95 in milliseconds of each, and how many patterns take more than half of ripgrep's time.
"""
import os, random, re, statistics, subprocess, sys, time

args = sys.argv[1:]
def option(name, default):
    if name not in args:
        return default
    at = args.index(name)
    value = args[at + 1]
    del args[at:at + 2]
    return value
ctl, rounds, drawn = option("--ctl", "ctl"), int(option("--rounds", "3")), option("--words", "met")
if len(args) != 1:
    sys.exit(__doc__)
tree = os.path.abspath(args[0])
subprocess.run([ctl, "--repo", tree, "index", "--wait"], check=True, stdout=subprocess.DEVNULL)
files = subprocess.run(["rg", "--files", "--no-messages"], cwd=tree, capture_output=True, text=True).stdout.split("\n")
files = sorted(f for f in files if f)
random.seed(7)

def words_of(path):
    with open(os.path.join(tree, path), errors="replace") as file:
        return re.findall(r"[A-Za-z_][A-Za-z_0-9]{3,}", file.read(100_000))

if drawn == "distinct":
    words = random.sample(sorted(set().union(*map(words_of, files))), 400)
else:
    words = []
    while len(words) < 400:
        if found := words_of(random.choice(files)):
            words.append(random.choice(found))
word = iter(words).__next__
literals = [word() for _ in range(60)]
makers = [lambda a, b: rf"{a}\s*\(", lambda a, b: f"{a}|{b}", lambda a, b: rf"\b{a[:3]}\w+_init", lambda a, b: f"{a}.*{b}",
          lambda a, b: rf"^static .*{a}", lambda a, b: rf"{a[:4]}[a-z]+\(", lambda a, b: rf"struct {a}\b", lambda a, b: rf"{a[:3]}\d+"]
expressions = [makers[i % len(makers)](word(), word()) for i in range(40)]

def least(command):
    best = float("inf")
    for _ in range(rounds):
        start = time.monotonic()
        done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        best = min(best, (time.monotonic() - start) * 1000)
        if done.returncode not in (0, 1):
            sys.exit(f"{command}: {done.stderr.decode()}")
    return best

def p(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]

for name, patterns in [("literals", literals), ("expressions", expressions)]:
    for flags in ([], ["-l"]):
        mine, theirs = [], []
        for pattern in patterns:
            mine.append(least([ctl, "--repo", tree, "grep", *flags, "-e", pattern]))
            theirs.append(least(["rg", "--no-config", "--hidden", "--glob=!.git", "--no-messages", *flags, "-e", pattern, "."]))
        slow = [q for q, a, b in zip(patterns, mine, theirs) if a > b / 2]
        print(f"{name} {' '.join(flags) or 'lines'}: ctl grep p50 {p(mine, 50):.1f}, p95 {p(mine, 95):.1f} ms; "
              f"ripgrep p50 {p(theirs, 50):.1f}, p95 {p(theirs, 95):.1f} ms; {len(slow)} of {len(patterns)} above half: {slow[:6]}", flush=True)
