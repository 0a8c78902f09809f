//! The languages that one extractor reads by tables.

#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: &[&str] = &[
    "a.rs", "a.ts", "a.tsx", "a.js", "a.java", "a.c", "a.cpp", "a.cs", "a.rb", "a.php", "a.kt", "a.swift",
    "a.scala", "a.sh", "a.lua", "a.proto", "a.sql", "a.tf", "a.vue", "a.svelte", "a.html",
];

fuzz_target!(
    init: indexd_fuzz::write_seeds(|| indexd_fuzz::seeds_of(NAMES)),
    |data: &[u8]| indexd_fuzz::file(data, NAMES)
);
