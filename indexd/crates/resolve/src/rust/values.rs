//! What expressions and written types mean beyond what other languages have.

use super::macros::Asked;
use super::members::{as_static, assoc, behind};
use super::names::is_nothing;
use super::{Puts, Rust, TABLE};
use crate::declared::{Found, Linker, Place, Space};
use crate::remembered::remembered;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::facts::SequenceKind;
use indexd_model::{BindingId, BindingKind, DefKind, ExprId, Facts, List, Node, Role, Rule, Source};
use std::rc::Rc;

/// Elements of a literal that are looked at.
const ELEMENTS_MAX: usize = 8;

/// The type that `Self` stands for; `None` for other names.
fn self_type(l: &mut Linker<Rust>, file: File, binding: BindingId) -> Option<Ty> {
    let facts = l.facts(file);
    let b = facts.binding(binding).filter(|b| b.kind == BindingKind::TypeParam)?;
    if facts.str(b.name) != "Self" {
        return None;
    }
    match *facts.sources(b).first()? {
        Source::Declared(e) => Some(l.written(file, e)),
        Source::Def(def) => {
            let at = DefAt { file, def };
            let args = l.type_params(at);
            let is_trait = l.files.def(at).kind == DefKind::Interface;
            Some(l.types.make(if is_trait { Type::This(at) } else { Type::Named(at, args) }))
        }
        _ => None,
    }
}

/// The type that an expression is.
pub(super) fn ty(l: &mut Linker<Rust>, file: File, e: ExprId) -> Option<Ty> {
    let facts = l.facts(file);
    Some(match facts.expr(e).node {
        Node::Name { binding, .. } => return self_type(l, file, binding),
        Node::Apply { base, args } => return applied(l, file, base, args),
        Node::Word { word, value } if matches!(facts.str(word), "impl" | "dyn") => l.written(file, value),
        Node::Binary { left, right } => {
            let parts = [l.written(file, left), l.written(file, right)];
            l.types.both(&parts)
        }
        Node::Assert { value, .. } => l.written(file, value),
        _ => return None,
    })
}

/// A trait with a type that it is asked to have: of those of the table that is an argument.
fn applied(l: &mut Linker<Rust>, file: File, base: ExprId, args: List) -> Option<Ty> {
    let facts = l.facts(file);
    let is_key = |e: &ExprId| matches!(facts.expr(*e).node, Node::Keyword { .. });
    if !facts.list(args).iter().any(is_key) {
        return None;
    }
    let mut given = Vec::new();
    for e in facts.list(args) {
        match facts.expr(*e).node {
            Node::Keyword { value, .. } => given.push((l.written(file, value), true)),
            _ => given.push((l.written(file, *e), false)),
        }
    }
    let of = l.written(file, base);
    Some(match *l.types.get(of) {
        Type::Std(name, _) => l.types.make(Type::Std(name, given.iter().map(|g| g.0).collect())),
        Type::Named(at, _) => {
            let args = given.iter().filter(|g| !g.1).map(|g| g.0).collect();
            l.types.make(Type::Named(at, args))
        }
        _ => of,
    })
}

