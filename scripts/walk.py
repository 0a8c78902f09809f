"""Walks each specification as its users do: walk.py HOME, called by walk.sh. HOME/repo is the repository."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

HOME = Path(sys.argv[1])
REPO = HOME / "repo"
QUERY = "how long is the delay of a retry"
SIX = ["definitions", "key_usages", "dependencies", "tests", "config", "docs"]
failed = []


def saw(what, holds, detail=""):
    """Prints one observation; one that does not hold is remembered."""
    if not holds:
        failed.append(what)
    print(f"  {'ok  ' if holds else 'FAIL'} {what}{f': {detail}' if detail else ''}")


def ctl(*args, cwd=REPO, text=None):
    return subprocess.run(["ctl", *args], cwd=cwd, input=text, capture_output=True, text=True)


def git(*args, cwd=REPO):
    subprocess.run(["git", "-c", "user.name=w", "-c", "user.email=w@w", *args], cwd=cwd, check=True, capture_output=True)


class Socket:
    """The daemon's socket: one JSON object a line."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(HOME / "run/indexd/s"))
        self.file = self.socket.makefile("rw")

    def send(self, method, params, **more):
        self.file.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}) + "\n")
        self.file.flush()

    def answer(self):
        while "id" not in (message := json.loads(self.file.readline())):
            pass
        return message

    def ask(self, method, **params):
        self.send(method, {"cwd": str(REPO), **params}, id=1)
        return self.answer()


def items(pack):
    return [item for section in pack["sections"] for item in section["items"]]


async def bundle():
    print("S0, S3: a bundle of six sections, over MCP")
    server = StdioServerParameters(command="ctl", args=["mcp"], cwd=str(REPO), env=dict(os.environ))
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        described = tools["build_context_pack"].description
        saw("the tool names its sections", all(name in described for name in SIX))
        asked = {"query": QUERY, "expect": ["Delay"], "max_tokens": 1500, "structured": True}
        first = await client.call_tool("build_context_pack", asked)
        pack = first.structured_content
        names = [section["name"] for section in pack["sections"]]
        saw("six sections in their order", names == SIX, {s["name"]: len(s["items"]) for s in pack["sections"]})
        stats = pack["stats"]
        saw("the budget is kept", stats["tokenCount"] <= 1500, f"{stats['tokenCount']} of 1500 tokens")
        saw("what is left out is counted", "candidates left out" in first.content[0].text or stats["dropped"] == 0, stats["dropped"])
        fields = ["snippet_id", "ref", "path", "line_start", "line_end", "content_hash", "selection_reason"]
        saw("every item has its provenance", items(pack) and all(i.get(f) for i in items(pack) for f in fields))
        tight = await client.call_tool("build_context_pack", {**asked, "max_tokens": 300, "fill": True})
        short = tight.structured_content
        guided = short.get("suggested_next_queries", []) + short.get("missing_context_hints", [])
        saw("hints and suggestions, when room is short", bool(guided), guided[:2])
        await client.call_tool("build_context_pack", {**asked, "query": "another question"})
        again = await client.call_tool("build_context_pack", asked)
        saw("the same arguments, the same answer", again.content[0].text == first.content[0].text)
        print("S1: packs with records, over MCP")
        made = await client.call_tool("context_pack_create", {"query": QUERY, "expect": [], "structured": True})
        id = made.structured_content["packId"]
        read = await client.call_tool("context_pack_get", {"packId": id, "structured": True})
        kept = {k: v for k, v in made.structured_content.items() if k != "fresh"}
        saw("create and get give one ContextPack", read.structured_content == kept and kept["schema"] == "ContextPack", id)
        for request, code in [
            ({"indexSignature": "b3:0"}, "POC_E_INDEX_MISSING"),
            ({"schemaVersion": "9.0.0"}, "POC_E_CONTRACT_VERSION"),
            ({"strictness": "strict", "budgets": {"maxItems": 251}}, "POC_E_BUDGET_EXCEEDED"),
            ({"layout": "round"}, "POC_E_NOT_SUPPORTED"),
        ]:
            result = await client.call_tool("context_pack_create", {"query": "x", "expect": [], "request": request})
            saw(f"the code {code}", result.is_error and result.structured_content["error"]["code"] == code)
        print("S4: offered sources, over MCP")
        sources = [{"sourceType": "toolResult", "content": "FAIL TestDelay"}]
        packed = await client.call_tool("pack_sources", {"query": "the delay fails", "sources": sources})
        saw("pack_sources", "FAIL TestDelay" in packed.content[0].text, packed.content[0].text.splitlines()[0])
    shaped = StdioServerParameters(command="ctl", args=["mcp", "--structured"], cwd=str(REPO), env=dict(os.environ))
    async with Client(shaped) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        # The SDK checks the answer against the schema that is listed.
        result = await client.call_tool("build_context_pack", {"query": QUERY, "expect": []})
        saw("the schema of the answer is listed and kept", bool(tools["build_context_pack"].output_schema) and not result.is_error)


