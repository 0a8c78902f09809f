#!/usr/bin/env python3
"""Compares changes and ignore rules with git, in repositories of odd states.

    scripts/attack_git.py --bin DIR [--states 200] [--ignores 500] [--seed 1] [--keep]

Each state is a repository of one of the kinds that git makes (plain, shallow, partial, sparse, linked worktree,
reftable, SHA-256, without a commit, ...) after a dozen random steps: edits, renames, conflicts, flags of the index,
line ends, filters, modes, links. Four changes of each are asked for with `ctl pack --diff`, and compared with
`git diff`: which files differ and in which way, and whether the hunks, applied to what git had before, give
what git has after. A file may be named with a reason why it is not compared, and a request may be refused with
one; both are counted by reason. New files that git does not track count as added, as docs/reviews.md says.

Each set of ignore rules is a random tree with random `.gitignore` files, `info/exclude` and `core.excludesFile`;
the files of the index are compared with `git ls-files -co --exclude-standard`, without those that git tracks
although its rules leave them out (`git ls-files -ci`), which the index leaves out as well.

Exit status 1 when anything differed.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from attack import Home

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_TERMINAL_PROMPT": "0"}
for who in ["AUTHOR", "COMMITTER"]:
    GIT |= {f"GIT_{who}_NAME": "n", f"GIT_{who}_EMAIL": "n@example.org"}


class Git:
    def __init__(self, root):
        self.root = root

    def run(self, *args, check=False, input=None):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent), **GIT}
        out = subprocess.run(["git", *args], cwd=self.root, env=env, input=input, capture_output=True)
        if check and out.returncode:
            raise RuntimeError(f"git {args}: {out.stderr.decode(errors='replace')}")
        return out

    def out(self, *args, **kw):
        return self.run(*args, check=True, **kw).stdout

    def ok(self, *args, **kw):
        return self.run(*args, **kw).returncode == 0


def lines_of(name, n=12):
    return [f"    {name}_{i} = {i}" for i in range(n)]


def source(name, n=12):
    return f"def {name}():\n" + "\n".join(lines_of(name, n)) + f"\n    return {name}_0\n"


PATHS = ["a.py", "b.py", "d/c.py", "d/new.py", "e/f/g.py", "e/other.py", "x y.py", "ü.py", "d/long.py", "Makefile"]
KINDS = [
    "plain", "plain", "plain", "shallow", "shallow2", "partial", "treeless", "sparse", "sparse-list", "sparse-index",
    "worktree", "separate", "reftable", "sha256", "unborn", "detached", "subfolder", "alternates", "packed", "index4",
    "split", "untracked-cache", "worktree-config", "submodule", "replaced", "crlf", "partial-sparse", "bundle",
]  # fmt: skip


class State:
    """A repository in an odd state, made by numbers that are the same each time."""

    def __init__(self, top, seed, kind=None):
        self.random = random.Random(seed)
        self.top = top
        self.kind = kind or KINDS[seed % len(KINDS)]
        self.did = [self.kind]
        self.root = top / "r"
        self.root.mkdir(parents=True)
        self.git = Git(self.root)
        self.asked_from = self.root

    def write(self, path, text):
        at = self.root / path
        try:
            at.parent.mkdir(parents=True, exist_ok=True)
            if at.is_symlink():
                at.unlink()
            at.write_bytes(text if isinstance(text, bytes) else text.encode())
        except OSError:
            pass

    def commit(self, *args):
        self.git.run("commit", "-q", "--allow-empty", "-m", "x", *args)

    def start(self):
        for i, path in enumerate(["a.py", "b.py", "d/c.py", "e/f/g.py", "x y.py", "d/long.py"]):
            self.write(path, source("abcdef"[i], 12 if i < 5 else 60))
        self.write("data.bin", b"\0\1\2")
        self.write("Makefile", "all:\n\techo x\n")

    def make(self):
        init = {"reftable": ["--ref-format=reftable"], "sha256": ["--object-format=sha256"]}.get(self.kind, [])
        if self.kind == "separate":
            init = ["--separate-git-dir", str(self.top / "elsewhere.git")]
        self.git.out("init", "-q", "-b", "main", *init)
        self.start()
        if self.kind == "unborn":
            self.git.run("add", "-A")
            return
        self.git.out("add", "-A")
        self.commit()
        self.write("b.py", source("b").replace("= 3\n", "= 33\n"))
        self.write("d/second.py", source("second"))
        self.git.run("add", "-A")
        self.commit()
        getattr(self, "make_" + self.kind.replace("-", "_"), lambda: None)()

    def cloned(self, *args):
        origin = self.top / "origin"
        self.root.rename(origin)
        Git(origin).out("config", "uploadpack.allowFilter", "true")
        Git(self.top).out("clone", "-q", *args, f"file://{origin}", "r")

    def make_shallow(self):
        self.cloned("--depth", "1")

    def make_shallow2(self):
        self.commit()
        self.cloned("--depth", "2")

    def make_partial(self):
        self.cloned("--filter=blob:none")

    def make_treeless(self):
        self.cloned("--filter=tree:0")

    def make_bundle(self):
        self.git.run("tag", "-a", "v1", "-m", "v1")
        self.git.run("gc", "-q")

    def make_partial_sparse(self):
        self.cloned("--filter=blob:none", "--sparse")
        self.git.run("sparse-checkout", "add", "d")

    def make_sparse(self):
        self.git.out("sparse-checkout", "set", "--cone", "d")

    def make_sparse_list(self):
        self.git.out("sparse-checkout", "set", "--no-cone", "/*", "!/e/", "!b.py")

    def make_sparse_index(self):
        self.git.out("sparse-checkout", "set", "--cone", "--sparse-index", "d")

    def make_worktree(self):
        self.root.rename(self.top / "main")
        Git(self.top / "main").out("worktree", "add", "-q", "-b", "linked", str(self.root))

    def make_detached(self):
        self.git.out("checkout", "-q", "HEAD~1")

    def make_subfolder(self):
        self.asked_from = self.root / "d"

    def make_alternates(self):
        self.cloned("--reference", str(self.top / "origin"))

    def make_packed(self):
        self.git.run("gc", "-q", "--aggressive")
        self.git.run("pack-refs", "--all")

    def make_index4(self):
        self.git.out("update-index", "--index-version", "4")

    def make_split(self):
        self.git.out("update-index", "--split-index")

    def make_untracked_cache(self):
        self.git.out("config", "core.untrackedCache", "true")
        self.git.out("update-index", "--untracked-cache")

    def make_worktree_config(self):
        self.git.out("config", "extensions.worktreeConfig", "true")
        self.git.out("config", "--worktree", "core.autocrlf", self.random.choice(["true", "input"]))

    def make_crlf(self):
        self.git.out("config", "core.autocrlf", "true")
        for path in ["a.py", "b.py", "d/c.py"]:
            (self.root / path).unlink()
        self.git.out("checkout", "-q", "--", ".")

    def make_replaced(self):
        self.write("a.py", source("replaced"))
        self.git.out("add", "-A")
        other = self.git.out("commit-tree", self.git.out("write-tree").decode().strip(), "-m", "y").decode().strip()
        self.git.out("reset", "-q", "--hard")
        self.git.out("replace", "HEAD", other)

    def make_submodule(self):
        other = self.top / "other"
        other.mkdir()
        Git(other).out("init", "-q", "-b", "main")
        (other / "inner.py").write_text(source("inner"))
        Git(other).out("add", "-A")
        Git(other).out("commit", "-q", "-m", "x")
        self.git.out("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
        self.commit()
        inner = Git(self.root / "sub")
        (self.root / "sub/inner.py").write_text(source("inner").replace("= 3\n", "= 33\n"))
        if self.random.random() < 0.5:
            inner.run("commit", "-q", "-am", "y")

    # Steps.

    def step(self):
        steps = [
            (self.edit, 6), (self.remove, 2), (self.add, 4), (self.flag, 3), (self.move, 2), (self.commit_all, 1),
            (self.crlf, 2), (self.autocrlf, 1), (self.attributes, 2), (self.touch, 2), (self.untrack, 1),
            (self.intend, 1), (self.conflict, 1), (self.mode, 1), (self.link, 1), (self.folder, 1), (self.ends, 2),
            (self.ignored, 1), (self.case, 1), (self.setting, 1), (self.encoding, 1), (self.binary, 1), (self.stash, 1),
            (self.copy, 1), (self.nested, 1), (self.resparse, 1),
        ]  # fmt: skip
        step = self.random.choices([s for s, _ in steps], [w for _, w in steps])[0]
        self.did.append(f"{step.__name__}")
        step(self.random.choice(PATHS))

    def read(self, path):
        at = self.root / path
        try:
            return at.read_bytes() if at.is_file() and not at.is_symlink() else None
        except OSError:
            return None

    def edit(self, path):
        text = self.read(path) or source("fresh").encode()
        lines = text.split(b"\n")
        for _ in range(self.random.choice([1, 1, 3])):
            at = self.random.randrange(len(lines))
            manner = self.random.randrange(3)
            if manner == 0:
                lines[at] = b"    x = %d" % self.random.randrange(99)
            elif manner == 1:
                lines.insert(at, b"    inserted = %d" % self.random.randrange(99))
            elif len(lines) > 1:
                del lines[at]
        self.write(path, b"\n".join(lines))

    def remove(self, path):
        if self.read(path) is not None:
            (self.root / path).unlink()

    def add(self, path):
        self.git.run("add", *self.random.choice([["-A"], ["--", path], ["-u"], ["--sparse", "-A"]]))

    def flag(self, path):
        which = ["--skip-worktree", "--assume-unchanged", "--no-skip-worktree", "--no-assume-unchanged"]
        self.git.run("update-index", self.random.choice(which), "--", path)
        if self.random.random() < 0.5:
            self.edit(path)

    def move(self, path):
        self.git.run("mv", path, self.random.choice(PATHS + ["moved/m.py"]))

    def commit_all(self, path):
        self.git.run("add", "-A")
        self.commit()

    def crlf(self, path):
        text = self.read(path)
        if text is not None:
            self.write(path, text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    def autocrlf(self, path):
        self.git.run("config", "core.autocrlf", self.random.choice(["true", "input", "false"]))
        if self.random.random() < 0.3:
            self.git.run("config", "core.eol", self.random.choice(["lf", "crlf", "native"]))

    def attributes(self, path):
        lines = ["*.py text=auto", "*.py -text", "d/*.py text eol=crlf", "*.py ident", "*.py filter=none", "a.py filter=up",
                 "*.py -diff", "* text=auto", "*.py eol=lf", "d/** binary", "*.py working-tree-encoding=UTF-16LE-BOM",
                 "*.py filter=lfs diff=lfs merge=lfs -text", "[attr]mine text eol=crlf\n*.py mine", "*.py diff=python",
                 "*.py !text", "/a.py text eol=crlf\na.py -text", "\"x y.py\" text"]  # fmt: skip
        if self.random.random() < 0.5:
            self.git.run("config", "filter.up.clean", "tr a-z A-Z")
        where = self.random.choice([".gitattributes", "d/.gitattributes", ".git/info/attributes"])
        if not where.startswith(".git/") or (self.root / ".git").is_dir():
            self.write(where, "\n".join(self.random.sample(lines, 2)) + "\n")

    def touch(self, path):
        if self.read(path) is not None:
            os.utime(self.root / path, (self.random.choice([1, 1_600_000_000]),) * 2)

    def untrack(self, path):
        self.git.run("rm", "-q", "--cached", "--", path)

    def intend(self, path):
        self.edit(path)
        self.git.run("add", "-N", "--", path)
        if self.random.random() < 0.5:
            self.random.choice([self.flag, self.remove])(path)

    def conflict(self, path):
        side, manner = f"side{self.random.randrange(10**6)}", self.random.choice(["merge", "rebase", "cherry-pick"])
        if not self.git.ok("checkout", "-q", "-B", side, "HEAD~1"):
            return
        self.edit(path)
        self.edit("b.py")
        self.git.run("add", "-A")
        self.commit()
        self.git.run(manner, "main")

    def stash(self, path):
        self.git.run("stash", "push", "-q")
        self.edit(path)
        self.git.run("stash", self.random.choice(["pop", "apply"]), "-q")

    def mode(self, path):
        if self.read(path) is not None:
            (self.root / path).chmod(self.random.choice([0o755, 0o644]))

    def link(self, path):
        at = self.root / path
        if at.is_dir() and not at.is_symlink():
            return
        at.unlink(missing_ok=True)
        at.parent.mkdir(parents=True, exist_ok=True)
        at.symlink_to(self.random.choice(["a.py", "nowhere", "/etc/passwd"]))

    def folder(self, path):
        if self.read(path) is not None:
            (self.root / path).unlink()
            self.write(path + "/inner.py", source("inner"))

    def ends(self, path):
        text = self.read(path)
        if text:
            self.write(path, self.random.choice([text.rstrip(b"\n"), text + b"\n", b"", b"\xef\xbb\xbf" + text, b"\n"]))

    def ignored(self, path):
        self.write(".gitignore", self.random.choice([path, "*.py", "d/", "new.py", "!a.py", "e/*"]) + "\n")

    def case(self, path):
        self.git.run("mv", "a.py", "A.py")

    def setting(self, path):
        pairs = ["core.fileMode=false", "core.symlinks=false", "core.ignoreCase=true", "diff.renames=copies",
                 "diff.renames=false", "core.quotePath=false", "core.precomposeUnicode=true", "core.checkStat=minimal",
                 "core.trustctime=false", "diff.noprefix=true", "diff.external=false", "core.safecrlf=true",
                 "diff.ignoreSubmodules=all", "core.sparseCheckout=true", "diff.algorithm=histogram", "core.bigFileThreshold=100",
                 "status.showUntrackedFiles=no", "index.threads=2", "feature.manyFiles=true", "core.preloadIndex=true"]  # fmt: skip
        self.git.run("config", *self.random.choice(pairs).split("="))

    def encoding(self, path):
        text = self.read(path)
        if text is not None:
            text = text.decode(errors="replace")
            self.write(path, self.random.choice([text.encode("utf-16"), "é\n".encode("latin-1") + text.encode(), text.encode() + b"\0"]))

    def binary(self, path):
        self.write("data.bin", self.random.randbytes(64) + b"\0")

    def copy(self, path):
        text = self.read("a.py")
        if text is not None:
            self.write("copied.py", text)
            self.git.run("add", "--", "copied.py")

    def nested(self, path):
        inner = self.root / "nested"
        if not inner.exists():
            inner.mkdir()
            (inner / "n.py").write_text(source("nested"))
            Git(inner).run("init", "-q")
            Git(inner).run("add", "-A")
            Git(inner).run("commit", "-q", "-m", "x")

    def resparse(self, path):
        if self.kind.startswith("sparse"):
            self.git.run("sparse-checkout", self.random.choice(["reapply", "disable"]))
            self.write("e/outside.py", source("outside"))
        else:
            self.git.run("rm", "-q", "-r", "--", "e")


def literal(git, spec):
    """What git keeps under a name, or nothing."""
    out = git.run("cat-file", "blob", spec)
    return out.stdout if out.returncode == 0 else None


def numbered(parts):
    """Removed lines by their number before, and added lines by the number of the line before them, of all parts."""
    removed, added = {}, collections.defaultdict(dict)
    for part in parts:
        old = new = 0
        for line in part.get("diff", "").split("\n"):
            head = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            if head:
                old = int(head[1]) + (head[2] == "0")
                new = int(head[3]) + (head[4] == "0")
            elif line[:1] == " ":
                old, new = old + 1, new + 1
            elif line[:1] == "-":
                removed[old] = line[1:]
                old += 1
            elif line[:1] == "+":
                added[old - 1][new] = line[1:]
                new += 1
    return removed, added


def patched(before, parts):
    """The lines after a change; `None` and why when its hunks do not fit. Blank lines between definitions are not
    shown as changes, and do not count."""
    removed, added = numbered(parts)
    for at, line in removed.items():
        if at > len(before) or before[at - 1].rstrip("\r") != line.rstrip("\r"):
            return None, f"line {at} is not {line!r}"
    out = []
    for at in range(len(before) + 1):
        if at and at not in removed:
            out.append(before[at - 1])
        out += [line for _, line in sorted(added.get(at, {}).items())]
    return out, ""


def plain(lines):
    """Lines without their ends, blank ones left out."""
    return [line.rstrip("\r").lstrip("\ufeff") for line in lines if line.strip()]


class Changes:
    def __init__(self, top, args):
        self.home = Home(top / "user", args.bin)
        self.home.env |= {k: v for k, v in GIT.items() if k.startswith("GIT_CONFIG")}
        self.top = top
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.notes = 0

    def note(self, what, state, why):
        self.counts[what] += 1
        self.notes += 1
        print(f"attack_git: {what}: {why}; {' '.join(state.did)} in {state.root}", flush=True)

    def ours(self, state, asked):
        args = ["pack", "--json", "--budget", "60000", "--param", 'budgets.stop="budget"', *asked]
        code, out, err = self.home.ctl(args, state.asked_from)
        if code:
            return None, f"{code} {err.strip()}"
        pack = json.loads(out)
        return pack.get("change", {}), " ".join(str(w) for w in pack.get("warnings", []))

    def theirs(self, state, args, renames):
        """Status and path of each file, and whether the mode, kind or content changed."""
        flags = ["--raw", "-z", "--abbrev=64", "-M50%" if renames else "--no-renames", "--ignore-submodules=none"]
        parts = state.git.out("-c", "diff.renames=true", "diff", *flags, *args).decode(errors="surrogateescape").split("\0")
        found, i = {}, 0
        while i + 1 < len(parts):
            modes = parts[i].lstrip(":").split(" ")
            status = modes[4][0]
            i += 3 if status in "RC" else 2
            found[parts[i - 1]] = (status, modes[0], modes[1], modes[2], modes[3], parts[i - 2] if status in "RC" else None)
        return found

    def untracked(self, state):
        out = state.git.out("ls-files", "-o", "--exclude-standard", "-z").decode(errors="surrogateescape")
        return {path for path in out.split("\0") if path and not path.endswith("/") and not (state.root / path).is_symlink()}

    def compare(self, state, asked, args):
        said, why = self.ours(state, asked)
        what = " ".join(asked)
        if said is None:
            if not re.match(r"(64|65|66|69|2) ", why) and "not fetched" not in why:
                self.note("faults", state, f"{what}: {why[:200]}")
            found = re.search(r'"message":"((?:[^"\\]|\\.)*)"', why)
            why = found[1] if found else why
            first = re.sub(r"/\S+|[0-9a-f]{40}|\"[^\"]*\"", "X", why.split("\n")[0])[:110]
            self.reasons["refused: " + first] += 1
            self.counts["refused"] += 1
            return
        self.counts["changes compared"] += 1
        theirs = self.theirs(state, args, False)
        if "--staged" not in asked and ".." not in what:
            for path in self.untracked(state):
                theirs[path] = ("A" if path not in theirs else "M?", "0", "100644", None, None, None)
        ours = {}
        reasons = {}
        for file in said.get("files", []):
            if file.get("unreadable"):
                reasons[file["fileRelPath"]] = file["unreadable"]
                self.reasons[file["unreadable"]] += 1
            elif file.get("previousPath"):
                ours[file["previousPath"]] = ("D", file)
                ours[file["fileRelPath"]] = ("A", file)
            else:
                ours[file["fileRelPath"]] = ({"added": "A", "removed": "D"}.get(file["status"], "M"), file)
        for path in sorted(set(ours) | set(theirs)):
            mine, git = ours.get(path), theirs.get(path)
            if path in reasons or (git and git[0] == "U"):
                continue
            if git and git[0] == "M?":
                continue
            if git and "160000" in git[1:3] and path in why:
                continue
            if (mine and mine[0]) != (git and git[0]):
                self.note("differences", state, f"{what}: {path}: ours {mine and mine[0]}, git's {git and git[:3]}; {why[:200]}")
            elif mine:
                self.counts["files that agree"] += 1
                self.hunks(state, what, path, mine[1], git)
        for path, why in reasons.items():
            # Where git cannot convert a file either, it says so and compares the bytes.
            if path not in theirs and "encoding" not in why:
                self.note("reasons for what does not differ", state, f"{what}: {path}: {why}")

    def hunks(self, state, what, path, file, git):
        if file.get("previousPath") or git[0] == "D" or any(not p.get("diff") or "\\ more lines" in p["diff"] for p in file["parts"]):
            return
        if git[0] == "M" and set(git[3]) != {"0"}:
            before = literal(state.git, git[3])
        else:
            before = b""
        if git[4] and set(git[4]) != {"0"}:
            after = literal(state.git, git[4])
        else:
            after = state.read(path)
            if after is not None:
                kept = state.git.run("hash-object", "-w", "--path", path, "--stdin", input=after)
                after = literal(state.git, kept.stdout.decode().strip()) if kept.returncode == 0 else None
        try:
            is_text = before is not None and after is not None and "\0" not in (before + after).decode()
        except UnicodeDecodeError:
            is_text = False
        if not is_text:
            return
        lines, why = patched(before.decode().lstrip("\ufeff").split("\n"), file["parts"])
        self.counts["files whose hunks were applied"] += 1
        if lines is None or plain(lines) != plain(after.decode().split("\n")):
            self.note("hunks that differ", state, f"{what}: {path}: {why}")

    def one(self, seed, kind=None):
        top = self.top / f"s{seed}"
        state = State(top, seed, kind)
        state.make()
        for _ in range(state.random.randrange(4, 16)):
            state.step()
        # Git's own view is brought up to date, as `git status` does.
        if state.random.random() < 0.5:
            state.git.run("status")
        # Git looks at seconds: what it wrote in the second of its index it compares by content, and later not.
        time.sleep(1 - time.time() % 1 + 0.02)
        state.git.run("update-index", "-q", "--refresh")
        listed = state.git.run("ls-tree", "-r", "--name-only", "-z", "HEAD").stdout.split(b"\0")
        if len(set(listed)) != len(listed):
            self.counts["states in which git wrote a broken commit"] += 1
            return state
        has_head = state.git.ok("rev-parse", "-q", "--verify", "HEAD")
        self.compare(state, ["--staged"], ["--cached"])
        self.compare(state, ["--param", "change.worktree=true"], [])
        if has_head:
            self.compare(state, ["--diff", "HEAD"], ["HEAD"])
            if state.git.ok("rev-parse", "-q", "--verify", "HEAD~1^{tree}"):
                self.compare(state, ["--diff", "HEAD~1..HEAD"], ["HEAD~1", "HEAD"])
        self.counts["states"] += 1
        return state


# Ignore rules.


def unquoted(text):
    """A path as a dump writes it."""
    named = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0"}

    def code(m):
        if m[1] or m[2]:
            return chr(int(m[1], 16)).encode() if m[1] else bytes([int(m[2], 16)])
        return named.get(m[3], m[3].encode()) if m[3] else m[4].encode()

    parts = re.finditer(r"\\u\{([0-9a-f]+)\}|\\x([0-9a-f]{2})|\\(.)|([^\\])", text[1:-1])
    return b"".join(code(m) for m in parts).decode()


PIECES = ["*", "**", "**/", "/", "?", "!", "#", "\\", " ", "[", "]", "[ab]", "[!a]", "[^.]", "[a-", "[[:alpha:]]", "[]]", "{",
          "}", ",", "$", "a", "b", "ab", "build", "f.go", "g.py", ".go", ".py", ".", "..", "x.d", "é", "\t", "\r", "A", "[A-Z]",
          "\\*", "\\ ", "\\!", "[!\\]]", "[\\]]", "[a\\-c]", "-", "[!-~]", "***", "/**/", "(", ")", "|", "+", "^"]  # fmt: skip
PLAIN = ["*.py", "a/", "/b", "!a", "build/", "**/build", "a/**", "!*/", "*", "!f.*", "/*", "!/a/", "a/*", "!a/b/", "?.go", "[fg].*",
         "b/**/f.go", "# x", "", "   ", "x.d/", "!x.d/g.py", "*.go ", "*.go\\ ", "/**/b", "a**b", "**.py", "A", "*.PY"]  # fmt: skip
FOLDERS = ["", "a", "b", "a/b", "build", "x.d", "a/build", "b/a/b", ".h", "é", "a b", "A"]
NAMES = ["f.go", "g.py", "a", "b", "ab", "f.go ", "[", "]", "{", "a{b", "x,y", "#a", "!a", "\\a", "*", "$x", "é", ".py", "G.PY", "-", "a-c", "a.b"]


class Ignores(Changes):
    def rules(self, rng):
        pattern = lambda: rng.choice(PLAIN) if rng.random() < 0.5 else "".join(rng.choices(PIECES, k=rng.randrange(1, 6)))
        end = rng.choice(["\n", "\n", "\n", "\r\n", ""])
        text = "".join(pattern() + (end or "\n") for _ in range(rng.randrange(1, 6)))
        return (text.rstrip("\n") if not end else text).encode()

    def one(self, seed, kind=None):
        rng = random.Random(seed)
        root = self.top / f"i{seed}"
        root.mkdir()
        git = Git(root)
        git.out("init", "-q", "-b", "main")
        for _ in range(rng.randrange(6, 30)):
            folder = root / rng.choice(FOLDERS)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                at = folder / rng.choice(NAMES)
                if not at.exists():
                    at.write_text("x = 1\n")
            except OSError:
                pass
        if rng.random() < 0.3:
            git.run("add", "-A")
        if rng.random() < 0.2:
            git.run("config", "core.ignoreCase", "true")
        wheres = [root / f / ".gitignore" for f in FOLDERS if (root / f).is_dir()]
        for where in rng.sample(wheres, min(len(wheres), rng.randrange(1, 4))):
            where.write_bytes((b"\xef\xbb\xbf" if rng.random() < 0.1 else b"") + self.rules(rng))
        if rng.random() < 0.3:
            (root / ".git/info").mkdir(exist_ok=True)
            (root / ".git/info/exclude").write_bytes(self.rules(rng))
        if rng.random() < 0.3:
            (self.top / f"i{seed}.rules").write_bytes(self.rules(rng))
            git.run("config", "core.excludesFile", str(self.top / f"i{seed}.rules"))
        self.did, self.root = [f"seed {seed}"], root
        self.counts["sets of rules"] += 1
        listed = lambda *which: {p for p in git.out("ls-files", "-z", *which).decode().split("\0") if p and (root / p).is_file()}
        theirs = listed("-co", "--exclude-standard") - listed("-ci", "--exclude-standard")
        code, out, err = self.home.ctl(["export", "dump"], root)
        if code:
            self.note("faults", self, f"{code} {err.strip()[:200]}")
            return
        ours = set()
        for line in out.decode().split("\n"):
            if line.startswith("paths\t"):
                ours.add(unquoted(line.split("\t")[1]))
        self.counts["files of the index"] += len(ours)
        if ours != theirs:
            self.note("differences", self, f"ours {sorted(ours - theirs)}, git's {sorted(theirs - ours)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda p: pathlib.Path(p).resolve(), required=True)
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--ignores", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", help="states of this kind alone")
    parser.add_argument("--keep", action="store_true", help="leave the repositories")
    args = parser.parse_args()
    top = pathlib.Path(tempfile.mkdtemp(prefix="attack-git-"))
    failed = 0
    for name, kind, n in [("states", Changes, args.states), ("ignores", Ignores, args.ignores)]:
        (top / name).mkdir()
        attack = kind(top / name, args)
        try:
            for seed in range(args.seed, args.seed + n):
                attack.one(seed, args.kind)
        finally:
            attack.home.ctl(["daemon", "stop"])
        for what, count in sorted(attack.counts.items()):
            print(f"{count:6} {what}")
        for reason, count in attack.reasons.most_common():
            print(f"{count:6}   {reason}")
        failed += attack.notes
    if not args.keep:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
