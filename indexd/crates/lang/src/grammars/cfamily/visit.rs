//! Expressions.

use super::kinds::K;
use super::{Visitor, is_declared, is_reserved};
use crate::tokens::tokens;
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, ExprId, Language, Node as Shape, Role, Source};

impl<'s> Visitor<'_, 's> {
    pub(super) fn k(&self, node: usize) -> K {
        self.kinds.of(self.tree.kind_id(node))
    }

    /// Visits all that is in a node.
    pub(super) fn inside(&mut self, node: usize) {
        let mut titled = None;
        for child in self.children(node) {
            match titled.take().filter(|_| self.k(child) == K::Block) {
                Some((def, base)) => self.test_body(def, base, child),
                None => {
                    self.expr(child, Role::Read);
                    titled = (self.k(child) == K::Statement).then(|| self.titled(child)).flatten();
                }
            }
        }
    }

    /// The expression of a node; opaque for statements.
    pub(super) fn expr(&mut self, node: usize, role: Role) -> ExprId {
        if self.depth >= PARSE_DEPTH_MAX {
            return self.opaque;
        }
        self.depth += 1;
        let out = match self.k(node) {
            K::Passed => {
                self.tell_names(node);
                self.opaque
            }
            K::MacroDefinition => self.macro_body(node),
            K::Condition => self.condition(node),
            K::Directive => self.directive(node),
            K::Declaration => self.declaration(node),
            K::Typedef => self.typedef(node),
            K::UsingType => self.using_type(node),
            K::Function => self.function_definition(node),
            K::TemplateDeclaration => self.template(node),
            K::Initializer => self.initializer(node),
            K::ForRange => self.for_range(node),
            K::Catch => self.scoped(|it| it.catch(node)),
            K::Block => self.scoped(|it| {
                it.inside(node);
                it.opaque
            }),
            K::Return => self.return_statement(node),
            K::Record | K::Primitive | K::Auto | K::Descriptor => self.ty(node),
            _ => self.value(node, role),
        };
        self.depth -= 1;
        out
    }

    fn expr_in(&mut self, node: usize, field: u16, role: Role) -> ExprId {
        self.field(node, field).map_or(self.opaque, |child| self.expr(child, role))
    }

    /// The value of a node that the grammar takes for a type.
    pub(super) fn value_as(&mut self, node: usize, role: Role) -> ExprId {
        match self.k(node) {
            K::TypeName => self.name(node, role),
            _ => self.expr(node, role),
        }
    }

    fn value(&mut self, node: usize, role: Role) -> ExprId {
        let at = self.start(node);
        match self.k(node) {
            K::Name => self.name(node, role),
            K::TypeName => self.name(node, if role == Role::Read { Role::Type } else { role }),
            K::This => self.this(at),
            K::Qualified => self.qualified(node, role),
            K::Template => self.template_use(node, role),
            K::Dependent => self.first(node, role),
            K::Member => self.member(node, role),
            K::Call => self.call(node),
            K::New => self.new_value(node),
            K::Subscript => self.subscript(node),
            K::Cast => {
                let ty = self.field(node, self.f.kind).map_or(self.opaque, |t| self.ty(t));
                let value = self.expr_in(node, self.f.value, Role::Read);
                self.node(Shape::Assert { value, ty }, at)
            }
            K::Compound => self.compound(node),
            K::List => self.list(node, ExprId::NONE, ExprId::NONE),
            K::Pair => self.pair(node, ExprId::NONE),
            K::Pointer => self.pointer(node),
            K::Unary => {
                let value = self.expr_in(node, self.f.argument, Role::Read);
                self.node(Shape::Unary { value }, at)
            }
            K::Binary => self.binary(node),
            K::Assign => self.assign(node),
            K::Conditional => {
                self.expr_in(node, self.f.condition, Role::Read);
                let then = self.expr_in(node, self.f.consequence, Role::Read);
                let otherwise = self.expr_in(node, self.f.alternative, Role::Read);
                self.node(Shape::Conditional { then, otherwise }, at)
            }
            K::Parens => self.first(node, role),
            K::Comma => {
                self.expr_in(node, self.f.left, Role::Read);
                self.expr_in(node, self.f.right, role)
            }
            K::Lambda => self.lambda(node),
            K::Concatenated => {
                // Macros may be between the strings.
                self.inside(node);
                self.literal(LiteralKind::String, at)
            }
            K::Literal => {
                let is_text = self.slice(node).ends_with('"');
                if is_text { self.literal(LiteralKind::String, at) } else { self.plain }
            }
            _ => {
                self.inside(node);
                self.opaque
            }
        }
    }

    /// The expressions of all that is in a node.
    pub(super) fn exprs(&mut self, node: usize) -> Vec<ExprId> {
        self.children(node).into_iter().map(|c| self.expr(c, Role::Read)).collect()
    }

    /// The first of what is in a node; the rest is visited.
    fn first(&mut self, node: usize, role: Role) -> ExprId {
        let mut all = self.children(node).into_iter();
        let out = all.next().map_or(self.opaque, |child| self.expr(child, role));
        all.for_each(|child| _ = self.expr(child, Role::Read));
        out
    }

    // ---- names

    /// `a::b`.
    pub(super) fn qualified(&mut self, node: usize, role: Role) -> ExprId {
        let base = self.scope_of(node);
        self.behind_scope(node, base, role)
    }

    /// What stands before the last `::` of a node, as a scope.
    pub(super) fn scope_of(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let base = match self.field(node, self.f.scope) {
            // A variable has nothing behind `::`.
            Some(scope) if self.is_variable(scope) => self.free(self.slice(scope), at, Role::Type),
            Some(scope) => self.expr(scope, Role::Type),
            // The namespace around all.
            None => {
                let name = self.b.str("");
                self.node(Shape::Name { name, binding: BindingId::NONE }, at)
            }
        };
        self.word("::", base, at)
    }

    fn is_variable(&self, node: usize) -> bool {
        let is_name = matches!(self.k(node), K::Name | K::TypeName);
        let binding = self.find(self.slice(node)).filter(|_| is_name);
        let kind = binding.map(|b| self.b.binding_head(b).3);
        matches!(kind, Some(BindingKind::Local | BindingKind::Param))
    }

    fn behind_scope(&mut self, node: usize, base: ExprId, role: Role) -> ExprId {
        let Some(name) = self.field(node, self.f.name) else { return self.opaque };
        if self.k(name) == K::Qualified {
            let at = self.start(name);
            let inner = self.field(name, self.f.scope);
            let base = inner.map_or(base, |s| self.attr(base, s, Role::Type));
            let base = self.word("::", base, at);
            return self.behind_scope(name, base, role);
        }
        self.attr(base, name, role)
    }

    /// A member under the name in a node, with its type arguments.
    fn attr(&mut self, base: ExprId, name: usize, role: Role) -> ExprId {
        match self.k(name) {
            K::Template => {
                let inner = self.field(name, self.f.name);
                let base = inner.map_or(self.opaque, |n| self.attr(base, n, role));
                self.applied(name, base)
            }
            K::Dependent => {
                self.children(name).first().copied().map_or(self.opaque, |n| self.attr(base, n, role))
            }
            K::Name | K::TypeName | K::Operator => {
                let (text, at) = (self.slice(name), self.start(name));
                if self.by_name.contains_key(&at) {
                    return self.opaque;
                }
                let name = self.b.str(text);
                self.b.expr(Shape::Attr { base, name }, at, role)
            }
            _ => {
                self.inside(name);
                self.opaque
            }
        }
    }

    /// `f<T>`.
    fn template_use(&mut self, node: usize, role: Role) -> ExprId {
        let base = self.expr_in(node, self.f.name, role);
        self.applied(node, base)
    }

    /// Adds the type arguments of a node to a name.
    pub(super) fn applied(&mut self, node: usize, base: ExprId) -> ExprId {
        let at = self.start(node);
        let args = self.field(node, self.f.arguments).map_or_else(Vec::new, |a| self.exprs(a));
        let args = self.b.list(&args);
        self.node(Shape::Apply { base, args }, at)
    }

    /// `a.b` and `a->b`.
    fn member(&mut self, node: usize, role: Role) -> ExprId {
        let mut base = self.expr_in(node, self.f.argument, Role::Read);
        let is_arrow = self.tree.tokens(node).any(|t| self.tree.node(t).kind() == "->");
        if is_arrow {
            let at = self.start(node);
            base = self.node(Shape::Star { value: base }, at);
        }
        let role = if role == Role::Read || role == Role::Type { Role::Field } else { role };
        let Some(mut name) = self.field(node, self.f.field) else { return base };
        while self.k(name) == K::Qualified {
            // `a->B::m()`: the class is said.
            let scope = self.scope_of(name);
            let Some(inner) = self.field(name, self.f.name) else { return base };
            (base, name) = (scope, inner);
        }
        self.attr(base, name, role)
    }

    // ---- calls

    fn arguments(&mut self, node: usize) -> Vec<ExprId> {
        let Some(list) = self.field(node, self.f.arguments) else { return Vec::new() };
        let all = self.children(list);
        if self.k(list) != K::Other {
            return all.first().map(|_| self.expr(list, Role::Read)).into_iter().collect();
        }
        let comment = |it: &Self, a: usize| it.tree.node(a).kind() == "comment";
        let all: Vec<usize> = all.into_iter().filter(|a| !comment(self, *a)).collect();
        all.into_iter().map(|a| self.expr(a, Role::Read)).collect()
    }

    fn call(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let Some(function) = self.field(node, self.f.function) else { return self.first(node, Role::Read) };
        if self.k(function) == K::Template && self.slice(function).contains("_cast") {
            self.field(function, self.f.name).into_iter().for_each(|n| self.tell_names(n));
            let ty = self.field(function, self.f.arguments).and_then(|a| self.children(a).first().copied());
            let ty = ty.map_or(self.opaque, |t| self.ty(t));
            let value = self.arguments(node).first().copied().unwrap_or(self.opaque);
            return self.node(Shape::Assert { value, ty }, at);
        }
        let callee = self.expr(function, Role::Call);
        let args = self.arguments(node);
        let args = self.b.list(&args);
        self.node(Shape::Call { callee, args }, at)
    }

    fn new_value(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let ty = self.field(node, self.f.kind).map_or(self.opaque, |t| self.ty_as(t, Role::Call));
        let callee = self.word("new", ty, at);
        for child in self.children(node) {
            if self.tree.field(child) == self.f.declarator {
                self.inside(child);
            }
        }
        let args = self.arguments(node);
        let args = self.b.list(&args);
        self.node(Shape::Call { callee, args }, at)
    }

    /// `T{...}` makes a value of a class; `(T){...}` of C is a literal.
    fn compound(&mut self, node: usize) -> ExprId {
        let role = if self.slice(node).starts_with('(') { Role::Type } else { Role::Call };
        let ty = self.field(node, self.f.kind).map_or(self.opaque, |t| self.ty_as(t, role));
        self.field(node, self.f.value).map_or(ty, |v| self.list(v, ty, ExprId::NONE))
    }

    /// `{...}`, a value of `ty`; lists in that of an array are values of `elem`.
    pub(super) fn list(&mut self, node: usize, ty: ExprId, elem: ExprId) -> ExprId {
        let at = self.start(node);
        let elems: Vec<ExprId> = self.children(node).into_iter().map(|c| self.element(c, elem)).collect();
        let elems = self.b.list(&elems);
        self.node(Shape::Composite { ty, elems }, at)
    }

    /// One value of a list; where that is a list itself, it is one of `elem`.
    fn element(&mut self, node: usize, elem: ExprId) -> ExprId {
        let is_in_array = |it: &Self, n: usize| {
            let mut all = it.children(n).into_iter().filter(|c| it.tree.field(*c) == it.f.designator);
            all.all(|c| it.tree.node(c).kind() == "subscript_designator")
        };
        match self.k(node) {
            K::List => self.list(node, elem, ExprId::NONE),
            K::Pair if elem != ExprId::NONE && is_in_array(self, node) => self.pair(node, elem),
            K::Pair => self.pair(node, ExprId::NONE),
            _ => self.expr(node, Role::Read),
        }
    }

    /// `.a.b = v` or `[i] = v` in a list; where `v` is a list, it is one of `elem`.
    fn pair(&mut self, node: usize, elem: ExprId) -> ExprId {
        let value = self.field(node, self.f.value).map_or(self.opaque, |v| self.element(v, elem));
        let mut names = Vec::new();
        for child in self.children(node) {
            if self.tree.field(child) == self.f.designator {
                match self.tree.node(child).kind() {
                    "field_designator" => names.extend(self.children(child).first().copied()),
                    _ => self.inside(child),
                }
            }
        }
        let mut out = value;
        for name in names.into_iter().rev() {
            let (text, at) = (self.slice(name), self.start(name));
            let name = self.b.str(text);
            out = self.b.expr(Shape::Keyword { name, value: out }, at, Role::Key);
        }
        out
    }

    fn subscript(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let base = self.expr_in(node, self.f.argument, Role::Read);
        let list = self.field(node, self.f.indices);
        let place = list.map_or(at, |l| self.start(l));
        let args = match (list, self.field(node, self.f.index)) {
            (Some(list), _) => self.children(list),
            (None, index) => index.into_iter().collect(),
        };
        let args: Vec<ExprId> = args.into_iter().map(|a| self.expr(a, Role::Read)).collect();
        if self.is_cpp {
            return self.operator(base, "operator[]", place, &args);
        }
        let args = self.b.list(&args);
        self.node(Shape::Index { base, args }, at)
    }

    fn pointer(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let value = self.expr_in(node, self.f.argument, Role::Read);
        let is_star = self.slice(node).starts_with('*');
        self.node(if is_star { Shape::Star { value } } else { Shape::Address { value } }, at)
    }

    // ---- operators

    /// An operator of a value.
    fn operator(&mut self, base: ExprId, name: &'static str, at: u32, args: &[ExprId]) -> ExprId {
        let name = self.b.string(name);
        let callee = self.b.expr(Shape::Attr { base, name }, at, Role::Call);
        let args = self.b.list(args);
        self.node(Shape::Call { callee, args }, at)
    }

    fn binary(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let left = self.expr_in(node, self.f.left, Role::Read);
        let right = self.expr_in(node, self.f.right, Role::Read);
        let sign = self.field(node, self.f.operator);
        let text = sign.map_or("", |s| self.slice(s));
        let place = sign.map_or(at, |s| self.start(s));
        if let Some(name) = operator_name(text)
            && self.is_cpp
            && !(left == self.plain && right == self.plain)
        {
            return self.operator(left, name, place, &[right]);
        }
        let is_test = matches!(text, "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||");
        let shape = if is_test { Shape::Compare { left, right } } else { Shape::Binary { left, right } };
        self.node(shape, at)
    }

    fn assign(&mut self, node: usize) -> ExprId {
        let left = self.expr_in(node, self.f.left, Role::Write);
        let right = self.expr_in(node, self.f.right, Role::Read);
        let sign = self.field(node, self.f.operator);
        let text = sign.map_or("", |s| self.slice(s));
        match (assignment_name(text), sign) {
            (Some(name), Some(sign)) if self.is_cpp && right != self.plain => {
                let at = self.start(sign);
                self.operator(left, name, at, &[right])
            }
            _ => left,
        }
    }

    // ---- functions without a name

    fn lambda(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let returns = self.function.returns.replace(Vec::new());
        let params = self.scoped(|it| {
            if let Some(captures) = it.field(node, it.f.captures) {
                it.captures(captures);
            }
            let params = it.field(node, it.f.declarator).map_or_else(Vec::new, |d| it.parameters(d).all);
            if let Some(body) = it.field(node, it.f.body) {
                it.inside(body);
            }
            params
        });
        let params = self.values_of(&params);
        let given = std::mem::replace(&mut self.function.returns, returns);
        let result = given.and_then(|g| g.first().copied()).unwrap_or(self.opaque);
        let params = self.b.list(&params);
        self.node(Shape::Lambda { params, result }, at)
    }

    fn captures(&mut self, node: usize) {
        for child in self.children(node) {
            let left = self.field(child, self.f.left);
            match left {
                Some(left) => {
                    let value = self.expr_in(child, self.f.right, Role::Read);
                    self.bind(left, BindingKind::Local, Some(Source::Assigned(value)));
                }
                None => {
                    self.expr(child, Role::Read);
                }
            }
        }
    }

    fn return_statement(&mut self, node: usize) -> ExprId {
        let value = self.first(node, Role::Read);
        if let Some(returns) = &mut self.function.returns {
            returns.push(value);
        }
        self.opaque
    }

    // ---- directives

    /// `#ifdef X`, `defined(X)`: names of macros.
    fn condition(&mut self, node: usize) -> ExprId {
        for child in self.children(node) {
            let is_name =
                self.tree.field(child) == self.f.name || self.tree.node(node).kind() == "preproc_defined";
            if is_name && self.k(child) == K::Name {
                let (text, at) = (self.slice(child), self.start(child));
                self.free(text, at, Role::Read);
            } else {
                self.expr(child, Role::Read);
            }
        }
        self.opaque
    }

    /// The names in the text of a macro, but for its parameters, members, and what the text itself declares. What they
    /// mean depends on the place where the macro is used, so a name that leads nowhere says nothing.
    fn macro_body(&mut self, node: usize) -> ExprId {
        self.tell_names(node);
        let Some(value) = self.field(node, self.f.value) else { return self.opaque };
        let (text, start) = (self.slice(value), self.start(value));
        let parameters = self.field(node, self.f.parameters).map_or(Vec::new(), |p| self.children(p));
        let mut own: Vec<&str> = parameters.into_iter().map(|p| self.slice(p)).collect();
        let all = tokens(text, Language::Cpp);
        let word = |i: Option<usize>| i.and_then(|i| all.get(i)).map_or("", |t| t.text(text));
        for (i, token) in all.iter().enumerate().filter(|(_, t)| t.is_word) {
            let (name, next) = (token.text(text), word(Some(i + 1)));
            let before = [1, 2].map(|n| word(i.checked_sub(n)));
            if is_declared(before, next) {
                own.push(name);
            }
            let is_part = matches!(before[0], "." | "#" | ":") || before == [">", "-"] || next == "#";
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !is_reserved(name);
            if is_name && !is_part && !own.contains(&name) {
                let at = start + token.span.start;
                let value = self.free(name, at, Role::None);
                // The place that uses the macro is the caller.
                self.loose(value, at);
            }
        }
        self.opaque
    }

    /// A use that counts where it leads somewhere, and else is not worth a word.
    pub(super) fn loose(&mut self, value: ExprId, at: u32) {
        let word = self.b.str("#");
        self.b.expr(Shape::Word { word, value }, at, Role::Read);
    }

    /// `#undef X`.
    fn directive(&mut self, node: usize) -> ExprId {
        let is_undef = self.field(node, self.f.directive).is_some_and(|d| self.slice(d).ends_with("undef"));
        if let Some(argument) = self.field(node, self.f.argument).filter(|_| is_undef) {
            let text = self.slice(argument);
            let name = text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
            if !name.is_empty() {
                let at = self.start(argument) + (text.len() - text.trim_start().len()) as u32;
                self.free(name, at, Role::Read);
            }
        }
        self.opaque
    }

    /// A list as a value that is not one of a type that is said.
    pub(super) fn arguments_of_declared(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let elems = self.exprs(node);
        let elems = self.b.list(&elems);
        self.node(Shape::Sequence { kind: SequenceKind::Tuple, elems }, at)
    }
}

/// Operators that a class may define; of those that only compute, the ones that are often defined.
fn operator_name(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "<<" => "operator<<",
        ">>" => "operator>>",
        "==" => "operator==",
        "!=" => "operator!=",
        "<" => "operator<",
        ">" => "operator>",
        "<=" => "operator<=",
        ">=" => "operator>=",
        "+" => "operator+",
        "-" => "operator-",
        "*" => "operator*",
        "/" => "operator/",
        "|" => "operator|",
        "&" => "operator&",
        _ => return None,
    })
}

fn assignment_name(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "=" => "operator=",
        "+=" => "operator+=",
        "-=" => "operator-=",
        "|=" => "operator|=",
        "<<=" => "operator<<=",
        _ => return None,
    })
}
