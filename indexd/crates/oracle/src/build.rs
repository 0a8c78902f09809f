//! From extracted files to the vectors and maps of an [`Oracle`].

use crate::Oracle;
use indexd_lang::extract;
use indexd_model::memory::{MemoryFacts, Rows};
use indexd_model::names::qualified_name;
use indexd_model::terms::{FileTerms, Vocabulary};
use indexd_model::view::{ChunkRecord, DefRecord, FileHistory, FileRecord, PathPosting, Posting, digest_of};
use indexd_model::{
    ChunkDoc, ContentHash, DefDoc, DefFlags, DefIdx, DefKind, Facts, FileDoc, FileFacts, LineIndex, Lines,
    RepoPath, Span,
};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::sync::Arc;

/// One file, read and extracted. Cheap to clone.
#[derive(Clone)]
pub struct OracleFile {
    /// Where it is.
    pub path: RepoPath,
    /// Hash of its bytes.
    pub hash: ContentHash,
    /// Bytes on disk.
    pub size: u64,
    /// Lines of text.
    pub n_lines: u32,
    /// What extraction found.
    pub facts: Arc<FileFacts>,
    /// The decoded text.
    pub text: Arc<str>,
}

impl OracleFile {
    /// Reads and extracts.
    pub fn read(path: RepoPath, bytes: &[u8]) -> Self {
        let found = extract(&path, bytes);
        Self {
            hash: ContentHash::of(bytes),
            size: bytes.len() as u64,
            n_lines: found.lines.n_lines(),
            facts: Arc::new(found.facts),
            text: found.text,
            path,
        }
    }
}

/// What several indexes of one repository share: a vocabulary, and the terms of files seen before.
#[derive(Default)]
pub struct Shared {
    vocabulary: Vocabulary,
    terms: FxHashMap<(RepoPath, ContentHash), Arc<FileTerms>>,
}

impl Shared {
    fn terms(&mut self, file: &OracleFile) -> Arc<FileTerms> {
        let vocabulary = &mut self.vocabulary;
        let entry = self.terms.entry((file.path.clone(), file.hash)).or_insert_with(|| {
            let facts = Facts::inside(&file.facts);
            Arc::new(indexd_text::file_terms(facts, &file.facts.chunks, &file.path, &file.text, vocabulary))
        });
        Arc::clone(entry)
    }
}

