//! A naive in-memory index: the oracle that tests compare the real store and the real packs with.
//!
//! Everything is a plain vector or map, built in one go and never changed. Handles are ranks in
//! path order, so equal trees give equal handles, which no store promises. Links are made when they
//! are first asked for: many tests need none.

mod build;
mod due;

use indexd_model::links::{EdgeKind, Links};
use indexd_model::memory::MemoryFacts;
use indexd_model::view::{
    ChunkRecord, CorpusStats, DefRecord, Edge, FileHistory, FileRecord, Occurrence, PathPosting, Posting,
    Touched, UnresolvedRecord,
};
use indexd_model::{
    ChunkDoc, DefDoc, DefIdx, Facts, FactsView, FileDoc, FileFacts, IndexView, Interface, Key, LineIndex,
    RepoPath, StrId,
};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

pub use build::{OracleFile, Shared};
pub use due::{LinkedFile, LinkedTree};

/// An index in memory.
pub struct Oracle {
    facts: MemoryFacts,
    all: Vec<Arc<FileFacts>>,
    texts: Vec<Arc<str>>,
    files: Vec<FileRecord>,
    chunks: Vec<ChunkRecord>,
    defs: Vec<DefRecord>,
    /// First definition handle of each file: the file itself.
    def_base: Vec<u32>,
    chunks_of: FxHashMap<DefDoc, Vec<ChunkDoc>>,
    by_name: FxHashMap<Arc<str>, Vec<DefDoc>>,
    terms: FxHashMap<Arc<str>, Vec<Posting>>,
    paths: FxHashMap<Arc<str>, Vec<PathPosting>>,
    stats: CorpusStats,
    signature: String,
    head: String,
    history: Vec<FileHistory>,
    history_terms: FxHashMap<String, Vec<(FileDoc, u32)>>,
    touched: FxHashMap<FileDoc, Vec<Touched>>,
    graph: OnceCell<Graph>,
}

/// Edges by source and by target.
#[derive(Default)]
struct Graph {
    from: FxHashMap<DefDoc, Vec<Edge>>,
    to: FxHashMap<DefDoc, Vec<Edge>>,
    /// Dataflow that its receivers tell of, by where it comes from.
    flows: FxHashMap<DefDoc, Vec<Edge>>,
    unresolved: Vec<Vec<UnresolvedRecord>>,
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
        self.head = head.to_owned();
        for (path, history) in files {
            if let Some(file) = self.file_by_path(path) {
                self.history[file.index()] = *history;
            }
        }
        self.history_terms.clear();
        for (term, path, n) in terms {
            if let Some(file) = self.file_by_path(path) {
                self.history_terms.entry((*term).to_owned()).or_default().push((file, *n));
            }
        }
        for list in self.history_terms.values_mut() {
            list.sort_unstable();
        }
    }

    /// Sets which lines of a file the newest commits changed, by first line.
    pub fn set_touched(&mut self, path: &str, touched: Vec<Touched>) {
        if let Some(file) = self.file_by_path(path) {
            self.touched.insert(file, touched);
        }
    }

    /// Gives all chunks one digest, as if their texts collided.
    pub fn set_digests(&mut self, digest: u64) {
        self.chunks.iter_mut().for_each(|c| c.digest = digest);
    }

    /// Lets each chunk reach to the end of the next one of its file, as another cut of the text may.
    pub fn let_chunks_overlap(&mut self) {
        for i in 1..self.chunks.len() {
            let next = self.chunks[i];
            let chunk = &mut self.chunks[i - 1];
            if chunk.file == next.file {
                (chunk.span.end, chunk.lines.end) = (next.span.end, next.lines.end);
            }
        }
    }

    fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| {
            let mut graph = Graph::default();
            for (i, facts) in self.all.iter().enumerate() {
                let links = indexd_resolve::link(FileDoc(i as u32), Facts::inside(facts), &self.facts);
                self.add_links(i, facts, &links, &mut graph);
            }
            let place = |d: DefDoc| (self.defs[d.index()].file, d);
            for edges in graph.from.values_mut().chain(graph.flows.values_mut()) {
                edges.sort_by_key(|e| (e.kind, place(e.target)));
            }
            for edges in graph.to.values_mut() {
                edges.sort_by_key(|e| (place(e.source), e.kind, e.is_turned));
            }
            graph
        })
    }

    fn add_links(&self, file: usize, facts: &FileFacts, links: &Links, graph: &mut Graph) {
        let lines = LineIndex::new(&self.texts[file]);
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
            if kind == EdgeKind::DataflowIn {
                let (source, target, kind) = (target, source, EdgeKind::Dataflow);
                let edge = Edge { kind, source, target, is_turned: true, occurrences };
                graph.flows.entry(source).or_default().push(edge.clone());
                graph.to.entry(target).or_default().push(edge);
                continue;
            }
            let edge = Edge { kind, source, target, is_turned: false, occurrences };
            graph.from.entry(source).or_default().push(edge.clone());
            graph.to.entry(target).or_default().push(edge);
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
        graph.unresolved.push(unresolved.collect());
    }
}

