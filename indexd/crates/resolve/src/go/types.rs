//! Types as the linker knows them: interned, so that equal types have equal ids.

use crate::typed::NameId;
use crate::typed::types::{Interned, Shape};
pub(super) use crate::typed::{Args, DefAt, Ty};
use indexd_model::{BindingId, DefIdx};

impl DefAt {
    /// The holder of a struct or interface type without members.
    pub(super) const EMPTY: Self = Self { file: u32::MAX, def: DefIdx::NONE };
}

/// Predeclared types; the untyped ones are those of constants and come last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Hash, Debug)]
pub(super) enum Basic {
    Bool,
    String,
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Uintptr,
    Float32,
    Float64,
    Complex64,
    Complex128,
    UntypedInt,
    UntypedFloat,
    UntypedComplex,
    UntypedRune,
    UntypedString,
    UntypedBool,
    UntypedNil,
}

/// Shape of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Type {
    /// Not known.
    Unknown,
    /// A type outside the tree; its qualified name, when it has one.
    External(Option<NameId>),
    Basic(Basic),
    /// The predeclared `error`.
    Error,
    /// A defined type with its type arguments.
    Named(DefAt, Args),
    Pointer(Ty),
    Slice(Ty),
    Array(Ty),
    Map(Ty, Ty),
    Chan(Ty),
    Func {
        params: Args,
        results: Args,
        variadic: bool,
    },
    /// Several results.
    Tuple(Args),
    /// A struct type by the definition its fields belong to.
    Struct(DefAt),
    /// An interface type by the definition its methods belong to.
    Interface(DefAt),
    /// A type parameter of an open file.
    Param(u32, BindingId),
    /// Terms of a constraint.
    Union(Args),
}

impl Shape for Type {
    const FIRST: &'static [Self] = &[Self::Unknown, Self::External(None)];

    fn is_var(&self) -> bool {
        matches!(self, Self::Param(..))
    }

    fn any_part(&self, is: &mut dyn FnMut(Ty) -> bool) -> bool {
        match self {
            Self::Pointer(t) | Self::Slice(t) | Self::Array(t) | Self::Chan(t) => is(*t),
            Self::Map(k, v) => is(*k) || is(*v),
            Self::Named(_, all) | Self::Tuple(all) | Self::Union(all) => all.iter().any(|t| is(*t)),
            Self::Func { params, results, .. } => params.iter().chain(results.iter()).any(|t| is(*t)),
            _ => false,
        }
    }

    fn mapped(mut self, of: &mut dyn FnMut(Ty) -> Ty) -> Self {
        let mut each = |all: &mut Args| *all = all.iter().map(|t| of(*t)).collect();
        match &mut self {
            Self::Named(_, all) | Self::Tuple(all) | Self::Union(all) => each(all),
            Self::Func { params, results, .. } => {
                each(params);
                each(results);
            }
            Self::Pointer(t) | Self::Slice(t) | Self::Array(t) | Self::Chan(t) => *t = of(*t),
            Self::Map(k, v) => (*k, *v) = (of(*k), of(*v)),
            _ => {}
        }
        self
    }
}

/// All types of one linking run.
pub(super) type Types = Interned<Type>;

impl Types {
    pub(super) fn basic(&mut self, basic: Basic) -> Ty {
        self.make(Type::Basic(basic))
    }

    /// The type with `f` applied to its type parameters, `f(file, binding)`.
    pub(super) fn replace(&mut self, ty: Ty, f: &dyn Fn(u32, BindingId) -> Option<Ty>) -> Ty {
        if !self.has_vars(ty) {
            return ty;
        }
        match self.get(ty).clone() {
            Type::Param(file, binding) => f(file, binding).unwrap_or(ty),
            other => {
                let other = other.mapped(&mut |part| self.replace(part, f));
                self.make(other)
            }
        }
    }

    /// The type that a variable gets from a constant of this type.
    pub(super) fn default(&mut self, ty: Ty) -> Ty {
        let basic = match self.get(ty) {
            Type::Basic(Basic::UntypedInt) => Basic::Int,
            Type::Basic(Basic::UntypedFloat) => Basic::Float64,
            Type::Basic(Basic::UntypedComplex) => Basic::Complex128,
            Type::Basic(Basic::UntypedRune) => Basic::Int32,
            Type::Basic(Basic::UntypedString) => Basic::String,
            Type::Basic(Basic::UntypedBool) => Basic::Bool,
            _ => return ty,
        };
        self.basic(basic)
    }

    /// Returns true if it is the type of an untyped constant.
    pub(super) fn is_untyped(&self, ty: Ty) -> bool {
        matches!(self.get(ty), Type::Basic(basic) if *basic >= Basic::UntypedInt)
    }
}
