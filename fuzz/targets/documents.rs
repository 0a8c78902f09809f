//! Documents, settings and plain text.

#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: &[&str] = &[
    "a.md",
    "a.rst",
    "a.txt",
    "a.toml",
    "a.yaml",
    "a.json",
    "a.ini",
    "Makefile",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "a.pem",
    "notes",
];

fuzz_target!(
    init: indexd_fuzz::write_seeds(|| indexd_fuzz::seeds_of(NAMES)),
    |data: &[u8]| indexd_fuzz::file(data, NAMES)
);
