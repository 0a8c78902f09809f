//! Members of types: fields and variants, what `impl` blocks of any file give, what traits give, and what lies
//! behind a pointer.

use super::names::is_nothing;
use super::{Rust, TABLE};
use crate::declared::{Found, Linker, Space};
use crate::remembered::nested;
use crate::typed::{Args, DefAt, Env, Ty, Type};
use indexd_model::{DefKind, ExprId, Key, Links, Node, Rule, UnresolvedReason};
use std::rc::Rc;

/// Pointers to pointers that are followed.
const DEREFS_MAX: u32 = 8;
/// Traits above each other.
const TRAITS_MAX: u32 = 16;
/// Files that may implement something for one name of a type.
const FILES_MAX: usize = 400;
/// Aliases of one type that members are looked for under.
const ALIASES_MAX: usize = 8;

/// Methods that give a value as it is, as long as references are what they stand for.
const AS_IT_IS: [&str; 9] =
    ["clone", "to_owned", "borrow", "borrow_mut", "as_ref", "as_mut", "by_ref", "min", "max"];

type Map = Vec<(Ty, Ty)>;

/// What a member is looked for on.
#[derive(Clone, Copy)]
struct Asked<'n> {
    ty: Ty,
    name: &'n str,
    space: Space,
}

/// The member of a type under a name; `None` where the core knows as much.
pub(super) fn attr(l: &mut Linker<Rust>, ty: Ty, name: &str, space: Space) -> Option<Found> {
    let none = || Found::none(UnresolvedReason::NotFound);
    Some(match l.types.get(ty).clone() {
        Type::Module(file) => {
            let of = l.module_found(super::modules::whole(file));
            l.member_of(&of, name, space)
        }
        Type::Static(at) => match l.files.def(at).kind {
            DefKind::Module => {
                let of = l.module_found(at);
                l.member_of(&of, name, space)
            }
            DefKind::Alias => {
                let args = l.type_params(at);
                let of = l.type_of_def(at, &args);
                let of = as_static(l, of);
                if of == ty { none() } else { (*l.attr(of, name, space)).clone() }
            }
            _ => {
                let args = l.type_params(at);
                let of = l.types.make(Type::Named(at, args));
                member(l, Asked { ty: of, name, space }, true)
            }
        },
        Type::StdStatic(of) => {
            let text = l.types.text(of);
            let of = in_table(&text).to_owned();
            let own = TABLE.canonical(&text);
            match TABLE.member(&mut l.types, &format!("static {of}"), &[], name) {
                Some(ty) => Found::typed(ty),
                None => {
                    let ty = l.types.std(own, &[]);
                    member(l, Asked { ty, name, space }, true)
                }
            }
        }
        Type::Unknown | Type::Nothing => Found::unknown(),
        Type::External => Found::outside(),
        Type::Both(_) | Type::Union(_) | Type::Package(_) => return None,
        _ => member(l, Asked { ty, name, space }, false),
    })
}

/// The name under which the members of a type of the standard library are in the table.
fn in_table(name: &str) -> &str {
    match name {
        "f32" | "f64" => "float",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            "integer"
        }
        _ => TABLE.canonical(name),
    }
}

/// A type as what stands before `::`.
pub(super) fn as_static(l: &mut Linker<Rust>, ty: Ty) -> Ty {
    match *l.types.get(ty) {
        Type::Named(at, _) => l.types.make(Type::Static(at)),
        Type::Std(name, _) => l.types.make(Type::StdStatic(name)),
        _ => ty,
    }
}

