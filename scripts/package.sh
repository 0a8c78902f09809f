#!/usr/bin/env bash
# Builds packages that carry the programs: a tarball, a Debian package, an npm package and
# a Python wheel.
#
#   scripts/package.sh [--test] [--bin DIR] [--out DIR] [--glibc VERSION|own]
#
# --test installs each of them in a clean folder and packs a small repository with it.
# --bin takes binaries that are there already, from DIR. --out is target/package.
#
# With cargo-zigbuild and zig (both are on PyPI: pip install cargo-zigbuild ziglang) the programs are linked
# against the glibc of --glibc, 2.31 without it, which Debian 11 has; a symbol of a newer one is an error.
# Without them, or with --glibc own, the programs are those that `cargo install --path` gives, and --test uses
# them where it puts them, too; a package then needs the glibc of the machine that builds it, or a newer one.
# The script says which it is, and the Debian package depends on it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
test=false bin='' installed='' out=$target/package glibc_max=''
while [ $# -gt 0 ]; do
    case $1 in
        --test) test=true ;;
        --bin) bin=$(cd "$2" && pwd); shift ;;
        --out) out=$2; shift ;;
        --glibc) glibc_max=$2; shift ;;
        *) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done
say() { printf 'package: %s\n' "$*" >&2; }

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
if [ -z "$bin" ]; then
    build=(--profile dist --locked --manifest-path "$root/Cargo.toml" -p indexd -p ctlclient -p indexd-share)
    if [ "$glibc_max" != own ] && command -v cargo-zigbuild > /dev/null; then
        glibc_max=${glibc_max:-2.31}
        host=$(rustc -vV | sed -n 's/^host: //p')
        CARGO_TARGET_DIR=$target cargo zigbuild "${build[@]}" --target "$host.$glibc_max"
        bin=$target/$host/dist
    else
        case $glibc_max in '' | own) ;; *) say 'there is no cargo-zigbuild: pip install cargo-zigbuild ziglang'; exit 1 ;; esac
        installed=$target/installed
        rm -rf "$installed"
        for crate in indexd ctlclient share; do
            CARGO_TARGET_DIR=$target cargo install --quiet --profile dist --locked --path "$root/$crate" --root "$installed"
        done
        bin=$installed/bin
    fi
fi
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/.work
stage=$work/indexd-$version
mkdir -p "$stage/bin" "$stage/share"

