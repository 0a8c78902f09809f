#!/usr/bin/env python3
"""Writes a Python wheel that carries programs: pip puts them beside its own.

    scripts/wheel.py STAGE VERSION GLIBC README OUT

STAGE has bin/, share/ and, in share/doc/indexd/, the licences. The wheel needs GLIBC or a newer one and says so
in its tag, so that pip does not install it where it cannot run. The same input gives the same bytes.
"""

import base64
import hashlib
import os
import platform
import stat
import sys
import zipfile

NAME = "indexd"
DATE = (1980, 1, 1, 0, 0, 0)
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_below(folder):
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            yield os.path.relpath(path, folder), path


def content(stage, version, glibc, readme):
    """Gives (name in the wheel, bytes, whether it runs), in the order in which they are written."""
    data = f"{NAME}-{version}.data"
    info = f"{NAME}-{version}.dist-info"
    for name, path in files_below(os.path.join(stage, "bin")):
        yield f"{data}/scripts/{name}", read(path), True
    for name, path in files_below(os.path.join(stage, "share")):
        if os.path.basename(name) not in LICENCES:
            yield f"{data}/data/share/{name}", read(path), False
    for name in LICENCES:
        yield f"{info}/licenses/{name}", read(os.path.join(stage, "share/doc/indexd", name)), False
    major, minor = glibc.split(".")[:2]
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    wheel = f"Wheel-Version: 1.0\nGenerator: indexd\nRoot-Is-Purelib: false\nTag: {tag}\n"
    meta = (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\n"
        "Summary: Context packs from a local code index: the code a task needs, within a token budget\n"
        "License-Expression: MIT OR Apache-2.0\n"
        + "".join(f"License-File: {name}\n" for name in LICENCES)
        + "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
    )
    yield f"{info}/METADATA", meta.encode() + read(readme), False
    yield f"{info}/WHEEL", wheel.encode(), False


def main(stage, version, glibc, readme, out):
    major, minor = glibc.split(".")[:2]
    path = os.path.join(out, f"{NAME}-{version}-py3-none-manylinux_{major}_{minor}_{platform.machine()}.whl")
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def put(name, data, runs):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            archive.writestr(entry, data)

        for name, data, runs in content(stage, version, glibc, readme):
            put(name, data, runs)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
        own = f"{NAME}-{version}.dist-info/RECORD"
        put(own, "".join([*record, f"{own},,\n"]).encode(), False)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