/// A member of a type itself, or of what it leads to.
fn member(l: &mut Linker<Rust>, asked: Asked, is_static: bool) -> Found {
    let mut it = asked;
    for _ in 0..DEREFS_MAX {
        if let Some(found) = direct(l, it, is_static) {
            // Traits of other crates are implemented for pointers as well.
            let is_of_pointer = matches!(l.types.get(asked.ty), Type::Std(..)) && asked.ty != it.ty;
            if is_of_pointer && found.hits.first().is_some_and(|h| is_of_foreign_trait(l, h.at)) {
                return Found::outside();
            }
            return found;
        }
        match behind(l, it.ty).filter(|_| !is_static) {
            Some(inner) if inner != it.ty => it.ty = inner,
            _ => break,
        }
        // What a parameter must be, or several things at once.
        if matches!(l.types.get(it.ty), Type::Both(_) | Type::Union(_) | Type::Unknown | Type::External) {
            return (*l.attr(it.ty, it.name, it.space)).clone();
        }
    }
    if it.space == Space::Calls
        && let Some(ty) = of_every_type(l, asked, is_static)
    {
        return Found::typed(ty);
    }
    match l.types.get(it.ty) {
        Type::Named(..) | Type::This(_) => Found::none(UnresolvedReason::NotFound),
        Type::Var(..) => Found::unknown(),
        _ => Found::outside(),
    }
}

/// The result of a function that the language derives, or that a trait of the standard library makes.
fn of_every_type(l: &mut Linker<Rust>, asked: Asked, is_static: bool) -> Option<Ty> {
    match asked.name {
        name if AS_IT_IS.contains(&name) && !is_static => Some(asked.ty),
        "default" | "from" | "from_iter" | "clone" if is_static && !is_trait(l, asked.ty) => Some(asked.ty),
        "try_from" | "from_str" if is_static => Some(l.types.std("Result", &[asked.ty, Ty::UNKNOWN])),
        _ => None,
    }
}

/// What a value of a type leads to without being asked: `*x`.
pub(super) fn behind(l: &mut Linker<Rust>, ty: Ty) -> Option<Ty> {
    match l.types.get(ty).clone() {
        Type::Std(name, args) => {
            let name = l.types.text(name);
            TABLE.bases(&mut l.types, TABLE.canonical(&name), &args).first().copied()
        }
        Type::Named(at, _) if l.files.def(at).kind != DefKind::Interface => assoc(l, ty, "Target"),
        _ => None,
    }
}

/// Whether a type is a trait of the standard library.
fn is_trait(l: &Linker<Rust>, ty: Ty) -> bool {
    matches!(l.types.get(ty), Type::Std(name, _) if matches!(&*l.types.text(*name), "Default" | "From" | "Clone"))
}

/// Whether a member is one of a trait from outside the tree.
fn is_of_foreign_trait(l: &mut Linker<Rust>, at: DefAt) -> bool {
    let Some(of_trait) = l.files.def(at).bases.get(1).copied() else { return false };
    let ty = l.written(at.file, of_trait);
    !matches!(l.types.get(ty), Type::Named(..))
}

/// A type that an implementation gives a name.
pub(super) fn assoc(l: &mut Linker<Rust>, ty: Ty, name: &str) -> Option<Ty> {
    let find = |l: &mut Linker<Rust>| {
        let found = implementing(l, Asked { ty, name, space: Space::Types })?;
        Some(l.type_of_found(&found, &[]))
    };
    nested(l, |l| &mut l.own.n_derefs, DEREFS_MAX + 1, find).flatten().filter(|t| !is_nothing(*t))
}

/// Members that need no pointer to be followed.
fn direct(l: &mut Linker<Rust>, it: Asked, is_static: bool) -> Option<Found> {
    match l.types.get(it.ty).clone() {
        Type::Named(at, args) if l.files.def(at).kind == DefKind::Interface => of_trait(l, at, &args, it, 0),
        Type::This(at) if is_asked_for(l, at) => {
            let bounds = l.files.def(at).ty;
            let bounds = l.written(at.file, bounds);
            (!is_nothing(bounds)).then(|| (*l.attr(bounds, it.name, it.space)).clone())
        }
        Type::This(at) => {
            let args = l.type_params(at);
            of_trait(l, at, &args, it, 0)
        }
        Type::Named(at, args) => {
            let own = declared_in(l, at, &args, it, is_static);
            own.or_else(|| implementing(l, it)).or_else(|| by_default(l, it)).or_else(|| elements(l, it))
        }
        Type::Std(name, args) => {
            let text = l.types.text(name);
            let own = in_table(&text);
            if !is_static && let Some(ty) = TABLE.member(&mut l.types, own, &args, it.name) {
                return Some(Found::typed(ty));
            }
            implementing(l, it).or_else(|| by_default(l, it))
        }
        Type::Var(..) => {
            let bound = l.constraint(it.ty)?;
            let parts = all_of(l, bound);
            let mut outside = None;
            for part in parts.iter() {
                let found = match l.types.get(*part).clone() {
                    Type::Named(at, args) => of_trait(l, at, &args, it, 0),
                    _ => Some((*l.attr(*part, it.name, it.space)).clone()),
                };
                match found {
                    Some(found) if !found.hits.is_empty() => return Some(found),
                    Some(found) if !is_nothing(found.ty) => outside = outside.or(Some(found)),
                    _ => {}
                }
            }
            outside.or_else(|| by_default(l, it))
        }
        _ => implementing(l, it),
    }
}

