//! Facts of Go files.
//!
//! [`facts`] parses a file and walks its tree once, with a cursor: declarations (`declarations`),
//! type expressions (`types`), expressions (`expressions`) and statements (`statements`) are four
//! parts of one [`visitor`](visitor::Visitor), which keeps the lexical scopes. What is known of
//! `go.mod` and `go.work` is in [`module`].

mod declarations;
mod expressions;
mod modern;
pub mod module;
mod repair;
mod statements;
mod syntax;
mod types;
mod visitor;

use crate::Input;
use crate::builder::Header;
use crate::chunks::{Idle, IdleKind, assemble, of_code};
use crate::parse::Parses;
use crate::unread;
use indexd_model::limits::{DEFS_PER_FILE_MAX, PARSE_CALLBACKS_MAX};
use indexd_model::path::file_name_of;
use indexd_model::{
    ChunkKind, Def, DefFlags, DefIdx, DefKind, Entry, Facts, FileFacts, Interface, Key, Language, Outcome,
    RepoPath, Span,
};
use syntax::SYNTAX;
use tree_sitter::Node;
use visitor::Visitor;

/// Returns everything that can be known from a Go file alone.
///
/// Syntax that is newer than the grammar is rewritten ([`modern`]). Broken syntax yields the facts around it
/// (`Outcome::Recovered`), see [`repair`], and the names in it ([`unread`]). A file that the parser cannot
/// finish, or with more definitions than [`DEFS_PER_FILE_MAX`], has chunks by lines and no definitions
/// (`Outcome::TextOnly`).
pub fn facts(input: Input) -> FileFacts {
    let parses = Parses::new(&SYNTAX.language);
    let parse = |text: &str| parses.parse(text, PARSE_CALLBACKS_MAX);
    let text = input.text;
    let Some(mut tree) = parse(text) else { return text_only(input) };
    let modern = if tree.root_node().has_error() { modern::rewrite(text) } else { None };
    if let Some(again) = modern.as_deref().and_then(parse) {
        tree = again;
    }
    let outcome = if tree.root_node().has_error() { Outcome::Recovered } else { Outcome::Parsed };
    let tree = repair::repair(modern.as_deref().unwrap_or(text), tree, &parse);
    facts_of(input, outcome, tree.root_node())
}

fn facts_of(input: Input, outcome: Outcome, root: Node) -> FileFacts {
    let Input { path, text, lines, .. } = input;
    let mut visitor = Visitor::new(text, root, path.ends_with("_test.go"));
    visitor.file();
    if outcome == Outcome::Recovered || visitor.is_cut {
        unread::add(&mut visitor.b, text, Language::Go);
    }
    if visitor.b.defs.len() > DEFS_PER_FILE_MAX {
        return text_only(input);
    }
    let chunks = of_code(text, lines, visitor.pieces, &idle(root));
    let (package, constraint) = (visitor.package, visitor.constraint);
    let says = Header { package, constraint, ..Header::new(input, outcome) };
    let (mut interface, body) = visitor.b.finish(says, |facts| keys(path, facts));
    digest_places(path, &mut interface);
    FileFacts { interface, body, chunks }
}

/// Returns the spans at file level that do nothing.
fn idle(root: Node) -> Vec<Idle> {
    let mut cursor = root.walk();
    let of = |node: Node| {
        let is = match SYNTAX.kind(node.kind_id()) {
            syntax::Kind::ImportDeclaration => IdleKind::Import,
            syntax::Kind::PackageClause => IdleKind::Doc,
            syntax::Kind::Comment => IdleKind::Comment,
            _ => return None,
        };
        Some(Idle { span: Span { start: node.start_byte() as u32, end: node.end_byte() as u32 }, is })
    };
    root.named_children(&mut cursor).filter_map(of).collect()
}

