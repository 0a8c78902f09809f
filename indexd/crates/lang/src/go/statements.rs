//! Statements and the scopes they open.

use super::declarations::{nth_value, source_of};
use super::expressions::is_expr;
use super::syntax::{Field, Kind};
use super::types::is_type;
use super::visitor::Visitor;
use indexd_model::{BindingKind, ExprId, Role, Source, Span, StrId};

/// Names on the left side of an assignment or range clause that `:=` may declare, by position; other
/// expressions are `None`.
type Left = Vec<Option<(StrId, u32)>>;

impl Visitor<'_, '_> {
    /// A block with a scope of its own.
    fn block(&mut self) {
        self.scopes.push();
        self.block_here();
        self.scopes.pop();
    }

    /// A block that continues the scope around it: the body of a function shares that of its
    /// parameters.
    pub(super) fn block_here(&mut self) {
        self.each(|v, _, kind| match kind {
            Kind::StatementList => v.statements(),
            kind => v.anything(kind),
        });
    }

    fn statements(&mut self) {
        self.each(|v, _, kind| v.anything(kind));
    }

    /// Reads a node of any kind: code around a syntax error can be anywhere.
    pub(super) fn anything(&mut self, kind: Kind) {
        if matches!(kind, Kind::Comment | Kind::LabelName) {
            return;
        }
        self.deeper(|v| {
            v.anything_here(kind);
            ExprId::NONE
        });
    }

    fn anything_here(&mut self, kind: Kind) {
        let no_doc = Span::new(self.start(), self.start());
        match kind {
            Kind::ExpressionStatement | Kind::GoStatement | Kind::DeferStatement | Kind::SendStatement => {
                self.each(|v, _, kind| v.anything(kind));
            }
            Kind::ShortVarDeclaration | Kind::ReceiveStatement => self.short_var(),
            Kind::AssignmentStatement => self.each(|v, field, kind| match field {
                Field::Left => {
                    v.expr_list(Role::Write);
                }
                Field::Operator => {}
                _ => v.anything(kind),
            }),
            Kind::IncStatement | Kind::DecStatement => self.each(|v, _, kind| {
                if is_expr(kind) {
                    v.expr(Role::Write);
                }
            }),
            Kind::Block => self.block(),
            Kind::IfStatement
            | Kind::ForStatement
            | Kind::ExpressionSwitchStatement
            | Kind::ExpressionCase
            | Kind::DefaultCase
            | Kind::CommunicationCase => {
                self.scopes.push();
                self.each(|v, _, kind| v.anything(kind));
                self.scopes.pop();
            }
            Kind::RangeClause => self.range(),
            Kind::TypeSwitchStatement => self.type_switch(),
            Kind::VarDeclaration | Kind::ConstDeclaration if self.n_bodies > 0 => self.values(no_doc),
            Kind::TypeDeclaration if self.n_bodies > 0 => self.types(no_doc),
            Kind::FunctionDeclaration | Kind::MethodDeclaration if self.n_bodies > 0 => {
                // Only after a syntax error: the function before it was not closed.
                let n_bodies = std::mem::take(&mut self.n_bodies);
                self.declaration(kind, no_doc);
                self.n_bodies = n_bodies;
            }
            Kind::ImportDeclaration
            | Kind::FunctionDeclaration
            | Kind::MethodDeclaration
            | Kind::TypeDeclaration
            | Kind::VarDeclaration
            | Kind::ConstDeclaration => self.declaration(kind, no_doc),
            Kind::BreakStatement
            | Kind::ContinueStatement
            | Kind::GotoStatement
            | Kind::FallthroughStatement => {}
            kind if is_expr(kind) => {
                self.expr(Role::Read);
            }
            kind if is_type(kind) => {
                self.type_expr(Role::Type);
            }
            _ => self.each(|v, _, kind| v.anything(kind)),
        }
    }

