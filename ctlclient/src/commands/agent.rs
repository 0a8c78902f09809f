//! `ctl agent`: a few lines in the instructions of a coding agent, and the hook that answers its
//! searches for names.
//!
//! Agents use what is in front of them. A verb named in their instructions is used in nearly every
//! session, a tool that they would have to discover in few.

use super::config_edit::{self, Edit};
use super::{Target, hook, own_command};
use crate::cli::Common;
use crate::failure::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;

const BEGIN: &str = "<!-- indexd -->";
const END: &str = "<!-- /indexd -->";
/// With the marks five lines: they are read in every conversation.
const LINES: &str = "\
To find code, run `ctl search \"QUESTION\" --expect 'NAMES AND WORDS you expect in the code'`: a list of places, and how often the first is right. Guess 5 to 10; wrong guesses cost nothing. Ask again with what you learnt. `ctl pack` with the same prints places and code.
`ctl show NAME PATH:LINE ...` reads definitions, with `-e WORDS` of a long one only the lines near these words: less than a file, or a range that you guess. `ctl grep PATTERN` searches text and names the function and role of every hit. `ctl card NAME`: signature, callers, callees, tests.
Before changing a signature: `ctl callers NAME` and `ctl impact NAME`; they follow imports and types, not text.";

/// Options of `agent`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl agent install claude")]
pub struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AgentCommand {
    /// Show, or with --write make, the changes to an agent's files in this
    /// repository: five lines of instructions, and a hook where it has hooks
    #[command(after_help = "Examples:
  ctl agent install claude            # CLAUDE.md and .claude/settings.json
  ctl agent install codex --write     # AGENTS.md
  ctl agent install claude --remove --write")]
    Install {
        /// The agent
        client: AgentClient,
        /// Make the changes
        #[arg(long)]
        write: bool,
        /// Take out what was put in
        #[arg(long)]
        remove: bool,
    },
    /// What the hook runs: reads a search from standard input, prints the card
    /// of the name that was searched for
    #[command(after_help = "Example:
  echo '{\"tool_name\": \"Grep\", \"tool_input\": {\"pattern\": \"Delay\"}}' | ctl agent hook")]
    Hook,
}

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AgentClient {
    /// Claude Code: CLAUDE.md, and a hook
    Claude,
    /// Codex: AGENTS.md
    Codex,
    /// Cursor: AGENTS.md
    Cursor,
    /// GitHub Copilot, its CLI too: .github/copilot-instructions.md
    Copilot,
    /// Gemini CLI: GEMINI.md
    Gemini,
    /// OpenCode: AGENTS.md
    Opencode,
    /// Windsurf: AGENTS.md
    Windsurf,
    /// Any other agent: prints the lines and changes nothing
    Generic,
}

/// Answers a hook; what is left goes on as `ctl-more`.
///
/// # Errors
/// Those of the command.
pub fn agent(common: &Common, args: &AgentArgs) -> Result<(), Failure> {
    match args.command {
        AgentCommand::Hook => hook::hook(common),
        AgentCommand::Install { .. } => super::handed_over::to_more(common, args),
    }
}

/// Shows, or makes, the changes to the files of an agent.
///
/// # Errors
/// `POC_E_WORKSPACE_INVALID` outside of a repository, those of reading and writing.
pub fn install(common: &Common, args: &AgentArgs) -> Result<(), Failure> {
    let AgentCommand::Install { client, write, remove } = args.command else { return agent(common, args) };
    if client == AgentClient::Generic {
        return super::put(None, &with_block("", true));
    }
    let target = Target::of(common)?;
    let folder = PathBuf::from(target.repo.or(target.cwd).unwrap_or_default());
    let root = PathBuf::from(super::mcp::workspaces::Workspaces::of(&[folder])?.pick(None)?);
    let file = match client {
        AgentClient::Claude => "CLAUDE.md",
        AgentClient::Gemini => "GEMINI.md",
        AgentClient::Copilot => ".github/copilot-instructions.md",
        _ => "AGENTS.md",
    };
    let mut edits = vec![Edit::within(&root, file, |text| Ok(with_block(text, !remove)))?];
    if client == AgentClient::Claude {
        let entry = json!({
            "matcher": "Grep|Bash",
            "hooks": [{"type": "command", "command": format!("{} agent hook", own_command()), "timeout": 5}],
        });
        let path = ["hooks", "PostToolUse"];
        edits.push(Edit::within(&root, ".claude/settings.json", |text| {
            config_edit::json_list_entry(text, &path, is_ours, (!remove).then_some(&entry))
        })?);
    }
    config_edit::apply(common, &edits, write, "New sessions of the agent read it.")
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
    match (place_of_block(text), wanted) {
        (Some((from, to)), true) => format!("{}{block}{}", &text[..from], &text[to..]),
        (Some((from, to)), false) => {
            let rest = &text[to..];
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

/// Lines between our marks, in any release; what is longer is not ours.
const LINES_MAX: usize = 12;

/// Where our block stands: two lines that are its marks, with lines between them that name our program.
/// Marks in prose and in examples are not those of a block.
fn place_of_block(text: &str) -> Option<(usize, usize)> {
    let (mut at, mut is_fenced, mut begin) = (0, false, None);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_fenced = !is_fenced;
        } else if line == BEGIN && !is_fenced {
            begin = Some(start);
        } else if let (END, Some(from)) = (line, begin.filter(|_| !is_fenced)) {
            let inside = &text[from + BEGIN.len()..start];
            if inside.lines().count() <= LINES_MAX && inside.contains("`ctl ") {
                return Some((from, at));
            }
            begin = None;
        }
    }
    None
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
        let old = format!("a\n\n{BEGIN}\nold `ctl x`\n{END}\nb\n");
        let new = with_block(&old, true);
        assert!(new.starts_with("a\n\n") && new.ends_with("\nb\n") && !new.contains("old"), "{new}");
        assert_eq!(with_block(&old, false), "a\nb\n");
    }

    /// What stands around marks that are not those of our block stays, and our block is added once.
    #[test]
    fn marks_that_are_not_ours_cost_no_text() {
        let block = with_block("", true);
        for text in [
            format!("Tools write between `{BEGIN}` and\nmy rules\n`{END}` here.\n"),
            format!("{BEGIN}\nmy rules, without an end\n"),
            format!("```\n{BEGIN}\nuse `ctl pack`\n{END}\n```\n"),
            format!("{BEGIN}\nmy rules\n{END}\n"),
            format!("{BEGIN}\nopen\n\n{block}after\n"),
            format!("{BEGIN}\n{}use `ctl pack`\n{END}\n", "mine\n".repeat(20)),
        ] {
            let with = with_block(&text, true);
            let own = text.replace(&block, "");
            assert!(own.lines().all(|line| with.lines().any(|l| l == line)), "{text:?} became {with:?}");
            assert_eq!(with.matches(&block).count(), 1, "{with}");
            assert_eq!(with_block(&with, true), with);
            assert!(own.lines().all(|line| with_block(&with, false).contains(line)), "{text:?}");
        }
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
