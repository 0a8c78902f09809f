//! Points where execution or use begins.

use crate::imports::is_version;
use crate::manifests;
use crate::modules::{doc_of, first_sentence};
use crate::reach::Reach;
use crate::routes;
use crate::scan;
use crate::sources::Source;
pub use indexd_api::map::{Entrypoint, EntrypointKind as Kind};
use indexd_model::path::{ancestors, dir_of, file_name_of, join, stem_of};
use indexd_model::{DefKind, Facts, FileRoles, IndexView, Language};
use std::collections::BTreeMap;

/// An entry point whose lines and summary are found later.
pub fn entrypoint(kind: Kind, name: &str, path: &str, line: u32, how: String) -> Entrypoint {
    Entrypoint { kind, name: name.to_owned(), path: path.to_owned(), line, how, ..Entrypoint::default() }
}

/// Finds the entry points, by kind, those in folders of tests last, then by the lines of code that they reach,
/// then by path.
pub fn find(view: &dyn IndexView, files: &[Source], reach: &Reach) -> Vec<Entrypoint> {
    let mut out = Vec::new();
    manifests::find(view, files, &mut out);
    for source in files.iter().filter(|s| s.is_own_code() && !s.is_any(&[FileRoles::TEST])) {
        match source.language {
            Language::Go => go(view, source, &mut out),
            Language::Python => python(view, source, files, &mut out),
            Language::TypeScript | Language::Tsx | Language::JavaScript => {
                ecma(source, &mut out);
                routes::find(view, source, &mut out);
            }
            _ => main_function(view, source, &mut out),
        }
    }
    go_libraries(view, files, &mut out);
    out.sort_by(|a, b| {
        (a.kind, &a.path, a.line, &a.name, &a.how).cmp(&(b.kind, &b.path, b.line, &b.name, &b.how))
    });
    out.dedup_by(|a, b| (a.kind, &a.path, &a.name) == (b.kind, &b.path, &b.name));
    // A manifest may declare very many entry points.
    let mut known = BTreeMap::new();
    for e in &mut out {
        let found = known
            .entry((e.path.clone(), e.kind))
            .or_insert_with(|| (reach.lines(dir_of(&e.path)), summary(view, e, files, reach)));
        (e.lines, e.summary) = found.clone();
    }
    out.sort_by_key(|e| (e.kind, is_of_tests(&e.path), std::cmp::Reverse(e.lines)));
    out
}

/// True in a folder of tests: a program there serves them.
fn is_of_tests(path: &str) -> bool {
    dir_of(path).split('/').any(|dir| matches!(dir, "test" | "tests" | "testing"))
}

/// Describes an entry point in one sentence: the documentation of its file; else what the command says of
/// itself there; else the documentation of its folder; else the same of folders below that it imports.
fn summary(view: &dyn IndexView, e: &Entrypoint, files: &[Source], reach: &Reach) -> String {
    let Some(own) = files.iter().find(|s| *s.path == *e.path) else { return String::new() };
    let doc = |s: &Source| doc_of(s.language, &s.text(view));
    let command = |s: &Source| described(&s.text(view));
    if let Some(said) = doc(own).or_else(|| command(own)) {
        return said;
    }
    let dir = dir_of(&e.path);
    // The root of a repository holds much that is not the command.
    if e.kind == Kind::Library || dir.is_empty() {
        return String::new();
    }
    for dir in std::iter::once(dir).chain(reach.below(dir)).take(FOLDERS_READ) {
        let is_near =
            |s: &&Source| s.is_product_code() && s.language == own.language && dir_of(&s.path) == dir;
        let near = || files.iter().filter(is_near);
        let is_own = dir == dir_of(&e.path);
        let docs = near().find_map(doc);
        let commands = || near().find_map(command);
        // The documentation of a package below is about its part; the command describes itself.
        let said = if is_own { docs.or_else(commands) } else { commands().or(docs) };
        if let Some(said) = said {
            return said;
        }
    }
    String::new()
}

/// Folders that are read for what a command says of itself.
const FOLDERS_READ: usize = 4;

/// The first sentence of the description that a command gives its users: `Long` or `Short` of Go's libraries
/// for commands, `description` of Python's `argparse`.
fn described(text: &str) -> Option<String> {
    let value = |key: &str| {
        let at = text.find(key)? + key.len();
        let first = *scan::parts(text, at + text[at..].len() - text[at..].trim_start().len()).first()?;
        let said = first_sentence(scan::literal_lines(first)?);
        (said.len() > 10).then_some(said)
    };
    ["Long:", "Short:", "description="].into_iter().find_map(value)
}

fn kind_of(source: &Source, otherwise: Kind) -> Kind {
    if source.is_any(&[FileRoles::EXAMPLE, FileRoles::DOC]) { Kind::Example } else { otherwise }
}