/// What a use leads to, where it is a macro, a key, or a path of types.
pub(super) fn found(l: &mut Linker<Rust>, file: File, e: ExprId, space: Space) -> Option<Found> {
    let facts = l.facts(file);
    let expr = facts.expr(e);
    match expr.node {
        Node::Name { name, binding } => {
            let name = facts.str(name);
            if is_mark(l, file, binding) || expr.role == Role::Decorator {
                return Some(l.macro_named(file, name, expr.at));
            }
            // `Self` is seen by what it stands for.
            let ty = self_type(l, file, binding)?;
            let of = as_static(l, ty);
            Some(Found::typed(of))
        }
        Node::Attr { base, name } if expr.role == Role::Key => {
            let of = l.path_def(file, base);
            let name = facts.str(name);
            let field = of.and_then(|of| {
                let all = l.files.members(of, name);
                let facts = l.facts(of.file);
                all.into_iter().find(|d| facts.def(*d).kind == DefKind::Field).map(|def| DefAt { def, ..of })
            });
            Some(match (field, of) {
                (Some(at), _) => Found::defs([at], Rule::Receiver),
                (None, Some(_)) => Found::none(indexd_model::UnresolvedReason::NotFound),
                (None, None) => Found::outside(),
            })
        }
        Node::Attr { base, name } if expr.role == Role::Decorator || is_macro_path(l, file, e) => {
            let of = l.eval(file, base);
            let found = match *l.types.get(of.ty) {
                Type::Module(f) => {
                    l.macro_of_module(super::modules::whole(f), facts.str(name), &mut Asked::new())
                }
                Type::Static(at) if l.files.def(at).kind == DefKind::Module => {
                    l.macro_of_module(at, facts.str(name), &mut Asked::new())
                }
                _ => None,
            };
            Some(found.map_or_else(Found::outside, |at| Found::defs([at], Rule::Import)))
        }
        Node::Attr { base, name } if space == Space::Types => {
            if let Some(found) = own_assoc(l, file, e) {
                return Some(found);
            }
            let of = l.eval(file, base);
            let name = facts.str(name);
            let found = l.attr(of.ty, name, Space::Types);
            // A variant stands where a type does in literals and patterns.
            Some(match found.is_found() {
                true => (*found).clone(),
                false => (*l.attr(of.ty, name, Space::Values)).clone(),
            })
        }
        Node::Attr { base, name } if space == Space::Calls => by_argument(l, file, e, base, facts.str(name)),
        _ => None,
    }
}

/// `Self::A` inside a block that implements a trait: what the block says of the trait's `A`.
fn own_assoc(l: &mut Linker<Rust>, file: File, e: ExprId) -> Option<Found> {
    let facts = l.facts(file);
    let expr = facts.expr(e);
    let Node::Attr { base, name } = expr.node else { return None };
    let Node::Name { binding, .. } = facts.expr(base).node else { return None };
    self_type(l, file, binding)?;
    // The members of a block have its type, as it is written there, as their first base.
    let Source::Declared(of) = *facts.sources(facts.binding(binding)?).first()? else { return None };
    let owner = last_name(l, file, of);
    let all = l.files.given(file, owner, facts.str(name));
    let own = all.into_iter().find(|d| facts.def(*d).bases.first() == Some(&of))?;
    let of_trait = *facts.def(own).bases.get(1)?;
    let of_trait = l.written(file, of_trait);
    // The name is that of the trait.
    match l.types.get(of_trait) {
        Type::Named(..) => Some(Found::defs([DefAt { file, def: own }], Rule::Receiver)),
        _ => {
            let ty = l.type_of_def(DefAt { file, def: own }, &[]);
            Some(Found::typed(ty))
        }
    }
}

/// The last name of a type as it is written.
fn last_name<'a>(l: &Linker<'a, Rust>, file: File, mut e: ExprId) -> &'a str {
    let facts = l.facts(file);
    loop {
        match facts.expr(e).node {
            Node::Name { name, .. } | Node::Attr { name, .. } => return facts.str(name),
            Node::Apply { base: of, .. } | Node::Word { value: of, .. } | Node::Address { value: of } => {
                e = of
            }
            _ => return "[]",
        }
    }
}

/// `Trait::m(x, ..)` of a trait from outside the tree: what the type of `x` has for it.
fn by_argument(l: &mut Linker<Rust>, file: File, e: ExprId, base: ExprId, name: &str) -> Option<Found> {
    let of = l.eval(file, base).ty;
    let Type::StdStatic(of_trait) = *l.types.get(of) else { return None };
    if TABLE.ty(&l.types.text(of_trait)).is_some() {
        return None;
    }
    let call = l.files.parent(file, e)?;
    let facts = l.facts(file);
    let Node::Call { callee, args } = facts.expr(call).node else { return None };
    let first = *facts.list(args).first().filter(|_| callee == e)?;
    let ty = l.eval(file, first).ty;
    if !matches!(l.types.get(ty), Type::Named(..)) {
        return None;
    }
    let found = l.attr(ty, name, Space::Calls);
    let hit = found.hits.first()?;
    // A function without a receiver is not one of the value's type.
    let params = &l.files.def(hit.at).params;
    let first = params.first().and_then(|p| l.facts(hit.at.file).binding(*p));
    first.filter(|b| b.kind == BindingKind::Receiver)?;
    let of_impl = l.files.def(hit.at).bases.get(1).copied()?;
    let of_impl = l.written(hit.at.file, of_impl);
    let is_it = matches!(*l.types.get(of_impl), Type::Std(n, _) if n == of_trait);
    is_it.then(|| (*found).clone())
}