/// The parts of an intersection; a type by itself.
fn all_of(l: &Linker<Rust>, ty: Ty) -> Args {
    match l.types.get(ty) {
        Type::Both(parts) => Rc::clone(parts),
        _ => Rc::from([ty]),
    }
}

/// A field, or a variant of an enumeration.
fn declared_in(l: &mut Linker<Rust>, at: DefAt, args: &[Ty], it: Asked, is_static: bool) -> Option<Found> {
    let facts = l.facts(at.file);
    l.files.record(at);
    let all = l.files.members(at, it.name);
    let is_it = |kind: DefKind| match kind {
        DefKind::Field => it.space == Space::Values && !is_static,
        DefKind::Constant => is_static,
        _ => false,
    };
    let def = all.iter().copied().find(|d| is_it(facts.def(*d).kind))?;
    let owner = l.variant_of(at).unwrap_or(at);
    let env: Env = l.param_map(owner, args).into();
    Some(one(DefAt { def, ..at }, Rule::Receiver, env))
}

fn one(at: DefAt, rule: Rule, env: Env) -> Found {
    let mut found = Found::defs([at], rule);
    found.hits[0].env = env;
    found
}

/// What going through a value of a type gives, or what a subscript of it does.
fn elements(l: &mut Linker<Rust>, it: Asked) -> Option<Found> {
    if it.name != "[]" || it.space != Space::Values {
        return None;
    }
    let ty = ["Item", "Output"].iter().find_map(|n| assoc(l, it.ty, n))?;
    Some(Found::typed(ty))
}

/// The name under which `impl` blocks give members to a type.
fn name_of(l: &Linker<Rust>, ty: Ty) -> Option<String> {
    Some(match l.types.get(ty) {
        Type::Named(at, _) | Type::This(at) => l.files.name(*at).to_owned(),
        Type::Std(name, _) if &*l.types.text(*name) == "Array" => "[]".to_owned(),
        Type::Std(name, _) => l.types.text(*name).to_string(),
        Type::Tuple(_) | Type::Fn { .. } => "[]".to_owned(),
        Type::Var(..) => "*".to_owned(),
        _ => return None,
    })
}

/// What files provide under a key, by path and place.
pub(super) fn provided(l: &mut Linker<Rust>, key: Key) -> Vec<DefAt> {
    let docs = l.files.view.find(key);
    docs.iter().take(FILES_MAX).flat_map(|doc| l.files.provided(*doc, key)).collect()
}

/// The names of a type in `impl` blocks: its own, and those of aliases of it.
fn names_of(l: &mut Linker<Rust>, ty: Ty) -> Vec<String> {
    let Some(own) = name_of(l, ty) else { return Vec::new() };
    let aliases = provided(l, Key::any("rust-alias", &own));
    let mut out = vec![own];
    out.extend(aliases.iter().take(ALIASES_MAX).map(|a| l.files.name(*a).to_owned()));
    out.dedup();
    out
}

