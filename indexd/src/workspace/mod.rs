//! Workspaces: repository roots that are being indexed, each kept in step with its tree.
//!
//! Rooms, in reading order; a room uses those before it:
//!
//! - `tree`: which paths belong to the set, what lies there, and what changed since the last look.
//! - `noticing`: which paths may have changed, and the proof that nothing is missing.
//! - `indexing`: how a change set becomes one commit; the first build; what indexes share.
//! - `life`: the event loop of one workspace, its failures, and the memory of all of them.
//!
//! Beside them: `status` (what a workspace says of itself), `handle` (a workspace as requests see it),
//! `registry` (all workspaces), `head` (which files are as HEAD has them), `why` (why a path is in the
//! set or not) and `threads`. Everything here may block: callers run it on a pool.

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
pub use indexing::overlays::stored as stored_overlays;
pub use life::collect::Collect;
pub use life::memory::Pressure;
pub use noticing::condition::Problem;
pub use registry::{RECORDS, Registry, folder_name};
pub use status::{Freshness, Progress, WorkspaceError, WorkspaceState};
pub use tree::rules::Rule;
