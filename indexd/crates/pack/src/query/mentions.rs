//! Names in the text: symbols, paths, stack frames, phrases, error messages.

use super::{MENTIONS_MAX, NameForm, NameMention, PathMention, Query, SymbolMention, Zone, is_stopword};
use indexd_text::words;

/// Extensions by which a dotted word is the name of a file.
const EXTENSIONS: [&str; 22] = [
    "go", "py", "pyi", "md", "rst", "txt", "toml", "yaml", "yml", "json", "ini", "cfg", "mod", "sum", "sh",
    "js", "ts", "html", "css", "proto", "tmpl", "conf",
];

/// Fills in the mentions of `query` from the lines of its text.
pub fn collect(lines: &[(Zone, &str)], query: &mut Query) {
    let mut frames = 0;
    for &(zone, line) in lines {
        if let Some(frame) = frame(line.trim()) {
            // The frames nearest to the fault are last in Python and first in Go, so both ends are kept.
            frames += 1;
            if frames <= 2 * MENTIONS_MAX {
                push(&mut query.paths, frame);
            }
        } else {
            links_of(line, query);
            paths_of(line, query);
        }
        if matches!(zone, Zone::Trace | Zone::Title | Zone::Lead | Zone::Prose) {
            error_message(line.trim(), query);
        }
        if zone == Zone::Title {
            messages_of(line, query);
        }
        if !matches!(zone, Zone::Code | Zone::Diff | Zone::Aside) {
            quoted(line, query);
        }
        symbols_of(zone, line, query);
        if matches!(zone, Zone::Title | Zone::Lead | Zone::Prose) {
            names_of(zone, line, query);
        }
        if matches!(zone, Zone::Title | Zone::Lead) {
            plain_words(line, query);
        }
        if !matches!(zone, Zone::Trace | Zone::Diff | Zone::Aside) {
            pairs_of(line, query);
        }
    }
    for list in [&mut query.words, &mut query.literals] {
        list.truncate(MENTIONS_MAX);
    }
    // Identifiers are surer than the many pairs and words.
    query.names.sort_by_key(|n| n.form);
    query.names.truncate(MENTIONS_MAX);
    query.names_tests =
        query.words.iter().any(|w| matches!(w.as_str(), "test" | "tests" | "testing" | "flaky" | "coverage"));
    query.names_docs = query.words.iter().any(|w| {
        matches!(w.as_str(), "doc" | "docs" | "documentation" | "readme" | "changelog" | "tutorial")
    });
}

/// True if a trace begins on this line.
pub fn starts_trace(line: &str) -> bool {
    line.contains("Traceback (most recent call last)")
        || line.starts_with("panic: ")
        || (line.starts_with("goroutine ") && line.contains('['))
}

/// True if the line is a stack frame of Python or Go.
pub fn is_frame(line: &str) -> bool {
    frame(line).is_some()
}

/// Parses one stack frame: `File "a/b.py", line 3, in f`, or `/x/y.go:12 +0x1d`.
fn frame(line: &str) -> Option<PathMention> {
    // A log may prefix each line of a trace.
    if let Some((_, rest)) = line.split_once("File \"") {
        let (path, rest) = rest.split_once('"')?;
        let rest = rest.strip_prefix(", line ")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let function = rest[digits..].strip_prefix(", in ").map(|f| f.trim().to_owned());
        return Some(PathMention {
            path: clean(path),
            is_dotted: false,
            line: rest[..digits].parse().ok(),
            function: function.filter(|f| !f.starts_with('<') && !f.is_empty()),
        });
    }
    let (place, offset) = line.split_once(" +0x")?;
    let (path, number) = place.rsplit_once(':')?;
    let ok = path.ends_with(".go") && offset.bytes().all(|b| b.is_ascii_hexdigit());
    ok.then(|| PathMention { path: clean(path), is_dotted: false, line: number.parse().ok(), function: None })
}

/// Normalises a path: slashes only, nothing before the first name, no query and no line suffix.
fn clean(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./").trim_start_matches("../").trim_matches('/');
    path.to_owned()
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-' | '\\')
}

/// Finds links to files at a forge, `https://host/owner/name/blob/revision/path#L12`, which point at a place
/// exactly. The first name after `blob` is the revision. A revision with slashes leaves extra names before
/// the path; the file is then found by the end of the path.
fn links_of(line: &str, query: &mut Query) {
    for (at, mark) in line.match_indices("/blob/") {
        let before = line[..at].rsplit(|c: char| !(is_path_char(c) || c == ':')).next();
        let rest = &line[at + mark.len()..];
        let (place, after) = rest.split_at(rest.find(|c| !is_path_char(c)).unwrap_or(rest.len()));
        let Some((_, path)) = place.split_once('/').filter(|_| before.is_some_and(|b| b.contains("://")))
        else {
            continue;
        };
        let number = after.strip_prefix("#L").unwrap_or("");
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        push_path(query, path.trim_end_matches(['.', '-']), false, number[..digits].parse().ok());
    }
}