/// Whether a binding only says that a name is that of a macro.
fn is_mark(l: &Linker<Rust>, file: File, binding: BindingId) -> bool {
    let facts = l.facts(file);
    facts.binding(binding).is_some_and(|b| b.kind == BindingKind::Def && facts.str(b.name).is_empty())
}

/// Whether an expression is the path of a macro that is called.
fn is_macro_path(l: &mut Linker<Rust>, file: File, e: ExprId) -> bool {
    let parent = l.files.parent(file, e);
    let facts = l.facts(file);
    parent.is_some_and(|p| matches!(facts.expr(p).node, Node::Word { word, .. } if facts.str(word) == "!"))
}

impl Linker<'_, Rust> {
    /// The struct, variant or trait that a path names.
    pub(super) fn path_def(&mut self, file: File, e: ExprId) -> Option<DefAt> {
        let facts = self.facts(file);
        let expr = facts.expr(e);
        let found = match expr.node {
            Node::Apply { base, .. } => return self.path_def(file, base),
            Node::Name { name, binding } => match self_type(self, file, binding) {
                Some(ty) => Found::typed(as_static(self, ty)),
                None => {
                    let place = Place { file, at: expr.at };
                    let name = facts.str(name);
                    let found = self.free(place, name, Space::Types);
                    let found =
                        if found.hits.is_empty() { self.free(place, name, Space::Values) } else { found };
                    (*found).clone()
                }
            },
            Node::Attr { base, name } => {
                let of = self.eval(file, base);
                let found = self.attr(of.ty, facts.str(name), Space::Types);
                match found.hits.is_empty() {
                    true => (*self.attr(of.ty, facts.str(name), Space::Values)).clone(),
                    false => (*found).clone(),
                }
            }
            _ => return None,
        };
        let at = match (found.hits.first(), self.types.get(found.ty)) {
            (Some(hit), _) => hit.at,
            (None, Type::Static(at)) => *at,
            _ => return None,
        };
        if self.files.def(at).kind != DefKind::Alias {
            return Some(at);
        }
        let of = self.type_of_found(&found, &[]);
        match *self.types.get(of) {
            Type::Named(at, _) => Some(at),
            _ => None,
        }
    }
}

/// The value of an expression, where Rust has its own.
pub(super) fn value(l: &mut Linker<Rust>, file: File, e: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    match facts.expr(e).node {
        Node::Name { .. } | Node::Attr { .. } => named(l, file, e),
        Node::Assert { value, ty } => {
            let v = asserted(l, file, value, ty);
            Some(Val { ty: collected(l, file, v.ty, value), ..v })
        }
        Node::Composite { ty, .. } => {
            let at = l.path_def(file, ty)?;
            let owner = l.variant_of(at)?;
            Some(Val::new(l.types.make(Type::Named(owner, Rc::from([])))))
        }
        Node::Item { base, index } => item(l, file, base, index),
        Node::Word { word, value } => worded(l, file, facts.str(word), value),
        Node::Await { value } => {
            let v = l.eval(file, value);
            Some(Val { ty: awaited(l, v.ty), ..v })
        }
        Node::Star { value } => {
            let v = l.eval(file, value);
            let inner = if is_text_or_list(l, v.ty) { None } else { behind(l, v.ty) };
            Some(Val { ty: inner.unwrap_or(v.ty), ..v })
        }
        Node::Slice { base } => {
            let v = l.eval(file, base);
            let inner = if is_text_or_list(l, v.ty) { behind(l, v.ty) } else { None };
            Some(Val { ty: inner.unwrap_or(v.ty), ..v })
        }
        Node::Sequence { kind: SequenceKind::Tuple, elems } => {
            let parts: Vec<Ty> = facts.list(elems).iter().map(|x| l.eval(file, *x).ty).collect();
            Some(Val::new(l.types.make(Type::Tuple(parts.into()))))
        }
        Node::Index { base, args } if args.len > 0 => {
            let v = l.eval(file, base);
            let found = l.attr(v.ty, "[i]", Space::Values);
            let ty = if is_nothing(found.ty) { l.element(v.ty) } else { found.ty };
            Some(Val { ty, ..v })
        }
        Node::Call { callee, args } => called(l, file, e, callee, args),
        _ => None,
    }
}

