//! Scripts inside other files: the script part of Vue and Svelte components and of HTML pages.

use super::facts_as;
use crate::Input;
use indexd_model::{FileFacts, Language};

/// The facts of the scripts in a file. Everything around them is blanked out for the parser, so that
/// each byte keeps its place; the language is TypeScript where a script says so.
pub fn facts(input: Input) -> FileFacts {
    let (code, is_typed) = scripts(input.text);
    let parsed_as = if is_typed { Language::TypeScript } else { Language::JavaScript };
    if code.trim().is_empty() {
        return crate::lines::facts(input, indexd_model::Outcome::Parsed);
    }
    facts_as(input, &code, parsed_as)
}

/// `text` with blanks for everything outside `<script>` elements without a source of their own, and
/// whether one of them is TypeScript.
fn scripts(text: &str) -> (String, bool) {
    let mut out: Vec<u8> = text.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b } else { b' ' }).collect();
    let (mut at, mut is_typed) = (0, false);
    while let Some(open) = find(text, at, "<script") {
        let Some(head_end) = text[open..].find('>').map(|n| open + n + 1) else { break };
        let head = &text[open..head_end];
        let end = find(text, head_end, "</script").unwrap_or(text.len());
        let is_code = !head.contains("json") && !head.contains("text/template") && !head.ends_with("/>");
        if is_code {
            out[head_end..end].copy_from_slice(&text.as_bytes()[head_end..end]);
            is_typed |= ["lang=\"ts", "lang='ts", "lang=ts", "typescript"].iter().any(|l| head.contains(l));
        }
        at = end.max(head_end);
    }
    (String::from_utf8(out).unwrap_or_default(), is_typed)
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    memchr::memmem::find(&text.as_bytes()[from..], what.as_bytes()).map(|n| from + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, is_typed: bool) {
        let (got, typed) = scripts(text);
        assert_eq!((got.len(), got.trim(), typed), (text.len(), code, is_typed), "{text}");
    }

    #[test]
    fn scripts_keep_their_place() {
        check("<p>ä</p><script>\nlet x = 1\n</script>\n<style></style>", "let x = 1", false);
        check("<script setup lang=\"ts\">a</script><script>b</script>", "a                 b", true);
        check("<script type=\"application/json\">{}</script>", "", false);
        check("<script>open", "open", false);
        check("<script", "", false);
        check("no script", "", false);
    }
}
