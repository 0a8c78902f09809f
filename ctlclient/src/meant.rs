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
        _ if group_around(&line[..at]).is_some() => Meant::AsWritten,
        ("log" | "logs", _) => unknown(word, "ctl status, which names the log"),
        ("start" | "stop" | "restart", _) => unknown(word, &format!("ctl daemon {}", word.replace("re", ""))),
        ("install", _) => unknown(word, "ctl mcp install CLIENT, or ctl agent install AGENT"),
        (_, Some((_, command))) => with(line, at, &[command]),
        _ if n_words > 2 => with(line, at, &["pack", word]),
        _ => {
            let near = nearest(word, GROUPS.iter().flat_map(|(_, entries)| entries.iter().map(|e| e.name)));
            let rest = crate::style::safe_line(&line[at + 1..at + n_words].join(" "));
            let near = near.map(|n| format!("ctl {n} {rest}")).unwrap_or_default();
            unknown(&line[at..at + n_words].join(" "), near.trim_end())
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

/// The answer to a line whose first word is not a command.
fn unknown(word: &str, near: &str) -> Meant {
    let command = word.split(' ').next().unwrap_or(word);
    let mut said = format!("ctl: there is no command {command:?}\n");
    let word = crate::style::safe_line(word);
    if !near.is_empty() {
        let _ = writeln!(said, "hint: did you mean {near}?");
    }
    let _ = writeln!(said, "hint: to ask for it, write ctl pack {word}; ctl --help lists the commands");
    Meant::Nothing(said)
}

/// The command with commands of its own that a beginning of a line names.
fn group_around(line: &[String]) -> Option<clap::Command> {
    let mut root = crate::cli::command();
    root.build();
    let named = line.iter().filter_map(|w| root.find_subcommand(w)).find(|c| c.has_subcommands());
    named.cloned()
}

/// The words for a mistake: the fault, then the words to write. None for mistakes that the parser words well.
pub fn mistake(line: &[String], refused: &clap::Error) -> Option<String> {
    let mut root = crate::cli::command();
    root.build();
    let (mut path, mut command) = ("ctl".to_owned(), &root);
    for word in line.iter().skip(1) {
        if let Some(sub) = command.find_subcommand(word) {
            (path, command) = (format!("{path} {word}"), sub);
        }
    }
    let [names, values] = [ContextKind::InvalidArg, ContextKind::InvalidValue].map(|k| texts(refused, k));
    let mut said = match refused.kind() {
        ErrorKind::MissingRequiredArgument => missing(&path, command, &names)?,
        ErrorKind::UnknownArgument => {
            let like =
                refused.get(ContextKind::SuggestedArg).map(|like| format!("hint: did you mean {like}?\n"));
            format!("ctl: {path} {}\n{}", no_use(names.first()?), like.unwrap_or_default())
        }
        ErrorKind::InvalidSubcommand => {
            let known = command.get_subcommands().map(clap::Command::get_name).filter(|n| *n != "help");
            let word = texts(refused, ContextKind::InvalidSubcommand).pop()?;
            let known = Vec::from_iter(known).join(", ");
            format!("ctl: {path} has no command \"{word}\"\nhint: {path} {known}\n")
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let why = std::error::Error::source(refused).map(|e| in_words(&e.to_string()));
            let valid = || format!("it is one of {}", texts(refused, ContextKind::ValidValue).join(", "));
            let why = why.unwrap_or_else(valid);
            format!("ctl: {path} {} cannot be \"{}\": {why}\n", names.first()?, values.first()?)
        }
        _ => return None,
    };
    let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let example = shown.lines().find(|l| l.trim_start().starts_with(&path)).map(str::trim);
    let example = example.map(|e| format!("for example, {e}; ")).unwrap_or_default();
    let _ = writeln!(said, "hint: {example}{path} --help lists its options");
    Some(said)
}

/// The parser's words for a mistake.
fn texts(refused: &clap::Error, kind: ContextKind) -> Vec<String> {
    match refused.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// The purpose of each missing argument, with its values if they are a list.
fn missing(path: &str, command: &clap::Command, names: &[String]) -> Option<String> {
    let mut said = String::new();
    for name in names {
        // An option with an alternative is written as `[NAME]` and missed as `<NAME>`.
        let is_it = |a: &&clap::Arg| a.to_string().replace('[', "<").replace(']', ">") == *name;
        let arg = command.get_arguments().find(is_it)?;
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let values = arg.get_possible_values();
        let values = Vec::from_iter(values.iter().map(clap::builder::PossibleValue::get_name)).join(", ");
        let of = if values.is_empty() { String::new() } else { format!(", one of {values}") };
        let _ = writeln!(said, "ctl: {path} needs {name}: {help}{of}");
    }
    Some(said)
}

fn no_use(word: &str) -> String {
    if word.starts_with('-') { format!("has no option {word}") } else { format!("has no use for \"{word}\"") }
}

/// Why a value is refused; `5 is not in 100..=2000` as `it is 100 to 2000`.
fn in_words(why: &str) -> String {
    let range = why.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    range.map_or(why.to_owned(), |(least, most)| format!("it is {least} to {most}"))
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
    fn a_mistake_is_said_with_what_to_write() {
        for (line, expect) in [
            (
                "ctl|agent|install",
                "ctl: ctl agent install needs <CLIENT>: The agent, one of claude, codex, cursor, copilot, gemini, \
                 opencode, windsurf, generic\nhint: for example, ctl agent install claude",
            ),
            ("ctl|show", "ctl: ctl show needs <WHAT>...: Names, Class.method,"),
            ("ctl|-C|d|grep", "ctl: ctl grep needs <PATTERN>: "),
            (
                "ctl|pack|x|--bugdet|5",
                "ctl: ctl pack has no option --bugdet\nhint: did you mean --budget?\nhint: ",
            ),
            ("ctl|refs|--kind|z|A", "ctl: ctl refs has no option --kind\nhint: for example, ctl "),
            ("ctl|status|now", "ctl: ctl status has no use for \"now\"\nhint: "),
            ("ctl|card|x|-b|5", "ctl: ctl card --budget <TOKENS> cannot be \"5\": it is 100 to 2000\nhint: "),
            (
                "ctl|pack|x|-l|z",
                "ctl: ctl pack --layout <LAYOUT> cannot be \"z\": expected one of graph, agent, flat\n",
            ),
            (
                "ctl|mcp|install|z",
                "ctl: ctl mcp install <CLIENT> cannot be \"z\": it is one of claude, cursor, ",
            ),
            (
                "ctl|daemon|log",
                "ctl: ctl daemon has no command \"log\"\nhint: ctl daemon start, stop, run\nhint: ",
            ),
        ] {
            let line: Vec<String> = line.split('|').map(str::to_owned).collect();
            let refused = crate::cli::command().try_get_matches_from(&line).expect_err("it is refused");
            assert_eq!(of(&line, &refused), Meant::AsWritten, "{line:?}");
            let said = mistake(&line, &refused).expect("it is worded");
            assert!(said.starts_with(expect), "{said}");
        }
    }

    #[test]
    fn what_is_not_known_is_said_with_the_nearest_name() {
        for (line, hint) in [
            ("ctl|serch|x", "did you mean ctl search x?"),
            ("ctl|serch|x", "to ask for it, write ctl pack serch x;"),
            ("ctl|serch|--json", "did you mean ctl search?"),
            ("ctl|restart", "did you mean ctl daemon start?"),
            ("ctl|log", "did you mean ctl status, which names the log?"),
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
