//! Facts: everything that one file contains by itself, a pure function of its path and bytes.
//!
//! A [`FileFacts`] has two halves. The [`Interface`] is all that *other* files can observe while they are
//! linked: definitions, imports, signatures, types of fields and variables, return expressions of
//! unannotated functions. The body is the rest: the uses inside functions. Both share one index space:
//! expressions, bindings, strings and lists of the interface come first, so `ExprId(7)` means the same
//! whether or not the body is loaded. [`Facts`] reads either.
//!
//! Expressions are kept as a small language-neutral tree ([`Node`]), because "what does `x.f` name"
//! needs the type of `x`. The extractor resolves lexical scope: a [`Node::Name`] either carries the
//! local binding it names or is free (a name of the module, the package or the universe).

mod expressions;

use crate::coded::coded;
use crate::ids::handles;
use crate::key::Key;
use crate::language::{FileRoles, Language};
use crate::span::{Lines, Span};
use bitcode::{Decode, Encode};

pub use expressions::{Expr, LiteralKind, Node, Part, Role, SequenceKind};

handles! {
    /// Index of a definition within its file.
    DefIdx,
    /// Index of an expression within its file.
    ExprId,
    /// Index of a local binding within its file.
    BindingId,
    /// Index of an interned string within its file.
    StrId,
}

/// All facts of one file.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct FileFacts {
    /// Facts that other files can observe.
    pub interface: Interface,
    /// The uses inside functions, continuing the index spaces of the interface.
    pub body: Arena,
    /// The retrieval units in source order; they do not overlap.
    pub chunks: Vec<Chunk>,
}

coded! {
    /// The outcome of reading a file. Part of the file's leaf in the index signature.
    pub enum Outcome {
        /// Parsed without a syntax error, or a format that needs no parser.
        Parsed,
        /// Parsed around syntax errors; some facts may be missing.
        Recovered,
        /// Not parsed (too large, too deep, minified, unknown language); chunked by lines.
        TextOnly,
        /// Not text; listed, no chunks.
        Binary,
        /// A secret by name; listed, never read into chunks.
        Sensitive,
        /// Above the size limit; listed, no chunks.
        TooLarge,
    }
}

/// The facts of a file that other files can observe.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Interface {
    /// Language of the file.
    pub language: Language,
    /// The outcome of parsing.
    pub outcome: Outcome,
    /// Roles by path and first lines.
    pub roles: FileRoles,
    /// Go: the package clause. go.mod: the module path. Manifests: the project name.
    pub package: Option<StrId>,
    /// Go: the build constraint as written after `//go:build`, without file name suffixes.
    pub constraint: Option<StrId>,
    /// Python: the names in `__all__`; `None` when the module has none or builds it dynamically.
    pub exports: Option<Vec<StrId>>,
    /// Every definition of the file, function-local ones too, in source order, parents first.
    pub defs: Vec<Def>,
    /// Import statements in source order.
    pub imports: Vec<Import>,
    /// Names under which other files find something here, sorted by key then definition.
    pub entries: Vec<Entry>,
    /// The shared index spaces, interface part.
    pub arena: Arena,
}

/// One part of the index spaces of a file.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Arena {
    /// Interned strings; see [`Facts::str`].
    pub strings: Vec<String>,
    /// Expressions.
    pub exprs: Vec<Expr>,
    /// Flattened argument lists; see [`List`].
    pub lists: Vec<ExprId>,
    /// Local bindings.
    pub bindings: Vec<Binding>,
    /// Flattened sources of bindings.
    pub sources: Vec<Source>,
}

/// A run of [`Arena::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Encode, Decode)]
pub struct List {
    /// First element.
    pub start: u32,
    /// Number of elements.
    pub len: u32,
}

/// A named entry of the interface, observed by a lookup under `key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Entry {
    /// The key under which it is found.
    pub key: Key,
    /// The definition; [`DefIdx::NONE`] for the file itself.
    pub def: DefIdx,
    /// Hash of everything observable through it, free of positions and of `DefIdx`/`ExprId`
    /// numbers: kind, flags, types, bases, decorators, return expressions, and the import behind
    /// each free name used. Equal digests mean that no other file can link differently.
    pub digest: u64,
}

