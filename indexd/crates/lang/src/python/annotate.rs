//! Annotations: expressions whose names are types, and whose strings are expressions.

use super::kinds::{F, Kind, kind};
use super::visit::Visitor;
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::limits::PARSE_CALLBACKS_MAX;
use indexd_model::{BindingKind, ExprId, Node as Shape, Role, Source};
use smallvec::SmallVec;
use tree_sitter::Node;

impl<'s> Visitor<'s, '_> {
    /// Reads an annotation.
    pub(super) fn annotation(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        self.nested(|v| v.annotation_here(node)).unwrap_or_else(|| self.opaque(at))
    }

    fn annotation_here(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        match kind(node) {
            Kind::Type | Kind::Parenthesized => match self.kids(node).first() {
                Some(c) => self.annotation(*c),
                None => self.opaque(at),
            },
            Kind::Identifier | Kind::Attribute => self.expr(node, Role::Type),
            Kind::Subscript | Kind::GenericType => self.parametrised(node),
            Kind::Binary => match (self.field(node, F.left), self.field(node, F.right)) {
                (Some(l), Some(r)) => {
                    let left = self.annotation(l);
                    let right = self.annotation(r);
                    self.b.node(Shape::Union { left, right }, at)
                }
                _ => self.expr(node, Role::Read),
            },
            Kind::UnionType => {
                let parts: SmallVec<[ExprId; 4]> =
                    self.kids(node).iter().map(|c| self.annotation(*c)).collect();
                parts
                    .into_iter()
                    .reduce(|left, right| self.b.node(Shape::Union { left, right }, at))
                    .unwrap_or_else(|| self.opaque(at))
            }
            Kind::MemberType => {
                let kids = self.kids(node);
                let [base, name] = kids[..] else { return self.opaque(at) };
                let base = self.annotation(base);
                let id = self.b.str(self.slice(name));
                self.b.expr(Shape::Attr { base, name: id }, self.start(name), Role::Type)
            }
            Kind::List | Kind::Tuple | Kind::ExpressionList => {
                let elems: SmallVec<[ExprId; 4]> =
                    self.kids(node).iter().map(|c| self.annotation(*c)).collect();
                let elems = self.b.list(&elems);
                let kind = if kind(node) == Kind::List { SequenceKind::List } else { SequenceKind::Tuple };
                self.b.node(Shape::Sequence { kind, elems }, at)
            }
            Kind::String => match self.plain_string(node) {
                Some((text, at)) => self.quoted(text, at),
                None => self.expr(node, Role::None),
            },
            _ => self.expr(node, Role::Read),
        }
    }

    /// `base[args]`: what `Literal` and all but the first of `Annotated` hold are values, not types.
    fn parametrised(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let kids = self.kids(node);
        let Some((value, args)) = kids.split_first() else { return self.opaque(at) };
        let head = self.slice(*value).rsplit('.').next().unwrap_or("");
        let base = self.annotation(*value);
        let mut flat: SmallVec<[Node; 4]> = SmallVec::new();
        for a in args {
            if kind(*a) == Kind::TypeParameter {
                flat.extend(self.kids(*a));
            } else {
                flat.push(*a);
            }
        }
        let args: SmallVec<[ExprId; 4]> = flat
            .iter()
            .enumerate()
            .map(|(i, a)| match head {
                "Literal" => self.expr(*a, Role::Read),
                "Annotated" if i > 0 => self.expr(*a, Role::Read),
                _ => self.annotation(*a),
            })
            .collect();
        let args = self.b.list(&args);
        self.b.node(Shape::Index { base, args }, at)
    }

    /// The content of a string without prefix and escapes, and where it starts.
    pub(super) fn plain_string(&self, node: Node) -> Option<(&'s str, u32)> {
        if kind(node) != Kind::String {
            return None;
        }
        let start = self.start(node);
        let text = self.slice(node);
        let quotes =
            if text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''")) { 3 } else { 1 };
        let body = text.get(quotes..text.len().checked_sub(quotes)?)?;
        let plain = matches!(text.as_bytes().first(), Some(b'"' | b'\'')) && !body.contains('\\');
        plain.then_some((body, start + quotes as u32))
    }

    /// Parses a string annotation in place: its names keep their places in the file.
    fn quoted(&mut self, text: &'s str, at: u32) -> ExprId {
        let trimmed = text.trim();
        let lead = (text.len() - text.trim_start().len()) as u32;
        let is_name = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let value = if is_name(trimmed) && !trimmed.as_bytes()[0].is_ascii_digit() {
            if trimmed == "None" {
                self.literal(LiteralKind::None, at)
            } else {
                self.name(trimmed, at + lead, Role::Type)
            }
        } else {
            // Surrounding newlines would be an indentation error.
            let tree = self.parses.parse(trimmed, PARSE_CALLBACKS_MAX);
            let Some(tree) = tree.filter(|t| !t.root_node().has_error()) else {
                return self.opaque(at);
            };
            let outer = std::mem::replace(&mut self.offset, at + lead);
            let statement = self.kids(tree.root_node()).first().copied();
            let inner = statement
                .filter(|s| kind(*s) == Kind::ExpressionStatement)
                .and_then(|s| self.kids(s).first().copied());
            let value = match inner {
                Some(e) => self.annotation(e),
                None => self.opaque(at),
            };
            self.offset = outer;
            value
        };
        self.b.node(Shape::Quoted { value }, at)
    }

    /// Returns the bound of a type parameter. Its default has become, or joined, the bound in the text that
    /// was parsed; it is a use of its names and does not affect the values.
    fn bound<'t>(&mut self, name: Node<'t>, bound: Node<'t>) -> Option<Node<'t>> {
        let is_default = |v: &Self, from: Node, to: Node| {
            let between = v.text.get(v.span(from).end as usize..v.start(to) as usize);
            between.is_some_and(|b| b.contains('='))
        };
        if is_default(self, name, bound) {
            self.annotation(bound);
            return None;
        }
        let mut union = bound;
        while kind(union) == Kind::Type {
            union = self.kids(union).first().copied()?;
        }
        let sides = self.kids(union);
        if let ([left, right], Kind::Binary) = (&sides[..], kind(union))
            && is_default(self, *left, *right)
        {
            self.annotation(*right);
            return Some(*left);
        }
        Some(bound)
    }

    /// Opens the type parameters of `def f[T: Bound]` in the current scope; the caller rolls back.
    pub(super) fn type_params(&mut self, node: Node) -> Vec<indexd_model::BindingId> {
        let mut out = Vec::new();
        for c in self.kids(node) {
            let (name, bound) = match self.kids(c).first().copied() {
                Some(inner) if kind(inner) == Kind::ConstrainedType => {
                    let kids = self.kids(inner);
                    (kids.first().copied(), kids.get(1).and_then(|bound| self.bound(kids[0], *bound)))
                }
                Some(inner) => (Some(inner), None),
                None => (None, None),
            };
            let mut name = name;
            while let Some(n) = name.filter(|n| kind(*n) != Kind::Identifier) {
                name = self.kids(n).first().copied();
            }
            let Some(name) = name else { continue };
            let text = self.slice(name);
            let bound = bound.map(|b| self.annotation(b));
            let b = self.local(text, self.start(name), BindingKind::TypeParam, bound.map(Source::Declared));
            self.scope().set(text, b);
            out.push(b);
        }
        out
    }
}
