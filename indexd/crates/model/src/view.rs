//! The read side of an index: one immutable snapshot, seen through two traits.
//!
//! [`FactsView`] is what linking needs; [`IndexView`] adds what retrieval, expansion and rendering
//! need. Implementations: the LMDB snapshot of `store`, [`crate::memory::MemoryFacts`] during the
//! first build, the JSONL artifacts, and a naive oracle in tests.

use crate::facts::{ChunkKind, DefFlags, DefIdx, DefKind, Interface, Outcome, Role};
use crate::grams::Need;
use crate::ids::{ChunkDoc, ContentHash, DefDoc, FileDoc};
use crate::key::Key;
use crate::language::{FileRoles, Language};
use crate::links::{EdgeKind, Rule, UnresolvedReason};
use crate::span::{LineIndex, Lines, Span};
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Facts of all files of a snapshot, found by name.
pub trait FactsView {
    /// Files that provide an entry under `key`, ordered by path.
    fn providers(&self, key: Key) -> Vec<FileDoc>;

    /// The interface of a file; an empty one for files that are not parsed.
    fn interface(&self, file: FileDoc) -> Arc<Interface>;

    /// The path of a file.
    fn path(&self, file: FileDoc) -> Arc<str>;

    /// The file at exactly this path. Linking must look up [`Key::file`] through
    /// [`FactsView::providers`] instead, so that the lookup is recorded.
    fn file_by_path(&self, path: &str) -> Option<FileDoc>;
}

/// Fields of a chunk that are scored separately. The path is a field of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Field {
    /// The name of the definition.
    Name,
    /// The names around it: class, receiver type, outer functions.
    Qualifier,
    /// The signature.
    Signature,
    /// Doc comment or docstring.
    Doc,
    /// Everything else in the text.
    Body,
}

/// Number of [`Field`]s.
pub const N_FIELDS: usize = 5;

/// Term frequencies by field, saturating at 255.
pub type FieldCounts = [u8; N_FIELDS];

/// One chunk under one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The chunk.
    pub chunk: ChunkDoc,
    /// Occurrences of the term in each field of it.
    pub counts: FieldCounts,
}

/// One file under one term of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPosting {
    /// The file.
    pub file: FileDoc,
    /// Occurrences of the term in the path.
    pub count: u8,
}

/// Exact corpus statistics: sums of integers over all chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bitcode::Encode, bitcode::Decode)]
pub struct CorpusStats {
    /// Chunks.
    pub n_chunks: u64,
    /// Files.
    pub n_files: u64,
    /// Summed lengths, in terms, by field.
    pub field_lens: [u64; N_FIELDS],
    /// Summed lengths of paths, in terms, over files.
    pub path_len: u64,
}

/// A file of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Relative path.
    pub path: Arc<str>,
    /// Language.
    pub language: Language,
    /// Roles.
    pub roles: FileRoles,
    /// The outcome of parsing.
    pub outcome: Outcome,
    /// Hash of the bytes on disk; of their number for files that are not read.
    pub hash: ContentHash,
    /// Size on disk in bytes.
    pub size: u64,
    /// Lines of text.
    pub n_lines: u32,
    /// Its chunks in source order.
    pub chunks: Range<u32>,
    /// Length of the path in terms.
    pub path_len: u16,
}

/// The place of a definition in the text of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefPlace {
    /// The whole definition.
    pub span: Span,
    /// The name token.
    pub name_span: Span,
    /// Marks.
    pub flags: DefFlags,
}

/// A chunk of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRecord {
    /// Its file.
    pub file: FileDoc,
    /// Bytes of the stored text.
    pub span: Span,
    /// Lines.
    pub lines: Lines,
    /// Its definition; [`DefDoc::NONE`] between definitions.
    pub def: DefDoc,
    /// Kind.
    pub kind: ChunkKind,
    /// Index of the part within its definition.
    pub part: u16,
    /// Number of parts.
    pub n_parts: u16,
    /// Length of each field in terms, saturating.
    pub lens: [u16; N_FIELDS],
    /// [`digest_of`] its text.
    pub digest: u64,
}