/// Whether a type is the one that an `impl` block is for, and with what in the place of its parameters.
fn fits(l: &mut Linker<Rust>, pattern: Ty, ty: Ty, own: &[Ty]) -> Option<Map> {
    if pattern == ty {
        return Some(Vec::new());
    }
    let same = |l: &Linker<Rust>, a: Ty, b: Ty| match (l.types.get(a), l.types.get(b)) {
        (Type::Named(a, _) | Type::This(a), Type::Named(b, _) | Type::This(b)) => a == b,
        (Type::Std(a, _), Type::Std(b, _)) => {
            TABLE.canonical(&l.types.text(*a)) == TABLE.canonical(&l.types.text(*b))
        }
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len(),
        _ => false,
    };
    if !same(l, pattern, ty) {
        return None;
    }
    let args = |l: &Linker<Rust>, t: Ty| match l.types.get(t).clone() {
        Type::Named(_, args) | Type::Std(_, args) | Type::Tuple(args) => args,
        _ => Rc::from([]),
    };
    // An implementation for other arguments is not meant; for a tuple they must be known.
    let is_known = |l: &Linker<Rust>, t: Ty| matches!(l.types.get(t), Type::Named(..) | Type::Std(..));
    let is_tuple = matches!(l.types.get(pattern), Type::Tuple(_));
    let pairs: Vec<(Ty, Ty)> = args(l, pattern).iter().copied().zip(args(l, ty).iter().copied()).collect();
    if pairs.iter().any(|(a, b)| is_known(l, *a) && (is_known(l, *b) || is_tuple) && !same(l, *a, *b)) {
        return None;
    }
    Some(l.matched(pattern, ty, own))
}

/// A member that an `impl` block gives: of the type itself before those of traits. Of several traits none is known
/// to be meant.
fn implementing(l: &mut Linker<Rust>, it: Asked) -> Option<Found> {
    let mut by_trait: Option<(Found, Ty, bool)> = None;
    for name in names_of(l, it.ty) {
        for at in provided(l, Key::member(&format!("rust-of:{name}"), it.name)) {
            let def = l.files.def(at);
            let is_fit = def.kind.is_type() == (it.space == Space::Types);
            let Some(of) = def.bases.first().filter(|_| is_fit) else { continue };
            l.files.record(at);
            let pattern = l.written(at.file, *of);
            let own = l.type_params(at);
            let Some(mut env) = fits(l, pattern, it.ty, &own) else { continue };
            env.retain(|e| e.0 != e.1);
            let found = one(at, Rule::Receiver, env.into());
            let Some(of_trait) = def.bases.get(1) else { return Some(found) };
            let of_trait = l.written(at.file, *of_trait);
            let is_open = is_open(l, pattern, it.ty);
            match &by_trait {
                None => by_trait = Some((found, of_trait, is_open)),
                // An implementation for a type that is not known is meant where no other is.
                Some((_, _, true)) if !is_open => by_trait = Some((found, of_trait, false)),
                Some((_, _, false)) if is_open => {}
                Some((_, known, _)) if !is_same_trait(l, *known, of_trait) => {
                    by_trait = Some((Found::unknown(), Ty::UNKNOWN, is_open));
                }
                Some(_) => {}
            }
        }
    }
    by_trait.map(|t| t.0)
}

/// Returns true if an implementation is for unknown type arguments and the type has known ones.
fn is_open(l: &Linker<Rust>, pattern: Ty, ty: Ty) -> bool {
    match (l.types.get(pattern), l.types.get(ty)) {
        (Type::Named(_, a) | Type::Std(_, a), Type::Named(_, b) | Type::Std(_, b)) => {
            a.iter().zip(b.iter()).any(|(a, b)| is_nothing(*a) && !is_nothing(*b))
        }
        _ => false,
    }
}

fn is_same_trait(l: &Linker<Rust>, a: Ty, b: Ty) -> bool {
    match (l.types.get(a), l.types.get(b)) {
        (Type::Named(a, _), Type::Named(b, _)) => a == b,
        (Type::Std(a, _), Type::Std(b, _)) => a == b,
        _ => false,
    }
}

/// A member that a trait gives to what implements it.
fn by_default(l: &mut Linker<Rust>, it: Asked) -> Option<Found> {
    let mut names = names_of(l, it.ty);
    names.push("*".to_owned());
    names.dedup();
    let mut out: Option<Found> = None;
    for name in names {
        for at in provided(l, Key::any("rust-impl", &name)) {
            match (&out, given_by_impl(l, at, it)) {
                (None, found) => out = found,
                (Some(known), Some(found)) if !is_same(known, &found) => return Some(Found::unknown()),
                _ => {}
            }
        }
    }
    out
}

