//! Links from places on a page into an editor.

use super::plain;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// The setting `page.editor`: an address that a program of the machine opens; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EditorAddress(String);

/// Addresses that a browser runs or shows as a page of its own.
const NOT_OPENED: [&str; 5] = ["javascript", "data", "vbscript", "blob", "about"];

impl EditorAddress {
    /// The address as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for EditorAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            && !NOT_OPENED.iter().any(|name| scheme.eq_ignore_ascii_case(name));
        let is_one_word = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if text.is_empty() || is_scheme && is_one_word {
            return Ok(Self(text));
        }
        Err(format!("{text:?} is not the address of an editor, such as vscode://file{{path}}:{{line}}"))
    }
}

impl From<EditorAddress> for String {
    fn from(address: EditorAddress) -> Self {
        address.0
    }
}

/// The editor that places lead to, and the repository whose paths they are.
pub struct Editor {
    /// As the setting `page.editor`; empty for no links.
    address: String,
    root: String,
}

impl Editor {
    /// The editor of the setting `page.editor`, for the paths of the repository at `root`.
    pub fn new(address: &str, root: &Path) -> Self {
        // In an address a slash comes before a drive of Windows.
        let root = root.to_string_lossy().replace('\\', "/");
        Self { address: address.to_owned(), root: format!("/{}", root.trim_matches('/')) }
    }

    /// The address of a line of a file, by its path below the root. None without an editor.
    pub fn address(&self, path: &str, line: u32) -> Option<String> {
        let encoded = encoded(format!("{}/{path}", self.root.trim_end_matches('/')).as_bytes());
        let with_path = self.address.replace("{path}", &encoded);
        (!with_path.is_empty()).then(|| with_path.replace("{line}", &line.to_string()))
    }

    /// `path:line` as a link.
    pub fn place(&self, path: &str, line: u32) -> Markup {
        self.link(path, line, &format!("{}:{line}", plain(path)))
    }

    /// `shown` as a link to a line of a file; text alone without an editor.
    pub fn link(&self, path: &str, line: u32, shown: &str) -> Markup {
        html! {
            @match self.address(path, line) {
                Some(address) => a.open href=(address) { (shown) },
                None => (shown),
            }
        }
    }
}

/// A path as a part of an address (RFC 3986).
pub fn encoded(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(byte as char)
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_into_the_editor_of_the_setting() {
        let of =
            |address: &str, root: &str, path: &str| Editor::new(address, Path::new(root)).address(path, 7);
        let code = "vscode://file{path}:{line}";
        assert_eq!(of(code, "/home/a b", "x/y.go").unwrap(), "vscode://file/home/a%20b/x/y.go:7");
        assert_eq!(of(code, "/", "y.go").unwrap(), "vscode://file/y.go:7");
        let idea = of("idea://open?file={path}&line={line}", "/r", "a&line=1?#.go").unwrap();
        assert_eq!(idea, "idea://open?file=/r/a%26line%3D1%3F%23.go&line=7");
        assert_eq!(of(code, "/r", "{line}\"<.go").unwrap(), "vscode://file/r/%7Bline%7D%22%3C.go:7");
        assert_eq!(of("", "/r", "a.go"), None);
        let none = Editor::new("", Path::new("/r")).place("<a.go", 3).into_string();
        assert_eq!(none, "&lt;a.go:3");
    }

    #[test]
    fn an_address_that_a_browser_runs_is_refused() {
        for text in [
            "javascript:alert(1)//{path}",
            "JavaScript:{line}",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "{path}:{line}",
            "//host/{path}",
            "file",
            "vscode://file{path}\n:{line}",
        ] {
            assert!(EditorAddress::try_from(text.to_owned()).is_err(), "{text:?}");
        }
        for text in
            ["", "vscode://file{path}:{line}", "idea://open?file={path}&line={line}", "x-mine+1:{path}"]
        {
            assert!(EditorAddress::try_from(text.to_owned()).is_ok(), "{text:?}");
        }
        // Quotes stay in their attribute.
        let hostile = EditorAddress::try_from("x:\"><script>'{path}".to_owned()).unwrap();
        let link = Editor::new(hostile.as_str(), Path::new("/r")).place("a\"'<.go", 3).into_string();
        assert!(
            !link.contains("<script") && !link.contains("\">'") && link.matches('"').count() == 4,
            "{link}"
        );
    }
}
