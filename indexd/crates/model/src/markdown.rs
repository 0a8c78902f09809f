//! What every writer of Markdown needs: fences that no content closes, and paths on one line.

/// Returns the length of a fence around texts: longer than any run of backticks in them, at least 3.
pub fn fence_len<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    // Whole files are asked about, so bytes are looked at and not characters.
    let longest = |text: &str| {
        let grown = |(longest, run): (usize, usize), b: u8| {
            let run = if b == b'`' { run + 1 } else { 0 };
            (longest.max(run), run)
        };
        text.bytes().fold((0, 0), grown).0
    };
    texts.into_iter().map(longest).max().map_or(3, |n| (n + 1).max(3))
}

/// Returns a fence around texts.
pub fn fence<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    "`".repeat(fence_len(texts))
}

/// Appends a path; characters that could end the line are escaped.
pub fn push_path(path: &str, out: &mut String) {
    for c in path.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_run_inside() {
        for (texts, n) in [(&[][..], 3), (&["a `b`"], 3), (&["```\n", "`"], 4), (&["x `````"], 6)] {
            assert_eq!(fence_len(texts.iter().copied()), n, "{texts:?}");
        }
        let mut out = String::new();
        push_path("a\n## b/ü", &mut out);
        assert_eq!(out, "a\\n## b/ü");
    }
}
