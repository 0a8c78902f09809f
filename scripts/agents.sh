#!/usr/bin/env bash
# Counts what agents leave behind and what a hook costs them.
#
#   scripts/agents.sh [--clients 1000] [--hooks 300] [--bin DIR]
#
# Starts MCP clients that each have a call under way and kills every one with SIGKILL; no server may outlive
# them. Then asks the hook of an agent for the card of a name, alternating with `ctl --version`, which is what
# the start of a program costs on this machine, and prints both: percentiles of time, and processor time for
# each. The exit status is 1 when a server is left. Without --bin the release programs are built.
set -euo pipefail
clients=1000 hooks=300 bin=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --clients) clients=$2 ;;
        --hooks) hooks=$2 ;;
        --bin) bin=$(cd "$2" && pwd) ;;
        *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    esac
    shift 2
done
top=$(cd "$(dirname "$0")/.." && pwd)
if [[ -z $bin ]]; then
    (cd "$top" && cargo build --release -q -p indexd -p ctlclient)
    bin=${CARGO_TARGET_DIR:-$top/target}/release
fi
home=$(mktemp -d)
trap '"${ctl[@]}" daemon stop > /dev/null 2>&1 || true; rm -rf "$home"' EXIT
mkdir -p "$home/repo/.git" "$home/run"
chmod 700 "$home/run"
ctl=(env -i HOME="$home" XDG_RUNTIME_DIR="$home/run" PATH="$bin:/usr/bin:/bin" ctl -C "$home/repo")
echo 'ref: refs/heads/main' > "$home/repo/.git/HEAD"
for i in $(seq 200); do
    printf 'package retry\n\n// Delay%s waits.\nfunc Delay%s(n int) int { return Delay%s(n) }\n' "$i" "$i" $((i % 200 + 1)) > "$home/repo/f$i.go"
done
"${ctl[@]}" index --wait > /dev/null

python3 - "$clients" "$hooks" "$home" "${ctl[@]}" <<'PY'
import json, os, resource, signal, subprocess, sys, time

clients, hooks, home, *ctl = sys.argv[1:]
clients, hooks = int(clients), int(hooks)
meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "build_context_pack", "arguments": {"query": "how long is the delay"}, "_meta": meta}}
# A client starts its server, sends a call and waits to be killed.
client = ("import subprocess,sys,time\n"
          "s=subprocess.Popen(sys.argv[2:],stdin=subprocess.PIPE,stdout=subprocess.PIPE)\n"
          "s.stdin.write((sys.argv[1]+'\\n').encode());s.stdin.flush()\n"
          "print(s.pid,flush=True);time.sleep(600)\n")
servers = []
for start in range(0, clients, 20):
    batch = [subprocess.Popen([sys.executable, "-c", client, json.dumps(call), *ctl, "mcp"], stdout=subprocess.PIPE)
             for _ in range(min(20, clients - start))]
    servers += [int(c.stdout.readline()) for c in batch]
    for c in batch:
        c.send_signal(signal.SIGKILL)
        c.wait()


def ours(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"mcp" in file.read()
    except OSError:
        return False


end = time.time() + 30
while (left := sum(map(ours, servers))) and time.time() < end:
    time.sleep(0.1)
print(f"{len(servers)} clients killed, {left} servers left")

event = json.dumps({"hook_event_name": "PostToolUse", "cwd": f"{home}/repo", "tool_name": "Grep",
                    "tool_input": {"pattern": "Delay7"}}).encode()
times = {"hook": [], "start": []}
cpu = {"hook": 0.0, "start": 0.0}
answered = 0
for _ in range(hooks):
    for what, args, told in [("start", ["--version"], b""), ("hook", ["agent", "hook"], event)]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        got = subprocess.run([*ctl, *args], input=told, stdout=subprocess.PIPE).stdout
        times[what].append((time.perf_counter() - begun) * 1e3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu[what] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        answered += what == "hook" and bool(got)
for what, name in [("start", "ctl --version"), ("hook", "ctl agent hook")]:
    t = sorted(times[what])
    at = lambda p: t[min(len(t) - 1, int(len(t) * p))]
    print(f"{name}: p50 {at(.5):.1f} p99 {at(.99):.1f} ms, processor {cpu[what] / hooks * 1e3:.1f} ms each")
mid = {w: sorted(t)[len(t) // 2] for w, t in times.items()}
print(f"a hook takes {mid['hook'] / mid['start']:.2f} times the start of a program; {answered} of {hooks} had a card")
sys.exit(1 if left else 0)
PY