/// The value of a path, or of what begins one: a type comes before a value.
fn named(l: &mut Linker<Rust>, file: File, e: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    let expr = facts.expr(e);
    let begins = matches!(expr.role, Role::None | Role::Type);
    match expr.node {
        Node::Name { name, binding: BindingId::NONE } if begins => {
            let found = l.free(Place { file, at: expr.at }, facts.str(name), Space::Types);
            found.is_found().then(|| Val::new(l.value_of_found(&found)))
        }
        Node::Name { binding, .. } => {
            let ty = self_type(l, file, binding)?;
            Some(Val::new(as_static(l, ty)))
        }
        Node::Attr { base, name } if begins => {
            let of = l.eval(file, base);
            let found = l.attr(of.ty, facts.str(name), Space::Types);
            found.is_found().then(|| Val { ty: l.value_of_found(&found), ..of })
        }
        _ => None,
    }
}

/// Returns the value of a container that is made empty: its arguments are the types of the values put into it first.
pub(super) fn filled(l: &mut Linker<Rust>, file: File, binding: BindingId, e: ExprId) -> Option<Val> {
    let facts = l.facts(file);
    let Node::Call { callee, args } = facts.expr(e).node else { return None };
    let of = match facts.expr(callee).node {
        Node::Attr { base, name } if matches!(facts.str(name), "new" | "with_capacity" | "default") => {
            let of = l.eval(file, base).ty;
            let Type::StdStatic(of) = *l.types.get(of) else { return None };
            of
        }
        Node::Word { value, .. } if args.len == 0 => match facts.expr(value).node {
            Node::Name { name, .. } if facts.str(name) == "vec" => l.types.name("Vec"),
            _ => return None,
        },
        _ => return None,
    };
    let n_params = match TABLE.canonical(&l.types.text(of)) {
        "Vec" | "HashSet" => 1,
        "HashMap" => 2,
        _ => return None,
    };
    let (how, args) = puts(l, file).get(&binding).copied()?;
    let given: Rc<[Ty]> = facts.list(args).iter().map(|a| l.eval(file, *a).ty).collect();
    let given = match facts.str(how) {
        "extend" => given.iter().map(|t| l.element(*t)).collect(),
        _ => given,
    };
    (given.len() == n_params).then(|| Val::inferred(l.types.make(Type::Std(of, given))))
}

/// Lists the calls of a file that put a value into a variable, the first for each.
fn puts(l: &mut Linker<Rust>, file: File) -> Rc<Puts> {
    remembered(l, |l| &mut l.own.puts, file, |l| Rc::new(find_puts(l.facts(file))))
}

fn find_puts(facts: Facts) -> Puts {
    let mut out = Puts::default();
    for (_, expr) in crate::exprs(facts) {
        if let Node::Call { callee, args } = expr.node
            && let Node::Attr { base, name } = facts.expr(callee).node
            && let Node::Name { binding, .. } = facts.expr(base).node
            && binding != BindingId::NONE
            && matches!(facts.str(name), "push" | "push_back" | "push_front" | "insert" | "extend")
        {
            out.entry(binding).or_insert((name, args));
        }
    }
    out
}

