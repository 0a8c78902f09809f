//! Entry points that manifests declare: console scripts of Python, `main` and `bin` of packages of
//! Node.js, binaries of Cargo.

use crate::entrypoints::{Entrypoint, Kind, entrypoint};
use crate::scan;
use crate::sources::Source;
use indexd_model::path::{dir_of, file_name_of, join};
use indexd_model::{FileRoles, IndexView};
use std::collections::BTreeMap;

/// Reads all manifests of a repository.
pub fn find(view: &dyn IndexView, files: &[Source], out: &mut Vec<Entrypoint>) {
    let others = [FileRoles::VENDORED, FileRoles::TEST, FileRoles::EXAMPLE];
    for source in files.iter().filter(|s| !s.is_any(&others)) {
        let read: fn(&str) -> BTreeMap<String, String> = match file_name_of(&source.path) {
            "pyproject.toml" => pyproject,
            "setup.cfg" => setup_cfg,
            "setup.py" => setup_py,
            "package.json" => {
                node(view, source, out);
                continue;
            }
            "Cargo.toml" => {
                cargo(view, source, out);
                continue;
            }
            _ => continue,
        };
        let text = source.text(view);
        let mut places = Places::new(&text);
        for (name, target) in read(&text) {
            out.push(script(view, &source.path, &mut places, &name, &target));
        }
    }
}

/// The scripts of a `pyproject.toml`.
fn pyproject(text: &str) -> BTreeMap<String, String> {
    let Ok(table) = text.parse::<toml::Table>() else { return BTreeMap::new() };
    let tables = [
        &["project", "scripts"][..],
        &["project", "gui-scripts"],
        &["tool", "poetry", "scripts"],
        &["tool", "flit", "scripts"],
        &["tool", "pdm", "scripts"],
    ];
    let mut out = BTreeMap::new();
    for path in tables {
        let mut at = Some(&table);
        for key in path {
            at = at.and_then(|t| t.get(*key)).and_then(toml::Value::as_table);
        }
        for (name, target) in at.into_iter().flatten() {
            let target = target.as_str().or_else(|| target.get("callable").and_then(toml::Value::as_str));
            // Other tools keep shell commands under this name.
            if let Some(target) = target.filter(|t| t.contains(':') && !t.contains(' ')) {
                out.insert(name.clone(), target.to_owned());
            }
        }
    }
    out
}

/// The lines of `name = module:function` below `console_scripts`.
fn setup_cfg(text: &str) -> BTreeMap<String, String> {
    let mut lines = text.lines().skip_while(|l| !l.trim_start().starts_with("console_scripts"));
    let first = lines.next().and_then(|l| l.split_once('=')).map(|(_, rest)| rest);
    let below = lines.take_while(|l| l.starts_with([' ', '\t']) || l.is_empty());
    first.into_iter().chain(below).filter_map(declared).collect()
}

/// The literals of a list after `console_scripts`.
fn setup_py(text: &str) -> BTreeMap<String, String> {
    let Some(at) = text.find("console_scripts") else { return BTreeMap::new() };
    let Some(open) = text[at..].find(['[', '(']).map(|i| at + i) else { return BTreeMap::new() };
    scan::parts(text, open + 1).iter().filter_map(|p| scan::literal(p)).filter_map(declared).collect()
}

fn declared(line: &str) -> Option<(String, String)> {
    let (name, target) = line.split_once('=')?;
    let target = target.split('[').next()?.trim();
    (target.contains(':') && !target.contains(' ')).then(|| (name.trim().to_owned(), target.to_owned()))
}

/// A console script, at the function that it calls, or at its manifest if that is not found.
fn script(
    view: &dyn IndexView,
    manifest: &str,
    places_of: &mut Places,
    name: &str,
    target: &str,
) -> Entrypoint {
    let (module, function) = target.split_once(':').unwrap_or((target, ""));
    let base = module.replace('.', "/");
    let dir = dir_of(manifest);
    let places = ["", "src", "lib"].map(|root| join(dir, &join(root, &base)));
    let file = places.iter().find_map(|p| {
        [format!("{p}.py"), format!("{p}/__init__.py")]
            .into_iter()
            .find_map(|f| Some((view.file_by_path(&f)?, f)))
    });
    let (path, line) = match file {
        Some((doc, path)) => {
            let defs = view.defs_named(function);
            let here = defs.iter().map(|d| view.def(*d)).find(|d| d.file == doc && d.parent.some().is_none());
            (path, here.map_or(1, |d| d.name_line))
        }
        None => (manifest.to_owned(), places_of.line(target)),
    };
    entrypoint(Kind::Program, name, &path, line, format!("console script `{name}` = {target}"))
}

/// The lines of the words of a manifest.
struct Places<'t> {
    text: &'t str,
    /// The first line of each word.
    lines: BTreeMap<&'t str, u32>,
    /// Searches through the text that are left.
    n_left: u32,
}

