//! One pass over a syntax tree that a [`super::table::Grammar`] describes: definitions, imports and where comments
//! stand.

mod imports;
mod names;

pub(super) use names::{Found, bare};

use super::compiled::{Action, Compiled};
use super::flat::Flat;
use super::made::Made;
use super::table::{Define, Exported, Head, Name, has_word};
use super::{ecma, macros, paths};
use crate::builder::Builder;
use crate::chunks::{Idle, IdleKind, Piece};
use indexd_model::limits::{DEFS_PER_FILE_MAX, PARSE_DEPTH_MAX};
use indexd_model::{ChunkKind, DefFlags, DefIdx, DefKind, Language, LineIndex, Span, StrId};
use names::{base_name, body_of, is_name};
use tree_sitter::Node;

/// Lines from which a value is a chunk of its own.
const VALUE_LINES_MIN: u32 = 6;
/// Names in one declaration; further ones are left out.
const NAMES_MAX: usize = 200;
/// Bytes of a name; longer ones are left out.
const NAME_BYTES_MAX: usize = 120;

/// What stands before a node and belongs to it.
#[derive(Clone, Copy)]
struct Lead {
    /// From the first comment or attribute on.
    start: u32,
    /// The comments; empty at `start` without one.
    doc: Span,
    /// From the first attribute, or the node itself.
    head: u32,
    /// Where it ends: the next node must follow without a blank line.
    end: u32,
    /// The end of a node around the definition alone.
    around: Option<u32>,
}

/// What a definition lies in.
#[derive(Clone, Copy)]
struct Inside {
    /// The definition around.
    owner: DefIdx,
    /// The type that a block gives members to.
    receiver: Option<StrId>,
    /// The definition whose value or type is read: its literals hold members.
    holder: DefIdx,
    /// Whether a function is around.
    in_function: bool,
    /// Whether what is around runs, by a name or without.
    is_running: bool,
    /// Whether an export is around.
    is_exported: bool,
    depth: usize,
}

/// Collects what a tree defines.
pub(super) struct Walk<'s, 'g> {
    pub(super) text: &'s str,
    pub(super) b: Builder<'s>,
    pub(super) pieces: Vec<Piece>,
    pub(super) idle: Vec<Idle>,
    pub(super) package: Option<StrId>,
    lines: &'s LineIndex,
    grammar: &'g Compiled,
    tree: &'g Flat<'g>,
    made: &'g Made<'s>,
    is_test_file: bool,
    /// The module or function that is being read, for imports in it.
    around: DefIdx,
    /// The body that a definition before it has taken.
    taken: Option<usize>,
}

impl<'s, 'g> Walk<'s, 'g> {
    pub(super) fn new(
        text: &'s str,
        lines: &'s LineIndex,
        grammar: &'g Compiled,
        tree: &'g Flat<'g>,
        made: &'g Made<'s>,
        is_test_file: bool,
    ) -> Self {
        let (pieces, idle) = (Vec::new(), Vec::new());
        let (package, around) = (None, DefIdx::NONE);
        let b = Builder::new();
        Self { text, b, pieces, idle, package, lines, grammar, tree, made, is_test_file, around, taken: None }
    }

    pub(super) fn file(&mut self) {
        let mut n_packages = 0;
        for at in self.tree.children(0) {
            let child = self.tree.node(at);
            if self.grammar.table.packages.contains(&child.kind()) {
                n_packages += 1;
                let name = paths::package(self.slice(child)).map(|name| self.b.str(name));
                self.package = name.filter(|_| n_packages == 1);
            }
            let is = match self.action(at) {
                Action::Comment => IdleKind::Comment,
                Action::Import => IdleKind::Import,
                Action::Wrapper if child.child_by_field_name("source").is_some() => IdleKind::Import,
                _ => continue,
            };
            self.idle.push(Idle { span: self.trimmed(child), is });
        }
        let inside = Inside {
            owner: DefIdx::NONE,
            receiver: None,
            holder: DefIdx::NONE,
            in_function: false,
            is_running: false,
            is_exported: false,
            depth: 0,
        };
        self.children(0, inside, None);
    }

