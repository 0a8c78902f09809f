//! The vocabulary of the index: identities, places, facts of one file, edges between files, limits,
//! and the read traits that `resolve` and `pack` see instead of a store.
//!
//! This crate does no IO and knows no storage format. Start with [`facts`] (the content of one file by
//! itself), then [`links`] (the results of linking), then [`view`] (the read access to both).

pub mod coded;
pub mod facts;
pub mod grams;
pub mod ids;
pub mod key;
pub mod language;
pub mod limits;
pub mod links;
pub mod lists;
pub mod markdown;
pub mod memory;
pub mod names;
pub mod path;
pub mod roles;
pub mod span;
pub mod symbol;
pub mod terms;
pub mod view;

pub use facts::{
    Binding, BindingId, BindingKind, Chunk, ChunkKind, Def, DefFlags, DefIdx, DefKind, Entry, Expr, ExprId,
    Facts, FileFacts, Interface, List, Node, Outcome, Role, Source, StrId,
};
pub use ids::{ChunkDoc, ChunkUid, ContentHash, DefDoc, FileDoc, SymbolId};
pub use key::Key;
pub use language::{FileRoles, Language, Linking, REDACTION_MARK};
pub use links::{DefRef, EdgeKind, EvidenceKind, Link, Links, Rule, Unresolved, UnresolvedReason};
pub use path::RepoPath;
pub use span::{LineIndex, Lines, Span};
pub use symbol::symbol_id;
pub use view::{FactsView, IndexView};
