//! Types as the linker knows them: interned, so that equal types have equal ids.

use indexd_model::{BindingId, DefIdx};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct TyId(u32);

/// An interned list of types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TyList {
    start: u32,
    len: u32,
}

impl TyList {
    pub(super) const EMPTY: Self = Self { start: 0, len: 0 };

    pub(super) fn len(self) -> usize {
        self.len as usize
    }
}

/// A definition of an open file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct DefAt {
    pub(super) file: u32,
    pub(super) def: DefIdx,
}

impl DefAt {
    /// The holder of a struct or interface type without members.
    pub(super) const EMPTY: Self = Self { file: u32::MAX, def: DefIdx::NONE };
}

/// Predeclared types; the untyped ones are those of constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Ty {
    /// Not known.
    Unknown,
    /// A type outside the tree; the number is that of its qualified name, 0 when it has none.
    External(u32),
    Basic(Basic),
    /// The predeclared `error`.
    Error,
    /// A defined type with its type arguments.
    Named(DefAt, TyList),
    Pointer(TyId),
    Slice(TyId),
    Array(TyId),
    Map(TyId, TyId),
    Chan(TyId),
    Func {
        params: TyList,
        results: TyList,
        variadic: bool,
    },
    /// Several results.
    Tuple(TyList),
    /// A struct type by the definition its fields belong to.
    Struct(DefAt),
    /// An interface type by the definition its methods belong to.
    Interface(DefAt),
    /// A type parameter of an open file.
    Param(u32, BindingId),
    /// Terms of a constraint.
    Union(TyList),
}

/// All types of one linking run.
pub(super) struct Types {
    all: Vec<Ty>,
    /// For each type, true if it mentions a type parameter.
    generic: Vec<bool>,
    ids: FxHashMap<Ty, TyId>,
    flat: Vec<TyId>,
    lists: FxHashMap<SmallVec<[TyId; 4]>, TyList>,
}

impl Types {
    pub(super) const UNKNOWN: TyId = TyId(0);
    pub(super) const EXTERNAL: TyId = TyId(1);

    pub(super) fn new() -> Self {
        let mut it = Self {
            all: Vec::new(),
            generic: Vec::new(),
            ids: FxHashMap::default(),
            flat: Vec::new(),
            lists: FxHashMap::default(),
        };
        it.id(Ty::Unknown);
        it.id(Ty::External(0));
        it
    }

    pub(super) fn id(&mut self, ty: Ty) -> TyId {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let generic = match ty {
            Ty::Param(..) => true,
            Ty::Unknown | Ty::External(_) | Ty::Basic(_) | Ty::Error | Ty::Struct(_) | Ty::Interface(_) => {
                false
            }
            Ty::Pointer(t) | Ty::Slice(t) | Ty::Array(t) | Ty::Chan(t) => self.is_generic(t),
            Ty::Map(k, v) => self.is_generic(k) || self.is_generic(v),
            Ty::Named(_, list) | Ty::Tuple(list) | Ty::Union(list) => self.any_generic(list),
            Ty::Func { params, results, .. } => self.any_generic(params) || self.any_generic(results),
        };
        let id = TyId(self.all.len() as u32);
        self.all.push(ty);
        self.generic.push(generic);
        self.ids.insert(ty, id);
        id
    }

    pub(super) fn get(&self, id: TyId) -> Ty {
        self.all[id.0 as usize]
    }

    pub(super) fn basic(&mut self, basic: Basic) -> TyId {
        self.id(Ty::Basic(basic))
    }

    pub(super) fn list(&mut self, items: &[TyId]) -> TyList {
        if items.is_empty() {
            return TyList::EMPTY;
        }
        if let Some(&list) = self.lists.get(items) {
            return list;
        }
        let list = TyList { start: self.flat.len() as u32, len: items.len() as u32 };
        self.flat.extend_from_slice(items);
        self.lists.insert(SmallVec::from_slice(items), list);
        list
    }

    pub(super) fn items(&self, list: TyList) -> &[TyId] {
        &self.flat[list.start as usize..(list.start + list.len) as usize]
    }

    /// The `i`-th type of a list.
    pub(super) fn item(&self, list: TyList, i: usize) -> Option<TyId> {
        self.items(list).get(i).copied()
    }

    pub(super) fn is_generic(&self, id: TyId) -> bool {
        self.generic[id.0 as usize]
    }

    fn any_generic(&self, list: TyList) -> bool {
        self.items(list).iter().any(|t| self.is_generic(*t))
    }

    /// The type with `f` applied to its type parameters, `f(file, binding)`.
    pub(super) fn replace(&mut self, id: TyId, f: &dyn Fn(u32, BindingId) -> Option<TyId>) -> TyId {
        if !self.is_generic(id) {
            return id;
        }
        let ty = match self.get(id) {
            Ty::Param(file, binding) => return f(file, binding).unwrap_or(id),
            Ty::Pointer(t) => Ty::Pointer(self.replace(t, f)),
            Ty::Slice(t) => Ty::Slice(self.replace(t, f)),
            Ty::Array(t) => Ty::Array(self.replace(t, f)),
            Ty::Chan(t) => Ty::Chan(self.replace(t, f)),
            Ty::Map(k, v) => Ty::Map(self.replace(k, f), self.replace(v, f)),
            Ty::Named(def, list) => Ty::Named(def, self.replace_list(list, f)),
            Ty::Tuple(list) => Ty::Tuple(self.replace_list(list, f)),
            Ty::Union(list) => Ty::Union(self.replace_list(list, f)),
            Ty::Func { params, results, variadic } => Ty::Func {
                params: self.replace_list(params, f),
                results: self.replace_list(results, f),
                variadic,
            },
            other => other,
        };
        self.id(ty)
    }

    fn replace_list(&mut self, list: TyList, f: &dyn Fn(u32, BindingId) -> Option<TyId>) -> TyList {
        let items: SmallVec<[TyId; 4]> = SmallVec::from_slice(self.items(list));
        let items: SmallVec<[TyId; 4]> = items.into_iter().map(|t| self.replace(t, f)).collect();
        self.list(&items)
    }

    /// The type that a variable gets from a constant of this type.
    pub(super) fn default(&mut self, id: TyId) -> TyId {
        let basic = match self.get(id) {
            Ty::Basic(Basic::UntypedInt) => Basic::Int,
            Ty::Basic(Basic::UntypedFloat) => Basic::Float64,
            Ty::Basic(Basic::UntypedComplex) => Basic::Complex128,
            Ty::Basic(Basic::UntypedRune) => Basic::Int32,
            Ty::Basic(Basic::UntypedString) => Basic::String,
            Ty::Basic(Basic::UntypedBool) => Basic::Bool,
            _ => return id,
        };
        self.basic(basic)
    }

    /// Returns true if it is the type of an untyped constant.
    pub(super) fn is_untyped(&self, id: TyId) -> bool {
        use Basic::{
            UntypedBool, UntypedComplex, UntypedFloat, UntypedInt, UntypedNil, UntypedRune, UntypedString,
        };
        let Ty::Basic(basic) = self.get(id) else { return false };
        matches!(
            basic,
            UntypedInt
                | UntypedFloat
                | UntypedComplex
                | UntypedRune
                | UntypedString
                | UntypedBool
                | UntypedNil
        )
    }

    /// Returns true if nothing is known about values of this type.
    pub(super) fn is_unknown(&self, id: TyId) -> bool {
        id == Self::UNKNOWN
    }
}
