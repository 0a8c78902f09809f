//! Values: the parts of each expression.

use super::kinds::K;
use super::visit::{This, Visitor};
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::{BindingId, ExprId, List, Node as Shape, Role};

impl<'s> Visitor<'_, 's> {
    pub(super) fn value(&mut self, node: usize, kind: K, role: Role) -> ExprId {
        let at = self.start(node);
        match kind {
            K::Member => self.member(node, role),
            K::Subscript => self.subscript(node),
            K::Call => self.call(node, role),
            K::New => self.new_instance(node),
            K::Object => self.object(node),
            K::Array => self.array(node),
            K::Parens | K::NonNull | K::JsxExpression => self.only(node, role),
            K::Spread => {
                let value = self.only(node, Role::Read);
                self.node(Shape::Spread { value }, at)
            }
            K::Await => {
                let value = self.only(node, Role::Read);
                self.node(Shape::Await { value }, at)
            }
            K::Yield => {
                self.inside(node);
                self.opaque
            }
            K::As | K::Satisfies | K::TypeAssertion => self.asserted(node, kind, role),
            K::Instantiation => self.instantiated(node, role),
            K::Unary | K::Update => self.unary(node),
            K::Binary => self.binary(node),
            K::Ternary => self.ternary(node),
            K::Assign | K::AugmentedAssign => self.assignment(node, kind),
            K::Comma => self.children(node).map(|c| self.expr(c, Role::Read)).last().unwrap_or(self.opaque),
            K::Jsx | K::JsxOpening => self.element(node, kind),
            K::String => self.string(node),
            K::Template => {
                self.inside(node);
                self.literal(LiteralKind::String, at)
            }
            K::Number => self.literal(LiteralKind::Int, at),
            K::Bool => self.literal(LiteralKind::Bool, at),
            K::Null => self.literal(LiteralKind::None, at),
            K::Regex => {
                let name = self.b.str("RegExp");
                let class = self.node(Shape::Name { name, binding: BindingId::NONE }, at);
                let callee = self.word("new", class, at);
                let args = self.b.list(&[]);
                self.node(Shape::Call { callee, args }, at)
            }
            _ => {
                self.inside(node);
                self.opaque
            }
        }
    }

    /// The value of a node's first child that is not a comment or a type.
    fn only(&mut self, node: usize, role: Role) -> ExprId {
        let mut out = None;
        for child in self.children(node) {
            let value = self.expr(child, if out.is_none() { role } else { Role::Read });
            out = out.or(Some(value).filter(|v| *v != self.opaque));
        }
        out.unwrap_or(self.opaque)
    }

    fn string(&mut self, node: usize) -> ExprId {
        let text = self.slice(node).trim_matches(['"', '\'', '`']);
        let at = self.start(node);
        self.quoted(text, at)
    }

    fn member(&mut self, node: usize, role: Role) -> ExprId {
        let object = self.field(node, self.f.object);
        let base = object.map_or(self.opaque, |o| self.expr(o, Role::Read));
        let Some(property) = self.field(node, self.f.property) else { return self.opaque };
        if !self.tree.is_leaf(property) && self.children(property).next().is_some() {
            self.inside(property);
            return self.opaque;
        }
        let at = self.start(property);
        // In a language with types, members that are assigned to are declared elsewhere.
        if self.by_name.contains_key(&at) && !self.is_typed {
            return self.opaque;
        }
        let out = self.attr(base, self.slice(property), at, role);
        self.narrow(node, out)
    }

    fn subscript(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let base = self.expr_in(node, self.f.object, Role::Read);
        let index = self.expr_in(node, self.f.index, Role::Read);
        let args = self.b.list(&[index]);
        self.node(Shape::Index { base, args }, at)
    }

    fn call(&mut self, node: usize, role: Role) -> ExprId {
        let at = self.start(node);
        let Some(function) = self.field(node, self.f.function) else {
            self.inside(node);
            return self.opaque;
        };
        if let Some(module) = self.module_of(node, function) {
            return module;
        }
        let role = if role == Role::Decorator { role } else { Role::Call };
        let callee = self.expr(function, role);
        let callee = self.applied(node, callee);
        let args = self.arguments(node);
        self.node(Shape::Call { callee, args }, at)
    }

    /// `require('x')` and `import('x')`.
    fn module_of(&mut self, node: usize, function: usize) -> Option<ExprId> {
        let word = self.slice(function);
        if !matches!(word, "require" | "import") {
            return None;
        }
        let arguments = self.field(node, self.f.arguments)?;
        let path = self.children(arguments).next().filter(|a| self.k(*a) == K::String)?;
        self.tell(function);
        let at = self.start(node);
        let name = self.b.str(self.slice(path).trim_matches(['"', '\'']));
        let value = self.node(Shape::Name { name, binding: BindingId::NONE }, at);
        Some(self.word(word, value, at))
    }

    /// Reads the type arguments of a callee.
    pub(super) fn applied(&mut self, node: usize, callee: ExprId) -> ExprId {
        let Some(list) = self.field(node, self.f.type_arguments) else { return callee };
        let types: Vec<ExprId> = self.children(list).map(|t| self.ty(t)).collect();
        let args = self.b.list(&types);
        let at = self.start(list);
        self.node(Shape::Apply { base: callee, args }, at)
    }

    fn arguments(&mut self, node: usize) -> List {
        let Some(arguments) = self.field(node, self.f.arguments) else { return self.b.list(&[]) };
        if self.k(arguments) != K::Other {
            // A tagged template.
            self.expr(arguments, Role::Read);
            return self.b.list(&[]);
        }
        self.exprs(arguments)
    }

    fn new_instance(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let class = self.expr_in(node, self.f.constructor, Role::Call);
        let class = self.applied(node, class);
        let callee = self.word("new", class, at);
        let args = self.arguments(node);
        self.node(Shape::Call { callee, args }, at)
    }

    fn instantiated(&mut self, node: usize, role: Role) -> ExprId {
        let function = self.field(node, self.f.function).or_else(|| self.children(node).next());
        let base = function.map_or(self.opaque, |f| self.expr(f, role));
        self.applied(node, base)
    }

    /// `x as T`, `x satisfies T`, `<T>x`.
    fn asserted(&mut self, node: usize, kind: K, role: Role) -> ExprId {
        let at = self.start(node);
        let parts: Vec<usize> = self.children(node).collect();
        let (value, ty) = match (kind, &parts[..]) {
            (K::TypeAssertion, [ty, value, ..]) => (*value, self.children(*ty).next()),
            (_, [value, ty, ..]) => (*value, Some(*ty)),
            // `as const`.
            (_, [value]) => (*value, None),
            _ => return self.opaque,
        };
        // `(x.f as F)()` calls `x.f`.
        let value = self.expr(value, if role == Role::Call { role } else { Role::Read });
        let Some(ty) = ty else { return value };
        let ty = self.ty(ty);
        let value = if kind == K::Satisfies { self.word("satisfies", value, at) } else { value };
        self.node(Shape::Assert { value, ty }, at)
    }

    fn unary(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let operator = self.field(node, self.f.operator).map_or("", |o| self.slice(o));
        let role = if self.k(node) == K::Update { Role::Write } else { Role::Read };
        for child in self.children(node) {
            self.expr(child, role);
        }
        match operator {
            "!" | "delete" => self.literal(LiteralKind::Bool, at),
            "typeof" => self.literal(LiteralKind::String, at),
            "void" => self.literal(LiteralKind::None, at),
            _ => self.literal(LiteralKind::Int, at),
        }
    }

    fn binary(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let operator = self.field(node, self.f.operator).map_or("", |o| self.slice(o));
        let left_node = self.field(node, self.f.left);
        let left = left_node.map_or(self.opaque, |l| self.expr(l, Role::Read));
        let n = self.narrowed.len();
        match (operator, left_node) {
            ("&&", Some(l)) => self.assume(l, true),
            ("||", Some(l)) => self.assume(l, false),
            _ => {}
        }
        let right = self.expr_in(node, self.f.right, Role::Read);
        self.narrowed.truncate(n);
        match operator {
            "&&" => right,
            "||" | "??" => self.node(Shape::Binary { left, right }, at),
            "+" => self.literal(LiteralKind::String, at),
            "-" | "*" | "/" | "%" | "**" | "|" | "&" | "^" | "<<" | ">>" | ">>>" => {
                self.literal(LiteralKind::Int, at)
            }
            _ => self.literal(LiteralKind::Bool, at),
        }
    }

    fn ternary(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let condition = self.field(node, self.f.condition);
        condition.map(|c| self.expr(c, Role::Read));
        let n = self.narrowed.len();
        condition.into_iter().for_each(|c| self.assume(c, true));
        let then = self.expr_in(node, self.f.consequence, Role::Read);
        self.narrowed.truncate(n);
        condition.into_iter().for_each(|c| self.assume(c, false));
        let otherwise = self.expr_in(node, self.f.alternative, Role::Read);
        self.narrowed.truncate(n);
        self.node(Shape::Conditional { then, otherwise }, at)
    }

    fn assignment(&mut self, node: usize, kind: K) -> ExprId {
        let at = self.start(node);
        let Some(left) = self.field(node, self.f.left) else { return self.opaque };
        let right = self.field(node, self.f.right);
        let def = self.assigned_def(left);
        let receiver = def.and_then(|_| self.prototype(left));
        let key = match self.k(left) {
            K::ObjectPattern | K::ArrayPattern => {
                let value = right.map_or(self.opaque, |r| self.expr(r, Role::Read));
                self.take_apart(left, value);
                return value;
            }
            _ => self.expr(left, Role::Write),
        };
        let this = receiver.map_or(self.this, This::InstanceOf);
        let value = self.with_this(this, |it| match right {
            Some(r) if it.k(r) == K::Function => it.function(r, def),
            Some(r) => it.expr(r, Role::Read),
            None => it.opaque,
        });
        if let Some(def) = def
            && self.b.defs[def.index()].value == ExprId::NONE
        {
            self.b.defs[def.index()].value = value;
        }
        match kind {
            K::Assign => {
                self.assigned_local(left, value);
                self.node(Shape::KeyValue { key, value }, at)
            }
            _ => self.literal(LiteralKind::Int, at),
        }
    }

    /// The definition that an assignment makes.
    fn assigned_def(&self, left: usize) -> Option<indexd_model::DefIdx> {
        match self.k(left) {
            K::Member => self.field(left, self.f.property).and_then(|p| self.def_of(p)),
            _ => self.def_of(left),
        }
    }

    /// The class before `.prototype.m`.
    fn prototype(&mut self, left: usize) -> Option<ExprId> {
        let object = self.field(left, self.f.object).filter(|o| self.k(*o) == K::Member)?;
        let is_prototype = self.field(object, self.f.property).is_some_and(|p| self.slice(p) == "prototype");
        let class = self.field(object, self.f.object).filter(|_| is_prototype)?;
        Some(self.silent(class))
    }

    /// Adds an assigned value to the sources of a local variable.
    fn assigned_local(&mut self, left: usize, value: ExprId) {
        if self.k(left) == K::Name
            && let Some(binding) = self.bound(left, indexd_model::BindingKind::Local)
        {
            self.b.source(binding, indexd_model::Source::Assigned(value));
        }
    }

    fn array(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let elems = self.exprs(node);
        self.node(Shape::Sequence { kind: SequenceKind::List, elems }, at)
    }

    /// The expressions in a node, without comments.
    fn exprs(&mut self, node: usize) -> List {
        let tree = self.tree;
        let parts = self.children(node).filter(|c| !tree.node(*c).is_extra());
        let all: Vec<ExprId> = parts.map(|c| self.expr(c, Role::Read)).collect();
        self.b.list(&all)
    }

    // ---- objects and elements

    /// An object literal. `this` in its methods is the object.
    fn object(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let out = self.node(Shape::Opaque, at);
        let mut elems = Vec::new();
        for child in self.children(node) {
            let elem = match self.k(child) {
                K::Pair => self.pair(child, out),
                K::Method => self.with_this(This::Value(out), |it| it.method(child)),
                K::Name => self.shorthand(child),
                _ => self.expr(child, Role::Read),
            };
            if elem != self.opaque {
                elems.push(elem);
            }
        }
        let elems = self.b.list(&elems);
        self.b.set_node(out, Shape::Composite { ty: ExprId::NONE, elems });
        out
    }

    /// Returns the name of a key that is written out, and its place.
    pub(super) fn key(&mut self, key: usize) -> Option<(&'s str, u32)> {
        let (text, at) = (self.slice(key), self.start(key));
        match self.k(key) {
            K::String => Some((text.trim_matches(['"', '\'']), at + 1)),
            _ if self.tree.is_leaf(key) => Some((text, at)),
            _ => {
                self.inside(key);
                None
            }
        }
    }

    fn pair(&mut self, node: usize, object: ExprId) -> ExprId {
        let Some(key) = self.field(node, self.f.key) else { return self.opaque };
        let def = self.def_of(key);
        let Some(value) = self.field(node, self.f.value) else { return self.opaque };
        let named = self.key(key);
        let value = match self.k(value) {
            K::Function if self.tree.node(value).kind() != "arrow_function" => {
                self.with_this(This::Value(object), |it| it.function(value, def))
            }
            K::Function => self.function(value, def),
            _ => self.expr(value, Role::Read),
        };
        if let Some(def) = def {
            self.b.defs[def.index()].value = value;
        }
        let Some((name, at)) = named else { return value };
        self.keyword(name, at, value)
    }

    pub(super) fn keyword(&mut self, name: &'s str, at: u32, value: ExprId) -> ExprId {
        let name = self.b.str(name);
        self.b.expr(Shape::Keyword { name, value }, at, Role::Key)
    }

    /// `{ a }`: a key and a use of the variable.
    fn shorthand(&mut self, node: usize) -> ExprId {
        let (name, at) = (self.slice(node), self.start(node));
        let def = self.by_name.get(&at).copied();
        let value = self.shorthand_value(node);
        if let Some(def) = def {
            self.b.defs[def.index()].value = value;
        }
        self.keyword(name, at, value)
    }

    fn element(&mut self, node: usize, kind: K) -> ExprId {
        let at = self.start(node);
        let open = if kind == K::Jsx { self.field(node, self.f.open_tag) } else { Some(node) };
        let Some(open) = open else {
            self.inside(node);
            return self.opaque;
        };
        let name = self.field(open, self.f.name);
        let callee = match name {
            Some(n) if !self.slice(n).starts_with(|c: char| c.is_lowercase()) || self.k(n) == K::Member => {
                self.expr(n, Role::Call)
            }
            Some(n) => {
                self.tell(n);
                self.opaque
            }
            None => self.opaque,
        };
        let callee = self.applied(open, callee);
        let mut props = Vec::new();
        for child in self.children(open) {
            if Some(child) == name || self.tree.field(child) == self.f.type_arguments {
                continue;
            }
            match self.tree.node(child).kind() {
                "jsx_attribute" => props.extend(self.attribute(child)),
                _ => props.push(self.expr(child, Role::Read)),
            }
        }
        let elems = self.b.list(&props);
        let props = self.node(Shape::Composite { ty: ExprId::NONE, elems }, at);
        if open != node {
            for child in self.children(node).filter(|c| *c != open) {
                self.expr(child, Role::Read);
            }
        }
        let args = self.b.list(&[props]);
        let element = self.word("jsx", callee, at);
        self.node(Shape::Call { callee: element, args }, at)
    }

    fn attribute(&mut self, node: usize) -> Option<ExprId> {
        let mut parts = self.children(node);
        let name = parts.next()?;
        let value = match parts.next() {
            Some(v) => self.expr(v, Role::Read),
            None => {
                let at = self.start(node);
                self.literal(LiteralKind::Bool, at)
            }
        };
        if !self.tree.is_leaf(name) {
            return None;
        }
        let (text, at) = (self.slice(name), self.start(name));
        Some(self.keyword(text, at, value))
    }
}
