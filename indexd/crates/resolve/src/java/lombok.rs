//! Members that Lombok makes of fields: getters, setters, `withX`, and the methods of builders. A use of one leads to
//! its field.

use super::Java;
use crate::declared::{Found, Linker, Space};
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefKind, ExprId, Facts, Node, Rule};
use smallvec::SmallVec;

/// The type of a builder; its argument is the type that it builds.
const BUILDER: &str = "lombok.Builder";
/// Classes whose fields one builder fills.
const DEPTH_MAX: usize = 16;

/// Returns true if a definition is decorated by one of these.
fn has(facts: &Facts, at: DefAt, names: &[&str]) -> bool {
    asked(facts, at, names) == Some(true)
}

/// Returns true if a definition is decorated by one of these, false if the decorator says `NONE`, and `None` without one.
fn asked(facts: &Facts, at: DefAt, names: &[&str]) -> Option<bool> {
    facts.def(at.def).decorators.iter().find_map(|d| {
        let Node::Call { callee, args } = facts.expr(*d).node else { return None };
        let name = match facts.expr(callee).node {
            Node::Name { name, .. } | Node::Attr { name, .. } if is_of_lombok(facts, callee) => {
                facts.str(name)
            }
            _ => "",
        };
        let is_none = |a: &ExprId| match facts.expr(*a).node {
            Node::Name { name, .. } | Node::Attr { name, .. } => facts.str(name) == "NONE",
            _ => false,
        };
        names.contains(&name).then(|| !facts.list(args).iter().any(is_none))
    })
}

/// Returns true if accessors have the names of their fields, without `get` and `set`.
fn is_fluent(facts: &Facts, at: DefAt) -> bool {
    facts.def(at.def).decorators.iter().any(|d| {
        let Node::Call { args, .. } = facts.expr(*d).node else { return false };
        let is_it = |a: &ExprId| match facts.expr(*a).node {
            Node::Keyword { name, .. } => facts.str(name) == "fluent",
            _ => false,
        };
        facts.list(args).iter().any(is_it)
    })
}

/// Returns true if the name of a decorator is imported from Lombok, or written with its package. Imports are read as the
/// digest of a definition reads them: one of the name counts before those of all names.
fn is_of_lombok(facts: &Facts, callee: ExprId) -> bool {
    let name = match facts.expr(callee).node {
        Node::Name { name, .. } => name,
        Node::Attr { base, .. } => {
            return matches!(facts.expr(base).node, Node::Name { name, .. } if facts.str(name) == "lombok");
        }
        _ => return false,
    };
    let imports = &facts.interface.imports;
    let is_it = |i: &Import| facts.str(i.module).starts_with("lombok");
    match imports.iter().find(|i| i.alias == Some(name)) {
        Some(named) => is_it(named),
        None => imports.iter().any(|i| i.kind == ImportKind::All && is_it(i)),
    }
}

/// The field whose accessor Lombok makes under this name in a type.
pub(super) fn accessor(l: &mut Linker<Java>, of: DefAt, name: &str) -> Option<DefAt> {
    let facts = l.facts(of.file);
    l.files.record(of);
    if facts.def(of.def).decorators.is_empty() {
        return None;
    }
    let made: &[(&str, &[&str], &[&str])] = &[
        ("get", &["Getter"], &["Data", "Value"]),
        ("is", &["Getter"], &["Data", "Value"]),
        ("set", &["Setter"], &["Data"]),
        ("with", &["With"], &[]),
    ];
    for (prefix, of_either, of_class) in made.iter().copied() {
        let Some(rest) = name.strip_prefix(prefix).filter(|r| r.starts_with(|c: char| !c.is_lowercase()))
        else {
            continue;
        };
        for field in fields_of(prefix, rest) {
            if let Some(at) = field_in(l, of, &field)
                && asked(&facts, at, of_either)
                    .unwrap_or_else(|| has(&facts, of, of_either) || has(&facts, of, of_class))
            {
                return Some(at);
            }
        }
    }
    let at = field_in(l, of, name)?;
    let is_accessor = is_fluent(&facts, of) || is_fluent(&facts, at);
    is_accessor.then_some(at)
}

