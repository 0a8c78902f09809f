//! Questions about the edges of one state of an index, answered with handles and edges of that state.
//!
//! [`names`] finds definitions. [`walk`](fn@walk::walk) is the walk of every question, of the expansion from
//! hits and of tests that reach shown code. [`relation`] answers callers, callees, uses and dependents, and
//! [`neighbors`] the neighbours of one definition.

pub mod names;
pub mod neighbors;
pub mod relation;
pub mod walk;