/// A member of the trait that an `impl` block is of, where the block is for the type.
fn given_by_impl(l: &mut Linker<Rust>, at: DefAt, it: Asked) -> Option<Found> {
    let def = l.files.def(at);
    let of_trait = l.written(at.file, *def.bases.first()?);
    if !has_member(l, of_trait, it.name) {
        return None;
    }
    let pattern = l.written(at.file, def.ty);
    let own = l.type_params(at);
    let env = match l.types.get(pattern) {
        Type::Var(..) => meets(l, pattern, it.ty).then(|| vec![(pattern, it.ty)])?,
        _ => fits(l, pattern, it.ty, &own)?,
    };
    let of_trait = l.types.replaced(of_trait, &env);
    match l.types.get(of_trait).clone() {
        Type::Named(at, args) => of_one_trait(l, at, &args, it),
        Type::Std(name, args) => of_std_trait(l, &l.types.text(name), &args, it),
        _ => None,
    }
}

fn is_same(a: &Found, b: &Found) -> bool {
    a.hits.first().map(|h| h.at) == b.hits.first().map(|h| h.at)
}

/// Whether a trait itself has a member, before more is asked.
fn has_member(l: &mut Linker<Rust>, of: Ty, name: &str) -> bool {
    match l.types.get(of).clone() {
        Type::Named(at, _) => !l.files.members(at, name).is_empty(),
        Type::Std(of, _) => TABLE.has(TABLE.canonical(&l.types.text(of)), name),
        _ => false,
    }
}

/// Whether a type is known to be what bounds a parameter that stands for any type. What stands outside the tree
/// is not known to be anything.
fn meets(l: &mut Linker<Rust>, parameter: Ty, ty: Ty) -> bool {
    let Some(bound) = l.constraint(parameter) else { return !is_nothing(ty) };
    let parts = all_of(l, bound);
    parts.iter().all(|part| match *l.types.get(*part) {
        Type::Named(at, _) => implements(l, ty, at),
        _ => false,
    })
}

/// Whether a type implements a trait of the tree, as far as it says so itself.
fn implements(l: &mut Linker<Rust>, ty: Ty, of: DefAt) -> bool {
    let is_it =
        |l: &Linker<Rust>, t: Ty| matches!(l.types.get(t), Type::Named(at, _) | Type::This(at) if *at == of);
    if is_it(l, ty) {
        return true;
    }
    if let Type::Var(..) = l.types.get(ty) {
        return l.constraint(ty).is_some_and(|bound| all_of(l, bound).iter().any(|p| is_it(l, *p)));
    }
    for name in names_of(l, ty) {
        for at in provided(l, Key::any("rust-impl", &name)) {
            let Some(base) = l.files.def(at).bases.first() else { continue };
            let of_trait = l.written(at.file, *base);
            if is_it(l, of_trait) {
                let pattern = l.written(at.file, l.files.def(at).ty);
                let own = l.type_params(at);
                if fits(l, pattern, ty, &own).is_some() {
                    return true;
                }
            }
        }
    }
    false
}

