//! Views in memory: of facts, filled while the first build parses and used to link it, and of a whole index
//! that is made once and never changed.

use crate::facts::{DefIdx, Interface};
use crate::ids::{ChunkDoc, DefDoc, FileDoc};
use crate::key::Key;
use crate::links::EdgeKind;
use crate::path::RepoPath;
use crate::view::{
    ChunkRecord, CorpusStats, DefPlace, DefRecord, Edge, FactsView, FileHistory, FileRecord, IndexView,
    PathPosting, Posting, Touched, UnresolvedRecord,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Interfaces of all files in path order: a file's handle is its rank.
#[derive(Default)]
pub struct MemoryFacts {
    paths: Vec<Arc<str>>,
    interfaces: Vec<Arc<Interface>>,
    providers: Vec<FileDoc>,
    runs: FxHashMap<Key, (u32, u32)>,
}

impl MemoryFacts {
    /// Builds the view. The files may come in any order; equal paths must not occur.
    pub fn new(mut files: Vec<(RepoPath, Arc<Interface>)>) -> Self {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        let mut pairs = Vec::new();
        for (i, (_, interface)) in files.iter().enumerate() {
            let alike = interface.entries.chunk_by(|a, b| a.key == b.key);
            pairs.extend(alike.map(|entries| (entries[0].key, FileDoc(i as u32))));
        }
        pairs.sort_unstable();
        let mut runs = FxHashMap::default();
        let mut start = 0;
        for run in pairs.chunk_by(|a, b| a.0 == b.0) {
            runs.insert(run[0].0, (start, run.len() as u32));
            start += run.len() as u32;
        }
        let (paths, interfaces) = files.into_iter().map(|(p, f)| (Arc::from(&*p), f)).unzip();
        Self { paths, interfaces, providers: pairs.into_iter().map(|p| p.1).collect(), runs }
    }

    /// Number of files; handles run from 0 to below this.
    pub fn n_files(&self) -> u32 {
        self.paths.len() as u32
    }
}

impl FactsView for MemoryFacts {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        match self.runs.get(&key) {
            Some(&(start, n)) => self.providers[start as usize..(start + n) as usize].to_vec(),
            None => Vec::new(),
        }
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        Arc::clone(&self.interfaces[file.index()])
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        Arc::clone(&self.paths[file.index()])
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.paths.binary_search_by(|p| (**p).cmp(path)).ok().map(|i| FileDoc(i as u32))
    }
}

/// An index as vectors and maps, without its edges. A handle is a position.
#[derive(Default)]
pub struct Rows {
    /// Interfaces of the files.
    pub facts: MemoryFacts,
    /// Texts of the files.
    pub texts: Vec<Arc<str>>,
    /// The files, in path order.
    pub files: Vec<FileRecord>,
    /// Facts of past commits about each file.
    pub history: Vec<FileHistory>,
    /// Lines of each file that the newest commits changed.
    pub touched: Vec<Vec<Touched>>,
    /// The definitions, file by file.
    pub defs: Vec<DefRecord>,
    /// The first definition of each file: the file itself.
    pub def_base: Vec<u32>,
    /// Definitions by name.
    pub by_name: FxHashMap<Arc<str>, Vec<DefDoc>>,
    /// The chunks, file by file.
    pub chunks: Vec<ChunkRecord>,
    /// Chunks by definition.
    pub chunks_of: FxHashMap<DefDoc, Vec<ChunkDoc>>,
    /// Postings by term.
    pub terms: FxHashMap<Arc<str>, Vec<Posting>>,
    /// Postings by term of paths.
    pub paths: FxHashMap<Arc<str>, Vec<PathPosting>>,
    /// Files by term of the subjects of commits, with counts.
    pub history_terms: FxHashMap<String, Vec<(FileDoc, u32)>>,
    /// The sums over all chunks.
    pub stats: CorpusStats,
    /// The index signature.
    pub signature: String,
    /// HEAD's commit id, or `none`.
    pub head: String,
}

/// Edges by source and by target.
#[derive(Default)]
pub struct Edges {
    from: FxHashMap<DefDoc, Vec<Edge>>,
    to: FxHashMap<DefDoc, Vec<Edge>>,
    /// Dataflow recorded by its receivers, by its source.
    flows: FxHashMap<DefDoc, Vec<Edge>>,
    /// Unresolved uses by file.
    pub unresolved: FxHashMap<FileDoc, Vec<UnresolvedRecord>>,
}

impl Edges {
    /// Adds an edge under both of its ends.
    pub fn add(&mut self, edge: Edge) {
        let out = if edge.is_turned { &mut self.flows } else { &mut self.from };
        out.entry(edge.source).or_default().push(edge.clone());
        self.to.entry(edge.target).or_default().push(edge);
    }

    /// Sorts edges into the order of a view, once all are added.
    pub fn sort(&mut self) {
        for edges in self.from.values_mut().chain(self.flows.values_mut()) {
            edges.sort_by_key(|e| (e.kind, e.target));
        }
        for edges in self.to.values_mut() {
            edges.sort_by_key(|e| (e.source, e.kind, e.is_turned));
        }
    }
}

