//! From changed paths to one commit of the index.
//!
//! Read `engine` (the tree and the index of a workspace), `stages` (one file, step by step), `update` (a
//! change set becomes one commit), `build` (the first one), `after` and `history` (what linking and ranking
//! read besides the file), `overlays` (an imported index), `siblings`, `contents`, `parked`,
//! `pulled` and `pieces` (what indexes share), `recipe` and `recovery` (which index on disk is believed),
//! `tokens` (counting ahead).

mod after;
pub mod build;
pub mod contents;
pub mod engine;
mod error;
mod history;
pub mod overlays;
pub mod parked;
pub mod pieces;
pub mod pulled;
pub mod recipe;
pub mod recovery;
pub mod siblings;
pub mod stages;
pub mod tokens;
pub mod update;
