//! Languages that are known by their definitions: one extractor, and one file of data per language.
//!
//! A [`Grammar`] names the kinds and fields of a tree-sitter grammar that define,
//! import, comment and test; [`walk`] does the rest. To add a language, write its table, list it in
//! [`all`] and give it a fixture. Uses of names are followed where the table says how names are bound
//! ([`scopes`]).

#[cfg(feature = "shell")]
mod bash;
#[cfg(feature = "systems")]
mod c;
mod cfamily;
mod compiled;
#[cfg(feature = "systems")]
mod cpp;
#[cfg(feature = "dotnet")]
mod csharp;
mod ecma;
pub mod embedded;
mod flat;
#[cfg(feature = "data")]
mod hcl;
#[cfg(feature = "jvm")]
mod java;
#[cfg(feature = "web")]
mod javascript;
mod kinds;
#[cfg(feature = "jvm")]
mod kotlin;
#[cfg(feature = "shell")]
mod lua;
mod macros;
mod made;
mod missed;
mod pass;
mod paths;
#[cfg(feature = "web")]
mod php;
#[cfg(feature = "data")]
mod proto;
#[cfg(feature = "shell")]
mod ruby;
#[cfg(feature = "systems")]
mod rust;
#[cfg(feature = "jvm")]
mod scala;
mod scopes;
#[cfg(feature = "data")]
mod sql;
#[cfg(feature = "apple")]
mod swift;
mod table;
mod typed;
#[cfg(feature = "web")]
mod typescript;
mod walk;

use crate::Input;
use crate::builder::Header;
use crate::chunks::of_code;
use crate::lines;
use crate::parse::Parses;
use compiled::Compiled;
use flat::Flat;
use indexd_model::limits::{
    DEFS_PER_FILE_MAX, PARSE_CALLBACKS_MAX, PARSE_CALLBACKS_MIN, PARSE_CALLBACKS_PER_KIB,
};
use indexd_model::names::qualified_name;
use indexd_model::{
    Chunk, DefFlags, DefIdx, ExprId, Facts, FileFacts, FileRoles, Key, Language, LineIndex, Node as Shape,
    Outcome, RepoPath,
};
use std::sync::LazyLock;
use table::Grammar;
use tree_sitter::Node;
use walk::Walk;

/// Lists the tables, each behind the feature that brings its parser along.
macro_rules! languages {
    ($($feature:literal: $($module:ident::$table:ident),*;)*) => {
        /// Every table of this build.
        fn all() -> Vec<&'static Grammar> {
            let all: &[&[&'static Grammar]] = &[$(
                #[cfg(feature = $feature)]
                &[$(&$module::$table),*],
            )*];
            all.concat()
        }
    };
}

languages! {
    "systems": rust::RUST, c::C, cpp::CPP;
    "web": typescript::TYPESCRIPT, typescript::TSX, javascript::JAVASCRIPT, php::PHP;
    "jvm": java::JAVA, kotlin::KOTLIN, scala::SCALA;
    "dotnet": csharp::CSHARP;
    "apple": swift::SWIFT;
    "shell": ruby::RUBY, bash::BASH, lua::LUA;
    "data": proto::PROTO, sql::SQL, hcl::HCL;
}

/// A table that is looked up when the first file of its language comes.
type Lazy = LazyLock<Compiled, Box<dyn FnOnce() -> Compiled + Send>>;

static COMPILED: LazyLock<Vec<(Language, Lazy)>> = LazyLock::new(|| {
    let of = |table: &'static Grammar| -> (Language, Lazy) {
        (table.language, LazyLock::new(Box::new(move || Compiled::new(table))))
    };
    all().into_iter().map(of).collect()
});

/// The grammar of a language, looked up once per process; `None` for languages that are read in
/// another way, and for those that this build leaves out.
fn compiled(language: Language) -> Option<&'static Compiled> {
    COMPILED.iter().find(|(l, _)| *l == language).map(|(_, c)| &**c)
}

