//! Files in languages that are followed within files and through imports, or cut into definitions, made from a small pool of
//! names, so that they find, shadow and lose each other all the time.

use crate::edits::Numbers;
use std::fmt::Write;

/// The text of a file of such a language.
pub fn content(path: &str, r: &mut Numbers) -> String {
    let ending = path.rsplit_once('.').map_or("", |p| p.1);
    let mut out = head(ending, r);
    for i in 0..r.below(5) {
        let (called, owner, n) = (r.below(3), r.below(3), r.below(3));
        let _ = match ending {
            "rs" => match r.below(4) {
                0 => writeln!(
                    out,
                    "pub struct C{n};\nimpl C{n} {{\n    pub fn f{i}(&self) {{ self.f{called}(); C{owner}::f{n}() }}\n}}"
                ),
                1 => writeln!(
                    out,
                    "mod m{n} {{\n    use super::*;\n    pub fn f{i}() {{ f{called}(); super::m{owner}::f{n}() }}\n}}"
                ),
                _ => writeln!(
                    out,
                    "pub fn f{i}(x: C{n}) {{ // body 0\n    f{called}(); m{owner}::f{n}(); C{n}::f{called}()\n}}"
                ),
            },
            "java" => match r.below(3) {
                0 => writeln!(
                    out,
                    "interface C{n}<T> {{\n    C{owner} f{i}(T a, C{called}<C{n}<T>> b);\n    default void f{called}() {{ f{i}(null, null).x.f{n}(1); }}\n}}"
                ),
                1 => writeln!(
                    out,
                    "class C{n}<T> extends C{owner}<T> {{\n    C{called} x;\n    T f{i}() {{ var y = x.f{called}(1); y.x.f{n}(); C{owner} z = (a, b) -> a.f{n}(); return super.f{called}(); }}\n    C{owner} f{called}(int a) {{ return new C{n}() {{ T f{i}() {{ return f{n}(); }} }}; }}\n}}"
                ),
                _ => writeln!(
                    out,
                    "class C{n} extends C{owner} {{\n    void f{i}() {{ // body 0\n        f{called}(); new C{called}(); C{owner}.f{n}();\n    }}\n    void f{n}(int a) {{}}\n}}"
                ),
            },
            "kt" => writeln!(
                out,
                "class C{n} {{\n    fun f{i}() {{ f{called}(); C{owner}() }}\n}}\nfun f{n}(c: C{owner}) {{ f{called}() }}"
            ),
            "c" | "cpp" => writeln!(
                out,
                "{}int f{i}(int a) {{ // body 0\n    return f{called}(a) + K{n};\n}}",
                if r.chance() { "static " } else { "" }
            ),
            "h" => writeln!(
                out,
                "int f{i}(int a){}\n#define K{n} {i}",
                if r.below(4) == 0 { " { return 1; }" } else { ";" }
            ),
            "rb" => writeln!(
                out,
                "class C{n} < C{owner}\n  def f{i}(a)\n    f{called}(a)\n    C{called}.new\n  end\nend"
            ),
            "php" => writeln!(
                out,
                "class C{n} extends C{owner} {{\n    function f{i}() {{ $this->f{called}(); C{n}::f{called}(); f{n}(); }}\n}}\nfunction f{i}() {{}}"
            ),
            "lua" => writeln!(out, "function M.f{i}(x)\n  b.f{called}(x)\n  M.f{n}(x)\nend"),
            "cs" => writeln!(
                out,
                "class C{n} : C{owner} {{\n    void f{i}() {{ f{called}(); new C{called}(); }}\n    int F{i}, G{n};\n}}"
            ),
            "swift" => writeln!(
                out,
                "class C{n}: C{owner} {{\n    func f{i}() {{ f{called}() }}\n}}\nextension C{owner} {{ var v{i}: Int {{ f{n}() }} }}"
            ),
            "scala" => writeln!(
                out,
                "class C{n} extends C{owner} {{\n  def f{i}(a: Int): Int = f{called}(a)\n  val (a{i}, b{i}) = (1, 2)\n}}"
            ),
            "proto" => writeln!(
                out,
                "message C{n}{i} {{\n  C{owner}{called} f{i} = 1;\n  oneof o{i} {{ int32 f{n} = 2; }}\n}}"
            ),
            "sql" => match r.below(3) {
                0 => writeln!(out, "CREATE TABLE c{n}{i} (f{i} int REFERENCES c{owner}{called}(f{called}));"),
                1 => writeln!(
                    out,
                    "CREATE FUNCTION f{i}() RETURNS int AS $$\n  SELECT f{called}(); -- body 0\n$$ LANGUAGE sql;"
                ),
                _ => writeln!(out, "CREATE PROCEDURE p{i} AS\nBEGIN\n  EXEC p{called};\nEND\nGO"),
            },
            "tf" => writeln!(
                out,
                "resource \"c{owner}\" \"f{i}\" {{\n  name = c{n}.f{called}.id\n}}\nvariable \"v{n}{i}\" {{}}"
            ),
            _ => writeln!(out, "f{i}() {{ f{called}; f{n}; }}"),
        };
    }
    out
}

