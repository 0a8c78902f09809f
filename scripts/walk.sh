#!/usr/bin/env bash
# Walks each specification as its users do, and prints what it saw.
#
#   scripts/walk.sh [--bin DIR] [REPOSITORY]
#
# Takes a copy of the repository (without one, a small one of its own) and a home of its own. Asks over the Model
# Context Protocol with its official Python SDK, over the socket and on the command line, and checks each answer.
# The SDK comes from PyPI into a virtual environment in the cache folder. The exit status is 1 when something does
# not hold. Without --bin the release programs are built.
set -euo pipefail
bin=
if [[ ${1:-} == --bin ]]; then
    bin=$(cd "$2" && pwd)
    shift 2
fi
top=$(cd "$(dirname "$0")/.." && pwd)
if [[ -z $bin ]]; then
    (cd "$top" && cargo build --release -q -p indexd -p ctlclient)
    bin=${CARGO_TARGET_DIR:-$top/target}/release
fi
sdk=${XDG_CACHE_HOME:-$HOME/.cache}/indexd-walk-sdk
if [[ ! -x $sdk/bin/python ]]; then
    python3 -m venv "$sdk"
    "$sdk/bin/pip" install --quiet --disable-pip-version-check 'mcp>=2,<3'
fi
home=$(mktemp -d)
export HOME=$home XDG_RUNTIME_DIR=$home/run XDG_CACHE_HOME=$home/cache XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config
export PATH=$bin:$PATH
mkdir -p "$home/run"
chmod 700 "$home/run"
trap 'ctl daemon stop > /dev/null 2>&1 || true; rm -rf "$home"' EXIT
if [[ -n ${1:-} ]]; then
    cp -r "$1" "$home/repo"
else
    cp -r "$top/fixtures/packs/go" "$home/repo"
fi
"$sdk/bin/python" "$top/scripts/walk.py" "$home"
