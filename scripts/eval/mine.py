#!/usr/bin/env python3
"""Makes tasks for `scripts/eval.sh` from the history of repositories in Rust, TypeScript, Java and C.

    pip install tree-sitter tree-sitter-rust tree-sitter-typescript tree-sitter-java tree-sitter-c
    scripts/eval/mine.py MIRRORS > tasks.jsonl              the tasks of scripts/eval/commits.txt
    scripts/eval/mine.py MIRRORS --pick 10 > commits.txt    chooses commits anew, as many of each repository

MIRRORS holds bare clones as <owner>+<name>/repo. A task is the text of a commit without file names and numbers
of pull requests, the commit before it, and what it touched there. Units are those of the grammars alone, not of
the index that is measured:

- a deleted line counts for the unit that holds it, an added one for the unit of that name and kind that holds it
  afterwards, if it was there before; its place is the line before it, moved inside the unit;
- functions that are new are not looked for; blank lines, comments, lone brackets, tests, vendored and generated
  files do not count.

A commit is chosen when it has one parent, touches one to five source files and one to eight functions in at most
150 lines, and has a text of six words at least that does not speak of releases, formatting or dependencies. Which
ones of those: the first by a hash of their ids, so that neither their date nor their subject decides.
"""
import argparse, functools, hashlib, json, os, re, subprocess, sys
import tree_sitter, tree_sitter_c, tree_sitter_java, tree_sitter_rust, tree_sitter_typescript

