//! Other languages: variables of the environment and options, found in the text of the source.

use super::{Kind, Reading};
use crate::Place;
use crate::scan;
use crate::sources::Source;
use indexd_model::Language;

/// Text before a variable of the environment; a quoted or a plain name follows.
const VARIABLES: &[(&[Language], &str)] = &[
    (ECMA, "process.env."),
    (ECMA, "process.env["),
    (ECMA, "import.meta.env."),
    (ECMA, "Deno.env.get("),
    (&[Language::Rust], "env::var("),
    (&[Language::Rust], "env::var_os("),
    (&[Language::Rust], "env!("),
    (JVM, "System.getenv("),
    (&[Language::Ruby], "ENV["),
    (&[Language::Ruby], "ENV.fetch("),
    (&[Language::Php], "getenv("),
    (&[Language::Php], "$_ENV["),
    (&[Language::C, Language::Cpp], "getenv("),
    (&[Language::CSharp], "GetEnvironmentVariable("),
    (&[Language::Lua], "os.getenv("),
];
const ECMA: &[Language] =
    &[Language::TypeScript, Language::Tsx, Language::JavaScript, Language::Vue, Language::Svelte];
const JVM: &[Language] = &[Language::Java, Language::Kotlin, Language::Scala];

pub(super) fn read(reading: &mut Reading, source: &Source, text: &str) {
    let mark = source.language.line_comment();
    let place = |at: usize| Place { path: source.path.to_string(), line: scan::line_of(text, at) };
    for (_, written) in VARIABLES.iter().filter(|(languages, _)| languages.contains(&source.language)) {
        for (at, _) in text.match_indices(written).filter(|(at, _)| !scan::in_comment(text, *at, mark)) {
            let behind = at + written.len();
            let name = match text.as_bytes().get(behind) {
                Some(b'"' | b'\'' | b'`') => scan::parts(text, behind).first().and_then(|p| scan::literal(p)),
                _ if written.ends_with('.') => Some(scan::word(text, behind)),
                _ => None,
            };
            name.filter(|n| !n.is_empty()).into_iter().for_each(|n| {
                reading.parsed(Kind::Environment, n, place(at));
            });
        }
    }
    if ECMA.contains(&source.language) {
        // Options in the style of commander and yargs: `.option("-p, --port <n>", ...)`, `.option("port",
        // ...)`.
        for (at, _) in text.match_indices(".option(") {
            let first = scan::parts(text, at + ".option(".len()).first().and_then(|p| scan::literal(p));
            let long = first.and_then(|f| f.split([' ', ',']).find(|w| w.starts_with("--")));
            let name = long.or(first.filter(|f| scan::is_key(f)));
            name.into_iter().for_each(|n| reading.parsed(Kind::Flag, n, place(at)));
        }
    }
}
