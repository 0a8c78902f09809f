//! Declarations: the file itself, imports, functions and methods, types, variables and constants.

use super::syntax::{Field, Kind};
use super::visitor::Visitor;
use crate::builder::blank_import;
use crate::chunks::Piece;
use indexd_model::facts::ImportKind;
use indexd_model::{
    BindingId, BindingKind, ChunkKind, DefFlags, DefIdx, DefKind, ExprId, Node, Role, Source, Span, StrId,
};

/// A parameter or result before it is declared: its type is read in the scope around the function.
pub(super) struct Param {
    /// `None` for unnamed ones.
    pub(super) name: Option<(StrId, u32)>,
    pub(super) ty: ExprId,
    pub(super) is_variadic: bool,
}

/// Finds the comment that belongs to a declaration: the run of comment lines that ends just above.
#[derive(Default)]
pub(super) struct Docs {
    open: Option<Span>,
    /// The last line of `open`, then of the last declaration.
    comment_row: usize,
    code_row: Option<usize>,
}

impl Docs {
    /// Reads the comment under the cursor.
    pub(super) fn comment(&mut self, v: &Visitor) {
        let (node, span) = (v.cursor.node(), v.span());
        let row = node.start_position().row;
        self.open = match self.open {
            // A comment behind code belongs to that code.
            _ if self.code_row == Some(row) => None,
            Some(open) if row <= self.comment_row + 1 => Some(Span::new(open.start, span.end)),
            _ => Some(span),
        };
        self.comment_row = node.end_position().row;
    }

    /// The comment of the declaration under the cursor; empty at its start when it has none.
    pub(super) fn take(&mut self, v: &Visitor) -> Span {
        let node = v.cursor.node();
        self.code_row = Some(node.end_position().row);
        let is_above = node.start_position().row == self.comment_row + 1;
        self.open.take().filter(|_| is_above).unwrap_or(Span::new(v.start(), v.start()))
    }
}

/// Returns true if a name is visible outside its package.
fn is_exported(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

fn is_test_name(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|rest| !rest.chars().next().is_some_and(char::is_lowercase))
    })
}

