//! Linking: the facts of one file and a view of all others become [`Links`].
//!
//! [`link`] is a pure function of (facts of the file, view). It reads other files' interfaces only,
//! never their links, so files may be linked in any order and in parallel. Every name that was
//! looked up, found or not, is recorded in [`Links::lookups`]: those are the keys whose change makes
//! the file due for linking again. Start with [`recorder`], then one folder per language.

mod around;
mod cfamily;
mod declared;
mod ecma;
mod flow;
mod go;
mod java;
mod loaded;
mod paths;
mod projects;
mod python;
mod recorder;
mod remembered;
mod rust;
mod typed;

pub use loaded::{Blocks, Loaded};
pub use recorder::Recorder;

use around::Around;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::links::{Unresolved, UnresolvedReason};
use indexd_model::{
    Binding, Def, DefIdx, DefRef, EdgeKind, Expr, ExprId, Facts, FactsView, FileDoc, FileRoles, Language,
    Link, Linking, Links, Node, Role, Rule, Source, StrId,
};

/// Star imports of a scope through which a name is looked for: each is asked for every name that nothing else
/// brings.
const STARS_MAX: usize = 256;

/// The star imports that count, of those that `is_of` holds for.
fn stars(imports: &[Import], is_of: impl Fn(&Import) -> bool) -> impl Iterator<Item = &Import> {
    imports.iter().filter(move |i| i.kind == ImportKind::All && is_of(i)).take(STARS_MAX)
}

/// Changes when equal facts get other links or lookups; part of the recipe of an index.
pub const LINKER_VERSION: u32 = 24;

/// Resolves the uses of `file`, whose facts, body and all, are `facts`, against `view`.
///
/// `view` must hold the interface of `file` itself as well. Links and unresolved uses come sorted by
/// place, lookups sorted and without repeats; languages without a linker have none.
pub fn link(file: FileDoc, facts: Facts, view: &dyn FactsView) -> Links {
    let recorder = Recorder::new(view);
    let mut links = match facts.interface.language {
        Language::Go => go::link(file, facts, &recorder),
        // A copy of another project's code is searched and not linked.
        _ if facts.interface.roles.has(FileRoles::VENDORED) => Links::default(),
        Language::Python => python::link(file, facts, &recorder),
        Language::TypeScript | Language::Tsx | Language::JavaScript => ecma::link(file, facts, &recorder),
        Language::Java => declared::link::<java::Java>(file, facts, &recorder),
        Language::Rust => declared::link::<rust::Rust>(file, facts, &recorder),
        Language::C | Language::Cpp => declared::link::<cfamily::CFamily>(file, facts, &recorder),
        language if language.linking() == Linking::Scopes => paths::link(file, facts, &recorder),
        _ => Links::default(),
    };
    links.unresolved.extend(unread(facts));
    links.links.sort_by_key(|l| (l.at, l.kind, std::cmp::Reverse(l.confidence)));
    links.unresolved.sort_by_key(|u| u.at);
    links.lookups = recorder.into_lookups();
    links
}

/// Returns the names in source that was not parsed, as unresolved uses.
fn unread(facts: Facts) -> Vec<Unresolved> {
    let around = Around::new(facts, is_code_or_type);
    let of = |(_, Expr { node, at, role }): (ExprId, Expr)| {
        let Node::Unread { name } = node else { return None };
        let it = Use { name, at, role }.unresolved(UnresolvedReason::NotUnderstood);
        Some(Unresolved { source: around.at(at), ..it })
    };
    exprs(facts).filter_map(of).collect()
}

/// The expressions of a file.
fn exprs(facts: Facts) -> impl Iterator<Item = (ExprId, Expr)> {
    (0..facts.n_exprs() as u32).map(move |i| (ExprId(i), facts.expr(ExprId(i))))
}

/// Sets the source of links and unresolved uses to the innermost definition around them.
fn assign_sources(around: &Around, out: &mut Links) {
    let open = out.links.iter_mut().filter(|l| l.source == DefIdx::NONE);
    open.for_each(|l| l.source = around.at(l.at));
    out.unresolved.iter_mut().for_each(|u| u.source = around.at(u.at));
}

