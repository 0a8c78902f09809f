//! `ctl agent hook`: a coding agent has searched for a name, and gets its card beside the hits.
//!
//! It says something only when the name stands for one definition, and it is done within a moment or
//! not at all: an agent waits for its hooks.

use crate::cli::Common;
use crate::failure::Failure;
use crate::launch;
use crate::output::print_json;
use crate::session::{Session, Start, is_autostart_forbidden};
use indexd_proto::Method;
use indexd_proto::card::{CardParams, CardResult};
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::repository_around;
use indexd_proto::workspace::{Wait, WaitMode};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

/// Seconds for the whole answer of the daemon.
const TIMEOUT_S: f64 = 0.03;
/// Milliseconds of these in which saves may be taken in.
const FRESH_MS: u64 = 10;
/// Bytes of what an agent tells; the output of its tool may stand in it.
const INPUT_BYTES_MAX: u64 = 8 << 20;
/// Letters of a name that is worth a card.
const NAME_LETTERS_MIN: usize = 3;

/// Reads what the agent did and prints what it should know beside; silent when there is nothing
/// certain to say, whatever the reason.
///
/// # Errors
/// Those of writing.
pub fn hook(common: &Common) -> Result<(), Failure> {
    let mut input = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut input);
    let Some(said) = read.ok().and_then(|_| answer(common, &input)) else { return Ok(()) };
    print_json(&said.to_string())
}

fn answer(common: &Common, input: &str) -> Option<Value> {
    let event: Value = serde_json::from_str(input).ok()?;
    let name = name_of(&event["tool_input"])?;
    let cwd = event["cwd"].as_str().map(str::to_owned);
    let cwd = cwd.or_else(|| std::env::current_dir().ok()?.to_str().map(str::to_owned))?;
    // A search elsewhere is not a reason to index that folder.
    repository_around(Path::new(&cwd))?;
    let common = Common { timeout: Some(TIMEOUT_S), quiet: true, ..common.clone() };
    let mut session = match Session::connect(&common, Start::Never) {
        Ok(session) => session,
        Err(failure) => {
            start_for_the_next(&failure);
            return None;
        }
    };
    let params = CardParams {
        cwd: Some(cwd),
        symbol: name,
        wait: Some(Wait { mode: WaitMode::Best, timeout_ms: Some(FRESH_MS), build_timeout_ms: Some(0) }),
        ..CardParams::default()
    };
    let card: CardResult = session.ask(Method::Card, &params).ok()?;
    let is_code = !matches!(card.symbol.kind.as_str(), "file" | "section" | "module");
    if !card.others.is_empty() || !is_code || !card.envelope.fresh {
        return None;
    }
    let kind = event["hook_event_name"].as_str().unwrap_or("PostToolUse");
    let text = format!("From the code index:\n{}", card.text);
    Some(json!({"hookSpecificOutput": {"hookEventName": kind, "additionalContext": text}}))
}

/// Starts a daemon for later searches when there is none, and waits for nothing.
fn start_for_the_next(failure: &Failure) {
    let may_start = failure.code() == Some(ErrorCode::DaemonUnavailable) && !is_autostart_forbidden();
    if let Some(mut command) = launch::command().ok().filter(|_| may_start) {
        let command = command.arg("--detach").stdin(Stdio::null()).stdout(Stdio::null());
        let _ = command.stderr(Stdio::null()).spawn();
    }
}

/// The name that a search looks for: the pattern of a search tool, or of `grep` and `rg` in a shell.
fn name_of(input: &Value) -> Option<String> {
    match (input["pattern"].as_str(), input["command"].as_str()) {
        (Some(pattern), _) => plain_name(pattern),
        (None, Some(command)) => plain_name(&shell_pattern(command)?),
        _ => None,
    }
}

/// The first argument of a search in a shell command that is not an option.
fn shell_pattern(command: &str) -> Option<String> {
    // A search may follow `cd DIR &&`; what follows a pipe only filters.
    let own = command.rsplit("&&").next()?.split(['|', ';', '>']).next()?.trim();
    let own = own.strip_prefix("git ").filter(|rest| rest.starts_with("grep ")).unwrap_or(own);
    let (program, rest) = own.split_once(' ')?;
    if !matches!(program.rsplit('/').next()?, "grep" | "rg" | "egrep" | "ag" | "ack") {
        return None;
    }
    // A quoted pattern is one word.
    let mut quote = None;
    let is_gap = |c: char| match quote {
        Some(q) if c == q => {
            quote = None;
            false
        }
        Some(_) => false,
        None if c == '"' || c == '\'' => {
            quote = Some(c);
            false
        }
        None => c.is_whitespace(),
    };
    let mut words = rest.split(is_gap).filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        match word {
            "-e" | "--regexp" => return words.next().map(unquoted),
            // Options whose value is a word of its own.
            "-t" | "-g" | "-A" | "-B" | "-C" | "-m" | "--type" | "--glob" | "--include" | "--exclude" => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => return Some(unquoted(word)),
        }
    }
    None
}

fn unquoted(word: &str) -> String {
    word.trim_matches(['"', '\'']).to_owned()
}

/// The name in a pattern that looks for nothing else: `func (Delay`, `\bDelay\b`, `class Client:`.
fn plain_name(pattern: &str) -> Option<String> {
    let mut rest = pattern.trim().trim_start_matches('^').trim_end_matches('$');
    for word in ["func", "def", "class", "type", "fn", "function", "interface", "struct"] {
        let after = rest.strip_prefix(word).map(|r| r.trim_start_matches(r"\s+").trim_start_matches(r"\s*"));
        if let Some(after) = after.filter(|a| a.len() + word.len() < rest.len() || a.starts_with(' ')) {
            rest = after.trim_start();
            break;
        }
    }
    let rest = rest.trim_start_matches(r"\b").trim_end_matches([':', ' ']);
    let rest = rest.strip_suffix(r"\b").unwrap_or(rest);
    let name = ["\\(", "("].iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest);
    let name = name.replace(r"\.", ".");
    let is_word = |w: &str| {
        w.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && w.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_name = name.chars().count() >= NAME_LETTERS_MIN && name.split('.').all(is_word);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_for_a_name_is_told_from_others() {
        for (pattern, name) in [
            ("Delay", Some("Delay")),
            (r"\bDelay\b", Some("Delay")),
            ("func Delay", Some("Delay")),
            (r"def\s+delay\(", Some("delay")),
            ("class Client:", Some("Client")),
            ("Client.get", Some("Client.get")),
            (r"Client\.get\(", Some("Client.get")),
            ("function", Some("function")),
            ("typeOf", Some("typeOf")),
            ("retry|backoff", None),
            ("a.*b", None),
            ("two words", None),
            ("ab", None),
            ("", None),
        ] {
            assert_eq!(plain_name(pattern).as_deref(), name, "{pattern}");
        }
    }

    #[test]
    fn a_search_in_a_shell_is_one_too() {
        for (command, pattern) in [
            ("grep -rn Delay .", Some("Delay")),
            ("rg 'func Delay' -g '*.go'", Some("func Delay")),
            ("cd src && rg -t go --glob x \"Delay\" | head", Some("Delay")),
            ("git grep -n -e Delay", Some("Delay")),
            ("/usr/bin/grep -A 3 Delay f.go", Some("Delay")),
            ("cat f.go | grep Delay", None),
            ("ls", None),
            ("make grep", None),
        ] {
            assert_eq!(shell_pattern(command).as_deref(), pattern, "{command}");
        }
    }
}
