//! Reads the places of modules from package.json, tsconfig.json and compile_commands.json.

use super::needs::NEEDS;
use std::collections::HashSet;

/// Objects and lists inside each other that are read.
const DEPTH_MAX: u32 = 16;
/// Statements kept of one file.
const MODULES_MAX: usize = 1_000;

/// A value of JSON, as far as it matters here.
enum Value {
    Object(Vec<(String, Value)>),
    List(Vec<Value>),
    Text(String),
    Other,
}

/// The statements of a manifest of this name, in order; none for other files.
///
/// - package.json: `.` and the path that `exports`, `source`, `types`, `module` or `main` name; `./a` and
///   `#a` from `exports` and `imports`;
/// - package.json, composer.json: `version`, dependencies behind `needs:` with the versions that fit;
/// - tsconfig.json, jsconfig.json and others with `compilerOptions`, which they may extend: `extends`,
///   `references`, `baseUrl`, and the patterns of `paths` behind `paths:`;
/// - compile_commands.json: folders of headers behind `include`, absolute where the compiler's folder is.
pub(super) fn of(manifest: &str, text: &str) -> Vec<(String, String)> {
    let is_manifest = matches!(manifest, "package.json" | "composer.json");
    let is_named = manifest.starts_with("tsconfig") || manifest.starts_with("jsconfig");
    let is_config =
        !is_manifest && manifest.ends_with(".json") && (is_named || text.contains("\"compilerOptions\""));
    let has_commands = manifest == "compile_commands.json";
    if !is_config && !is_manifest && !has_commands {
        return Vec::new();
    }
    let value = Reader { text: text.as_bytes(), at: 0 }.value(DEPTH_MAX);
    if has_commands {
        return includes(&value);
    }
    let mut out = if is_config { config(&value) } else { package(&value) };
    if !is_config {
        needs(&value, &mut out);
    }
    out.truncate(MODULES_MAX);
    out
}

fn package(value: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    if let Some(exports) = value.get("exports") {
        match exports {
            Value::Object(members) if members.iter().any(|m| m.0.starts_with('.')) => {
                members.iter().for_each(|(name, target)| leaves(name, target, &mut out));
            }
            target => leaves(".", target, &mut out),
        }
    }
    for field in ["source", "types", "typings", "module", "main"] {
        if let Some(target) = value.get(field) {
            leaves(".", target, &mut out);
        }
    }
    if let Some(Value::Object(members)) = value.get("imports") {
        members.iter().for_each(|(name, target)| leaves(name, target, &mut out));
    }
    out
}

fn needs(value: &Value, out: &mut Vec<(String, String)>) {
    if let Some(Value::Text(version)) = value.get("version") {
        out.push(("version".to_owned(), version.clone()));
    }
    const KINDS: [&str; 6] = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
        "require",
        "require-dev",
    ];
    for kind in KINDS {
        let Some(Value::Object(members)) = value.get(kind) else { continue };
        for (name, version) in members {
            if let Value::Text(version) = version {
                out.push((format!("{NEEDS}{name}"), version.clone()));
            }
        }
    }
}

fn config(value: &Value) -> Vec<(String, String)> {
    let mut out = Vec::new();
    if let Some(target) = value.get("extends") {
        leaves("extends", target, &mut out);
    }
    if let Some(targets) = value.get("references") {
        leaves("references", targets, &mut out);
    }
    let Some(options) = value.get("compilerOptions") else { return out };
    if let Some(target) = options.get("baseUrl") {
        leaves("baseUrl", target, &mut out);
    }
    if let Some(Value::Object(paths)) = options.get("paths") {
        paths.iter().for_each(|(pattern, targets)| leaves(&format!("paths:{pattern}"), targets, &mut out));
    }
    out
}

/// The folders of headers that the commands of a compiler name, in their order, without repeats.
/// Format: <https://clang.llvm.org/docs/JSONCompilationDatabase.html>.
fn includes(value: &Value) -> Vec<(String, String)> {
    let Value::List(commands) = value else { return Vec::new() };
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    for command in commands {
        let mut arguments = Vec::new();
        for member in ["arguments", "command"] {
            command.get(member).into_iter().for_each(|v| leaves(member, v, &mut arguments));
        }
        let mut words = arguments.iter().flat_map(|(member, text)| match member.as_str() {
            "command" => text.split_whitespace().map(|w| w.trim_matches(['"', '\''])).collect(),
            _ => vec![text.as_str()],
        });
        while let Some(word) = words.next() {
            let Some(rest) = ["-isystem", "-iquote", "-I"].iter().find_map(|o| word.strip_prefix(o)) else {
                continue;
            };
            let inner = Some(rest).filter(|rest| !rest.is_empty());
            let Some(dir) = inner.or_else(|| words.next()) else { break };
            let from = match command.get("directory") {
                Some(Value::Text(from)) if !dir.starts_with('/') => from.as_str(),
                _ => "",
            };
            let dir = plain(&format!("{from}/{dir}"));
            if out.len() < MODULES_MAX && seen.insert(dir.clone()) {
                out.push(("include".to_owned(), dir));
            }
        }
    }
    out
}