/// A digest that distinguishes texts of one length without comparing them: XXH3 with 64 bits, of the bytes.
/// It does not protect against texts made to collide.
pub fn digest_of(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// A definition of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefRecord {
    /// Its file.
    pub file: FileDoc,
    /// Its index in the file's facts; `NONE` for the file itself.
    pub idx: DefIdx,
    /// Name; the file's path for the file itself.
    pub name: Arc<str>,
    /// Names from file level down, joined by dots; empty for the file itself.
    pub qualified: Arc<str>,
    /// Kind; `Section` for the file itself.
    pub kind: DefKind,
    /// Marks.
    pub flags: DefFlags,
    /// The definition around it; `NONE` at file level. A Go method's parent is `NONE`.
    pub parent: DefDoc,
    /// The whole definition.
    pub span: Span,
    /// The whole definition, in lines.
    pub lines: Lines,
    /// The name token.
    pub name_span: Span,
    /// 1-based line of the name token.
    pub name_line: u32,
    /// The signature.
    pub head: Span,
    /// The doc comment; empty when there is none.
    pub doc: Span,
}

/// One occurrence of an edge, in the file of [`Edge::site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// Byte offset of the token.
    pub at: u32,
    /// Its 1-based line.
    pub line: u32,
    /// Role of the identifier at this place.
    pub role: Role,
    /// The rule that fired.
    pub rule: Rule,
    /// Percent.
    pub confidence: u8,
}

/// An edge with all its occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Kind.
    pub kind: EdgeKind,
    /// Source: the definition (or file) around the uses.
    pub source: DefDoc,
    /// Target.
    pub target: DefDoc,
    /// True if the occurrences are in the target: dataflow that is recorded by its receiver.
    pub is_turned: bool,
    /// At least one, sorted by place.
    pub occurrences: Vec<Occurrence>,
}

impl Edge {
    /// The definition around the occurrences.
    pub fn site(&self) -> DefDoc {
        if self.is_turned { self.target } else { self.source }
    }

    /// The first occurrence that is certain enough to count as a use; others are only candidates.
    pub fn certain_use(&self) -> Option<&Occurrence> {
        self.occurrences.iter().find(|o| o.confidence >= CONFIDENCE_CERTAIN)
    }
}

/// Percent. An occurrence below this is a candidate and not a use.
pub const CONFIDENCE_CERTAIN: u8 = 50;

/// An unresolved use as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedRecord {
    /// The definition (or file) around it.
    pub source: DefDoc,
    /// The identifier.
    pub name: Arc<str>,
    /// Byte offset.
    pub at: u32,
    /// 1-based line.
    pub line: u32,
    /// Role of the identifier at this place.
    pub role: Role,
    /// The reason.
    pub reason: UnresolvedReason,
}

/// Facts of past commits about a file. All zero without history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileHistory {
    /// Commits read that touched it.
    pub n_commits: u32,
    /// Position of the newest of them, counted from the newest commit read (0 = HEAD).
    pub newest: u32,
}

/// Lines of a file that one of the newest commits changed, in the numbering of HEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touched {
    /// The lines; for a commit that only removed lines, the one before them.
    pub lines: Lines,
    /// Position of the commit, counted from the newest commit read (0 = HEAD).
    pub newest: u32,
}

/// One immutable state of an index.
pub trait IndexView: FactsView {
    /// The index signature: `b3:` and 64 hexadecimal digits.
    fn signature(&self) -> String;

    /// HEAD's commit id, or `none`.
    fn head(&self) -> String;

    /// Exact statistics.
    fn stats(&self) -> CorpusStats;

    /// All files, ordered by path.
    fn files(&self) -> Vec<FileDoc>;

    /// A file.
    fn file(&self, file: FileDoc) -> FileRecord;

    /// The chunks of a file, as in its record.
    fn chunks_in(&self, file: FileDoc) -> Range<u32> {
        self.file(file).chunks
    }

    /// The stored text of a file: its bytes decoded as UTF-8 (UTF-16 by BOM, else lossy), line ends
    /// and BOM kept. Empty for files without chunks.
    fn text(&self, file: FileDoc) -> Arc<str>;

    /// The files whose text may meet the need of a search, ordered by path; all files for a view without
    /// signatures. No matching file is missing.
    fn files_that_may_hold(&self, _need: &Need) -> Vec<FileDoc> {
        self.files()
    }