/// The value of a call of a macro, and of `collect::<T>()` and its like.
fn called(l: &mut Linker<Rust>, file: File, call: ExprId, callee: ExprId, args: List) -> Option<Val> {
    let facts = l.facts(file);
    match facts.expr(callee).node {
        Node::Apply { base, args } => {
            let Node::Attr { name, .. } = facts.expr(base).node else { return None };
            let ty = l.written(file, *facts.list(args).first()?);
            let ty = match facts.str(name) {
                "collect" => collected(l, file, ty, call),
                "parse" if l.picked(file, call).found.hits.is_empty() => {
                    l.types.std("Result", &[ty, Ty::UNKNOWN])
                }
                "downcast_ref" | "downcast_mut" => l.types.std("Option", &[ty]),
                _ => return None,
            };
            Some(Val::new(ty))
        }
        Node::Word { word, value } if facts.str(word) == "!" => Some(macro_value(l, file, value, args)),
        _ => None,
    }
}

/// A type with what a value that is collected goes through in the place of arguments that are left out.
fn collected(l: &mut Linker<Rust>, file: File, ty: Ty, value: ExprId) -> Ty {
    let Type::Std(name, given) = l.types.get(ty).clone() else { return ty };
    let n_params = TABLE.ty(TABLE.canonical(&l.types.text(name))).map_or(0, |t| t.n_params());
    let mut args = given.to_vec();
    args.resize(n_params.max(given.len()), Ty::UNKNOWN);
    if !args.contains(&Ty::UNKNOWN) {
        return ty;
    }
    let facts = l.facts(file);
    let Node::Call { callee, .. } = facts.expr(value).node else { return ty };
    let callee = crate::applied(facts, callee).0;
    let Node::Attr { base, name: called } = facts.expr(callee).node else { return ty };
    if facts.str(called) != "collect" {
        return ty;
    }
    let of = l.eval(file, base).ty;
    let item = l.element(of);
    let parts: Vec<Ty> = match l.types.get(item).clone() {
        Type::Tuple(parts) if args.len() > 1 => parts.to_vec(),
        _ => vec![item],
    };
    let args = args.iter().enumerate();
    let args =
        args.map(|(i, a)| if *a == Ty::UNKNOWN { parts.get(i).copied().unwrap_or(*a) } else { *a }).collect();
    l.types.make(Type::Std(name, args))
}

fn is_text_or_list(l: &Linker<Rust>, ty: Ty) -> bool {
    ["String", "Vec", "PathBuf", "OsString"].iter().any(|n| l.types.is_std(ty, n))
}

/// What a macro of the standard library gives.
fn macro_value(l: &mut Linker<Rust>, file: File, name: ExprId, args: List) -> Val {
    let facts = l.facts(file);
    let Node::Name { name, .. } = facts.expr(name).node else { return Val::UNKNOWN };
    let ty = match facts.str(name) {
        "vec" => {
            let all: Vec<ExprId> = facts.list(args).iter().copied().take(ELEMENTS_MAX).collect();
            let parts: Vec<Ty> = all.into_iter().map(|a| l.eval(file, a).ty).collect();
            let elem = l.types.union(&parts);
            l.types.std("Vec", &[elem])
        }
        "format" | "concat" | "stringify" | "env" => l.types.std("String", &[]),
        "matches" => l.types.std("bool", &[]),
        "dbg" => return facts.list(args).first().map_or(Val::UNKNOWN, |a| l.eval(file, *a)),
        _ => return Val::UNKNOWN,
    };
    Val::new(ty)
}

fn worded(l: &mut Linker<Rust>, file: File, word: &str, value: ExprId) -> Option<Val> {
    match word {
        "?" => {
            let v = l.eval(file, value);
            Some(Val { ty: tried(l, v.ty), ..v })
        }
        "async" => Some(l.eval(file, value)),
        _ => None,
    }
}

/// What `?` gives.
fn tried(l: &mut Linker<Rust>, ty: Ty) -> Ty {
    match l.types.get(ty).clone() {
        Type::Std(name, args) if matches!(&*l.types.text(name), "Option" | "Result" | "Poll") => {
            args.first().copied().unwrap_or(Ty::UNKNOWN)
        }
        Type::Union(parts) => {
            let all: Vec<Ty> = parts.iter().map(|p| tried(l, *p)).collect();
            l.types.union(&all)
        }
        _ => Ty::UNKNOWN,
    }
}

