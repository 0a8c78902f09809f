//! A naive in-memory index: the oracle that tests compare the real store and the real packs with.
//!
//! Everything is a plain vector or map, built in one go and never changed. Handles are ranks in
//! path order, so equal trees give equal handles, which no store promises. Links are made when they
//! are first asked for: many tests need none.

mod build;
mod due;

use indexd_model::links::{EdgeKind, Links};
use indexd_model::memory::{Edges, InMemory, Rows};
use indexd_model::view::{Edge, FileHistory, Occurrence, Touched, UnresolvedRecord};
use indexd_model::{DefDoc, Facts, FactsView, FileDoc, FileFacts, IndexView, LineIndex, RepoPath, StrId};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

pub use build::{OracleFile, Shared};
pub use due::{LinkedFile, LinkedTree};

/// An index in memory.
pub struct Oracle {
    all: Vec<Arc<FileFacts>>,
    rows: Rows,
    edges: OnceCell<Edges>,
}

impl Oracle {
    /// Builds the index of a tree given as paths and bytes, in any order.
    ///
    /// # Panics
    /// When a path is not valid or given twice.
    pub fn of<P: AsRef<str>, B: AsRef<[u8]>>(tree: &[(P, B)]) -> Self {
        let files = tree
            .iter()
            .map(|(path, bytes)| {
                OracleFile::read(RepoPath::new(path.as_ref()).expect("a valid path"), bytes.as_ref())
            })
            .collect();
        Self::build(files, &mut Shared::default())
    }

    /// Sets what past commits say: by path, and by term of the subjects with paths and counts.
    pub fn set_history(&mut self, head: &str, files: &[(&str, FileHistory)], terms: &[(&str, &str, u32)]) {
        self.rows.head = head.to_owned();
        for (path, history) in files {
            if let Some(file) = self.file_by_path(path) {
                self.rows.history[file.index()] = *history;
            }
        }
        self.rows.history_terms.clear();
        for (term, path, n) in terms {
            if let Some(file) = self.file_by_path(path) {
                self.rows.history_terms.entry((*term).to_owned()).or_default().push((file, *n));
            }
        }
        for list in self.rows.history_terms.values_mut() {
            list.sort_unstable();
        }
    }

    /// Sets which lines of a file the newest commits changed, by first line.
    pub fn set_touched(&mut self, path: &str, touched: Vec<Touched>) {
        if let Some(file) = self.file_by_path(path) {
            self.rows.touched[file.index()] = touched;
        }
    }

    /// Gives all chunks one digest, as if their texts collided.
    pub fn set_digests(&mut self, digest: u64) {
        self.rows.chunks.iter_mut().for_each(|c| c.digest = digest);
    }

    /// Lets each chunk reach to the end of the next one of its file, as another cut of the text may.
    pub fn let_chunks_overlap(&mut self) {
        for i in 1..self.rows.chunks.len() {
            let next = self.rows.chunks[i];
            let chunk = &mut self.rows.chunks[i - 1];
            if chunk.file == next.file {
                (chunk.span.end, chunk.lines.end) = (next.span.end, next.lines.end);
            }
        }
    }

    fn add_links(&self, file: usize, facts: &FileFacts, links: &Links, all: &mut Edges) {
        let lines = LineIndex::new(&self.rows.texts[file]);
        let doc = FileDoc(file as u32);
        let mut edges: FxHashMap<(EdgeKind, DefDoc, DefDoc), Vec<Occurrence>> = FxHashMap::default();
        for l in &links.links {
            let source = self.def_doc(doc, l.source);
            let target = self.def_doc(l.target.file, l.target.def);
            edges.entry((l.kind, source, target)).or_default().push(Occurrence {
                at: l.at,
                line: lines.line(l.at),
                role: l.role,
                rule: l.rule,
                confidence: l.confidence,
            });
        }
        for ((kind, source, target), mut occurrences) in edges {
            occurrences.sort();
            let is_turned = kind == EdgeKind::DataflowIn;
            let (source, target, kind) =
                if is_turned { (target, source, EdgeKind::Dataflow) } else { (source, target, kind) };
            all.add(Edge { kind, source, target, is_turned, occurrences });
        }
        let name = |id: StrId| Arc::from(indexd_model::Facts::inside(facts).str(id));
        let unresolved = links.unresolved.iter().map(|u| UnresolvedRecord {
            source: self.def_doc(doc, u.source),
            name: name(u.name),
            at: u.at,
            line: lines.line(u.at),
            role: u.role,
            reason: u.reason,
        });
        all.unresolved.insert(doc, unresolved.collect());
    }
}

impl InMemory for Oracle {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| {
            let mut edges = Edges::default();
            for (i, facts) in self.all.iter().enumerate() {
                let links = indexd_resolve::link(FileDoc(i as u32), Facts::inside(facts), &self.rows.facts);
                self.add_links(i, facts, &links, &mut edges);
            }
            edges.sort();
            edges
        })
    }

    fn locals_in(&self, file: FileDoc) -> Vec<u32> {
        Facts::inside(&self.all[file.index()]).locals()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_definitions_terms_and_paths() {
        let tree = [
            ("go.mod", "module example.com/m\n"),
            (
                "retry/delay.go",
                "package retry\n\n// Delay waits.\nfunc Delay() int { return base() }\n\nfunc base() int { return 1 }\n",
            ),
        ];
        let view = Oracle::of(&tree);
        let def = view.defs_named("Delay")[0];
        assert_eq!(&*view.def(def).qualified, "Delay");
        let file = view.def(def).file;
        assert_eq!(&*view.path(file), "retry/delay.go");
        assert_eq!(view.doc_frequency("wait") + view.doc_frequency("waits"), 1);
        let mut paths = Vec::new();
        view.path_postings("retry", &mut paths);
        assert_eq!(paths.len(), 1);
        let chunk = view.chunks_of(def)[0];
        assert_eq!(view.chunk(chunk).def, def);
        assert!(view.text(file)[view.chunk(chunk).span.range()].contains("func Delay"));
        let reversed: Vec<_> = tree.iter().rev().copied().collect();
        assert_eq!(Oracle::of(&reversed).signature(), view.signature());
    }
}
