//! The packing engine: from a request and one immutable index state to a context pack.
//!
//! One way through: [`query`] understands the text, [`retrieve`] ranks definitions, [`expand`] walks
//! resolved edges from the best of them, [`score`] puts everything in one total order, [`dedup`]
//! keeps each content once, [`sections`] gives each candidate its role, [`assemble`] fills the budget,
//! [`render`] writes the text that a reader gets, and [`build`](fn@build) ties them together. The
//! crate sees an index only as `&dyn IndexView`; it does no IO and reads no clock, so equal inputs
//! give equal bytes.
//!
//! Start reading at [`request`] (what is asked), [`pack`] (what comes back), then [`build`](fn@build).

pub mod assemble;
pub mod build;
pub mod candidate;
pub mod canonical;
pub mod change;
pub mod confidence;
pub mod config;
pub mod context;
pub mod contract;
pub mod dedup;
pub mod error;
pub mod evidence;
pub mod excerpt;
pub mod expand;
pub mod gather;
pub mod identity;
pub mod links;
pub mod naming;
pub mod pack;
pub mod page;
pub mod query;
pub mod render;
pub mod request;
pub mod retrieve;
pub mod role;
pub mod score;
pub mod sections;
mod share;
pub mod tuning;
pub mod unit;
mod write;

pub use build::{build, preview};
pub use change::Change;
pub use config::Config;
pub use context::{Context, Decision};
pub use error::PackError;
pub use indexd_model::symbol_id;
pub use pack::Pack;
pub use request::Request;
pub use tuning::Tuning;
