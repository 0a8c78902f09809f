//! Statements, and what conditions say of the values they test.

use super::kinds::K;
use super::visit::Visitor;
use indexd_model::{ExprId, Node as Shape, Role};

/// Facts about one value that hold at once.
const NARROWED_MAX: usize = 6;
/// Nesting of conditions that is followed.
const DEPTH_MAX: u32 = 24;

/// A known fact about a value where it is used: the value as written, and the fact in the form of a type.
pub(super) struct Narrowed<'s> {
    text: &'s str,
    fact: ExprId,
}

impl<'s> Visitor<'_, 's> {
    /// The value with what conditions around say of it.
    pub(super) fn narrow(&mut self, node: usize, mut value: ExprId) -> ExprId {
        if self.narrowed.is_empty() {
            return value;
        }
        let text = self.slice(node);
        // The innermost say most.
        let known = self.narrowed.iter().rev().filter(|n| n.text == text).map(|n| n.fact);
        let facts: Vec<ExprId> = known.take(NARROWED_MAX).collect();
        let at = self.start(node);
        for ty in facts.into_iter().rev() {
            value = self.node(Shape::Assert { value, ty }, at);
        }
        value
    }

    fn know(&mut self, node: usize, fact: ExprId, is_so: bool) {
        let mut node = node;
        while matches!(self.k(node), K::Parens | K::NonNull) {
            let Some(inner) = self.children(node).next() else { return };
            node = inner;
        }
        let text = self.slice(node);
        if !matches!(self.k(node), K::Name | K::Member | K::This | K::Subscript) || text.len() > 120 {
            return;
        }
        let at = self.start(node);
        let fact = if is_so { fact } else { self.node(Shape::Unary { value: fact }, at) };
        self.narrowed.push(Narrowed { text, fact });
    }

    /// Records the facts that hold where a condition is true, or false. The condition was visited before; its
    /// names are recorded again without a role.
    pub(super) fn assume(&mut self, node: usize, is_so: bool) {
        self.assume_in(node, is_so, 0);
    }

    fn assume_in(&mut self, node: usize, is_so: bool, depth: u32) {
        if depth > DEPTH_MAX {
            return;
        }
        match self.k(node) {
            K::Parens => {
                for child in self.children(node) {
                    self.assume_in(child, is_so, depth + 1);
                }
            }
            K::Unary if self.has_token(node, "!") => {
                for child in self.children(node) {
                    self.assume_in(child, !is_so, depth + 1);
                }
            }
            K::Binary => self.assume_binary(node, is_so, depth),
            K::Call => self.assume_call(node, is_so),
            _ => {}
        }
    }

    fn assume_binary(&mut self, node: usize, is_so: bool, depth: u32) {
        let operator = self.field(node, self.f.operator).map_or("", |o| self.slice(o));
        let (Some(left), Some(right)) = (self.field(node, self.f.left), self.field(node, self.f.right))
        else {
            return;
        };
        let at = self.start(node);
        match (operator, is_so) {
            ("&&", true) | ("||", false) => {
                self.assume_in(left, is_so, depth + 1);
                self.assume_in(right, is_so, depth + 1);
            }
            ("||", true) | ("&&", false) => {
                let n = self.narrowed.len();
                self.assume_in(left, is_so, depth + 1);
                let middle = self.narrowed.len();
                self.assume_in(right, is_so, depth + 1);
                self.either(n, middle, at);
            }
            ("instanceof", _) => {
                let class = self.silent(right);
                let fact = self.word("instanceof", class, at);
                self.know(left, fact, is_so);
            }
            ("in", _) if self.k(left) == K::String => {
                let text = self.slice(left).trim_matches(['"', '\'']);
                let name = self.quoted(text, at);
                let fact = self.word("in", name, at);
                self.know(right, fact, is_so);
            }
            ("===" | "==", _) => self.assume_equal(left, right, is_so),
            ("!==" | "!=", _) => self.assume_equal(left, right, !is_so),
            _ => {}
        }
    }

    /// Keeps the facts that either of two sides states about the same value.
    fn either(&mut self, n: usize, middle: usize, at: u32) {
        let right = self.narrowed.split_off(middle);
        let left = self.narrowed.split_off(n);
        for l in left {
            if let Some(r) = right.iter().find(|r| r.text == l.text) {
                let fact = self.node(Shape::Union { left: l.fact, right: r.fact }, at);
                self.narrowed.push(Narrowed { text: l.text, fact });
            }
        }
    }

    /// `x.kind === A` and `typeof x === 'string'`.
    fn assume_equal(&mut self, left: usize, right: usize, is_so: bool) {
        let at = self.start(left);
        if self.k(left) == K::Unary && self.has_token(left, "typeof") {
            let Some(of) = self.children(left).next().filter(|_| self.k(right) == K::String) else { return };
            let text = self.slice(right).trim_matches(['"', '\'']);
            let name = self.quoted(text, at);
            let fact = self.word("type", name, at);
            return self.know(of, fact, is_so);
        }
        let (Some(object), Some(property)) =
            (self.field(left, self.f.object), self.field(left, self.f.property))
        else {
            return;
        };
        if self.k(left) != K::Member || !matches!(self.k(right), K::String | K::Member | K::Bool | K::Number)
        {
            return;
        }
        let fact = self.discriminant(property, right);
        self.know(object, fact, is_so);
    }

    /// A literal with one member of a known value.
    fn discriminant(&mut self, property: usize, value: usize) -> ExprId {
        let (name, at) = (self.id(property), self.start(property));
        let value = self.silent(value);
        let elem = self.node(Shape::Keyword { name, value }, at);
        let elems = self.b.list(&[elem]);
        let literal = self.node(Shape::Composite { ty: ExprId::NONE, elems }, at);
        self.word("has", literal, at)
    }

    /// `isFoo(x)`, where the function may say what `x` is.
    fn assume_call(&mut self, node: usize, is_so: bool) {
        let Some(arguments) = self.field(node, self.f.arguments) else { return };
        let Some(function) = self.field(node, self.f.function) else { return };
        let parts: Vec<usize> = self.children(arguments).take(3).collect();
        let at = self.start(node);
        for (i, part) in parts.iter().enumerate() {
            self.know_by_call(*part, function, i as u16, at, is_so);
        }
        if let Some(object) = self.field(function, self.f.object).filter(|_| self.k(function) == K::Member) {
            self.know_by_call(object, function, u16::MAX, at, is_so);
        }
    }

    /// Records the fact that a function states about its argument at `index`, or about the value that it runs
    /// on.
    fn know_by_call(&mut self, of: usize, function: usize, index: u16, at: u32, is_so: bool) {
        if matches!(self.k(of), K::Name | K::Member | K::This) {
            let callee = self.silent(function);
            let base = self.word("guard", callee, at);
            let fact = self.node(Shape::Item { base, index }, at);
            self.know(of, fact, is_so);
        }
    }

    /// Returns the value of a name, a chain of members or a literal that was visited already: nothing in it
    /// is a use. Opaque for anything else, since each visit of a function would visit its content again.
    pub(super) fn silent(&mut self, node: usize) -> ExprId {
        let mut root = node;
        while self.k(root) == K::Member
            && let Some(object) = self.field(root, self.f.object)
        {
            root = object;
        }
        if !matches!(self.k(root), K::Name | K::This | K::String | K::Bool | K::Number) {
            return self.opaque;
        }
        let first = self.b.n_exprs();
        let value = self.expr(node, Role::Read);
        for e in first..self.b.n_exprs() {
            self.b.set_role(ExprId(e), Role::None);
        }
        value
    }

    // ---- statements

    /// The statements of a block. What a condition leaves, when its branch ends the block, holds behind it.
    pub(super) fn block(&mut self, node: usize) -> ExprId {
        let n = self.narrowed.len();
        for child in self.children(node) {
            self.expr(child, Role::Read);
            if self.k(child) == K::If
                && self.field(child, self.f.alternative).is_none()
                && self.field(child, self.f.consequence).is_some_and(|c| self.leaves(c))
                && let Some(condition) = self.field(child, self.f.condition)
            {
                self.assume(condition, false);
            }
        }
        self.narrowed.truncate(n);
        self.opaque
    }

    /// Returns true if a statement ends the block around it.
    fn leaves(&self, mut node: usize) -> bool {
        while self.k(node) == K::Block
            && let Some(last) = self.children(node).last()
        {
            node = last;
        }
        let ends = ["return_statement", "throw_statement", "continue_statement", "break_statement"];
        ends.contains(&self.tree.node(node).kind())
    }

    pub(super) fn if_statement(&mut self, node: usize) -> ExprId {
        let condition = self.field(node, self.f.condition);
        condition.map(|c| self.expr(c, Role::Read));
        let n = self.narrowed.len();
        for (branch, is_so) in [(self.f.consequence, true), (self.f.alternative, false)] {
            condition.into_iter().for_each(|c| self.assume(c, is_so));
            self.expr_in(node, branch, Role::Read);
            self.narrowed.truncate(n);
        }
        self.opaque
    }

    pub(super) fn while_statement(&mut self, node: usize) -> ExprId {
        let condition = self.field(node, self.f.condition);
        condition.map(|c| self.expr(c, Role::Read));
        let n = self.narrowed.len();
        condition.into_iter().for_each(|c| self.assume(c, true));
        self.expr_in(node, self.f.body, Role::Read);
        self.narrowed.truncate(n);
        self.opaque
    }

    pub(super) fn switch(&mut self, node: usize) -> ExprId {
        let value = self.field(node, self.f.value);
        value.map(|v| self.expr(v, Role::Read));
        let Some(body) = self.field(node, self.f.body) else { return self.opaque };
        let value = value.and_then(|v| self.children(v).next());
        self.scoped(body, |it| {
            let mut tests = Vec::new();
            for case in it.children(body) {
                let test = it.field(case, it.f.value);
                test.map(|t| it.expr(t, Role::Read));
                tests.extend(test);
                let statements: Vec<usize> = it.children(case).filter(|c| Some(*c) != test).collect();
                // An empty case falls through to the next: either may be meant.
                if statements.is_empty() {
                    continue;
                }
                let n = it.narrowed.len();
                if let Some(value) = value.filter(|_| test.is_some()) {
                    it.assume_one_of(value, &tests);
                }
                tests.clear();
                statements.into_iter().for_each(|s| _ = it.expr(s, Role::Read));
                it.narrowed.truncate(n);
            }
        });
        self.opaque
    }

    fn assume_one_of(&mut self, value: usize, tests: &[usize]) {
        let n = self.narrowed.len();
        for (i, test) in tests.iter().enumerate() {
            let middle = self.narrowed.len();
            self.assume_equal(value, *test, true);
            if i > 0 {
                let at = self.start(*test);
                self.either(n, middle, at);
            }
        }
    }

    pub(super) fn return_statement(&mut self, node: usize) -> ExprId {
        let value = self.children(node).map(|c| self.expr(c, Role::Read)).last();
        if let (Some(value), Some(function)) = (value, self.functions.last_mut())
            && !function.is_generator
        {
            function.returns.push(value);
        }
        self.opaque
    }
}