    fn action(&self, at: usize) -> Action {
        self.grammar.action(self.tree.kind_id(at))
    }

    pub(super) fn slice(&self, node: Node) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub(super) fn span(&self, node: Node) -> Span {
        Span { start: node.start_byte() as u32, end: node.end_byte() as u32 }
    }

    /// The span without blanks at the end: line comments of some grammars hold the end of the line.
    fn trimmed(&self, node: Node) -> Span {
        let span = self.span(node);
        Span { start: span.start, end: span.start + self.slice(node).trim_end().len() as u32 }
    }

    /// Visits the children of a node; `lead` is what stands before the node when it is a wrapper.
    fn children(&mut self, at: usize, inside: Inside, lead: Option<Lead>) {
        if inside.depth >= PARSE_DEPTH_MAX {
            return;
        }
        let inside = Inside { depth: inside.depth + 1, ..inside };
        let mut pending = lead;
        let tree = self.tree;
        for child in tree.children(at) {
            if self.b.defs.len() > DEFS_PER_FILE_MAX {
                return;
            }
            if self.taken == Some(child) {
                pending = lead;
                continue;
            }
            match self.action(child) {
                Action::Comment => pending = self.after_comment(tree.node(child), pending),
                Action::Attribute => pending = Some(self.after_attribute(tree.node(child), pending)),
                action => {
                    let follows = |l: &Lead| l.around.is_some() || self.follows(l.end, tree.node(child));
                    let lead = pending.take().filter(follows);
                    self.visit(child, action, inside, lead);
                    // A wrapper may hold attributes before the definition.
                    pending = lead.filter(|l| l.around.is_some());
                }
            }
        }
    }

    fn visit(&mut self, at: usize, action: Action, inside: Inside, lead: Option<Lead>) {
        let node = self.tree.node(at);
        match action {
            Action::Define(rules) => {
                if self.imports_of(node) {
                    return;
                }
                for &rule in rules {
                    if self.define(at, rule, 0, inside, lead) {
                        let others = if rule.each.is_empty() { 1 } else { NAMES_MAX };
                        (1..others).all(|n| self.define(at, rule, n, inside, lead));
                        return;
                    }
                }
                self.children(at, inside, None);
            }
            Action::Owner(field) => self.owner(at, field, inside, lead),
            Action::Wrapper => {
                let around = lead.and_then(|l| l.around).unwrap_or(node.end_byte() as u32);
                let lead = Lead { around: Some(around), ..self.lead_of(node, lead) };
                self.imports_of(node);
                if let Some(rule) = ecma::wrapped(node)
                    && self.define(at, rule, 0, inside, Some(lead))
                {
                    return;
                }
                let is_exported = inside.is_exported || node.kind() == "export_statement";
                self.children(at, Inside { is_exported, ..inside }, Some(lead));
            }
            Action::Import => {
                if !self.imports_of(node) {
                    self.children(at, inside, None);
                }
            }
            Action::Runs => {
                self.children(at, Inside { is_running: true, holder: DefIdx::NONE, ..inside }, None);
            }
            Action::Comment | Action::Attribute | Action::None => self.children(at, inside, None),
        }
    }

    /// Whether a node starts on the line after `end` at the latest.
    fn follows(&self, end: u32, node: Node) -> bool {
        let between = self.text.get(end as usize..node.start_byte()).unwrap_or("");
        between.bytes().filter(|b| *b == b'\n').count() <= 1 && between.trim().is_empty()
    }

    fn lead_of(&self, node: Node, lead: Option<Lead>) -> Lead {
        let start = node.start_byte() as u32;
        lead.unwrap_or(Lead { start, doc: Span { start, end: start }, head: start, end: start, around: None })
    }