    /// The left side: with `:=` its names, else uses.
    fn left(&mut self, is_define: bool) -> Left {
        let mut left = Left::new();
        self.each(|v, _, kind| match kind {
            Kind::Identifier if is_define => left.push(Some((v.string(), v.start()))),
            kind if is_expr(kind) => {
                v.expr(Role::Write);
                left.push(None);
            }
            _ => {}
        });
        left
    }

    /// Returns true if there is a `:=` among the children.
    fn defines(&mut self) -> bool {
        let mut found = false;
        self.each(|v, _, _| found |= v.cursor.node().kind_id() == v.syntax.define);
        found
    }

    /// `a, b := f()`, `case v, ok := <-ch`, `case x = <-ch`.
    fn short_var(&mut self) {
        let is_define = self.defines();
        let mut left = Left::new();
        let mut values = Vec::new();
        self.each(|v, field, kind| match field {
            Field::Left => left = v.left(is_define),
            Field::Right if kind == Kind::ExpressionList => values = v.expr_list(Role::Read),
            Field::Right => values = vec![v.expr(Role::Read)],
            _ => {}
        });
        let n = left.len();
        for (i, name) in left.iter().enumerate() {
            let Some((name, at)) = *name else { continue };
            let (value, index) = nth_value(&values, n, i);
            if let Some(binding) = self.redeclare(name, at)
                && let Some(source) = source_of(value, index, n > values.len())
            {
                self.b.source(binding, source);
            }
        }
    }

    fn range(&mut self) {
        let is_define = self.defines();
        let mut left = Left::new();
        let mut of = ExprId::NONE;
        self.each(|v, field, _| match field {
            Field::Left => left = v.left(is_define),
            Field::Right => of = v.expr(Role::Read),
            _ => {}
        });
        for (index, name) in left.iter().enumerate() {
            if let Some((name, at)) = *name
                && let Some(binding) = self.redeclare(name, at)
            {
                self.b.source(binding, Source::Element { of, index: index as u16 });
            }
        }
    }

    /// `switch x := v.(type)`: every clause has its own `x`.
    fn type_switch(&mut self) {
        self.scopes.push();
        let mut alias: Option<(StrId, u32)> = None;
        let mut value = ExprId::NONE;
        self.each(|v, field, kind| match (field, kind) {
            (Field::Alias, Kind::ExpressionList) => v.each(|v, _, kind| {
                if kind == Kind::Identifier {
                    alias = Some((v.string(), v.start()));
                }
            }),
            (Field::Value, _) => value = v.expr(Role::Read),
            (_, Kind::TypeCase | Kind::DefaultCase) => v.type_case(alias, value),
            (_, kind) => v.anything(kind),
        });
        self.scopes.pop();
    }

    fn type_case(&mut self, alias: Option<(StrId, u32)>, value: ExprId) {
        self.scopes.push();
        let mut types = Vec::new();
        let mut is_declared = false;
        self.each(|v, field, kind| {
            if field == Field::Type && (is_type(kind) || kind == Kind::Identifier) {
                types.push(v.type_expr(Role::Type));
                return;
            }
            if kind == Kind::StatementList {
                if !std::mem::replace(&mut is_declared, true)
                    && let Some((name, at)) = alias
                {
                    let binding = v.declare_name(name, at, BindingKind::Local);
                    let source = match types[..] {
                        [one] if !v.is_nil(one) => Source::Narrowed(one),
                        _ => Source::Assigned(value),
                    };
                    v.b.source(binding, source);
                }
                v.statements();
            } else {
                v.anything(kind);
            }
        });
        self.scopes.pop();
    }

    /// `case nil` of a type switch: the grammar reads it as a type.
    fn is_nil(&self, ty: ExprId) -> bool {
        match self.b.get(ty).map(|e| e.node) {
            Some(indexd_model::Node::Name { name, .. }) => self.b.text(name) == "nil",
            _ => false,
        }
    }
}
