#!/usr/bin/env python3
"""Prints the licences of every crate that the programs are made of, with their texts."""

import json
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
meta = json.loads(
    subprocess.check_output(["cargo", "metadata", "--format-version=1", "--locked"], cwd=root)
)
packages = {p["id"]: p for p in meta["packages"]}
nodes = {n["id"]: n for n in meta["resolve"]["nodes"]}
todo = [p["id"] for p in meta["packages"] if p["name"] in ("indexd", "indexd-share")]
seen = set()
while todo:
    at = todo.pop()
    if at in seen:
        continue
    seen.add(at)
    for dep in nodes[at]["deps"]:
        # What is needed to run: no tests and no build scripts.
        if any(kind["kind"] is None for kind in dep["dep_kinds"]):
            todo.append(dep["pkg"])

texts = {}
for package in sorted((packages[i] for i in seen), key=lambda p: (p["name"], p["version"])):
    if not package["source"]:
        continue
    name = f"{package['name']} {package['version']}"
    print(f"{name}: {package['license'] or 'see its file'}")
    folder = pathlib.Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")):
            text = file.read_text(errors="replace").strip()
            texts.setdefault(text, []).append(name)
if not seen:
    sys.exit("no packages")
for text, names in texts.items():
    print(f"\n{'=' * 78}\n{', '.join(names)}\n{'=' * 78}\n\n{text}")
