//! Random edit scripts over a small repository of Go, Python, TypeScript, JavaScript and other files, for the tests
//! that compare an index that followed them with one built from the end.

use crate::importing;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Paths that scripts write, by kind of content.
pub const FILES: [&str; 60] = [
    "go.mod",
    "a/a.go",
    "a/b.go",
    "a/a_test.go",
    "b/b.go",
    "a/c/c.go",
    "vendor/v/v.go",
    "pkg/__init__.py",
    "pkg/m.py",
    "pkg/n.py",
    "pkg/sub/__init__.py",
    "pkg/sub/o.py",
    "tests/test_m.py",
    "pyproject.toml",
    "README.md",
    "docs/guide.md",
    "pkg/data.json",
    "notes.txt",
    "web/tsconfig.json",
    "web/app.ts",
    "web/lib/index.ts",
    "web/lib/view.tsx",
    "web/util.js",
    "web/pkg/package.json",
    "web/pkg/src/index.ts",
    "Cargo.toml",
    "src/lib.rs",
    "src/m0.rs",
    "src/m1/mod.rs",
    "src/m1/m2.rs",
    "lib/Cargo.toml",
    "lib/src/lib.rs",
    "src/Main.java",
    "b/C0.java",
    "b/C1.kt",
    "c/a.c",
    "c/b.c",
    "c/a.h",
    "c/b.h",
    "lib/a.rb",
    "lib/b.rb",
    "php/A.php",
    "php/B.php",
    "lib/a.lua",
    "lib/b.sh",
    "src/A.cs",
    "src/a.cpp",
    "src/a.swift",
    "src/A.scala",
    "src/a.proto",
    "src/a.sql",
    "src/a.tf",
    "conf/a.yaml",
    "conf/a.ini",
    "conf/a.toml",
    "Makefile",
    "docs/a.rst",
    "web/A.vue",
    "web/A.svelte",
    "web/a.html",
];
pub const FOLDERS: [&str; 9] = ["a", "b", "a/c", "pkg", "pkg/sub", "moved", "a/new", "web/lib", "web/pkg"];
pub const IGNORE_FILES: [&str; 4] = [".gitignore", "a/.gitignore", ".ignore", ".indexdignore"];
pub const PATTERNS: [&str; 8] =
    ["*.md\n", "c/\n", "/pkg/sub\n", "b.go\n*.json\n", "!b.go\n", "*_test.go\n", "moved\n", ""];

/// One step of a script.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A file gets content made from a seed.
    Write(usize, u16),
    /// A line inside a function of a file changes; nothing that others see does.
    Body(usize, u8),
    /// A file goes.
    Delete(usize),
    /// A file moves to the place of another.
    Rename(usize, usize),
    /// A folder moves; what was there goes.
    RenameFolder(usize, usize),
    /// An ignore file gets one of a few contents.
    Ignore(usize, usize),
    /// The last step is taken back.
    Undo,
}

/// A script of at most `steps_max` steps; after each, whether the index catches up at once.
pub fn script(steps_max: usize) -> impl Strategy<Value = Vec<(Edit, bool)>> {
    let n = FILES.len();
    let edit = prop_oneof![
        6 => (0..n, any::<u16>()).prop_map(|(f, seed)| Edit::Write(f, seed)),
        3 => (0..n, any::<u8>()).prop_map(|(f, seed)| Edit::Body(f, seed)),
        2 => (0..n).prop_map(Edit::Delete),
        2 => (0..n, 0..n).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (0..FOLDERS.len(), 0..FOLDERS.len()).prop_map(|(from, to)| Edit::RenameFolder(from, to)),
        1 => (0..IGNORE_FILES.len(), 0..PATTERNS.len()).prop_map(|(f, p)| Edit::Ignore(f, p)),
        1 => Just(Edit::Undo),
    ];
    proptest::collection::vec((edit, proptest::bool::weighted(0.7)), 1..=steps_max)
}

/// The files of a repository, in memory and on disk.
#[derive(Default)]
pub struct Repository {
    files: BTreeMap<String, String>,
    before: BTreeMap<String, String>,
}

impl Repository {
    /// Every file with content of its first seed.
    pub fn new(root: &Path) -> Self {
        let mut repository = Self::default();
        let files =
            FILES.iter().enumerate().map(|(i, path)| ((*path).to_owned(), content(path, i as u16))).collect();
        repository.become_(files, root);
        repository
    }