/// Sets the digests of the entries for the files of a folder. Readers of these look at package clauses and
/// build constraints, and not at imports: an additional import must not relink all importers of the package.
fn digest_places(path: &RepoPath, interface: &mut Interface) {
    let facts = Facts::outside(interface);
    let say = |s: Option<indexd_model::StrId>| s.map_or("", |s| facts.str(s));
    let digest = Key::member(say(interface.package), say(interface.constraint)).0;
    let places = places(path);
    for entry in interface.entries.iter_mut().filter(|e| e.def == DefIdx::NONE && places.contains(&e.key)) {
        entry.digest = digest;
    }
}

/// Keys of the file itself.
fn places(path: &RepoPath) -> [Key; 3] {
    [Key::file(path), Key::dir("go", path.dir()), Key::stem("go", file_name_of(path.dir()))]
}

fn text_only(input: Input) -> FileFacts {
    let Input { path, text, lines, roles, .. } = input;
    let mut interface = Interface::empty(Language::Go, Outcome::TextOnly, roles);
    interface.entries = vec![Entry { key: Key::file(path), def: DefIdx::NONE, digest: 0 }];
    FileFacts { interface, body: Default::default(), chunks: assemble(text, lines, &[], ChunkKind::Lines) }
}

/// Under which keys other files find the definitions. Function-local definitions have none.
///
/// - the file: its path, its folder, the last component of its folder, and, for imports that are
///   resolved without a go.mod, every proper prefix of an import path;
/// - package-level names in `go:<dir>` (`go:<dir>_test` for an external test package);
/// - fields and methods in `go:<dir>#<Type>`; methods also together as that scope, and by bare name;
/// - types by the names of those that they embed.
fn keys(path: &RepoPath, facts: &Facts) -> Vec<(Key, DefIdx)> {
    let dir = path.dir();
    let mut out: Vec<(Key, DefIdx)> = places(path).map(|key| (key, DefIdx::NONE)).to_vec();
    for import in &facts.interface.imports {
        let module = facts.str(import.module);
        if module.split('/').next().is_some_and(|first| first.contains('.')) {
            for (i, _) in module.match_indices('/') {
                out.push((Key::member("go-import", &module[..i]), DefIdx::NONE));
            }
        }
    }
    let external_test = path.ends_with("_test.go")
        && facts.interface.package.is_some_and(|p| facts.str(p).ends_with("_test"));
    let scope = format!("go:{dir}{}", if external_test { "_test" } else { "" });
    let mut member_scope = String::new();
    for i in 0..facts.interface.defs.len() as u32 {
        let idx = DefIdx(i);
        let def = facts.def(idx);
        let name = facts.str(def.name);
        if name.is_empty() || name == "_" || def.flags.has(DefFlags::LOCAL) {
            continue;
        }
        let owner = match (def.receiver, def.parent.some()) {
            (Some(receiver), _) => Some(facts.str(receiver)),
            (None, Some(parent)) => {
                let parent = facts.def(parent);
                if parent.parent.some().is_some() || parent.flags.has(DefFlags::ANONYMOUS) {
                    // Members of anonymous types are found through the definition around them.
                    continue;
                }
                Some(facts.str(parent.name))
            }
            (None, None) => None,
        };
        match owner {
            None => {
                out.push((Key::member(&scope, name), idx));
                out.extend(embedded(facts, def).map(|key| (key, idx)));
            }
            Some(owner) => {
                member_scope.clear();
                member_scope.push_str(&scope);
                member_scope.push('#');
                member_scope.push_str(owner);
                out.push((Key::member(&member_scope, name), idx));
                if def.kind == DefKind::Method {
                    out.push((Key::scope(&member_scope), idx));
                    if def.receiver.is_some() {
                        out.push((Key::any("go", name), idx));
                    } else {
                        out.push((Key::any("go-interface", name), idx));
                        let shaped = format!("{name}{}", facts.shape(def));
                        out.push((Key::any("go-interface", &shaped), idx));
                    }
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// The keys under which a type is found from those that it embeds.
fn embedded<'f>(facts: &'f Facts, def: &'f Def) -> impl Iterator<Item = Key> + 'f {
    let group = if def.kind == DefKind::Interface { "go-interface-embeds" } else { "go-embeds" };
    def.bases.iter().map(move |base| Key::any(group, facts.type_name(*base)))
}

#[cfg(test)]
mod tests;
