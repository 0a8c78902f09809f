#!/usr/bin/env python3
"""Counts the product's Rust code: lines that are left when comments, strings, blank lines and tests
are taken away, by crate; functions by length; unsafe blocks. Reads a commit or the working tree.

  scripts/lines.py [--at COMMIT] [--functions N] [--files N]

A test is a file below a folder `tests` or named `tests.rs`, and an item under `#[cfg(test)]`.
"""
import argparse, collections, re, subprocess, sys

TOKEN = re.compile(
    r'//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/'
    r'|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"'
    r"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'",
    re.S,
)


def sources(at):
    git = lambda *args: subprocess.run(["git", *args], capture_output=True, check=True).stdout
    listed = git("ls-tree", "-r", "--name-only", at) if at else git("ls-files")
    paths = [p for p in listed.decode().splitlines() if p.endswith(".rs") and not p.startswith("fixtures/")]
    for path in sorted(paths):
        if "/fixtures/" in path or path.startswith("tests/") or re.search(r"(^|/)tests(/|\.rs$)", path):
            continue
        try:
            yield path, (git("show", f"{at}:{path}") if at else open(path, "rb").read()).decode()
        except FileNotFoundError:
            pass


def blanked(text):
    """The text without comments and without what is inside strings; lines stay where they are."""

    def blank(m):
        kept = "\n" * m[0].count("\n")
        return kept if m[0].startswith("/") else '""' + kept if '"' in m[0] else "0" + kept

    return TOKEN.sub(blank, text)


def block_end(text, start):
    """Where the item that begins at `start` ends: behind its block, or its semicolon."""
    depth = 0
    for i in range(start, len(text)):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == "}":
                return i + 1
        elif c == ";" and depth == 0:
            return i + 1
    return len(text)


def without_tests(text):
    while m := re.search(r"#\[cfg\((?:test|all\(test[^]]*)\)\]", text):
        end = block_end(text, m.end())
        text = text[: m.start()] + "\n" * text[m.start() : end].count("\n") + text[end:]
    return text


def functions(path, text):
    for m in re.finditer(r"^[ \t]*(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \"\") )*fn (\w+)", text, re.M):
        end = block_end(text, m.start())
        body = text[m.start() : end]
        if body.endswith("}"):
            yield sum(1 for line in body.splitlines() if line.strip()), path, m[1]


def crate_of(path):
    parts = path.split("/")
    if parts[0] == "indexd":
        return parts[2] if parts[1] == "crates" else "indexd"
    return "/".join(parts[:2]) if parts[0] == "scripts" else parts[0]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--at", metavar="COMMIT", help="a commit instead of the working tree")
    args.add_argument("--functions", type=int, default=60, metavar="N", help="list functions above N lines (60)")
    args.add_argument("--files", type=int, default=0, metavar="N", help="list the N longest files")
    args = args.parse_args()
    lines, n_unsafe, long, files = collections.Counter(), collections.Counter(), [], []
    for path, text in sources(args.at):
        text = without_tests(blanked(text))
        n = sum(1 for line in text.splitlines() if line.strip())
        lines[crate_of(path)] += n
        files.append((n, path))
        n_unsafe[path] += len(re.findall(r"\bunsafe\s*(?:\{|impl\b|extern\b|fn\b)", text))
        long += [f for f in functions(path, text) if f[0] > args.functions]
    for crate, n in lines.most_common():
        print(f"{n:7}  {crate}")
    print(f"{sum(lines.values()):7}  in all")
    print(f"{len(long):7}  functions above {args.functions} lines" + "".join(f"\n{n:12} {p}: {f}" for n, p, f in sorted(long, reverse=True)))
    print(f"{n_unsafe.total():7}  unsafe" + "".join(f"\n{n:12} {p}" for p, n in n_unsafe.most_common() if n))
    for n, path in sorted(files, reverse=True)[: args.files]:
        print(f"{n:12} {path}")


if __name__ == "__main__":
    sys.exit(main())