# What every package holds.
install -m 755 "$bin/ctl" "$bin/ctl-more" "$bin/ctl-share" "$bin/indexd" "$stage/bin/"
share=$stage/share
mkdir -p "$share"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,man/man1,doc/indexd}
"$bin/ctl" completions bash > "$share/bash-completion/completions/ctl"
"$bin/ctl" completions zsh > "$share/zsh/site-functions/_ctl"
"$bin/ctl" completions fish > "$share/fish/vendor_completions.d/ctl.fish"
"$bin/ctl" man --out "$share/man/man1" > /dev/null
cp "$root/README.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$share/doc/indexd/"
python3 "$root/scripts/licenses.py" > "$share/doc/indexd/THIRD-PARTY.txt"
mkdir -p "$stage/lib/systemd/user"
cp "$root"/packaging/systemd/indexd.* "$stage/lib/systemd/user/"
glibc=$(objdump -T "$stage/bin/ctl" "$stage/bin/ctl-more" "$stage/bin/ctl-share" "$stage/bin/indexd" | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -Vu | tail -1)
say "needs glibc $glibc"
# Linked by zig, what unwinds the stack is inside.
needs="libc6 (>= $glibc)"
if objdump -p "$stage"/bin/* | grep -q 'NEEDED *libgcc_s'; then needs="$needs, libgcc-s1"; fi
case $glibc_max in
    '' | own) ;;
    *) [ "$(printf '%s\n' "$glibc" "$glibc_max" | sort -V | tail -1)" = "$glibc_max" ] || { say "more than $glibc_max"; exit 1; } ;;
esac

tarball() {
    tar -C "$work" --sort=name --owner=0 --group=0 -czf "$out/indexd-$version-$(uname -m)-linux.tar.gz" "indexd-$version"
}

deb() {
    local pkg=$work/deb arch
    command -v dpkg-deb > /dev/null || { say 'no Debian package: there is no dpkg-deb'; return; }
    arch=$(dpkg --print-architecture)
    mkdir -p "$pkg/DEBIAN" "$pkg/usr/lib/systemd"
    cp -r "$stage/bin" "$stage/share" "$pkg/usr/"
    cp -r "$stage/lib/systemd/user" "$pkg/usr/lib/systemd/"
    mkdir -p "$pkg/usr/share/zsh/vendor-completions"
    mv "$pkg/usr/share/zsh/site-functions/_ctl" "$pkg/usr/share/zsh/vendor-completions/"
    rmdir "$pkg/usr/share/zsh/site-functions"
    gzip -9n "$pkg"/usr/share/man/man1/*.1
    cat "$root/LICENSE-MIT" "$pkg/usr/share/doc/indexd/THIRD-PARTY.txt" > "$pkg/usr/share/doc/indexd/copyright"
    sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@NEEDS@/$needs/" \
        -e "s/@SIZE@/$(du -sk "$pkg/usr" | cut -f1)/" "$root/packaging/debian/control" > "$pkg/DEBIAN/control"
    chmod -R u=rwX,go=rX "$pkg"
    dpkg-deb --root-owner-group --build "$pkg" "$out/indexd_${version}_$arch.deb" > /dev/null
}

npm_package() {
    local pkg=$work/npm
    command -v npm > /dev/null || { say 'no npm package: there is no npm'; return; }
    mkdir -p "$pkg"
    cp -r "$stage/bin" "$stage/share" "$pkg/"
    cp "$root/README.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$share/doc/indexd/THIRD-PARTY.txt" "$pkg/"
    node -e '
        const [from, to] = process.argv.slice(1);
        const meta = JSON.parse(require("fs").readFileSync(from));
        Object.assign(meta, { os: [process.platform], cpu: [process.arch], libc: ["glibc"] });
        require("fs").writeFileSync(to, JSON.stringify(meta, null, 2) + "\n");
    ' "$root/packaging/npm/package.json" "$pkg/package.json"
    (cd "$out" && npm pack --silent "$pkg" > /dev/null)
}

wheel() {
    "$root/scripts/wheel.py" "$stage" "$version" "$glibc" "$root/README.md" "$out" > /dev/null
}

# Packs a small repository with the `ctl` of a folder, in a home of its own.
use() {
    local what=$1 path=$2 home
    home=$(mktemp -d)
    mkdir -p "$home/repo" "$home/run"
    chmod 700 "$home/run"
    # Without it the folder does not look like a project.
    printf 'module example.com/retry\n' > "$home/repo/go.mod"
    printf 'package retry\n\n// Delay says how long to wait.\nfunc Delay(n int) int { return 1 << n }\n' > "$home/repo/retry.go"
    local clean=(env -i HOME="$home" XDG_RUNTIME_DIR="$home/run" PATH="$path:/usr/bin:/bin")
    (cd "$home/repo" && "${clean[@]}" ctl pack 'how long is the delay' --as text) | grep -q 'func Delay' \
        || { say "$what does not pack"; exit 1; }
    "${clean[@]}" ctl daemon stop > /dev/null
    say "$what works: $("${clean[@]}" ctl --version | head -1)"
    rm -rf "$home"
}

has() {
    local what=$1 dir=$2 file
    shift 2
    for file in "$@"; do
        [ -s "$dir/$file" ] || { say "$what lacks $file"; exit 1; }
    done
}

try_all() {
    local dir=$work/try file
    mkdir -p "$dir"/{tar,deb,npm,wheel}
    if [ -n "$installed" ]; then use 'cargo install' "$installed/bin"; fi
    tar -C "$dir/tar" -xzf "$out"/indexd-*.tar.gz
    has tarball "$dir/tar/indexd-$version" bin/ctl-more bin/ctl-share share/man/man1/ctl.1 share/doc/indexd/THIRD-PARTY.txt lib/systemd/user/indexd.socket
    use tarball "$dir/tar/indexd-$version/bin"
    file=$(ls "$out"/*.deb 2> /dev/null) && {
        dpkg-deb -x "$file" "$dir/deb"
        has 'the Debian package' "$dir/deb/usr" bin/ctl-share share/man/man1/ctl.1.gz share/doc/indexd/copyright \
            lib/systemd/user/indexd.service share/bash-completion/completions/ctl share/zsh/vendor-completions/_ctl
        use 'the Debian package' "$dir/deb/usr/bin"
    }
    file=$(ls "$out"/indexd-"$version".tgz 2> /dev/null) && {
        (cd "$dir/npm" && npm init -y > /dev/null && npm install --silent --offline --no-audit --no-fund "$file")
        has 'the npm package' "$dir/npm/node_modules/indexd" bin/ctl-share share/man/man1/ctl.1 THIRD-PARTY.txt
        use 'the npm package' "$dir/npm/node_modules/.bin"
    }
    file=$(ls "$out"/*.whl 2> /dev/null) && {
        python3 -m venv "$dir/wheel"
        "$dir/wheel/bin/pip" install --quiet --no-index --disable-pip-version-check "$file"
        has 'the wheel' "$dir/wheel" share/man/man1/ctl.1 bin/ctl-more bin/ctl-share bin/indexd
        use 'the wheel' "$dir/wheel/bin"
        "$dir/wheel/bin/pip" uninstall --quiet --yes indexd
        [ ! -e "$dir/wheel/bin/ctl" ] || { say 'the wheel leaves ctl behind'; exit 1; }
    }
}

tarball
deb
npm_package
wheel
if $test; then try_all; fi
rm -rf "$work"
(cd "$out" && ls -1 | sed 's/^/package: /' >&2)
