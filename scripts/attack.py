#!/usr/bin/env python3
"""Damages every file that a daemon keeps, asks it things it must not choke on, and floods it.

    scripts/attack.py --bin DIR [--damages 300] [--clients 300] [--seed 1]

Works in a temporary folder with private homes. Each damage is one of: a file cut, flipped, removed,
replaced by another one, by garbage or by a folder, two pages swapped or one copied over another; of the
data file, the mark, a parked index, a base, the list of workspaces, the cache of contents, and the small
files beside an index; while the daemon is stopped, while it runs, and while it runs with a file saved
afterwards. An answer is compared with that of a daemon with a home of its own over the same files. A
request may fail; it must be answered rightly within ten seconds. Exit status 1 when an answer was wrong, a
workspace stayed shut, a daemon died, a client was refused for good, or a sound index was called damaged.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PAGE = 4096
WORDS = ["alpha", "beta", "gamma", "delta", "omega"]


class Home:
    """Private folders and the programs in them."""

    def __init__(self, top, programs):
        self.top, self.programs = top, programs
        for name in ["home", "run", "cache", "state", "config"]:
            (top / name).mkdir(parents=True, mode=0o700)
        self.env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(top / "home"),
            "XDG_RUNTIME_DIR": str(top / "run"),
            "XDG_CACHE_HOME": str(top / "cache"),
            "XDG_STATE_HOME": str(top / "state"),
            "XDG_CONFIG_HOME": str(top / "config"),
        }

    def start(self, args, cwd):
        command = [str(self.programs / "ctl"), *args]
        return subprocess.Popen(
            command, cwd=cwd, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def ctl(self, args, cwd="/"):
        child = self.start(args, cwd)
        out, err = child.communicate()
        return child.returncode, out, err.decode(errors="replace")

    def status(self):
        code, out, _ = self.ctl(["status", "--json"])
        status = json.loads(out) if code == 0 else {}
        # Without a daemon it is a message.
        return status if "daemon" in status else None

    def pid(self):
        status = self.status()
        return status["daemon"]["pid"] if status else None

    def private_mb(self):
        status = self.status()
        return status["daemon"]["privateBytes"] >> 20 if status else 0


def write_tree(root, state):
    """Two states of a tree that differ in every eighth file."""
    for i in range(96):
        n = state if i % 8 == 0 else 0
        word, other = WORDS[i % 5], WORDS[(i + 1 + n) % 5]
        folder = root / f"pkg{i % 6}"
        folder.mkdir(parents=True, exist_ok=True)
        filler = "".join(f"    x{k} = {other}_{k} + {i}  # words of {word} {k}\n" for k in range(20 + i % 30))
        text = f'"""Module {i} about {word}."""\n\n\ndef {word}_{i}(a):\n{filler}    return {other}_{(i + n) % 96}(a)\n'
        text += f"\n\nclass C{i}{'x' * n}:\n    def run(self):\n        return {word}_{i}(self)\n"
        (folder / f"m{i}.py").write_text(text)
    (root / "pyproject.toml").write_text('[project]\nname = "demo"\n')


QUESTIONS = [
    ["symbol", "alpha_0", "--json"],
    ["symbol", "C8", "--json"],
    ["symbol", "C8x", "--json"],
    ["callers", "beta_1", "--json"],
    ["callers", "alpha_40", "--json"],
    ["search", "words of gamma", "--limit", "20", "--json"],
    ["search", "module about omega", "--limit", "20", "--json"],
    ["pack", "where does delta return", "--json"],
    ["export", "edges"],
]
VOLATILE = {"envelope", "createdAt", "stats", "envelopes", "generation"}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in VOLATILE}
    return [plain(v) for v in value] if isinstance(value, list) else value


def answer(home, question, cwd):
    """What a question gives: a text to compare, or `None` and why it failed."""
    code, out, err = home.ctl(question, cwd)
    if code not in (0, 66):
        return None, f"{code} {err.strip()[:200]}"
    if "--json" not in question:
        return out.decode(errors="replace"), err
    return json.dumps(plain(json.loads(out)) if out else code, sort_keys=True), err


class Attack:
    def __init__(self, args, top):
        self.args, self.top = args, top
        self.random = random.Random(args.seed)
        self.home = Home(top / "user", args.bin)
        self.roots = [top / "repos" / name / "demo" for name in ["a", "b", "c"]]
        self.counts = collections.Counter()
        self.notes = []
        self.state = 0
        self.peak_mb = 0
        self.truth = {}
        for root in self.roots:
            write_tree(root, 0)

    def note(self, what, why):
        self.counts[what] += 1
        self.notes.append(f"{what}: {why}")
        print(f"attack: {what}: {why}", flush=True)

    def set_state(self, state):
        self.state = state
        for root in self.roots:
            write_tree(root, state)

    def learn(self):
        for state in [0, 1]:
            self.set_state(state)
            fresh = Home(self.top / f"fresh{state}", self.args.bin)
            fresh.ctl(["index", "--wait"], self.roots[0])
            self.truth[state] = [answer(fresh, q, self.roots[0])[0] for q in QUESTIONS]
            assert None not in self.truth[state], self.truth[state]
            fresh.ctl(["daemon", "stop"])
        assert self.truth[0] != self.truth[1]

    def check(self, root, what):
        """Asks some questions until all are answered, and compares."""
        numbers = self.random.sample(range(len(QUESTIONS)), 4)
        until = time.monotonic() + 10
        why = ""
        while numbers:
            number = numbers[0]
            got, why = answer(self.home, QUESTIONS[number], root)
            if got is not None:
                if got != self.truth[self.state][number]:
                    self.note("wrong answers", f"{QUESTIONS[number]} after {what}")
                numbers.pop(0)
                continue
            self.counts["requests that failed at first"] += 1
            if time.monotonic() > until:
                self.note("dead ends", f"{why} after {what}")
                return
            time.sleep(0.3)

    # Files of the daemon.

    def files(self, kind):
        cache, state = self.top / "user/cache/indexd", self.top / "user/state/indexd"
        homes = [p for p in (cache / "v1").glob("*") if p.is_dir()]
        envs = [p for home in homes for p in home.glob("i[0-9]*")]
        found = {
            "data": [p / "data.mdb" for p in envs],
            "mark": [p / "state" for p in envs],
            "parked": [p / "parked" for p in homes],
            "base": [p for base in (cache / "bases").glob("*") for p in base.glob("*") if p.name != "lock.mdb"],
            "registry": [state / "workspaces"],
            "cache": [p for p in (cache / "contents").rglob("*") if p.is_file()],
            "small": [p / name for p in homes for name in ["current", "sketch", "openings", "asked", "boundary"]],
            "folder": homes + envs + [cache / "bases", cache / "contents"],
        }[kind]
        return [p for p in found if p.exists()]

    def damage(self, kind):
        """Does something to a file; gives a sentence, or `None` when there was nothing to damage."""
        files = self.files(kind)
        if not files:
            return None
        path = self.random.choice(files)
        if kind == "folder":
            manner = self.random.choice(["removed", "file"])
        else:
            manners = ["cut", "flipped", "removed", "garbage", "folder", "replaced", "empty"]
            manner = self.random.choice(manners + (["swapped", "copied"] if kind in ("data", "base") else []))
        what = f"{kind} {path.relative_to(self.top)} {manner}"
        if path.is_dir() or manner in ("removed", "folder", "file"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            if manner == "folder":
                path.mkdir()
            elif manner == "file":
                path.write_bytes(b"x")
            return what
        self.change(path, manner, files)
        return what

    def change(self, path, manner, files):
        size = path.stat().st_size
        if manner == "cut":
            os.truncate(path, self.random.randrange(size) if size else 0)
        elif manner == "empty":
            os.truncate(path, 0)
        elif manner == "garbage":
            path.write_bytes(self.random.randbytes(max(size, 10)))
        elif manner == "replaced":
            other = self.random.choice(files)
            path.write_bytes(other.read_bytes() if other.is_file() else b"")
        else:
            with open(path, "r+b") as file:
                if manner == "flipped" or size < 4 * PAGE:
                    for _ in range(self.random.choice([1, 8, 64])):
                        at = self.random.randrange(max(size, 1))
                        file.seek(at)
                        byte = file.read(1) or b"\0"
                        file.seek(at)
                        file.write(bytes([byte[0] ^ (1 << self.random.randrange(8))]))
                    return
                a, b = (self.random.randrange(2, size // PAGE) * PAGE for _ in range(2))
                file.seek(a)
                page_a = file.read(PAGE)
                file.seek(b)
                page_b = file.read(PAGE)
                file.seek(b)
                file.write(page_a)
                if manner == "swapped":
                    file.seek(a)
                    file.write(page_b)

    def begin_anew(self):
        """Makes indexes that are sound, parked and followed a change."""
        self.home.ctl(["daemon", "stop"])
        for name in ["v1", "bases"]:
            shutil.rmtree(self.top / "user/cache/indexd" / name, ignore_errors=True)
        for state in [self.state, 1 - self.state]:
            self.set_state(state)
            for root in self.roots:
                self.home.ctl(["index", "--wait"], root)
        self.home.ctl(["daemon", "stop"])

    def damage_all(self):
        for root in self.roots:
            self.home.ctl(["index", "--wait"], root)
        kinds = ["data", "mark", "parked", "base", "registry", "cache", "small", "folder"]
        n = n_tries = 0
        while n < self.args.damages:
            kind = kinds[n_tries % len(kinds)]
            n_tries += 1
            when = self.random.choice(["closed", "open", "saved"])
            if kind in ("parked", "base"):
                when = "closed"
            pid = self.home.pid()
            if when == "closed":
                self.home.ctl(["daemon", "stop"])
                pid = None
            if not self.files(kind) and when == "closed":
                self.begin_anew()
            what = self.damage(kind)
            if what is None:
                # Indexes that are closed with like ones beside them are parked, and have no data file.
                continue
            n += 1
            what += f", {when}"
            self.counts[f"damaged: {kind}, {when}"] += 1
            if when == "saved":
                self.set_state(1 - self.state)
            for root in self.random.sample(self.roots, 3):
                self.check(root, what)
            after = self.home.pid()
            if after is None or (pid is not None and after != pid):
                self.note("dead daemons", what)
            self.peak_mb = max(self.peak_mb, self.home.private_mb())
            if when == "saved" and n % 2:
                # What is damaged must not be signed when it is closed.
                self.home.ctl(["daemon", "stop"])
                for root in self.roots:
                    self.check(root, what + ", then stopped and started")

    # Requests.

    def rebuilt(self):
        status = self.home.status()
        found = [w["root"] for w in status["workspaces"] if any("anew" in p for p in w.get("problems", []))]
        return found, [w["generation"] for w in status["workspaces"]]

    def odd_requests(self):
        """What names nothing is refused, and no index is blamed for it."""
        root = self.roots[0]
        self.home.ctl(["daemon", "stop"])
        for each in self.roots:
            self.home.ctl(["index", "--wait"], each)
        before = self.rebuilt()
        patch = root / "odd.patch"
        patch.write_text("--- a/\n+++ b/\n@@ -1 +1 @@\n-x\n+y\n")
        names = [".", "", "./", ":", "/", "..", "\n", " ", ":0", ".:1", str(root), str(root) + ":1", "x" * 3000]
        for name in names:
            for command in [["symbol"], ["callers"], ["refs"], ["impact"], ["card"], ["graph"], ["search"], ["pack"]]:
                self.asked([*command, name], root)
            self.asked(["pack", "alpha", "--focus-file", name], root)
            self.asked(["pack", "--diff", name], root)
        self.asked(["pack", "--patch", "odd.patch"], root)
        patch.unlink()
        if self.rebuilt()[0] != before[0]:
            self.note("sound indexes called damaged", f"by an odd request: {self.rebuilt()[0]}")
        for each in self.roots:
            self.check(each, "odd requests")

    def asked(self, args, root):
        code, _, err = self.home.ctl(args, root)
        self.counts["odd requests"] += 1
        if code in (69, 70, 74, 75, 130) or "panic" in err:
            self.note("odd requests that failed as faults", f"{args[:2]} {args[-1][:40]!r}: {code} {err[:120]}")

    def flood(self):
        root = self.roots[0]
        self.home.ctl(["index", "--wait"], root)
        for args in [["search", "words of gamma"], ["pack", "where does delta return"], ["export", "dump"]]:
            n = self.args.clients if args[0] != "export" else self.args.clients // 8
            began = time.monotonic()
            children = [self.home.start(args, root) for _ in range(n)]
            codes = collections.Counter()
            for child in children:
                child.communicate()
                codes[child.returncode] += 1
            self.peak_mb = max(self.peak_mb, self.home.private_mb())
            took = time.monotonic() - began
            print(f"attack: {n} times {' '.join(args)} at once: exit {dict(codes)} in {took:.1f} s", flush=True)
            for code, count in codes.items():
                if code:
                    self.note("clients that got no answer", f"{count} of {n} {args[0]}: exit {code}")

    def agent(self):
        """One client of MCP with as many calls in flight as there are clients in a crowd."""
        n, pipe = self.args.clients, subprocess.PIPE
        command = [str(self.home.programs / "ctl"), "mcp"]
        child = subprocess.Popen(command, cwd=self.roots[0], env=self.home.env, stdin=pipe, stdout=pipe)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        lines = [{"id": 0, "method": "initialize", "params": client}, {"method": "notifications/initialized"}]
        for i in range(1, n + 1):
            call = {"name": ["search_code", "build_context_pack"][i % 2], "arguments": {"query": f"alpha {i}"}}
            lines.append({"id": i, "method": "tools/call", "params": call})
        asked = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines).encode()
        threading.Thread(target=lambda: (child.stdin.write(asked), child.stdin.flush())).start()
        answers = [json.loads(child.stdout.readline()) for _ in range(n + 1)]
        child.stdin.close()
        child.wait()
        wrong = [a for a in answers if "error" in a or a["result"].get("isError")]
        print(f"attack: {n} calls of MCP in flight: {len(wrong)} without an answer", flush=True)
        for each in wrong[:3]:
            self.note("clients that got no answer", f"MCP: {str(each)[:200]}")

    def run(self):
        self.learn()
        self.odd_requests()
        self.flood()
        self.agent()
        self.damage_all()
        self.home.ctl(["daemon", "stop"])
        for name, count in sorted(self.counts.items()):
            print(f"{count:6} {name}")
        print(f"peak of private memory seen: {self.peak_mb} MiB")
        return 1 if self.notes else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda p: pathlib.Path(p).resolve(), required=True)
    parser.add_argument("--damages", type=int, default=300)
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    top = pathlib.Path(tempfile.mkdtemp(prefix="attack-"))
    attack = Attack(args, top)
    try:
        return attack.run()
    finally:
        attack.home.ctl(["daemon", "stop"])
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
