#!/usr/bin/env bash
# Installs the Debian package in a system of its own and packs a small repository there as a plain user.
#
#   scripts/debian.sh RELEASE [PACKAGE]
#
# RELEASE is a name that debootstrap knows: bullseye is Debian 11. PACKAGE is the newest in target/package
# without one. Needs root, debootstrap and a mirror of Debian; about four minutes and 300 MB in a temporary
# folder, which goes at the end. Mounts are private to this script.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
if [ "${INDEXD_IN_NAMESPACE:-}" != 1 ]; then
    INDEXD_IN_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi
release=$1
package=${2:-$(find "${CARGO_TARGET_DIR:-$root/target}/package" -name '*.deb' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)}
[ -f "$package" ] || { echo "debian: there is no package; scripts/package.sh makes one" >&2; exit 1; }
dir=$(mktemp -d)
# It is the root of others.
chmod 755 "$dir"
trap 'umount "$dir/proc" 2> /dev/null || true; rm -rf --one-file-system "$dir"' EXIT
debootstrap --variant=minbase "$release" "$dir" > "$dir.log" 2>&1 || { tail -20 "$dir.log" >&2; exit 1; }
rm -f "$dir.log"
# The daemon is started by the path that /proc names, as in any container.
mount -t proc proc "$dir/proc"
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$dir" "$@"; }
cp "$package" "$dir/root/indexd.deb"
inside dpkg -i /root/indexd.deb > /dev/null
inside useradd --create-home someone
mkdir "$dir/home/someone/retry"
printf 'module example.com/retry\n' > "$dir/home/someone/retry/go.mod"
printf 'package retry\n\n// Delay says how long to wait.\nfunc Delay(n int) int { return 1 << n }\n' > "$dir/home/someone/retry/retry.go"
inside chown -R someone: /home/someone/retry
as_user() { inside su someone -c "cd ~/retry && $1"; }
said=$(as_user 'ctl pack "how long is the delay" --as text')
grep -q 'func Delay' <<< "$said" || { echo "debian: it does not pack: $said" >&2; exit 1; }
as_user 'ctl callers Delay && ctl doctor && ctl daemon stop' > "$dir/root/said" || { cat "$dir/root/said" >&2; exit 1; }
inside dpkg --purge indexd > /dev/null
[ ! -e "$dir/usr/bin/ctl" ] || { echo 'debian: the package leaves ctl behind' >&2; exit 1; }
echo "debian: $(basename "$package") works on Debian $(cat "$dir/etc/debian_version"), $(inside ldd --version | head -1)"
