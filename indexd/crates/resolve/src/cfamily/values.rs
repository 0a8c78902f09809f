//! What expressions of C and C++ give, and what members types have.

use super::{CFamily, TABLE, has_members, is_sign};
use crate::declared::{Found, Hit, Linker, Place, Space};
use crate::remembered::remembered;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::{BindingKind, DefFlags, DefIdx, DefKind, ExprId, Facts, Node, Rule, StrId};
use smallvec::SmallVec;
use std::rc::Rc;

/// The value of an expression that means something of its own here.
pub(super) fn value(l: &mut Linker<CFamily>, file: File, e: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    match facts.expr(e).node {
        Node::Word { word, value } if facts.str(word) == "::" => {
            let found = l.in_types(file, value);
            Some(Val::new(l.value_of_found(&found)))
        }
        Node::Star { value } => {
            let v = l.eval(file, value);
            let ty = pointee(l, v.ty)?;
            Some(Val { ty, ..v })
        }
        Node::Name { name, binding }
            if facts.str(name) == "this"
                && facts.binding(binding).is_some_and(|b| b.kind == BindingKind::Receiver) =>
        {
            let ty = l.binding(file, binding).ty;
            Some(Val::new(pointer_to(l, ty)))
        }
        Node::Address { value } => {
            let v = l.eval(file, value);
            Some(Val { ty: pointer_to(l, v.ty), ..v })
        }
        Node::Compare { .. } => Some(Val::new(l.types.std("int", &[]))),
        Node::Call { callee, .. } => call(l, file, e, callee),
        _ => None,
    }
}

/// Finds the member that a name among the arguments of a macro means, by the type of another argument:
/// `LIST_NEXT(item, link)`.
pub(super) fn member_of_argument<'a>(l: &mut Linker<'a, CFamily>, file: File, e: ExprId) -> Option<Found> {
    let facts = l.facts(file);
    let around = l.files.parent(file, e)?;
    let (Node::Name { name, binding }, Node::Call { callee, args }) =
        (facts.expr(e).node, facts.expr(around).node)
    else {
        return None;
    };
    let (name, args) = (facts.str(name), facts.list(args));
    let Node::Name { name: called, .. } = facts.expr(callee).node else { return None };
    if facts.binding(binding).is_some() || !args.contains(&e) {
        return None;
    }
    let place = Place { file, at: facts.expr(e).at };
    // In C the name of a struct is not that of a value.
    let known = l.free(place, name, Space::Values);
    let is_declared = match known.hits.first() {
        Some(hit) => !l.files.def(hit.at).kind.is_type(),
        None => known.is_found(),
    };
    if is_declared || !is_macro(l, place, facts.str(called)) {
        return None;
    }
    for arg in args.iter().filter(|a| **a != e) {
        let mut ty = l.eval(file, *arg).ty;
        if let Type::Static(at) = *l.types.get(ty) {
            ty = l.types.make(Type::Named(at, Rc::from([])));
        }
        let found = l.attr(ty, name, Space::Values);
        if found.hits.iter().any(|h| l.files.def(h.at).kind == DefKind::Field) {
            return Some(Found::defs(found.hits.iter().map(|h| h.at), Rule::Inferred));
        }
    }
    None
}

/// Returns true for a macro of the tree, and for a name from outside that is written like one.
fn is_macro<'a>(l: &mut Linker<'a, CFamily>, place: Place, name: &'a str) -> bool {
    let found = l.free(place, name, Space::Calls);
    match found.hits.first() {
        Some(hit) => l.files.def(hit.at).kind == DefKind::Macro,
        None => !name.bytes().any(|b| b.is_ascii_lowercase()),
    }
}

fn pointer_to(l: &mut Linker<CFamily>, ty: Ty) -> Ty {
    match ty {
        Ty::UNKNOWN | Ty::EXTERNAL => ty,
        ty => l.types.std("Array", &[ty]),
    }
}

/// What `*v` gives, where it is not the value itself.
fn pointee(l: &mut Linker<CFamily>, ty: Ty) -> Option<Ty> {
    match l.types.get(ty).clone() {
        Type::Std(name, args) => {
            let name = l.types.text(name);
            TABLE.member(&mut l.types, &name, &args, "*")
        }
        Type::Named(..) => {
            let found = l.attr(ty, "operator*", Space::Calls);
            let unary = found.hits.iter().find(|h| l.files.def(h.at).params.is_empty()).cloned()?;
            Some(l.result_of(&unary, None, &[]))
        }
        _ => None,
    }
}

