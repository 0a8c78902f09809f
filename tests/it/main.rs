//! Integration tests: one program, one module for each promise.

mod answers;
mod cli;
mod client;
mod daemon;
mod edits;
mod graph;
mod imports;
mod incremental;
mod mcp;
mod protocol;
mod recovery;
mod sharing;
mod support;
mod unsaved;
mod user;
mod watching;
