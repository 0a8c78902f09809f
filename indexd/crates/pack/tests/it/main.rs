//! Packs of small repositories with a known call graph, against the contract.

mod contract;
mod golden;
mod named;
mod options;
mod properties;
mod ranking;
mod support;
mod why;