/// The type whose members a value has behind `->`.
pub(super) fn pointed_to(l: &mut Linker<CFamily>, ty: Ty) -> Option<Ty> {
    let at = match *l.types.get(ty) {
        Type::Named(at, _) => at,
        // A pointer has the members of what it leads to.
        Type::Std(name, ref args) if &*l.types.text(name) == "Array" => return args.first().copied(),
        _ => return None,
    };
    if !l.files.def(at).kind.is_type() {
        return None;
    }
    let found = l.attr(ty, "operator->", Space::Calls);
    let hit = found.hits.first()?.clone();
    Some(l.result_of(&hit, None, &[]))
}

/// What going through a value gives.
pub(super) fn element(l: &mut Linker<CFamily>, ty: Ty) -> Option<Ty> {
    if is_pointer(l, ty) {
        return pointee(l, ty);
    }
    if !matches!(l.types.get(ty), Type::Named(..) | Type::This(_)) {
        return None;
    }
    let begin = l.attr(ty, "begin", Space::Calls);
    let hit = begin.hits.first().cloned()?;
    let iterator = l.result_of(&hit, None, &[]);
    Some(pointee(l, iterator).unwrap_or(iterator))
}

/// Returns a part that `auto [a, b] = v` takes out of a value: of a pair or a tuple, or a field of a class, in order.
pub(super) fn part(l: &mut Linker<CFamily>, ty: Ty, index: u16) -> Ty {
    let index = usize::from(index);
    match l.types.get(ty).clone() {
        Type::Std(name, args) if matches!(&*l.types.text(name), "pair" | "tuple") => {
            args.get(index).copied().unwrap_or(Ty::UNKNOWN)
        }
        // The order of the fields is not a key, so that those of another file are not followed.
        Type::Named(at, args) if at.file == 0 => {
            let facts = l.facts(at.file);
            let mut fields = facts.children(at.def).filter(|d| facts.def(*d).kind == DefKind::Field);
            let Some(def) = fields.nth(index) else { return Ty::UNKNOWN };
            let env = l.param_map(at, &args);
            let ty = l.def_value(DefAt { def, ..at }).ty;
            l.types.replaced(ty, &env)
        }
        _ => Ty::UNKNOWN,
    }
}

/// A type that a container of the standard library names: `vector<T>::iterator`.
pub(super) fn of_container(l: &mut Linker<CFamily>, file: File, base: ExprId, name: StrId) -> Option<Ty> {
    let facts = l.facts(file);
    let member = match facts.str(name) {
        "iterator" | "const_iterator" => "begin",
        "reverse_iterator" | "const_reverse_iterator" => "rbegin",
        "value_type" | "reference" | "const_reference" => "[]",
        "mapped_type" => "operator[]",
        _ => return None,
    };
    let base = match facts.expr(base).node {
        Node::Word { value, .. } => value,
        _ => base,
    };
    let ty = l.written(file, base);
    match l.types.get(ty).clone() {
        Type::Std(of, args) if !args.is_empty() => {
            let of = l.types.text(of);
            TABLE.member(&mut l.types, &of, &args, member)
        }
        _ => None,
    }
}

