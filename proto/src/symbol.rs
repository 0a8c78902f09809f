//! Names from SCIP symbols, and the words of packs in plain English.

/// The names of a SCIP symbol from file level down, `Session.delay`; the heading of a document. None for what
/// does not have the shape of a symbol.
pub fn name_of_symbol(symbol: &str) -> Option<String> {
    // Scheme, manager, package and version come first.
    let mut rest = symbol.splitn(5, ' ').nth(4)?;
    let (mut names, mut last) = (Vec::new(), None);
    while !rest.is_empty() {
        let (name, behind) = descriptor(rest)?;
        let mut chars = behind.chars();
        match chars.next()? {
            '/' => {
                names.clear();
                last = Some(name);
            }
            '(' => {
                let end = behind.find(").").map(|at| at + 2).or(behind.find(')').map(|at| at + 1))?;
                names.push(name);
                rest = &behind[end..];
                continue;
            }
            _ => names.push(name),
        }
        rest = chars.as_str();
    }
    if names.is_empty() { last } else { Some(names.join(".")) }
}

/// The first name of descriptors, and the text behind it.
fn descriptor(text: &str) -> Option<(String, &str)> {
    let Some(mut quoted) = text.strip_prefix('`') else {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_+-$".contains(c)))?;
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut name = String::new();
    loop {
        let end = quoted.find('`')?;
        name += &quoted[..end];
        quoted = &quoted[end + 1..];
        match quoted.strip_prefix('`') {
            Some(more) => {
                name.push('`');
                quoted = more;
            }
            None => return Some((name, quoted)),
        }
    }
}

/// A rule of a pack, such as `seed-terms`, in the words that people read; one that is not known as it is.
pub fn rule_in_words(rule: &str) -> &str {
    match rule {
        "seed-terms" | "seed-path" => "best match",
        "seed-symbol" => "named in the question",
        "seed-frame" => "in the stack trace",
        "seed-literal" => "holds the text",
        "test-match" => "test",
        "doc-match" => "document",
        "config-match" => "setting",
        "focus" => "where you are",
        "enclosing-type" => "the type around a match",
        "same-file-neighbor" => "beside a match",
        "module-export" | "export-neighbor" => "exported with a match",
        "call-neighbor" => "a call away from a match",
        "usage-neighbor" => "uses a match, or is used by one",
        "import-neighbor" => "imports a match, or is imported by one",
        "dataflow-neighbor" => "a value flows between it and a match",
        other => other,
    }
}

/// The name of a section of a pack, such as `seeds`, in the words that people read.
pub fn section_in_words(section: &str) -> String {
    match section {
        "seeds" => "best matches".to_owned(),
        other => other.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_short_names() {
        for (symbol, expect) in [
            ("scip:indexd pip demo . `net.retry`/Session#delay().", Some("Session.delay")),
            ("scip:indexd pip demo . `net.retry`/Outer#Inner#delay(+1).", Some("Outer.Inner.delay")),
            ("scip:indexd pip demo . `net.retry`/Outer#Inner#", Some("Outer.Inner")),
            ("scip:indexd gomod demo . Retry#Delay().", Some("Retry.Delay")),
            ("scip:indexd gomod demo . net/Retry#", Some("Retry")),
            ("scip:indexd gomod demo . net/limit.", Some("limit")),
            ("scip:indexd . . . src/`a.rs`/Reader#`r#async`().", Some("Reader.r#async")),
            ("scip:indexd . . . docs/`a.md`/`C# and ``others```/", Some("C# and `others`")),
            ("local 3", None),
            ("scip:indexd pip demo . net/Session", None),
        ] {
            assert_eq!(name_of_symbol(symbol).as_deref(), expect, "{symbol}");
        }
    }
}
