#!/usr/bin/env bash
# Looks at the pages of a pack and of a map, and at a picture of edges, in headless Chromium: axe-core, two
# widths, light and dark, print.
#
#   scripts/page_check.sh [FOLDER FOR SCREENSHOTS]
#
# Takes `ctl` and `indexd` from the debug build. Says so and ends well where Chromium or npm cannot be had;
# as root on Debian it installs Chromium.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
shots=${1:-}
skip() { echo "page_check: skipped: $*"; exit 0; }

command -v npm > /dev/null || skip 'there is no npm'
if ! command -v chromium > /dev/null && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium) > /dev/null 2>&1 || true
fi
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'there is no Chromium'
export CHROMIUM
modules=$target/page-check
if [ ! -d "$modules/node_modules/axe-core" ]; then
    mkdir -p "$modules"
    npm install --prefix "$modules" --silent --no-audit --no-fund puppeteer-core@24 axe-core@4 > /dev/null 2>&1 \
        || skip 'puppeteer-core and axe-core cannot be had from npm'
fi
cargo build --quiet --manifest-path "$root/Cargo.toml" -p indexd -p ctlclient

home=$(mktemp -d)
trap '"${ctl[@]}" daemon stop > /dev/null 2>&1 || true; rm -rf "$home"' EXIT
mkdir -p "$home/run" "$home/repo"
chmod 700 "$home/run"
ctl=(env -i HOME="$home" XDG_RUNTIME_DIR="$home/run" PATH="$PATH" "$target/debug/ctl" -C "$home/repo")
cd "$home/repo"
cat > retry.go <<'GO'
package retry

// Delay says how long to wait before the next attempt, in milliseconds.
func Delay(attempt int) int {
	return base(attempt) * 2
}

func base(attempt int) int { return 1 << attempt }
GO
cat > client.go <<'GO'
package retry

// Get fetches with retries; <script>alert("no")</script> is text.
func Get() int {
	return Delay(3) + len("a string that is long enough to run over the edge of a narrow screen, as many do")
}
GO
git -c init.defaultBranch=main init -q
git add -A
git -c user.name=A -c user.email=a@b -c commit.gpgsign=false commit -qm one
sed -i 's/Delay(attempt int)/Delay(attempt, most int)/' retry.go
"${ctl[@]}" pack --diff HEAD 'where is the delay of a retry decided' --as html --out "$home/page.html"
"${ctl[@]}" map --as html --out "$home/map.html"
"${ctl[@]}" graph Delay --as svg --out "$home/graph.svg"
{ printf '<!DOCTYPE html><html lang="en"><title>edges</title><main><h1>edges</h1>'; cat "$home/graph.svg"; printf '</main></html>\n'; } > "$home/graph.html"
python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$home/graph.svg"
for page in page map graph; do
    NODE_PATH=$modules/node_modules node "$root/scripts/page_check.js" "$home/$page.html" $shots
done
