//! Types that wire, engine and client share: the request for a pack, the pack, the map of a repository, the words
//! of the graph, and the codes of errors. The published schemas are derived from them.

pub mod canonical;
pub mod error;
pub mod explanation;
pub mod graph;
pub mod map;
pub mod pack;
mod params;
pub mod request;
pub mod sources;
pub mod task;

/// Derives the schema of a type with the feature `schema`, and nothing without.
#[cfg(not(feature = "schema"))]
pub use indexd_no_schema::JsonSchema;
#[cfg(feature = "schema")]
pub use schemars::JsonSchema;

pub use error::{ErrorCode, PackError};
pub use request::Request;
