//! What `ctl`, editors and the daemon say to each other: JSON-RPC 2.0, one object a line.
//!
//! Start with [`frame`] (lines and their limit), then [`rpc`] (requests, answers, notifications),
//! [`call`] (the closed list of methods) and the modules of their parameters and results.
//! [`error`] holds the codes that are never renamed or reused; [`paths`] says where the socket is.
//! `PROTOCOL.md` beside this crate is the same for people, `schema/` for machines.
//!
//! This crate knows nothing of the index: the daemon alone turns its types into these.

pub mod answer;
pub mod call;
pub mod card;
pub mod correlation;
pub mod documents;
pub mod error;
pub mod export;
pub mod frame;
pub mod graph;
pub mod grep;
pub mod hello;
pub mod highlight;
pub mod import;
pub mod limits;
pub mod overlay;
pub mod paths;
pub mod printed;
pub mod request;
pub mod rpc;
#[cfg(feature = "schema")]
pub mod schema;
pub mod search;
pub mod share;
pub mod shown;
pub mod sources;
pub mod symbol;
pub mod why;
pub mod workspace;

pub use indexd_api::pack;

pub use call::{Call, Method};
pub use error::{ErrorCode, ErrorObject};
pub use rpc::{Id, Incoming, Outgoing};

/// The protocol version spoken by this crate. It counts breaking changes only; additions are
/// announced as capabilities.
pub const PROTOCOL_VERSION: u32 = 1;

/// The oldest protocol version still understood.
pub const PROTOCOL_VERSION_MIN: u32 = 1;
