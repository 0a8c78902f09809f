//! Which folders of code use which others, by resolved imports.

use crate::sources::Source;
use indexd_model::path::dir_of;
use indexd_model::{DefIdx, EdgeKind, IndexView};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Imports between the folders of a repository.
#[derive(Default)]
pub struct Reach {
    /// The folders that the files of a folder import, its own left out.
    uses: BTreeMap<String, BTreeSet<String>>,
    /// Files of other folders that import a folder.
    users: BTreeMap<String, u32>,
    /// Lines of a folder.
    lines: BTreeMap<String, u32>,
}

impl Reach {
    /// Reads the imports of the product's code.
    pub fn of(view: &dyn IndexView, files: &[Source]) -> Self {
        let mut out = Self::default();
        for source in files.iter().filter(|s| s.is_product_code()) {
            let dir = dir_of(&source.path);
            *out.lines.entry(dir.to_owned()).or_default() += source.n_lines;
            let own = view.def_doc(source.doc, DefIdx::NONE);
            let edges = view.edges_from(own, &[EdgeKind::Import]);
            let paths: Vec<Arc<str>> = edges.iter().map(|e| view.path(view.def(e.target).file)).collect();
            let imported: BTreeSet<&str> = paths.iter().map(|p| dir_of(p)).filter(|d| *d != dir).collect();
            for other in imported {
                *out.users.entry(other.to_owned()).or_default() += 1;
                out.uses.entry(dir.to_owned()).or_default().insert(other.to_owned());
            }
        }
        out
    }

    /// Files of other folders that import this one.
    pub fn users(&self, dir: &str) -> u32 {
        self.users.get(dir).copied().unwrap_or(0)
    }

    /// Folders below this one that it imports, by path.
    pub fn below(&self, dir: &str) -> impl Iterator<Item = &str> {
        let is_below = move |d: &&String| {
            dir.is_empty() || d.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
        };
        self.uses.get(dir).into_iter().flatten().filter(is_below).map(String::as_str)
    }

    /// Lines of a folder and of all folders that it imports, directly or through others.
    pub fn lines(&self, dir: &str) -> u32 {
        let mut seen = BTreeSet::from([dir]);
        let mut open = vec![dir];
        while let Some(next) = open.pop() {
            for other in self.uses.get(next).into_iter().flatten() {
                if seen.insert(other) {
                    open.push(other);
                }
            }
        }
        seen.iter().filter_map(|d| self.lines.get(*d)).sum()
    }
}