/// Finds paths, file names and dotted modules in a line.
fn paths_of(line: &str, query: &mut Query) {
    for token in line.split(|c: char| !(is_path_char(c) || c == ':')) {
        if token.contains("://") || token.len() > 200 {
            continue;
        }
        let token = token.trim_matches(|c| matches!(c, '.' | ':' | '-'));
        let mut parts = token.splitn(3, ':');
        let path = parts.next().unwrap_or("").trim_end_matches(['.', '-']);
        let line_number = parts.next().and_then(|n| n.parse().ok());
        let Some((stem, ext)) = path.rsplit_once('.') else {
            if looks_like_folder(path) {
                push_path(query, path, false, line_number);
            }
            continue;
        };
        if EXTENSIONS.contains(&ext) && !stem.is_empty() {
            push_path(query, path, false, line_number);
        } else if !path.contains('/') && is_dotted_name(path) {
            push_path(query, path, true, None);
        } else if path.contains('/') && is_dotted_name(ext) && path.len() >= 5 {
            // `pkg/name.Symbol` in Go.
            push_path(query, path, true, None);
        }
    }
}

/// True if a text with slashes is a path: one with three parts or structured names, unlike `and/or` and
/// `client/server`.
fn looks_like_folder(path: &str) -> bool {
    if !path.contains('/') || path.len() < 5 || path.starts_with('/') {
        return false;
    }
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    parts.len() >= 2 && parts.iter().all(|p| p.len() >= 2 && !is_stopword(&p.to_lowercase()))
}

/// True for `a.b.c` of identifiers, without numbers and single letters as in `e.g`.
fn is_dotted_name(text: &str) -> bool {
    text.split('.').all(|p| p.len() >= 2 && is_identifier(p))
}

fn push_path(query: &mut Query, path: &str, is_dotted: bool, line: Option<u32>) {
    let path = if is_dotted { path.to_owned() } else { clean(path) };
    if !path.is_empty() {
        push(&mut query.paths, PathMention { path, is_dotted, line, function: None });
    }
}

/// Finds identifiers that are marked as code or shaped like it, and the last names of dotted ones.
fn symbols_of(zone: Zone, line: &str, query: &mut Query) {
    let bytes = line.as_bytes();
    let in_prose = matches!(zone, Zone::Title | Zone::Lead | Zone::Prose);
    words(line, |at, word| {
        if word.len() < 3 || word.len() > 80 || !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return;
        }
        let before = at.checked_sub(1).map(|i| bytes[i]);
        let after = bytes.get(at + word.len()).copied();
        let is_marked = (before == Some(b'`') && matches!(after, Some(b'`' | b'(')))
            || (before == Some(b'.') && matches!(after, Some(b'`' | b'(')))
            || (after == Some(b'(') && zone != Zone::Code);
        if is_marked || has_code_shape(word) {
            if let Some(known) = query.symbols.iter_mut().find(|s| s.name == word) {
                known.in_prose |= in_prose;
            } else if query.symbols.len() < MENTIONS_MAX {
                query.symbols.push(SymbolMention { name: word.to_owned(), in_prose });
            }
        }
    });
}

/// Finds possible names of definitions: dotted names, identifiers, two neighbouring words as a type and its
/// method, and the plain words of the first lines.
fn names_of(zone: Zone, line: &str, query: &mut Query) {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | ':' | '*' | '(' | ')');
    let mut before: Option<&str> = None;
    for raw in line.split(|c: char| !is_name(c)) {
        let is_marked = raw.ends_with("()");
        let text = raw.trim_matches(['.', ':', '*', '(', ')', '#']);
        let parts: Vec<&str> = text.split(['.', '#', ':']).filter(|p| !p.is_empty()).collect();
        if text.is_empty() || !are_names(&parts) {
            before = None;
            continue;
        }
        let mut add = |text: String, form: NameForm| add_name(&mut query.names, text, form);
        if parts.len() > 1 {
            add(parts.join("."), NameForm::Identifier);
        } else if is_marked || has_code_shape(text) {
            add(text.to_owned(), NameForm::Identifier);
        } else if zone != Zone::Prose && !is_stopword(&text.to_lowercase()) {
            add(text.to_owned(), NameForm::Word);
        }
        if parts.len() == 1 {
            if let Some(first) = before {
                add(format!("{first}.{text}"), NameForm::Pair);
            }
            before = Some(text);
        } else {
            before = None;
        }
    }
}

/// Adds a name unless it is known or its form has reached its limit.
fn add_name(names: &mut Vec<NameMention>, text: String, form: NameForm) {
    if let Some(known) = names.iter_mut().find(|n| n.text == text) {
        known.form = known.form.min(form);
    } else if names.iter().filter(|n| n.form == form).count() < MENTIONS_MAX {
        names.push(NameMention { text, form });
    }
}