def command_line():
    print("S1: the command line, records and artifacts")
    pack = json.loads(ctl("pack", QUERY, "--json").stdout)
    keys = ["formatVersion", "schema", "schemaVersion", "indexSignature", "packId", "createdAt", "request", "budgets", "seeds", "sections", "stats"]
    saw("--json prints one ContextPack", all(k in pack for k in keys), f"{len(items(pack))} items")
    written = ctl("pack", QUERY, "--write").stdout.strip()
    saw("--write prints the id, --read reads the record", json.loads(ctl("pack", "--read", written, "--json").stdout)["packId"] == written, written)
    artifacts = HOME / "artifacts"
    ctl("export", "artifacts", str(artifacts))
    found = sorted(p.name for p in artifacts.rglob("*") if p.is_file())
    saw("artifacts with a manifest and packs", "manifest.json" in found and "context_packs.jsonl" in found, found[:6])
    for layout in ["graph", "agent", "flat"]:
        capped = json.loads(ctl("pack", QUERY, "--json", "--layout", layout, "--fill", "--param", "budgets.maxItems=5", "--param", "budgets.maxBytesPerItem=300").stdout)
        sizes = [len(i["excerpt"]["text"].encode()) for i in items(capped)]
        saw(f"caps hold in layout {layout}", len(sizes) <= 5 and max(sizes, default=0) <= 300, f"{len(sizes)} items of at most {max(sizes, default=0)} bytes")


def clones():
    print("S1, S2: clones of a commit")
    if not (REPO / ".git").exists():
        git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "walked", "--allow-empty")
    said = {}
    for name, args in [("one", []), ("other", []), ("shallow", ["--depth", "1"])]:
        try:
            git("clone", "-q", *args, f"file://{REPO}", str(HOME / name))
        except subprocess.CalledProcessError as e:
            return saw("the repository can be cloned", False, e.stderr.decode().strip())
        at = HOME / name
        document = ctl("pack", "--as", "document", "-q", QUERY, cwd=at).stdout
        id = json.loads(ctl("pack", QUERY, "--json", cwd=at).stdout)["packId"]
        said[name] = (ctl("map", cwd=at).stdout, document, id)
    saw("two clones, equal packs, maps and documents", said["one"] == said["other"], said["one"][2])
    saw("a shallow clone, equal maps and documents", said["shallow"][:2] == said["one"][:2])


