//! Languages: bytes to [`FileFacts`](indexd_model::FileFacts). One folder per language; only this
//! crate knows tree-sitter, and a syntax tree never outlives the extraction of its file.
//!
//! Start with [`extract()`]: it decodes a file, finds its language and roles ([`roles`]) and hands
//! the text to a language (`go`, [`python`]), to an `outline` of sections (`markdown`, `rst`,
//! `config`, `make`) or to windows of [`lines`]. Every reader names pieces of the text, from
//! which `chunks` are cut.

// Without some of the languages parts of the vocabulary of tables are not used.
#![cfg_attr(not(feature = "default"), allow(dead_code))]

#[macro_use]
mod numbers;

mod builder;
mod chunks;
mod config;
pub mod decode;
mod digest;
pub mod extract;
mod go;
pub mod grammars;
pub mod highlight;
pub mod lines;
mod make;
mod markdown;
mod outline;
mod parse;
mod patch;
pub mod python;
pub mod roles;
mod rst;
pub mod tokens;
pub mod unread;

pub use extract::{Extracted, Input, extract, listed};
pub use parse::Parses;

/// Version that changes when the facts, or the stored content, of any unchanged file do; part of every leaf
/// of the index signature.
pub const EXTRACTOR_VERSION: u32 = 33;
