//! Links: what resolving the uses of one file gives.

use crate::facts::{DefIdx, Role, StrId};
use crate::ids::FileDoc;
use crate::key::Key;

/// Kind of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bitcode::Encode, bitcode::Decode)]
#[repr(u8)]
pub enum EdgeKind {
    /// The source calls the target (or instantiates it).
    Call,
    /// The source reads, writes or names the target.
    Usage,
    /// The source imports the target.
    Import,
    /// The source (a module or package) exports the target defined elsewhere, by re-export.
    Export,
    /// A value flows from source to target: argument to parameter (function to function), returned
    /// value to its user, writer to reader of one field, package variable or global.
    Dataflow,
    /// The source type has the target as base class or embedded type.
    Inherit,
    /// The source type or method satisfies or overrides the target interface or method.
    Implement,
    /// A value flows from target to source, which reads a variable or uses what a call returns. Links
    /// start in the file that is linked, so what comes out of another file needs a kind of its own;
    /// a view shows it as [`EdgeKind::Dataflow`], turned round, and has no edges of this kind.
    DataflowIn,
}

impl EdgeKind {
    /// Every kind, in order.
    pub const ALL: [Self; 8] = [
        Self::Call,
        Self::Usage,
        Self::Import,
        Self::Export,
        Self::Dataflow,
        Self::Inherit,
        Self::Implement,
        Self::DataflowIn,
    ];

    /// The name on the wire; `inherit` and `implement` count as `usage` in packs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Usage => "usage",
            Self::Import => "import",
            Self::Export => "export",
            Self::Dataflow => "dataflow",
            Self::Inherit => "inherit",
            Self::Implement => "implement",
            Self::DataflowIn => "dataflow-in",
        }
    }
}

/// Kind of evidence behind an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bitcode::Encode, bitcode::Decode)]
#[repr(u8)]
pub enum EvidenceKind {
    /// A call expression.
    Callsite,
    /// An identifier.
    Identifier,
    /// An import statement.
    ImportStmt,
    /// A range of source, for edges without one identifier (dataflow, implement).
    Span,
    /// An imported compiler index.
    Tooling,
}

impl EvidenceKind {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Callsite => "callsite",
            Self::Identifier => "identifier",
            Self::ImportStmt => "importStmt",
            Self::Span => "span",
            Self::Tooling => "tooling",
        }
    }
}

/// The rule that resolved a use. [`Rule::confidence`] is the one table of confidences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bitcode::Encode, bitcode::Decode)]
#[repr(u8)]
pub enum Rule {
    /// Lexical scope or the same module or package.
    Scope,
    /// An import.
    Import,
    /// An import followed through re-exports.
    Reexport,
    /// A member of a receiver whose type is declared.
    Receiver,
    /// A member promoted through an embedded field or inherited from a base.
    Inherited,
    /// A member of a receiver whose type was inferred.
    Inferred,
    /// The type satisfies the interface by its method set, or the method overrides another.
    Implements,
    /// One of several implementations of the called interface method or overriding methods.
    Dispatch,
    /// The only definition of that name in the repository that fits.
    UniqueName,
    /// One of several definitions that fit; confidence is shared.
    Ambiguous,
    /// An imported compiler index.
    Tooling,
}

impl Rule {
    /// Confidence in percent of an edge made by this rule, before it is shared among candidates.
    pub fn confidence(self) -> u8 {
        match self {
            Self::Scope | Self::Import | Self::Receiver | Self::Tooling => 100,
            Self::Reexport | Self::Inherited => 98,
            Self::Implements => 95,
            Self::Inferred => 85,
            Self::Dispatch | Self::UniqueName => 40,
            Self::Ambiguous => 30,
        }
    }

    /// The name in exports (`via`) and explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Import => "import",
            Self::Reexport => "reexport",
            Self::Receiver => "receiver",
            Self::Inherited => "inherited",
            Self::Inferred => "inferred",
            Self::Implements => "implements",
            Self::Dispatch => "dispatch",
            Self::UniqueName => "unique-name",
            Self::Ambiguous => "ambiguous",
            Self::Tooling => "tooling",
        }
    }
}

/// A definition of some file in the view that was linked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefRef {
    /// The file.
    pub file: FileDoc,
    /// The definition; [`DefIdx::NONE`] for the file (module) itself.
    pub def: DefIdx,
}

/// One resolved use: an occurrence of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// Kind of edge.
    pub kind: EdgeKind,
    /// The innermost named function, method or type of this file around the use; `NONE` at file
    /// level.
    pub source: DefIdx,
    /// What the use names.
    pub target: DefRef,
    /// Byte offset of the identifier token (or of the start of the span) in this file.
    pub at: u32,
    /// Length of that token in bytes; 0 when there is no token.
    pub len: u16,
    /// What the place does.
    pub role: Role,
    /// The rule that fired.
    pub rule: Rule,
    /// Percent.
    pub confidence: u8,
}

impl Link {
    /// The kind of evidence this occurrence is.
    pub fn evidence(&self) -> EvidenceKind {
        evidence_kind(self.kind, self.role, self.rule)
    }
}

/// The kind of evidence an occurrence of `kind` with `role` by `rule` is.
pub fn evidence_kind(kind: EdgeKind, role: Role, rule: Rule) -> EvidenceKind {
    match (kind, role, rule) {
        (_, _, Rule::Tooling) => EvidenceKind::Tooling,
        (EdgeKind::Import | EdgeKind::Export, ..) => EvidenceKind::ImportStmt,
        (EdgeKind::Dataflow | EdgeKind::DataflowIn | EdgeKind::Implement, ..) => EvidenceKind::Span,
        (_, Role::Call, _) => EvidenceKind::Callsite,
        _ => EvidenceKind::Identifier,
    }
}

/// Why a use has no edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, bitcode::Encode, bitcode::Decode)]
#[repr(u8)]
pub enum UnresolvedReason {
    /// It names something outside the repository: a dependency or the standard library.
    External,
    /// A name of the language itself.
    Builtin,
    /// The type of the receiver is not known.
    UnknownReceiver,
    /// The name was looked for and not found.
    NotFound,
    /// Dynamic access (`getattr`, module `__getattr__`).
    Dynamic,
    /// It stands in source that was not understood: a syntax error, or nesting beyond the limit.
    NotUnderstood,
}

/// A use without an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unresolved {
    /// The innermost named definition around it.
    pub source: DefIdx,
    /// The identifier, a string of this file.
    pub name: StrId,
    /// Byte offset of the token.
    pub at: u32,
    /// What the place does.
    pub role: Role,
    /// Why.
    pub reason: UnresolvedReason,
}

/// The links of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Resolved uses, sorted by place; several at one place when there are candidates.
    pub links: Vec<Link>,
    /// Uses without an edge, sorted by place.
    pub unresolved: Vec<Unresolved>,
    /// Every key that was looked up in the view, found or not; sorted, without repeats.
    pub lookups: Vec<Key>,
}
