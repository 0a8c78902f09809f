//! Checks that `TERMS_VERSION` changes with the terms and token counts of sample texts.

#[path = "../../golden.rs"]
mod golden;

use golden::{Sample, check};
use indexd_model::terms::Vocabulary;
use indexd_model::{Chunk, ChunkKind, DefIdx, Facts, FileRoles, Interface, Language, Lines, Outcome, Span};
use indexd_text::{CounterOptions, TERMS_VERSION, TokenCounter};
use std::fmt::Write;
use std::path::Path;

const TEXTS: [(&str, &str); 6] = [
    (
        "identifiers",
        "parseHTTPRequest snake_case_name SCREAMING_CASE x1y2 ABCDef utf8_to_utf16 _private __init__",
    ),
    ("prose", "The connections were closed; running servers' requests are being retried, can't they?"),
    (
        "code",
        "func (c *Client) Do(ctx context.Context, req *Request) (*Response, error) {\n\treturn c.do(ctx, req)\n}\n",
    ),
    ("numbers", "0x1F 1_000_000 3.14e-10 2024-01-01T00:00:00Z v1.2.3-rc4 127.0.0.1"),
    ("non-ascii", "naïve Straße Ünïcode 日本語のテキスト привет мир e\u{301}"),
    ("path", "src/server/http_client_test.go ../a-b.c/d.e.py"),
];

#[test]
fn terms_and_token_counts_change_with_the_version() {
    let samples = TEXTS.map(|(name, text)| {
        let mut output = String::new();
        indexd_text::terms(text, |term| writeln!(output, "term {term}").unwrap());
        indexd_text::words(text, |at, word| writeln!(output, "word {at} {word}").unwrap());
        for tokenizer in ["o200k_base", "cl100k_base"] {
            let counter = indexd_text::counter(tokenizer, &CounterOptions::default()).unwrap();
            writeln!(output, "{tokenizer} {}", counter.count_tokens(text)).unwrap();
        }
        writeln!(output, "{:?}", file_terms(text)).unwrap();
        Sample { name: name.to_owned(), input: text.to_owned(), output }
    });
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version.golden");
    check(&file, "TERMS_VERSION", TERMS_VERSION, &samples);
}

/// The terms of a text that is one chunk without a definition.
fn file_terms(text: &str) -> indexd_model::terms::FileTerms {
    let interface = Interface::empty(Language::Text, Outcome::TextOnly, FileRoles::default());
    let chunk = Chunk {
        span: Span { start: 0, end: text.len() as u32 },
        lines: Lines { start: 1, end: 1 },
        def: DefIdx::NONE,
        kind: ChunkKind::Lines,
        part: 0,
        n_parts: 1,
    };
    let facts = Facts::outside(&interface);
    indexd_text::file_terms(facts, &[chunk], "src/a_file.txt", text, &mut Vocabulary::default())
}