coded! {
    /// Kind of a definition.
    pub enum DefKind {
        /// A function outside a type.
        Function = "function",
        /// A function of a type; in a Go interface, a method specification.
        Method = "method",
        /// A Python class.
        Class = "class",
        /// A Go struct type.
        Struct = "struct",
        /// A Go interface type.
        Interface = "interface",
        /// Another named Go type (`type T U`), or a Python type alias.
        Type = "type",
        /// A Go alias (`type T = U`).
        Alias = "alias",
        /// A struct field or an instance or class attribute.
        Field = "field",
        /// A Python property.
        Property = "property",
        /// A variable of a package or a module.
        Variable = "variable",
        /// A constant.
        Constant = "constant",
        /// A section of a document, a key of a configuration file, a target of a makefile.
        Section = "section",
        /// A module or namespace inside a file.
        Module = "module",
        /// An enumeration; its members are constants.
        Enum = "enum",
        /// A macro.
        Macro = "macro",
    }

    /// The name on the wire.
    pub fn name;
}

impl DefKind {
    /// Returns true if instances or declarations have members.
    pub fn is_type(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Interface | Self::Type | Self::Alias | Self::Enum)
    }

    /// Returns true for a function, a method, a property or a macro.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Property | Self::Macro)
    }
}

/// A set of marks on a definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Encode, Decode)]
pub struct DefFlags(pub u32);

impl DefFlags {
    /// Visible outside its package or module by the language's convention.
    pub const EXPORTED: Self = Self(1);
    /// Declared inside a function.
    pub const LOCAL: Self = Self(1 << 1);
    /// A static method.
    pub const STATIC: Self = Self(1 << 2);
    /// A class method.
    pub const CLASS: Self = Self(1 << 3);
    /// Go: pointer receiver.
    pub const POINTER: Self = Self(1 << 4);
    /// `async def`.
    pub const ASYNC: Self = Self(1 << 5);
    /// Contains `yield`.
    pub const GENERATOR: Self = Self(1 << 6);
    /// Abstract method, or a Protocol member.
    pub const ABSTRACT: Self = Self(1 << 7);
    /// A test function, by name.
    pub const TEST: Self = Self(1 << 8);
    /// A signature without a body: `typing.overload` of Python, overloads and declarations of TypeScript.
    pub const OVERLOAD: Self = Self(1 << 9);
    /// Go: embedded field or interface (also in [`Def::bases`] of its type).
    pub const EMBEDDED: Self = Self(1 << 10);
    /// The last parameter is variadic.
    pub const VARIADIC: Self = Self(1 << 11);
    /// Has no name that could be looked up (`_`, anonymous struct holder).
    pub const ANONYMOUS: Self = Self(1 << 12);
    /// Declared under a condition (`if TYPE_CHECKING`, `try`/`except`, platform checks).
    pub const CONDITIONAL: Self = Self(1 << 13);
    /// Attribute assigned on `self` inside a method rather than in the class body.
    pub const INSTANCE: Self = Self(1 << 14);
    /// A property setter or deleter.
    pub const SETTER: Self = Self(1 << 15);
    /// A decorator replaces the value (the type of the name is not the function itself).
    pub const WRAPPED: Self = Self(1 << 16);
    /// A context manager function (`contextlib.contextmanager`).
    pub const CONTEXT_MANAGER: Self = Self(1 << 17);
    /// Dataclass, NamedTuple, TypedDict or attrs class: fields make the constructor.
    pub const RECORD: Self = Self(1 << 18);
    /// Named by a text, as tests are by `describe 'a name' do`: cannot be found by a name in code.
    pub const TITLE: Self = Self(1 << 19);
    /// Reached only through a value: an extension of an outside type, a key of a table.
    pub const OF_VALUE: Self = Self(1 << 20);