    /// A comment on a line of its own starts a doc or goes on with one.
    fn after_comment(&self, node: Node, pending: Option<Lead>) -> Option<Lead> {
        let span = self.trimmed(node);
        if let Some(lead) = pending.filter(|l| l.around.is_none() && self.follows(l.end, node)) {
            return Some(Lead { doc: Span { start: lead.start, end: span.end }, end: span.end, ..lead });
        }
        let line = self.lines.span(self.lines.line(span.start)).start;
        let is_first = self.text.get(line as usize..span.start as usize).unwrap_or("x").trim().is_empty();
        let around = pending.and_then(|l| l.around);
        if around.is_some() {
            return pending;
        }
        is_first.then_some(Lead { start: span.start, doc: span, head: u32::MAX, end: span.end, around: None })
    }

    fn after_attribute(&self, node: Node, pending: Option<Lead>) -> Lead {
        let span = self.span(node);
        match pending.filter(|l| l.around.is_some() || self.follows(l.end, node)) {
            Some(lead) => Lead { head: lead.head.min(span.start), end: span.end, ..lead },
            None => {
                let doc = Span { start: span.start, end: span.start };
                Lead { start: span.start, doc, head: span.start, end: span.end, around: None }
            }
        }
    }

    fn owner(&mut self, at: usize, field: &str, inside: Inside, lead: Option<Lead>) {
        let node = self.tree.node(at);
        let named = node.child_by_field_name(field).map(|n| base_name(self.slice(n)));
        let receiver = named.filter(|n| is_name(n)).unwrap_or("[]");
        let receiver = Some(self.b.str(receiver));
        let span = Span { start: self.lead_of(node, lead).start, end: node.end_byte() as u32 };
        // A block that gives a type the members of another one says so, with members or without.
        if node.child_by_field_name("trait").is_some() {
            let (name, start) =
                (self.b.str(""), Span { start: self.span(node).start, end: self.span(node).start });
            let mut def = self.b.blank_def(name, DefKind::Constant, inside.owner, start, self.span(node));
            def.flags = DefFlags::ANONYMOUS.with(DefFlags::LOCAL).with(DefFlags::OF_VALUE);
            self.b.def(def);
        }
        if !inside.in_function {
            self.pieces.push(Piece { span, def: DefIdx::NONE, kind: ChunkKind::Between });
        }
        self.children(at, Inside { receiver, ..inside }, None);
    }

    /// Adds the definition that a rule finds in a node at the `n`th of its names, and, with the first, what
    /// the node holds; false when it finds none.
    fn define(
        &mut self,
        at: usize,
        rule: &'static Define,
        n: usize,
        inside: Inside,
        lead: Option<Lead>,
    ) -> bool {
        let node = self.tree.node(at);
        let around = self.tree.parent(at).map_or("", |p| self.tree.node(p).kind());
        if !rule.within.is_empty() && rule.within != around {
            return false;
        }
        let Some(found) = self.find_name(at, rule, n) else { return false };
        let Some(inside) = self.inside_head(at, rule, &found, inside) else { return false };
        let body = self.body_at(at, rule);
        let is_ecma = ecma::is_ecma(self.grammar.table.language);
        if is_ecma && !ecma::is_definition(node, rule.kind, found.is_function) {
            return false;
        }
        let is_of_value = is_ecma && ecma::holds_members(around);
        let is = self.kind_of(rule, &found, inside, is_of_value);
        let is_outside = self.is_elsewhere(node, rule, &found, inside, is_of_value);
        let lead = self.lead_of(node, lead);
        let own_end = body.map_or(0, |b| b.end_byte()).max(node.end_byte()) as u32;
        let end = lead.around.unwrap_or(own_end).max(own_end);
        let head_start = lead.head.min(self.head_start(node, &lead));
        let span = Span { start: lead.start.min(head_start), end };
        // Tokens of broken source may begin or end within a character.
        if [found.span, span].into_iter().any(|s| self.text.get(s.range()).is_none()) {
            return false;
        }
        let before = self.text.get(head_start as usize..found.span.start as usize).unwrap_or("");
        let of_class = if is_ecma { self.of_class(rule, &found, before, inside) } else { ecma::OfClass::No };
        let is_member_of_local = (is_ecma || self.has_declared_types()) && self.is_type(inside.owner);
        // Constants of functions are items there.
        let is_item = self.grammar.table.language == Language::Rust;
        let is_local = is_value(is) && inside.is_running && !is_member_of_local && !is_item || is_outside;
        let has_no_place = of_class.class().is_none() && is_local || of_class == ecma::OfClass::None;
        if rule.needs_body && body.is_none() || has_no_place {
            return false;
        }
        if !rule.word.is_empty() && !self.has_rule_word(before, rule) {
            return false;
        }
        let (owner, receiver) = match of_class.class() {
            Some(class) => (class, None),
            None if is_of_value => (inside.holder, None),
            None => self.owner_of(is, inside, found.receiver),
        };
        let name = self.b.string(&found.name);
        let mut def = self.b.blank_def(name, is, owner, found.span, span);
        def.receiver = receiver;
        def.doc = lead.doc;
        def.head = self.head_of(body, head_start, end);
        def.flags = match rule.name {
            Name::Unnamed(_) => DefFlags::ANONYMOUS.with(DefFlags::LOCAL),
            _ => self.flags(&found.name, is, before, inside, owner, rule),
        };
        if node.kind().ends_with("_signature") && is.is_callable() {
            def.flags.set(DefFlags::OVERLOAD);
        }
        let is_member = of_class.class().is_some() || is_of_value;
        let is_passed_on = inside.is_exported && !inside.in_function && ecma::PATTERNS.contains(&rule.kind);
        ecma::mark_member(&mut def, of_class, is_of_value, is_passed_on);
        let idx = self.b.def(def);
        if n > 0 {
            return true;
        }
        if !is_member {
            self.piece(idx, is, span, body.is_some(), inside);
        }
        self.inside_of(at, idx, is, rule, inside);
        true
    }

