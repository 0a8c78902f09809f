//! Assigns a candidate to a section of the layout: a pure function of its origin and its traits.
//!
//! Every candidate has at most one section (C-02). The first matching rule claims it; the sections of the
//! other matching rules are named in `why.also`. A candidate without a matching rule is dropped as `no-rule`.

use crate::candidate::{Candidate, Origin, Step};
use crate::expand::shown_kind;
use crate::request::{EdgeType, Layout, SeedMode};
use crate::role::Role;
use indexd_model::{ChunkKind, Language};

/// The sections of a layout, in the order in which they are shown.
pub fn sections(layout: Layout) -> Vec<&'static str> {
    match layout {
        Layout::Graph => vec![
            "seeds", "callers", "callees", "imports", "exports", "usages", "dataflow", "tests", "docs",
            "related",
        ],
        Layout::Agent => vec!["definitions", "key_usages", "dependencies", "tests", "config", "docs"],
        Layout::Flat => vec!["items"],
    }
}

/// The properties of a candidate that do not depend on how it was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// It contains a definition.
    pub is_definition: bool,
    /// It contains an import, or is a build manifest.
    pub has_import: bool,
    /// The role of its file.
    pub role: Option<Role>,
}

impl Traits {
    /// Reads the traits of a candidate; `has_import` comes from the imports of its file.
    pub fn of(c: &Candidate, has_import: bool) -> Self {
        let is_definition = c.unit.def.some().is_some() && c.unit.kind.is_definition();
        let is_manifest = matches!(c.file.language, Language::GoMod | Language::GoWork)
            || c.file.roles.has(indexd_model::FileRoles::MANIFEST);
        Self { is_definition, has_import: has_import || is_manifest, role: Some(c.role) }
    }

    /// The names in the output.
    pub fn names(&self, c: &Candidate) -> Vec<&'static str> {
        let mut out = Vec::new();
        let mut add = |on: bool, name| {
            if on {
                out.push(name);
            }
        };
        add(self.is_definition, "definition");
        add(c.origin == Origin::Edge, "reference");
        add(self.has_import, "import");
        add(c.role == Role::Test, "test");
        add(c.role == Role::Config, "config");
        add(c.role == Role::Doc, "doc");
        out
    }
}

/// Returns the section that claims the candidate, and the other matching sections.
pub fn claim(
    c: &Candidate,
    traits: Traits,
    layout: Layout,
    mode: SeedMode,
) -> (Option<&'static str>, Vec<&'static str>) {
    let mut claims = match layout {
        Layout::Graph => graph_claims(c, mode),
        Layout::Agent => agent_claims(c, traits),
        // The one section contains every candidate that the ten sections of layout `graph` would.
        Layout::Flat => graph_claims(c, mode).first().map(|_| "items").into_iter().collect(),
    };
    if claims.is_empty() {
        return (None, claims);
    }
    let first = claims.remove(0);
    claims.retain(|s| *s != first);
    (Some(first), claims)
}

/// The last edge on the path to the candidate.
fn last_step(c: &Candidate) -> Option<&Step> {
    c.path.last()
}

/// Claim order: seeds > tests > docs > callers > callees > imports > exports > usages > dataflow >
/// related.
fn graph_claims(c: &Candidate, mode: SeedMode) -> Vec<&'static str> {
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
    if let Some(step) = last_step(c) {
        out.push(match (shown_kind(step.kind).0, step.is_out) {
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

/// True if it is a hit in code that no edge explains; it counts as a reference to its words (C-04).
fn is_plain_hit(c: &Candidate, traits: Traits) -> bool {
    c.origin == Origin::Seed && c.role == Role::Code && !traits.is_definition && !traits.has_import
}

/// Claim order: definitions > key_usages > dependencies > tests > config > docs.
fn agent_claims(c: &Candidate, traits: Traits) -> Vec<&'static str> {
    let mut out = Vec::new();
    let is_source = matches!(c.role, Role::Code | Role::Test);
    // A definition that contains an import is shown as a definition (C-03).
    let is_primary = matches!(c.origin, Origin::Seed | Origin::Around) || traits.has_import;
    if is_primary && traits.is_definition && is_source {
        out.push("definitions");
    }
    // A definition that an import names is a usage; the import itself is the dependency.
    let by_import = last_step(c).is_some_and(|s| shown_kind(s.kind).0 == EdgeType::Import);
    let by_use = last_step(c).is_some() && (!by_import || traits.is_definition);
    if is_source && (by_use || is_plain_hit(c, traits)) {
        out.push("key_usages");
    }
    if !traits.is_definition && (traits.has_import || (by_import && is_source)) {
        out.push("dependencies");
    }
    match c.role {
        Role::Test => out.push("tests"),
        Role::Config => out.push("config"),
        Role::Doc => out.push("docs"),
        Role::Code => {}
    }
    out
}
