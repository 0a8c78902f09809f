//! The unit that is ranked and packed: a definition with all its chunks, or a chunk of text between
//! definitions.

use crate::graph::names::used;
use crate::patterns::{RoleGlobs, RolePatterns};
use indexd_model::view::{ChunkRecord, DefRecord, Edge, FileRecord, PathPosting};
use indexd_model::{ChunkDoc, ChunkKind, DefDoc, DefIdx, EdgeKind, FileDoc, IndexView, Lines, Span};
use indexd_text::bm25::ln;
use indexd_text::terms;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Identifies a unit by its first chunk, which belongs to no other unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UnitKey(pub ChunkDoc);

/// A unit with the data that ordering and excerpts need.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The key.
    pub key: UnitKey,
    /// The file.
    pub file: FileDoc,
    /// The definition; `NONE` between definitions.
    pub def: DefDoc,
    /// The kind of its chunks.
    pub kind: ChunkKind,
    /// Its chunks, in the order of their parts.
    pub chunks: SmallVec<[ChunkDoc; 2]>,
    /// The byte spans and lines that its chunks cover, in order; adjacent ones are joined.
    pub spans: SmallVec<[(Span, Lines); 1]>,
}

impl Unit {
    /// The lines from the first to the last, gaps included.
    pub fn lines(&self) -> Lines {
        Lines { start: self.spans[0].1.start, end: self.spans[self.spans.len() - 1].1.end }
    }

    /// The numbers of its bytes and of its lines, without gaps.
    pub fn size(&self) -> (u32, u32) {
        (self.spans.iter().map(|(s, _)| s.len()).sum(), self.spans.iter().map(|(_, l)| l.count()).sum())
    }

    /// The bytes from the first to the last, gaps included.
    pub fn span(&self) -> Span {
        Span { start: self.spans[0].0.start, end: self.spans[self.spans.len() - 1].0.end }
    }
}

/// Units and chunks that a typical request reads; a capacity, not a limit.
const UNITS_EXPECTED: usize = 1_700;

/// Maximum edges read into one definition.
const EDGES_IN_MAX: usize = 128;

/// Maximum files read for one name.
pub const FILES_NAMED_MAX: usize = 1_000;

/// Reads units and files, each once for one request. No hash map is iterated.
pub struct Units<'v> {
    /// The snapshot.
    pub view: &'v dyn IndexView,
    units: FxHashMap<UnitKey, Rc<Unit>>,
    files: FxHashMap<FileDoc, Rc<FileRecord>>,
    chunks: FxHashMap<ChunkDoc, ChunkRecord>,
    defs: FxHashMap<DefDoc, Option<Rc<Unit>>>,
    parts: FxHashMap<DefDoc, Rc<[ChunkDoc]>>,
    def_records: FxHashMap<DefDoc, Rc<DefRecord>>,
    edges: FxHashMap<DefDoc, Rc<[Edge]>>,
    /// Edges into definitions, by their kinds.
    edges_in: FxHashMap<(DefDoc, Vec<EdgeKind>), Rc<[Edge]>>,
    /// Files by the words in their paths.
    files_with: FxHashMap<String, Rc<[FileDoc]>>,
    usages: FxHashMap<DefDoc, f64>,
    /// Globs that set the roles of paths; `None` for the default rules.
    roles: Option<RoleGlobs>,
}

impl<'v> Units<'v> {
    /// Creates a reader with empty caches.
    pub fn new(view: &'v dyn IndexView) -> Self {
        Self {
            view,
            units: FxHashMap::with_capacity_and_hasher(UNITS_EXPECTED, FxBuildHasher),
            files: FxHashMap::default(),
            chunks: FxHashMap::with_capacity_and_hasher(UNITS_EXPECTED, FxBuildHasher),
            defs: FxHashMap::default(),
            parts: FxHashMap::default(),
            def_records: FxHashMap::with_capacity_and_hasher(UNITS_EXPECTED, FxBuildHasher),
            edges: FxHashMap::default(),
            edges_in: FxHashMap::default(),
            files_with: FxHashMap::default(),
            usages: FxHashMap::default(),
            roles: None,
        }
    }

