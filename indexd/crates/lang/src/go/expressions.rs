//! Expressions.

use super::syntax::{Field, Kind};
use super::types::is_type;
use super::visitor::Visitor;
use indexd_model::facts::LiteralKind;
use indexd_model::{ExprId, Node, Role, StrId};

impl Visitor<'_, '_> {
    /// An expression; the identifier it ends in gets `role`.
    pub(super) fn expr(&mut self, role: Role) -> ExprId {
        self.deeper(|v| v.expr_here(role))
    }

    /// The expressions of a list, in order.
    pub(super) fn expr_list(&mut self, role: Role) -> Vec<ExprId> {
        self.read_each(|kind| is_expr(kind) || is_type(kind), |v| v.expr(role))
    }

    fn expr_here(&mut self, role: Role) -> ExprId {
        let kind = self.kind();
        let at = self.start();
        match kind {
            Kind::Identifier => self.name(role),
            Kind::SelectorExpression => self.selector(role),
            Kind::CallExpression => self.call(),
            Kind::InterpretedString | Kind::RawString => self.literal(LiteralKind::String),
            Kind::Int | Kind::Iota => self.literal(LiteralKind::Int),
            Kind::Float => self.literal(LiteralKind::Float),
            Kind::Imaginary => self.literal(LiteralKind::Complex),
            Kind::Rune => self.literal(LiteralKind::Rune),
            Kind::True | Kind::False => self.literal(LiteralKind::Bool),
            Kind::Nil => self.literal(LiteralKind::None),
            Kind::ParenthesizedExpression => self.only_expr(role),
            Kind::VariadicArgument => {
                let value = self.only_expr(Role::Read);
                self.b.node(Node::Spread { value }, at)
            }
            Kind::UnaryExpression => self.unary(role),
            Kind::BinaryExpression => self.binary(),
            Kind::IndexExpression => self.index(),
            Kind::SliceExpression => self.slice_of(),
            Kind::TypeAssertionExpression => {
                let (mut value, mut ty) = (ExprId::NONE, ExprId::NONE);
                self.each(|v, field, _| match field {
                    Field::Operand => value = v.expr(Role::Read),
                    Field::Type => ty = v.type_expr(Role::Type),
                    _ => {}
                });
                self.b.node(Node::Assert { value, ty }, at)
            }
            Kind::TypeConversionExpression => self.conversion(),
            Kind::TypeInstantiationExpression => self.type_expr(role),
            Kind::CompositeLiteral => {
                let (mut ty, mut out) = (ExprId::NONE, ExprId::NONE);
                self.each(|v, field, _| match field {
                    Field::Type => ty = v.type_expr(Role::Type),
                    Field::Body => out = v.literal_value(ty),
                    _ => {}
                });
                out
            }
            Kind::LiteralValue => self.literal_value(ExprId::NONE),
            Kind::FuncLiteral => self.func_literal(),
            kind if is_type(kind) => self.type_expr(Role::Type),
            kind => {
                self.anything(kind);
                self.opaque()
            }
        }
    }

    fn only_expr(&mut self, role: Role) -> ExprId {
        let last = self.expr_list(role).pop().and_then(ExprId::some);
        last.unwrap_or_else(|| self.opaque())
    }

    fn index(&mut self) -> ExprId {
        let (at, mut base, mut index) = (self.start(), ExprId::NONE, ExprId::NONE);
        self.each(|v, field, _| match field {
            Field::Operand => base = v.expr(Role::Read),
            Field::Index => index = v.expr(Role::Read),
            _ => {}
        });
        let args = self.b.list(&[index]);
        self.b.node(Node::Index { base, args }, at)
    }

    /// `base[from:to]`.
    fn slice_of(&mut self) -> ExprId {
        let (at, mut base) = (self.start(), ExprId::NONE);
        self.each(|v, field, kind| {
            if is_expr(kind) {
                let e = v.expr(Role::Read);
                if field == Field::Operand {
                    base = e;
                }
            }
        });
        self.b.node(Node::Slice { base }, at)
    }

    fn selector(&mut self, role: Role) -> ExprId {
        let (mut base, mut name, mut at) = (ExprId::NONE, StrId::NONE, self.start());
        self.each(|v, field, _| match field {
            Field::Operand => base = v.expr(Role::Read),
            Field::Selected => (name, at) = (v.string(), v.start()),
            _ => {}
        });
        if name == StrId::NONE {
            return base;
        }
        self.b.expr(Node::Attr { base, name }, at, role)
    }

    fn call(&mut self) -> ExprId {
        let at = self.start();
        let (mut callee, mut args) = (ExprId::NONE, Vec::new());
        self.each(|v, field, _| match field {
            Field::Function => callee = v.expr(Role::Call),
            Field::TypeArguments => {
                let types = v.type_args();
                let args = v.b.list(&types);
                callee = v.b.node(Node::Index { base: callee, args }, at);
            }
            Field::Arguments => args = v.expr_list(Role::Read),
            _ => {}
        });
        let args = self.b.list(&args);
        self.b.node(Node::Call { callee, args }, at)
    }

