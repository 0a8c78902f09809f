//! A signature of several lines on one.

/// `text` on one line: runs of white space become one space. They become nothing where a line ends after an
/// opening bracket, or begins with a closing one, and a comma before that closing bracket is removed with
/// them. So a signature reads as if it had been written on one line.
///
/// ```
/// # use indexd_text::one_line;
/// assert_eq!(one_line("def f(\n    self,\n    *a,\n):"), "def f(self, *a):");
/// ```
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        for (n, word) in line.split_whitespace().enumerate() {
            let starts_line = n == 0;
            let is_closed = starts_line && word.starts_with([')', ']']);
            let is_open = out.is_empty() || starts_line && out.ends_with(['(', '[']);
            if is_closed && out.ends_with(',') {
                out.pop();
            }
            if !is_closed && !is_open {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_close_up_at_line_ends_only() {
        for (text, expect) in [
            ("", ""),
            ("  func  F( a int )  ", "func F( a int )"),
            (
                "func F(\n\ta int,\n\tb []int,\n) (\n\tint,\n\terror,\n)",
                "func F(a int, b []int) (int, error)",
            ),
            (
                "def f(\r\n    a: dict[\r\n        str, int\r\n    ],\r\n\r\n) -> None:",
                "def f(a: dict[str, int]) -> None:",
            ),
            ("class A(\n    B,\n    C\n):", "class A(B, C):"),
            ("type T struct {\n\tA int\n}", "type T struct { A int }"),
            ("def f(a,\n      b):", "def f(a, b):"),
        ] {
            assert_eq!(one_line(text), expect);
        }
    }
}