    /// Sets the patterns that decide the roles of files. Those that the configuration has refused decide nothing.
    #[must_use]
    pub fn with_roles(mut self, roles: &RolePatterns) -> Self {
        self.roles = (!roles.is_empty()).then(|| roles.compile().ok()).flatten();
        self
    }

    /// The file's record.
    pub fn file(&mut self, file: FileDoc) -> Rc<FileRecord> {
        let (view, roles) = (self.view, &self.roles);
        let read = || {
            let mut record = view.file(file);
            if let Some(roles) = roles {
                record.roles = roles.of(&record.path, record.roles);
            }
            Rc::new(record)
        };
        Rc::clone(self.files.entry(file).or_insert_with(read))
    }

    /// The definition's record.
    pub fn def(&mut self, def: DefDoc) -> Rc<DefRecord> {
        Rc::clone(self.def_records.entry(def).or_insert_with(|| Rc::new(self.view.def(def))))
    }

    /// Edges out of a definition: calls, uses, inheritance and implementation, sorted by kind, then by
    /// target.
    pub fn edges(&mut self, source: DefDoc) -> Rc<[Edge]> {
        const READ: [EdgeKind; 4] = [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement];
        let edges = self.edges.entry(source).or_insert_with(|| self.view.edges_from(source, &READ).into());
        Rc::clone(edges)
    }

    /// Edges of the given kinds into a definition, at most `EDGES_IN_MAX`.
    pub fn edges_in(&mut self, target: DefDoc, kinds: &[EdgeKind]) -> Rc<[Edge]> {
        let read = || self.view.edges_to(target, kinds, EDGES_IN_MAX).into();
        Rc::clone(self.edges_in.entry((target, kinds.to_vec())).or_insert_with(read))
    }

    /// How often a definition is used: `ln(2 + n)` for `n` calls and uses in the tree.
    pub fn usage(&mut self, def: DefDoc) -> f64 {
        let view = self.view;
        *self.usages.entry(def).or_insert_with(|| ln(2.0 + f64::from(used(view, def))))
    }

    /// The chunk's record.
    pub fn chunk(&mut self, chunk: ChunkDoc) -> ChunkRecord {
        *self.chunks.entry(chunk).or_insert_with(|| self.view.chunk(chunk))
    }

    /// The unit to which a chunk belongs.
    pub fn of_chunk(&mut self, chunk: ChunkDoc) -> Rc<Unit> {
        let record = self.chunk(chunk);
        let chunks = match record.def.some() {
            Some(def) if record.n_parts > 1 => Some(self.parts(def)).filter(|all| all.contains(&chunk)),
            _ => None,
        };
        let key = UnitKey(chunks.as_ref().map_or(chunk, |all| all[0]));
        if let Some(unit) = self.units.get(&key) {
            return Rc::clone(unit);
        }
        let chunks = chunks.map_or_else(|| smallvec![chunk], |all| SmallVec::from_slice(&all));
        let mut spans: SmallVec<[(Span, Lines); 1]> = SmallVec::new();
        for &c in &chunks {
            let r = self.chunk(c);
            match spans.last_mut() {
                Some((span, lines)) if span.end == r.span.start || lines.end + 1 == r.lines.start => {
                    span.end = r.span.end;
                    lines.end = r.lines.end;
                }
                _ => spans.push((r.span, r.lines)),
            }
        }
        let unit =
            Rc::new(Unit { key, file: record.file, def: record.def, kind: record.kind, chunks, spans });
        self.units.insert(key, Rc::clone(&unit));
        unit
    }