    /// Returns true if every mark of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the marks of `other`.
    pub fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Both sets together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Def {
    /// Name as written; empty for anonymous holders.
    pub name: StrId,
    /// Kind.
    pub kind: DefKind,
    /// Marks.
    pub flags: DefFlags,
    /// The definition around this one; [`DefIdx::NONE`] at file level. A Go method's parent is
    /// `NONE` even when its type is in the same file; see `receiver`.
    pub parent: DefIdx,
    /// Go methods: the name of the receiver's type.
    pub receiver: Option<StrId>,
    /// Number of definitions of this file with the same descriptor before this one.
    pub ordinal: u16,
    /// The name token.
    pub name_span: Span,
    /// The whole definition with its decorators and its doc comment.
    pub span: Span,
    /// The signature: from the keyword or decorator to the start of the body.
    pub head: Span,
    /// The doc comment or docstring; empty when there is none.
    pub doc: Span,
    /// Declared type of a field, variable or constant; underlying type of a type definition.
    pub ty: ExprId,
    /// Initial or assigned value; for several results, see `value_index`.
    pub value: ExprId,
    /// Index of the result of `value` that this definition gets (`a, b = f()`); 0 otherwise.
    pub value_index: u16,
    /// Parameters of a callable in order, receivers and `self` included.
    pub params: Vec<BindingId>,
    /// Declared result types (Go: one per result; Python: at most one).
    pub results: Vec<ExprId>,
    /// Python without an annotation: the expressions of `return` (and of `yield`, for generators).
    pub returns: Vec<ExprId>,
    /// Python base classes; Go embedded structs and interfaces (and union terms of constraints).
    pub bases: Vec<ExprId>,
    /// Decorators from top to bottom.
    pub decorators: Vec<ExprId>,
    /// Type parameters; each binding's source is its constraint.
    pub type_params: Vec<BindingId>,
}

/// An import of one module, package or name.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Import {
    /// Module or package path as written (`os.path`, `net/http`); for relative Python imports
    /// without the dots. Empty for `from . import x`.
    pub module: StrId,
    /// Python: number of leading dots. TypeScript and JavaScript: 1 for a re-export. Includes, `mod` of Rust
    /// and the like: 1 for a path from the folder of this file.
    pub level: u16,
    /// `from module import name`: the name; `*` for a star import; `None` imports the module.
    pub name: Option<StrId>,
    /// The name bound in this file (the alias, or the name that the language binds); `None` for blank
    /// imports. Go without an alias: `None` too, since the package clause of the target decides.
    pub alias: Option<StrId>,
    /// The form of the import.
    pub kind: ImportKind,
    /// Byte offset of the token that names the imported thing (`name`, else the last component of
    /// the module; the path string in Go).
    pub at: u32,
    /// The whole statement or import spec.
    pub span: Span,
    /// The function (Rust: or module) around the statement; [`DefIdx::NONE`] at file level.
    pub scope: DefIdx,
    /// Inside `if`, `try` or another condition.
    pub conditional: bool,
}

/// Form of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum ImportKind {
    /// The whole module or package under a name.
    Module,
    /// One name of a module.
    Name,
    /// All exported names (`from m import *`, Go dot import).
    All,
    /// For side effects only (Go blank import).
    Blank,
}

/// A local name: parameter, variable, comprehension target, function-level import, nested function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Binding {
    /// Name.
    pub name: StrId,
    /// Byte offset of the name token.
    pub at: u32,
    /// The function (or class, for type parameters) it belongs to.
    pub scope: DefIdx,
    /// Kind.
    pub kind: BindingKind,
    /// The sources of its type: a run of [`Arena::sources`].
    pub sources: List,
}

/// Kind of a local binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum BindingKind {
    /// A Go receiver, or the first parameter of a Python method (`self`, `cls`).
    Receiver,
    /// A parameter.
    Param,
    /// `*args` or a Go variadic parameter.
    VarArgs,
    /// `**kwargs`.
    KwArgs,
    /// A named result.
    Result,
    /// A local variable.
    Local,
    /// A type parameter.
    TypeParam,
    /// A function-level import: see the import with the same alias and scope.
    Import,
    /// A nested definition: its source is [`Source::Def`].
    Def,
}

/// A source of the type of a binding. A binding may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
#[expect(missing_docs, reason = "the variants document their fields")]
pub enum Source {
    /// A declared type or annotation.
    Declared(ExprId),
    /// `x = e`, a default value.
    Assigned(ExprId),
    /// The `index`-th of several: results of a call, elements of a tuple.
    Unpacked { value: ExprId, index: u16 },
    /// An element of iterating over the expression. Go range: index 0 is the key, 1 the value.
    Element { of: ExprId, index: u16 },
    /// Unpacked element of iteration: `for a, b in pairs`.
    ElementUnpacked { of: ExprId, index: u16 },
    /// `with e as x`.
    Entered(ExprId),
    /// `except E as x`.
    Caught(ExprId),
    /// Known to be of this type here: `isinstance`, a type switch clause.
    Narrowed(ExprId),
    /// A definition of this file.
    Def(DefIdx),
    /// An import of this file, by its position in [`Interface::imports`].
    Import(u32),
}

