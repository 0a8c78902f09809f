//! Languages: bytes to [`FileFacts`](indexd_model::FileFacts). One folder per language; only this
//! crate knows tree-sitter, and a syntax tree never outlives the extraction of its file.

pub mod builder;
pub mod chunks;
pub mod digest;
