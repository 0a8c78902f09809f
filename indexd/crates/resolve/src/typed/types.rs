//! Types as one linking run sees them, interned: equal types have equal numbers.

use super::files::{DefAt, File};
use indexd_model::{BindingId, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;
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

/// A kind of types that is interned.
pub(crate) trait Shape: Clone + Eq + Hash + 'static {
    /// The types whose numbers are the constants of [`Ty`], in their order.
    const FIRST: &'static [Self];

    /// Returns true if it is a variable: a type that is known later, whatever its parts are.
    fn is_var(&self) -> bool;

    /// Returns true if `is` holds for a type in it. Those after the first one are not asked.
    fn any_part(&self, is: &mut dyn FnMut(Ty) -> bool) -> bool;

    /// Applies `of` to each type in it.
    fn mapped(self, of: &mut dyn FnMut(Ty) -> Ty) -> Self;
}

/// A kind of types that has unions.
pub(crate) trait Joined: Shape {
    /// Parts of a union that are kept.
    const UNION_MAX: usize;
    /// True if unions keep the part that has no value.
    const KEEPS_NOTHING: bool;

    /// A union of at least two parts.
    fn union(parts: Args) -> Self;

    /// The parts of a union.
    fn as_union(&self) -> Option<&Args>;
}

impl Shape for Type {
    const FIRST: &'static [Self] = &[Self::Unknown, Self::External, Self::Nothing];

    fn is_var(&self) -> bool {
        // Which parameters an expression mentions is not looked at.
        let is_of_code =
            matches!(self, Self::Func(..) | Self::Lambda(..) | Self::Shape(..) | Self::Delayed(..));
        is_of_code || matches!(self, Self::Var(..) | Self::StdVar(_) | Self::This(_))
    }

    fn any_part(&self, is: &mut dyn FnMut(Ty) -> bool) -> bool {
        match self {
            Self::Named(_, args) | Self::Std(_, args) => args.iter().any(|a| is(*a)),
            Self::Tuple(args) | Self::Union(args) | Self::Both(args) => args.iter().any(|a| is(*a)),
            Self::Fn { params, result, .. } => params.iter().chain([result]).any(|a| is(*a)),
            Self::Keys(of) => is(*of),
            _ => false,
        }
    }

    fn mapped(mut self, of: &mut dyn FnMut(Ty) -> Ty) -> Self {
        match &mut self {
            Self::Named(_, args)
            | Self::Std(_, args)
            | Self::Tuple(args)
            | Self::Union(args)
            | Self::Both(args) => *args = args.iter().map(|a| of(*a)).collect(),
            Self::Fn { params, result, .. } => {
                *params = params.iter().map(|a| of(*a)).collect();
                *result = of(*result);
            }
            Self::Keys(inner) => *inner = of(*inner),
            _ => {}
        }
        self
    }
}

impl Joined for Type {
    const UNION_MAX: usize = UNION_MAX;
    const KEEPS_NOTHING: bool = false;

    fn union(parts: Args) -> Self {
        Self::Union(parts)
    }

    fn as_union(&self) -> Option<&Args> {
        if let Self::Union(parts) = self { Some(parts) } else { None }
    }
}

/// Parts of a union that are kept.
pub(crate) const UNION_MAX: usize = 24;

/// The types of one run.
pub(crate) type Types = Interned<Type>;

/// Types by number, and names by number.
pub(crate) struct Interned<T> {
    types: Vec<T>,
    has_vars: Vec<bool>,
    ids: FxHashMap<T, Ty>,
    /// Unions of which parts were left out.
    cut: FxHashSet<Ty>,
    names: Vec<Rc<str>>,
    name_ids: FxHashMap<Rc<str>, NameId>,
}

