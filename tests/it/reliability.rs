//! The table of what is promised about failures names tests that exist, and every promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::user::programs;

/// Names of all functions in the Rust files below a folder.
fn functions(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.file_name().is_some_and(|name| name != "target" && name != ".git");
        if path.is_dir() && is_source {
            functions(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            found.extend(names.map(str::to_owned));
        }
    }
}

fn packages() -> Vec<toml::Table> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let lock: toml::Table = fs::read_to_string(top.join("Cargo.lock")).unwrap().parse().unwrap();
    lock["package"].as_array().unwrap().iter().map(|p| p.as_table().unwrap().clone()).collect()
}

/// Crates that speak a protocol of networks.
const PROTOCOLS: [&str; 24] = [
    "actix-web",
    "attohttpc",
    "axum",
    "curl",
    "curl-sys",
    "h2",
    "h3",
    "hickory-resolver",
    "hyper",
    "isahc",
    "libssh2-sys",
    "minreq",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "rustls",
    "russh",
    "ssh2",
    "tonic",
    "tungstenite",
    "ureq",
    "websocket",
];

/// A program names the source files of the crates that are linked into it, where code of them can panic.
fn protocols_in(program: &str) -> Vec<&'static str> {
    let bytes = fs::read(programs().join(program)).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let crates: BTreeSet<&str> = text.split("/registry/src/").skip(1).filter_map(name_of_crate).collect();
    assert!(crates.contains("serde_json"), "{program}: {crates:?}");
    PROTOCOLS.into_iter().filter(|name| crates.contains(name)).collect()
}

/// `rustls` of `index.crates.io-1949cf8c6b5b557f/rustls-0.23.1/src/lib.rs`.
fn name_of_crate(path: &str) -> Option<&str> {
    let folder = path.split('/').nth(1)?;
    let end = folder
        .match_indices('-')
        .find(|(at, _)| folder[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?
        .0;
    Some(&folder[..end])
}

/// Only the program that fetches published indexes has such code.
#[test]
fn the_daemon_and_its_client_hold_no_code_of_a_network_protocol() {
    for program in ["indexd", "ctl", "ctl-more"] {
        assert_eq!(protocols_in(program), [""; 0], "{program}");
    }
    assert!(protocols_in("ctl-share").contains(&"reqwest"), "where it is, it is seen");
}

/// Every crate comes from the registry, with its checksum, or is our own.
#[test]
fn crates_come_from_the_registry_alone() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        match package.get("source").and_then(|s| s.as_str()) {
            Some(source) => {
                assert!(
                    source.starts_with("registry+https://github.com/rust-lang/crates.io-index"),
                    "{name}"
                );
                assert!(package.contains_key("checksum"), "{name}");
            }
            None => assert!(name.starts_with("indexd") || name == "ctlclient" || name == "xtask", "{name}"),
        }
    }
}

/// Lines of Rust files below a folder that hold unsafe code.
fn unsafe_lines(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            unsafe_lines(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let is_unsafe = |line: &&str| {
                let line = line.trim_start();
                let code = line.split("//").next().unwrap_or_default();
                ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|w| code.contains(w))
                    && !code.contains('"')
            };
            found.extend(text.lines().filter(is_unsafe).map(|line| format!("{}: {line}", path.display())));
        }
    }
}

#[test]
fn unsafe_code_is_in_two_crates() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for dir in ["indexd", "ctlclient", "proto"] {
        unsafe_lines(&top.join(dir), &mut found);
    }
    assert!(!found.is_empty(), "some there is");
    found.retain(|line| !line.contains("/crates/store/") && !line.contains("/crates/os/"));
    assert!(found.is_empty(), "{found:#?}");
}

/// Checks a table of docs: its ids, in order, and that every test it names exists.
pub fn check_table(file: &str, wanted: Vec<String>) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = fs::read_to_string(top.join(file)).unwrap();
    let mut known = BTreeSet::new();
    for dir in ["indexd", "ctlclient", "proto", "tests"] {
        functions(&top.join(dir), &mut known);
    }
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|l| l.starts_with("| "))
        .map(|l| l.split('|').map(str::trim).collect())
        .collect();
    let ids: Vec<&str> = rows.iter().map(|row| row[1]).filter(|id| *id != "id").collect();
    assert_eq!(ids, wanted);
    let is_name = |word: &&str| word.len() > 8 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let named = rows.iter().flat_map(|row| row[3].split('`').skip(1).step_by(2)).filter(is_name);
    let missing: Vec<&str> = named.filter(|name| !known.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_promise_has_a_line_and_every_test_named_there_exists() {
    let wanted = (1..=36).map(|i| format!("R{i:02}")).chain((1..=28).map(|i| format!("S{i:02}")));
    check_table("docs/internals/reliability.md", wanted.collect());
}
