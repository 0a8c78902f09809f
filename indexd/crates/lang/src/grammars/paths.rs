//! Imports by a path, for languages that are followed within files and through imports, and the keys
//! under which their definitions are found.

use crate::builder::Builder;
use crate::digest::of_imports;
use indexd_model::facts::Import;
use indexd_model::key::ECMA_EXPORTS;
use indexd_model::names::qualified_name;
use indexd_model::{
    Def, DefFlags, DefIdx, DefKind, Entry, ExprId, Facts, Interface, Key, Language, Role, StrId,
};

/// Scope of the keys of names at file level, before the path.
pub(super) const SCOPE: &str = "names:";

/// Braces inside each other that are read.
const DEPTH_MAX: u32 = 8;
/// What one statement may import.
const PARTS_MAX: usize = 500;

/// One thing that a statement imports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'s> {
    /// The whole path, its parts as the language joins them.
    pub(super) path: String,
    /// The name it gets in this file; `None` where everything in it is imported.
    pub(super) alias: Option<&'s str>,
    pub(super) is_all: bool,
    /// Where the last name of the path stands.
    pub(super) at: usize,
}

/// What an import statement names: `use a::{b, c as d, e::*};`, `import a.b.C`, `use A\{B, C}`.
pub(super) fn parts<'s>(text: &'s str, words: &[&str]) -> Vec<Part<'s>> {
    let mut reader = Reader { text, at: 0, out: Vec::new() };
    while reader.word(words) {}
    reader.list("", DEPTH_MAX);
    reader.out
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
    out: Vec<Part<'s>>,
}

impl<'s> Reader<'s> {
    fn rest(&mut self) -> &'s str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    /// Passes over one of `words`, and over what stands in brackets behind it.
    fn word(&mut self, words: &[&str]) -> bool {
        let rest = self.rest();
        let is_end = |r: &str| !r.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let Some(word) = words.iter().find(|w| rest.strip_prefix(**w).is_some_and(is_end)) else {
            return false;
        };
        self.at += word.len();
        let rest = self.rest();
        if rest.starts_with('(') {
            self.at += rest.find(')').map_or(rest.len(), |i| i + 1);
        }
        true
    }

    fn eat(&mut self, token: &str) -> bool {
        let is = self.rest().starts_with(token);
        if is {
            self.at += token.len();
        }
        is
    }

    fn name(&mut self) -> &'s str {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '`');
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn list(&mut self, prefix: &str, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        while self.out.len() < PARTS_MAX {
            while self.word(&["function", "const"]) {}
            let before = self.at;
            self.item(prefix, depth);
            if !self.eat(",") || self.at == before {
                return;
            }
        }
    }

    fn item(&mut self, prefix: &str, depth: u32) {
        let mut path = prefix.to_owned();
        if !self.eat("::") {
            self.eat("\\");
        }
        loop {
            if self.eat("{") {
                self.list(&path, depth);
                self.eat("}");
                return;
            }
            if self.eat("*") {
                return self.add(path, None, self.at - 1, true);
            }
            self.rest();
            let at = self.at;
            let name = self.name();
            if name.is_empty() {
                return;
            }
            // `import a._` of Scala; `use a::{self}` of Rust names `a` itself.
            if name == "_" && !path.is_empty() {
                return self.add(path, None, at, true);
            }
            if name == "self" && !path.is_empty() {
                let own = path.rsplit("::").next().unwrap_or("").len();
                let alias = &prefix[prefix.len() - own..];
                let alias = self.alias().or_else(|| self.text.find(alias).map(|i| &self.text[i..i + own]));
                return self.add(path, alias, at, false);
            }
            let joint = if path.is_empty() { "" } else { self.joint() };
            path.push_str(joint);
            path.push_str(name.trim_matches('`').trim_start_matches("r#"));
            if !["::", ".", "\\"].iter().any(|j| self.eat(j)) {
                let alias = self.alias().unwrap_or(name.trim_matches('`'));
                return self.add(path, Some(alias), at, false);
            }
        }
    }

    /// What joins the parts of a path in this statement.
    fn joint(&self) -> &'static str {
        ["::", "\\", "."].into_iter().find(|j| self.text.contains(j)).unwrap_or(".")
    }

    fn alias(&mut self) -> Option<&'s str> {
        let is_behind = self.word(&["as"]) || self.eat("=>");
        is_behind.then(|| self.name())
    }

    fn add(&mut self, path: String, alias: Option<&'s str>, at: usize, is_all: bool) {
        // `use a as _` and `a => _` bind nothing.
        let alias = alias.filter(|a| *a != "_");
        self.out.push(Part { path, alias, is_all, at });
    }
}

