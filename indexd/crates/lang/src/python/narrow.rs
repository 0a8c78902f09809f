//! Type tests: what `isinstance`, `issubclass` and class patterns say about a name or a path.

use super::kinds::{F, Kind, kind};
use super::visit::{Known, Visitor};
use crate::tokens::is_part;
use indexd_model::{BindingKind, ExprId, Node as Shape, Role, Source};
use tree_sitter::Node;

impl<'s> Visitor<'s, '_> {
    /// Returns the facts that follow once a condition, already read, turned out `holds`.
    pub(super) fn known(&self, condition: Node, holds: bool) -> Known<'s> {
        let mut out = Known::new();
        if !self.guards.is_empty() {
            self.collect(condition, holds, &mut out, 0);
        }
        out
    }

    fn collect(&self, node: Node, holds: bool, out: &mut Known<'s>, depth: u32) {
        if depth > 20 {
            return;
        }
        match kind(node) {
            Kind::Call => {
                let at = self.start(node);
                // Guards are pushed in source order of the end of the call; the newest are at hand.
                if let Some(g) = self.guards.iter().rev().take(64).find(|g| g.at == at)
                    && is_path(g.path)
                {
                    out.push((g.path, g.ty, holds));
                }
            }
            Kind::Not => {
                if let Some(c) = self.field(node, F.argument) {
                    self.collect(c, !holds, out, depth + 1);
                }
            }
            Kind::Parenthesized => {
                if let Some(c) = self.kids(node).first() {
                    self.collect(*c, holds, out, depth + 1);
                }
            }
            // `a and b` holding means both hold; `a or b` failing means both fail.
            Kind::Boolean => {
                let and = self.field(node, F.operator).is_some_and(|o| self.slice(o) == "and");
                if and == holds {
                    for c in [self.field(node, F.left), self.field(node, F.right)].into_iter().flatten() {
                        self.collect(c, holds, out, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads a `case` pattern against `subject`; returns the type that the whole must have.
    pub(super) fn pattern(&mut self, node: Node, subject: ExprId) -> Option<ExprId> {
        self.nested(|v| v.pattern_here(node, subject)).flatten()
    }

    fn pattern_here(&mut self, node: Node, subject: ExprId) -> Option<ExprId> {
        match kind(node) {
            Kind::CasePattern => {
                let kids = self.kids(node);
                kids.first().and_then(|c| self.pattern(*c, subject))
            }
            Kind::DottedName => {
                let parts = self.kids(node);
                match parts[..] {
                    [one] => self.capture(one, Source::Assigned(subject)),
                    _ => {
                        self.dotted_expr(node, Role::Read);
                    }
                }
                None
            }
            Kind::ClassPattern => self.class_pattern(node, subject),
            Kind::AsPattern => {
                let kids = self.kids(node);
                let [inner, name] = kids[..] else { return None };
                let ty = self.pattern(inner, subject);
                self.capture(name, ty.map_or(Source::Assigned(subject), Source::Narrowed));
                ty
            }
            Kind::UnionPattern => {
                let tys: Vec<ExprId> =
                    self.kids(node).into_iter().filter_map(|c| self.pattern(c, subject)).collect();
                tys.into_iter().reduce(|left, right| self.b.node(Shape::Union { left, right }, 0))
            }
            Kind::TuplePattern | Kind::ListPattern => {
                for (i, c) in self.kids(node).into_iter().enumerate() {
                    let at = self.start(c);
                    let item = self
                        .b
                        .node(Shape::Item { base: subject, index: i.min(usize::from(u16::MAX)) as u16 }, at);
                    self.pattern(c, item);
                }
                None
            }
            Kind::SplatPattern | Kind::KeywordPattern | Kind::DictPattern => {
                self.unknown_patterns(node);
                None
            }
            Kind::Identifier => {
                self.capture(node, Source::Assigned(subject));
                None
            }
            _ => {
                self.each(node);
                None
            }
        }
    }

    /// `Class(inner, name=inner)`: the subject is of the class, and its attributes match the inner patterns.
    fn class_pattern(&mut self, node: Node, subject: ExprId) -> Option<ExprId> {
        let kids = self.kids(node);
        let (class, args) = kids.split_first()?;
        let ty = self.dotted_expr(*class, Role::Read);
        let whole = self.b.node(Shape::Assert { value: subject, ty }, self.start(*class));
        for a in args {
            let inner = self.kids(*a).first().copied().filter(|k| kind(*k) == Kind::KeywordPattern);
            if let Some(keyword) = inner {
                if let [name, value] = self.kids(keyword)[..] {
                    let id = self.b.str(self.slice(name));
                    let shape = Shape::Attr { base: whole, name: id };
                    let field = self.b.expr(shape, self.start(name), Role::Read);
                    self.pattern(value, field);
                }
            } else {
                let unknown = self.opaque(self.start(*a));
                self.pattern(*a, unknown);
            }
        }
        Some(ty)
    }

    /// Patterns against values of which nothing is known.
    fn unknown_patterns(&mut self, node: Node) {
        let unknown = self.opaque(self.start(node));
        for c in self.kids(node) {
            match kind(c) {
                Kind::Identifier if kind(node) == Kind::SplatPattern => {
                    self.capture(c, Source::Assigned(unknown));
                }
                Kind::Identifier => {}
                _ => {
                    self.pattern(c, unknown);
                }
            }
        }
    }

    fn capture(&mut self, name: Node, source: Source) {
        let text = self.slice(name);
        if text != "_" && !text.is_empty() {
            let b = self.local(text, self.start(name), BindingKind::Local, Some(source));
            self.scope().assign(text, b);
        }
    }

    /// A dotted name as the expression it spells.
    fn dotted_expr(&mut self, node: Node, role: Role) -> ExprId {
        let parts = self.kids(node);
        let Some((first, rest)) = parts.split_first() else { return self.opaque(self.start(node)) };
        let mut e = self.name(
            self.slice(*first),
            self.start(*first),
            if rest.is_empty() { role } else { Role::Read },
        );
        for (i, p) in rest.iter().enumerate() {
            let name = self.b.str(self.slice(*p));
            let role = if i + 1 == rest.len() { role } else { Role::Read };
            e = self.b.expr(Shape::Attr { base: e, name }, self.start(*p), role);
        }
        e
    }
}

/// Returns true if a subject is a name or a chain of attributes.
pub(super) fn is_path(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| is_part(b) || b == b'.')
}
