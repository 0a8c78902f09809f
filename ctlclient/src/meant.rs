//! The likely meaning of a command line that names no command: a question, or a command by another name.

use crate::commands::GROUPS;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use indexd_proto::call::nearest;
use std::fmt::Write as _;

/// Words of other tools, and the commands that do the same here.
const NAMES: [(&str, &str); 19] = [
    ("ask", "pack"),
    ("find", "search"),
    ("query", "search"),
    ("rg", "grep"),
    ("cat", "show"),
    ("get", "show"),
    ("def", "symbol"),
    ("defs", "symbol"),
    ("definition", "symbol"),
    ("symbols", "symbol"),
    ("locate", "symbol"),
    ("locate_symbol", "symbol"),
    ("search_code", "search"),
    ("references", "refs"),
    ("usages", "refs"),
    ("uses", "refs"),
    ("impls", "implementations"),
    ("repo_map", "map"),
    ("outline", "map"),
];

/// Words that questions begin with.
const ASKING: [&str; 16] = [
    "where", "how", "what", "which", "who", "when", "why", "does", "do", "is", "are", "can", "should", "the",
    "find", "explain",
];

/// The meaning of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant {
    /// Another line.
    Line(Vec<String>),
    /// Nothing that is known; this is to be said.
    Nothing(String),
    /// The line as it was written, with its mistake.
    AsWritten,
}

/// Finds the meaning of a line that the parser refused.
pub fn of(line: &[String], refused: &clap::Error) -> Meant {
    let word = match (refused.kind(), refused.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => word.as_str(),
        // `ctl why are requests dropped`: one word is a path, several are a question.
        (ErrorKind::UnknownArgument, _) if line.get(1).is_some_and(|w| w == "why") => {
            let is_option = line.last().is_some_and(|w| w.starts_with('-'));
            return if is_option { Meant::AsWritten } else { with(line, 1, &["pack", "why"]) };
        }
        // A title such as `--line-ranges: decorators are moved`: no option has a blank in its name.
        (ErrorKind::UnknownArgument, _) => match line.iter().position(|w| is_title(w)) {
            Some(at) => return with(line, at, &[&format!(" {}", line[at])]),
            None => return Meant::AsWritten,
        },
        _ => return Meant::AsWritten,
    };
    let Some(at) = line.iter().position(|w| w == word) else { return Meant::AsWritten };
    let n_words = line[at..].iter().take_while(|w| !w.starts_with('-')).count();
    let is_question = word.trim().contains(' ') || (n_words > 2 && ASKING.contains(&word));
    if is_question {
        return with(line, at, &["pack", word]);
    }
    match (word, NAMES.iter().find(|(name, _)| *name == word)) {
        ("diff", _) => with(line, at, &["pack", "--diff"]),
        ("preview", _) => with(line, at, &["pack", "--as", "places"]),
        ("start" | "stop" | "restart", _) => unknown(word, &format!("ctl daemon {}", word.replace("re", ""))),
        ("install", _) => unknown(word, "ctl mcp install CLIENT, or ctl agent install AGENT"),
        (_, Some((_, command))) => with(line, at, &[command]),
        _ if n_words > 2 => with(line, at, &["pack", word]),
        _ => {
            let near = nearest(word, GROUPS.iter().flat_map(|(_, entries)| entries.iter().map(|e| e.name)));
            unknown(word, &near.map(|n| format!("ctl {n}")).unwrap_or_default())
        }
    }
}

/// True for several words of which the first begins as an option does.
fn is_title(word: &str) -> bool {
    let first = word.split_whitespace().next().unwrap_or_default();
    first.starts_with('-')
        && !first.contains('=')
        && first.len() < word.trim_end().len()
        && !word.starts_with(' ')
}

/// A line with other words in the place of one.
fn with(line: &[String], at: usize, words: &[&str]) -> Meant {
    let words = words.iter().map(|w| (*w).to_owned());
    Meant::Line(line[..at].iter().cloned().chain(words).chain(line[at + 1..].iter().cloned()).collect())
}

fn unknown(word: &str, near: &str) -> Meant {
    let mut said = format!("ctl: there is no command {word:?}\n");
    let word = crate::style::safe_line(word);
    if !near.is_empty() {
        let _ = writeln!(said, "hint: did you mean {near}?");
    }
    let _ = writeln!(said, "hint: to ask for it, write ctl pack {word}; ctl --help lists the commands");
    Meant::Nothing(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(line: &str) -> Meant {
        let line: Vec<String> = line.split('|').map(str::to_owned).collect();
        let refused = crate::cli::command().try_get_matches_from(&line).expect_err("it is refused");
        of(&line, &refused)
    }

    #[test]
    fn questions_and_other_names_lead_to_commands() {
        for (line, expect) in [
            ("ctl|how is x done", "ctl|pack|how is x done"),
            ("ctl|-C|d|where is it", "ctl|-C|d|pack|where is it"),
            ("ctl|how|is|x|done|--json", "ctl|pack|how|is|x|done|--json"),
            ("ctl|why|are|requests|dropped", "ctl|pack|why|are|requests|dropped"),
            ("ctl|retry|delay|decided", "ctl|pack|retry|delay|decided"),
            ("ctl|find|x", "ctl|search|x"),
            ("ctl|find|the|lock", "ctl|pack|find|the|lock"),
            ("ctl|def|Client.get|--json", "ctl|symbol|Client.get|--json"),
            ("ctl|rg|-w|x", "ctl|grep|-w|x"),
            ("ctl|diff|main", "ctl|pack|--diff|main"),
            ("ctl|search|--line-ranges: x is moved|-n|5", "ctl|search| --line-ranges: x is moved|-n|5"),
        ] {
            let expect = expect.split('|').map(str::to_owned).collect();
            assert_eq!(meant(line), Meant::Line(expect), "{line}");
        }
    }

    #[test]
    fn what_is_not_known_is_said_with_the_nearest_name() {
        for (line, hint) in [
            ("ctl|serch|x", "did you mean ctl search?"),
            ("ctl|restart", "did you mean ctl daemon start?"),
            ("ctl|frobnicate", "to ask for it, write ctl pack frobnicate"),
        ] {
            let Meant::Nothing(said) = meant(line) else { panic!("{line}") };
            assert!(said.contains(hint), "{said}");
        }
        assert_eq!(meant("ctl|search|x|--nonsense"), Meant::AsWritten);
        assert_eq!(meant("ctl|search|x|--nonsense=1 2"), Meant::AsWritten);
        assert_eq!(meant("ctl|why|x|--nonsense"), Meant::AsWritten);
    }
}