    /// The places of the definitions of a file, by their index in its facts.
    fn def_places(&self, file: FileDoc) -> Vec<DefPlace>;

    /// Offsets of the names of parameters and local variables in a file, in their uses and their
    /// declarations, ascending. Functions within functions and names bound by imports are not included.
    /// Empty for a view that keeps no facts of bodies.
    fn locals(&self, _file: FileDoc) -> Vec<u32> {
        Vec::new()
    }

    /// The lines of [`IndexView::text`].
    fn lines(&self, file: FileDoc) -> Arc<LineIndex> {
        Arc::new(LineIndex::new(&self.text(file)))
    }

    /// A chunk.
    fn chunk(&self, chunk: ChunkDoc) -> ChunkRecord;

    /// The definition handle of `def` in `file`; for `DefIdx::NONE`, the file's own handle.
    fn def_doc(&self, file: FileDoc, def: DefIdx) -> DefDoc;

    /// A definition.
    fn def(&self, def: DefDoc) -> DefRecord;

    /// Chunks of a definition in part order (a class: its head chunk).
    fn chunks_of(&self, def: DefDoc) -> Vec<ChunkDoc>;

    /// Definitions with exactly this name, ordered by path then position.
    fn defs_named(&self, name: &str) -> Vec<DefDoc>;

    /// Appends the postings of a term in ascending chunk order. Nothing for unknown terms.
    fn postings(&self, term: &str, out: &mut Vec<Posting>);

    /// Number of chunks in which a term occurs; an upper bound is not enough.
    fn doc_frequency(&self, term: &str) -> u32 {
        self.doc_frequency_within(term, u32::MAX).unwrap_or(u32::MAX)
    }

    /// [`IndexView::doc_frequency`] where it is at most `most`, otherwise `None`. Stops counting at `most`.
    fn doc_frequency_within(&self, term: &str, most: u32) -> Option<u32>;

    /// Terms of chunks that begin with `start`, in byte order, none twice, the first `most`.
    fn terms_from(&self, start: &str, most: usize) -> Vec<String>;

    /// Appends the files whose path holds a term, in ascending file order.
    fn path_postings(&self, term: &str, out: &mut Vec<PathPosting>);

    /// Edges of the given kinds out of a definition whose occurrences are in it, sorted by kind then by
    /// target (path, position). Dataflow to readers elsewhere is not included, see
    /// [`IndexView::flows_from`].
    fn edges_from(&self, source: DefDoc, kinds: &[EdgeKind]) -> Vec<Edge>;

    /// Dataflow out of a definition that is recorded by its receivers: readers of the variable, users of the
    /// result. At most `limit`, sorted by target (path, position).
    fn flows_from(&self, source: DefDoc, limit: usize) -> Vec<Edge>;

    /// Edges of the given kinds into a definition, at most `limit`, sorted by source (path,
    /// position) then kind. Of equal edges those whose occurrences are in the source come first.
    fn edges_to(&self, target: DefDoc, kinds: &[EdgeKind], limit: usize) -> Vec<Edge>;

    /// Number of edges of one kind into a definition.
    fn in_degree(&self, target: DefDoc, kind: EdgeKind) -> u32;

    /// Unresolved uses of a file, sorted by place.
    fn unresolved(&self, file: FileDoc) -> Vec<UnresolvedRecord>;

    /// Appends the files that commits with this term in their subject touched, with the number of
    /// such commits, in ascending file order. Nothing without history.
    fn history_postings(&self, term: &str, out: &mut Vec<(FileDoc, u32)>);

    /// History of a file.
    fn history(&self, file: FileDoc) -> FileHistory;

    /// Appends the lines of a file that the newest commits changed, in ascending order of their first line;
    /// runs may overlap, and then the lower position counts. Lines are those of HEAD: in a file that was
    /// edited since, they have moved. Nothing without history.
    fn touched(&self, file: FileDoc, out: &mut Vec<Touched>);

    /// A cached exact token count for a text by its BLAKE3 prefix, if one is stored.
    fn token_count(&self, tokenizer: &str, text_hash: [u8; 16]) -> Option<u32>;
}
