//! Layouts: the sections that a pack's items are listed in, as projections of the engine's.
//!
//! Limits count items by the section of the layout, so a layout with fewer sections has fewer items.

use crate::candidate::{Candidate, Origin};
use crate::expand::shown_kind;
use crate::request::{EdgeType, Layout};
use crate::role::Role;
use crate::sections::SECTIONS;
use indexd_model::{FileRoles, Language};

/// The sections of a layout, in the order in which they are shown.
pub fn sections(layout: Layout) -> &'static [&'static str] {
    match layout {
        Layout::Graph => &SECTIONS,
        Layout::Agent => &["definitions", "key_usages", "dependencies", "tests", "config", "docs"],
        Layout::Flat => &["items"],
    }
}

/// Returns the section of a layout for a candidate that an engine's section claims. `has_import` says that
/// the candidate holds an import.
pub fn project(
    layout: Layout,
    section: &'static str,
    c: &Candidate,
    has_import: bool,
) -> Option<&'static str> {
    match layout {
        Layout::Graph => Some(section),
        Layout::Agent => agent(c, has_import),
        Layout::Flat => Some("items"),
    }
}

fn agent(c: &Candidate, has_import: bool) -> Option<&'static str> {
    let is_source = matches!(c.role, Role::Code | Role::Test);
    let of_source = if is_source { of_source(c, has_import) } else { None };
    let of_import = (has_import && !is_definition(c)).then_some("dependencies");
    of_source.or(of_import).or(match c.role {
        Role::Test => Some("tests"),
        Role::Config => Some("config"),
        Role::Doc => Some("docs"),
        Role::Code => None,
    })
}

/// The section that code has in layout `agent` by what it is and how it was reached.
fn of_source(c: &Candidate, has_import: bool) -> Option<&'static str> {
    let is_definition = is_definition(c);
    // A definition that contains an import is shown as a definition.
    if is_definition && (matches!(c.origin, Origin::Seed | Origin::Around) || has_import) {
        return Some("definitions");
    }
    // A definition that an import names is a usage; the import itself is the dependency.
    if let Some(step) = c.path.last() {
        let by_import = shown_kind(step.kind) == EdgeType::Import && !is_definition;
        return Some(if by_import { "dependencies" } else { "key_usages" });
    }
    // A hit in code that no edge explains counts as a reference to its words.
    let is_plain_hit = c.origin == Origin::Seed && c.role == Role::Code && !is_definition && !has_import;
    is_plain_hit.then_some("key_usages")
}

fn is_definition(c: &Candidate) -> bool {
    c.unit.def.some().is_some() && c.unit.kind.is_definition()
}

/// True if a candidate is of a build manifest, which names what the project depends on.
pub fn is_manifest(c: &Candidate) -> bool {
    matches!(c.file.language, Language::GoMod | Language::GoWork) || c.file.roles.has(FileRoles::MANIFEST)
}

/// The names of what a candidate is.
pub fn traits(c: &Candidate, has_import: bool) -> Vec<&'static str> {
    [
        (is_definition(c), "definition"),
        (c.origin == Origin::Edge, "reference"),
        (has_import, "import"),
        (c.role == Role::Test, "test"),
        (c.role == Role::Config, "config"),
        (c.role == Role::Doc, "doc"),
    ]
    .into_iter()
    .filter_map(|(is, name)| is.then_some(name))
    .collect()
}
