//! An index as JSON lines, for tools that read it elsewhere and later: what each artifact holds, and how it
//! is written from any view.
//!
//! [`Artifact`] is the list; [`mod@line`] has the shape of each line; [`write`](fn@write) goes from a view to
//! lines. The lines hold all of an index: a test reads them back, and a pack built from them equals the one
//! from the index that they were written from, to the byte.
//!
//! Files, chunks and definitions are numbered in the order of paths and places, so equal states give equal
//! artifacts. The crate does no IO.

pub mod line;
mod names;
pub mod write;

pub use write::{Vocabulary, write};

use indexd_model::links::EdgeKind;

/// The version of the lines; a reader refuses any other.
pub const FORMAT: u32 = 1;

/// One artifact: lines of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Artifact {
    /// One line: the state that was written.
    Index,
    /// Files with their texts, in the order of their paths.
    Files,
    /// Definitions, in the order of paths and places; of each file the file itself first.
    Symbols,
    /// Chunks, in the order of paths and places.
    ChunkMeta,
    /// Edges of one kind, by source and target.
    Edges(EdgeKind),
    /// Uses whose meaning is not known.
    Unresolved,
    /// Terms of texts with the chunks that hold them.
    Postings,
    /// Terms of paths.
    PathTerms,
    /// Terms of subjects of commits with the files that these touched.
    HistoryTerms,
}

impl Artifact {
    /// Every artifact, in the order in which they are written and have to be read.
    pub const ALL: [Self; 15] = [
        Self::Index,
        Self::Files,
        Self::Symbols,
        Self::ChunkMeta,
        Self::Edges(EdgeKind::Call),
        Self::Edges(EdgeKind::Usage),
        Self::Edges(EdgeKind::Import),
        Self::Edges(EdgeKind::Export),
        Self::Edges(EdgeKind::Dataflow),
        Self::Edges(EdgeKind::Inherit),
        Self::Edges(EdgeKind::Implement),
        Self::Unresolved,
        Self::Postings,
        Self::PathTerms,
        Self::HistoryTerms,
    ];

    /// Its name, also that of its file without `.jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Files => "files",
            Self::Symbols => "symbols",
            Self::ChunkMeta => "chunk_meta",
            Self::Edges(EdgeKind::Call) => "calls",
            Self::Edges(EdgeKind::Usage) => "usages",
            Self::Edges(EdgeKind::Import) => "imports",
            Self::Edges(EdgeKind::Export) => "exports",
            Self::Edges(EdgeKind::Dataflow | EdgeKind::DataflowIn) => "dataflow",
            Self::Edges(EdgeKind::Inherit) => "inherits",
            Self::Edges(EdgeKind::Implement) => "implements",
            Self::Unresolved => "unresolved",
            Self::Postings => "postings",
            Self::PathTerms => "path_terms",
            Self::HistoryTerms => "history_terms",
        }
    }

    /// The artifact of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name)
    }
}