    /// Does one step on disk and gives the paths that are dirty then.
    pub fn apply(&mut self, edit: &Edit, root: &Path) -> Vec<String> {
        let mut next = self.files.clone();
        match edit {
            Edit::Write(f, seed) => {
                next.insert(FILES[*f].to_owned(), content(FILES[*f], *seed));
            }
            Edit::Body(f, seed) => {
                if let Some(text) = next.get_mut(FILES[*f]) {
                    *text = with_body(text, *seed);
                }
            }
            Edit::Delete(f) => {
                next.remove(FILES[*f]);
            }
            Edit::Rename(from, to) => {
                if let Some(text) = next.remove(FILES[*from]) {
                    next.insert(FILES[*to].to_owned(), text);
                }
            }
            Edit::RenameFolder(from, to) => {
                let (from, to) = (FOLDERS[*from], FOLDERS[*to]);
                if from != to && !is_below(to, from) && !is_below(from, to) && root.join(from).is_dir() {
                    return self.rename_folder(from, to, root);
                }
            }
            Edit::Ignore(f, p) => {
                next.insert(IGNORE_FILES[*f].to_owned(), PATTERNS[*p].to_owned());
            }
            Edit::Undo => next = self.before.clone(),
        }
        self.become_(next, root)
    }

    /// What a step that only writes a file would write; `None` for any other.
    pub fn text_of(&self, edit: &Edit) -> Option<(&'static str, String)> {
        match edit {
            Edit::Write(f, seed) => Some((FILES[*f], content(FILES[*f], *seed))),
            Edit::Body(f, seed) => self.files.get(FILES[*f]).map(|text| (FILES[*f], with_body(text, *seed))),
            _ => None,
        }
    }

    fn rename_folder(&mut self, from: &str, to: &str, root: &Path) -> Vec<String> {
        let _ = fs::remove_dir_all(root.join(to));
        fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
        fs::rename(root.join(from), root.join(to)).unwrap();
        self.before = self.files.clone();
        self.files.retain(|path, _| !is_below(path, to));
        let moved: Vec<String> = self.files.keys().filter(|p| is_below(p, from)).cloned().collect();
        for path in moved {
            let text = self.files.remove(&path).unwrap();
            self.files.insert(format!("{to}{}", &path[from.len()..]), text);
        }
        vec![from.to_owned(), to.to_owned()]
    }

    fn become_(&mut self, next: BTreeMap<String, String>, root: &Path) -> Vec<String> {
        let mut dirty = Vec::new();
        for path in self.files.keys().filter(|p| !next.contains_key(*p)) {
            fs::remove_file(root.join(path)).unwrap();
            dirty.push(path.clone());
        }
        for (path, text) in next.iter().filter(|(p, t)| self.files.get(*p) != Some(t)) {
            let at = root.join(path);
            if at.is_dir() {
                fs::remove_dir_all(&at).unwrap();
            }
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, text).unwrap();
            dirty.push(path.clone());
        }
        self.before = std::mem::replace(&mut self.files, next);
        dirty
    }
}

fn is_below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A small stream of numbers from a seed.
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    pub fn chance(&mut self) -> bool {
        self.below(2) == 0
    }
}

fn content(path: &str, seed: u16) -> String {
    let mut r = Numbers(u64::from(seed));
    let ordinary = ordinary(path, seed, &mut r);
    importing::with_odd_names(path, ordinary, &mut r)
}

fn ordinary(path: &str, seed: u16, r: &mut Numbers) -> String {
    match path.rsplit_once('.').map_or("", |p| p.1) {
        "go" => go(path, r),
        "py" => python(path, r),
        "mod" => format!("module example.com/m{}\n\ngo 1.22\n", r.below(2)),
        "toml" if path.ends_with("Cargo.toml") => format!("[package]\nname = \"m{}\"\n", r.below(4)),
        "toml" => format!("[project]\nname = \"demo{}\"\nversion = \"{}\"\n", r.below(2), r.below(3)),
        "ts" | "tsx" | "js" => ecma(r),
        "rs" | "java" | "kt" | "c" | "cpp" | "h" | "rb" | "php" | "lua" | "sh" | "scala" => {
            importing::content(path, r)
        }
        "cs" | "swift" | "proto" | "sql" | "tf" => importing::content(path, r),
        "json" if path.ends_with("tsconfig.json") => {
            let target = ["lib", "pkg/src", "none"][r.below(3) as usize];
            format!("{{\"compilerOptions\": {{\"paths\": {{\"@x/*\": [\"{target}/*\"]}}}}}}\n")
        }
        "json" if path.ends_with("package.json") => {
            format!(
                "{{\"name\": \"p{}\", \"main\": \"src/{}\"}}\n",
                r.below(2),
                ["index.ts", "no.ts"][r.below(2) as usize]
            )
        }
        "json" => {
            let key = if r.chance() { token(r) } else { "none".to_owned() };
            format!("{{\"retry\": {}, \"key\": \"{key}\", \"T0\": [\"F1\"]}}\n", r.below(9))
        }
        "md" => format!(
            "# Title {}\n\nUses `T{}` and F{}.\n\n## Retry\n\ntext {}\n",
            seed % 7,
            r.below(3),
            r.below(3),
            r.below(9)
        ),
        _ => format!("plain {seed}\nF{} and T{}\n", r.below(3), r.below(3)),
    }
}

