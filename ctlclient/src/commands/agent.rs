//! `ctl agent`: a few lines in the instructions of a coding agent, and the hook that answers its
//! searches for names.
//!
//! Agents use what is in front of them. A verb named in their instructions is used in nearly every
//! session, a tool that they would have to discover in few.

use super::edit::{self, Edit};
use super::{Target, own_command};
use crate::args::{AgentClient, Common};
use crate::failure::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;

const BEGIN: &str = "<!-- indexd -->";
const END: &str = "<!-- /indexd -->";
/// With the marks five lines: they are read in every conversation.
const LINES: &str = "\
To find code, run `ctl search \"QUESTION\" --expect 'NAMES AND WORDS you expect in the code'` (a list of places) or `ctl pack` with the same (the code itself). Guess 5 to 10; wrong guesses cost nothing. Ask again with what you learnt.
`ctl show NAME PATH:LINE ...` prints definitions whole. `ctl card NAME`: signature, callers, callees, tests.
Before changing a signature: `ctl callers NAME` and `ctl impact NAME`; they follow imports and types, not text.";

/// Shows, or makes, the changes to the files of an agent.
///
/// # Errors
/// `POC_E_WORKSPACE_INVALID` outside of a repository, those of reading and writing.
pub fn install(common: &Common, client: AgentClient, write: bool, remove: bool) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let folder = PathBuf::from(target.repo.or(target.cwd).unwrap_or_default());
    let root = PathBuf::from(super::mcp::workspaces::Workspaces::of(&[folder])?.pick(None)?);
    let file = match client {
        AgentClient::Claude => "CLAUDE.md",
        AgentClient::Codex | AgentClient::Cursor => "AGENTS.md",
        AgentClient::Copilot => ".github/copilot-instructions.md",
    };
    let mut edits = vec![Edit::of(root.join(file), |text| Ok(with_block(text, !remove)))?];
    if client == AgentClient::Claude {
        let entry = json!({
            "matcher": "Grep|Bash",
            "hooks": [{"type": "command", "command": format!("{} agent hook", own_command()), "timeout": 5}],
        });
        let path = ["hooks", "PostToolUse"];
        edits.push(Edit::of(root.join(".claude/settings.json"), |text| {
            edit::json_list_entry(text, &path, is_ours, (!remove).then_some(&entry))
        })?);
    }
    edit::apply(common, &edits, write, "New sessions of the agent read it.")
}

/// Whether an entry of the list of hooks is ours.
fn is_ours(entry: &Value) -> bool {
    let hooks = entry["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_hook = |h: &Value| h["command"].as_str().is_some_and(|c| c.ends_with("ctl agent hook"));
    !hooks.is_empty() && hooks.iter().all(is_hook)
}

/// The text with our block once, or without it. What stands around it stays.
fn with_block(text: &str, wanted: bool) -> String {
    let block = format!("{BEGIN}\n{LINES}\n{END}\n");
    let place = text.find(BEGIN).and_then(|from| Some((from, from + text[from..].find(END)? + END.len())));
    match (place, wanted) {
        (Some((from, to)), true) => {
            let rest = text[to..].strip_prefix('\n').unwrap_or(&text[to..]);
            format!("{}{block}{rest}", &text[..from])
        }
        (Some((from, to)), false) => {
            let rest = text[to..].strip_prefix('\n').unwrap_or(&text[to..]);
            let before = text[..from].strip_suffix("\n\n").map_or(&text[..from], |b| &text[..b.len() + 1]);
            format!("{before}{rest}")
        }
        (None, false) => text.to_owned(),
        (None, true) => {
            let gap = match text {
                "" => "",
                _ if text.ends_with("\n\n") => "",
                _ if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{gap}{block}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_stands_once_and_goes_without_a_trace() {
        assert!(LINES.lines().count() + 2 <= 6);
        for text in ["", "# Rules\n", "# Rules\n\nBe kind.\n", "no line end"] {
            let with = with_block(text, true);
            assert!(with.starts_with(text) && with.ends_with(&format!("{END}\n")), "{with}");
            assert_eq!(with_block(&with, true), with);
            assert_eq!(with_block(&with, false).trim_end(), text.trim_end());
        }
        let old = format!("a\n\n{BEGIN}\nold\n{END}\nb\n");
        let new = with_block(&old, true);
        assert!(new.starts_with("a\n\n") && new.ends_with("\nb\n") && !new.contains("old"), "{new}");
        assert_eq!(with_block(&old, false), "a\nb\n");
    }

    #[test]
    fn only_our_own_hook_is_taken_for_ours() {
        for (entry, ours) in [
            (json!({"matcher": "Grep", "hooks": [{"command": "/opt/bin/ctl agent hook"}]}), true),
            (json!({"matcher": "Grep", "hooks": [{"command": "lint"}]}), false),
            (json!({"hooks": [{"command": "ctl agent hook"}, {"command": "lint"}]}), false),
            (json!({"hooks": []}), false),
            (json!(3), false),
        ] {
            assert_eq!(is_ours(&entry), ours, "{entry}");
        }
    }
}