    /// The head of a definition, up to its body.
    fn head_of(&self, body: Option<Node>, start: u32, end: u32) -> Span {
        let head_end = body.map_or(end, |b| (b.start_byte() as u32).max(start));
        let head = self.text.get(start as usize..head_end as usize).unwrap_or("");
        let head = head.trim_end().trim_end_matches('{').trim_end();
        Span { start, end: start + head.len() as u32 }
    }

    /// Whether a definition is code, and whether what it holds belongs to it.
    fn owns(&self, at: usize, is: DefKind, rule: &Define) -> (bool, bool) {
        // A block behind symbols belongs to the type around.
        let is_code = is.is_callable() && !matches!(rule.name, Name::Symbols(_));
        let is_typed = self.grammar.typed.is_some();
        // A constant of an enumeration may have a body of its own.
        let has_members = is_typed
            && is == DefKind::Constant
            && (self.body_at(at, rule).is_some() || rule.kind == "enum_variant");
        (
            is_code,
            is_code || is.is_type() || is == DefKind::Module || has_members || self.has_unnamed_type(at),
        )
    }

    /// Visits what a definition holds.
    fn inside_of(&mut self, at: usize, idx: DefIdx, is: DefKind, rule: &Define, inside: Inside) {
        let (is_code, owns) = self.owns(at, is, rule);
        let runs = is_code && !ecma::SIGNATURES.contains(&rule.kind);
        let is_class = matches!(is, DefKind::Class | DefKind::Module | DefKind::Struct);
        let inner = Inside {
            owner: if owns { idx } else { inside.owner },
            receiver: if owns { None } else { inside.receiver },
            holder: if runs || is_class { DefIdx::NONE } else { idx },
            in_function: inside.in_function || runs,
            // Members of a type inside of a function are no local variables.
            is_running: inside.in_function || runs || inside.is_running && !is.is_type(),
            is_exported: false,
            depth: inside.depth,
        };
        let around = if self.has_scope(is) { std::mem::replace(&mut self.around, idx) } else { self.around };
        self.children(at, inner, None);
        if let Some(behind) = self.body_behind(at, rule) {
            self.children(behind, inner, None);
            self.taken = Some(behind);
        }
        self.around = around;
    }

