//! Custom templates for the text of a pack.
//!
//! The language is Jinja, by minijinja. A template sees the JSON members of the pack, and the default text as
//! `text`. It cannot access files, clocks or other templates. Its steps and the size of its output are
//! limited. `docs/templates.md` has an example.

use crate::canonical;
use crate::error::PackError;
use crate::pack::Pack;
use indexd_model::limits::{TEMPLATE_STEPS_MAX, TOTAL_CHARS_MAX};
use indexd_model::markdown::fence;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

/// The template of renderer `markdown`.
const MARKDOWN: &str = include_str!("template/markdown.jinja");
/// The internal name of every template. Errors give the line instead of the name.
const NAME: &str = "template";

/// A template without syntax errors.
pub struct Template(Box<Environment<'static>>);

impl Template {
    /// Parses a template. Its depth is bounded first, as its parser and those who walk through what it
    /// makes of it call themselves for each operator of an expression.
    ///
    /// # Errors
    /// [`PackError::InvalidRequest`] with the line and the problem.
    pub fn new(text: &str) -> Result<Self, PackError> {
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        env.set_fuel(Some(TEMPLATE_STEPS_MAX));
        check_depth(text)?;
        // By it a loop nests a value in itself, as deep as there are steps.
        env.remove_global("namespace");
        env.add_filter("fenced", fenced);
        env.add_filter("numbered", numbered);
        env.add_template_owned(NAME, text.to_owned()).map_err(|e| refused(&e))?;
        Ok(Self(Box::new(env)))
    }

    /// Renders the template with `data`.
    ///
    /// # Errors
    /// [`PackError::InvalidRequest`] if the template names a missing value, takes too many steps or writes
    /// too much.
    pub fn render(&self, data: &impl Serialize) -> Result<String, PackError> {
        let mut out = Bounded(Vec::new());
        let template = self.0.get_template(NAME).map_err(|e| refused(&e))?;
        let data = minijinja::value::Serde(data);
        template.render_captured_to(data, &mut out).map_err(|e| refused(&e))?;
        Ok(String::from_utf8_lossy(&out.0).into_owned())
    }
}

/// Writes the text of a pack if it is not the default text.
pub enum Writer {
    /// By a template.
    Template(Template),
    /// As canonical JSON.
    Json,
}

impl Writer {
    /// The renderer `markdown`.
    ///
    /// # Errors
    /// None in practice: a test checks the template.
    pub fn markdown() -> Result<Self, PackError> {
        Template::new(MARKDOWN).map(Self::Template)
    }

    /// Returns the text of a pack.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn text(&self, pack: &Pack) -> Result<String, PackError> {
        let mut data = pack.to_json();
        // The text is part of the pack, so these members are not known yet.
        for member in ["createdAt", "stats"] {
            data.as_object_mut().and_then(|members| members.remove(member));
        }
        let items =
            data["sections"].as_array_mut().into_iter().flatten().flat_map(|s| s["items"].as_array_mut());
        for (item, own) in items.flatten().zip(pack.items()) {
            // A template may be used with every layout.
            item["fileRelPath"] = own.path().into();
            item["lines"] = serde_json::json!(own.lines());
            split_parts(&mut item["excerpt"]);
        }
        match self {
            Self::Template(template) => {
                data["text"] = Value::from(pack.rendered.as_str());
                template.render(&data)
            }
            Self::Json => Ok(canonical::to_string(&essence(&data))),
        }
    }
}

/// The parts of a pack for a model: its change, and each item in the order of the sections.
fn essence(pack: &Value) -> Value {
    let mut items: Vec<Value> = Vec::new();
    for section in pack["sections"].as_array().into_iter().flatten() {
        for item in section["items"].as_array().into_iter().flatten() {
            items.push(serde_json::json!({
                "section": section["name"], "path": item["fileRelPath"], "lines": item["lines"],
                "title": item["title"], "why": item["why"]["rule"], "parts": item["excerpt"]["parts"],
            }));
        }
    }
    match pack.get("change") {
        Some(change) => serde_json::json!({"change": change, "items": items}),
        None => serde_json::json!({"items": items}),
    }
}

