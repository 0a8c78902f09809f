//! Facts of small sources.