/// The parser of a language that is read here; `None` for others and for those left out.
pub fn parser(language: Language) -> Option<tree_sitter::Language> {
    compiled(language).map(|c| c.parser.clone())
}

/// What writes texts for `parser` where its grammar is older than the language or its scanner does not stop
/// at every end: another text with each byte at its place, or `None` where the text stays as it is.
pub fn rewrites(parser: &tree_sitter::Language) -> Option<fn(&str) -> Option<String>> {
    all().into_iter().find(|g| *parser == (g.parser)()).and_then(|g| g.rewrites)
}

/// Everything that a file of such a language says by itself.
///
/// Broken syntax gives the facts around it (`Outcome::Recovered`). A file that the parser gives up on,
/// with more definitions than [`DEFS_PER_FILE_MAX`], or in a language that this build leaves out, is
/// chunked by lines (`Outcome::TextOnly`).
pub fn facts(input: Input) -> FileFacts {
    facts_as(input, input.text, input.language)
}

/// The facts of a file whose code is `code`, in the language `parsed_as`: its text with everything
/// else blanked out.
fn facts_as(input: Input, code: &str, parsed_as: Language) -> FileFacts {
    let text_only = || lines::facts(input, Outcome::TextOnly);
    let Some(grammar) = compiled(parsed_as) else { return text_only() };
    let tree = Parses::new(&grammar.parser).parse(code, calls_max(code.len()));
    let facts = tree.and_then(|tree| facts_of(Input { text: code, ..input }, grammar, tree.root_node()));
    facts.unwrap_or_else(text_only)
}

/// Calls of the parser's progress callback that a text of so many bytes may take.
fn calls_max(n_bytes: usize) -> u64 {
    (PARSE_CALLBACKS_MIN + n_bytes as u64 / 1024 * PARSE_CALLBACKS_PER_KIB).min(PARSE_CALLBACKS_MAX)
}

fn facts_of(input: Input, grammar: &Compiled, root: Node) -> Option<FileFacts> {
    let Input { path, text, lines: index, language, roles } = input;
    let tree = Flat::new(root);
    let made = made::made(text, &tree);
    let mut walk = Walk::new(text, index, grammar, &tree, &made, roles.has(FileRoles::TEST));
    walk.file();
    if walk.b.defs.len() > DEFS_PER_FILE_MAX {
        return None;
    }
    if let Some((table, kinds)) = &grammar.scopes {
        match &grammar.ecma {
            Some(ecma_kinds) => {
                ecma::mark_exported(&mut walk);
                ecma::uses(&mut walk.b, text, table, (kinds, ecma_kinds), &tree);
            }
            None => {
                scopes::uses(&mut walk.b, text, table, kinds, &tree);
                paths::give_bases(&mut walk.b);
            }
        }
    }
    let announced = grammar
        .cfamily
        .as_ref()
        .and_then(|kinds| cfamily::uses(&mut walk.b, text, grammar.table.language, kinds, &tree));
    if let Some(forms) = &grammar.typed {
        let read = |tree: &Flat| {
            let read = grammar.table.arguments?;
            read(text, tree, &Parses::new(&grammar.parser), calls_max(text.len()))
        };
        // What stands in brackets may hold others.
        let first = read(&tree);
        let first = first.as_ref().map(|t| Flat::new(t.root_node()));
        let second = first.as_ref().and_then(read);
        let second = second.as_ref().map(|t| Flat::new(t.root_node()));
        let third = second.as_ref().and_then(read);
        let third = third.as_ref().map(|t| Flat::new(t.root_node()));
        let mut asides = typed::Asides::default();
        [&first, &second, &third].into_iter().flatten().for_each(|tree| asides.add(tree));
        typed::uses(&mut walk.b, text, forms, &tree, (&asides, &made));
    }
    let outcome = if root.has_error() { Outcome::Recovered } else { Outcome::Parsed };
    let mut chunks = of_code(text, index, walk.pieces, &walk.idle);
    join_closings(text, &mut chunks, index);
    let package = paths::table_of_lua(&walk.b, language).or(walk.package);
    let says = Header { package, exports: announced, ..Header::new(input, outcome) };
    let (mut interface, body) = walk.b.finish(says, |facts| keys(path, facts));
    if language.linking() != indexd_model::Linking::None {
        paths::add_import_entries(path, &mut interface);
    }
    Some(FileFacts { interface, body, chunks })
}