    /// The units of a file, in its order.
    pub fn in_file(&mut self, file: FileDoc) -> Vec<Rc<Unit>> {
        let chunks = self.file(file).chunks.clone();
        let mut out: Vec<Rc<Unit>> = chunks.map(|c| self.of_chunk(ChunkDoc(c))).collect();
        out.dedup_by_key(|unit| unit.key);
        out
    }

    /// Files whose path contains every term of `name`, ascending, at most about [`FILES_NAMED_MAX`].
    pub fn files_with(&mut self, name: &str) -> Rc<[FileDoc]> {
        if let Some(known) = self.files_with.get(name) {
            return Rc::clone(known);
        }
        let mut lists: Vec<Vec<PathPosting>> = Vec::new();
        terms(name, |term| {
            let mut out = Vec::new();
            self.view.path_postings(term, &mut out);
            lists.push(out);
        });
        lists.sort_by_key(Vec::len);
        let Some((first, others)) = lists.split_first() else { return Rc::default() };
        let files = first.iter().map(|p| p.file);
        let has_all = |f: &FileDoc| others.iter().all(|l| l.binary_search_by_key(f, |p| p.file).is_ok());
        let files: Rc<[FileDoc]> = files.filter(has_all).take(FILES_NAMED_MAX + 1).collect();
        self.files_with.insert(name.to_owned(), Rc::clone(&files));
        files
    }

    fn parts(&mut self, def: DefDoc) -> Rc<[ChunkDoc]> {
        Rc::clone(self.parts.entry(def).or_insert_with(|| self.view.chunks_of(def).into()))
    }

    /// The unit that shows a definition: its own, else that of the enclosing definition; for a whole file its
    /// first chunk. `None` for files without chunks.
    pub fn of_def(&mut self, def: DefDoc) -> Option<Rc<Unit>> {
        if let Some(known) = self.defs.get(&def) {
            return known.clone();
        }
        let unit = match self.view.chunks_of(def).first() {
            Some(first) => Some(self.of_chunk(*first)),
            None => {
                let record = self.view.def(def);
                match record.parent.some() {
                    Some(parent) => self.of_def(parent),
                    None => self.at(record.file, record.name_span.start),
                }
            }
        };
        self.defs.insert(def, unit.clone());
        unit
    }

    /// The definition of a unit, or its file, and the functions that are shown within it.
    pub fn within(&self, unit: &Unit) -> Vec<DefDoc> {
        let doc = |idx| self.view.def_doc(unit.file, idx);
        let own = unit.def.some().unwrap_or_else(|| doc(DefIdx::NONE));
        let is_inside = |at| unit.spans.iter().any(|(span, _)| span.contains(at));
        let interface = self.view.interface(unit.file);
        let functions =
            interface.defs.iter().enumerate().filter(|(_, d)| d.kind.is_callable() && is_inside(d.name_span));
        let functions = functions.map(|(i, _)| doc(DefIdx(i as u32))).filter(|d| *d != own);
        [own].into_iter().chain(functions).collect()
    }

    /// The unit at a byte of a file; the first unit if no chunk contains the byte.
    pub fn at(&mut self, file: FileDoc, offset: u32) -> Option<Rc<Unit>> {
        let found = self.first_chunk(file, |c| c.span.end <= offset);
        let found = found.filter(|c| self.chunk(*c).span.start <= offset);
        let found = found.or_else(|| self.file(file).chunks.clone().next().map(ChunkDoc))?;
        Some(self.of_chunk(found))
    }

    /// The first chunk of a file that is not before the one looked for.
    pub fn first_chunk(
        &mut self,
        file: FileDoc,
        is_before: impl Fn(ChunkRecord) -> bool,
    ) -> Option<ChunkDoc> {
        let range = self.file(file).chunks.clone();
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let mid = low + (high - low) / 2;
            if is_before(self.chunk(ChunkDoc(mid))) { low = mid + 1 } else { high = mid }
        }
        (low < range.end).then_some(ChunkDoc(low))
    }
}
