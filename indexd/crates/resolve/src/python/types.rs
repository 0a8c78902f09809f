//! Types as one linking run sees them, interned: equal types have equal numbers.

use indexd_model::{BindingId, DefIdx, ExprId};
use rustc_hash::FxHashMap;

/// Number of an open file, see [`crate::Loaded`].
pub(super) type File = u32;

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct Ty(pub(super) u32);

/// A class known to this run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct ClassId(pub(super) u32);

/// An interned dotted name outside the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct NameId(pub(super) u32);

impl Ty {
    pub(super) const UNKNOWN: Self = Self(0);
    pub(super) const EXTERNAL: Self = Self(1);
    pub(super) const NONE: Self = Self(2);
}

/// A generic of the language whose element types matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Std {
    Str,
    Bytes,
    Int,
    Float,
    Bool,
    List,
    Set,
    Dict,
    /// Fixed elements.
    Tuple,
    /// `tuple[T, ...]`.
    Tuples,
    /// Anything iterable or an iterator.
    Iter,
    Awaitable,
    /// Something entered by `with`; the argument is what `as` gets.
    Context,
    /// The argument is the result.
    Callable,
    /// A holder whose `get` returns the argument: `ContextVar`, `Queue`.
    Cell,
    /// The result of `pytest.raises`; the argument is the exception.
    Raises,
}

impl Std {
    pub(super) const ALL: [Self; 16] = [
        Self::Str,
        Self::Bytes,
        Self::Int,
        Self::Float,
        Self::Bool,
        Self::List,
        Self::Set,
        Self::Dict,
        Self::Tuple,
        Self::Tuples,
        Self::Iter,
        Self::Awaitable,
        Self::Context,
        Self::Callable,
        Self::Cell,
        Self::Raises,
    ];

    /// The word of `stdlib.txt`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Str => "str",
            Self::Bytes => "bytes",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::List => "list",
            Self::Set => "set",
            Self::Dict => "dict",
            Self::Tuple => "tuple",
            Self::Tuples => "tuples",
            Self::Iter => "iter",
            Self::Awaitable => "awaitable",
            Self::Context => "context",
            Self::Callable => "callable",
            Self::Cell => "cell",
            Self::Raises => "raises",
        }
    }
}

/// The identity of a type variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum VarKey {
    /// `T = TypeVar("T")`.
    Def(DefIdx),
    /// A type parameter, or the unknown type of a parameter without an annotation.
    Binding(BindingId),
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Type {
    Unknown,
    /// A value from outside the tree.
    External,
    None,
    /// A module, class or function outside the tree, by its dotted name.
    Named(NameId),
    Module(File),
    /// A folder that is a package without `__init__`.
    Namespace(NameId),
    /// A class itself, with its type arguments when given.
    Class(ClassId, Box<[Ty]>),
    Instance(ClassId, Box<[Ty]>),
    /// The instance a method is called on, some subclass of the class.
    SelfOf(ClassId),
    /// The class a class method is called on.
    SelfClass(ClassId),
    Func(File, DefIdx),
    Bound(File, DefIdx, Ty),
    Lambda(File, ExprId),
    Std(Std, Box<[Ty]>),
    /// A method of a [`Std`] instance.
    StdMethod(NameId, Ty),
    /// `type[T]` of a type that is not a class of the tree.
    ClassOf(Ty),
    Var(File, VarKey),
    Union(Box<[Ty]>),
    /// `super()`: members of the second from behind the first in its resolution order.
    Super(ClassId, Ty),
    /// `functools.partial(f, ...)`.
    Partial(Ty),
}

/// Members of a union beyond this say nothing useful.
pub(super) const UNION_MAX: usize = 8;

/// The types of one run.
#[derive(Default)]
pub(super) struct Types {
    types: Vec<Type>,
    has_vars: Vec<bool>,
    ids: FxHashMap<Type, Ty>,
    names: Vec<Box<str>>,
    name_ids: FxHashMap<Box<str>, NameId>,
}

impl Types {
    pub(super) fn new() -> Self {
        let mut it = Self::default();
        it.make(Type::Unknown);
        it.make(Type::External);
        it.make(Type::None);
        it
    }

    pub(super) fn get(&self, ty: Ty) -> &Type {
        &self.types[ty.0 as usize]
    }

    /// Returns true if a type mentions type variables or the receiver's class.
    pub(super) fn has_vars(&self, ty: Ty) -> bool {
        self.has_vars[ty.0 as usize]
    }

    pub(super) fn make(&mut self, t: Type) -> Ty {
        if let Some(&id) = self.ids.get(&t) {
            return id;
        }
        let vars = match &t {
            Type::Var(..) | Type::SelfOf(_) | Type::SelfClass(_) => true,
            Type::Class(_, args) | Type::Instance(_, args) | Type::Std(_, args) | Type::Union(args) => {
                args.iter().any(|a| self.has_vars(*a))
            }
            Type::ClassOf(t) | Type::Partial(t) => self.has_vars(*t),
            _ => false,
        };
        let id = Ty(self.types.len() as u32);
        self.types.push(t.clone());
        self.has_vars.push(vars);
        self.ids.insert(t, id);
        id
    }

    pub(super) fn name(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.name_ids.get(text) {
            return id;
        }
        let id = NameId(self.names.len() as u32);
        self.names.push(text.into());
        self.name_ids.insert(text.into(), id);
        id
    }

    pub(super) fn text(&self, name: NameId) -> &str {
        &self.names[name.0 as usize]
    }

    pub(super) fn named(&mut self, text: &str) -> Ty {
        let n = self.name(text);
        self.make(Type::Named(n))
    }

    pub(super) fn std(&mut self, kind: Std, args: &[Ty]) -> Ty {
        self.make(Type::Std(kind, args.into()))
    }

    pub(super) fn instance(&mut self, class: ClassId, args: &[Ty]) -> Ty {
        self.make(Type::Instance(class, args.into()))
    }

    /// Returns the union of `parts`, in the order of first mention. Unknown parts add nothing next to known
    /// ones.
    pub(super) fn union(&mut self, parts: &[Ty]) -> Ty {
        let mut out: Vec<Ty> = Vec::new();
        for &p in parts {
            match self.get(p) {
                Type::Union(inner) => {
                    for &i in inner.clone().iter() {
                        if !out.contains(&i) {
                            out.push(i);
                        }
                    }
                }
                _ if p == Ty::UNKNOWN || out.contains(&p) => {}
                _ => out.push(p),
            }
        }
        out.truncate(UNION_MAX);
        match out[..] {
            [] => Ty::UNKNOWN,
            [one] => one,
            _ => self.make(Type::Union(out.into())),
        }
    }

    /// The members of a union; a type by itself.
    pub(super) fn members(&self, ty: Ty) -> Vec<Ty> {
        match self.get(ty) {
            Type::Union(parts) => parts.to_vec(),
            _ => vec![ty],
        }
    }

    /// The type without `None`.
    pub(super) fn some(&mut self, ty: Ty) -> Ty {
        match self.get(ty) {
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().copied().filter(|p| *p != Ty::NONE).collect();
                self.union(&parts)
            }
            _ => ty,
        }
    }
}