/// Gives each part of an excerpt its own text in addition to its lines.
fn split_parts(excerpt: &mut Value) {
    let text = excerpt["text"].as_str().unwrap_or_default().to_owned();
    let mut lines = text.split_inclusive('\n');
    for part in excerpt["parts"].as_array_mut().into_iter().flatten() {
        let at = |end: &str| part["lines"][end].as_u64().unwrap_or_default();
        let n = (at("end") + 1).saturating_sub(at("start")) as usize;
        part["text"] = lines.by_ref().take(n).collect::<String>().into();
    }
}

/// A buffer that refuses to grow beyond the largest text of any pack.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > 4 * TOTAL_CHARS_MAX as usize {
            return Err(std::io::Error::other("it writes more than any pack may have"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Words and signs of one tag. A thread of 2 MiB has room for 3,750 operators.
const TAG_TOKENS_MAX: usize = 500;
/// Tags that go on with another one: each is one level deeper.
const CONTINUED_MAX: usize = 200;

/// Refuses a template of which an expression or a chain of conditions is too long. What is not code counts
/// for code where that is simpler; no code counts for something else.
fn check_depth(template: &str) -> Result<(), PackError> {
    let mut rest = template;
    let mut n_continued = 0;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => {
                rest = rest.find("#}").map_or("", |at| &rest[at + 2..]);
                continue;
            }
            _ => {
                rest = &rest[1..];
                continue;
            }
        };
        let tag = Tag::of(&rest[2..], end);
        let line = template[..template.len() - rest.len()].matches('\n').count() + 1;
        n_continued += usize::from(matches!(tag.word, "elif" | "else"));
        if tag.n_tokens > TAG_TOKENS_MAX || n_continued > CONTINUED_MAX {
            let detail = format!(
                "template line {line}: more than {TAG_TOKENS_MAX} words and signs in a tag, or more than \
                 {CONTINUED_MAX} times else"
            );
            return Err(PackError::InvalidRequest { detail });
        }
        rest = &rest[2 + tag.len..];
        if tag.word == "raw" {
            // Nothing is code before its end, in whatever spaces and dashes that is.
            let mut ends = rest.match_indices("endraw").map(|(at, _)| at);
            rest = ends.next().map_or("", |at| &rest[at..]);
        }
    }
    Ok(())
}

/// A tag of a template.
struct Tag<'t> {
    /// Its first word.
    word: &'t str,
    n_tokens: usize,
    /// Bytes up to its end, or to the end of the template.
    len: usize,
}

impl<'t> Tag<'t> {
    fn of(text: &'t str, end: &str) -> Self {
        let (mut word, mut n_tokens, mut at) = ("", 0, 0);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        while let Some(c) = text[at..].chars().next() {
            let left = &text[at..];
            if left.starts_with(end) {
                at += end.len();
                break;
            }
            let len = match c {
                '"' | '\'' => string_len(left, c),
                c if is_word(c) => left.find(|c| !is_word(c)).unwrap_or(left.len()),
                c => c.len_utf8(),
            };
            if word.is_empty() && is_word(c) {
                word = &left[..len];
            }
            n_tokens += usize::from(!c.is_whitespace());
            at += len;
        }
        Self { word, n_tokens, len: at }
    }
}

