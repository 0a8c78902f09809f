//! Values and types: what each expression is made of.

use super::Visitor;
use super::forms::Form;
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::{ExprId, List, Node as Shape, Role};

/// Operators whose result is a truth value.
const COMPARISONS: [&str; 9] = ["==", "!=", "<", ">", "<=", ">=", "&&", "||", "!"];

impl<'s> Visitor<'_, 's> {
    pub(super) fn value(&mut self, node: usize, form: Form, role: Role) -> ExprId {
        let at = self.start(node);
        match form {
            Form::Inner => self.first_of(node, role),
            Form::Literal(kind) => {
                self.inside(node);
                self.literal(kind, at)
            }
            Form::Member => self.member(node, role),
            Form::Call => self.call(node),
            Form::Method => self.method(node),
            Form::New => self.new_value(node),
            Form::Index => self.subscript(node),
            Form::Cast => {
                let ty = self.part(node, 1).map_or(self.opaque, |t| self.ty(t));
                let value = self.expr_part(node, 0, Role::Read);
                self.node(Shape::Assert { value, ty }, at)
            }
            Form::InstanceOf => self.instance_of(node),
            Form::Unary | Form::Binary => self.operation(node, form),
            Form::Update => {
                let operand = self.children(node).map(|c| self.expr(c, Role::Write)).last();
                let value = operand.unwrap_or(self.opaque);
                self.node(Shape::Unary { value }, at)
            }
            Form::Ternary => {
                self.expr_part(node, 0, Role::Read);
                let then = self.expr_part(node, 1, Role::Read);
                let otherwise = self.expr_part(node, 2, Role::Read);
                self.node(Shape::Conditional { then, otherwise }, at)
            }
            Form::Assign => {
                let key = self.expr_part(node, 0, Role::Write);
                let value = self.expr_part(node, 1, Role::Read);
                self.node(Shape::KeyValue { key, value }, at)
            }
            Form::Lambda => self.scoped(|it| it.lambda(node)),
            Form::Sequence => {
                let elems = self.exprs(Some(node));
                self.node(Shape::Sequence { kind: SequenceKind::List, elems }, at)
            }
            Form::Generic => {
                let base = self.expr_part(node, 0, role);
                self.applied(node, 1, base)
            }
            Form::Array => {
                let elem = self.expr_part(node, 0, role);
                self.node(Shape::ArrayType { elem }, at)
            }
            Form::Path => self.path(node, role),
            Form::Decorator => self.decorator(node),
            Form::Pair => self.pair(node),
            _ => {
                self.inside(node);
                self.opaque
            }
        }
    }

    /// The value of the first child that has one; the others are visited.
    pub(in crate::grammars) fn first_of(&mut self, node: usize, role: Role) -> ExprId {
        let mut out = None;
        for child in self.children(node) {
            let value = self.expr(child, if out.is_none() { role } else { Role::Read });
            out = out.or(Some(value).filter(|v| *v != self.opaque));
        }
        out.unwrap_or(self.opaque)
    }

    /// The expressions of the children of a node that may be missing.
    pub(in crate::grammars) fn exprs(&mut self, node: Option<usize>) -> List {
        let all: Vec<ExprId> = self.children_of(node).map(|c| self.expr(c, Role::Read)).collect();
        self.b.list(&all)
    }

    fn member(&mut self, node: usize, role: Role) -> ExprId {
        let base = self.expr_part(node, 0, Role::Read);
        let Some(name) = self.part(node, 1) else { return base };
        match self.form(name) {
            Form::This => {
                let at = self.start(name);
                self.word("this", base, at)
            }
            _ if self.tree.is_leaf(name) => self.attr(base, name, role),
            _ => {
                self.expr(name, Role::Read);
                self.opaque
            }
        }
    }

    /// Type arguments in a part of a node, behind what they are given to.
    pub(in crate::grammars) fn applied(&mut self, node: usize, n: usize, base: ExprId) -> ExprId {
        let Some(list) = self.part(node, n) else { return base };
        let types: Vec<ExprId> = self.children(list).map(|t| self.ty(t)).collect();
        let args = self.b.list(&types);
        let at = self.start(list);
        self.node(Shape::Apply { base, args }, at)
    }

    fn subscript(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let base = self.expr_part(node, 0, Role::Read);
        let index = self.expr_part(node, 1, Role::Read);
        let args = self.b.list(&[index]);
        self.node(Shape::Index { base, args }, at)
    }

    fn call(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let callee = self.expr_part(node, 0, Role::Call);
        let callee = self.applied(node, 2, callee);
        let args = self.part(node, 1);
        let args = self.exprs(args);
        self.node(Shape::Call { callee, args }, at)
    }

    fn method(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let value = self.part(node, 0);
        let base = value.map(|o| self.expr(o, Role::Read));
        // `Outer.super.m()`.
        let is_super = |it: &Self, c: usize| matches!(it.form(c), Form::Super) && Some(c) != value;
        let base = match (base, self.children(node).find(|c| is_super(self, *c))) {
            (Some(base), Some(word)) => {
                let at = self.start(word);
                Some(self.word("super", base, at))
            }
            (base, _) => base,
        };
        let Some(name) = self.part(node, 1) else { return self.opaque };
        let callee = match base {
            Some(base) => self.attr(base, name, Role::Call),
            None => self.free(self.slice(name), self.start(name), Role::Call),
        };
        let callee = self.applied(node, 3, callee);
        let args = self.part(node, 2);
        let args = self.exprs(args);
        self.node(Shape::Call { callee, args }, at)
    }

    fn new_value(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let (class, list, body) = (self.part(node, 0), self.part(node, 1), self.part(node, 2));
        let mut outer = None;
        for child in self.children(node).filter(|c| ![class, list, body].contains(&Some(*c))) {
            outer = Some(self.expr(child, Role::Read)).filter(|v| *v != self.opaque).or(outer);
        }
        let class = match (outer, class) {
            // `outer.new Inner()`.
            (Some(outer), Some(class)) if self.tree.is_leaf(class) => {
                let of = self.word("typeof", outer, at);
                self.attr(of, class, Role::Call)
            }
            (_, class) => class.map_or(self.opaque, |c| self.expr(c, Role::Call)),
        };
        let callee = self.word("new", class, at);
        let args = self.exprs(list);
        if let Some(body) = body {
            let def = self.def_at(body);
            if let Some(def) = def {
                self.b.defs[def.index()].bases = vec![class];
            }
            self.body_of(body, def);
        }
        self.node(Shape::Call { callee, args }, at)
    }

    fn instance_of(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        self.expr_part(node, 0, Role::Read);
        let ty = self.part(node, 1).map(|t| self.ty(t));
        if let (Some(ty), Some(name)) = (ty, self.part(node, 2)) {
            let binding = self.bind(name, indexd_model::BindingKind::Local);
            self.b.source(binding, indexd_model::Source::Declared(ty));
        }
        self.expr_part(node, 3, Role::Read);
        self.literal(LiteralKind::Bool, at)
    }

    fn operation(&mut self, node: usize, form: Form) -> ExprId {
        let at = self.start(node);
        let (first, second, operator) = match form {
            Form::Unary => (self.part(node, 1), None, self.part(node, 0)),
            _ => (self.part(node, 0), self.part(node, 1), self.part(node, 2)),
        };
        let left = first.map_or(self.opaque, |f| self.expr(f, Role::Read));
        let right = second.map(|s| self.expr(s, Role::Read));
        if operator.is_some_and(|o| COMPARISONS.contains(&self.slice(o))) {
            return self.literal(LiteralKind::Bool, at);
        }
        match right {
            Some(right) => self.node(Shape::Binary { left, right }, at),
            None => self.node(Shape::Unary { value: left }, at),
        }
    }

    fn lambda(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let params = self.part(node, 0).map_or(Vec::new(), |p| self.params(p));
        let params = self.values_of(&params);
        let params = self.b.list(&params);
        self.returns.push(Vec::new());
        let value = self.expr_part(node, 1, Role::Read);
        let mut returns = self.returns.pop().unwrap_or_default();
        if value != self.opaque {
            returns.push(value);
        }
        let result = self.any(returns, at).unwrap_or_else(|| self.literal(LiteralKind::None, at));
        self.node(Shape::Lambda { params, result }, at)
    }

    pub(super) fn return_statement(&mut self, node: usize) -> ExprId {
        let Some(child) = self.children(node).next() else { return self.opaque };
        let value = match (self.returns.is_empty(), self.result) {
            (true, Some(ty)) => self.expecting(child, ty),
            _ => self.expr(child, Role::Read),
        };
        if let Some(returns) = self.returns.last_mut() {
            returns.push(value);
        }
        self.opaque
    }

    /// A value where a type is expected; the type stands around it where it tells what the value is.
    pub(in crate::grammars) fn expecting(&mut self, node: usize, ty: ExprId) -> ExprId {
        let value = self.expr(node, Role::Read);
        let tells = match self.b.get(value).map(|e| e.node) {
            Some(Shape::Lambda { .. } | Shape::Conditional { .. } | Shape::Sequence { .. }) => true,
            Some(Shape::Word { word, .. }) => self.b.text(word) == "::",
            _ => false,
        };
        if !tells {
            return value;
        }
        let at = self.start(node);
        self.node(Shape::Assert { value, ty }, at)
    }

    /// `a.b.C<D>`: the first child is a value or a type, each name behind it a member.
    fn path(&mut self, node: usize, role: Role) -> ExprId {
        let parts: Vec<usize> = self.children(node).collect();
        let is_link = |it: &Self, n: usize| matches!(it.form(n), Form::Name | Form::TypeName);
        let last = parts.iter().rposition(|n| is_link(self, *n)).unwrap_or(0);
        let mut base = None;
        for (i, part) in parts.into_iter().enumerate() {
            let is_type = matches!(self.form(part), Form::TypeName);
            let own = match role {
                _ if i != last && is_type => Role::Type,
                _ if i != last => Role::Read,
                Role::Read if is_type => Role::Type,
                role => role,
            };
            base = match base {
                None => Some(self.expr(part, own)),
                Some(of) if is_link(self, part) => Some(self.attr(of, part, own)),
                Some(of) => {
                    self.expr(part, Role::Read);
                    Some(of)
                }
            };
        }
        base.unwrap_or(self.opaque)
    }

    fn decorator(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let callee = self.expr_part(node, 0, Role::Decorator);
        let args = self.part(node, 1);
        let args = self.exprs(args);
        let e = self.node(Shape::Call { callee, args }, at);
        let name = self.part(node, 0).map_or("", |n| self.slice(n));
        if self.forms.table.decorators.contains(&name.rsplit('.').next().unwrap_or(name)) {
            self.decorators.push(e);
        }
        e
    }

    /// Runs `f`; returns its result and the kept decorators that it read.
    pub(super) fn decorated<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Vec<ExprId>) {
        let outer = std::mem::take(&mut self.decorators);
        let out = f(self);
        (out, std::mem::replace(&mut self.decorators, outer))
    }

    fn pair(&mut self, node: usize) -> ExprId {
        let value = self.expr_part(node, 1, Role::Read);
        let Some(key) = self.part(node, 0) else { return value };
        let (name, at) = (self.id(key), self.start(key));
        self.b.expr(Shape::Keyword { name, value }, at, Role::Key)
    }
}