/// True if the parts of a word are names of two or more letters, and the word is not the name of a file.
fn are_names(parts: &[&str]) -> bool {
    let is_name = |p: &&str| is_identifier(p.trim_start_matches(['(', '*']).trim_end_matches(')'));
    let is_file = parts.len() == 2 && EXTENSIONS.contains(&parts[1]);
    parts.iter().all(is_name) && !is_file && parts.iter().all(|p| p.len() >= 2)
}

fn is_identifier(part: &str) -> bool {
    part.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && part.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// True for an underscore inside or in front, or for a mix of capitals and lower-case letters as in code. `_word_`
/// is emphasis of Markdown.
fn has_code_shape(word: &str) -> bool {
    let b = word.as_bytes();
    let inner = word.trim_matches('_');
    let camel = b.windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    let acronym = b
        .windows(3)
        .any(|w| w[0].is_ascii_uppercase() && w[1].is_ascii_uppercase() && w[2].is_ascii_lowercase());
    let is_private = word.starts_with("__") || (word.starts_with('_') && !word.ends_with('_'));
    (is_private && !inner.is_empty()) || inner.contains('_') || camel || (acronym && b.len() >= 5)
}

/// Finds words, in lower case, that may be the name of a file or a folder.
fn plain_words(line: &str, query: &mut Query) {
    words(line, |_, word| {
        let lower = word.to_lowercase();
        if lower.len() >= 3 && !is_stopword(&lower) && !lower.bytes().all(|b| b.is_ascii_digit()) {
            push(&mut query.words, lower);
        }
    });
}

/// Finds pairs of neighbouring words, at most one of them a stop word. Commands are written like the paths of
/// their code: `pr checkout` and `pr/checkout.go`.
fn pairs_of(line: &str, query: &mut Query) {
    let mut before: Option<(usize, String)> = None;
    words(line, |at, word| {
        let lower = word.to_lowercase();
        if lower.len() < 2 || !lower.starts_with(char::is_alphabetic) {
            before = None;
            return;
        }
        if let Some((end, first)) = before.take()
            && line[end..at].chars().all(|c| matches!(c, ' ' | '/'))
            && !(is_stopword(&first) && is_stopword(&lower))
        {
            push(&mut query.pairs, (first, lower.clone()));
        }
        before = Some((at + word.len(), lower));
    });
}

/// Finds phrases in quotes.
fn quoted(line: &str, query: &mut Query) {
    for (open, close) in [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}'), ('\'', '\'')] {
        let mut rest = line;
        while let Some(start) = rest.find(open) {
            let at_word_end = open == '\'' && rest[..start].ends_with(char::is_alphanumeric);
            let inside = &rest[start + open.len_utf8()..];
            let Some(end) = inside.find(close) else { break };
            if !at_word_end {
                push_literal(&inside[..end], query);
                rest = &inside[end + close.len_utf8()..];
            } else {
                rest = inside;
            }
        }
    }
}

/// Finds the message after `SomeError:`, `error:` or `panic:`, without its variable parts.
fn error_message(line: &str, query: &mut Query) {
    let Some((head, message)) = line.split_once(": ") else { return };
    let name = head.rsplit(['.', ' ']).next().unwrap_or("");
    let is_error = name.ends_with("Error")
        || name.ends_with("Exception")
        || name.ends_with("Warning")
        || matches!(name.to_lowercase().as_str(), "error" | "panic" | "fatal" | "warning");
    if !is_error || name.len() > 60 {
        return;
    }
    for fragment in message.split(|c: char| {
        c.is_ascii_digit() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}')
    }) {
        push_literal(fragment, query);
    }
}

/// Finds possible messages: the whole line, and the text after its first colon.
fn messages_of(line: &str, query: &mut Query) {
    let line = line.trim().trim_end_matches(['.', ':', '!', '?']);
    for text in [Some(line), line.split_once(": ").map(|(_, rest)| rest.trim())].into_iter().flatten() {
        let n_words = text.split_whitespace().count();
        if (3..=16).contains(&n_words) && !query.literals.iter().any(|l| l == text) {
            push(&mut query.lines, text.to_owned());
        }
    }
}

/// Bytes of a phrase; longer ones are seldom one literal of the code.
const PHRASE_BYTES_MAX: usize = 300;

fn push_literal(text: &str, query: &mut Query) {
    let text = text.trim().trim_matches([':', ',', '.', ';']).trim();
    let n_words = text.split_whitespace().count();
    let is_phrase =
        n_words >= 2 && (8..=PHRASE_BYTES_MAX).contains(&text.len()) && text.chars().any(char::is_alphabetic);
    let is_flag = n_words == 1 && text.starts_with("--") && text.len() >= 4;
    if is_phrase || is_flag {
        push(&mut query.literals, text.to_owned());
    }
}

/// Adds a mention unless it is known or the limit is reached.
fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.len() < 2 * MENTIONS_MAX && !list.contains(&item) {
        list.push(item);
    }
}
