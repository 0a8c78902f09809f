//! Types as one linking run sees them, interned: equal types have equal numbers.

use super::files::{DefAt, File};
use indexd_model::{BindingId, ExprId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Ty(pub(crate) u32);

/// An interned text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct NameId(pub(crate) u32);

/// Type arguments, or the parts of a type.
pub(crate) type Args = Rc<[Ty]>;

/// Type parameters with their arguments.
pub(crate) type Env = Rc<[(Ty, Ty)]>;

impl Ty {
    /// The unknown type.
    pub(crate) const UNKNOWN: Self = Self(0);
    /// Something from outside the tree.
    pub(crate) const EXTERNAL: Self = Self(1);
    /// No value.
    pub(crate) const NOTHING: Self = Self(2);
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Type {
    Unknown,
    External,
    Nothing,
    /// A file as a value.
    Module(File),
    /// A package that several files make up, by its name.
    Package(NameId),
    /// A value of the type that a definition declares.
    Named(DefAt, Args),
    /// A definition as a value: a class, an enumeration, a member of one, a namespace.
    Static(DefAt),
    /// The value that a method of the type runs on.
    This(DefAt),
    /// A function by its definition.
    Func(DefAt, Env),
    /// A function by its expression.
    Lambda(File, ExprId, Env),
    /// A value with the members of a literal.
    Shape(File, ExprId, Env),
    /// A type that can be read when its parameters are known.
    Delayed(File, ExprId, Env),
    /// A function type.
    Fn {
        params: Args,
        result: Ty,
        is_variadic: bool,
    },
    /// A type of the standard library, by its name.
    Std(NameId, Args),
    /// A class of the standard library as a value.
    StdStatic(NameId),
    Tuple(Args),
    /// A type parameter.
    Var(File, BindingId),
    /// A type parameter of the table of the standard library.
    StdVar(u8),
    /// Any of these.
    Union(Args),
    /// All of these.
    Both(Args),
    /// A literal with this text.
    Text(NameId),
    /// The keys of a type.
    Keys(Ty),
}

/// Parts of a union that are kept.
pub(crate) const UNION_MAX: usize = 24;

/// The types of one run.
#[derive(Default)]
pub(crate) struct Types {
    types: Vec<Type>,
    has_vars: Vec<bool>,
    ids: FxHashMap<Type, Ty>,
    names: Vec<Rc<str>>,
    name_ids: FxHashMap<Rc<str>, NameId>,
}

impl Types {
    pub(crate) fn new() -> Self {
        let mut it = Self::default();
        it.make(Type::Unknown);
        it.make(Type::External);
        it.make(Type::Nothing);
        it
    }

    pub(crate) fn get(&self, ty: Ty) -> &Type {
        &self.types[ty.0 as usize]
    }

    /// Returns true if a type mentions type parameters or the value that a method runs on.
    pub(crate) fn has_vars(&self, ty: Ty) -> bool {
        self.has_vars[ty.0 as usize]
    }

    pub(crate) fn make(&mut self, t: Type) -> Ty {
        if let Some(&id) = self.ids.get(&t) {
            return id;
        }
        let any = |args: &[Ty]| args.iter().any(|a| self.has_vars(*a));
        let vars = match &t {
            Type::Var(..) | Type::StdVar(_) | Type::This(_) => true,
            // Which parameters an expression mentions is not looked at.
            Type::Func(..) | Type::Lambda(..) | Type::Shape(..) | Type::Delayed(..) => true,
            Type::Named(_, args)
            | Type::Std(_, args)
            | Type::Tuple(args)
            | Type::Union(args)
            | Type::Both(args) => any(args),
            Type::Fn { params, result, .. } => any(params) || self.has_vars(*result),
            Type::Keys(of) => self.has_vars(*of),
            _ => false,
        };
        let id = Ty(self.types.len() as u32);
        self.types.push(t.clone());
        self.has_vars.push(vars);
        self.ids.insert(t, id);
        id
    }

    pub(crate) fn name(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.name_ids.get(text) {
            return id;
        }
        let id = NameId(self.names.len() as u32);
        let text: Rc<str> = text.into();
        self.names.push(Rc::clone(&text));
        self.name_ids.insert(text, id);
        id
    }

    pub(crate) fn text(&self, name: NameId) -> Rc<str> {
        Rc::clone(&self.names[name.0 as usize])
    }

    pub(crate) fn std(&mut self, name: &str, args: &[Ty]) -> Ty {
        let name = self.name(name);
        self.make(Type::Std(name, args.into()))
    }

    /// Returns true if a type is one of the standard library of this name.
    pub(crate) fn is_std(&self, ty: Ty, name: &str) -> bool {
        matches!(self.get(ty), Type::Std(n, _) if &*self.names[n.0 as usize] == name)
    }

    /// Returns the union of `parts`, in the order of first mention. Parts that are unknown or no value add
    /// nothing next to known ones.
    pub(crate) fn union(&mut self, parts: &[Ty]) -> Ty {
        let mut out: Vec<Ty> = Vec::new();
        let mut rest = Ty::UNKNOWN;
        for &p in parts {
            match self.get(p) {
                Type::Union(inner) => inner.iter().for_each(|i| push_new(&mut out, *i)),
                Type::Unknown | Type::Nothing => rest = rest.max(p),
                _ => push_new(&mut out, p),
            }
        }
        out.truncate(UNION_MAX);
        match out[..] {
            [] => rest,
            [one] => one,
            _ => self.make(Type::Union(out.into())),
        }
    }

    /// All of `parts`.
    pub(crate) fn both(&mut self, parts: &[Ty]) -> Ty {
        let mut out: Vec<Ty> = Vec::new();
        for &p in parts {
            match self.get(p) {
                Type::Both(inner) => inner.iter().for_each(|i| push_new(&mut out, *i)),
                Type::Unknown | Type::Nothing => {}
                _ => push_new(&mut out, p),
            }
        }
        match out[..] {
            [] => Ty::UNKNOWN,
            [one] => one,
            _ => self.make(Type::Both(out.into())),
        }
    }

    /// The members of a union; a type by itself.
    pub(crate) fn parts(&self, ty: Ty) -> Args {
        match self.get(ty) {
            Type::Union(parts) => Rc::clone(parts),
            _ => Rc::from([ty]),
        }
    }
}

fn push_new(out: &mut Vec<Ty>, ty: Ty) {
    if !out.contains(&ty) {
        out.push(ty);
    }
}