    /// Whether names that a definition holds are told apart by it.
    fn has_scope(&self, is: DefKind) -> bool {
        matches!(self.grammar.table.language, Language::Rust | Language::Cpp)
            && (is == DefKind::Module || is.is_callable())
    }

    /// The class that a parameter or an assignment gives a field to.
    fn of_class(&mut self, rule: &Define, found: &Found, before: &str, inside: Inside) -> ecma::OfClass {
        use ecma::OfClass;
        let of_this = found.receiver.as_deref().is_some_and(|r| r.starts_with("this"));
        let is_parameter = ecma::PARAMETERS.contains(&rule.kind);
        let is_field = match (rule.kind, rule.is) {
            ("assignment_expression", _) if rule.only_function => {
                return if of_this { OfClass::None } else { OfClass::No };
            }
            ("assignment_expression", DefKind::Variable) => return self.of_value_given(found, inside),
            ("assignment_expression", _) => found.receiver.as_deref() == Some("this"),
            _ if !is_parameter => return OfClass::No,
            _ => has_word(before, &["public", "private", "protected", "readonly", "override"]),
        };
        let Some(class) = self.class_around(inside.owner, !is_parameter).filter(|_| is_field) else {
            return OfClass::None;
        };
        let is_it = |d: &indexd_model::Def| d.parent == class && self.b.text(d.name) == found.name;
        let is_known = !is_parameter && self.b.defs.iter().rev().any(is_it);
        if is_known { OfClass::None } else { OfClass::Of(class) }
    }

    /// The class around a definition, or else the outermost function, which may make values as one does.
    fn class_around(&self, owner: DefIdx, may_be_function: bool) -> Option<DefIdx> {
        let around = std::iter::successors(owner.some(), |d| self.b.defs[d.index()].parent.some());
        let class = around.clone().find(|d| self.b.defs[d.index()].kind.is_type());
        let function =
            || around.last().filter(|f| may_be_function && self.b.defs[f.index()].receiver.is_none());
        class.or_else(function)
    }

    /// A value that is given to a member of something at file level, the first time.
    fn of_value_given(&self, found: &Found, inside: Inside) -> ecma::OfClass {
        let to = found.receiver.as_deref().unwrap_or("");
        let is_loose =
            to.is_empty() || to.starts_with("this") || matches!(to, "module" | "window" | "global");
        let is_known = || {
            let same = |d: &indexd_model::Def| {
                d.receiver.is_some_and(|r| self.b.text(r) == to) && self.b.text(d.name) == found.name
            };
            self.b.defs.iter().any(same)
        };
        if is_loose || inside.in_function || inside.is_running || is_known() {
            return ecma::OfClass::None;
        }
        ecma::OfClass::No
    }

    /// Whether a rule is not meant for a definition where it stands.
    fn is_elsewhere(
        &self,
        node: Node,
        rule: &Define,
        found: &Found,
        inside: Inside,
        is_of_value: bool,
    ) -> bool {
        let in_type = self.is_type(inside.owner);
        rule.in_type && !in_type && !is_of_value
            || rule.outside && (inside.in_function || in_type)
            || rule.only_function && !found.is_function
            // A function in a variable of a function is a local value.
            || found.is_function && rule.is == DefKind::Variable && inside.in_function
            || !rule.values.is_empty() && !self.has_value(node, rule)
    }

    /// Where a definition lies: what is around, or for a parameter in the head of a type, that type.
    fn inside_head(&self, at: usize, rule: &Define, found: &Found, inside: Inside) -> Option<Inside> {
        let Some(is_member) = rule.in_head else { return Some(inside) };
        let of = inside.owner.some()?;
        let owner = if self.is_type(of) { of } else { self.b.defs[of.index()].parent };
        let ty = &self.b.defs[owner.some().filter(|o| self.is_type(*o))?.index()];
        let around = self.tree.parent(self.tree.parent(at)?)?;
        let head = Head {
            around: self.tree.node(around).kind(),
            words: self.text.get(ty.head.start as usize..ty.name_span.start as usize).unwrap_or(""),
            before: self.text.get(self.tree.node(at).start_byte()..found.span.start as usize).unwrap_or(""),
        };
        let in_function = ty.flags.has(DefFlags::LOCAL);
        is_member(&head).then_some(Inside { owner, receiver: None, in_function, is_running: false, ..inside })
    }

