//! Placeholder crate documentation.