/// Names that are not identifiers, and some that are: those that two definitions bear differ in one letter,
/// and each is there up to three times. Descriptors of all lengths up to nine bytes are among them.
const ODD: [&str; 16] = [
    "a[i]", "a[k]", "fooA", "fooC", "a", "c", "ab", "a b", "a c", "x-y", "x-{", "é", "ê", "`", "+", "fooABab",
];

/// A text, before or behind it definitions with odd names, in every language that has some.
pub fn with_odd_names(path: &str, ordinary: String, r: &mut Numbers) -> String {
    let mut names = Vec::new();
    for _ in 0..r.below(4) {
        let name = ODD[r.below(ODD.len() as u64) as usize];
        names.extend((0..=r.below(3)).map(|_| name));
    }
    // In any order.
    for i in (1..names.len()).rev() {
        names.swap(i, r.below(i as u64 + 1) as usize);
    }
    let lines: String = names.iter().zip(0..).map(|(name, i)| odd(path, name, i)).collect();
    match path.rsplit_once('.').map_or("", |p| p.1) {
        // An object, and scripts inside a page.
        "json" if !path.ends_with("package.json") && !path.ends_with("tsconfig.json") => {
            format!("{{{lines}\"end\": {}}}\n", ordinary.trim_end())
        }
        "vue" | "svelte" | "html" => format!("<script>\n{lines}</script>\n<p>{}</p>\n", r.below(9)),
        _ => ordinary + &lines,
    }
}

