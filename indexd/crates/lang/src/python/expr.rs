//! Expressions: the tree becomes a smaller one that keeps what types and names depend on.
//!
//! Comparisons, `not` and literals are shared leaves; their operands stay behind as expressions of
//! their own, since every name in them is a use. An operator is written as the method behind it
//! (`a + b` is `a.__add__(b)`), except `or`, which gives either side, and `and`, which gives its
//! right side.

use super::kinds::{F, Kind, kind};
use super::scope::ScopeKind;
use super::visit::{Guard, Visitor};
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::{BindingKind, ExprId, Node as Shape, Role, Source};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Elements kept of a display: enough for unpacking and for the element type.
const ELEMENTS_MAX: usize = 16;

impl<'s> Visitor<'s, '_> {
    /// Reads an expression; `role` is what its place does with the identifier it ends in.
    pub(super) fn expr(&mut self, node: Node, role: Role) -> ExprId {
        let at = self.start(node);
        self.nested(|v| v.expr_here(node, role)).unwrap_or_else(|| self.opaque(at))
    }

    fn expr_here(&mut self, node: Node, role: Role) -> ExprId {
        let at = self.start(node);
        match kind(node) {
            Kind::Identifier => self.name(self.slice(node), at, role),
            Kind::Attribute => self.attribute(node, role),
            Kind::Call => self.call(node),
            Kind::Subscript => self.subscript(node, role),
            Kind::Parenthesized => self.first(node, role),
            Kind::String => {
                let text = self.slice(node);
                self.interpolations(node, text);
                let head = &text.as_bytes()[..text.len().min(2)];
                let bytes =
                    head.iter().take_while(|b| !matches!(b, b'"' | b'\'')).any(|b| matches!(b, b'b' | b'B'));
                self.literal(if bytes { LiteralKind::Bytes } else { LiteralKind::String }, at)
            }
            Kind::ConcatenatedString => {
                let mut out = self.opaque(at);
                for c in self.kids(node) {
                    out = self.expr(c, Role::None);
                }
                out
            }
            Kind::Integer => self.literal(LiteralKind::Int, at),
            Kind::Float => self.literal(LiteralKind::Float, at),
            Kind::True | Kind::False => self.literal(LiteralKind::Bool, at),
            Kind::None => self.literal(LiteralKind::None, at),
            Kind::Ellipsis => self.literal(LiteralKind::Ellipsis, at),
            Kind::Comparison => {
                self.each(node);
                self.literal(LiteralKind::Bool, at)
            }
            Kind::Not => {
                self.first(node, Role::Read);
                self.literal(LiteralKind::Bool, at)
            }
            Kind::Boolean => self.boolean(node),
            Kind::Binary => self.binary(node),
            Kind::Unary => {
                let value = self.expr_of(self.field(node, F.argument), at);
                self.b.node(Shape::Unary { value }, at)
            }
            Kind::Conditional => self.conditional_expression(node),
            Kind::Await => {
                let value = self.first(node, Role::Read);
                self.b.node(Shape::Await { value }, at)
            }
            Kind::Yield => self.yields(node),
            Kind::NamedExpression => self.named_expression(node),
            Kind::Lambda => self.lambda(node),
            Kind::List => self.display(node, SequenceKind::List),
            Kind::Tuple | Kind::ExpressionList | Kind::PatternList | Kind::TuplePattern => {
                self.display(node, SequenceKind::Tuple)
            }
            Kind::ListPattern => self.display(node, SequenceKind::List),
            Kind::Set => self.display(node, SequenceKind::Set),
            Kind::Dictionary => self.display(node, SequenceKind::Dict),
            Kind::Pair => self.pair(node),
            Kind::ListComprehension => self.comprehension(node, SequenceKind::List),
            Kind::SetComprehension => self.comprehension(node, SequenceKind::Set),
            Kind::DictComprehension => self.comprehension(node, SequenceKind::Dict),
            Kind::Generator => self.comprehension(node, SequenceKind::Generator),
            Kind::ListSplat | Kind::DictSplat | Kind::ListSplatPattern => {
                let value = self.first(node, Role::Read);
                self.b.node(Shape::Spread { value }, at)
            }
            Kind::KeywordArgument => {
                let name = self.field(node, F.name).map_or("", |n| self.slice(n));
                let value = self.expr_of(self.field(node, F.value), at);
                let name = self.b.str(name);
                self.b.node(Shape::Keyword { name, value }, at)
            }
            Kind::Type => self.first(node, role),
            Kind::Assignment => self.assignment(node),
            Kind::AugmentedAssignment => self.augmented(node),
            // A slice bound, an `as` pattern in an odd place, broken syntax: names in it are uses.
            _ => {
                self.each(node);
                self.opaque(at)
            }
        }
    }

    /// Reads an expression that may be missing.
    pub(super) fn expr_of(&mut self, node: Option<Node>, at: u32) -> ExprId {
        match node {
            Some(n) => self.expr(n, Role::Read),
            None => self.opaque(at),
        }
    }

    /// The first child, for nodes that only wrap it.
    pub(super) fn first(&mut self, node: Node, role: Role) -> ExprId {
        match self.kids(node).first() {
            Some(c) => self.expr(*c, role),
            None => self.opaque(self.start(node)),
        }
    }

    /// Reads the expressions inside an f-string; other strings have none.
    fn interpolations(&mut self, node: Node, text: &str) {
        let prefix = text.bytes().take(3).take_while(u8::is_ascii_alphabetic);
        if !prefix.into_iter().any(|b| matches!(b, b'f' | b'F' | b't' | b'T')) {
            return;
        }
        for c in self.kids(node) {
            if matches!(kind(c), Kind::Interpolation | Kind::FormatExpression) {
                for inner in self.kids(c) {
                    match kind(inner) {
                        Kind::FormatSpecifier => self.interpolations(inner, "f"),
                        _ => {
                            self.expr(inner, Role::Read);
                        }
                    }
                }
            }
        }
    }

    fn attribute(&mut self, node: Node, role: Role) -> ExprId {
        let at = self.start(node);
        let (Some(object), Some(attribute)) = (self.field(node, F.object), self.field(node, F.attribute))
        else {
            return self.opaque(at);
        };
        let base = self.expr(object, Role::Read);
        let name = self.b.str(self.slice(attribute));
        let e = self.b.expr(Shape::Attr { base, name }, self.start(attribute), role);
        let known = self.scopes.last().and_then(|s| s.path(self.slice(node)));
        known.map_or(e, |ty| self.b.node(Shape::Assert { value: e, ty }, at))
    }

    fn subscript(&mut self, node: Node, role: Role) -> ExprId {
        let at = self.start(node);
        let kids = self.kids(node);
        let Some((value, args)) = kids.split_first() else { return self.opaque(at) };
        // The role of `C[int]()` or of a generic base is that of `C`.
        let inner = if matches!(role, Role::Call | Role::Base) { role } else { Role::Read };
        let base = self.expr(*value, inner);
        match args {
            [one] if kind(*one) == Kind::Slice => {
                self.each(*one);
                self.b.node(Shape::Slice { base }, at)
            }
            [one] if kind(*one) == Kind::Integer => match self.slice(*one).parse() {
                Ok(index) => self.b.node(Shape::Item { base, index }, at),
                Err(_) => {
                    let arg = self.literal(LiteralKind::Int, at);
                    let args = self.b.list(&[arg]);
                    self.b.node(Shape::Index { base, args }, at)
                }
            },
            _ => {
                let args: SmallVec<[ExprId; 4]> = args.iter().map(|a| self.expr(*a, Role::Read)).collect();
                let args = self.b.list(&args);
                self.b.node(Shape::Index { base, args }, at)
            }
        }
    }

    fn call(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let Some(mut function) = self.field(node, F.function) else { return self.opaque(at) };
        // The grammar reads `[*f(x) for x in y]` as a call of `*f`.
        if kind(function) == Kind::ListSplat
            && let Some(called) = self.kids(function).first()
        {
            function = *called;
        }
        let callee = self.expr(function, Role::Call);
        let full = self.slice(function);
        let last = full.rsplit('.').next().unwrap_or("");
        let mut args: SmallVec<[ExprId; 6]> = SmallVec::new();
        let list = self.field(node, F.arguments);
        match list {
            Some(l) if kind(l) == Kind::ArgumentList => {
                let kids = self.kids(l);
                for (i, a) in kids.iter().enumerate() {
                    args.push(self.argument(last, i, *a));
                }
                match (last, &kids[..]) {
                    ("isinstance", [subject, _]) => {
                        self.guards.push(Guard { at, path: self.slice(*subject), ty: args[1] })
                    }
                    ("issubclass", [subject, _]) => {
                        let name = self.b.str("type");
                        let base =
                            self.b.node(Shape::Name { name, binding: indexd_model::BindingId::NONE }, at);
                        let of = self.b.list(&args[1..2]);
                        let ty = self.b.node(Shape::Index { base, args: of }, at);
                        self.guards.push(Guard { at, path: self.slice(*subject), ty });
                    }
                    ("extend", [list]) if full == "__all__.extend" && self.scopes.len() == 1 => {
                        self.read_exports(Some(*list), true);
                    }
                    ("append" | "remove", _) if full.starts_with("__all__.") => self.read_exports(None, true),
                    _ => {}
                }
            }
            Some(l) => args.push(self.expr(l, Role::Read)),
            None => {}
        }
        self.lambda_argument(last, callee, &args);
        let args = self.b.list(&args);
        self.b.node(Shape::Call { callee, args }, at)
    }

    /// `sorted(xs, key=lambda x: ...)`: the functions of the language that call a function with the
    /// elements of something tell what its parameter is.
    fn lambda_argument(&mut self, function: &str, callee: ExprId, args: &[ExprId]) {
        let of = match function {
            "sorted" | "min" | "max" | "groupby" => args.first().copied(),
            "map" | "filter" | "takewhile" | "dropwhile" | "filterfalse" => args.get(1).copied(),
            "sort" => match self.b.get(callee).map(|e| e.node) {
                Some(Shape::Attr { base, .. }) => Some(base),
                _ => None,
            },
            _ => None,
        };
        let Some(of) = of else { return };
        for &a in args {
            let value = match self.b.get(a).map(|e| e.node) {
                Some(Shape::Keyword { value, .. }) => value,
                _ => a,
            };
            if let Some(Shape::Lambda { params, .. }) = self.b.get(value).map(|e| e.node)
                && let Some(&first) = self.b.items(params).first()
                && let Some(Shape::Name { binding, .. }) = self.b.get(first).map(|e| e.node)
                && self.b.sources_of(binding).is_empty()
            {
                self.b.source(binding, Source::Element { of, index: 0 });
            }
        }
    }

    /// Reads an argument; some functions of `typing` take types, which may be strings.
    fn argument(&mut self, function: &str, index: usize, node: Node) -> ExprId {
        match (function, index, kind(node)) {
            ("cast" | "assert_type", _, _) if (function == "cast") == (index == 0) => self.annotation(node),
            ("TypeVar", 1.., Kind::String) | ("NewType", 1, _) => self.annotation(node),
            ("TypeVar", _, Kind::KeywordArgument) => {
                let at = self.start(node);
                let name = self.field(node, F.name).map_or("", |n| self.slice(n));
                let value = match self.field(node, F.value) {
                    Some(a) => self.annotation(a),
                    None => self.opaque(at),
                };
                let name = self.b.str(name);
                self.b.node(Shape::Keyword { name, value }, at)
            }
            _ => self.expr(node, Role::Read),
        }
    }

    fn boolean(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let (Some(l), Some(r)) = (self.field(node, F.left), self.field(node, F.right)) else {
            self.each(node);
            return self.opaque(at);
        };
        let and = self.field(node, F.operator).is_some_and(|o| self.slice(o) == "and");
        let left = self.expr(l, Role::Read);
        let mark = self.scope().mark();
        let n_paths = self.scope().paths.len();
        let known = self.known(l, and);
        self.learn(&known);
        let right = self.expr(r, Role::Read);
        if !known.is_empty() {
            self.unlearn(mark, n_paths);
        }
        if and { right } else { self.b.node(Shape::Binary { left, right }, at) }
    }

    fn binary(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let (Some(l), Some(r)) = (self.field(node, F.left), self.field(node, F.right)) else {
            self.each(node);
            return self.opaque(at);
        };
        let left = self.expr(l, Role::Read);
        let right = self.expr(r, Role::Read);
        let operator = self.field(node, F.operator).map_or("", |o| self.slice(o));
        let method = match operator {
            "+" => "__add__",
            "-" => "__sub__",
            "*" => "__mul__",
            "@" => "__matmul__",
            "/" => "__truediv__",
            "%" => "__mod__",
            "//" => "__floordiv__",
            "**" => "__pow__",
            "|" => "__or__",
            "&" => "__and__",
            "^" => "__xor__",
            "<<" => "__lshift__",
            ">>" => "__rshift__",
            _ => return self.opaque(at),
        };
        let is_literal = |e: ExprId| matches!(self.b.get(e).map(|x| x.node), Some(Shape::Literal { .. }));
        if is_literal(left) && is_literal(right) {
            return left;
        }
        let name = self.b.str(method);
        let callee = self.b.node(Shape::Attr { base: left, name }, at);
        let args = self.b.list(&[right]);
        self.b.node(Shape::Call { callee, args }, at)
    }

    fn conditional_expression(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let kids = self.kids(node);
        let [then, condition, otherwise] = kids[..] else {
            self.each(node);
            return self.opaque(at);
        };
        self.expr(condition, Role::Read);
        let mut side = |known: bool, branch: Node| {
            let (mark, n_paths) = (self.scope().mark(), self.scope().paths.len());
            let known = self.known(condition, known);
            self.learn(&known);
            let e = self.expr(branch, Role::Read);
            if !known.is_empty() {
                self.unlearn(mark, n_paths);
            }
            e
        };
        let then = side(true, then);
        let otherwise = side(false, otherwise);
        self.b.node(Shape::Conditional { then, otherwise }, at)
    }

    /// Forgets everything learnt since `mark`, but keeps names that `:=` has set since.
    fn unlearn(&mut self, mark: usize, n_paths: usize) {
        let scope = self.scope();
        let changes = scope.changes(mark);
        scope.rewind(mark);
        self.leave_paths(n_paths);
        for (name, binding) in changes {
            if self.walrus.contains(&(name, binding)) {
                self.scope().set(name, binding);
            }
        }
    }

    fn yields(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let kids = self.kids(node);
        let value = match kids.first() {
            Some(c) => self.expr(*c, Role::Read),
            None => self.literal(LiteralKind::None, at),
        };
        let from = node.child(1).is_some_and(|c| !c.is_named() && self.slice(c) == "from");
        let given = if from { self.element_of(value) } else { value };
        if let Some(s) = self.scopes.iter_mut().rev().find(|s| s.kind == ScopeKind::Function) {
            s.is_generator = true;
            s.yields.push(given);
        }
        self.b.node(Shape::Yield { value }, at)
    }

    fn lambda(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let mark = self.scope().mark();
        let mut params: SmallVec<[ExprId; 4]> = SmallVec::new();
        for p in self.field(node, F.parameters).map_or_else(Default::default, |p| self.kids(p)) {
            let (name, default) = match kind(p) {
                Kind::Identifier => (Some(p), None),
                Kind::DefaultParameter => {
                    let value = self.field(p, F.value).map(|d| self.expr(d, Role::Read));
                    (self.field(p, F.name), value)
                }
                _ => (self.kids(p).first().copied(), None),
            };
            let Some(name) = name.filter(|n| kind(*n) == Kind::Identifier) else { continue };
            let text = self.slice(name);
            // `property(lambda self: ...)` and other functions written into a class body.
            let receiver = params.is_empty() && text == "self" && self.scope_kind() == ScopeKind::Class;
            let kind = if receiver { BindingKind::Receiver } else { BindingKind::Local };
            let b = self.local(text, self.start(name), kind, default.map(Source::Assigned));
            self.scope().set(text, b);
            let id = self.b.str(text);
            params.push(self.b.node(Shape::Name { name: id, binding: b }, self.start(name)));
        }
        let result = self.expr_of(self.field(node, F.body), at);
        self.scope().rewind(mark);
        let params = self.b.list(&params);
        self.b.node(Shape::Lambda { params, result }, at)
    }

    fn display(&mut self, node: Node, kind: SequenceKind) -> ExprId {
        let at = self.start(node);
        let mut elems: SmallVec<[ExprId; ELEMENTS_MAX]> = SmallVec::new();
        for c in self.kids(node) {
            let e = self.expr(c, Role::Read);
            if elems.len() < ELEMENTS_MAX {
                elems.push(e);
            }
        }
        let elems = self.b.list(&elems);
        self.b.node(Shape::Sequence { kind, elems }, at)
    }

    fn pair(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let kids = self.kids(node);
        let [key, value] = kids[..] else {
            self.each(node);
            return self.opaque(at);
        };
        let key = self.expr(key, Role::Read);
        let value = self.expr(value, Role::Read);
        self.b.node(Shape::KeyValue { key, value }, at)
    }

    fn comprehension(&mut self, node: Node, kind_of: SequenceKind) -> ExprId {
        let at = self.start(node);
        let mark = self.scope().mark();
        let n_paths = self.scope().paths.len();
        let n_walrus = self.walrus.len();
        let body = self.field(node, F.body);
        for clause in self.kids(node) {
            match kind(clause) {
                Kind::ForIn => {
                    let of = self.field(clause, F.right).map(|r| self.expr(r, Role::Read));
                    if let (Some(left), Some(of)) = (self.field(clause, F.left), of) {
                        self.comprehension_target(left, Source::Element { of, index: 0 });
                    }
                }
                Kind::IfClause => {
                    for c in self.kids(clause) {
                        self.expr(c, Role::Read);
                        let known = self.known(c, true);
                        self.learn(&known);
                    }
                }
                _ => {}
            }
        }
        let elem = self.expr_of(body, at);
        self.scope().rewind(mark);
        self.leave_paths(n_paths);
        for (name, binding) in self.walrus.get(n_walrus..).unwrap_or_default().to_vec() {
            self.scope().set(name, binding);
        }
        self.b.node(Shape::Comprehension { kind: kind_of, elem }, at)
    }

    /// A comprehension's own names live until its end and are no locals of the function.
    fn comprehension_target(&mut self, target: Node, source: Source) {
        match kind(target) {
            Kind::Identifier => {
                let name = self.slice(target);
                let b = self.local(name, self.start(target), BindingKind::Local, Some(source));
                self.scope().set(name, b);
            }
            Kind::PatternList
            | Kind::TuplePattern
            | Kind::ListPattern
            | Kind::Tuple
            | Kind::ExpressionList
            | Kind::Parenthesized => {
                for (i, c) in self.kids(target).into_iter().enumerate() {
                    let part = self.part_of(source, i.min(usize::from(u16::MAX)) as u16);
                    self.comprehension_target(c, part);
                }
            }
            Kind::ListSplatPattern | Kind::ListSplat => {
                for c in self.kids(target) {
                    if kind(c) == Kind::Identifier {
                        let name = self.slice(c);
                        let b = self.local(name, self.start(c), BindingKind::Local, None);
                        self.scope().set(name, b);
                    }
                }
            }
            _ => {
                self.expr(target, Role::Write);
            }
        }
    }
}
