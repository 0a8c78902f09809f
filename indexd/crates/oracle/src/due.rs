//! What an edit makes due for linking, worked out the slow way: every file with every key that it
//! looked up, and every file asked at every edit. Tests and measurements compare the daemon with it,
//! which knows the same by sets that it keeps.

use crate::OracleFile;
use indexd_model::memory::MemoryFacts;
use indexd_model::{
    DefIdx, Facts, FactsView, FileDoc, FileFacts, FileRoles, Interface, Key, Links, Outcome, RepoPath, StrId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One file, extracted and linked.
pub struct LinkedFile {
    /// What extraction found.
    pub facts: Arc<FileFacts>,
    /// The text.
    pub text: Arc<str>,
    interface: Arc<Interface>,
    /// What linking found. A file in them is its place among all paths when it was linked.
    pub links: Links,
}

/// A tree whose files are all linked.
#[derive(Default)]
pub struct LinkedTree {
    /// By path.
    pub files: BTreeMap<RepoPath, LinkedFile>,
}

impl LinkedTree {
    /// Takes in new contents (`None`: the file is gone), each path once. Gives the files that have to
    /// be linked again: those given, and those that looked up a key behind which something changed.
    pub fn apply(&mut self, changes: Vec<(RepoPath, Option<&[u8]>)>) -> BTreeSet<RepoPath> {
        let mut keys = BTreeSet::new();
        let mut due = BTreeSet::new();
        for (path, bytes) in changes {
            let before = self.files.remove(&path).map(|f| entries(&f.interface)).unwrap_or_default();
            let mut after = BTreeMap::new();
            if let Some(bytes) = bytes {
                let read = OracleFile::read(path.clone(), bytes);
                let interface = Arc::new(read.facts.interface.clone());
                after = entries(&interface);
                let file =
                    LinkedFile { facts: read.facts, text: read.text, interface, links: Links::default() };
                self.files.insert(path.clone(), file);
                due.insert(path);
            }
            let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            keys.extend(all.into_iter().filter(|e| before.get(e) != after.get(e)).map(|e| e.0));
        }
        let looked = |f: &LinkedFile| f.links.lookups.iter().any(|key| keys.contains(key));
        due.extend(self.files.iter().filter(|(_, f)| looked(f)).map(|(path, _)| path.clone()));
        self.link(&due);
        due
    }

    fn link(&mut self, due: &BTreeSet<RepoPath>) {
        let files = self.files.iter().map(|(path, f)| (path.clone(), Arc::clone(&f.interface))).collect();
        let view = MemoryFacts::new(files);
        for path in due {
            let (Some(doc), Some(file)) = (view.file_by_path(path), self.files.get_mut(path)) else {
                continue;
            };
            let is_parsed = matches!(file.interface.outcome, Outcome::Parsed | Outcome::Recovered);
            file.links = if is_parsed && !file.interface.roles.has(FileRoles::VENDORED) {
                indexd_resolve::link(doc, Facts::inside(&file.facts), &view)
            } else {
                Links::default()
            };
        }
    }

    /// The files, other than its own, with a link to a definition, by path and index of the definition,
    /// for those that any has.
    ///
    /// Right after one [`LinkedTree::apply`] of a whole tree only: later ones move definitions.
    pub fn dependants(&self) -> BTreeMap<(&RepoPath, DefIdx), BTreeSet<&RepoPath>> {
        let paths: Vec<&RepoPath> = self.files.keys().collect();
        let mut out: BTreeMap<(&RepoPath, DefIdx), BTreeSet<&RepoPath>> = BTreeMap::new();
        for (i, file) in self.files.values().enumerate() {
            let targets: BTreeSet<_> = file.links.links.iter().map(|l| l.target).collect();
            for t in targets.into_iter().filter(|t| t.file != FileDoc(i as u32) && t.def != DefIdx::NONE) {
                out.entry((paths[t.file.index()], t.def)).or_default().insert(paths[i]);
            }
        }
        out
    }
}

/// What others may observe of a file, counted: key, definition behind it, digest.
fn entries(interface: &Interface) -> BTreeMap<(Key, String, u64), usize> {
    let name = |s: StrId| interface.arena.strings[s.index()].as_str();
    let mut out = BTreeMap::new();
    for e in &interface.entries {
        let mut names = Vec::new();
        let mut at = e.def.some();
        while let Some(def) = at.map(|d| &interface.defs[d.index()]) {
            names.push(format!("{:?}.{}.{}", def.receiver.map(name), name(def.name), def.ordinal));
            at = def.parent.some();
        }
        *out.entry((e.key, names.join("/"), e.digest)).or_default() += 1;
    }
    out
}