impl Source {
    /// The expression that the type comes from; `None` for definitions and imports.
    pub fn expr_mut(&mut self) -> Option<&mut ExprId> {
        match self {
            Self::Declared(e)
            | Self::Assigned(e)
            | Self::Unpacked { value: e, .. }
            | Self::Element { of: e, .. }
            | Self::ElementUnpacked { of: e, .. }
            | Self::Entered(e)
            | Self::Caught(e)
            | Self::Narrowed(e) => Some(e),
            Self::Def(_) | Self::Import(_) => None,
        }
    }
}

/// A retrieval unit: one definition (a type without its methods), a part of a long one, or text
/// between definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Chunk {
    /// Bytes of the file, whole lines, the doc comment included.
    pub span: Span,
    /// Its lines.
    pub lines: Lines,
    /// The definition it belongs to; `NONE` between definitions.
    pub def: DefIdx,
    /// Kind.
    pub kind: ChunkKind,
    /// Which part of its definition, from 0.
    pub part: u16,
    /// Number of parts.
    pub n_parts: u16,
}

coded! {
    /// Kind of a chunk.
    pub enum ChunkKind {
        /// A function, a method, a variable or a constant group.
        Definition,
        /// A type: a Go type declaration, a Python class without its methods.
        Type,
        /// Text between definitions: imports, module-level statements, comments.
        Between,
        /// A section of a document.
        Section,
        /// A key or table of a configuration file.
        Entry,
        /// Lines of a file without structure.
        Lines,
        /// Text between definitions that only imports: imports, lists of exported names, comments.
        Imports,
        /// Text between definitions that is only prose: a licence, the doc of a module.
        Comment,
        /// A function or method whose body does nothing: abstract, an overload, a placeholder.
        Stub,
    }
}

impl ChunkKind {
    /// Returns true if such a chunk belongs to a definition of code.
    pub fn is_definition(self) -> bool {
        matches!(self, Self::Definition | Self::Type | Self::Stub)
    }

    /// Returns true if such a chunk is between definitions.
    pub fn is_between(self) -> bool {
        matches!(self, Self::Between | Self::Imports | Self::Comment)
    }
}

/// Read access to the index spaces of a file: the interface alone, or with the body. Ids that
/// point into an absent body read as [`Node::Opaque`], empty lists and empty strings.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The interface.
    pub interface: &'a Interface,
    body: Option<&'a Arena>,
}

/// Types within types that are followed for [`Facts::shape`].
const TYPE_DEPTH_MAX: usize = 8;

impl<'a> Facts<'a> {
    /// Reads the interface alone, as other files see it.
    pub fn outside(interface: &'a Interface) -> Self {
        Self { interface, body: None }
    }

    /// Reads everything, as the file itself is linked.
    pub fn inside(facts: &'a FileFacts) -> Self {
        Self::both(&facts.interface, &facts.body)
    }

    /// Reads everything, of an interface and a body of one file.
    pub fn both(interface: &'a Interface, body: &'a Arena) -> Self {
        Self { interface, body: Some(body) }
    }

    fn at<T>(&self, i: usize, f: impl Fn(&'a Arena) -> &'a [T]) -> Option<&'a T> {
        let own = f(&self.interface.arena);
        match own.get(i) {
            Some(x) => Some(x),
            None => self.body.and_then(|b| f(b).get(i - own.len())),
        }
    }