# Language, endings and folders of the sources.
REPOSITORIES = {
    "BurntSushi/ripgrep": ("rust", (".rs",)),
    "sharkdp/bat": ("rust", (".rs",)),
    "sindresorhus/got": ("typescript", (".ts",)),
    "google/gson": ("java", (".java",)),
    "jqlang/jq": ("c", (".c", ".h")),
    "libuv/libuv": ("c", (".c", ".h")),
}
PARSERS = {
    "rust": tree_sitter_rust.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "java": tree_sitter_java.language,
    "c": tree_sitter_c.language,
}
# Kinds of functions, of what holds other units, and of other definitions.
FUNCTIONS = {
    "rust": {"function_item", "function_signature_item"},
    "typescript": {"function_declaration", "generator_function_declaration", "method_definition", "function_signature"},
    "java": {"method_declaration", "constructor_declaration", "compact_constructor_declaration"},
    "c": {"function_definition"},
}
TYPES = {
    "rust": {"impl_item", "trait_item", "struct_item", "enum_item", "union_item", "mod_item"},
    "typescript": {"class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration", "internal_module"},
    "java": {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration"},
    "c": {"struct_specifier", "union_specifier", "enum_specifier", "type_definition"},
}
VALUES = {
    "rust": {"const_item", "static_item", "type_item", "macro_definition"},
    "typescript": {"type_alias_declaration", "lexical_declaration", "variable_declaration"},
    "java": set(),
    "c": {"preproc_def", "preproc_function_def", "declaration"},
}
# Kinds between a file or a type and the units in it.
AROUND = {
    "declaration_list", "class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body",
    "export_statement", "statement_block", "module", "expression_statement", "ambient_declaration", "ERROR",
    "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "linkage_specification",
    "record_body", "object_type", "foreign_mod_item",
}
DULL = re.compile(r"\b(release|bump|version|changelog|clippy|rustfmt|fmt|format(ting)?|typos?|lint|readme|upgrade|update[sd]? dep\w*|dependenc\w+"
                  r"|copyright|licen[cs]e|revert|merge|cargo update|indentation|whitespace|spelling|docs?|comments?|javadoc)\b", re.I)


class Mirror:
    """A bare clone, read through git."""

    def __init__(self, mirrors, repo):
        self.dir = os.path.join(mirrors, repo.replace("/", "+"), "repo")

    def git(self, *args):
        out = subprocess.run(["git", "--git-dir", self.dir, *args], capture_output=True, check=False)
        return out.stdout.decode("utf-8", "replace") if out.returncode == 0 else None

    def patch(self, commit):
        return self.git("diff-tree", "-p", "-U0", "--no-renames", "--no-color", commit + "^", commit)


@functools.lru_cache(maxsize=None)
def parser(lang):
    return tree_sitter.Parser(tree_sitter.Language(PARSERS[lang]()))


def word(node):
    """The name of a definition: the field `name` or `type`, the first declarator, or the end of declarators."""
    for field in ("name", "type"):
        at = node.child_by_field_name(field)
        if at is not None and not (node.type in ("function_definition", "declaration", "type_definition") and field == "type"):
            return at
    if node.type in ("lexical_declaration", "variable_declaration") and node.named_children:
        return node.named_children[0].child_by_field_name("name")
    at = node.child_by_field_name("declarator")
    while at is not None and at.child_by_field_name("declarator") is not None:
        at = at.child_by_field_name("declarator")
    return at


def units(text, lang):
    """(kind, qualified name, first line, last line, line of the name) of functions, types and values, and the
    lines of tests that lie in the file."""
    out, tests = [], set()

    def name_of(node):
        at = word(node)
        return (at.text.decode("utf-8", "replace"), at.start_point[0] + 1) if at else ("", node.start_point[0] + 1)

    def walk(node, owner):
        marks, first = "", None
        for c in node.named_children:
            kind = c.type
            if kind in ("attribute_item", "decorator"):
                first = first or c.start_point[0] + 1
                marks += c.text.decode("utf-8", "replace")
                continue
            start, end = first or c.start_point[0] + 1, c.end_point[0] + 1
            if "cfg(test" in marks or "#[test]" in marks:
                tests.update(range(start, end + 1))
            marks, first = "", None
            name, line = name_of(c)
            qualified = owner + name
            if kind in FUNCTIONS[lang] or is_function_value(c):
                out.append(("func", qualified or "?", start, end, line))
            elif kind in TYPES[lang] and (lang != "c" or c.child_by_field_name("body") or kind == "type_definition"):
                out.append(("type", qualified, start, end, line))
                for body in c.named_children:
                    if body.type in AROUND:
                        walk(body, qualified + ".")
            elif kind in VALUES[lang]:
                out.append(("var", qualified, start, end, line))
            elif kind in AROUND:
                walk(c, owner)

    def is_function_value(c):
        if c.type == "public_field_definition":
            value = c.child_by_field_name("value")
        elif c.type in ("lexical_declaration", "variable_declaration"):
            value = c.named_children[0].child_by_field_name("value") if c.named_children else None
        else:
            return False
        return value is not None and value.type in ("arrow_function", "function_expression")

    walk(parser(lang).parse(text.encode()).root_node, "")
    # What has no name is told apart by its first line.
    return [u if u[1] else (u[0], text.split("\n")[u[2] - 1].strip()[:40], *u[2:]) for u in out], tests


def holder(found, line):
    """The unit that holds a line: the outermost function, else the innermost other."""
    around = [u for u in found if u[2] <= line <= u[3]]
    functions = [u for u in around if u[0] == "func"]
    return max(functions, key=lambda u: u[3] - u[2]) if functions else min(around, key=lambda u: u[3] - u[2], default=None)


def is_noise(line):
    s = line.strip()
    return not s or re.match(r"(//|/\*|\*|\*/)", s) is not None or re.fullmatch(r"[\[\](){},;]+", s) is not None


def is_source(path, endings):
    parts = path.lower().split("/")
    if not path.endswith(endings) or path.endswith(".d.ts") or "generated" in path.lower():
        return False
    if any(p in ("test", "tests", "testing", "benchmark", "benchmarks", "bench", "examples", "vendor", "third_party", "node_modules", "docs",
                 "fuzz", "deps", "dist") or "test" in p.split("-") for p in parts[:-1]):
        return False
    return not re.search(r"(^tests?\b|[_.-]tests?\.|^test_|tests?\.(rs|java)$)", parts[-1])


HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def hunks(patch):
    """Of each file that was there before and after: the changes as (side, line, text, line of the old side before)."""
    files, now, old, new = {}, None, 0, 0
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            now = None
        elif line.startswith("--- ") and now is None:
            before = line[4:]
        elif line.startswith("+++ ") and now is None:
            if before.startswith("a/") and line.startswith("+++ b/"):
                now = files.setdefault(before[2:], [])
        elif (m := HUNK.match(line)) and now is not None:
            old, new = int(m[1]) + (m[2] == "0"), int(m[3]) + (m[4] == "0")
        elif now is not None and line.startswith("-"):
            now.append(("-", old, line[1:], old))
            old += 1
        elif now is not None and line.startswith("+"):
            now.append(("+", new, line[1:], old - 1))
            new += 1
    return files


def touched(before, after, changes, lang):
    """The units of the text before that the changes touch, and changed lines outside of them."""
    pre, pre_tests = units(before, lang)
    post, post_tests = units(after, lang)
    got, loose = {}, set()
    for side, line, text, anchor in changes:
        if is_noise(text) or line in (pre_tests if side == "-" else post_tests):
            continue
        u = holder(pre if side == "-" else post, line)
        if u is None:
            loose.add(max(1, anchor))
            continue
        if side == "+":
            same = [v for v in pre if v[:2] == u[:2]]
            if not same:
                outer = [v for v in post if v[0] == "type" and v[2] <= line <= v[3] and v != u]
                same = [v for o in sorted(outer, key=lambda v: v[3] - v[2]) for v in pre if v[:2] == o[:2]][:1]
            if not same:
                loose.add(max(1, anchor))
                continue
            u = min(same, key=lambda v: abs(v[2] - anchor))
        got.setdefault(u, set()).add(min(max(anchor, u[2]), u[3]))
    gold = [dict(kind=u[0], name=u[1], start=u[2], end=u[3], **{"def": u[4]}, changed=sorted(lines)) for u, lines in got.items()]
    return sorted(gold, key=lambda g: g["start"]), sorted(loose)


def query(message):
    """The text of a commit as somebody would ask for it: without trailers, numbers, links and names of files."""
    lines = [l for l in message.strip().split("\n")
             if not re.match(r"(signed-off-by|co-authored-by|reviewed-by|reviewed-on|pr-url|fixes|refs?|closes|cc|backport-pr-url|acked-by|change-id|"
                             r"original-pr|ported|port-of|cherry|piperorigin-revid|\(cherry picked)\b", l.strip(), re.I)]
    text = "\n".join(lines)
    text = re.sub(r"\(?(close[sd]?|fix(e[sd])?|resolve[sd]?|see|gh|pr|refs?|issue)?:?\s*[\w./-]*#\d+\)?", "", text, flags=re.I)
    text = re.sub(r"https?://\S+", "", text)
    text = re.sub(r"[\w./-]*\w\.(rs|ts|js|java|c|h|md|toml|json|txt|y|l)\b:?", "", text)
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+", " ", text)).strip()[:2000]


def task(mirror, repo, commit, strict=True):
    lang, endings = REPOSITORIES[repo]
    patch = mirror.patch(commit)
    if patch is None or len(patch) > 200_000:
        return None
    files = {p: c for p, c in hunks(patch).items() if is_source(p, endings)}
    if not 1 <= len(files) <= 5 or sum(map(len, files.values())) > 150:
        return None
    gold, loose = [], {}
    for path, changes in files.items():
        before, after = mirror.git("show", f"{commit}^:{path}"), mirror.git("show", f"{commit}:{path}")
        if before is None or after is None:
            return None
        units_of, lines = touched(before, after, changes, lang)
        gold += [dict(path=path, **g) for g in units_of]
        if lines:
            loose[path] = lines
    text = query(mirror.git("log", "-1", "--format=%B", commit))
    functions = sum(g["kind"] == "func" for g in gold)
    if not 1 <= functions <= 8 or strict and (len(text.split()) < 6 or DULL.search(text.split("\n")[0])):
        return None
    return dict(id=f"{repo.split('/')[1]}-{commit[:10]}", repo=repo, lang=lang, base=mirror.git("rev-parse", commit + "^").strip(),
                fix=commit, query=text, date=int(mirror.git("log", "-1", "--format=%ct", commit)),
                gold_files=sorted({g["path"] for g in gold} | set(loose)), gold=gold, gold_loose=loose)


def pick(mirror, repo, n):
    commits = mirror.git("rev-list", "--no-merges", "--min-parents=1", "HEAD").split()
    commits.sort(key=lambda c: hashlib.sha256(c.encode()).hexdigest())
    for commit in commits:
        if n and task(mirror, repo, commit):
            print(repo, commit)
            n -= 1


def main():
    args = argparse.ArgumentParser()
    args.add_argument("mirrors")
    args.add_argument("--pick", type=int)
    options = args.parse_args()
    if options.pick:
        for repo in REPOSITORIES:
            pick(Mirror(options.mirrors, repo), repo, options.pick)
        return
    for line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "commits.txt")):
        repo, commit = line.split()
        made = task(Mirror(options.mirrors, repo), repo, commit, strict=False)
        if made is None:
            sys.exit(f"{repo} {commit} is not a task")
        print(json.dumps(made, ensure_ascii=False))


main()
