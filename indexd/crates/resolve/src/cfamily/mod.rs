//! The linker for C and C++, on the core of languages with declared types.
//!
//! A name is looked for in the classes around, inherited members included, then in the namespaces around, outwards,
//! among what the file itself and the files that it includes define ([`names`], [`includes`]). Pointers,
//! references and arrays are what they lead to. A prototype and the definition that it announces are one thing:
//! a use leads to the definition, where the tree has exactly one that fits ([`values`] has the rest that the
//! languages mean by expressions). What the standard library brings along is a table.

mod includes;
mod names;
mod values;

use crate::declared::{Found, Hit, Language, Linker, Place, Space};
use crate::typed::std::Table;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::facts::LiteralKind;
use indexd_model::{DefFlags, DefIdx, DefKind, ExprId, FileDoc, Links, Node, Rule};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("std.txt")));

/// C and C++.
pub(crate) struct CFamily;

/// A namespace whose names another one brings in, and that other one.
type Directive = (Rc<str>, Rc<str>);

/// State of a run.
#[derive(Default)]
pub(crate) struct Own {
    /// The files that the linked one includes, over all steps, and by what rule.
    included: Option<Rc<FxHashMap<FileDoc, Rule>>>,
    /// What the files in sight define under a name, by file that asks and name.
    candidates: FxHashMap<Rc<str>, Rc<[names::Candidate]>>,
    /// Namespaces whose names are brought in, with the namespace that says so.
    directives: Option<Rc<[Directive]>>,
    /// The enumerations in a type whose enumerators are members of it.
    enumerations: FxHashMap<DefAt, Rc<[DefIdx]>>,
    /// The class of a member that stands outside of it.
    classes: FxHashMap<DefAt, Option<DefAt>>,
    /// The namespaces and names that `using` is followed for, innermost last: it may lead in circles.
    bringing: Vec<(Rc<str>, Rc<str>)>,
    /// Bodies of declarations.
    bodies: FxHashMap<DefAt, DefAt>,
}

impl Language for CFamily {
    type Own<'a> = Own;
    const ID: &'static str = "cpp";
    const HAS_OVERLOADS: bool = true;
    const ROOT: &'static str = "";

    fn table() -> &'static Table {
        &TABLE
    }

    fn name<'a>(l: &mut Linker<'a, Self>, place: Place, name: &'a str, space: Space) -> Found {
        names::find(l, place, name, space)
    }

    fn imports(l: &mut Linker<Self>, out: &mut Links) {
        includes::imports(l, out);
    }

    fn literal(kind: LiteralKind) -> &'static str {
        match kind {
            LiteralKind::String => "text",
            _ => "int",
        }
    }

    fn value(l: &mut Linker<Self>, file: File, e: ExprId) -> Option<Val> {
        values::value(l, file, e)
    }

    fn ty(l: &mut Linker<Self>, file: File, e: ExprId) -> Option<Ty> {
        match l.facts(file).expr(e).node {
            Node::Literal { kind } => Some(l.types.std(Self::literal(kind), &[])),
            Node::Attr { base, name } => values::of_container(l, file, base, name),
            Node::StructType { holder } => {
                let at = DefAt { file, def: holder };
                Some(l.types.make(Type::Named(at, Rc::from([]))))
            }
            _ => None,
        }
    }

    fn found(l: &mut Linker<Self>, file: File, e: ExprId, _: Space) -> Option<Found> {
        values::member_of_argument(l, file, e)
    }

    fn attr(l: &mut Linker<Self>, ty: Ty, name: &str, space: Space) -> Option<Found> {
        values::of_alias(l, ty, name, space).or_else(|| values::of_pointer(l, ty, name))
    }

    fn in_package(l: &mut Linker<Self>, package: &str, name: &str, space: Space) -> Found {
        names::in_namespace(l, package, name, space)
    }

    fn own<'a>(l: &mut Linker<'a, Self>, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
        values::members(l, of, name, space)
    }

    fn constructors(l: &mut Linker<Self>, at: DefAt) -> SmallVec<[DefAt; 2]> {
        values::constructors(l, at)
    }

    fn behind(l: &mut Linker<Self>, ty: Ty) -> Option<Ty> {
        values::pointed_to(l, ty)
    }

    fn miscounted(l: &mut Linker<Self>, hits: &[Hit]) -> SmallVec<[Hit; 2]> {
        values::miscounted(l, hits)
    }

    fn part(l: &mut Linker<Self>, ty: Ty, index: u16) -> Ty {
        values::part(l, ty, index)
    }

    fn element(l: &mut Linker<Self>, ty: Ty) -> Option<Ty> {
        values::element(l, ty)
    }

    fn definition(l: &mut Linker<Self>, at: DefAt) -> DefAt {
        names::body_of(l, at)
    }

    fn is_std_a(a: &str, b: &str) -> Option<bool> {
        match (a, b) {
            ("text", "string" | "string_view") => Some(true),
            ("text", "int") | ("int", "text" | "string" | "string_view") => Some(false),
            _ => None,
        }
    }

    fn is_turned(a: &str, b: &str) -> bool {
        a == "text" && b != "text"
    }

    fn shown(name: &str) -> &str {
        name.strip_prefix("operator").filter(|n| !n.starts_with(char::is_alphanumeric)).unwrap_or(name)
    }

    fn operation(l: &mut Linker<Self>, left: Ty, right: Ty) -> Ty {
        // A pointer and a number give a pointer.
        let is_plain = l.types.is_std(left, "int");
        if is_plain { right } else { left }
    }
}

/// Whether a name is that of an operator by its sign.
fn is_sign(name: &str) -> bool {
    CFamily::shown(name).len() < name.len()
}

/// Whether a function has a body.
fn has_body(def: &indexd_model::Def) -> bool {
    def.span.end > def.head.end + 1
}

/// Whether other files may be meant to see a definition.
fn is_exported(def: &indexd_model::Def) -> bool {
    def.flags.has(DefFlags::EXPORTED)
}

/// Whether a definition has members.
fn has_members(kind: DefKind) -> bool {
    kind.is_type() || matches!(kind, DefKind::Variable | DefKind::Field)
}

#[cfg(test)]
mod tests;
