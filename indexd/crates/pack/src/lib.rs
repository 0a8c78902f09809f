//! Builds a context pack from a request and one immutable state of an index.
//!
//! The stages run in one direction. [`query`] parses the text. [`retrieve`] ranks definitions. [`expand`]
//! walks resolved edges from the best of them. [`score`] gives all candidates one total order. `dedup`
//! keeps equal content once. `sections` assigns each candidate to a section, and `layout` to one of the layout asked for. [`assemble`] fills the budget.
//! [`render`] writes the text. [`build`](fn@build) runs them. The crate reads an index only through `&dyn
//! IndexView`. It does no IO and reads no clock, so equal inputs give equal bytes.
//!
//! [`graph`] answers questions about edges without a pack, and has the walk that expansion uses.
//!
//! Start reading at [`request`] (the input), [`pack`] (the output), then [`build`](fn@build).

pub mod assemble;
pub mod build;
mod candidate;
pub mod change;
mod confidence;
pub mod config;
mod context;
mod dedup;
pub mod excerpt;
pub mod expand;
pub mod expected;
pub mod gather;
pub mod graph;
pub mod identity;
mod intent;
mod kind;
mod layout;
mod links;
pub mod naming;
pub mod pack;
mod page;
mod patterns;
pub mod places;
pub mod query;
pub mod render;
pub mod request;
pub mod retrieve;
pub mod role;
pub mod score;
mod sections;
mod tail;
pub mod template;
pub mod tuning;
pub mod unit;
mod write;

pub use build::{answer, build, preview};
pub use change::Change;
pub use config::Config;
pub use context::{Context, Decision};
pub use indexd_api::canonical;
pub use indexd_api::error::{self, PackError};
pub use indexd_model::symbol_id;
pub use pack::Pack;
pub use request::{Asked, Request};
pub use tuning::Tuning;