/// The last folder of a path, or the name of the module in the root.
fn folder_name(view: &dyn IndexView, path: &str) -> String {
    match file_name_of(dir_of(path)) {
        "" => module_name(view, "").map_or_else(|| stem_of(path).to_owned(), |m| last_part(&m).to_owned()),
        name => name.to_owned(),
    }
}

fn last_part(module: &str) -> &str {
    match module.rsplit_once('/') {
        Some((rest, last)) if is_version(last) => file_name_of(rest),
        _ => file_name_of(module),
    }
}

/// The module path of the `go.mod` in a folder.
fn module_name(view: &dyn IndexView, dir: &str) -> Option<String> {
    let file = view.file_by_path(&join(dir, "go.mod"))?;
    Source::of(view, file).package(view)
}

fn go(view: &dyn IndexView, source: &Source, out: &mut Vec<Entrypoint>) {
    let interface = view.interface(source.doc);
    let facts = Facts::outside(&interface);
    if interface.package.map(|p| facts.str(p)) != Some("main") {
        return;
    }
    let is_main = |d: &&indexd_model::Def| {
        d.kind == DefKind::Function && d.receiver.is_none() && facts.str(d.name) == "main"
    };
    let Some(def) = interface.defs.iter().find(is_main) else { return };
    let constraint = interface.constraint.map(|c| facts.str(c)).unwrap_or_default();
    let is_apart = constraint.split([' ', '&', '|']).any(|c| c == "ignore");
    let line = view.lines(source.doc).line(def.name_span.start);
    let dir = dir_of(&source.path);
    let at = if dir.is_empty() { ".".to_owned() } else { format!("./{dir}") };
    let (kind, name, how) = if is_apart {
        (Kind::Script, stem_of(&source.path).to_owned(), format!("go run {}", source.path))
    } else {
        (Kind::Program, folder_name(view, &source.path), format!("go run {at}"))
    };
    out.push(entrypoint(kind_of(source, kind), &name, &source.path, line, how));
}

/// Adds the package at the root of each module, unless it is a program.
fn go_libraries(view: &dyn IndexView, files: &[Source], out: &mut Vec<Entrypoint>) {
    let is_own = |s: &&Source| s.language == Language::GoMod && !s.is_any(&[FileRoles::VENDORED]);
    for manifest in files.iter().filter(is_own) {
        let dir = dir_of(&manifest.path);
        let Some(module) = module_name(view, dir) else { continue };
        let in_root =
            |s: &&Source| s.is_product_code() && s.language == Language::Go && dir_of(&s.path) == dir;
        let root: Vec<&Source> = files.iter().filter(in_root).collect();
        let named = root.iter().find_map(|s| s.package(view).filter(|p| p != "main").map(|p| (p, *s)));
        let Some((package, first)) = named else { continue };
        let own = root.iter().find(|s| stem_of(&s.path) == "doc" || stem_of(&s.path) == package);
        let source = own.copied().unwrap_or(first);
        out.push(entrypoint(Kind::Library, &package, &source.path, 1, format!("import \"{module}\"")));
    }
}

fn python(view: &dyn IndexView, source: &Source, files: &[Source], out: &mut Vec<Entrypoint>) {
    let (path, text) = (&*source.path, source.text(view));
    let (dir, stem) = (dir_of(path), stem_of(path));
    let has = |dir: &str, name: &str| view.file_by_path(&join(dir, name)).is_some();
    let is_package = |dir: &str| has(dir, "__init__.py");
    let mut add = |kind: Kind, name: &str, line: u32, how: String| {
        out.push(entrypoint(kind_of(source, kind), name, path, line, how));
    };
    if stem == "__main__" {
        let module = module_of(dir, &is_package);
        add(Kind::Program, &module, 1, format!("python -m {module}"));
    } else if let Some(line) = main_guard(&text) {
        add(Kind::Script, stem, line, format!("python {path}"));
    }
    if matches!(stem, "wsgi" | "asgi")
        && let Some(at) = text.find("\napplication =").or_else(|| text.find("\napp ="))
    {
        add(Kind::Program, stem, scan::line_of(&text, at + 1), format!("{stem} application"));
    }
    let is_top = stem == "__init__" && !dir.is_empty() && !is_package(dir_of(dir));
    let installs = |dir: &str| ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|m| has(dir, m));
    let root = dir_of(dir);
    let is_installed =
        installs(root) || matches!(file_name_of(root), "src" | "lib") && installs(dir_of(root));
    let is_tool =
        matches!(file_name_of(dir), "scripts" | "tools" | "docs" | "ci" | "benchmarks" | "profiling");
    if is_top && is_installed && !is_tool && source.is_product_code() && has_modules(files, dir) {
        let name = file_name_of(dir);
        add(Kind::Library, name, 1, format!("import {name}"));
    }
}

