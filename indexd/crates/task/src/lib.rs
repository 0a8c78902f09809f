//! The context of a task as one Markdown document: which files matter, why, and the lines to look at.
//!
//! Text search alone is enough, so the document can be made from an index, from `rg` or from
//! `git grep`; call sites and tests that only an index knows come on top. Everything here is a pure
//! function of the task, the lines that were found and the texts of files; it knows no index and does no
//! IO, so that the client can use it when there is no daemon.
//!
//! The way through: [`queries::candidates`] of the task, lines found by some search ([`Line`]),
//! [`ranking::rank`], [`document::write`].

pub mod document;
pub mod paths;
pub mod queries;
pub mod ranking;

/// Files of a document.
pub const FILES_MAX: usize = 12;
/// Lines shown of one file.
pub const LINES_PER_FILE_MAX: usize = 50;
/// Bytes of a document.
pub const BYTES_MAX: usize = 50_000;
/// Bytes of a line that is shown; longer ones are left out as a gap.
pub const LINE_BYTES_MAX: usize = 2_000;

/// A line that holds one of the words searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Relative path of its file.
    pub path: String,
    /// 1-based number.
    pub number: u32,
    /// Its text.
    pub text: String,
}

/// A place that refers to something in a hit; only an index knows such places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Relative path of its file.
    pub path: String,
    /// 1-based line.
    pub line: u32,
    /// What it refers to.
    pub symbol: String,
    /// Whether the file is a test.
    pub is_test: bool,
}