/// Bytes of the string that a text begins with; all of it when it does not end.
fn string_len(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

fn refused(error: &Error) -> PackError {
    let what = match error.kind() {
        ErrorKind::OutOfFuel => format!("it takes more than {TEMPLATE_STEPS_MAX} steps"),
        ErrorKind::WriteFailure => "it writes more than any pack may have".to_owned(),
        kind => match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    };
    let place = error.line().map_or_else(String::new, |line| format!(" line {line}"));
    PackError::InvalidRequest { detail: format!("template{place}: {what}") }
}

/// Puts a text into a fence that its content cannot close.
fn fenced(text: String, language: Option<String>) -> String {
    let fence = fence([&*text]);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{}\n{text}{end}{fence}", language.unwrap_or_default())
}

/// Puts its number before each line.
fn numbered(text: String, first: Option<u32>) -> String {
    let first = first.unwrap_or(1);
    let width = (first as usize + text.lines().count()).to_string().len();
    let line = |(i, line): (usize, &str)| format!("{:>width$} {line}\n", first as usize + i);
    text.lines().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn write(template: &str) -> String {
        let item = json!({"path": "a.go", "lines": {"start": 3, "end": 4}, "text": "func A()\n```\n"});
        let data = json!({"query": "<what>", "items": [item]});
        match Template::new(template).and_then(|t| t.render(&data)) {
            Ok(text) => text,
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn a_template_writes_what_it_names() {
        for (template, expect) in [
            ("", ""),
            ("{{ query }}", "<what>"),
            ("{% for i in items %}{{ i.path }}:{{ i.lines.start }}{% endfor %}", "a.go:3"),
            ("{{ items[0].text|fenced('go') }}", "````go\nfunc A()\n```\n````"),
            ("{{ items[0].text|numbered(9) }}", " 9 func A()\n10 ```\n"),
            ("{% if items[0].symbolId %}x{% else %}y{% endif %}", "y"),
        ] {
            assert_eq!(write(template), expect, "{template}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (template, expect) in [
            ("a\n{% for %}", "invalid request: template line 2: syntax error: "),
            ("a\n\n{{ quest }}", "invalid request: template line 3: undefined value"),
            ("{{ query|shout }}", "invalid request: template line 1: unknown filter: "),
            ("{% include '/etc/passwd' %}", "invalid request: template line 1: syntax error: "),
            ("{% extends 'a' %}", "invalid request: template line 1: syntax error: "),
            (
                "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
                "invalid request: template line 1: it ",
            ),
        ] {
            let got = write(template);
            assert!(got.starts_with(expect), "{template}: {got}");
        }
    }

    /// On the small stack of a thread of requests; what is refused is told from what is only long.
    #[test]
    fn a_template_is_bounded_in_depth() {
        let deep = |n: usize| {
            let chain = |begin: &str, each: &str, end: &str| format!("{begin}{}{end}", each.repeat(n));
            [
                chain("{{ 1", "+1", " }}"),
                chain("{{ ", "not ", "1 }}"),
                chain("{{ ", "-", "1 }}"),
                chain("{{ x", ".a", " }}"),
                chain("{{ x", "[0]", " }}"),
                chain("{{ x", "|e", " }}"),
                chain("{{ 1", " if 1 else 2", " }}"),
                chain("{{ ", "1 ~ ", "1 }}"),
                chain("{{ 1", " is defined", " }}"),
                chain("{% set x = 1", " and 1", " %}"),
                chain("{%- if 1 %}", "{%- elif 1 %}", "{% endif %}"),
                chain("{{ \"}}\" ~ 1", " ~ '\\'}}'", " }}"),
                chain("{% raw %}{{ ' {% endraw %}{{ 1", "+1", " }}{{ ' }}"),
                chain("{# ' #}{{ 1", "+1", " }}"),
            ]
        };
        let check = move || {
            for template in deep(10_000) {
                let refused = Template::new(&template).is_err_and(|e| e.to_string().contains("more than"));
                assert!(refused, "{}", &template[..60]);
            }
            for template in deep(20) {
                let refused = Template::new(&template).is_err_and(|e| e.to_string().contains("more than"));
                assert!(!refused, "{template}");
            }
            let long: String = (0..2_000).map(|i| format!("{{{{ 'a' ~ {i} }}}}")).collect();
            assert!(write(&long).starts_with("a0a1a2"), "many short tags");
            let nested = "{% set n = namespace(x=1) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}";
            assert!(write(nested).contains("unknown function"), "{}", write(nested));
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap();
        assert!(thread.join().is_ok());
    }

    #[test]
    fn content_is_no_template() {
        let data = json!({"text": "{{ 1 + 1 }}{% for %}"});
        assert_eq!(Template::new("{{ text }}").unwrap().render(&data).unwrap(), "{{ 1 + 1 }}{% for %}");
    }

    #[test]
    fn the_markdown_template_is_sound() {
        assert!(Writer::markdown().is_ok());
    }
}
