//! The packing engine: from a request and one immutable index state to a context pack.
//!
//! One way through: [`query`] understands the text, [`retrieve`] ranks definitions, [`expand`] walks
//! resolved edges from the best of them, [`score`] puts everything in one total order, [`dedup`]
//! keeps each content once, [`sections`] gives each candidate its role, [`select`] fills the budget,
//! [`render`] writes the text that a reader gets, and [`build`](fn@build) ties them together. The
//! crate sees an index only as `&dyn IndexView`; it does no IO and reads no clock, so equal inputs
//! give equal bytes.
//!
//! Start reading at [`request`] (what is asked), [`pack`] (what comes back), then [`build`](fn@build).

pub mod canonical;
pub mod config;
pub mod error;
pub mod pack;
pub mod query;
pub mod retrieve;
pub mod unit;
pub mod request;

pub use config::Config;
pub use error::PackError;
pub use pack::Pack;
pub use request::Request;
