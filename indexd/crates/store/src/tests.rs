//! The store as a whole, against a small world of synthetic files.

mod crash;
mod incremental;
mod lifecycle;
mod reads;
mod version;
mod world;
