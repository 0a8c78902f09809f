//! The linker for Rust, on the core of languages with declared types.
//!
//! A name is looked for in the functions around, then in the module around: its definitions, its imports by name, its
//! globs ([`names`]); modules and crates are found by `mod` and by `Cargo.toml` ([`modules`]). Macros have names of
//! their own ([`macros`]). Members of a type stand in `impl` blocks of any file, in the traits that it
//! implements or that bound a type parameter, and behind what it dereferences to ([`members`]). What
//! expressions and types mean beyond the core is in [`values`]; the standard library is a table.

mod macros;
mod members;
mod modules;
mod names;
mod values;

#[cfg(test)]
mod tests;

use crate::declared::{Found, Language, Linker, Place, Space};
use crate::typed::std::Table;
use crate::typed::{DefAt, File, NameId, Ty, Type, Val};
use indexd_model::facts::LiteralKind;
use indexd_model::{BindingId, ExprId, Links, List, StrId};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("std.txt")));

/// Rust.
pub(crate) struct Rust;

/// For each variable the method that first puts a value into it, with the arguments.
type Puts = FxHashMap<BindingId, (StrId, List)>;

/// State of a run.
#[derive(Default)]
pub(crate) struct Own<'a> {
    /// Folders of packages by those of files.
    packages: FxHashMap<&'a str, Option<Rc<str>>>,
    roots: FxHashMap<File, bool>,
    puts: FxHashMap<File, Rc<Puts>>,
    parents: FxHashMap<File, Option<DefAt>>,
    names: FxHashMap<(DefAt, NameId, Space), Option<Found>>,
    /// Names of scopes that are being looked for, innermost last: globs lead in circles.
    asking: Vec<(DefAt, NameId, Space)>,
    /// How often a name was asked for that is being looked for.
    n_met: u32,
    /// Types that lead to each other by dereferencing.
    n_derefs: u32,
}

impl Language for Rust {
    type Own<'a> = Own<'a>;
    const ID: &'static str = "rust";
    const HAS_OVERLOADS: bool = false;
    const ROOT: &'static str = "";

    fn table() -> &'static Table {
        &TABLE
    }

    fn name<'a>(l: &mut Linker<'a, Self>, place: Place, name: &'a str, space: Space) -> Found {
        names::find(l, place, name, space)
    }

    fn imports(l: &mut Linker<Self>, out: &mut Links) {
        names::imports(l, out);
        members::implemented(l, out);
    }

    fn literal(kind: LiteralKind) -> &'static str {
        match kind {
            LiteralKind::String => "str",
            LiteralKind::Rune => "char",
            LiteralKind::Bool => "bool",
            LiteralKind::Int => "i32",
            LiteralKind::Float => "f64",
            _ => "",
        }
    }

    fn value(l: &mut Linker<Self>, file: File, e: ExprId) -> Option<Val> {
        values::value(l, file, e)
    }

    fn ty(l: &mut Linker<Self>, file: File, e: ExprId) -> Option<Ty> {
        values::ty(l, file, e)
    }

    fn filled(l: &mut Linker<Self>, file: File, binding: BindingId, e: ExprId) -> Option<Val> {
        values::filled(l, file, binding, e)
    }

    fn found(l: &mut Linker<Self>, file: File, e: ExprId, space: Space) -> Option<Found> {
        values::found(l, file, e, space)
    }

    fn attr(l: &mut Linker<Self>, ty: Ty, name: &str, space: Space) -> Option<Found> {
        members::attr(l, ty, name, space)
    }

    fn def_value(l: &mut Linker<Self>, at: DefAt) -> Option<Val> {
        let owner = l.variant_of(at)?;
        let args = l.type_params(owner);
        Some(Val::new(l.types.make(Type::Named(owner, args))))
    }

    fn type_of_def(l: &mut Linker<Self>, at: DefAt) -> Option<Ty> {
        let asked = members::is_asked_for(l, at);
        asked.then(|| l.types.make(Type::This(at)))
    }

    fn behind(l: &mut Linker<Self>, ty: Ty) -> Option<Ty> {
        members::behind(l, ty)
    }

    fn in_package(l: &mut Linker<Self>, package: &str, name: &str, space: Space) -> Found {
        names::in_package(l, package, name, space)
    }

    fn operation(l: &mut Linker<Self>, left: Ty, right: Ty) -> Ty {
        let is_plain = |t: Ty| matches!(l.types.get(t), Type::Std(..));
        if left == right || is_plain(left) { left } else { Ty::UNKNOWN }
    }
}
