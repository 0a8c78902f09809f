//! Workspaces: repository roots that are being indexed, each kept in step with its tree.
//!
//! Modules, in reading order; a module uses only those before it:
//!
//! - `tree`: the paths that belong to the set, the files there, and the changes since the last look.
//! - `noticing`: the paths that may have changed, and the proof that nothing is missing.
//! - `indexing`: the steps from a change set to one commit; the first build; state shared by indexes.
//! - `life`: the event loop of one workspace, its failures, and the memory of all of them.
//!
//! Other files: `status` (the state that a workspace reports), `handle` (a workspace as requests see it),
//! `registry` (all workspaces), `head` (files that are unchanged since HEAD), `why` (the reason why a path is
//! in the set or not) and `threads`. Everything here may block: callers run it on a pool.

pub mod handle;
pub mod head;
pub mod indexing;
pub mod life;
pub mod noticing;
mod registry;
mod status;
mod threads;
pub mod tree;
pub mod why;

pub use handle::Workspace;
pub use indexd_proto::workspace::Problem;
pub use indexing::overlays::stored as stored_overlays;
pub use indexing::pulled::Pulls;
pub use life::collect::Collect;
pub use life::memory::Pressure;
pub use registry::{RECORDS, Registry, folder_name};
pub use status::{Freshness, Progress, Wait, WorkspaceError};
pub use tree::rules::Rule;