impl<T: Shape> Interned<T> {
    pub(crate) fn new() -> Self {
        let (types, has_vars, names) = (Vec::new(), Vec::new(), Vec::new());
        let (ids, cut, name_ids) = (FxHashMap::default(), FxHashSet::default(), FxHashMap::default());
        let mut it = Self { types, has_vars, ids, cut, names, name_ids };
        T::FIRST.iter().for_each(|t| _ = it.make(t.clone()));
        it
    }

    pub(crate) fn get(&self, ty: Ty) -> &T {
        &self.types[ty.0 as usize]
    }

    /// Returns true if a type mentions type parameters or the value that a method runs on.
    pub(crate) fn has_vars(&self, ty: Ty) -> bool {
        self.has_vars[ty.0 as usize]
    }

    pub(crate) fn make(&mut self, t: T) -> Ty {
        if let Some(&id) = self.ids.get(&t) {
            return id;
        }
        let vars = t.is_var() || t.any_part(&mut |part| self.has_vars(part));
        let id = Ty(self.types.len() as u32);
        self.types.push(t.clone());
        self.has_vars.push(vars);
        self.ids.insert(t, id);
        id
    }

    /// Adds the variables of a kind that a type mentions, in the order of first mention.
    pub(crate) fn mentioned(&self, ty: Ty, is_meant: fn(&T) -> bool, out: &mut Vec<Ty>) {
        let t = self.get(ty);
        if is_meant(t) {
            push_new(out, ty);
        } else if self.has_vars(ty) {
            t.any_part(&mut |part| {
                self.mentioned(part, is_meant, out);
                false
            });
        }
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
}

impl<T: Joined> Interned<T> {
    /// Returns the union of `parts`, in the order of first mention. Parts that are unknown, and those without a
    /// value where they are not kept, add nothing next to known ones. Of many parts the first ones are kept.
    pub(crate) fn union(&mut self, parts: &[Ty]) -> Ty {
        let mut out: Vec<Ty> = Vec::new();
        let mut rest = Ty::UNKNOWN;
        let mut is_cut = false;
        for &p in parts {
            is_cut |= self.is_cut(p);
            match self.get(p).as_union() {
                Some(inner) => inner.iter().for_each(|i| push_new(&mut out, *i)),
                None if p == Ty::UNKNOWN || p == Ty::NOTHING && !T::KEEPS_NOTHING => rest = rest.max(p),
                None => push_new(&mut out, p),
            }
        }
        is_cut |= out.len() > T::UNION_MAX;
        out.truncate(T::UNION_MAX);
        let union = match out[..] {
            [] => return rest,
            [one] => return one,
            _ => self.make(T::union(out.into())),
        };
        if is_cut {
            self.cut.insert(union);
        }
        union
    }

    /// Returns true for a union that had more parts than are kept.
    pub(crate) fn is_cut(&self, ty: Ty) -> bool {
        self.cut.contains(&ty)
    }

    /// Marks a type made of a union that [`Self::is_cut`], such as the types of a member of its parts. A
    /// single type is not marked: it may be all that there is.
    pub(crate) fn cut_as_well(&mut self, ty: Ty) {
        if self.get(ty).as_union().is_some() {
            self.cut.insert(ty);
        }
    }

    /// The members of a union; a type by itself.
    pub(crate) fn parts(&self, ty: Ty) -> Args {
        self.get(ty).as_union().map_or_else(|| Rc::from([ty]), Rc::clone)
    }
}

impl Types {
    pub(crate) fn std(&mut self, name: &str, args: &[Ty]) -> Ty {
        let name = self.name(name);
        self.make(Type::Std(name, args.into()))
    }

    /// Returns true if a type is one of the standard library of this name.
    pub(crate) fn is_std(&self, ty: Ty, name: &str) -> bool {
        matches!(self.get(ty), Type::Std(n, _) if &*self.names[n.0 as usize] == name)
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
}

fn push_new(out: &mut Vec<Ty>, ty: Ty) {
    if !out.contains(&ty) {
        out.push(ty);
    }
}
