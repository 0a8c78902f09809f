//! Go and Python: facts, terms, packed facts, tokens, colours.

#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: &[&str] = &["a.go", "a.py", "a_test.go", "__init__.py", "a.pyi", "tool", "go.mod", "go.work"];

fuzz_target!(
    init: indexd_fuzz::write_seeds(|| indexd_fuzz::seeds_of(NAMES)),
    |data: &[u8]| indexd_fuzz::file(data, NAMES)
);
