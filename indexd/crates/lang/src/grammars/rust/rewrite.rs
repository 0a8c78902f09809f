//! Items in the braces of a macro, `pin_project! { pub struct T { .. } }`: most such macros keep the items as they are. The
//! braces are moved for the parser, each byte at its place, so that the items belong to the file.

use crate::patch::Patch;

/// Words that begin an item, or precede one.
const ITEMS: [&str; 16] = [
    "pub", "struct", "enum", "fn", "impl", "mod", "use", "const", "static", "trait", "type", "unsafe",
    "async", "extern", "union", "#[",
];
/// Macros with items of their own syntax.
const OTHERS: [&str; 2] = ["macro_rules", "bitflags"];

/// The text for the parser; `None` where it is the source.
pub(in super::super) fn for_parser(text: &str) -> Option<String> {
    let mut out = Patch::new(text);
    // The start of the line that closes the braces at hand: nothing is looked at once for each macro before it.
    let (mut closing, mut looked_to) = (0, 0);
    for (at, _) in text.match_indices("! {\n") {
        let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let name = &text[line..at];
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let body = at + 3;
        if closing <= body {
            let Some(end) = text[body..].find("\n}").map(|n| body + n + 1) else { break };
            closing = end;
        }
        let end = closing;
        if is_name && !OTHERS.contains(&name) && holds_items(&text[body..end]) {
            out.write(at + 1, b"{}");
            out.write(end, b" ");
            // `lazy_static!` has a word of its own.
            let from = body.max(looked_to);
            for (n, _) in text[from..end].match_indices("static ref ") {
                out.blank(from + n + 7..from + n + 10);
            }
            looked_to = end;
        }
    }
    out.done()
}

/// Returns true if the text begins with an item, behind comments.
fn holds_items(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|l| !l.is_empty() && !l.starts_with("//")).unwrap_or("");
    ITEMS.iter().any(|word| {
        let rest = first.strip_prefix(word);
        rest.is_some_and(|r| *word == "#[" || r.starts_with([' ', '(']))
    })
}

#[cfg(test)]
mod tests {
    use super::for_parser;

    #[test]
    fn items_in_braces_of_a_macro_belong_to_the_file() {
        let parsed = |text: &str| for_parser(text).unwrap_or_else(|| text.to_owned());
        let text = "keep! {\n    /// T.\n    pub struct T {\n        a: u8,\n    }\n}\nfn f() {}\n";
        let expect = "keep!{}\n    /// T.\n    pub struct T {\n        a: u8,\n    }\n \nfn f() {}\n";
        assert_eq!(parsed(text), expect);
        assert_eq!(parsed("l! {\n    static ref A: T = t();\n}\n"), "l!{}\n    static     A: T = t();\n \n");
        for text in [
            "macro_rules! {\n    struct T;\n}\n",
            "fn f() {\n    quote! {\n        struct T;\n    }\n}\n",
            "list! {\n    a => b,\n}\n",
            "keep! {\n    struct T;\n",
        ] {
            assert_eq!(for_parser(text), None, "{text}");
        }
    }
}