impl Oracle {
    /// Builds the index of extracted files, in any order.
    ///
    /// # Panics
    /// When a path is given twice.
    pub fn build(mut files: Vec<OracleFile>, shared: &mut Shared) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(files.windows(2).all(|w| w[0].path != w[1].path), "a path is given twice");
        let interfaces =
            files.iter().map(|f| (f.path.clone(), Arc::new(f.facts.interface.clone()))).collect();
        let rows = Rows {
            facts: MemoryFacts::new(interfaces),
            head: "none".to_owned(),
            history: vec![FileHistory::default(); files.len()],
            touched: vec![Vec::new(); files.len()],
            ..Rows::default()
        };
        let mut out = Self { all: Vec::new(), rows, edges: OnceCell::new() };
        let mut leaves = blake3::Hasher::new();
        let mut postings: Vec<Vec<Posting>> = Vec::new();
        let mut path_postings: Vec<Vec<PathPosting>> = Vec::new();
        for (i, file) in files.into_iter().enumerate() {
            leaves.update(file.path.as_bytes());
            leaves.update(&[0]);
            leaves.update(&file.hash.0);
            let terms = shared.terms(&file);
            let n_terms = shared.vocabulary.len();
            postings.resize_with(n_terms, Vec::new);
            path_postings.resize_with(n_terms, Vec::new);
            out.add_file(FileDoc(i as u32), file, &terms, &mut postings, &mut path_postings);
        }
        out.rows.terms = by_term(postings, &shared.vocabulary);
        out.rows.paths = by_term(path_postings, &shared.vocabulary);
        out.rows.signature = format!("b3:{}", leaves.finalize().to_hex());
        out
    }

    fn add_file(
        &mut self,
        doc: FileDoc,
        file: OracleFile,
        terms: &FileTerms,
        postings: &mut [Vec<Posting>],
        path_postings: &mut [Vec<PathPosting>],
    ) {
        let first = self.rows.chunks.len() as u32;
        let base = self.rows.defs.len() as u32;
        self.rows.def_base.push(base);
        self.add_defs(doc, &file);
        for (chunk, counted) in file.facts.chunks.iter().zip(&terms.chunks) {
            let at = ChunkDoc(self.rows.chunks.len() as u32);
            let def = chunk.def.some().map_or(DefDoc::NONE, |d| DefDoc(base + 1 + d.0));
            self.rows.chunks.push(ChunkRecord {
                file: doc,
                span: chunk.span,
                lines: chunk.lines,
                def,
                kind: chunk.kind,
                part: chunk.part,
                n_parts: chunk.n_parts,
                lens: counted.lens,
                digest: digest_of(file.text.get(chunk.span.range()).unwrap_or("")),
            });
            if def != DefDoc::NONE {
                self.rows.chunks_of.entry(def).or_default().push(at);
            }
            for &(term, counts) in &counted.terms {
                postings[term as usize].push(Posting { chunk: at, counts });
            }
            for (sum, len) in self.rows.stats.field_lens.iter_mut().zip(&counted.lens) {
                *sum += u64::from(*len);
            }
        }
        for &(term, count) in &terms.path {
            path_postings[term as usize].push(PathPosting { file: doc, count });
        }
        self.rows.stats.n_files += 1;
        self.rows.stats.n_chunks += u64::from(self.rows.chunks.len() as u32 - first);
        self.rows.stats.path_len += u64::from(terms.path_len);
        let interface = &file.facts.interface;
        self.rows.files.push(FileRecord {
            path: Arc::from(&*file.path),
            language: interface.language,
            roles: interface.roles,
            outcome: interface.outcome,
            hash: file.hash,
            size: file.size,
            n_lines: file.n_lines,
            chunks: first..self.rows.chunks.len() as u32,
            path_len: terms.path_len,
        });
        self.rows.texts.push(file.text);
        self.all.push(file.facts);
    }

    fn add_defs(&mut self, doc: FileDoc, file: &OracleFile) {
        let lines = LineIndex::new(&file.text);
        let base = self.rows.defs.len() as u32;
        let whole = Span { start: 0, end: file.text.len() as u32 };
        self.rows.defs.push(DefRecord {
            file: doc,
            idx: DefIdx::NONE,
            name: Arc::from(&*file.path),
            qualified: "".into(),
            kind: DefKind::Section,
            flags: DefFlags::default(),
            parent: DefDoc::NONE,
            span: whole,
            lines: Lines { start: 1, end: lines.count() },
            name_span: Span::default(),
            name_line: 1,
            head: Span::default(),
            doc: Span::default(),
        });
        let facts = Facts::inside(&file.facts);
        for (i, def) in file.facts.interface.defs.iter().enumerate() {
            let name: Arc<str> = Arc::from(facts.str(def.name));
            let at = DefDoc(self.rows.defs.len() as u32);
            self.rows.by_name.entry(Arc::clone(&name)).or_default().push(at);
            self.rows.defs.push(DefRecord {
                file: doc,
                idx: DefIdx(i as u32),
                name,
                qualified: qualified_name(&facts, DefIdx(i as u32)).into(),
                kind: def.kind,
                flags: def.flags,
                parent: def.parent.some().map_or(DefDoc::NONE, |p| DefDoc(base + 1 + p.0)),
                span: def.span,
                lines: lines.lines(def.span),
                name_span: def.name_span,
                name_line: lines.line(def.name_span.start),
                head: def.head,
                doc: def.doc,
            });
        }
    }
}

/// The lists that are not empty, by the terms whose numbers are their places.
fn by_term<T>(lists: Vec<Vec<T>>, vocabulary: &Vocabulary) -> FxHashMap<Arc<str>, Vec<T>> {
    let numbered = (0..).zip(lists).filter(|(_, list)| !list.is_empty());
    numbered.map(|(number, list)| (vocabulary.term(number).into(), list)).collect()
}