fn call(l: &mut Linker<CFamily>, file: File, e: ExprId, callee: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    let (inner, given) = crate::applied(facts, callee);
    if let Node::Attr { base, name } = facts.expr(inner).node
        && is_sign(facts.str(name))
    {
        return operation(l, file, e, base, facts.str(name));
    }
    if let Node::Word { value, .. } = facts.expr(callee).node {
        let ty = l.written(file, value);
        return Some(Val::new(pointer_to(l, ty)));
    }
    let picked = l.picked(file, e);
    let is_inferred = picked.is_inferred;
    let args: Vec<Ty> = given.iter().map(|a| l.written(file, *a)).collect();
    let Some(hit) = picked.found.hits.first().cloned() else {
        let ty = match *l.types.get(picked.found.ty) {
            Type::StdStatic(name) => l.types.make(Type::Std(name, args.into())),
            // `make_unique<T>()` gives what its name says.
            Type::Std(name, ref known) if !args.is_empty() && known.len() == 1 => {
                l.types.make(Type::Std(name, Rc::from([args[0]])))
            }
            _ => return None,
        };
        return Some(Val { ty, is_inferred });
    };
    let def = l.files.def(hit.at);
    let ty = if def.kind.is_type() {
        l.type_of_def(hit.at, &args)
    } else if is_constructor(l, hit.at) {
        let class = DefAt { def: def.parent, ..hit.at };
        l.type_of_def(class, &args)
    } else if def.kind.is_callable() {
        return None;
    } else {
        let ty = l.def_value(hit.at).ty;
        let ty = l.types.replaced(ty, &hit.env);
        called(l, ty)
    };
    Some(Val { ty, is_inferred })
}

/// Finds a member behind the name of an alias: one of the aliased type, unless the alias itself has it.
pub(super) fn of_alias(l: &mut Linker<CFamily>, ty: Ty, name: &str, space: Space) -> Option<Found> {
    let Type::Static(at) = *l.types.get(ty) else { return None };
    if l.files.def(at).kind != DefKind::Alias || !l.files.members(at, name).is_empty() {
        return None;
    }
    let target = l.type_of_def(at, &[]);
    let target = match *l.types.get(target) {
        Type::Named(class, _) if class != at => l.types.make(Type::Static(class)),
        Type::Std(name, _) => l.types.make(Type::StdStatic(name)),
        _ => return None,
    };
    Some((*l.attr(target, name, space)).clone())
}

/// What the operators of a pointer or an array lead to: those are of the language.
pub(super) fn of_pointer(l: &mut Linker<CFamily>, ty: Ty, name: &str) -> Option<Found> {
    if !is_sign(name) || !is_pointer(l, ty) {
        return None;
    }
    let elem = if name == "operator[]" { pointee(l, ty) } else { None };
    Some(elem.map_or_else(Found::outside, Found::typed))
}

/// Whether a value is a pointer or an array.
fn is_pointer(l: &Linker<CFamily>, ty: Ty) -> bool {
    l.types.is_std(ty, "Array")
}

/// What calling a value of a type gives.
fn called(l: &mut Linker<CFamily>, ty: Ty) -> Ty {
    match l.types.get(ty).clone() {
        Type::Fn { result, .. } => result,
        Type::Std(name, args) if &*l.types.text(name) == "Array" && !args.is_empty() => called(l, args[0]),
        Type::Named(..) => {
            let found = l.attr(ty, "operator()", Space::Calls);
            let hit = found.hits.first().cloned();
            hit.map_or(Ty::UNKNOWN, |h| l.result_of(&h, None, &[]))
        }
        _ => Ty::UNKNOWN,
    }
}

/// The value of an operator.
fn operation(l: &mut Linker<CFamily>, file: File, e: ExprId, left: ExprId, name: &str) -> Option<Val> {
    let v = l.eval(file, left);
    if !l.picked(file, e).found.hits.is_empty() {
        return None;
    }
    let ty = match &name["operator".len()..] {
        "[]" => match l.types.get(v.ty).clone() {
            Type::Std(of, args) => {
                let of = l.types.text(of);
                TABLE.member(&mut l.types, &of, &args, name).unwrap_or(v.ty)
            }
            _ => v.ty,
        },
        "==" | "!=" | "<" | ">" | "<=" | ">=" => l.types.std("int", &[]),
        _ => v.ty,
    };
    Some(Val { ty, ..v })
}

/// What a call means where no function takes its arguments: the type, where one would be made, else the only
/// function, since defaults and macros may hide arguments.
pub(super) fn miscounted(l: &mut Linker<CFamily>, hits: &[Hit]) -> SmallVec<[Hit; 2]> {
    match hits {
        [first, ..] if is_constructor(l, first.at) => {
            let class = DefAt { def: l.files.def(first.at).parent, ..first.at };
            SmallVec::from_iter([Hit { at: class, ..first.clone() }])
        }
        [one] => SmallVec::from_iter([one.clone()]),
        _ => SmallVec::new(),
    }
}

// ---- members