/// Looks like a token of an issuer, so that texts are redacted and come back.
pub fn token(r: &mut Numbers) -> String {
    let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789";
    let noise = (0..36).map(|_| char::from(letters[r.below(letters.len() as u64) as usize]));
    ["gh", "p_"].concat() + &noise.collect::<String>()
}

/// Names come from a small pool, so that files find, shadow and lose each other all the time.
fn go(path: &str, r: &mut Numbers) -> String {
    let package = path.rsplit('/').nth(1).unwrap_or("main");
    let mut out = format!("package {package}\n\n");
    let other = ["a", "b", "a/c"][r.below(3) as usize];
    let alias = other.rsplit('/').next().unwrap();
    let imports = r.chance() && alias != package;
    if imports {
        let _ = writeln!(out, "import \"example.com/m{}/{other}\"\n", r.below(2));
    }
    for i in 0..r.below(4) {
        let field = match r.below(4) {
            0 => format!("T{}", r.below(3)),
            1 if imports => format!("*{alias}.T{}", r.below(3)),
            2 => format!("next *T{}", r.below(3)),
            _ => "n int".to_owned(),
        };
        match r.below(3) {
            0 => {
                let _ = writeln!(out, "// T{i} waits.\ntype T{i} struct {{\n\t{field}\n}}\n");
            }
            1 => {
                let _ = writeln!(out, "type T{i} interface {{\n\tM{}() T{}\n}}\n", r.below(3), r.below(3));
            }
            _ => {
                let _ = writeln!(
                    out,
                    "type T{i} int\n\nfunc (t T{i}) M{}() T{} {{ return F{}() }}\n",
                    r.below(3),
                    r.below(3),
                    r.below(3)
                );
            }
        }
    }
    for i in 0..r.below(4) {
        let call = match r.below(4) {
            0 => format!("F{}()", r.below(3)),
            1 if imports => format!("{alias}.F{}()", r.below(3)),
            2 => format!("new(T{}).M{}()", r.below(3), r.below(3)),
            _ => format!("V{}", r.below(2)),
        };
        let _ = writeln!(out, "func F{i}() T{} {{\n\tx := {call}\n\treturn x // body 0\n}}\n", r.below(3));
    }
    if r.chance() {
        let _ = writeln!(out, "var V{} = F{}()", r.below(2), r.below(3));
    }
    if r.below(12) == 0 {
        out.push_str("func broken( {\n");
    }
    out
}

fn python(path: &str, r: &mut Numbers) -> String {
    let mut out = String::from("\"\"\"Doc of this module.\"\"\"\n");
    for _ in 0..r.below(3) {
        let module = ["pkg", "pkg.m", "pkg.n", "pkg.sub", "pkg.sub.o"][r.below(5) as usize];
        let line = match r.below(5) {
            0 => format!("import {module}"),
            1 => format!("from {module} import *"),
            2 => format!("from {module} import C{} as C{}", r.below(3), r.below(3)),
            3 if path.starts_with("pkg/") => {
                format!("from .{} import f{}", ["", "m", "n"][r.below(3) as usize], r.below(3))
            }
            _ => format!("from {module} import C{}, f{}", r.below(3), r.below(3)),
        };
        out.push_str(&line);
        out.push('\n');
    }
    if r.below(3) == 0 {
        let _ = writeln!(out, "__all__ = [\"C{}\", \"f{}\"]", r.below(3), r.below(3));
    }
    for i in 0..r.below(4) {
        let base = if r.chance() { format!("(C{})", r.below(3)) } else { String::new() };
        let _ = writeln!(
            out,
            "\n\nclass C{i}{base}:\n    def __init__(self):\n        self.x = C{}()\n",
            r.below(3)
        );
        let _ = writeln!(
            out,
            "    def m{}(self):\n        return self.x.m{}()  # body 0",
            r.below(3),
            r.below(3)
        );
    }
    for i in 0..r.below(4) {
        let hint = if r.chance() { format!(" -> \"C{}\"", r.below(3)) } else { String::new() };
        let _ = writeln!(
            out,
            "\n\ndef f{i}(a=None){hint}:\n    b = f{}(a)\n    return b.m{}() or C{}()  # body 0",
            r.below(3),
            r.below(3),
            r.below(3)
        );
    }
    if r.below(12) == 0 {
        out.push_str("def broken(:\n");
    }
    out
}