/// An index in memory: the parts from which a view is made.
pub trait InMemory {
    /// All but the edges.
    fn rows(&self) -> &Rows;

    /// The edges, sorted.
    fn edges(&self) -> &Edges;

    /// As [`IndexView::locals`]; empty where no bodies are kept.
    fn locals_in(&self, _file: FileDoc) -> Vec<u32> {
        Vec::new()
    }
}

impl<T: InMemory> FactsView for T {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        self.rows().facts.providers(key)
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        self.rows().facts.interface(file)
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        self.rows().facts.path(file)
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.rows().facts.file_by_path(path)
    }
}

impl<T: InMemory> IndexView for T {
    fn signature(&self) -> String {
        self.rows().signature.clone()
    }

    fn head(&self) -> String {
        self.rows().head.clone()
    }

    fn stats(&self) -> CorpusStats {
        self.rows().stats
    }

    fn files(&self) -> Vec<FileDoc> {
        (0..self.rows().files.len() as u32).map(FileDoc).collect()
    }

    fn file(&self, file: FileDoc) -> FileRecord {
        self.rows().files[file.index()].clone()
    }

    fn def_places(&self, file: FileDoc) -> Vec<DefPlace> {
        let defs = &self.interface(file).defs;
        defs.iter().map(|d| DefPlace { span: d.span, name_span: d.name_span, flags: d.flags }).collect()
    }

    fn locals(&self, file: FileDoc) -> Vec<u32> {
        self.locals_in(file)
    }

    fn text(&self, file: FileDoc) -> Arc<str> {
        Arc::clone(&self.rows().texts[file.index()])
    }

    fn chunk(&self, chunk: ChunkDoc) -> ChunkRecord {
        self.rows().chunks[chunk.index()]
    }

    fn def_doc(&self, file: FileDoc, def: DefIdx) -> DefDoc {
        DefDoc(self.rows().def_base[file.index()] + def.some().map_or(0, |d| d.0 + 1))
    }

    fn def(&self, def: DefDoc) -> DefRecord {
        self.rows().defs[def.index()].clone()
    }

    fn chunks_of(&self, def: DefDoc) -> Vec<ChunkDoc> {
        self.rows().chunks_of.get(&def).cloned().unwrap_or_default()
    }

    fn defs_named(&self, name: &str) -> Vec<DefDoc> {
        self.rows().by_name.get(name).cloned().unwrap_or_default()
    }

    fn postings(&self, term: &str, out: &mut Vec<Posting>) {
        out.extend(self.rows().terms.get(term).into_iter().flatten());
    }

    fn doc_frequency_within(&self, term: &str, most: u32) -> Option<u32> {
        Some(self.rows().terms.get(term).map_or(0, |p| p.len() as u32)).filter(|n| *n <= most)
    }

    fn terms_from(&self, start: &str, most: usize) -> Vec<String> {
        let mut found: Vec<String> =
            self.rows().terms.keys().filter(|t| t.starts_with(start)).map(|t| t.to_string()).collect();
        found.sort_unstable();
        found.truncate(most);
        found
    }

    fn path_postings(&self, term: &str, out: &mut Vec<PathPosting>) {
        out.extend(self.rows().paths.get(term).into_iter().flatten());
    }

    fn edges_from(&self, source: DefDoc, kinds: &[EdgeKind]) -> Vec<Edge> {
        let edges = self.edges().from.get(&source).into_iter().flatten();
        edges.filter(|e| kinds.contains(&e.kind)).cloned().collect()
    }

    fn flows_from(&self, source: DefDoc, limit: usize) -> Vec<Edge> {
        self.edges().flows.get(&source).into_iter().flatten().take(limit).cloned().collect()
    }

    fn edges_to(&self, target: DefDoc, kinds: &[EdgeKind], limit: usize) -> Vec<Edge> {
        let edges = self.edges().to.get(&target).into_iter().flatten();
        edges.filter(|e| kinds.contains(&e.kind)).take(limit).cloned().collect()
    }

    fn in_degree(&self, target: DefDoc, kind: EdgeKind) -> u32 {
        self.edges().to.get(&target).into_iter().flatten().filter(|e| e.kind == kind).count() as u32
    }

    fn unresolved(&self, file: FileDoc) -> Vec<UnresolvedRecord> {
        self.edges().unresolved.get(&file).cloned().unwrap_or_default()
    }

    fn history_postings(&self, term: &str, out: &mut Vec<(FileDoc, u32)>) {
        out.extend(self.rows().history_terms.get(term).into_iter().flatten());
    }

    fn history(&self, file: FileDoc) -> FileHistory {
        self.rows().history[file.index()]
    }

    fn touched(&self, file: FileDoc, out: &mut Vec<Touched>) {
        out.extend(self.rows().touched[file.index()].iter().copied());
    }

    fn token_count(&self, _tokenizer: &str, _text_hash: [u8; 16]) -> Option<u32> {
        None
    }
}
