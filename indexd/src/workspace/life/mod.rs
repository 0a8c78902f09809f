//! The life of workspaces: opening, following, failing, being closed and being collected.
//!
//! Read `driver` (the event loop of one workspace), `failure` (what may be tried again), `memory` (the
//! ceiling of all workspaces), `collect` (indexes that nobody needs any more).

pub mod collect;
pub mod driver;
pub mod failure;
pub mod memory;
