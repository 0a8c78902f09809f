//! Links: the result of resolving the uses of one file.

use crate::coded::coded;
use crate::facts::{DefIdx, Role, StrId};
use crate::ids::FileDoc;
use crate::key::Key;

coded! {
    /// Kind of an edge.
    pub enum EdgeKind {
        /// The source calls the target (or instantiates it).
        Call = "call",
        /// The source reads, writes or names the target.
        Usage = "usage",
        /// The source imports the target.
        Import = "import",
        /// The source (a module or package) exports the target defined elsewhere, by re-export.
        Export = "export",
        /// A value flows from source to target: argument to parameter (function to function), returned
        /// value to its user, writer to reader of one field, package variable or global.
        Dataflow = "dataflow",
        /// The source type has the target as base class or embedded type.
        Inherit = "inherit",
        /// The source type or method satisfies or overrides the target interface or method.
        Implement = "implement",
        /// A value flows from target to source, which reads a variable or uses the result of a call. Links
        /// start in the file that is linked, so dataflow out of another file needs a kind of its own. A view
        /// shows it as [`EdgeKind::Dataflow`], reversed, and has no edges of this kind.
        DataflowIn = "dataflow-in",
    }

    /// The name on the wire; `inherit` and `implement` count as `usage` in packs.
    pub fn name;
}

coded! {
    /// Kind of evidence behind an edge.
    pub enum EvidenceKind {
        /// A call expression.
        Callsite = "callsite",
        /// An identifier.
        Identifier = "identifier",
        /// An import statement.
        ImportStmt = "importStmt",
        /// A range of source, for edges without one identifier (dataflow, implement).
        Span = "span",
        /// An imported compiler index.
        Tooling = "tooling",
    }

    /// The name on the wire.
    pub fn name;
}

coded! {
    /// The rule that resolved a use. [`Rule::confidence`] is the one table of confidences.
    pub enum Rule {
        /// Lexical scope or the same module or package.
        Scope = "scope",
        /// An import.
        Import = "import",
        /// An import followed through re-exports.
        Reexport = "reexport",
        /// A member of a receiver whose type is declared.
        Receiver = "receiver",
        /// A member promoted through an embedded field or inherited from a base.
        Inherited = "inherited",
        /// A member of a receiver whose type was inferred.
        Inferred = "inferred",
        /// The type satisfies the interface by its method set, or the method overrides another.
        Implements = "implements",
        /// One of several implementations of the called interface method or overriding methods, or the
        /// counterpart of the definition in another build.
        Dispatch = "dispatch",
        /// The only definition of that name in the repository that fits.
        UniqueName = "unique-name",
        /// One of several definitions that fit; confidence is shared.
        Ambiguous = "ambiguous",
        /// An imported compiler index.
        Tooling = "tooling",
    }

    /// The name in exports (`via`) and explanations.
    pub fn name;
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
    /// The definition that the use names.
    pub target: DefRef,
    /// Byte offset of the identifier token (or of the start of the span) in this file.
    pub at: u32,
    /// Length of that token in bytes; 0 when there is no token.
    pub len: u16,
    /// Role of the identifier at this place.
    pub role: Role,
    /// The rule that fired.
    pub rule: Rule,
    /// Percent.
    pub confidence: u8,
}

impl Link {
    /// The kind of evidence of this occurrence.
    pub fn evidence(&self) -> EvidenceKind {
        evidence_kind(self.kind, self.role, self.rule)
    }
}

/// The kind of evidence of an occurrence of `kind` with `role` by `rule`.
pub fn evidence_kind(kind: EdgeKind, role: Role, rule: Rule) -> EvidenceKind {
    match (kind, role, rule) {
        (_, _, Rule::Tooling) => EvidenceKind::Tooling,
        (EdgeKind::Import | EdgeKind::Export, ..) => EvidenceKind::ImportStmt,
        (EdgeKind::Dataflow | EdgeKind::DataflowIn | EdgeKind::Implement, ..) => EvidenceKind::Span,
        (_, Role::Call, _) => EvidenceKind::Callsite,
        _ => EvidenceKind::Identifier,
    }
}

coded! {
    /// Reasons for which a use has no edge.
    pub enum UnresolvedReason {
        /// It names something outside the repository: a dependency or the standard library.
        External = "external",
        /// A name of the language itself.
        Builtin = "builtin",
        /// The type of the receiver is not known.
        UnknownReceiver = "unknown-receiver",
        /// The name was looked up and not found.
        NotFound = "not-found",
        /// Dynamic access (`getattr`, module `__getattr__`).
        Dynamic = "dynamic",
        /// It is in source that was not understood: a syntax error, or nesting beyond the limit.
        NotUnderstood = "not-understood",
    }

    /// The name on the wire.
    pub fn name;
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
    /// Role of the identifier at this place.
    pub role: Role,
    /// The reason.
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
