//! Runs workspaces: opens their indexes, follows their trees, retries after failures, closes and removes.
//!
//! Read `driver` (the event loop of one workspace), `failure` (the remedy for each error), `memory` (the
//! memory ceiling of all workspaces), `collect` (removal of unused indexes).

pub mod collect;
pub mod driver;
pub mod failure;
pub mod memory;
