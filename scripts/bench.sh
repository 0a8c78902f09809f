#!/usr/bin/env bash
# Builds the release binaries, fetches real trees by package name and measures them.
#
#   scripts/bench.sh              Go's standard library, Django and sympy
#   BENCH_CLONE=DIR scripts/bench.sh   also a git clone of yours (a long history is what it is for)
#   BENCH_DIR=DIR                 where the trees are kept (default: $XDG_CACHE_HOME/indexd-bench)
#
# Further arguments go to the measuring program; see `cargo run -p indexd-bench -- --help`.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/indexd-bench}
mkdir -p "$dir"

fetch_sdist() { # NAME VERSION: unpacks a source distribution from PyPI
  local name=$1 version=$2
  [ -d "$dir/$name" ] && return
  python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$dir" "$name==$version"
  mkdir "$dir/$name.tmp"
  tar -xzf "$dir"/"$name"-"$version".tar.gz -C "$dir/$name.tmp" --strip-components=1
  mv "$dir/$name.tmp" "$dir/$name"
}

fetch_go() { # Go's standard library from Debian, or the one of an installed toolchain
  [ -d "$dir/go" ] && return
  local src
  src=$(ls -d /usr/share/go-*/src 2>/dev/null | sort -V | tail -n 1 || true)
  if [ -z "$src" ]; then
    apt-get update -qq
    apt-get install -y -qq golang-src >/dev/null
    src=$(ls -d /usr/share/go-*/src | sort -V | tail -n 1)
  fi
  cp -r "$src" "$dir/go"
}

fetch_go
fetch_sdist Django 4.2.16
fetch_sdist sympy 1.12

cargo build --profile dist --quiet -p indexd -p ctlclient -p indexd-bench
trees=(--tree "go=$dir/go" --tree "django=$dir/Django" --tree "sympy=$dir/sympy")
if [ -n "${BENCH_CLONE:-}" ]; then
  trees+=(--tree "$(basename "$BENCH_CLONE")=$BENCH_CLONE")
fi
exec target/dist/indexd-bench "${trees[@]}" "$@"
