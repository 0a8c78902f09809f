#!/usr/bin/env bash
# Runs the extension of editors/vscode in a real VS Code (code-server of npm) with headless Chromium.
#
#   scripts/vscode_host.sh REPOSITORY [FOLDER FOR SCREENSHOTS]
#
# The first run installs code-server, the Node that it needs and puppeteer-core from npm into
# target/editors/vscode (330 MB); nothing is compiled. `cargo xtask editors` runs this when they are there, with its own
# repository, whose names the walk expects. `ctl` is taken from PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
repository=$(cd "${1:?a repository}" && pwd) shots=${2:-}
kept=${CARGO_TARGET_DIR:-$root/target}/editors/vscode
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
    || { echo 'vscode_host: there is no Chromium' >&2; exit 1; }
export CHROMIUM
modules=$kept/node_modules
if [ ! -e "$kept/installed" ]; then
    mkdir -p "$kept"
    # Scripts of packages would build native modules for terminals and passwords, which the walk does not use.
    add() { npm install --silent --no-audit --no-fund --ignore-scripts "$@"; }
    (cd "$kept" && add --prefix . code-server@4.139.1 "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@24" puppeteer-core@24)
    (cd "$modules/code-server/lib/vscode" && add --omit=dev)
    (cd "$modules/code-server/lib/vscode/extensions" && add --omit=dev)
    touch "$kept/installed"
fi
"$modules"/node-linux-*/bin/node "$root/scripts/vscode_host.js" "$modules" "$root/editors/vscode" "$repository" "$shots"
