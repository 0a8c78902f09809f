//! Assigns a candidate to a section of the engine: a pure function of how it was found and of its file.
//!
//! The first matching rule claims it; the sections of the other matching rules are named in `why.also`. A
//! candidate without a matching rule is dropped as `no-rule`. Other sets of sections are projections of this
//! one, see [`crate::layout`].

use crate::candidate::{Candidate, Origin};
use crate::expand::shown_kind;
use crate::request::{EdgeType, SeedMode};
use crate::role::Role;
use indexd_model::ChunkKind;

/// The sections, in the order in which they are shown.
pub const SECTIONS: [&str; 10] =
    ["seeds", "callers", "callees", "imports", "exports", "usages", "dataflow", "tests", "docs", "related"];

/// Returns the sections that match a candidate, the one that claims it first: seeds, tests, docs, callers,
/// callees, imports, exports, usages, dataflow, related.
pub fn claims(c: &Candidate, mode: SeedMode) -> Vec<&'static str> {
    let mut out = Vec::new();
    if c.origin == Origin::Seed {
        out.push("seeds");
    }
    if c.role == Role::Test {
        // Import lists, constants and heads of classes do not show how something is tested.
        if out.is_empty() && (c.unit.kind.is_between() || c.unit.kind == ChunkKind::Type) {
            return out;
        }
        out.push("tests");
    }
    if c.role == Role::Doc {
        if mode == SeedMode::Code && out.is_empty() {
            return out;
        }
        if mode != SeedMode::Code {
            out.push("docs");
        }
    }
    if let Some(step) = c.path.last() {
        out.push(match (shown_kind(step.kind), step.is_out) {
            (EdgeType::Call, false) => "callers",
            (EdgeType::Call, true) => "callees",
            (EdgeType::Import, true) => "imports",
            (EdgeType::Import, false) | (EdgeType::Export, _) => "exports",
            (EdgeType::Usage, _) => "usages",
            (EdgeType::Dataflow, _) => "dataflow",
        });
    }
    if c.origin == Origin::Export {
        out.push("exports");
    }
    if matches!(c.origin, Origin::Neighbour | Origin::Text | Origin::Around) {
        out.push("related");
    }
    out
}
