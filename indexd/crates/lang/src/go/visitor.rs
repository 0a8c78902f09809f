//! The state of a walk over one Go syntax tree: cursor, scopes, and small steps that every part of
//! the walk uses.

use super::syntax::{Field, Kind, SYNTAX, Syntax};
use crate::builder::Builder;
use crate::chunks::Piece;
use indexd_model::facts::LiteralKind;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, DefIdx, ExprId, Node, Role, Source, Span, StrId};
use tree_sitter::{Node as SyntaxNode, TreeCursor};

/// Walks the tree of one file. Every method expects the cursor on the node it is named after and
/// leaves it there.
pub(super) struct Visitor<'s, 't> {
    pub(super) text: &'s str,
    pub(super) syntax: &'static Syntax,
    pub(super) cursor: TreeCursor<'t>,
    pub(super) b: Builder<'s>,
    pub(super) pieces: Vec<Piece>,
    pub(super) package: Option<StrId>,
    pub(super) constraint: Option<StrId>,
    pub(super) is_test: bool,
    /// The named function (or type, for type parameters) being walked.
    pub(super) owner: DefIdx,
    /// The definition that anonymous struct and interface types belong to.
    pub(super) around: DefIdx,
    /// Number of open function bodies.
    pub(super) n_bodies: u32,
    pub(super) scopes: Scopes,
    /// True if something was too deep to be followed.
    pub(super) is_cut: bool,
    depth: usize,
    opaque: ExprId,
    literals: [ExprId; 9],
}

/// Which local binding a name has at the current place.
#[derive(Default)]
pub(super) struct Scopes {
    /// By name: the binding and the depth of the block that declares it.
    current: Vec<(BindingId, u32)>,
    /// Bindings to restore when blocks end.
    undo: Vec<(StrId, (BindingId, u32))>,
    /// Length of `undo` at the start of each open block.
    marks: Vec<usize>,
}

const FREE: (BindingId, u32) = (BindingId::NONE, 0);

impl Scopes {
    pub(super) fn push(&mut self) {
        self.marks.push(self.undo.len());
    }

    pub(super) fn pop(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for (name, old) in self.undo.drain(mark..).rev() {
            self.current[name.index()] = old;
        }
    }

    pub(super) fn get(&self, name: StrId) -> BindingId {
        self.current.get(name.index()).unwrap_or(&FREE).0
    }

    /// The binding that the innermost block itself declares under `name`.
    fn in_block(&self, name: StrId) -> Option<BindingId> {
        let (binding, depth) = *self.current.get(name.index())?;
        (binding != BindingId::NONE && depth as usize == self.marks.len()).then_some(binding)
    }

    fn declare(&mut self, name: StrId, binding: BindingId) {
        if self.current.len() <= name.index() {
            self.current.resize(name.index() + 1, FREE);
        }
        let slot = &mut self.current[name.index()];
        self.undo.push((name, *slot));
        *slot = (binding, self.marks.len() as u32);
    }
}

impl<'s, 't> Visitor<'s, 't> {
    pub(super) fn new(text: &'s str, root: SyntaxNode<'t>, is_test: bool) -> Self {
        Self {
            text,
            syntax: &SYNTAX,
            cursor: root.walk(),
            b: Builder::new(),
            pieces: Vec::new(),
            package: None,
            constraint: None,
            is_test,
            owner: DefIdx::NONE,
            around: DefIdx::NONE,
            n_bodies: 0,
            scopes: Scopes::default(),
            is_cut: false,
            depth: 0,
            opaque: ExprId::NONE,
            literals: [ExprId::NONE; 9],
        }
    }

    /// Calls `f` on each child, the cursor standing there.
    pub(super) fn each(&mut self, mut f: impl FnMut(&mut Self, Field, Kind)) {
        if !self.cursor.goto_first_child() {
            return;
        }
        loop {
            let (field, kind) = (self.syntax.field(self.cursor.field_id()), self.kind());
            f(self, field, kind);
            if !self.cursor.goto_next_sibling() {
                break;
            }
        }
        self.cursor.goto_parent();
    }