impl<'s> Visitor<'s, '_> {
    /// The whole file.
    pub(super) fn file(&mut self) {
        let mut docs = Docs::default();
        let mut plus_build = Vec::new();
        self.each(|v, _, kind| match kind {
            Kind::Comment => {
                docs.comment(v);
                if v.package.is_none() {
                    v.build_constraint(&mut plus_build);
                }
            }
            Kind::PackageClause => {
                docs.take(v);
                v.each(|v, _, kind| {
                    if matches!(kind, Kind::PackageIdentifier) {
                        v.package = Some(v.string());
                    }
                });
            }
            _ => {
                let doc = docs.take(v);
                v.declaration(kind, doc);
            }
        });
        if self.constraint.is_none() && !plus_build.is_empty() {
            let all = plus_build.join(" && ");
            self.constraint = Some(self.b.string(&all));
        }
    }

    /// `//go:build` as written, or the older `// +build` lines in the newer form.
    fn build_constraint(&mut self, plus_build: &mut Vec<String>) {
        let text = self.slice();
        if let Some(rest) = text.strip_prefix("//go:build ") {
            self.constraint = Some(self.b.str(rest.trim()));
        } else if let Some(rest) =
            text.strip_prefix("//").and_then(|t| t.trim_start().strip_prefix("+build "))
        {
            let any: Vec<String> = rest.split_whitespace().map(|all| all.replace(',', " && ")).collect();
            plus_build.push(format!("({})", any.join(" || ")));
        }
    }

    /// A declaration at file level; anything else is walked for what can be read in it.
    pub(super) fn declaration(&mut self, kind: Kind, doc: Span) {
        match kind {
            Kind::ImportDeclaration => self.imports(),
            Kind::FunctionDeclaration | Kind::MethodDeclaration => {
                let idx = self.function(doc);
                self.piece(doc, idx, ChunkKind::Definition);
            }
            Kind::TypeDeclaration => self.types(doc),
            Kind::ConstDeclaration | Kind::VarDeclaration => {
                let first = DefIdx(self.b.defs.len() as u32);
                self.values(doc);
                if first.index() < self.b.defs.len() {
                    self.piece(doc, first, ChunkKind::Definition);
                }
            }
            _ => self.anything(kind),
        }
    }

    fn piece(&mut self, doc: Span, def: DefIdx, kind: ChunkKind) {
        let span = Span::new(doc.start.min(self.start()), self.span().end);
        self.pieces.push(Piece { span, def, kind });
    }

    fn imports(&mut self) {
        self.each(|v, _, kind| match kind {
            Kind::ImportSpec => v.import(),
            Kind::ImportSpecList => v.imports(),
            _ => {}
        });
    }

    fn import(&mut self) {
        let mut it = blank_import(StrId::NONE, ImportKind::Module, self.start(), self.span());
        self.each(|v, field, kind| match (field, kind) {
            (Field::Name, Kind::Dot) => it.kind = ImportKind::All,
            (Field::Name, Kind::BlankIdentifier) => it.kind = ImportKind::Blank,
            (Field::Name, Kind::PackageIdentifier) if v.slice() == "_" => it.kind = ImportKind::Blank,
            (Field::Name, Kind::PackageIdentifier) => it.alias = Some(v.string()),
            (Field::Path, _) => {
                it.at = v.start();
                let path = v.slice().trim_matches(['"', '`']);
                it.module = v.b.str(path);
            }
            _ => {}
        });
        if it.module != StrId::NONE {
            self.b.imports.push(it);
        }
    }

    /// Opens a blank definition for the declaration `at`, which callers fill in.
    fn open_def(&mut self, kind: DefKind, parent: DefIdx, doc: Span, at: Span) -> DefIdx {
        let empty = self.b.str("");
        let span = Span::new(doc.start.min(at.start), at.end);
        let mut def = self.b.blank_def(empty, kind, parent, Span::new(at.start, at.start), span);
        def.doc = doc;
        def.head = at;
        if self.n_bodies > 0 {
            def.flags.set(DefFlags::LOCAL);
        }
        self.b.def(def)
    }

    /// Sets the name of a definition to the one under the cursor.
    fn name_def(&mut self, idx: DefIdx) {
        let (text, span, name) = (self.slice(), self.span(), self.string());
        let is_test = self.is_test;
        let def = &mut self.b.defs[idx.index()];
        (def.name, def.name_span) = (name, span);
        if is_exported(text) {
            def.flags.set(DefFlags::EXPORTED);
        }
        if text == "_" {
            def.flags.set(DefFlags::ANONYMOUS);
        }
        if is_test && def.kind == DefKind::Function && is_test_name(text) {
            def.flags.set(DefFlags::TEST);
        }
    }

    /// Returns the part of a declaration in its first line: an initial value may be a table.
    fn first_line(&self, span: Span) -> Span {
        let text = &self.text[span.range()];
        let end = text.find('\n').map_or(text.len(), |i| text[..i].trim_end().len());
        Span::new(span.start, span.start + end as u32)
    }

    /// The signature ends before the body, without the blanks between.
    fn end_head(&mut self, idx: DefIdx, body_start: u32) {
        let head = &mut self.b.defs[idx.index()].head;
        let text = &self.text[head.start as usize..body_start.max(head.start) as usize];
        head.end = head.start + text.trim_end().len() as u32;
    }

    /// A function or a method.
    fn function(&mut self, doc: Span) -> DefIdx {
        let idx = self.open_def(DefKind::Function, DefIdx::NONE, doc, self.span());
        let outer = std::mem::replace(&mut self.owner, idx);
        let outer_around = std::mem::replace(&mut self.around, idx);
        self.scopes.push();
        let mut params: Vec<Param> = Vec::new();
        let mut results: Vec<Param> = Vec::new();
        let mut receiver: Option<Param> = None;
        self.each(|v, field, kind| match field {
            Field::Name => v.name_def(idx),
            Field::Receiver => {
                v.b.defs[idx.index()].kind = DefKind::Method;
                v.receiver(idx);
                receiver = v.params().into_iter().next();
            }
            Field::TypeParameters => {
                let list = v.type_params();
                v.b.defs[idx.index()].type_params = list;
            }
            Field::Parameters => params = v.params(),
            Field::Result => results = v.results(kind),
            Field::Body => {
                let start = v.start();
                v.end_head(idx, start);
                v.declare_signature(Some(idx), receiver.take(), &params, &results);
                params.clear();
                results.clear();
                v.n_bodies += 1;
                v.block_here();
                v.n_bodies -= 1;
            }
            _ => {}
        });
        // Functions without a body are written in assembly.
        self.declare_signature(Some(idx), receiver, &params, &results);
        self.scopes.pop();
        (self.owner, self.around) = (outer, outer_around);
        idx
    }

    /// The receiver's type name, its type parameters and whether it is a pointer; the cursor is on
    /// the parameter list or, further down, on the type.
    fn receiver(&mut self, idx: DefIdx) {
        self.each(|v, _, kind| match kind {
            Kind::TypeIdentifier => {
                let name = v.string();
                v.b.defs[idx.index()].receiver = Some(name);
            }
            Kind::PointerType => {
                v.b.defs[idx.index()].flags.set(DefFlags::POINTER);
                v.receiver(idx);
            }
            Kind::TypeArguments => v.each(|v, _, kind| {
                if kind == Kind::TypeElem {
                    v.each(|v, _, kind| {
                        if kind == Kind::TypeIdentifier {
                            let binding = v.declare(BindingKind::TypeParam);
                            v.b.defs[idx.index()].type_params.push(binding);
                        }
                    });
                }
            }),
            Kind::ParameterDeclaration | Kind::ParenthesizedType | Kind::GenericType => v.receiver(idx),
            _ => {}
        });
    }

    /// Type parameters with their constraints; they see each other.
    fn type_params(&mut self) -> Vec<BindingId> {
        let mut all = Vec::new();
        self.each(|v, _, kind| {
            if kind == Kind::TypeParameterDeclaration {
                v.each(|v, field, kind| {
                    if field == Field::Name && kind == Kind::Identifier {
                        all.push((v.declare(BindingKind::TypeParam), ExprId::NONE));
                    }
                });
            }
        });
        let mut next = 0;
        self.each(|v, _, kind| {
            if kind == Kind::TypeParameterDeclaration {
                let start = next;
                let mut constraint = ExprId::NONE;
                v.each(|v, field, kind| match field {
                    Field::Name if kind == Kind::Identifier => next += 1,
                    Field::Type => constraint = v.type_expr(Role::Type),
                    _ => {}
                });
                all[start..next].iter_mut().for_each(|p| p.1 = constraint);
            }
        });
        for &(binding, constraint) in &all {
            if constraint != ExprId::NONE {
                self.b.source(binding, Source::Declared(constraint));
            }
        }
        all.into_iter().map(|p| p.0).collect()
    }

    /// A parameter list, not yet declared.
    pub(super) fn params(&mut self) -> Vec<Param> {
        let mut out: Vec<Param> = Vec::new();
        self.each(|v, _, kind| {
            let is_variadic = kind == Kind::VariadicParameterDeclaration;
            if !is_variadic && kind != Kind::ParameterDeclaration {
                return;
            }
            let start = out.len();
            let mut ty = ExprId::NONE;
            v.each(|v, field, kind| match field {
                Field::Name if kind == Kind::Identifier => {
                    let name = Some((v.string(), v.start()));
                    out.push(Param { name, ty: ExprId::NONE, is_variadic });
                }
                Field::Type => ty = v.type_expr(Role::Type),
                _ => {}
            });
            if out.len() == start {
                out.push(Param { name: None, ty, is_variadic });
            }
            out[start..].iter_mut().for_each(|p| p.ty = ty);
        });
        self.mend_names(&mut out);
        out
    }

    /// Mends names of parameters. In long lists the grammar does not tell names from types: in `a, b, c, d,
    /// e, f, g int` the first ones are parsed as types without a name. Go does not mix named and unnamed
    /// parameters, so next to a named one they are names that share the next type.
    fn mend_names(&mut self, params: &mut [Param]) {
        if params.iter().all(|p| p.name.is_none()) {
            return;
        }
        let mut shared: Option<ExprId> = None;
        for p in params.iter_mut().rev() {
            match self.b.get(p.ty).map(|e| (e.node, e.at)) {
                Some((Node::Name { name, .. }, at)) if p.name.is_none() => {
                    let Some(ty) = shared else { continue };
                    self.b.set_role(p.ty, Role::None);
                    (p.name, p.ty) = (Some((name, at)), ty);
                }
                _ => shared = Some(p.ty),
            }
        }
    }

    /// Results: a parameter list or one type.
    pub(super) fn results(&mut self, kind: Kind) -> Vec<Param> {
        match kind {
            Kind::ParameterList => self.params(),
            _ => vec![Param { name: None, ty: self.type_expr(Role::Type), is_variadic: false }],
        }
    }

    /// Declares receiver, parameters and named results in the innermost block, and adds them to the
    /// definition, when there is one.
    pub(super) fn declare_signature(
        &mut self,
        idx: Option<DefIdx>,
        receiver: Option<Param>,
        params: &[Param],
        results: &[Param],
    ) {
        let receivers = receiver.iter().map(|p| (p, BindingKind::Receiver));
        let all = receivers.chain(
            params.iter().map(|p| (p, if p.is_variadic { BindingKind::VarArgs } else { BindingKind::Param })),
        );
        for (p, kind) in all {
            let empty = self.b.str("");
            let (name, at) = p.name.unwrap_or((empty, 0));
            let binding = self.declare_name(name, at, kind);
            self.b.source(binding, Source::Declared(p.ty));
            if let Some(idx) = idx {
                let def = &mut self.b.defs[idx.index()];
                def.params.push(binding);
                if kind == BindingKind::VarArgs {
                    def.flags.set(DefFlags::VARIADIC);
                }
            }
        }
        for p in results {
            if let Some((name, at)) = p.name {
                let binding = self.declare_name(name, at, BindingKind::Result);
                self.b.source(binding, Source::Declared(p.ty));
            }
            if let Some(idx) = idx {
                self.b.defs[idx.index()].results.push(p.ty);
            }
        }
    }

    /// A type declaration, at file level or in a function.
    pub(super) fn types(&mut self, doc: Span) {
        let declaration = self.span();
        let is_group =
            self.text[declaration.range()].trim_start_matches("type").trim_start().starts_with('(');
        let mut docs = Docs::default();
        self.each(|v, _, kind| match kind {
            Kind::Comment => docs.comment(v),
            Kind::TypeSpec | Kind::TypeAlias => {
                let doc = if is_group { docs.take(v) } else { doc };
                let idx = v.type_spec(doc, kind == Kind::TypeAlias);
                if !is_group {
                    let def = &mut v.b.defs[idx.index()];
                    def.head.start = declaration.start;
                    def.span.start = def.span.start.min(declaration.start);
                }
                if v.n_bodies == 0 {
                    let span = v.b.defs[idx.index()].span;
                    v.pieces.push(Piece { span, def: idx, kind: ChunkKind::Type });
                }
            }
            _ => {}
        });
    }

    fn type_spec(&mut self, doc: Span, is_alias: bool) -> DefIdx {
        let is_local = self.n_bodies > 0;
        let parent = if is_local { self.owner } else { DefIdx::NONE };
        let idx =
            self.open_def(if is_alias { DefKind::Alias } else { DefKind::Type }, parent, doc, self.span());
        let outer = self.owner;
        let outer_around = std::mem::replace(&mut self.around, idx);
        let mut has_scope = false;
        self.each(|v, field, kind| match field {
            Field::Name => {
                v.name_def(idx);
                if is_local {
                    let binding = v.declare(BindingKind::Def);
                    v.b.source(binding, Source::Def(idx));
                }
            }
            Field::TypeParameters => {
                v.owner = idx;
                v.scopes.push();
                has_scope = true;
                let list = v.type_params();
                v.b.defs[idx.index()].type_params = list;
            }
            Field::Type => {
                let node_kind = match kind {
                    _ if is_alias => DefKind::Alias,
                    Kind::StructType => DefKind::Struct,
                    Kind::InterfaceType => DefKind::Interface,
                    _ => DefKind::Type,
                };
                v.b.defs[idx.index()].kind = node_kind;
                let ty = match kind {
                    Kind::StructType if !is_alias => v.struct_type(idx),
                    Kind::InterfaceType if !is_alias => v.interface_type(idx),
                    _ => v.type_expr(Role::Type),
                };
                v.b.defs[idx.index()].ty = ty;
                if let Some(brace) = v.slice().find('{')
                    && matches!(kind, Kind::StructType | Kind::InterfaceType)
                {
                    let start = v.start() + brace as u32;
                    v.end_head(idx, start);
                }
            }
            _ => {}
        });
        if has_scope {
            self.scopes.pop();
        }
        (self.owner, self.around) = (outer, outer_around);
        idx
    }

    /// A definition for an anonymous struct or interface type.
    pub(super) fn holder(&mut self, kind: DefKind) -> DefIdx {
        let here = Span::new(self.start(), self.start());
        let idx = self.open_def(kind, self.around, here, self.span());
        self.b.defs[idx.index()].flags.set(DefFlags::ANONYMOUS);
        idx
    }

    /// One declaration of fields: named, or an embedded type.
    pub(super) fn field(&mut self, holder: DefIdx, doc: Span) {
        let first = self.b.defs.len();
        let declaration = self.span();
        let head = self.first_line(declaration);
        let mut pointer_at = None;
        let mut n_names = 0;
        self.each(|v, field, kind| match field {
            Field::Name if kind == Kind::FieldIdentifier => {
                let idx = v.open_def(DefKind::Field, holder, doc, declaration);
                v.name_def(idx);
                v.b.defs[idx.index()].head = head;
                n_names += 1;
            }
            Field::Type if n_names > 0 => {
                let around = std::mem::replace(&mut v.around, DefIdx(first as u32));
                let ty = v.type_expr(Role::Type);
                v.around = around;
                v.b.defs[first..first + n_names].iter_mut().for_each(|d| d.ty = ty);
            }
            Field::Type => v.embedded(holder, doc, declaration, pointer_at),
            _ if v.cursor.node().kind_id() == v.syntax.star => pointer_at = Some(v.start()),
            _ => {}
        });
    }

    fn embedded(&mut self, holder: DefIdx, doc: Span, declaration: Span, pointer_at: Option<u32>) {
        let base = self.type_expr(Role::Base);
        let ty = match pointer_at {
            Some(at) => self.b.node(Node::Star { value: base }, at),
            None => base,
        };
        let Some((name, at)) = self.named(base) else { return };
        let idx = self.open_def(DefKind::Field, holder, doc, declaration);
        let text = self.b.text(name);
        let (len, exported) = (text.len() as u32, is_exported(text));
        let def = &mut self.b.defs[idx.index()];
        (def.name, def.name_span, def.ty) = (name, Span::new(at, at + len), ty);
        def.flags.set(DefFlags::EMBEDDED);
        if exported {
            def.flags.set(DefFlags::EXPORTED);
        }
        self.b.defs[holder.index()].bases.push(ty);
    }

    /// A method of an interface.
    pub(super) fn method_elem(&mut self, holder: DefIdx, doc: Span) {
        let idx = self.open_def(DefKind::Method, holder, doc, self.span());
        let around = std::mem::replace(&mut self.around, idx);
        let (mut params, mut results) = (Vec::new(), Vec::new());
        self.each(|v, field, kind| match field {
            Field::Name => v.name_def(idx),
            Field::Parameters => params = v.params(),
            Field::Result => results = v.results(kind),
            _ => {}
        });
        self.scopes.push();
        self.declare_signature(Some(idx), None, &params, &results);
        self.scopes.pop();
        self.around = around;
    }

    /// A `const` or `var` declaration, at file level or in a function.
    pub(super) fn values(&mut self, doc: Span) {
        let declaration = self.span();
        let mut docs = Docs::default();
        let mut repeat = (ExprId::NONE, Vec::new());
        self.value_specs(doc, declaration, &mut docs, &mut repeat);
    }

    fn value_specs(
        &mut self,
        doc: Span,
        declaration: Span,
        docs: &mut Docs,
        repeat: &mut (ExprId, Vec<ExprId>),
    ) {
        let is_group = self.text[declaration.range()]
            .trim_start_matches(['v', 'a', 'r', 'c', 'o', 'n', 's', 't'])
            .trim_start()
            .starts_with('(');
        self.each(|v, _, kind| match kind {
            Kind::Comment => docs.comment(v),
            Kind::VarSpecList => v.value_specs(doc, declaration, docs, repeat),
            // The grammar asks for the end of a statement before the bracket.
            _ if v.cursor.node().is_error() => v.value_specs(doc, declaration, docs, repeat),
            Kind::ConstSpec | Kind::VarSpec => {
                let (doc, span) = if is_group { (docs.take(v), v.span()) } else { (doc, declaration) };
                if kind == Kind::VarSpec {
                    *repeat = (ExprId::NONE, Vec::new());
                }
                v.value_spec(kind, doc, span, repeat);
            }
            _ => {}
        });
    }

    /// One specification. A constant without a value repeats the type and values before it.
    fn value_spec(&mut self, kind: Kind, doc: Span, span: Span, repeat: &mut (ExprId, Vec<ExprId>)) {
        let is_local = self.n_bodies > 0;
        let def_kind = if kind == Kind::ConstSpec { DefKind::Constant } else { DefKind::Variable };
        let first = self.b.defs.len();
        let head = self.first_line(span);
        let around = self.around;
        let mut names: Vec<(StrId, u32)> = Vec::new();
        let (mut ty, mut values) = (ExprId::NONE, Vec::new());
        self.each(|v, field, kind| match field {
            Field::Name if kind == Kind::Identifier => {
                names.push((v.string(), v.start()));
                if !is_local {
                    let idx = v.open_def(def_kind, DefIdx::NONE, doc, span);
                    v.name_def(idx);
                    v.b.defs[idx.index()].head = head;
                    v.around = DefIdx(first as u32);
                }
            }
            Field::Type => ty = v.type_expr(Role::Type),
            Field::Value if kind == Kind::ExpressionList => values = v.expr_list(Role::Read),
            _ => {}
        });
        self.around = around;
        if def_kind == DefKind::Constant && values.is_empty() {
            (ty, values) = repeat.clone();
        }
        for (i, &(name, at)) in names.iter().enumerate() {
            let (value, index) = nth_value(&values, names.len(), i);
            if is_local {
                let binding = self.declare_name(name, at, BindingKind::Local);
                match source_of(value, index, names.len() > values.len()) {
                    _ if ty != ExprId::NONE => self.b.source(binding, Source::Declared(ty)),
                    Some(source) => self.b.source(binding, source),
                    None => {}
                }
            } else {
                let def = &mut self.b.defs[first + i];
                (def.ty, def.value, def.value_index) = (ty, value, index);
            }
        }
        *repeat = (ty, values);
    }
}

/// The value that the `i`-th of `n` names gets, and which of its results.
pub(super) fn nth_value(values: &[ExprId], n: usize, i: usize) -> (ExprId, u16) {
    match values {
        [one] if n > 1 => (*one, i.min(usize::from(u16::MAX)) as u16),
        _ => (values.get(i).copied().unwrap_or(ExprId::NONE), 0),
    }
}

/// Returns the source of a name's type, given [`nth_value`].
pub(super) fn source_of(value: ExprId, index: u16, is_unpacked: bool) -> Option<Source> {
    match (value, is_unpacked) {
        (ExprId::NONE, _) => None,
        (value, true) => Some(Source::Unpacked { value, index }),
        (value, false) => Some(Source::Assigned(value)),
    }
}
