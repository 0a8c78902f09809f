//! Integration tests: one program, one module for each promise.

mod answers;
mod cli;
mod client;
mod daemon;
mod documents;
mod edits;
mod graph;
mod imports;
mod incremental;
mod protocol;
mod recovery;
mod requirements;
mod sharing;
mod support;
mod user;
mod watching;
