//! Import statements. `import a.b as c` is kept as the name `b` of module `a`, which means the same;
//! `import a.b` binds `a`.

use super::kinds::{F, Kind, kind};
use super::scope::ScopeKind;
use super::visit::Visitor;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{BindingKind, DefIdx, Source, StrId};
use tree_sitter::Node;

impl<'s> Visitor<'s, '_> {
    /// `import a.b, c as d`.
    pub(super) fn import(&mut self, node: Node) {
        for item in self.kids(node) {
            let (path, alias) = self.import_item(item);
            let Some(path) = path else { continue };
            let text = self.dotted(path);
            let last = self.kids(path).last().map_or(self.start(path), |c| self.start(*c));
            let first = text.split('.').next().unwrap_or("").to_owned();
            match (alias, text.rsplit_once('.')) {
                (Some(alias), Some((module, name))) => {
                    let (module, name) = (self.b.string(module), self.b.string(name));
                    self.add_import(node, module, 0, Some(name), Some(alias), ImportKind::Name, last);
                }
                (alias, _) => {
                    let module = self.b.string(&text);
                    let bound = match alias {
                        Some(a) => a,
                        // The slice of the source that spells the first component.
                        None => self
                            .text
                            .get(self.start(path) as usize..)
                            .and_then(|t| t.get(..first.len()))
                            .unwrap_or(""),
                    };
                    self.add_import(node, module, 0, None, Some(bound), ImportKind::Module, last);
                }
            }
        }
    }

    /// `from ..a import b, c as d`, `from a import *`.
    pub(super) fn import_from(&mut self, node: Node) {
        let Some(from) = self.field(node, F.module_name) else { return };
        let (mut level, mut module) = (0, String::new());
        if kind(from) == Kind::RelativeImport {
            for c in self.kids(from) {
                match kind(c) {
                    Kind::ImportPrefix => level = self.slice(c).bytes().filter(|b| *b == b'.').count() as u16,
                    _ => module = self.dotted(c),
                }
            }
        } else {
            module = self.dotted(from);
        }
        let module = self.b.string(&module);
        for item in self.kids(node) {
            if item == from {
                continue;
            }
            if kind(item) == Kind::WildcardImport {
                let star = self.b.str("*");
                let at = self.start(item);
                self.add_import(node, module, level, Some(star), None, ImportKind::All, at);
                continue;
            }
            let (path, alias) = self.import_item(item);
            let Some(path) = path else { continue };
            let text = self.slice(path);
            let name = self.b.str(text);
            let at = self.start(path);
            self.add_import(
                node,
                module,
                level,
                Some(name),
                Some(alias.unwrap_or(text)),
                ImportKind::Name,
                at,
            );
        }
    }

    fn import_item<'t>(&self, item: Node<'t>) -> (Option<Node<'t>>, Option<&'s str>) {
        match kind(item) {
            Kind::AliasedImport => {
                (self.field(item, F.name), self.field(item, F.alias).map(|a| self.slice(a)))
            }
            Kind::DottedName => (Some(item), None),
            _ => (None, None),
        }
    }

    /// A dotted name without the blanks it may be written with.
    fn dotted(&self, node: Node) -> String {
        let text = self.slice(node);
        if text.bytes().any(|b| b.is_ascii_whitespace() || b == b'\\') {
            text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
        } else {
            text.to_owned()
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one import, each given once")]
    fn add_import(
        &mut self,
        node: Node,
        module: StrId,
        level: u16,
        name: Option<StrId>,
        bound: Option<&'s str>,
        kind: ImportKind,
        at: u32,
    ) {
        let alias = bound.map(|a| self.b.str(a));
        let index = self.b.imports.len() as u32;
        let global = bound.is_some_and(|b| self.scope().outer_kind(b) == Some(true));
        let scope = if global { DefIdx::NONE } else { self.around() };
        let (span, conditional) = (self.span(node), self.n_conditions > 0);
        self.b.imports.push(Import { module, level, name, alias, kind, at, span, scope, conditional });
        if let Some(bound) = bound
            && self.scope_kind() != ScopeKind::Module
            && !global
        {
            let b = self.local(bound, at, BindingKind::Import, Some(Source::Import(index)));
            self.scope().assign(bound, b);
        }
    }
}
