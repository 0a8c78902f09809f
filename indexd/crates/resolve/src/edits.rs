//! Edits of trees: the lookups of a file decide if it must be linked again.

use crate::trees::Tree;
use indexd_model::names::descriptor;
use indexd_model::{DefIdx, Facts, Interface, Key, Links};
use std::collections::{BTreeMap, BTreeSet};

/// The files of every fixture, below a folder for each.
fn all_files(folder: &str) -> BTreeMap<String, String> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut out = BTreeMap::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let tree = Tree::parse(&std::fs::read_to_string(&path).unwrap());
        for (file, text) in tree.paths.into_iter().zip(tree.texts) {
            out.insert(format!("{name}/{file}"), text);
        }
    }
    out
}

/// Returns everything that other files may observe of a file, by key: digests, and the place of each
/// definition in the file.
fn entries(interface: &Interface) -> BTreeMap<Key, Vec<(u64, String, u16)>> {
    let facts = Facts::outside(interface);
    let mut out: BTreeMap<Key, Vec<(u64, String, u16)>> = BTreeMap::new();
    for entry in &interface.entries {
        let ordinal = entry.def.some().map_or(0, |d| facts.def(d).ordinal);
        out.entry(entry.key).or_default().push((entry.digest, descriptor(&facts, entry.def), ordinal));
    }
    out.values_mut().for_each(|d| d.sort_unstable());
    out
}

/// Lists links with their targets by path, descriptor and ordinal, and the names that stay open.
fn said(tree: &Tree, links: &Links) -> Vec<String> {
    let of = |file: usize, def: DefIdx| {
        let facts = Facts::inside(&tree.facts[file]);
        let ordinal = def.some().map_or(0, |d| facts.def(d).ordinal);
        format!("{} {} {ordinal}", tree.paths[file], descriptor(&facts, def))
    };
    let link = |l: &indexd_model::Link| {
        let target = of(l.target.file.index(), l.target.def);
        format!("{} {:?} {:?} {} {target}", l.at, l.kind, l.rule, l.confidence)
    };
    let open = links.unresolved.iter().map(|u| format!("{} {:?}", u.at, u.reason));
    links.links.iter().map(link).chain(open).collect()
}

/// One edit of a text: a line left out, written twice, or given the place of another.
fn edited(text: &str, kind: u64, line: usize, other: usize) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (line, other) = (line % lines.len().max(1), other % lines.len().max(1));
    match kind % 3 {
        0 => _ = lines.remove(line),
        1 => lines.insert(other, lines[line]),
        _ => lines.swap(line, other),
    }
    lines.join("\n") + "\n"
}

/// Numbers from a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Edits the fixtures in a folder below `src`, taken together: a file that looked up no key behind which an edit
/// changed something has the links of before. `INDEXD_TEST_EDITS` edits.
pub(crate) fn check(folder: &str) {
    let n = std::env::var("INDEXD_TEST_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let mut files = all_files(folder);
    let mut numbers = Numbers(7);
    let mut before = Tree::new(files.clone());
    let mut links: Vec<Links> = (0..before.paths.len()).map(|i| before.link(i)).collect();
    for _ in 0..n {
        let at = numbers.next() as usize % before.paths.len();
        let path = before.paths[at].clone();
        let (kind, line, other) = (numbers.next(), numbers.next() as usize, numbers.next() as usize);
        let text = edited(&files[&path], kind, line, other);
        files.insert(path, text.clone());
        let after = Tree::new(files.clone());
        let (old, new) = (entries(&before.facts[at].interface), entries(&after.facts[at].interface));
        let keys: BTreeSet<Key> =
            old.keys().chain(new.keys()).copied().filter(|k| old.get(k) != new.get(k)).collect();
        let now: Vec<Links> = (0..after.paths.len()).map(|i| after.link(i)).collect();
        for i in (0..links.len()).filter(|i| *i != at) {
            if !links[i].lookups.iter().any(|key| keys.contains(key)) {
                let (was, is) = (said(&before, &links[i]), said(&after, &now[i]));
                assert_eq!(was, is, "{} after an edit of {}:\n{text}", after.paths[i], after.paths[at]);
                assert_eq!(links[i].lookups, now[i].lookups, "{}", after.paths[i]);
            }
        }
        (before, links) = (after, now);
    }
}