impl FactsView for Oracle {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        self.facts.providers(key)
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        self.facts.interface(file)
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        self.facts.path(file)
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.facts.file_by_path(path)
    }
}

impl IndexView for Oracle {
    fn signature(&self) -> String {
        self.signature.clone()
    }

    fn head(&self) -> String {
        self.head.clone()
    }

    fn stats(&self) -> CorpusStats {
        self.stats
    }

    fn files(&self) -> Vec<FileDoc> {
        (0..self.files.len() as u32).map(FileDoc).collect()
    }

    fn file(&self, file: FileDoc) -> FileRecord {
        self.files[file.index()].clone()
    }

    fn text(&self, file: FileDoc) -> Arc<str> {
        Arc::clone(&self.texts[file.index()])
    }

    fn chunk(&self, chunk: ChunkDoc) -> ChunkRecord {
        self.chunks[chunk.index()]
    }

    fn def_doc(&self, file: FileDoc, def: DefIdx) -> DefDoc {
        DefDoc(self.def_base[file.index()] + def.some().map_or(0, |d| d.0 + 1))
    }

    fn def(&self, def: DefDoc) -> DefRecord {
        self.defs[def.index()].clone()
    }

    fn chunks_of(&self, def: DefDoc) -> Vec<ChunkDoc> {
        self.chunks_of.get(&def).cloned().unwrap_or_default()
    }

    fn defs_named(&self, name: &str) -> Vec<DefDoc> {
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    fn postings(&self, term: &str, out: &mut Vec<Posting>) {
        out.extend(self.terms.get(term).into_iter().flatten());
    }

    fn doc_frequency(&self, term: &str) -> u32 {
        self.terms.get(term).map_or(0, |p| p.len() as u32)
    }

    fn terms_from(&self, start: &str, most: usize) -> Vec<String> {
        let mut found: Vec<String> =
            self.terms.keys().filter(|t| t.starts_with(start)).map(|t| t.to_string()).collect();
        found.sort_unstable();
        found.truncate(most);
        found
    }

    fn path_postings(&self, term: &str, out: &mut Vec<PathPosting>) {
        out.extend(self.paths.get(term).into_iter().flatten());
    }

    fn edges_from(&self, source: DefDoc, kinds: &[EdgeKind]) -> Vec<Edge> {
        let edges = self.graph().from.get(&source).into_iter().flatten();
        edges.filter(|e| kinds.contains(&e.kind)).cloned().collect()
    }

    fn flows_from(&self, source: DefDoc, limit: usize) -> Vec<Edge> {
        self.graph().flows.get(&source).into_iter().flatten().take(limit).cloned().collect()
    }

    fn edges_to(&self, target: DefDoc, kinds: &[EdgeKind], limit: usize) -> Vec<Edge> {
        let edges = self.graph().to.get(&target).into_iter().flatten();
        edges.filter(|e| kinds.contains(&e.kind)).take(limit).cloned().collect()
    }

    fn in_degree(&self, target: DefDoc, kind: EdgeKind) -> u32 {
        self.graph().to.get(&target).into_iter().flatten().filter(|e| e.kind == kind).count() as u32
    }

    fn unresolved(&self, file: FileDoc) -> Vec<UnresolvedRecord> {
        self.graph().unresolved[file.index()].clone()
    }

    fn history_postings(&self, term: &str, out: &mut Vec<(FileDoc, u32)>) {
        out.extend(self.history_terms.get(term).into_iter().flatten());
    }

    fn history(&self, file: FileDoc) -> FileHistory {
        self.history[file.index()]
    }

    fn touched(&self, file: FileDoc, out: &mut Vec<Touched>) {
        out.extend(self.touched.get(&file).into_iter().flatten());
    }

    fn token_count(&self, _tokenizer: &str, _text_hash: [u8; 16]) -> Option<u32> {
        None
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