/// The name in a package clause or at the head of a namespace.
pub(super) fn package(text: &str) -> Option<&str> {
    let end = text.find(['{', ';', '\n']).unwrap_or(text.len());
    let name = text[..end].split_whitespace().next_back()?;
    (!matches!(name, "package" | "namespace")).then_some(name)
}

/// The table that a Lua file gives functions to, where that is one: it stands for the module.
pub(super) fn table_of_lua(b: &Builder, language: Language) -> Option<StrId> {
    let mut tables = b.defs.iter().filter(|d| language == Language::Lua && d.kind.is_callable());
    let first = tables.find_map(|d| d.receiver)?;
    tables.all(|d| d.receiver.is_none_or(|r| r == first)).then_some(first)
}

/// How much of the path of a sourced script only says "beside this script", and whether what is left is
/// a path from there.
pub(super) fn beside_script(path: &str) -> (usize, bool) {
    const BESIDE: [&str; 8] = [
        "$(dirname \"$0\")/",
        "$(dirname $0)/",
        "$(dirname -- \"$0\")/",
        "$(dirname \"${BASH_SOURCE[0]}\")/",
        "$(dirname -- \"${BASH_SOURCE[0]}\")/",
        "$(dirname \"$BASH_SOURCE\")/",
        "${BASH_SOURCE%/*}/",
        "${0%/*}/",
    ];
    let cut = BESIDE.iter().find(|b| path.starts_with(**b)).map_or(0, |b| b.len());
    let rest = &path[cut..];
    (cut, !rest.contains(['$', '`']) && !rest.starts_with(['/', '~']))
}

/// Gives each type the expressions in its head that name bases.
pub(super) fn give_bases(b: &mut Builder) {
    let bases: Vec<(u32, ExprId)> = (0..b.n_exprs())
        .map(ExprId)
        .filter_map(|e| b.get(e).filter(|x| x.role == Role::Base).map(|x| (x.at, e)))
        .collect();
    for def in b.defs.iter_mut().filter(|d| d.kind.is_type()) {
        def.bases.extend(bases.iter().filter(|(at, _)| def.head.holds(*at)).map(|(_, e)| *e));
    }
}

/// Keys under which a definition is found without its path: in its package, or by its name among what a
/// file includes.
pub(super) fn shared_keys(facts: &Facts, idx: DefIdx) -> Vec<(Key, DefIdx)> {
    let def = facts.def(idx);
    if def.parent.some().is_some() || def.receiver.is_some() || def.flags.has(DefFlags::LOCAL) {
        return Vec::new();
    }
    let name = facts.str(def.name);
    let package = facts.interface.package.map_or("", |p| facts.str(p));
    let keys = match facts.interface.language {
        Language::Java | Language::Kotlin | Language::Scala => {
            vec![Key::member(&format!("jvm:{package}"), name)]
        }
        Language::Php => vec![Key::member(&format!("php:{package}"), name)],
        Language::Ruby if def.kind.is_type() || def.kind == DefKind::Module => vec![Key::any("ruby", name)],
        Language::Bash if def.kind.is_callable() => vec![Key::any("sh", name)],
        _ => Vec::new(),
    };
    keys.into_iter().map(|key| (key, idx)).collect()
}