    /// Reads each child of a kind that `is_read` takes, in order.
    pub(super) fn read_each(
        &mut self,
        is_read: impl Fn(Kind) -> bool,
        read: impl Fn(&mut Self) -> ExprId,
    ) -> Vec<ExprId> {
        let mut out = Vec::new();
        self.each(|v, _, kind| {
            if is_read(kind) {
                out.push(read(v));
            }
        });
        out
    }

    pub(super) fn kind(&self) -> Kind {
        self.syntax.kind(self.cursor.node().kind_id())
    }

    pub(super) fn start(&self) -> u32 {
        self.cursor.node().start_byte() as u32
    }

    pub(super) fn span(&self) -> Span {
        let node = self.cursor.node();
        Span { start: node.start_byte() as u32, end: node.end_byte() as u32 }
    }

    pub(super) fn slice(&self) -> &'s str {
        self.text.get(self.span().range()).unwrap_or("")
    }

    pub(super) fn string(&mut self) -> StrId {
        let text = self.slice();
        self.b.str(text)
    }

    /// Runs `f` one level deeper; beyond [`PARSE_DEPTH_MAX`] the code is opaque.
    pub(super) fn deeper(&mut self, f: impl FnOnce(&mut Self) -> ExprId) -> ExprId {
        if self.depth >= PARSE_DEPTH_MAX {
            self.is_cut = true;
            return self.opaque();
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        out
    }

    /// The one opaque expression of the file.
    pub(super) fn opaque(&mut self) -> ExprId {
        if self.opaque == ExprId::NONE {
            self.opaque = self.b.node(Node::Opaque, 0);
        }
        self.opaque
    }

    /// Returns the one literal of a kind: the place of a literal does not matter.
    pub(super) fn literal(&mut self, kind: LiteralKind) -> ExprId {
        let slot = kind as usize;
        if self.literals[slot] == ExprId::NONE || kind == LiteralKind::Complex {
            self.literals[slot] = self.b.node(Node::Literal { kind }, 0);
        }
        self.literals[slot]
    }

    /// An identifier as an expression. Names of local variables are no linkable uses, unless the
    /// place may be the key of a field.
    pub(super) fn name(&mut self, role: Role) -> ExprId {
        let at = self.start();
        let name = self.string();
        self.name_of(name, at, role)
    }

    pub(super) fn name_of(&mut self, name: StrId, at: u32, role: Role) -> ExprId {
        let binding = self.scopes.get(name);
        let is_local = binding != BindingId::NONE
            && role != Role::Key
            && !matches!(self.b.sources_of(binding), [Source::Def(_), ..]);
        let role = if is_local || self.b.text(name) == "_" { Role::None } else { role };
        self.b.expr(Node::Name { name, binding }, at, role)
    }

    /// Declares the identifier under the cursor in the innermost block. The blank name makes a binding that
    /// no lookup finds.
    pub(super) fn declare(&mut self, kind: BindingKind) -> BindingId {
        let at = self.start();
        let name = self.string();
        self.declare_name(name, at, kind)
    }

    pub(super) fn declare_name(&mut self, name: StrId, at: u32, kind: BindingKind) -> BindingId {
        let binding = self.b.bind(name, at, self.owner, kind);
        if !matches!(self.b.text(name), "_" | "") {
            self.scopes.declare(name, binding);
        }
        binding
    }

    /// The left side of `:=`: declares the identifier, unless the block has it already.
    pub(super) fn redeclare(&mut self, name: StrId, at: u32) -> Option<BindingId> {
        match self.scopes.in_block(name) {
            Some(_) => None,
            None => Some(self.declare_name(name, at, BindingKind::Local)),
        }
    }
}