/// Returns true if a package holds more than a short first file.
fn has_modules(files: &[Source], dir: &str) -> bool {
    let below = |s: &&Source| {
        s.language == Language::Python && s.path.starts_with(dir) && s.path[dir.len()..].starts_with('/')
    };
    files.iter().filter(below).nth(1).is_some() || files.iter().filter(below).any(|s| s.n_lines > 5)
}

/// The dotted name of the package in a folder.
fn module_of(dir: &str, is_package: &dyn Fn(&str) -> bool) -> String {
    let around = ancestors(dir_of(dir)).take_while(|dir| !dir.is_empty() && is_package(dir));
    let mut parts: Vec<&str> = std::iter::once(dir).chain(around).map(file_name_of).collect();
    parts.reverse();
    parts.join(".")
}

/// The line of `if __name__ == "__main__":`.
fn main_guard(text: &str) -> Option<u32> {
    let is_guard = |line: &str| {
        let rest = line.strip_prefix("if __name__")?.trim_start().strip_prefix("==")?.trim_start();
        rest.get(1..)?.starts_with("__main__").then_some(())
    };
    (1..).zip(text.lines()).find_map(|(number, line)| is_guard(line).map(|()| number))
}

/// Adds files that a bundler or a runtime starts with by their name.
fn ecma(source: &Source, out: &mut Vec<Entrypoint>) {
    let path = &*source.path;
    let (dir, stem) = (dir_of(path), stem_of(path));
    let is_root = matches!(dir, "" | "src" | "app" | "lib")
        || (dir.starts_with("packages/") && (dir.matches('/').count() == 1 || dir.ends_with("/src")));
    if is_root && matches!(stem, "index" | "main" | "server" | "cli") && source.is_product_code() {
        let how = format!("`{stem}` at the top of {}", if dir.is_empty() { "the repository" } else { dir });
        let name = if dir.is_empty() { stem } else { dir };
        out.push(entrypoint(Kind::Program, name, path, 1, how));
    }
}

/// A function `main` of other languages.
fn main_function(view: &dyn IndexView, source: &Source, out: &mut Vec<Entrypoint>) {
    use Language::{C, CSharp, Cpp, Java, Kotlin, Rust, Scala, Swift};
    if !matches!(source.language, C | Cpp | CSharp | Java | Kotlin | Rust | Scala | Swift) {
        return;
    }
    let interface = view.interface(source.doc);
    let facts = Facts::outside(&interface);
    let wanted = if source.language == CSharp { "Main" } else { "main" };
    let Some(def) = interface.defs.iter().find(|d| d.kind.is_callable() && facts.str(d.name) == wanted)
    else {
        return;
    };
    let line = view.lines(source.doc).line(def.name_span.start);
    let name = match stem_of(&source.path) {
        "main" | "mod" => {
            let dir = dir_of(&source.path).trim_end_matches("/src");
            if dir.is_empty() || dir == "src" { "main" } else { file_name_of(dir) }
        }
        stem => stem,
    };
    let kind = if stem_of(&source.path) == "build" && source.language == Rust {
        Kind::Script
    } else {
        Kind::Program
    };
    out.push(entrypoint(kind_of(source, kind), name, &source.path, line, format!("function {wanted}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_stand_at_the_start_of_a_line() {
        for (text, expect) in [
            ("import a\nif __name__ == \"__main__\":\n    a()\n", Some(2)),
            ("if __name__=='__main__': a()", Some(1)),
            ("    if __name__ == '__main__':\n", None),
            ("# if __name__ == '__main__':\n", None),
        ] {
            assert_eq!(main_guard(text), expect, "{text}");
        }
    }

    #[test]
    fn a_command_says_what_it_is() {
        for (text, expect) in [
            (
                "cmd := &cobra.Command{\n\tUse: \"kubelet\",\n\tLong: `The kubelet is the node agent. It has\nmore.`,\n}",
                "The kubelet is the node agent",
            ),
            ("&cobra.Command{Short: \"Serves files\"}", "Serves files"),
            ("ArgumentParser(description='Tidies the house. Slowly.')", "Tidies the house"),
        ] {
            assert_eq!(described(text).as_deref(), Some(expect), "{text}");
        }
        for text in ["Long: text,", "Short: \"x\"", "no words of it"] {
            assert_eq!(described(text), None, "{text}");
        }
    }

    #[test]
    fn a_version_is_no_name() {
        for (module, expect) in [("a/b/cli/v2", "cli"), ("a/b", "b"), ("std", "std")] {
            assert_eq!(last_part(module), expect);
        }
    }
}