    fn body_at(&self, at: usize, rule: &Define) -> Option<Node<'g>> {
        let behind = self.body_behind(at, rule).map(|b| self.tree.node(b));
        behind.or_else(|| body_of(self.tree.node(at), rule))
    }

    /// The body behind the call of a macro that stands for a head.
    fn body_behind(&self, at: usize, rule: &Define) -> Option<usize> {
        let is_call = matches!(rule.name, Name::Macro) && rule.body.is_empty();
        let next = is_call.then(|| self.tree.within(at).end)?;
        let is_body = next < self.tree.len()
            && self.tree.parent(next) == self.tree.parent(at)
            && self.tree.node(next).kind() == "compound_statement";
        is_body.then_some(next)
    }

    /// Whether the value of an assignment begins as a rule asks.
    fn has_value(&self, node: Node, rule: &Define) -> bool {
        let value = node.child_by_field_name("right").map_or("", |v| self.slice(v));
        rule.values.iter().any(|v| value.starts_with(v))
    }

    /// Whether the word of a rule stands before a name; words of SQL have no case.
    fn has_rule_word(&self, before: &str, rule: &Define) -> bool {
        match self.grammar.table.language {
            Language::Sql => has_word(&before.to_ascii_lowercase(), &[rule.word]),
            _ => has_word(before, &[rule.word]),
        }
    }

    /// Where the head starts without attributes: at the node, or at the wrapper around it.
    fn head_start(&self, node: Node, lead: &Lead) -> u32 {
        if lead.around.is_none() {
            return node.start_byte() as u32;
        }
        // Behind the doc of the wrapper.
        let from = lead.doc.end.max(lead.start);
        let text = self.text.get(from as usize..node.start_byte()).unwrap_or("");
        from + (text.len() - text.trim_start().len()) as u32
    }

    fn kind_of(&self, rule: &Define, found: &Found, inside: Inside, is_of_value: bool) -> DefKind {
        let in_type = inside.receiver.is_some() || found.receiver.is_some() || self.is_type(inside.owner);
        // Types within functions have members too.
        let is_member = in_type && (!inside.in_function || self.has_declared_types());
        let is = match found.is_function {
            _ if found.is_class => DefKind::Class,
            true => DefKind::Function,
            false => rule.is,
        };
        match is {
            DefKind::Function if is_of_value => DefKind::Method,
            DefKind::Variable if is_of_value => DefKind::Field,
            DefKind::Function if is_member => DefKind::Method,
            DefKind::Variable if is_member => DefKind::Field,
            other => other,
        }
    }

    /// Whether members of a definition are members of a type; a variable of C may have one without a name.
    fn is_type(&self, def: DefIdx) -> bool {
        let is_value = |kind| self.is_cfamily() && matches!(kind, DefKind::Variable | DefKind::Field);
        def.some().is_some_and(|d| {
            let kind = self.b.defs[d.index()].kind;
            kind.is_type() || kind == DefKind::Constant || is_value(kind)
        })
    }

    /// Whether types within functions have members.
    fn has_declared_types(&self) -> bool {
        self.grammar.typed.is_some() || self.is_cfamily()
    }

    fn is_cfamily(&self) -> bool {
        self.grammar.cfamily.is_some()
    }

    /// Whether a declaration of C holds a type without a name, whose members are those of what it declares.
    fn has_unnamed_type(&self, at: usize) -> bool {
        let ty = self.is_cfamily().then(|| self.tree.node(at).child_by_field_name("type")).flatten();
        ty.is_some_and(|t| {
            t.child_by_field_name("body").is_some()
                && t.child_by_field_name("name").is_none()
                && t.kind() != "enum_specifier"
        })
    }

    /// The definition that a new one belongs to, or the name of its type. A struct in a typedef
    /// stands beside it.
    fn owner_of(&mut self, is: DefKind, inside: Inside, receiver: Option<String>) -> (DefIdx, Option<StrId>) {
        let receiver = receiver.map(|r| self.b.string(&r)).or(inside.receiver);
        let owner = match inside.owner.some() {
            _ if self.is_directive(is) => DefIdx::NONE,
            Some(o) if is.is_type() && self.b.defs[o.index()].kind == DefKind::Alias => {
                self.b.defs[o.index()].parent
            }
            _ => inside.owner,
        };
        (owner, receiver)
    }

    fn flags(
        &self,
        name: &str,
        is: DefKind,
        before: &str,
        inside: Inside,
        owner: DefIdx,
        rule: &Define,
    ) -> DefFlags {
        let mut flags = DefFlags::default();
        let mut set = |is: bool, flag: DefFlags| {
            if is {
                flags.set(flag);
            }
        };
        let in_type = inside.receiver.is_some() || self.is_type(owner);
        let is_exported = self.is_exported(name, before, in_type, rule);
        let in_function = inside.in_function && !self.is_directive(is);
        set(is_exported && !in_function, DefFlags::EXPORTED);
        set(in_function, DefFlags::LOCAL);
        set(has_word(before, &["static"]) && in_type, DefFlags::STATIC);
        set(has_word(before, &["async", "suspend"]), DefFlags::ASYNC);
        set(has_word(before, &["abstract"]), DefFlags::ABSTRACT);
        let is_title =
            matches!(rule.name, Name::Call(_)) || matches!(rule.name, Name::Macro) && macros::is_title(name);
        set(is_title || self.is_marked_as_test(name, is, before, rule), DefFlags::TEST);
        set(is_title, DefFlags::TITLE);
        flags.set((self.grammar.table.marks)(is, before, rule));
        flags
    }

    /// Whether a definition is one of the preprocessor of C, which knows no scopes.
    fn is_directive(&self, is: DefKind) -> bool {
        is == DefKind::Macro && self.is_cfamily()
    }

    /// Whether the words before a definition, or its name in a file of tests, say that it is a test.
    fn is_marked_as_test(&self, name: &str, is: DefKind, before: &str, rule: &Define) -> bool {
        let is_named = self.is_test_file && is.is_callable() && name.starts_with("test");
        let is_macro = matches!(rule.name, Name::Macro) && macros::is_test(before);
        is_named || is_macro || self.grammar.table.test_marks.iter().any(|m| before.contains(m))
    }

    /// Whether others can name a definition, by the words before it.
    fn is_exported(&self, name: &str, before: &str, in_type: bool, rule: &Define) -> bool {
        match self.grammar.table.exported {
            // A parameter in the head of a record has no words of its own.
            Exported::With(_) if rule.in_head.is_some() => true,
            Exported::With(words) => has_word(before, words),
            Exported::Without(words) => !has_word(before, words),
            Exported::Outside(_) if in_type => {
                !has_word(before, &["private", "protected"]) && !name.starts_with('#')
            }
            Exported::Outside(words) => has_word(before, words),
        }
    }

    /// Functions, types and long values are chunks of their own.
    fn piece(&mut self, def: DefIdx, is: DefKind, span: Span, has_body: bool, inside: Inside) {
        let n_lines = self.lines.lines(span).count();
        let in_type = self.is_type(inside.owner) || inside.receiver.is_some();
        let kind = match is {
            _ if inside.in_function || self.b.defs[def.index()].flags.has(DefFlags::ANONYMOUS) => return,
            DefKind::Macro => ChunkKind::Definition,
            DefKind::Module => ChunkKind::Type,
            is if is.is_type() && (n_lines > 1 || !in_type) => ChunkKind::Type,
            is if is.is_callable() && has_body => ChunkKind::Definition,
            _ if n_lines >= VALUE_LINES_MIN && !in_type => ChunkKind::Definition,
            _ => return,
        };
        self.pieces.push(Piece { span, def, kind });
    }
}

/// Whether a definition is neither called nor a type or module.
fn is_value(is: DefKind) -> bool {
    !is.is_callable() && !is.is_type() && is != DefKind::Module
}
