//! Integration tests: one program, one module for each promise.

mod answers;
mod changes;
mod cli;
mod client;
mod daemon;
mod documents;
mod edits;
mod graph;
mod hostile;
mod imports;
mod incremental;
mod mcp;
mod packages;
mod protocol;
mod recovery;
mod reliability;
mod requirements;
mod sharing;
mod simulator;
mod support;
mod unsaved;
mod user;
mod watching;