/// A member of a trait or of those above it, on a value that implements it.
fn of_trait(l: &mut Linker<Rust>, at: DefAt, args: &[Ty], it: Asked, depth: u32) -> Option<Found> {
    if let Some(found) = of_one_trait(l, at, args, it) {
        return Some(found);
    }
    if depth == 0 && !matches!(l.types.get(it.ty), Type::Var(..)) {
        // `impl dyn Trait`.
        if let Some(found) = implementing(l, it) {
            return Some(found);
        }
    }
    let env = l.param_map(at, args);
    for base in l.bases(at).iter().filter(|_| depth < TRAITS_MAX) {
        let base = l.types.replaced(*base, &env);
        let found = match l.types.get(base).clone() {
            Type::Named(at, args) => of_trait(l, at, &args, it, depth + 1),
            Type::Std(name, args) => of_std_trait(l, &l.types.text(name), &args, it),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    if depth == 0 { by_default(l, it).filter(|f| !f.hits.is_empty()) } else { None }
}

/// A member that a trait itself declares.
fn of_one_trait(l: &mut Linker<Rust>, at: DefAt, args: &[Ty], it: Asked) -> Option<Found> {
    let facts = l.facts(at.file);
    l.files.record(at);
    let all = l.files.members(at, it.name);
    let is_it = |kind: DefKind| match it.space {
        Space::Types => kind.is_type(),
        Space::Values | Space::Calls => !kind.is_type(),
    };
    let def = all.iter().copied().find(|d| is_it(facts.def(*d).kind))?;
    let mut env = l.param_map(at, args);
    let this = l.types.make(Type::This(at));
    if it.ty != this && !matches!(l.types.get(it.ty), Type::Named(own, _) if *own == at) {
        env.push((this, it.ty));
        // The types that the trait asks for.
        if it.space != Space::Types {
            let children: Vec<_> =
                facts.children(at.def).filter(|d| facts.def(*d).kind == DefKind::Alias).collect();
            for def in children {
                let name = facts.def_name(def);
                if let Some(ty) = assoc(l, it.ty, name) {
                    let asked = l.types.make(Type::This(DefAt { def, ..at }));
                    env.push((asked, ty));
                }
            }
        }
    }
    Some(one(DefAt { def, ..at }, Rule::Inherited, env.into()))
}

/// A member of a trait of the table; what it goes through is what the type says.
fn of_std_trait(l: &mut Linker<Rust>, name: &str, args: &[Ty], it: Asked) -> Option<Found> {
    let name = TABLE.canonical(name);
    let args = match args.is_empty() {
        true => ["Item", "Output"].iter().filter_map(|n| assoc(l, it.ty, n)).take(1).collect(),
        false => args.to_vec(),
    };
    TABLE.member(&mut l.types, name, &args, it.name).map(Found::typed)
}

/// Whether a definition is a type that a trait asks for.
pub(super) fn is_asked_for(l: &Linker<Rust>, at: DefAt) -> bool {
    let def = l.files.def(at);
    let is_of_trait =
        |d: indexd_model::DefIdx| l.files.def(DefAt { def: d, ..at }).kind == DefKind::Interface;
    def.kind == DefKind::Alias && def.parent.some().is_some_and(is_of_trait)
}

impl Linker<'_, Rust> {
    /// The enumeration that a variant belongs to.
    pub(super) fn variant_of(&self, at: DefAt) -> Option<DefAt> {
        let def = self.files.def(at);
        let owner = DefAt { def: def.parent.some()?, ..at };
        (def.kind == DefKind::Constant && self.files.def(owner).kind == DefKind::Enum).then_some(owner)
    }

    /// The types in brackets of a struct or a variant.
    pub(super) fn positional(&mut self, at: DefAt, args: &[Ty]) -> Option<Args> {
        let def = self.files.def(at);
        if def.ty == ExprId::NONE || !matches!(self.facts(at.file).expr(def.ty).node, Node::Sequence { .. }) {
            return None;
        }
        self.files.record(at);
        let ty = self.written(at.file, def.ty);
        let owner = self.variant_of(at).unwrap_or(at);
        let map = self.param_map(owner, args);
        match self.types.get(ty).clone() {
            Type::Tuple(parts) => Some(parts.iter().map(|p| self.types.replaced(*p, &map)).collect()),
            _ => None,
        }
    }
}

/// Links what implements a trait to what it implements.
pub(super) fn implemented(l: &mut Linker<Rust>, out: &mut Links) {
    let facts = l.facts(0);
    for (i, def) in facts.interface.defs.iter().enumerate() {
        let at = DefAt { file: 0, def: indexd_model::DefIdx(i as u32) };
        let (Some(_), Some(of_trait)) = (def.receiver, def.bases.get(1)) else { continue };
        let of_trait = l.written(0, *of_trait);
        let Type::Named(of, _) = *l.types.get(of_trait) else { continue };
        let all = l.files.members(of, facts.str(def.name));
        let same = all.into_iter().find(|d| l.facts(of.file).def(*d).kind.is_type() == def.kind.is_type());
        let Some(target) = same.map(|d| DefAt { def: d, ..of }) else { continue };
        out.links.push(crate::implement(facts, at.def, l.reference(target)));
    }
}