    /// The string; empty for absent ids.
    pub fn str(&self, id: StrId) -> &'a str {
        self.at(id.index(), |a| &a.strings).map_or("", String::as_str)
    }

    /// The expression; opaque for absent ids.
    pub fn expr(&self, id: ExprId) -> Expr {
        const OPAQUE: Expr = Expr { node: Node::Opaque, at: 0, role: Role::None };
        self.at(id.index(), |a| &a.exprs).copied().unwrap_or(OPAQUE)
    }

    /// The last name of each type in a signature of Go, parameters before results, `_` for types without a
    /// name. It is that of the method of an interface that a method implements, unless one names an alias.
    pub fn shape(&self, def: &Def) -> String {
        let params = def.params.iter().filter_map(|p| self.binding(*p));
        let declared = params.filter(|b| b.kind != BindingKind::Receiver).map(|b| match self.sources(b) {
            [Source::Declared(e), ..] => *e,
            _ => ExprId::NONE,
        });
        let types = declared.chain(def.results.iter().copied());
        types.flat_map(|e| ["(", self.type_name(e)]).collect()
    }

    /// The last name in a written type of Go, below pointers, slices, maps and channels; `_` for types without
    /// a name.
    pub fn type_name(&self, mut e: ExprId) -> &'a str {
        for _ in 0..TYPE_DEPTH_MAX {
            e = match self.expr(e).node {
                Node::Name { name, .. } => match self.str(name) {
                    "byte" => return "uint8",
                    "rune" => return "int32",
                    "any" => return "_",
                    name => return name,
                },
                Node::Attr { name, .. } => return self.str(name),
                Node::Star { value } | Node::MapType { value, .. } => value,
                Node::SliceType { elem } | Node::ArrayType { elem } | Node::ChanType { elem } => elem,
                _ => return "_",
            };
        }
        "_"
    }

    /// The elements of a list; a list is entirely in one arena.
    pub fn list(&self, list: List) -> &'a [ExprId] {
        Self::run(&self.interface.arena.lists, self.body.map(|b| &b.lists[..]), list)
    }

    /// The binding, when present.
    pub fn binding(&self, id: BindingId) -> Option<&'a Binding> {
        self.at(id.index(), |a| &a.bindings)
    }

    /// The sources of a binding.
    pub fn sources(&self, binding: &Binding) -> &'a [Source] {
        Self::run(&self.interface.arena.sources, self.body.map(|b| &b.sources[..]), binding.sources)
    }

    fn run<T>(own: &'a [T], body: Option<&'a [T]>, list: List) -> &'a [T] {
        let (start, len) = (list.start as usize, list.len as usize);
        if start + len <= own.len() {
            return &own[start..start + len];
        }
        match body {
            Some(b) if start >= own.len() => b.get(start - own.len()..start - own.len() + len).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Number of expressions in the loaded arenas.
    pub fn n_exprs(&self) -> usize {
        self.interface.arena.exprs.len() + self.body.map_or(0, |b| b.exprs.len())
    }

    /// Number of bindings in the loaded arenas.
    pub fn n_bindings(&self) -> usize {
        self.interface.arena.bindings.len() + self.body.map_or(0, |b| b.bindings.len())
    }

    /// Offsets of the names of parameters and local variables, in their uses and their declarations,
    /// ascending. Functions within functions and names bound by imports are not included.
    pub fn locals(&self) -> Vec<u32> {
        let is_local = |b: &Binding| !matches!(b.kind, BindingKind::Import | BindingKind::Def);
        let bound = (0..self.n_bindings() as u32).filter_map(|i| self.binding(BindingId(i)));
        let uses = (0..self.n_exprs() as u32).map(|i| self.expr(ExprId(i))).filter(|e| match e.node {
            Node::Name { binding, .. } => self.binding(binding).is_some_and(is_local),
            _ => false,
        });
        let mut out: Vec<u32> =
            bound.filter(|b| is_local(b)).map(|b| b.at).chain(uses.map(|e| e.at)).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The definition; panics on `NONE`.
    pub fn def(&self, def: DefIdx) -> &'a Def {
        &self.interface.defs[def.index()]
    }

    /// The name of a definition.
    pub fn def_name(&self, def: DefIdx) -> &'a str {
        self.str(self.def(def).name)
    }

    /// Definitions whose parent is `parent`, in source order.
    pub fn children(&self, parent: DefIdx) -> impl Iterator<Item = DefIdx> + 'a {
        let defs = &self.interface.defs;
        (0..defs.len() as u32).map(DefIdx).filter(move |d| defs[d.index()].parent == parent)
    }
}

impl Interface {
    /// An interface without facts, for files that are not parsed.
    pub fn empty(language: Language, outcome: Outcome, roles: FileRoles) -> Self {
        Self {
            language,
            outcome,
            roles,
            package: None,
            constraint: None,
            exports: None,
            defs: Vec::new(),
            imports: Vec::new(),
            entries: Vec::new(),
            arena: Arena::default(),
        }
    }

    /// The definitions provided under `key`, in source order.
    pub fn provided(&self, key: Key) -> impl Iterator<Item = DefIdx> + '_ {
        let from = self.entries.partition_point(|e| e.key < key);
        self.entries[from..].iter().take_while(move |e| e.key == key).map(|e| e.def)
    }
}
