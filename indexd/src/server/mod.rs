//! The server: from bytes on a socket to an answer.
//!
//! Read in this order: [`backend`] (what serves a request, and what it may know of its caller),
//! [`dispatch`] (limits, cancellation and faults around it), [`connection`] (one client),
//! [`daemon`] (the lock, the socket, the end), [`service`] (the backend over real workspaces), with
//! `documents`, `graph`, `grep`, `edges`, `import`, `offers`, `place`, `records`, `seats`, `shown` and `metrics`
//! beside it. [`convert`] makes the types of the wire that several methods answer with. [`log`] is the log file,
//! [`limits`] the numbers.

pub mod backend;
pub mod bytes;
pub mod card;
pub mod change;
pub mod connection;
pub mod convert;
pub mod daemon;
pub mod dispatch;
pub mod documents;
pub mod edges;
pub mod graph;
pub mod grep;
pub mod highlight;
pub mod import;
pub mod limits;
pub mod log;
pub mod lookup;
pub mod metrics;
pub mod named;
pub mod offers;
pub mod pack_cache;
pub mod place;
pub mod records;
pub mod seats;
pub mod service;
pub mod show;
mod shown;
pub mod sources;
mod spool;
pub mod suggest;
pub mod unsaved;
pub mod why;

pub use backend::{Backend, Context};
pub use dispatch::Server;