/// One definition; a name that the language does not allow becomes another one, or an error in the text.
fn odd(path: &str, name: &str, i: u32) -> String {
    let word: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let word = if word.is_empty() { "plus" } else { &*word };
    let operator = ["+", "-", "==", "<=", "%"][name.len() % 5];
    let quoted = name.replace('`', "_");
    match path.rsplit_once('.').map_or("", |p| p.1) {
        "go" => format!("func {word}(x{i} int) {{}}\n"),
        "py" => format!("def {word}(x{i}):\n    pass\nd[\"{name}\"] = {i}\n"),
        "toml" => format!("[\"{name}\"]\nk{i} = \"{i}\"\n"),
        "ts" | "tsx" | "js" | "vue" | "svelte" | "html" => format!(
            "const o{i} = {{ \"{name}\": {i}, \"{name}\"() {{ }}, [`{quoted}`]: {i} }};\nclass {word} {{ \"{name}\"() {{}} {word} = {i}; }}\n"
        ),
        "rs" => format!("fn r#{word}() {{}}\nmacro_rules! {word} {{ () => {{ {i} }} }}\n"),
        "java" => format!("class {word} {{ int {word}() {{ return {i}; }} int {word}; }}\n"),
        "kt" => format!("fun `{quoted}`(x{i}: Int) {{}}\nval `{quoted}`: Int = {i}\n"),
        "scala" => {
            format!("def `{quoted}`: Int = {i}\nobject O{i} {{ def {operator}(o: Int): Int = {i} }}\n")
        }
        "swift" => format!("func `{quoted}`() {{}}\nfunc {operator} (a: Int, b: Int) -> Int {{ {i} }}\n"),
        "c" | "h" => format!("int {word}(int a);\n#define {word} {i}\n"),
        "cpp" => format!(
            "int operator{operator}(A a, int b) {{ return {i}; }}\nint {word}(int a) {{ return {i}; }}\n"
        ),
        "cs" => format!(
            "class @{word} {{ public static int operator {operator}(int a, int b) => {i}; int @{word}; }}\n"
        ),
        "rb" => format!("def {operator}(o)\n  {i}\nend\ndef {word}?\nend\nA[\"{name}\"] = {i}\n"),
        "php" => format!("function {word}() {{ return {i}; }}\n$a['{name}'] = {i};\n"),
        "lua" => format!("a[{word}] = {i}\n{name} = {i}\na[{word}] = {{}}\n"),
        "sh" => format!("{word}-{operator}() {{ :; }}\n{word}() {{ echo {i}; }}\n"),
        "proto" => format!("message {word} {{ int32 {word} = {i}; }}\n"),
        "sql" => format!("CREATE TABLE \"{name}\" (\"{name}\" int, c{i} int);\n"),
        "tf" => format!("resource \"{name}\" \"{name}\" {{ x = {i} }}\nvariable \"{name}\" {{}}\n"),
        "md" => format!("# {name}\n\ntext {i}\n\n"),
        "rst" => format!("{name}\n{}\n\ntext {i}\n\n", "=".repeat(12)),
        "yaml" => format!("\"{name}\":\n  \"{name}\": {i}\n"),
        "ini" => format!("[{name}]\n{name} = {i}\n"),
        "json" => format!("\"{name}\": {i}, "),
        "" if path.ends_with("Makefile") => format!("{word}-{operator}: {word}\n\techo {i}\n"),
        _ => String::new(),
    }
}

/// What stands before the definitions: packages and imports.
fn head(ending: &str, r: &mut Numbers) -> String {
    let (n, m) = (r.below(3), r.below(3));
    match ending {
        "rs" => {
            format!("mod m{n};\nuse crate::m{m}::{{self, f{n}, C{m} as C0}};\nuse m{}::*;\n\n", r.below(4))
        }
        "java" => format!("package p{};\nimport p{n}.C{m};\nimport p{m}.*;\n\n", r.below(2)),
        "kt" => format!("package p{}\nimport p{n}.f{m}\nimport p{m}.*\n\n", r.below(2)),
        "c" | "cpp" | "h" => format!("#include \"{}.h\"\n\n", ["a", "b", "c/a"][n as usize]),
        "rb" => format!("require_relative '{}'\n\n", ["a", "b", "c"][n as usize]),
        "php" => format!("<?php\nnamespace P{};\nuse P{n}\\C{m};\n\n", r.below(2)),
        "lua" => format!("local b = require(\"{}\")\nlocal M = {{}}\n\n", ["lib.a", "a", "b"][n as usize]),
        "scala" => format!("package p{}\nimport p{n}.C{m}\n\n", r.below(2)),
        "cs" => format!("namespace P{};\nusing P{n};\n\n", r.below(2)),
        "swift" => "import Foundation\n\n".to_owned(),
        "proto" => format!("syntax = \"proto3\";\npackage p{n};\n\n"),
        "sql" | "tf" => String::new(),
        _ => format!("source ./{}.sh\n\n", ["a", "b"][(n % 2) as usize]),
    }
}