/// Adds entries for what imports bind and pass on. Each digest covers what is found under one name.
pub(super) fn add_import_entries(path: &str, interface: &mut Interface) {
    let module = format!("{SCOPE}{path}");
    let facts = Facts::outside(interface);
    let more = |i: &Import| {
        let scope = i.scope.some().map_or(String::new(), |d| qualified_name(&facts, d));
        if i.conditional { scope + "|conditional" } else { scope }
    };
    let digests = of_imports(&facts, &module, interface.imports.iter(), more);
    let entry = |(key, digest)| Entry { key, def: DefIdx::NONE, digest: digest & 0xffff_ffff };
    interface.entries.extend(digests.into_iter().map(entry));
    add_export_entries(interface);
    interface.entries.sort_unstable_by_key(|e| (e.key, e.def));
}

/// Adds an entry for each name that a module of TypeScript or JavaScript exports, so that `export *` over
/// hundreds of modules is followed to those that have a name. What the name means has an entry of its own.
fn add_export_entries(interface: &mut Interface) {
    if !super::ecma::is_ecma(interface.language) {
        return;
    }
    let facts = Facts::outside(interface);
    let is_exported = |d: &&Def| d.parent == DefIdx::NONE && d.flags.has(DefFlags::EXPORTED);
    let own = interface.defs.iter().filter(is_exported).map(|d| d.name);
    let passed = interface.imports.iter().filter(|i| i.level == 1).filter_map(|i| i.alias);
    let mut keys: Vec<_> = own.chain(passed).map(|name| Key::any(ECMA_EXPORTS, facts.str(name))).collect();
    keys.sort_unstable();
    keys.dedup();
    interface.entries.extend(keys.into_iter().map(|key| Entry { key, def: DefIdx::NONE, digest: 1 }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str], expect: &[(&str, &str, &str)]) {
        let got = parts(text, words);
        let got: Vec<(&str, &str, &str)> = got
            .iter()
            .map(|p| {
                let end = text[p.at..].find(|c: char| !c.is_alphanumeric() && c != '*').unwrap_or(1).max(1);
                (&*p.path, p.alias.unwrap_or(if p.is_all { "*" } else { "-" }), &text[p.at..p.at + end])
            })
            .collect();
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn statements_name_paths() {
        let rust = &["pub", "use"];
        check("pub(crate) use a::b;", rust, &[("a::b", "b", "b")]);
        check(
            "use a::{self, b::c, d as e, f::{*}, g::*};",
            rust,
            &[
                ("a", "a", "self"),
                ("a::b::c", "c", "c"),
                ("a::d", "e", "d"),
                ("a::f", "*", "*"),
                ("a::g", "*", "*"),
            ],
        );
        check("use ::log as _;", rust, &[("log", "-", "log")]);
        check("use used;", rust, &[("used", "used", "used")]);
        check("import static a.b.C.*;", &["import", "static"], &[("a.b.C", "*", "*")]);
        check("import a.b.C as D", &["import"], &[("a.b.C", "D", "C")]);
        check(
            "import a.{B => C, D => _}, e._",
            &["import"],
            &[("a.B", "C", "B"), ("a.D", "-", "D"), ("e", "*", "_")],
        );
        check(
            r"use A\{B, function c}, \D\E as F;",
            &["use", "function"],
            &[(r"A\B", "B", "B"), (r"A\c", "c", "c"), (r"D\E", "F", "E")],
        );
        check("use ;", rust, &[]);
        check("use a::", rust, &[]);
        check(&format!("use {}", "a::{".repeat(500)), rust, &[]);
    }

    #[test]
    fn packages_are_named_by_their_clause() {
        assert_eq!(package("package a.b;"), Some("a.b"));
        assert_eq!(package("namespace A\\B {\n class C {} }"), Some("A\\B"));
        assert_eq!(package("namespace {"), None);
    }

    #[test]
    fn scripts_lie_beside_each_other() {
        let rest = |path: &'static str| {
            let (cut, is_local) = beside_script(path);
            (&path[cut..], is_local)
        };
        assert_eq!(rest("./lib.sh"), ("./lib.sh", true));
        assert_eq!(rest("$(dirname \"$0\")/lib.sh"), ("lib.sh", true));
        assert_eq!(rest("${BASH_SOURCE%/*}/a/b.sh"), ("a/b.sh", true));
        assert_eq!(rest("$HOME/lib.sh"), ("$HOME/lib.sh", false));
        assert_eq!(rest("/etc/profile"), ("/etc/profile", false));
    }
}