/// What waiting for a value gives: an asynchronous function is taken for what it gives in the end.
fn awaited(l: &mut Linker<Rust>, ty: Ty) -> Ty {
    match l.types.get(ty).clone() {
        Type::Std(name, args) if &*l.types.text(name) == "Future" => {
            args.first().copied().unwrap_or(Ty::UNKNOWN)
        }
        Type::Std(name, args) if matches!(&*l.types.text(name), "Pin" | "Box") => match args.first() {
            Some(inner) if *inner != ty => awaited(l, *inner),
            _ => ty,
        },
        Type::Both(parts) => {
            let future = parts.iter().copied().find(|p| l.types.is_std(*p, "Future"));
            future.map_or(ty, |f| awaited(l, f))
        }
        Type::Named(..) => assoc(l, ty, "Output").unwrap_or(ty),
        Type::Var(..) => match l.constraint(ty) {
            Some(bound) if bound != ty => awaited(l, bound),
            _ => ty,
        },
        _ => ty,
    }
}

/// A value as what a pattern or a cast names.
fn asserted(l: &mut Linker<Rust>, file: File, value: ExprId, path: ExprId) -> Val {
    let facts = l.facts(file);
    let is_path = matches!(facts.expr(path).node, Node::Name { .. } | Node::Attr { .. } | Node::Apply { .. });
    let at = if is_path { l.path_def(file, path) } else { None };
    let Some(at) = at else {
        let ty = l.written(file, path);
        if !is_nothing(ty) && !matches!(l.types.get(ty), Type::Std(..)) || !is_path {
            return Val::new(ty);
        }
        let v = l.eval(file, value);
        return match variant_of_std(l, file, path, v.ty) {
            Some(ty) => Val { ty, ..v },
            None => Val::new(ty),
        };
    };
    if l.files.def(at).kind == DefKind::Interface {
        // `<T as Trait>`.
        let of = l.written(file, value);
        let of = as_static(l, of);
        return Val::new(if is_nothing(of) { l.types.make(Type::Static(at)) } else { of });
    }
    let v = l.eval(file, value);
    let head = l.variant_of(at).unwrap_or(at);
    let args = match l.types.get(v.ty).clone() {
        Type::Named(of, args) if of == head => args,
        _ => match l.written(file, path) {
            ty if head == at => match l.types.get(ty).clone() {
                Type::Named(_, args) => args,
                _ => Rc::from([]),
            },
            _ => Rc::from([]),
        },
    };
    Val { ty: l.types.make(Type::Named(at, args)), ..v }
}

/// `Some(x)`, `Ok(x)`, `Err(x)`: what is in them.
fn variant_of_std(l: &mut Linker<Rust>, file: File, path: ExprId, of: Ty) -> Option<Ty> {
    let facts = l.facts(file);
    let (Node::Name { name, .. } | Node::Attr { name, .. }) = facts.expr(path).node else { return None };
    let index = match facts.str(name) {
        "Some" | "Ok" | "Ready" => 0,
        "Err" => 1,
        _ => return None,
    };
    let parts = l.types.parts(of);
    let inner = parts.iter().find_map(|p| match l.types.get(*p) {
        Type::Std(_, args) => args.get(index).copied(),
        _ => None,
    })?;
    Some(l.types.make(Type::Tuple(Rc::from([inner]))))
}

/// `x.0`, or a part of a pattern.
fn item(l: &mut Linker<Rust>, file: File, base: ExprId, index: u16) -> Option<Val> {
    let v = l.eval(file, base);
    let mut ty = v.ty;
    for _ in 0..4 {
        let parts = match l.types.get(ty).clone() {
            Type::Named(at, args) => l.positional(at, &args),
            Type::Static(at) => l.positional(at, &[]),
            Type::Tuple(parts) => Some(parts),
            _ => None,
        };
        if let Some(parts) = parts {
            return Some(Val { ty: parts.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN), ..v });
        }
        ty = behind(l, ty)?;
    }
    None
}