    /// `T(x)` where T is more than a name. The grammar reads `*(*T)(x)` as a conversion to `**T`; in
    /// Go it is what the converted pointer points to.
    fn conversion(&mut self) -> ExprId {
        let at = self.start();
        let (mut callee, mut value, mut n_stars) = (ExprId::NONE, ExprId::NONE, 0);
        self.each(|v, field, _| match field {
            Field::Type => {
                callee = v.type_expr(Role::Call);
                let mut node = Some(v.cursor.node());
                while let Some(it) = node.filter(|n| v.syntax.kind(n.kind_id()) == Kind::PointerType) {
                    n_stars += 1;
                    node = it.named_child(0);
                }
            }
            Field::Operand => value = v.expr(Role::Read),
            _ => {}
        });
        for _ in 0..n_stars {
            if let Some(Node::Star { value }) = self.b.get(callee).map(|e| e.node) {
                callee = value;
            }
        }
        let args = self.b.list(&[value]);
        let call = self.b.node(Node::Call { callee, args }, at);
        (0..n_stars).fold(call, |value, _| self.b.node(Node::Star { value }, at))
    }

    fn unary(&mut self, role: Role) -> ExprId {
        let at = self.start();
        let operator = self.text.as_bytes().get(at as usize).copied().unwrap_or(b' ');
        // Assigning through a pointer writes the target of the pointer, not the pointer.
        let role = if role == Role::Write { Role::Read } else { role };
        let mut value = ExprId::NONE;
        self.each(|v, field, _| {
            if field == Field::Operand {
                value = v.expr(if operator == b'*' { role } else { Role::Read });
            }
        });
        match operator {
            b'*' => self.b.node(Node::Star { value }, at),
            b'&' => self.b.node(Node::Address { value }, at),
            b'<' => self.b.node(Node::Receive { value }, at),
            b'!' => self.literal(LiteralKind::Bool),
            _ => self.b.node(Node::Unary { value }, at),
        }
    }

    /// A chain of binary operators. It leans to the left and may be thousands long, so its spine is
    /// walked in a loop.
    fn binary(&mut self) -> ExprId {
        let at = self.start();
        let mut n_levels = 0;
        while self.kind() == Kind::BinaryExpression && self.cursor.goto_first_child() {
            n_levels += 1;
        }
        let mut left = self.expr(Role::Read);
        for _ in 0..n_levels {
            let (mut operator, mut right) = ("", ExprId::NONE);
            while self.cursor.goto_next_sibling() {
                match self.syntax.field(self.cursor.field_id()) {
                    Field::Operator => operator = self.slice(),
                    Field::Right => right = self.expr(Role::Read),
                    _ => {}
                }
            }
            left = match operator {
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => self.literal(LiteralKind::Bool),
                "<<" | ">>" => left,
                _ => self.b.node(Node::Binary { left, right }, at),
            };
            self.cursor.goto_parent();
        }
        left
    }

    /// The braces of a composite literal; `ty` is `NONE` when elided.
    fn literal_value(&mut self, ty: ExprId) -> ExprId {
        let at = self.start();
        let mut elems = Vec::new();
        self.each(|v, _, kind| match kind {
            Kind::LiteralElement => elems.push(v.literal_element(Role::Read)),
            Kind::KeyedElement => {
                let at = v.start();
                let (mut key, mut value) = (ExprId::NONE, ExprId::NONE);
                v.each(|v, field, _| match field {
                    Field::Key => key = v.literal_element(Role::Key),
                    Field::Value => value = v.literal_element(Role::Read),
                    _ => {}
                });
                elems.push(v.b.node(Node::KeyValue { key, value }, at));
            }
            Kind::Comment | Kind::Other => {}
            kind => v.anything(kind),
        });
        let elems = self.b.list(&elems);
        self.b.node(Node::Composite { ty, elems }, at)
    }

    /// An element or key. Only an identifier can be the key of a field; whether it is one depends
    /// on the type of the literal, which linking knows.
    fn literal_element(&mut self, role: Role) -> ExprId {
        let mut out = ExprId::NONE;
        self.each(|v, _, kind| match kind {
            Kind::Identifier => out = v.name(role),
            // A field may have the name of something predeclared.
            Kind::Iota | Kind::Nil | Kind::True | Kind::False if role == Role::Key => out = v.name(role),
            Kind::Comment => {}
            kind if is_expr(kind) || is_type(kind) || kind == Kind::LiteralValue => out = v.expr(Role::Read),
            _ => {}
        });
        if out == ExprId::NONE { self.opaque() } else { out }
    }

    fn func_literal(&mut self) -> ExprId {
        let at = self.start();
        let (mut params, mut results) = (Vec::new(), Vec::new());
        self.scopes.push();
        self.each(|v, field, kind| match field {
            Field::Parameters => params = v.params(),
            Field::Result => results = v.results(kind),
            Field::Body => {
                v.declare_signature(None, None, &params, &results);
                v.n_bodies += 1;
                v.block_here();
                v.n_bodies -= 1;
            }
            _ => {}
        });
        self.scopes.pop();
        let ty = self.func_type(at, &params, &results);
        self.b.node(Node::FuncLiteral { ty }, at)
    }
}

/// Returns true if nodes of this kind are expressions.
pub(super) fn is_expr(kind: Kind) -> bool {
    (Kind::Identifier..=Kind::FuncLiteral).contains(&kind)
}