/// The names of the fields whose accessor ends so: `Name` is that of `name`, and of `isName`.
fn fields_of(prefix: &str, rest: &str) -> SmallVec<[String; 3]> {
    let mut chars = rest.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_lowercase).collect();
    let mut out = SmallVec::from_iter([format!("{first}{}", chars.as_str()), rest.to_owned()]);
    if prefix != "get" {
        out.push(format!("is{rest}"));
    }
    out
}

fn field_in(l: &mut Linker<Java>, of: DefAt, name: &str) -> Option<DefAt> {
    let all = l.members_in(of, name, Space::Values);
    all.into_iter().find(|m| !l.files.def(*m).kind.is_type())
}

/// The method of a class that makes a builder, and those of a builder.
pub(super) fn attr(l: &mut Linker<Java>, ty: Ty, name: &str, space: Space) -> Option<Found> {
    if space != Space::Calls {
        return None;
    }
    if let Some(made) = built_by(l, ty) {
        let Type::Named(class, _) = *l.types.get(made) else { return None };
        return match (name, field_of_builder(l, class, name)) {
            ("build", None) => Some(Found::defs([class], Rule::Inferred)),
            (_, field) => field.map(|f| Found::defs([f], Rule::Inferred)),
        };
    }
    let at = match (name, l.types.get(ty)) {
        ("builder", Type::Static(at)) | ("toBuilder", Type::Named(at, _) | Type::This(at)) => *at,
        _ => return None,
    };
    l.files.record(at);
    let facts = l.facts(at.file);
    let is_written = !l.members_in(at, name, Space::Calls).is_empty();
    let is_made = !is_written && has(&facts, at, &["Builder", "SuperBuilder"]);
    is_made.then(|| Found::defs([at], Rule::Inferred))
}

/// The type that a builder builds; `None` for other values.
fn built_by(l: &Linker<Java>, ty: Ty) -> Option<Ty> {
    match l.types.get(ty) {
        Type::Std(_, args) if l.types.is_std(ty, BUILDER) => args.first().copied(),
        _ => None,
    }
}

/// The field that a method of a builder fills; one of several values has the name without its `s`.
fn field_of_builder(l: &mut Linker<Java>, class: DefAt, name: &str) -> Option<DefAt> {
    let mut at = class;
    for _ in 0..DEPTH_MAX {
        l.files.record(at);
        if let Some(field) = field_in(l, at, name) {
            return Some(field);
        }
        let several = field_in(l, at, &format!("{name}s"));
        if let Some(field) = several.filter(|f| has(&l.facts(f.file), *f, &["Singular"])) {
            return Some(field);
        }
        let bases = l.bases(at);
        let class_of = |t: &Ty| match *l.types.get(*t) {
            Type::Named(at, _) if l.files.def(at).kind == DefKind::Class => Some(at),
            _ => None,
        };
        at = bases.iter().find_map(class_of)?;
    }
    None
}

/// The value of a call of a method that Lombok makes.
pub(super) fn call(l: &mut Linker<Java>, file: File, e: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    let Node::Call { callee, .. } = facts.expr(e).node else { return None };
    let Node::Attr { base, name } = facts.expr(callee).node else { return None };
    let name = facts.str(name);
    let of = l.eval(file, base).ty;
    if let Some(made) = built_by(l, of) {
        return Some(Val::inferred(if name == "build" { made } else { of }));
    }
    if !["set", "with", "builder", "toBuilder"].iter().any(|p| name.starts_with(p)) {
        return None;
    }
    let picked = l.picked(file, e);
    let [hit] = &picked.found.hits[..] else { return None };
    let kind = l.files.def(hit.at).kind;
    match name {
        "builder" | "toBuilder" if kind.is_type() => {
            let class = l.type_of_def(hit.at, &[]);
            Some(Val::inferred(l.types.std(BUILDER, &[class])))
        }
        // Setters may be chained.
        _ if !kind.is_callable() && !kind.is_type() && l.files.name(hit.at) != name => {
            Some(Val::inferred(of))
        }
        _ => None,
    }
}
