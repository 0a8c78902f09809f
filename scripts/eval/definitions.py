#!/usr/bin/env python3
"""Compares the definitions that indexd finds in a tree with those of Universal Ctags, or of rough
expressions for the languages that ctags does not know, and prints a table by language.

    cargo run --release -p indexd-lang --example definitions -- TREE > ours.tsv
    scripts/eval/definitions.py TREE ours.tsv [--missed N] [--extra N]

A definition is found when one of ours with that name stands on the same line, or on one of the two beside it.
Neither side is the truth: `--missed` and `--extra` list N of those that only one of them has, to read.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import subprocess

# Names at the start of a line behind these words, for languages without a parser in ctags.
ROUGH = {
    "Swift": [
        ("type", r"(?:class|struct|enum|protocol|actor|extension)\s+([A-Za-z_][\w.]*)"),
        ("function", r"func\s+(`?[A-Za-z_]\w*`?|[-+*/<>=!~&|^%]+)"),
        ("initialiser", r"(init)\b[?!<(]"),
        ("case", r"case\s+([a-z_]\w*)\s*(?:\(|=|$|,)"),
        ("alias", r"typealias\s+(\w+)"),
    ],
    "Scala": [
        ("type", r"(?:class|trait|object|enum)\s+([A-Za-z_]\w*)"),
        ("function", r"def\s+(`[^`]+`|[A-Za-z_]\w*|[^\s\w(\[:=]+)"),
        ("alias", r"type\s+([A-Za-z_]\w*)"),
    ],
    "Hcl": [("block", r'(?:resource|data)\s+"[^"]+"\s+"([^"]+)"\s*\{'), ("block", r'(?:variable|output|module|provider)\s+"([^"]+)"\s*\{')],
    "Sql": [
        ("table", r"create\s+(?:temp\w*\s+|unlogged\s+|foreign\s+)*table\s+(?:if\s+not\s+exists\s+)?([\w.\"\[\]`]+)"),
        ("view", r"create\s+(?:or\s+replace\s+)?(?:materialized\s+)?view\s+([\w.\"\[\]`]+)"),
        ("function", r"create\s+(?:or\s+(?:replace|alter)\s+)?(?:function|proc(?:edure)?)\s+([\w.\"\[\]`]+)"),
        ("trigger", r"create\s+(?:or\s+replace\s+)?trigger\s+([\w.\"\[\]`]+)"),
        ("type", r"create\s+(?:type|domain)\s+([\w.\"\[\]`]+)"),
    ],
}
MODIFIERS = r"(?:@\w+(?:\([^)\n]*\))?\s+|(?:open|public|private|fileprivate|internal|package|final|static|class|override|mutating|nonmutating|nonisolated|indirect|required|convenience|prefix|postfix|infix|async|protected|sealed|abstract|implicit|inline|transparent|lazy|case|distributed|private\[\w+\]|protected\[\w+\])\s+)*"
CTAGS = {"CSharp": "C#", "Php": "PHP", "Ruby": "Ruby", "Kotlin": "Kotlin", "Proto": "Protobuf", "Rust": "Rust", "TypeScript": "TypeScript", "Tsx": "TypeScript", "JavaScript": "JavaScript", "Java": "Java", "C": "C", "Cpp": "C++", "Lua": "Lua", "Bash": "Sh"}
# Not definitions here: locals, packages, aliases of imports, macros of conditions.
IGNORED = {"package", "local", "namespace", "alias", "parameter", "macro definition", "library", "describe", "context", "it"}


def rough(language, text):
    # Comments are blanked out, line by line.
    comment = {"Sql": r"--[^\n]*|/\*.*?\*/", "Hcl": r"#[^\n]*"}.get(language, r"//[^\n]*|/\*.*?\*/|\"\"\".*?\"\"\"")
    text = re.sub(comment, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    flags = re.M | (re.I if language == "Sql" else 0)
    for kind, expression in ROUGH[language]:
        lead = "" if language in ("Sql", "Hcl") else MODIFIERS
        for m in re.finditer(r"^[ \t]*" + lead + expression, text, flags):
            name = re.split(r"\.", m[1])[-1].strip('`"[]')
            yield kind, name, text.count("\n", 0, m.start(1)) + 1


def by_ctags(tree, language, files):
    command = ["ctags", "--output-format=json", "--fields=+nK", f"--language-force={CTAGS[language]}", "-L", "-", "-f", "-"]
    out = subprocess.run(command, input="\n".join(files), cwd=tree, capture_output=True, text=True, errors="replace").stdout
    for line in out.split("\n")[:-1]:
        tag = json.loads(line)
        if tag.get("_type") == "tag" and tag.get("kind") not in IGNORED and not re.match(r"__anon|<", tag["name"]):
            name = re.split(r"[.:\\]", tag["name"])[-1] or tag["name"]
            yield tag["path"], tag["kind"], name, tag["line"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("ours", type=pathlib.Path)
    parser.add_argument("--missed", type=int, default=0)
    parser.add_argument("--extra", type=int, default=0)
    parser.add_argument("--errors", type=int, default=0, help="list places with syntax errors")
    parser.add_argument("--language")
    args = parser.parse_args()
    outcomes, errors = {}, {}
    ours = collections.defaultdict(list)
    for line in args.ours.read_text(errors="replace").split("\n")[:-1]:
        path, number, kind, name, *rest = line.split("\t")
        if number == "0":
            outcomes[path] = (kind, name)
            errors[path] = json.loads(rest[0])
        else:
            ours[path].append((int(number), kind, re.split(r"[.:]", name)[-1].strip('`"[]') or name))
    random.seed(1)
    print("| language | files | with syntax errors | cut by lines | theirs | found | % |")
    print("|---|---|---|---|---|---|---|")
    for language in sorted({language for _, language in outcomes.values()}):
        if args.language and language != args.language:
            continue
        files = [p for p, (_, of) in outcomes.items() if of == language]
        if language in CTAGS:
            theirs = list(by_ctags(args.tree, language, files))
        elif language in ROUGH:
            theirs = [(p, *d) for p in files for d in rough(language, (args.tree / p).read_text(errors="replace"))]
        else:
            continue
        have = {(p, n, name) for p in files for n, _, name in ours[p]}
        seen = {(p, n, name) for p, _, name, n in theirs}
        found = [d for d in theirs if any((d[0], d[3] + o, d[2]) in have for o in (0, 1, -1, 2, -2))]
        missed = [d for d in theirs if d not in set(found)]
        extra = [(p, k, name, n) for p in files for n, k, name in ours[p] if not any((p, n + o, name) in seen for o in (0, 1, -1, 2, -2))]
        n_bad = sum(outcomes[p][0] == "Recovered" for p in files)
        n_cut = sum(outcomes[p][0] == "TextOnly" for p in files)
        print(f"| {language} | {len(files)} | {n_bad} | {n_cut} | {len(theirs)} | {len(found)} | {100 * len(found) / max(1, len(theirs)):.1f} |")
        for title, rows, n in (("missed", missed, args.missed), ("extra", extra, args.extra)):
            if n:
                print(f"  {title}:", dict(collections.Counter(r[1] for r in rows)))
                for p, kind, name, line in sorted(random.sample(rows, min(n, len(rows)))):
                    source = (args.tree / p).read_text(errors="replace").split("\n")[line - 1].strip()
                    print(f"    {p}:{line} {kind} {name} | {source[:110]}")
        places = [(p, line) for p in files for line in errors[p]]
        if args.errors:
            print(f"  errors: {len(places)} places")
            for p, line in sorted(random.sample(places, min(args.errors, len(places)))):
                source = (args.tree / p).read_text(errors="replace").split("\n")[line - 1].strip()
                print(f"    {p}:{line} {outcomes[p][0]} | {source[:140]}")


if __name__ == "__main__":
    main()
