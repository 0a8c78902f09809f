//! The tree of a workspace: the paths that belong to the set, the files there, and their changes.
//!
//! Read `rules` (the paths that belong to the set), `scan` (all of them at once), `known` (files as they were
//! read), `sweep` (differences from those), `git` (the places of a repository's `HEAD` and rules).

pub mod git;
pub mod known;
pub mod rules;
pub mod scan;
pub mod sweep;

pub use sweep::{ChangeSet, Tree, TreeError};
