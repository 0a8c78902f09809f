//! The context of a task as one Markdown document: which files matter, why, and the lines to look at.
//!
//! [`queries`] are the words of a task that are looked for. [`document`] writes the files that somebody found:
//! the engine, by its pack, or where there is no index [`hits`], by the lines that `rg` or `git grep` printed.
//! Everything here is a pure function; it knows no index and does no IO, so that the client can use it when
//! there is no daemon.

pub mod document;
pub mod hits;
pub mod paths;
pub mod queries;

pub use indexd_model::markdown;
