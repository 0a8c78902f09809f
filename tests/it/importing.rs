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
            "java" => writeln!(
                out,
                "class C{n} extends C{owner} {{\n    void f{i}() {{ // body 0\n        f{called}(); new C{called}(); C{owner}.f{n}();\n    }}\n    void f{n}(int a) {{}}\n}}"
            ),
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
