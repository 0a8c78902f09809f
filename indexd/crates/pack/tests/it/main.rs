//! Packs of small repositories with a known call graph, against the contract.

mod contract;
mod excerpts;
mod golden;
mod intents;
mod named;
mod options;
mod properties;
mod ranking;
mod stated;
mod support;
mod walk;
mod why;
