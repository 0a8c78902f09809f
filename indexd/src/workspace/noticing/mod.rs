//! Noticing changes: the watcher, the proof that it has caught up, and its condition.
//!
//! Read `watch` (an inbox of paths that may have changed), `cookie` (the proof where the queue belongs to a
//! library), `condition` (state shared by the threads of a workspace), `clock`.

pub mod clock;
pub mod condition;
pub mod cookie;
pub mod watch;
