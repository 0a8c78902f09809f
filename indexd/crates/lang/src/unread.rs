//! Names in source that the facts of a file would otherwise omit.
//!
//! A syntax error takes code out of the tree, and nesting beyond the limit is not followed. A search for the
//! uses of a name must report those places, so each identifier that no expression, binding, definition or
//! import accounts for becomes a [`Node::Unread`].

use crate::builder::Builder;
use crate::tokens::{Token, tokens};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{Language, Node, Role, Span};
use rustc_hash::FxHashSet;

/// Adds the names that no fact records so far. Call it when the walk over a damaged or very deep tree is
/// done; `text` is the file as written.
pub fn add<'s>(b: &mut Builder<'s>, text: &'s str, language: Language) {
    let known = b.known_places();
    let all = tokens(text, language);
    let mut imports = b.imports.iter().map(|i| i.span).collect::<Vec<Span>>();
    imports.sort_unstable_by_key(|s| (s.start, s.end));
    let is_imported = |at: u32| {
        let before = imports.partition_point(|s| s.start <= at);
        imports[..before].last().is_some_and(|s| s.holds(at))
    };
    let modules = modules(b);
    for (i, token) in all.iter().enumerate() {
        let (at, word) = (token.span.start, token.text(text));
        let next = all.get(i + 1).map_or("", |t| t.text(text));
        if word == "_" || next == "." && modules.contains(word) {
            continue;
        }
        let is_package = i.checked_sub(1).is_some_and(|before| all[before].text(text) == "package");
        let is_told = known.contains(&at) || is_imported(at) || is_package;
        if token.is_word && !is_keyword(language, word) && !is_told {
            let name = b.str(word);
            b.expr(Node::Unread { name }, at, if next == "(" { Role::Call } else { Role::Read });
        }
    }
}

/// Returns the names that imports may bind. A qualifier is recorded with the name that it qualifies.
fn modules(b: &Builder) -> FxHashSet<String> {
    let of = |i: &Import| {
        let module = b.text(i.module).rsplit(['/', '.']).next().unwrap_or("");
        i.alias.map_or(module, |alias| b.text(alias)).to_owned()
    };
    b.imports.iter().filter(|i| i.kind == ImportKind::Module).map(of).collect()
}

/// Returns the places of `name` in source that was not parsed at all, outside strings and comments.
pub fn places(text: &str, language: Language, name: &str) -> Vec<u32> {
    let is_it = |t: &&Token| t.is_word && t.text(text) == name;
    tokens(text, language).iter().filter(is_it).map(|t| t.span.start).collect()
}

fn is_keyword(language: Language, word: &str) -> bool {
    const GO: &str = "break case chan const continue default defer else fallthrough for func go goto if import \
        interface map package range return select struct switch type var";
    const PYTHON: &str = "False None True and as assert async await break class continue def del elif else \
        except finally for from global if import in is lambda nonlocal not or pass raise return try while \
        with yield";
    indexd_model::lists::holds(if language == Language::Go { GO } else { PYTHON }, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::{ExprId, Facts, LineIndex, RepoPath};

    /// Compares the unread names as `line:name`, with `()` behind callees.
    fn check(path: &str, text: &str, expect: &[&str]) {
        let facts = crate::extract(&RepoPath::new(path).unwrap(), text.as_bytes()).facts;
        let read = Facts::inside(&facts);
        let all = (0..read.n_exprs() as u32).map(|i| read.expr(ExprId(i)));
        let got: Vec<String> = all
            .filter_map(|e| match e.node {
                Node::Unread { name } => {
                    let call = if e.role == Role::Call { "()" } else { "" };
                    Some(format!("{}:{}{call}", LineIndex::new(text).line(e.at), read.str(name)))
                }
                _ => None,
            })
            .collect();
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn what_a_syntax_error_hides_is_named() {
        check("a.go", "package p\n\nfunc f() { g(1) }\n", &[]);
        check(
            "a.go",
            "package p\n\nfunc f() {\n\tif x {\n\t\tg(h) // i\n}\n\nfunc k() {}\n",
            &["4:x", "5:g()", "5:h"],
        );
        check("a.py", "def f():\n    g(1)\n", &[]);
        check("a.py", "x = [g(1), h 'k'\n", &["1:x"]);
    }

    #[test]
    fn code_deeper_than_the_limit_is_named() {
        let deep = |open: &str, inner: &str, close: &str| open.repeat(900) + inner + &close.repeat(900);
        check("a.go", &format!("package p\n\nvar x = {}\n", deep("(", "g()", ")")), &["3:g()"]);
        check("a.py", &format!("x = {}\n", deep("[", "g()", "]")), &["1:g()"]);
    }

    #[test]
    fn keywords_are_sorted_for_the_search() {
        for (language, words) in [(Language::Go, "break case var"), (Language::Python, "False None yield")] {
            assert!(words.split(' ').all(|w| is_keyword(language, w)), "{words}");
        }
        assert!(!is_keyword(Language::Go, "def") && !is_keyword(Language::Python, "func"));
    }

    #[test]
    fn places_of_a_name_in_source_that_was_not_parsed() {
        assert_eq!(places("f(g) // f\nx.f()", Language::Go, "f"), [0, 12]);
        assert_eq!(places("f", Language::Toml, "f"), [0u32; 0]);
    }
}
