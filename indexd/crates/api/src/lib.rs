//! Types that wire, engine and client share: the request for a pack, the pack, the map of a repository, and
//! the codes of errors. The published schemas are derived from them.

pub mod canonical;
pub mod error;
pub mod explanation;
pub mod map;
pub mod pack;
mod params;
pub mod request;
pub mod sources;
pub mod task;

pub use error::{ErrorCode, PackError};
pub use request::Request;