/// A chunk of nothing but closing brackets belongs to the one before: to the last member of a type
/// whose members were cut out.
fn join_closings(text: &str, chunks: &mut Vec<Chunk>, index: &LineIndex) {
    let is_closing = |c: &Chunk| {
        let words = text[c.span.range()].split(|c: char| c.is_whitespace() || "{}()[];,".contains(c));
        words.into_iter().all(|w| matches!(w, "" | "end" | "fi" | "done"))
    };
    let mut out: Vec<Chunk> = Vec::with_capacity(chunks.len());
    let mut n_lost: rustc_hash::FxHashMap<DefIdx, u16> = rustc_hash::FxHashMap::default();
    for chunk in chunks.drain(..) {
        match out.last_mut() {
            Some(last) if is_closing(&chunk) && chunk.lines.start == last.lines.end + 1 && chunk.part > 0 => {
                last.lines.end = chunk.lines.end;
                last.span = index.lines_span(last.lines);
                *n_lost.entry(chunk.def).or_default() += 1;
            }
            _ => out.push(chunk),
        }
    }
    for (def, n) in n_lost {
        if def != DefIdx::NONE {
            let parts = out.iter_mut().filter(|c| c.def == def);
            for (part, chunk) in parts.enumerate() {
                chunk.part = part.min(usize::from(u16::MAX)) as u16;
                chunk.n_parts = chunk.n_parts.saturating_sub(n).max(1);
            }
        }
    }
    *chunks = out;
}

/// Under which keys other files find the definitions: the path, and the names at file level.
fn keys(path: &RepoPath, facts: &Facts) -> Vec<(Key, DefIdx)> {
    let mut out = vec![(Key::file(path), DefIdx::NONE)];
    let table = compiled(facts.interface.language).map(|c| c.table);
    table.into_iter().for_each(|t| (t.file_keys)(facts, path, &mut out));
    // What a script of Kotlin or Scala defines is its own.
    let is_script = [".kts", ".sc"].iter().any(|e| path.ends_with(e));
    let module = format!("{}{path}", paths::SCOPE);
    for (i, def) in facts.interface.defs.iter().enumerate() {
        let idx = DefIdx(i as u32);
        if def.flags.has(DefFlags::TITLE) {
            continue;
        }
        table.into_iter().for_each(|t| (t.keys)(facts, idx, &module, &mut out));
        if !def.flags.has(DefFlags::LOCAL) {
            out.push((Key::member(&module, &qualified_name(facts, idx)), idx));
        }
        if !is_script {
            out.extend(paths::shared_keys(facts, idx));
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Adds the keys of a group under which types are found by the names of their bases.
fn base_keys(facts: &Facts, idx: DefIdx, group: &str, out: &mut table::Keys) {
    let names = facts.def(idx).bases.iter().filter_map(|base| name_of(facts, *base));
    out.extend(names.map(|name| (Key::any(group, name), idx)));
}

/// The last name of a type.
fn name_of<'f>(facts: &Facts<'f>, e: ExprId) -> Option<&'f str> {
    match facts.expr(e).node {
        Shape::Name { name, .. } | Shape::Attr { name, .. } => Some(facts.str(name)),
        Shape::Apply { base, .. } | Shape::Word { value: base, .. } => name_of(facts, base),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
