//! The checks of `ctl doctor` for clients: agents that are set up to start a program that is not there or that
//! cannot find the daemon, and processes that still run a replaced program.

use super::doctor::{Finding, fail, ok, warn};
use super::mcp::{McpClient, entry_of};
use crate::cli::Common;
use clap::ValueEnum as _;
use serde_json::Value;
use std::path::Path;

/// Checks that agents can start this program and find the daemon.
pub fn agents(common: &Common) -> Finding {
    let mut n = 0;
    for client in McpClient::value_variants().iter().filter(|c| **c != McpClient::Generic) {
        let Some((file, entry)) = entry_of(common, *client) else { continue };
        let Some(command) = command_of(&entry) else { continue };
        let shown = file.display();
        let name = client.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
        let again = format!("ctl mcp install {name} --write");
        if *client == McpClient::Codex && entry["env_vars"] == false && is_placed_by_environment() {
            let said = "passes no XDG_RUNTIME_DIR on, so that the agent does not find this daemon";
            return warn(format!("{shown} {said}"), again);
        }
        n += 1;
        if !can_start(&command) {
            return fail(format!("{shown} starts {command}, which is not there"), again);
        }
    }
    match n {
        0 => ok("none is set up here; `ctl mcp install --help` lists them"),
        1 => ok("1 is set up here, and its program is there"),
        n => ok(format!("{n} are set up here, and their programs are there")),
    }
}

/// The program of an entry: a string, or the first word of a list.
fn command_of(entry: &Value) -> Option<String> {
    let command = &entry["command"];
    command.as_str().or(command[0].as_str()).map(str::to_owned)
}

/// True if the folders of the daemon follow variables that are set here.
fn is_placed_by_environment() -> bool {
    std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|v| !v.is_empty())
}

fn can_start(command: &str) -> bool {
    let path = Path::new(command);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    path.is_file()
        || (!command.contains('/') && std::env::split_paths(&folders).any(|d| d.join(path).is_file()))
}

/// Finds processes of this user that still run a program of ours that was replaced on the disk.
pub fn stale() -> Finding {
    let found: Vec<String> =
        processes().into_iter().filter(|(_, exe)| is_replaced(exe)).map(|(id, _)| id).take(5).collect();
    if found.is_empty() {
        return ok("none runs a replaced program");
    }
    let ids = found.join(" ");
    let said = format!("processes {ids} run a ctl that was replaced; they are of agents that started before");
    warn(said, format!("start these agents again, or kill {ids}"))
}

/// True if the link of the system to a program shows that the file of our program was replaced.
fn is_replaced(exe: &str) -> bool {
    let program = exe.strip_suffix(" (deleted)").and_then(|path| path.rsplit('/').next());
    matches!(program, Some("ctl" | "ctl-more"))
}

/// The processes of this user with their programs, where the system tells.
fn processes() -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of = |entry: std::fs::DirEntry| {
        let id = entry.file_name().into_string().ok().filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
        // Those of others cannot be read.
        let exe = std::fs::read_link(entry.path().join("exe")).ok()?;
        Some((id, exe.to_string_lossy().into_owned()))
    };
    entries.flatten().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_of_agents_are_read() {
        for (entry, expect) in [
            (json!({"command": "ctl", "args": ["mcp"]}), Some("ctl")),
            (json!({"type": "local", "command": ["/opt/ctl", "mcp"]}), Some("/opt/ctl")),
            (json!({"url": "http://x"}), None),
            (json!(null), None),
        ] {
            assert_eq!(command_of(&entry).as_deref(), expect, "{entry}");
        }
        assert!(can_start("sh") && !can_start("/nowhere/ctl") && !can_start("no-such-program-here"));
    }

    #[test]
    fn only_our_own_replaced_programs_count() {
        for (exe, expect) in [
            ("/usr/bin/ctl-more (deleted)", true),
            ("/usr/bin/ctl (deleted)", true),
            ("/usr/bin/ctl-more", false),
            ("/usr/bin/other (deleted)", false),
        ] {
            assert_eq!(is_replaced(exe), expect, "{exe}");
        }
    }
}
