//! Integration tests: one program, one module for each promise.

mod cli;
mod edits;
mod graph;
mod imports;
mod incremental;
mod protocol;
mod recovery;
mod support;
mod watching;
