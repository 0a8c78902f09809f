//! Imports, read off their nodes.

use super::names::{first_string, is_name};
use super::{NAME_BYTES_MAX, Walk};
use crate::grammars::table::Written;
use crate::grammars::{cfamily, ecma, paths};
use indexd_model::StrId;
use indexd_model::facts::{Import, ImportKind};
use tree_sitter::Node;

impl<'s, 'g> Walk<'s, 'g> {
    /// Adds what a node imports; false when it turns out not to be an import.
    pub(in crate::grammars) fn imports_of(&mut self, node: Node) -> bool {
        let Some(module) = self.grammar.import_of(node) else { return false };
        match module {
            Written::Ecma => return ecma::import(self, node),
            Written::Using => cfamily::scoped_import(self, node),
            Written::Quoted => {
                let Some(string) = first_string(node, 4) else { return false };
                let text = self.slice(string);
                let inner = text.trim_matches(['"', '\'', '<', '>', '`']);
                let at = string.start_byte() as u32 + u32::from(inner.len() < text.len());
                let is_local = match node.kind() {
                    "preproc_include" => text.starts_with('"'),
                    _ => self.slice(node).contains("__DIR__"),
                };
                self.add(inner, at, node, ImportKind::All, u16::from(is_local));
            }
            Written::Paths(words) => {
                for part in paths::parts(self.slice(node), words) {
                    self.add_path(&part, node);
                }
            }
            Written::Module => {
                let name = node.child_by_field_name("name");
                let Some(name) = name.filter(|_| node.child_by_field_name("body").is_none()) else {
                    return false;
                };
                let (module, at) = (self.b.str(self.slice(name)), name.start_byte() as u32);
                self.add_import(node, module, None, Some(module), ImportKind::Module, at, 1);
            }
            Written::Dotted(words) => self.dotted(node, words),
            Written::Call(functions) => {
                let called = ["function", "method", "name"].iter().find_map(|f| node.child_by_field_name(f));
                if !called.is_some_and(|c| functions.contains(&self.slice(c))) {
                    return false;
                }
                let argument = ["arguments", "argument"].iter().find_map(|f| node.child_by_field_name(f));
                let Some(string) = argument.and_then(|a| first_string(a, 3)) else { return false };
                let text = self.slice(string);
                let inner = text.trim_matches(['"', '\'']);
                let at = string.start_byte() as u32 + u32::from(inner.len() < text.len());
                let called = called.map_or("", |c| self.slice(c));
                self.called_import(called, inner, at, node);
            }
        }
        true
    }

    /// An import by a call: `require_relative` and `source` name a file, `require` of Lua may be
    /// bound to a name.
    fn called_import(&mut self, called: &str, inner: &'s str, at: u32, node: Node) {
        if matches!(called, "source" | ".") {
            let (cut, is_local) = paths::beside_script(inner);
            let level = u16::from(is_local);
            return self.add(&inner[cut..], at + cut as u32, node, ImportKind::All, level);
        }
        if called == "require_relative" {
            return self.add(inner, at, node, ImportKind::All, 1);
        }
        let list = node.parent().filter(|p| p.kind() == "expression_list" && p.named_child_count() == 1);
        let bound = list.and_then(|l| l.parent()?.named_child(0)).filter(|v| v.named_child_count() == 1);
        match bound.filter(|v| v.kind() == "variable_list") {
            Some(bound) if is_name(self.slice(bound)) => {
                let (module, alias) = (self.b.str(inner), self.b.str(self.slice(bound)));
                self.add_import(node, module, None, Some(alias), ImportKind::Module, at, 0);
            }
            _ => self.add(inner, at, node, ImportKind::Module, 0),
        }
    }

    /// A module, or a file whose names all become visible; `level` is 1 where its path starts at the folder of this one.
    fn add(&mut self, path: &'s str, at: u32, node: Node, kind: ImportKind, level: u16) {
        if path.is_empty() || path.len() > NAME_BYTES_MAX * 4 {
            return;
        }
        let module = self.b.str(path);
        self.add_import(node, module, None, None, kind, at, level);
    }

    fn add_path(&mut self, part: &paths::Part<'s>, node: Node) {
        if part.path.is_empty() || part.path.len() > NAME_BYTES_MAX * 4 {
            return;
        }
        let module = self.b.string(&part.path);
        let alias = part.alias.map(|a| self.b.str(a));
        let kind = if part.is_all { ImportKind::All } else { ImportKind::Module };
        let at = node.start_byte() as u32 + part.at as u32;
        self.add_import(node, module, None, alias, kind, at, 0);
    }

    fn dotted(&mut self, node: Node, words: &[&str]) {
        let text = self.slice(node);
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            match words
                .iter()
                .find_map(|w| rest.strip_prefix(w).filter(|r| r.starts_with(char::is_whitespace)))
            {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        let is_alias = |i: &usize| !rest[..*i].contains('{');
        let rest = rest.find('=').filter(is_alias).map_or(rest, |i| rest[i + 1..].trim_start());
        let ends = [" as ", "{", ";", "\n"];
        let end = ends.iter().filter_map(|e| rest.find(e)).min().unwrap_or(rest.len());
        let module = rest[..end].trim().trim_end_matches("::").trim_end_matches('.').trim_end_matches('\\');
        let at = node.start_byte() + (text.len() - rest.len());
        self.add(module, at as u32, node, ImportKind::Module, 0);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one import, each given once")]
    pub(in crate::grammars) fn add_import(
        &mut self,
        node: Node,
        module: StrId,
        name: Option<StrId>,
        alias: Option<StrId>,
        kind: ImportKind,
        at: u32,
        level: u16,
    ) {
        let span = self.span(node);
        let scope = self.around;
        self.b.imports.push(Import { module, level, name, alias, kind, at, span, scope, conditional: false });
    }
}
