//! The shell of the daemon: everything with effects. The pure crates below it do the thinking.
//!
//! Read [`workspace`] for the life of one repository (scan, watch, build, update, freshness) and
//! [`server`] for the life of one request.

pub mod config;
pub mod page;
pub mod server;
pub mod workspace;