fn ecma(r: &mut Numbers) -> String {
    let mut out = String::new();
    for _ in 0..r.below(4) {
        let from = ["./lib", "../util", "./util", "./view", "..", "@x/index", "p0", "p1", "react"]
            [r.below(9) as usize];
        let (f, c) = (r.below(3), r.below(3));
        let line = match r.below(8) {
            0 => format!("import * as ns from '{from}';"),
            1 => format!("import f{f}, {{ C{c} }} from '{from}';"),
            2 => format!("export * from '{from}';"),
            3 => format!("export {{ f{f} as f{c} }} from '{from}';"),
            4 => format!("const {{ f{f} }} = require('{from}');"),
            5 => format!("const ns = require('{from}');"),
            _ => format!("import {{ f{f}, C{c} as C{f} }} from '{from}';"),
        };
        let _ = writeln!(out, "{line}");
    }
    for i in 0..r.below(4) {
        let base = if r.chance() { format!(" extends C{}", r.below(3)) } else { String::new() };
        let (m, n, f) = (r.below(3), r.below(3), r.below(3));
        let _ = writeln!(
            out,
            "export class C{i}{base} {{\n  static m{m}() {{ return this.m{n}() || f{f}(C{m}.m{n}()); }}\n\
             {}}}",
            ecma_members(r)
        );
    }
    ecma_types(r, &mut out);
    for i in 0..r.below(4) {
        let export = ["export ", "export default ", "", "exports.x = "][r.below(4) as usize];
        let (f, g) = (r.below(3), r.below(3));
        let _ = writeln!(
            out,
            "{export}function f{i}(f{f}) {{\n  // body 0\n  return f{f}(f{g}()) + ns.f{g}() + new C{f}();\n}}"
        );
    }
    match r.below(6) {
        0 => out.push_str("module.exports = { f0, f1 };\n"),
        1 => out.push_str("export { f2 as f0, f1 };\n"),
        2 => out.push_str("function broken( {\n"),
        _ => {}
    }
    out
}

/// Members that are found through the types of values alone.
fn ecma_members(r: &mut Numbers) -> String {
    let (m, n, f) = (r.below(3), r.below(3), r.below(3));
    match r.below(5) {
        0 => format!("  p{m}: C{n};\n  q{n}(a: I{f}) {{ return a.p{m}.q{n}(this); }}\n"),
        1 => format!("  p{m} = new C{n}();\n  q{n}() {{ return this.p{m}.p{f}; }}\n"),
        2 => format!("  constructor(readonly p{m}: C{n}) {{ super(p{m}.p{f}); }}\n"),
        3 => format!("  q{m}() {{ return [this.p{n}].map(x => x.p{f}); }}\n"),
        _ => String::new(),
    }
}

fn ecma_types(r: &mut Numbers, out: &mut String) {
    for i in 0..r.below(3) {
        let (m, n, f) = (r.below(3), r.below(3), r.below(3));
        let line = match r.below(6) {
            0 => format!("export interface I{i} extends C{m} {{ p{n}: I{f}; q{m}(a: C{n}): I{m} }}"),
            1 => format!("export type I{i} = C{m} & {{ p{n}: {{ p{f}: C{n} }} }} | I{f};"),
            2 => format!("declare module './lib' {{ interface C{m} {{ p{n}: I{f} }} }}"),
            3 => format!(
                "export const k{i} = (a: I{m}) => ({{ p{n}: a.p{f}, q{m}() {{ return a.q{n}(); }} }});"
            ),
            4 => format!("const {{ p{m}, ...k{i} }} = k{n}(new C{f}());\nexport default k{i}.q{m}();"),
            _ => format!("export const k{i}: I{m} = {{ p{n}: f{f}(k{n}.p{m}) }};"),
        };
        let _ = writeln!(out, "{line}");
    }
}

/// A file of a language whose definitions alone are known.
/// The same file with other comments inside functions.
fn with_body(text: &str, seed: u8) -> String {
    match text.find(" body ") {
        Some(at) => {
            let end = text[at + 6..].find('\n').map_or(text.len(), |i| at + 6 + i);
            format!("{} body {seed}{}", &text[..at], &text[end..])
        }
        None => text.to_owned(),
    }
}