def documents():
    print("S2: repo_map.md and context_pack.md")
    page = ctl("map").stdout
    parts = ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"]
    saw("the map has five parts in 500 lines", all(p in page for p in parts) and page.count("\n") <= 500, f"{page.count(chr(10))} lines")
    lines = page.splitlines()
    empty = [a for a, b in zip(lines, lines[1:]) if a.startswith("### ") and not b.startswith("- ")]
    saw("no empty heading", not empty, empty)
    short = ctl("map", "--max-tokens", "1000").stdout
    saw("what matters comes first in 1,000 tokens", "## Modules" in short, next((l for l in short.splitlines() if l.startswith("- `")), ""))
    saw("the whole map on request", not any(line.endswith(" more") for line in ctl("map", "--all").stdout.splitlines()))
    document = ctl("pack", "--as", "document", "-q", QUERY).stdout
    saw("the document has its parts", all(p in document for p in ["## Summary", "## Rationale", "## Evidence"]))
    saw("its caps", document.count("### File:") <= 12 and len(document.encode()) <= 50_000, f"{document.count('### File:')} files, {len(document.encode())} bytes")
    nothing = ctl("pack", "--as", "document", "-q", "zyzzyva").stdout
    saw("zero hits are explained", "## No relevant code found" in nothing)
    lost = subprocess.run([str(Path(os.environ["PATH"].split(":")[0]) / "ctl"), "pack", "--as", "document=rg", "x"], cwd=REPO, env={**os.environ, "PATH": "/nonexistent"}, capture_output=True, text=True)
    saw("without a search it fails loudly", lost.returncode != 0 and not lost.stdout, lost.stderr.splitlines()[0] if lost.stderr else "")


def sources():
    print("S4: offered sources, on the socket and the command line")
    function = "func step{0}(n int) int {{\n\treturn n + {0}\n}}\n\n"
    text = "".join(function.format(i) for i in range(300)) + "func retryDelay(n int) int {\n\treturn n * backoff\n}\n"
    offered = [
        {"sourceType": "openFile", "filePath": "big.go", "content": text},
        {"sourceType": "toolResult", "content": "FAIL TestDelay\n"},
        {"sourceType": "openFile", "filePath": ".env", "content": "TOKEN=0123456789abcdef\n"},
    ]
    lines = "".join(json.dumps(source) + "\n" for source in offered)
    printed = ctl("pack", "how long is the delay of a retry", "--sources", "-", "--budget", "1000", text=lines)
    saw("ctl pack --sources -: the task finds the end of a large file", "func retryDelay(" in printed.stdout)
    saw("an offered .env is left out", "0123456789abcdef" not in printed.stdout and "source 3" in printed.stderr, printed.stderr.strip())
    c = Socket()
    budget = {"totalTokens": 1000, "responseReserve": 0, "systemReserve": 0}
    answer = c.ask("context.pack", query="the delay of a retry", sources=offered, budget=budget)["result"]["packed"]
    left = 1000 - answer["tokenCount"]
    reasons = [e for e in answer["excluded"] if e["reason"] in ("budget", "too-large")]
    fits = [e for e in reasons if e["chunk"]["tokenCount"] <= left]
    saw("the budget is filled", not fits and answer["tokenCount"] <= 1000, f"{answer['tokenCount']} of 1000, {len(reasons)} chunks left out")
    saw("excluded chunks have no texts", all("content" not in e["chunk"] for e in answer["excluded"]))
    used_up = c.ask("context.pack", sources=offered, budget={"totalTokens": 6000})["result"]["packed"]
    saw("reserves that leave nothing are named", "responseReserve" in " ".join(used_up["warnings"]), used_up["warnings"][:1])
    large = [{"sourceType": "openFile", "filePath": "large.py", "content": ("def step(n):\n    return n\n\n\n" * 180_000)[:4_800_000]}]
    for wait in [0.05, 0.3, 1.0]:
        times = []
        for _ in range(3):
            c.send("context.pack", {"cwd": str(REPO), "query": "the step", "sources": large}, id=7)
            time.sleep(wait)
            began = time.monotonic()
            c.send("$/cancelRequest", {"id": 7})
            ended = c.answer()
            times.append(time.monotonic() - began)
        saw(f"4.8 MB withdrawn after {wait} s", min(times) < 0.05, f"{min(times) * 1000:.0f} ms, {ended.get('error', {}).get('message', 'it was done')}")


ctl("index", "--wait")
asyncio.run(bundle())
command_line()
documents()
sources()
clones()
print(f"{len(failed)} observations do not hold" + "".join(f"\n  {what}" for what in failed))
sys.exit(bool(failed))
