//! Noticing changes: the watcher, the proof that it has caught up, and how well it does.
//!
//! Read `watch` (an inbox of paths that may have changed), `cookie` (the proof where the queue belongs
//! to a library), `condition` (what the threads of a workspace know of each other), `clock`.

pub mod clock;
pub mod condition;
pub mod cookie;
pub mod watch;