/// A path without `.` and `..`, which do not leave its root.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Every text in a value, whatever the conditions.
fn leaves(name: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Text(text) => out.push((name.to_owned(), text.clone())),
        Value::List(items) => items.iter().for_each(|v| leaves(name, v, out)),
        // `types@<5.4` is for compilers of other versions.
        Value::Object(members) => {
            members.iter().filter(|m| !m.0.contains('@')).for_each(|m| leaves(name, &m.1, out));
        }
        Value::Other => {}
    }
}

impl Value {
    fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.iter().find(|m| m.0 == name).map(|m| &m.1),
            _ => None,
        }
    }
}

/// Reads JSON with comments and trailing commas; at an error it ends early.
struct Reader<'s> {
    text: &'s [u8],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> u8 {
        loop {
            match self.text.get(self.at..).unwrap_or(&[]) {
                [b'/', b'/', rest @ ..] => self.at += 2 + memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', rest @ ..] => {
                    self.at += 4 + memchr::memmem::find(rest, b"*/").unwrap_or(rest.len());
                }
                [b, ..] if b.is_ascii_whitespace() || *b == b',' || *b == b':' => self.at += 1,
                [b, ..] => return *b,
                [] => return 0,
            }
        }
    }

    fn value(&mut self, depth: u32) -> Value {
        let first = self.next();
        let Some(depth) = depth.checked_sub(1).filter(|_| first != 0) else {
            self.at = self.text.len();
            return Value::Other;
        };
        match first {
            b'"' => Value::Text(self.string()),
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while self.next() == b'"' {
                    let name = self.string();
                    members.push((name, self.value(depth)));
                }
                self.at += 1;
                Value::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !matches!(self.next(), b']' | b'}' | 0) {
                    items.push(self.value(depth));
                }
                self.at += 1;
                Value::List(items)
            }
            _ => {
                let ends = |b: &u8| b.is_ascii_whitespace() || b",:]}\"{[/".contains(b);
                let rest = &self.text[self.at + 1..];
                self.at += 1 + rest.iter().position(ends).unwrap_or(rest.len());
                Value::Other
            }
        }
    }

    fn string(&mut self) -> String {
        let end = super::json::string_end(self.text, self.at).min(self.text.len());
        let raw = &self.text[(self.at + 1).min(end)..end];
        self.at = end + 1;
        String::from_utf8_lossy(raw).replace("\\/", "/").replace("\\\\", "\\")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manifest: &str, text: &str, expect: &[(&str, &str)]) {
        let got = of(manifest, text);
        let got: Vec<(&str, &str)> = got.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn manifests_say_where_modules_are() {
        check(
            "package.json",
            r##"{"name": "a", "main": "./lib.js", "exports": {".": {"import": "./esm.js"}, "./b": "./b.js"}, "imports": {"#c": ["./c.js"]}}"##,
            &[(".", "./esm.js"), ("./b", "./b.js"), (".", "./lib.js"), ("#c", "./c.js")],
        );
        check("package.json", r#"{"exports": "./x.js"}"#, &[(".", "./x.js")]);
        check(
            "tsconfig.base.json",
            "{ // c\n \"extends\": \"../x\", \"compilerOptions\": { \"strict\": true, \"baseUrl\": \".\", /* d */ \"paths\": { \"@a/*\": [\"src/*\",], }, } }",
            &[("extends", "../x"), ("baseUrl", "."), ("paths:@a/*", "src/*")],
        );
        check(
            "tsconfig.json",
            r#"{"extends": ["@a/base", "./b.json"], "references": [{"path": "./tsconfig.app.json"}]}"#,
            &[("extends", "@a/base"), ("extends", "./b.json"), ("references", "./tsconfig.app.json")],
        );
        check("other.json", r#"{"main": "x"}"#, &[]);
        check(
            "compile_commands.json",
            r#"[{"directory": "/home/x/build", "command": "cc -I../lib -isystem /usr/local/inc -Igen -c ../a.c"},
                {"directory": "build", "arguments": ["cc", "-I", "./own dir", "-I../lib", "-I"]}, 3]"#,
            &[
                ("include", "home/x/lib"),
                ("include", "usr/local/inc"),
                ("include", "home/x/build/gen"),
                ("include", "build/own dir"),
                ("include", "lib"),
            ],
        );
        for broken in [
            "",
            "{",
            "{\"a\"",
            "{\"main\": ",
            "[[[",
            "{\"main\": \"x",
            "{]",
            "/*",
            "{\"exports\": {\"a\" 1 }",
        ] {
            of("package.json", broken);
        }
        of("package.json", &"{\"exports\":[".repeat(5_000));
    }
}
