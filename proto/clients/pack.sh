#!/bin/sh
# sh pack.sh QUERY: the pack's id and the files in it. Needs socat; `ctl` starts the daemon.
set -eu
ctl --quiet daemon start > /dev/null
socket=$(ctl status --json | sed 's/.*"socket":"\([^"]*\)".*/\1/')
text() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g'; }
budgets='{"maxTotalTokens":4000,"maxBytesPerItem":16000,"maxItems":250,"maxItemsPerSection":80}'
answer=$(printf '{"id":1,"method":"pack","params":{"cwd":"%s","query":"%s","includeExplain":false,"defaultBudgets":%s}}\n' \
    "$(text "$PWD")" "$(text "$1")" "$budgets" | socat -t 600 - "UNIX-CONNECT:$socket")
case $answer in *'"error":'*'"code":"'*) printf '%s\n' "$answer" >&2; exit 1 ;; esac
printf '%s\n' "$answer" | sed 's/.*"packId":"\([^"]*\)".*/\1/'
printf '%s\n' "$answer" | grep -o '"fileRelPath":"[^"]*"' | cut -d'"' -f4 | sort -u