/// Returns true if a definition is a function, a method or a type.
fn is_code_or_type(def: &Def) -> bool {
    def.kind.is_callable() || def.kind.is_type()
}

/// The kind of edge that a use in a role makes.
fn edge_of(role: Role) -> EdgeKind {
    match role {
        Role::Call => EdgeKind::Call,
        Role::Base => EdgeKind::Inherit,
        Role::Import => EdgeKind::Import,
        _ => EdgeKind::Usage,
    }
}

/// Returns the definition that a local name is bound to, if there is one.
fn bound_def(facts: Facts, binding: &Binding) -> Option<DefIdx> {
    facts.sources(binding).iter().find_map(|s| match s {
        Source::Def(def) => Some(*def),
        _ => None,
    })
}

/// Returns the type that is written for a local name with these sources, if one is.
fn declared(sources: &[Source]) -> Option<ExprId> {
    sources.iter().find_map(|s| if let Source::Declared(e) = s { Some(*e) } else { None })
}

/// Returns the value that a local name with these sources begins with, if it has one.
fn assigned(sources: &[Source]) -> Option<ExprId> {
    sources.iter().find_map(|s| if let Source::Assigned(e) = s { Some(*e) } else { None })
}

/// An expression without the type arguments behind it, and these.
fn applied<'a>(facts: Facts<'a>, e: ExprId) -> (ExprId, &'a [ExprId]) {
    match facts.expr(e).node {
        Node::Apply { base, args } => (base, facts.list(args)),
        _ => (e, &[]),
    }
}

/// An identifier in a place where it is used.
#[derive(Clone, Copy)]
struct Use {
    name: StrId,
    at: u32,
    role: Role,
}

impl Use {
    /// A link from the use; its source is found later.
    fn link(self, facts: Facts, target: DefRef, rule: Rule, confidence: u8) -> Link {
        let Self { name, at, role } = self;
        let (kind, source, len) = (edge_of(role), DefIdx::NONE, len_of(facts.str(name)));
        Link { kind, source, target, at, len, role, rule, confidence }
    }

    /// The use without a target; its source is found later.
    fn unresolved(self, reason: UnresolvedReason) -> Unresolved {
        Unresolved { source: DefIdx::NONE, name: self.name, at: self.at, role: self.role, reason }
    }
}

/// The length of a name in a link.
fn len_of(name: &str) -> u16 {
    name.len().min(usize::from(u16::MAX)) as u16
}

/// Writes down what a use leads to: definitions that are equally likely, or the reason why none is
/// known. The source is found later.
fn emit(facts: Facts, it: Use, found: Result<Vec<DefRef>, UnresolvedReason>, rule: Rule, out: &mut Links) {
    match found {
        Ok(targets) => {
            let rule = if targets.len() > 1 { Rule::Ambiguous } else { rule };
            let confidence = rule.confidence() / targets.len().max(1) as u8;
            out.links.extend(targets.into_iter().map(|target| it.link(facts, target, rule, confidence)));
        }
        Err(reason) => out.unresolved.push(it.unresolved(reason)),
    }
}

/// Sets the length of the links of an import to that of the last name of its path, or of the sign for all names.
fn shorten(links: &mut [Link], import: &Import, last: &str) {
    let len = if import.kind == ImportKind::All { 1 } else { len_of(last) };
    links.iter_mut().for_each(|l| l.len = len);
}

/// Returns the link from a member to the one that it implements or overrides.
fn implement(facts: Facts, source: DefIdx, target: DefRef) -> Link {
    let def = facts.def(source);
    Link {
        kind: EdgeKind::Implement,
        source,
        target,
        at: def.name_span.start,
        len: len_of(facts.str(def.name)),
        role: Role::None,
        rule: Rule::Implements,
        confidence: Rule::Implements.confidence(),
    }
}

#[cfg(test)]
mod edits;

#[cfg(test)]
mod trees;

#[cfg(test)]
mod tests;
