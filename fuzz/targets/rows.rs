//! Stored rows and blobs, and the difference of two indexes.

#![no_main]

use indexd_lang::extract;
use indexd_model::terms::Vocabulary;
use indexd_model::{ContentHash, Facts, RepoPath};
use indexd_store::{FileInput, FileStat, Opened, Overlays, Store};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use tempfile::TempDir;

/// Inputs that begin with this byte and above are differences.
const DIFFERENCE: u8 = 240;

fuzz_target!(
    init: indexd_fuzz::write_seeds(seeds),
    |data: &[u8]| match data.first() {
        Some(&(DIFFERENCE..)) => difference(&data[1..]),
        _ => indexd_store::fuzz::row(data),
    }
);

/// An index of these files.
fn index(files: &[(&str, &str)]) -> (TempDir, Store) {
    let dir = tempfile::tempdir().expect("a folder");
    let Ok(Opened::Fresh(store)) = Store::open(dir.path(), b"fuzz") else { panic!("a new folder is fresh") };
    let bulk = store.bulk().expect("a first build");
    for (path, text) in files {
        let path = RepoPath::new(path).expect("a path");
        let got = extract(&path, text.as_bytes());
        let mut vocabulary = Vocabulary::default();
        let facts = Facts::inside(&got.facts);
        let terms = indexd_text::file_terms(facts, &got.facts.chunks, &path, &got.text, &mut vocabulary);
        let input = FileInput {
            path,
            hash: ContentHash::of(text.as_bytes()),
            size: text.len() as u64,
            lines: got.lines,
            stat: FileStat::default(),
            facts: got.facts,
            text: got.text,
            terms,
        };
        bulk.add(input, &vocabulary).expect("a file");
    }
    bulk.seal().expect("seals");
    bulk.finish(None, None, &Overlays::default()).expect("finishes");
    (dir, store)
}

const BASE: [(&str, &str); 2] = [("a.go", "package a\n\nfunc F() {}\n"), ("b.md", "# B\n\ntext\n")];

fn difference(bytes: &[u8]) {
    thread_local! {
        static INDEX: RefCell<Option<(TempDir, Store)>> = const { RefCell::new(None) };
    }
    INDEX.with_borrow_mut(|slot| {
        let (_, store) = slot.get_or_insert_with(|| index(&BASE));
        let generation = store.generation();
        match store.add_difference(bytes) {
            Ok(()) => *slot = None,
            Err(_) => assert_eq!(store.generation(), generation),
        }
    });
}

fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (name, bytes) in indexd_fuzz::fixtures().into_iter().filter(|(_, bytes)| bytes.len() < 2_000) {
        let path = RepoPath::new(&name).expect("a path");
        let got = extract(&path, &bytes);
        out.extend(indexd_store::fuzz::rows(&name, &got.text, &got.facts));
    }
    let (base, other) = (index(&BASE), index(&[BASE[1], ("c.py", "def f():\n    return g()\n")]));
    let of = other.1.difference(&base.1, usize::MAX).expect("compares").expect("no limit");
    out.extend([of, Store::no_difference()].map(|bytes| [&[DIFFERENCE][..], &bytes].concat()));
    out
}
