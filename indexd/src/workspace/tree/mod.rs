//! The tree of a workspace: which paths belong to the set, what lies there, and what changed.
//!
//! Read `rules` (which paths belong to the set), `scan` (all of them at once), `known` (files as they were read), `sweep` (what differs from those), `git`
//! (where a repository keeps `HEAD` and its rules).

pub mod git;
pub mod known;
pub mod rules;
pub mod scan;
pub mod sweep;

pub use sweep::{ChangeSet, Tree};
