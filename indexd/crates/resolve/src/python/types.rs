//! Types as one linking run sees them, interned: equal types have equal numbers.

use crate::typed::types::{Interned, Joined, Shape};
pub(super) use crate::typed::{Args, File, NameId, Ty};
use indexd_model::{BindingId, DefIdx, ExprId};

/// A class known to this run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct ClassId(pub(super) u32);

indexd_model::words! {
    /// A generic of the language whose element types matter.
    pub enum Std {
        /// Text.
        Str = "str",
        /// Bytes.
        Bytes = "bytes",
        /// An integer.
        Int = "int",
        /// A number with a fraction.
        Float = "float",
        /// A truth value.
        Bool = "bool",
        /// A list; the argument is its element.
        List = "list",
        /// A set; the argument is its element.
        Set = "set",
        /// A mapping of keys to values.
        Dict = "dict",
        /// Fixed elements.
        Tuple = "tuple",
        /// `tuple[T, ...]`.
        Tuples = "tuples",
        /// Anything iterable or an iterator.
        Iter = "iter",
        /// An awaitable; the argument is its result.
        Awaitable = "awaitable",
        /// Something entered by `with`; the argument is what `as` gets.
        Context = "context",
        /// The argument is the result.
        Callable = "callable",
        /// A holder whose `get` returns the argument: `ContextVar`, `Queue`.
        Cell = "cell",
        /// The result of `pytest.raises`; the argument is the exception.
        Raises = "raises",
    }

    /// The word of `stdlib.txt`.
    pub fn name;
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
    Class(ClassId, Args),
    Instance(ClassId, Args),
    /// The instance a method is called on, some subclass of the class.
    SelfOf(ClassId),
    /// The class a class method is called on.
    SelfClass(ClassId),
    Func(File, DefIdx),
    Bound(File, DefIdx, Ty),
    Lambda(File, ExprId),
    Std(Std, Args),
    /// A method of a [`Std`] instance.
    StdMethod(NameId, Ty),
    /// `type[T]` of a type that is not a class of the tree.
    ClassOf(Ty),
    Var(File, VarKey),
    Union(Args),
    /// `super()`: members of the second from behind the first in its resolution order.
    Super(ClassId, Ty),
    /// `functools.partial(f, ...)`.
    Partial(Ty),
}

impl Shape for Type {
    const FIRST: &'static [Self] = &[Self::Unknown, Self::External, Self::None];

    fn is_var(&self) -> bool {
        matches!(self, Self::Var(..) | Self::SelfOf(_) | Self::SelfClass(_))
    }

    fn any_part(&self, is: &mut dyn FnMut(Ty) -> bool) -> bool {
        match self {
            Self::Class(_, args) | Self::Instance(_, args) => args.iter().any(|a| is(*a)),
            Self::Std(_, args) | Self::Union(args) => args.iter().any(|a| is(*a)),
            Self::ClassOf(t) | Self::Partial(t) => is(*t),
            _ => false,
        }
    }

    fn mapped(mut self, of: &mut dyn FnMut(Ty) -> Ty) -> Self {
        match &mut self {
            Self::Class(_, args) | Self::Instance(_, args) | Self::Std(_, args) | Self::Union(args) => {
                *args = args.iter().map(|a| of(*a)).collect();
            }
            Self::ClassOf(t) | Self::Partial(t) => *t = of(*t),
            _ => {}
        }
        self
    }
}

impl Joined for Type {
    const UNION_MAX: usize = UNION_MAX;
    const KEEPS_NOTHING: bool = true;

    fn union(parts: Args) -> Self {
        Self::Union(parts)
    }

    fn as_union(&self) -> Option<&Args> {
        if let Self::Union(parts) = self { Some(parts) } else { None }
    }
}

/// Members of a union beyond this say nothing useful.
pub(super) const UNION_MAX: usize = 8;

/// The types of one run.
pub(super) type Types = Interned<Type>;

impl Types {
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

    /// The type without `None`.
    pub(super) fn some(&mut self, ty: Ty) -> Ty {
        match self.get(ty) {
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().copied().filter(|p| *p != Ty::NOTHING).collect();
                self.union(&parts)
            }
            _ => ty,
        }
    }
}
