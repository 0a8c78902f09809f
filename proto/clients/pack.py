#!/usr/bin/env python3
"""pack.py QUERY: the pack's id and its places. The standard library alone; `ctl` starts the daemon."""
import json, os, socket, subprocess, sys

subprocess.run(["ctl", "--quiet", "daemon", "start"], check=True, stdout=subprocess.DEVNULL)
status = json.loads(subprocess.check_output(["ctl", "status", "--json"]))
connection = socket.socket(socket.AF_UNIX)
connection.connect(status["daemon"]["socket"])
lines = connection.makefile("rw", encoding="utf-8", newline="\n")
params = {
    "cwd": os.getcwd(), "query": sys.argv[1], "includeExplain": False, "progress": True,
    "defaultBudgets": {"maxTotalTokens": 4000, "maxBytesPerItem": 16000, "maxItems": 250, "maxItemsPerSection": 80},
}
lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": params}) + "\n")
lines.flush()
answer = next(m for m in map(json.loads, lines) if m.get("id") == 1)  # others tell of progress
if "error" in answer:
    sys.exit(answer["error"]["message"] + ": " + answer["error"]["data"]["hint"])
print(answer["result"]["pack"]["packId"])
for section in answer["result"]["pack"]["sections"]:
    for item in section["items"]:
        print(f'{item["fileRelPath"]}:{item["lines"]["start"]}-{item["lines"]["end"]}')
