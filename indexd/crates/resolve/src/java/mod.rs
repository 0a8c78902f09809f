//! The linker for Java, on the core of languages with declared types.
//!
//! A name is looked for in the classes around, inherited members included, then among what the file imports, in
//! its package, in packages that are imported whole, and in `java.lang` ([`names`]). What the language brings along
//! is a table.

mod lombok;
mod names;

use crate::declared::{Found, Hit, Language, Linker, Place, Space};
use crate::typed::std::Table;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::facts::LiteralKind;
use indexd_model::{DefFlags, DefKind, ExprId, Facts, Links, Node};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("std.txt")));

/// Primitive types, each narrower than those behind it, and what they are where a type parameter stands.
const PRIMITIVES: [(&str, &str); 8] = [
    ("byte", "Byte"),
    ("short", "Short"),
    ("char", "Character"),
    ("int", "Integer"),
    ("long", "Long"),
    ("float", "Float"),
    ("double", "Double"),
    ("boolean", "Boolean"),
];

/// Java.
pub(crate) struct Java;

/// The state of a run.
#[derive(Default)]
pub(crate) struct Own {
    /// The types that were looked up in packages.
    packaged: FxHashMap<Packaged, SmallVec<[DefAt; 2]>>,
    /// The field whose accessor was asked for last. Lombok makes it, and derived types inherit it.
    made: Option<DefAt>,
}

/// A package, and a name in it.
type Packaged = (Rc<str>, Rc<str>);

impl Language for Java {
    type Own<'a> = Own;
    const ID: &'static str = "java";
    const HAS_OVERLOADS: bool = true;
    const ROOT: &'static str = "Object";