/// Searches through a manifest for texts that are not one word of it; later ones are said to be at line 1.
const SEARCHES_MAX: u32 = 256;

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Self {
        let mut lines = BTreeMap::new();
        for (n, line) in (1..).zip(text.lines()) {
            for word in line.split([' ', '=', ',', '"', '\'', '[', ']']).filter(|word| !word.is_empty()) {
                lines.entry(word).or_insert(n);
            }
        }
        Self { text, lines, n_left: SEARCHES_MAX }
    }

    /// The first line with `what`.
    fn line(&mut self, what: &str) -> u32 {
        if let Some(line) = self.lines.get(what) {
            return *line;
        }
        let is_searched = self.n_left > 0;
        self.n_left = self.n_left.saturating_sub(1);
        let found = if is_searched { self.text.find(what) } else { None };
        found.map_or(1, |at| scan::line_of(self.text, at))
    }
}

/// `bin`, `main`, `module` and `exports` of a `package.json`.
fn node(view: &dyn IndexView, source: &Source, out: &mut Vec<Entrypoint>) {
    let text = source.text(view);
    let Ok(json) = serde_json::from_str::<serde_json::Value>(&text) else { return };
    let name = json["name"].as_str().unwrap_or_default();
    let dir = dir_of(&source.path);
    let mut places = Places::new(&text);
    let mut add = |kind: Kind, name: &str, target: &str, how: &str| {
        let path = join(dir, target.trim_start_matches("./"));
        let found = view.file_by_path(&path).is_some();
        let (path, line) = if found { (path, 1) } else { (source.path.to_string(), places.line(target)) };
        out.push(entrypoint(kind, name, &path, line, format!("{how} = {target}")));
    };
    match &json["bin"] {
        serde_json::Value::String(target) => add(Kind::Program, name, target, "package.json `bin`"),
        serde_json::Value::Object(all) => {
            for (bin, target) in all {
                add(Kind::Program, bin, target.as_str().unwrap_or_default(), "package.json `bin`");
            }
        }
        _ => {}
    }
    for key in ["main", "module", "exports"] {
        if let Some(target) = json[key].as_str().or_else(|| json[key]["."].as_str()) {
            add(Kind::Library, name, target, &format!("package.json `{key}`"));
        }
    }
}

/// Targets of a crate: those in its manifest and those at the usual places.
fn cargo(view: &dyn IndexView, source: &Source, out: &mut Vec<Entrypoint>) {
    let text = source.text(view);
    let Ok(table) = text.parse::<toml::Table>() else { return };
    let Some(name) = table.get("package").and_then(|p| p.get("name")).and_then(toml::Value::as_str) else {
        return;
    };
    let dir = dir_of(&source.path);
    let mut add = |kind: Kind, name: &str, target: &str| {
        let path = join(dir, target);
        if view.file_by_path(&path).is_some() {
            let how = if kind == Kind::Library { "crate" } else { "binary of the crate" };
            out.push(entrypoint(kind, name, &path, 1, how.to_owned()));
        }
    };
    let path_in = |table: &toml::Value| table.get("path").and_then(toml::Value::as_str).map(str::to_owned);
    add(Kind::Library, name, table.get("lib").and_then(path_in).as_deref().unwrap_or("src/lib.rs"));
    let bins = table.get("bin").and_then(toml::Value::as_array);
    for bin in bins.into_iter().flatten() {
        let bin_name = bin.get("name").and_then(toml::Value::as_str).unwrap_or(name);
        add(Kind::Program, bin_name, &path_in(bin).unwrap_or_else(|| format!("src/bin/{bin_name}.rs")));
    }
    if bins.is_none() {
        add(Kind::Program, name, "src/main.rs");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: BTreeMap<String, String>) -> Vec<(String, String)> {
        found.into_iter().collect()
    }

    #[test]
    fn a_word_stands_on_its_first_line() {
        let text = "a = \"m:f10\"\nb = 'm:f1'\nc = m:f1 [x]\n";
        let mut places = Places::new(text);
        assert_eq!(["m:f1", "m:f10", ":f", "none"].map(|what| places.line(what)), [2, 1, 1, 1]);
        // Other texts are searched for a few times.
        assert_eq!(places.line("f1 [x"), 3);
        (0..SEARCHES_MAX).for_each(|_| _ = places.line("none"));
        assert_eq!(places.line("f1 [x"), 1);
    }

    #[test]
    fn scripts_of_python_manifests() {
        let expect = vec![("tool".to_owned(), "pkg.cli:main".to_owned())];
        for (read, text) in [
            (pyproject as fn(&str) -> _, "[project.scripts]\ntool = \"pkg.cli:main\"\n"),
            (
                pyproject,
                "[tool.poetry.scripts]\ntool = 'pkg.cli:main'\n[tool.pdm.scripts]\nlint = \"ruff check .\"\n",
            ),
            (
                setup_cfg,
                "[options.entry_points]\nconsole_scripts =\n    tool = pkg.cli:main [extra]\n\n[other]\nx = a:b\n",
            ),
            (setup_py, "setup(entry_points={'console_scripts': ['tool = pkg.cli:main']})"),
        ] {
            assert_eq!(pairs(read(text)), expect, "{text}");
        }
        assert_eq!(pairs(pyproject("[broken")), []);
    }
}