/// Whether a function makes values of the class around it.
pub(super) fn is_constructor(l: &Linker<CFamily>, at: DefAt) -> bool {
    let def = l.files.def(at);
    def.kind.is_callable()
        && def.results.is_empty()
        && def.parent.some().is_some_and(|p| l.files.name(DefAt { def: p, ..at }) == l.files.name(at))
}

/// The constructors that a class declares.
pub(super) fn constructors(l: &mut Linker<CFamily>, at: DefAt) -> SmallVec<[DefAt; 2]> {
    let name = l.files.name(at);
    let all = l.files.members(at, name);
    all.into_iter().map(|def| DefAt { def, ..at }).filter(|m| is_constructor(l, *m)).collect()
}

/// A type in a place: where it is called, what makes it.
pub(super) fn class_found(l: &mut Linker<CFamily>, at: DefAt, space: Space, rule: Rule) -> Found {
    if space != Space::Calls || !l.files.def(at).kind.is_type() {
        return Found::defs([at], rule);
    }
    let ty = l.type_of_def(at, &[]);
    let class = match *l.types.get(ty) {
        Type::Named(class, _) => class,
        Type::Std(name, _) => return Found::typed(l.types.make(Type::StdStatic(name))),
        _ => at,
    };
    let all = constructors(l, class);
    if all.is_empty() { Found::defs([at], rule) } else { Found::defs(all, rule) }
}

/// Members that a type itself has under a name; those of enumerations without a scope are its own.
pub(super) fn members(l: &mut Linker<CFamily>, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
    if is_sign(name) {
        return super::names::operators(l, of, name);
    }
    if !has_members(l.files.def(of).kind) && l.files.def(of).bases.is_empty() {
        return SmallVec::new();
    }
    let mut all = named_in(l, of, name, space);
    let kind = |l: &Linker<CFamily>, at: DefAt| l.files.def(at).kind;
    let has = |l: &Linker<CFamily>, fits: fn(DefKind) -> bool| all.iter().any(|a| fits(kind(l, *a)));
    let is_value = |k: DefKind| !k.is_type() && !k.is_callable() && k != DefKind::Module;
    let fits: fn(DefKind) -> bool = match space {
        Space::Types => DefKind::is_type,
        Space::Calls if has(l, DefKind::is_callable) => DefKind::is_callable,
        Space::Values if has(l, is_value) => is_value,
        Space::Values if has(l, DefKind::is_callable) && name != l.files.name(of) => DefKind::is_callable,
        Space::Values => DefKind::is_type,
        Space::Calls if has(l, is_value) => is_value,
        Space::Calls => {
            let class = all.iter().copied().find(|a| kind(l, *a).is_type());
            return class.map_or_else(SmallVec::new, |class| {
                class_found(l, class, space, Rule::Receiver).hits.into_iter().map(|h: Hit| h.at).collect()
            });
        }
    };
    all.retain(|a| fits(kind(l, *a)));
    all
}

/// The members of a type under a name: its own, enumerators of enumerations in it, nested types that are
/// defined outside of it.
fn named_in(l: &mut Linker<CFamily>, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
    let mut all: SmallVec<[DefAt; 2]> =
        l.files.members(of, name).into_iter().map(|def| DefAt { def, ..of }).collect();
    if all.is_empty() {
        for def in enumerations(l, of).iter() {
            let of = DefAt { def: *def, ..of };
            all.extend(l.files.members(of, name).into_iter().map(|def| DefAt { def, ..of }));
        }
    }
    if all.is_empty() && space != Space::Values {
        all.extend(super::names::nested_outside(l, of, name));
    }
    all
}

/// The enumerations without a scope in a type.
fn enumerations(l: &mut Linker<CFamily>, of: DefAt) -> Rc<[DefIdx]> {
    remembered(l, |l| &mut l.own.enumerations, of, |l| find_enumerations(l.facts(of.file), of.def))
}

fn find_enumerations(facts: Facts, of: DefIdx) -> Rc<[DefIdx]> {
    let is_open = |d: &DefIdx| {
        let def = facts.def(*d);
        match def.kind {
            DefKind::Enum => !def.flags.has(DefFlags::STATIC),
            DefKind::Alias => true,
            _ => false,
        }
    };
    facts.children(of).filter(is_open).collect()
}