    fn table() -> &'static Table {
        &TABLE
    }

    fn name<'a>(l: &mut Linker<'a, Self>, place: Place, name: &'a str, space: Space) -> Found {
        names::find(l, place, name, space)
    }

    fn imports(l: &mut Linker<Self>, out: &mut Links) {
        names::imports(l, out);
    }

    fn literal(kind: LiteralKind) -> &'static str {
        match kind {
            LiteralKind::String => "String",
            LiteralKind::Rune => "char",
            LiteralKind::Bool => "boolean",
            LiteralKind::Int => "int",
            LiteralKind::Float => "double",
            // `1L` and `1f`.
            LiteralKind::Bytes => "long",
            LiteralKind::Complex => "float",
            LiteralKind::None | LiteralKind::Ellipsis => "",
        }
    }

    fn found(l: &mut Linker<Self>, file: File, e: ExprId, space: Space) -> Option<Found> {
        let facts = l.facts(file);
        let expr = facts.expr(e);
        let Node::Attr { base, name } = expr.node else { return None };
        let Node::Word { word, .. } = facts.expr(base).node else { return None };
        // A constant of what a `switch` looks at, or else what the name means here; a class of what stands in
        // front of `new`.
        let is_case = match facts.str(word) {
            "case" => true,
            "typeof" => false,
            _ => return None,
        };
        let of = l.eval(file, base).ty;
        let space = if is_case { space } else { Space::Types };
        let found = l.attr(of, facts.str(name), space);
        let is_enum = !matches!(of, Ty::UNKNOWN);
        Some(match found.hits.is_empty() && is_case && !is_enum {
            true => (*l.free(Place { file, at: expr.at }, facts.str(name), space)).clone(),
            false => (*found).clone(),
        })
    }

    fn value(l: &mut Linker<Self>, file: File, e: ExprId) -> Option<Val> {
        let facts = l.facts(file);
        let Node::Word { word, value } = facts.expr(e).node else { return lombok::call(l, file, e) };
        let ty = match facts.str(word) {
            "class" => {
                let of = l.written(file, value);
                let of = l.boxed(of);
                l.types.std("Class", &[of])
            }
            "::" => match facts.expr(value).node {
                Node::Word { value, .. } => {
                    let found = l.in_types(file, value);
                    l.value_of_found(&found)
                }
                _ => {
                    let (found, _) = l.named_function(file, e, value);
                    match &found.hits[..] {
                        [hit] => l.types.make(Type::Func(hit.at, Rc::clone(&hit.env))),
                        [] => found.ty,
                        _ => Ty::UNKNOWN,
                    }
                }
            },
            // `Outer.this`, `Outer.super`.
            "this" | "super" => {
                let of = l.eval(file, value).ty;
                let Type::Static(at) = *l.types.get(of) else { return Some(Val::UNKNOWN) };
                l.types.make(Type::This(at))
            }
            // The type of a value in front of `new`.
            "typeof" => {
                let of = l.eval(file, value).ty;
                match *l.types.get(of) {
                    Type::Named(at, _) | Type::This(at) => l.types.make(Type::Static(at)),
                    _ => Ty::UNKNOWN,
                }
            }
            // The constants of what a `switch` looks at.
            "case" => {
                let of = l.eval(file, value).ty;
                match *l.types.get(of) {
                    Type::Named(at, _) if l.files.def(at).kind == DefKind::Enum => {
                        l.types.make(Type::Static(at))
                    }
                    Type::Std(name, _) if !is_constant(&l.types.text(name)) => {
                        l.types.make(Type::StdStatic(name))
                    }
                    Type::External => Ty::EXTERNAL,
                    _ => Ty::UNKNOWN,
                }
            }
            _ => return None,
        };
        Some(Val::new(ty))
    }

    fn in_package(l: &mut Linker<Self>, package: &str, name: &str, space: Space) -> Found {
        // A package has no functions: what stands before is a value that nobody declared.
        if space == Space::Calls { Found::unknown() } else { names::in_package(l, package, name) }
    }

    fn own<'a>(l: &mut Linker<'a, Self>, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
        let mut own = l.members_in(of, name, space);
        let facts = l.facts(of.file);
        match space {
            Space::Calls => {
                // A constructor has the name of its type and is not a member.
                if facts.def_name(of.def) == name {
                    own.retain(|m| !is_constructor(&facts, *m));
                }
                // The accessor of a component of a record, where it is not written out.
                let is_accessor = |m: &DefAt| facts.def(m.def).params.is_empty();
                if !facts.def(of.def).params.is_empty() && !own.iter().any(is_accessor) {
                    own.extend(l.members_in(of, name, Space::Values));
                }
                l.own.made = if own.is_empty() { lombok::accessor(l, of, name) } else { None };
                own.extend(l.own.made);
            }
            Space::Values => {
                own.retain(|m| facts.def(m.def).kind.is_type() || !facts.def(m.def).kind.is_callable())
            }
            Space::Types => {}
        }
        if space == Space::Values && own.len() > 1 {
            // A field and a type of one name: the field is meant.
            own.retain(|m| !facts.def(m.def).kind.is_type());
        }
        own
    }

    fn is_inherited(l: &Linker<Self>, at: DefAt) -> bool {
        // Of what is local it is not known whether it is private.
        let flags = l.files.def(at).flags;
        flags.has(DefFlags::EXPORTED) || flags.has(DefFlags::LOCAL) || l.own.made == Some(at)
    }

    fn bases(l: &mut Linker<Self>, at: DefAt) -> Vec<Ty> {
        let mut bases = l.written_bases(at);
        if l.files.def(at).kind == DefKind::Enum {
            let own = l.type_of_def(at, &[]);
            bases.push(l.types.std("Enum", &[own]));
        }
        bases
    }

    fn miscounted(l: &mut Linker<Self>, hits: &[Hit]) -> SmallVec<[Hit; 2]> {
        // A setter takes the value of its field.
        let is_field = |h: &Hit| !l.files.def(h.at).kind.is_callable() && !l.files.def(h.at).kind.is_type();
        hits.iter().take(1).filter(|h| hits.len() == 1 && is_field(h)).cloned().collect()
    }

    fn attr(l: &mut Linker<Self>, ty: Ty, name: &str, space: Space) -> Option<Found> {
        if let Some(found) = lombok::attr(l, ty, name, space) {
            return Some(found);
        }
        let Type::Static(at) = *l.types.get(ty) else { return None };
        if space != Space::Calls || l.files.def(at).kind != DefKind::Enum {
            return None;
        }
        // What the compiler makes.
        let own = l.type_of_def(at, &[]);
        match name {
            "valueOf" => Some(Found::typed(own)),
            "values" => Some(Found::typed(l.types.std("Array", &[own]))),
            _ => None,
        }
    }

    fn constructors(l: &mut Linker<Self>, at: DefAt) -> SmallVec<[DefAt; 2]> {
        let facts = l.facts(at.file);
        let mut all = l.members_in(at, facts.def_name(at.def), Space::Calls);
        all.retain(|m| is_constructor(&facts, *m));
        // What the head of a record takes, and a class without constructors.
        let n = facts.def(at.def).params.len();
        let is_written = all.iter().any(|m| facts.def(m.def).params.len() == n);
        if !is_written && (n > 0 || all.is_empty()) {
            all.push(at);
        }
        all
    }

    fn is_std_a(a: &str, b: &str) -> Option<bool> {
        let rank = |n: &str| PRIMITIVES.iter().position(|p| p.0 == n);
        let box_of = |n: &str| PRIMITIVES.iter().find(|p| p.0 == n).map(|p| p.1);
        match (rank(a), rank(b)) {
            (Some(x), Some(y)) => Some(x <= y && a != "boolean" && b != "boolean" && b != "char"),
            (Some(_), None) => {
                let is_number = a != "boolean" && a != "char";
                let is = box_of(a) == Some(b) || matches!(b, "Object" | "Comparable" | "Serializable");
                Some(is || is_number && b == "Number")
            }
            (None, Some(_)) => Some(box_of(b) == Some(a)).filter(|is| *is || TABLE.ty(a).is_some()),
            // Nothing derives from them.
            (None, None) if b == "String" || PRIMITIVES.iter().any(|p| p.1 == b) => Some(false),
            (None, None) => None,
        }
    }

    fn is_turned(a: &str, b: &str) -> bool {
        let is_primitive = |n: &str| PRIMITIVES.iter().any(|p| p.0 == n);
        is_primitive(a) != is_primitive(b)
    }

    fn boxed(name: &str) -> &str {
        PRIMITIVES.iter().find(|p| p.0 == name).map_or(name, |p| p.1)
    }

    fn operation(l: &mut Linker<Self>, left: Ty, right: Ty) -> Ty {
        let string = l.types.std("String", &[]);
        if left == string || right == string {
            return string;
        }
        let rank = |l: &Linker<Self>, ty: Ty| match l.types.get(ty) {
            Type::Std(n, _) => {
                let name = l.types.text(*n);
                PRIMITIVES.iter().position(|p| p.0 == &*name || p.1 == &*name)
            }
            _ => None,
        };
        match (rank(l, left), rank(l, right)) {
            (Some(7), _) | (_, Some(7)) => l.types.std("boolean", &[]),
            // What is narrower than `int` becomes one.
            (Some(a), Some(b)) => l.types.std(PRIMITIVES[a.max(b).max(3)].0, &[]),
            _ => Ty::UNKNOWN,
        }
    }
}

impl Linker<'_, Java> {
    fn boxed(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(name, args) if args.is_empty() => {
                let name = self.types.text(name);
                self.types.std(Java::boxed(&name), &[])
            }
            _ => ty,
        }
    }
}

/// Whether a `switch` over a type of the table looks at constants that have names elsewhere.
fn is_constant(name: &str) -> bool {
    name == "String" || PRIMITIVES.iter().any(|p| p.0 == name || p.1 == name)
}

/// Whether a callable is a constructor: it gives nothing, and is named as the type around.
fn is_constructor(facts: &Facts, at: DefAt) -> bool {
    let def = facts.def(at.def);
    def.results.is_empty()
        && !def.flags.has(DefFlags::STATIC)
        && def.parent.some().is_some_and(|p| facts.def_name(p) == facts.str(def.name))
}

#[cfg(test)]
mod tests;
