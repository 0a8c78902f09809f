//! Workspaces: repository roots that are being indexed, each kept in step with its tree.
//!
//! Read in this order: `rules` (which paths belong to the set), `scan` (all of them at once),
//! `watch` (the ones that may have changed), `engine` (a change set becomes one commit; the first
//! build), `driver` (the event loop of one workspace, and freshness), `recovery` (what is believed
//! after a stop), `registry` (many workspaces). Everything here may block: callers run it on a pool.

mod status;

pub use status::{Freshness, Progress, WorkspaceError, WorkspaceState, WorkspaceStatus};
