//! The checks of `ctl doctor` for clients: agents that are set up to start a program that is not there or that
//! cannot find the daemon, and processes that still run a replaced program.

use super::doctor::{fail, ok, warn};
use indexd_proto::printed::Check;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The checks of clients.
pub fn checks() -> Vec<Check> {
    vec![agents(), stale()]
}

/// A configuration of an agent: its file, the member with the servers, and the name for `ctl mcp install`.
struct Known {
    file: PathBuf,
    list: &'static str,
    client: &'static str,
}

/// The configurations that `ctl mcp install` writes, of the repository here and of the user.
fn known() -> Vec<Known> {
    let here = std::env::current_dir().unwrap_or_default();
    let root = indexd_proto::paths::repository_around(&here).map_or(here.clone(), Path::to_owned);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let of = |file: PathBuf, list, client| Known { file, list, client };
    vec![
        of(root.join(".mcp.json"), "mcpServers", "claude"),
        of(root.join(".cursor/mcp.json"), "mcpServers", "cursor"),
        of(root.join(".vscode/mcp.json"), "servers", "vscode"),
        of(root.join(".gemini/settings.json"), "mcpServers", "gemini"),
        of(root.join("opencode.json"), "mcp", "opencode"),
        of(home.join(".copilot/mcp-config.json"), "mcpServers", "copilot"),
        of(home.join(".codeium/windsurf/mcp_config.json"), "mcpServers", "windsurf"),
        of(home.join(".codex/config.toml"), "mcp_servers", "codex"),
    ]
}

/// Checks that agents can start this program and find the daemon.
fn agents() -> Check {
    const NAME: &str = "agents";
    let mut n = 0;
    for known in known() {
        let Ok(text) = std::fs::read_to_string(&known.file) else { continue };
        let shown = known.file.display();
        let again = format!("ctl mcp install {} --write", known.client);
        let command = match known.client {
            "codex" => match of_codex(&text) {
                Some(entry) if !entry.contains("env_vars") && is_placed_by_environment() => {
                    let said = "passes no XDG_RUNTIME_DIR on, so that the agent does not find this daemon";
                    return warn(NAME, format!("{shown} {said}"), again);
                }
                Some(entry) => value_of(entry, "command"),
                None => None,
            },
            _ => {
                serde_json::from_str(&text).ok().and_then(|all: Value| command_of(&all[known.list]["indexd"]))
            }
        };
        let Some(command) = command else { continue };
        n += 1;
        if !can_start(&command) {
            return fail(NAME, format!("{shown} starts {command}, which is not there"), again);
        }
    }
    match n {
        0 => ok(NAME, "none is set up here; `ctl mcp install --help` lists them"),
        1 => ok(NAME, "1 is set up here, and its program is there"),
        n => ok(NAME, format!("{n} are set up here, and their programs are there")),
    }
}

/// The lines of our table in a configuration of Codex.
fn of_codex(text: &str) -> Option<&str> {
    let (_, entry) = text.split_once("[mcp_servers.indexd]")?;
    Some(entry.split("\n[").next().unwrap_or(entry))
}

/// The string that a line `name = "value"` gives.
fn value_of(entry: &str, name: &str) -> Option<String> {
    let line = entry.lines().find_map(|l| l.trim().strip_prefix(name)?.trim().strip_prefix('='))?;
    Some(line.trim().trim_matches('"').to_owned())
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
fn stale() -> Check {
    const NAME: &str = "clients";
    let found: Vec<String> =
        processes().into_iter().filter(|(_, exe)| is_replaced(exe)).map(|(id, _)| id).take(5).collect();
    if found.is_empty() {
        return ok(NAME, "none runs a replaced program");
    }
    let ids = found.join(" ");
    let said = format!("processes {ids} run a ctl that was replaced; they are of agents that started before");
    warn(NAME, said, format!("start these agents again, or kill {ids}"))
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
        let text = "a = 1\n[mcp_servers.indexd]\ncommand = \"/x/ctl\"\n[other]\ncommand = \"y\"\n";
        assert_eq!(value_of(of_codex(text).unwrap(), "command").as_deref(), Some("/x/ctl"));
        assert_eq!(of_codex("[mcp_servers.other]\n"), None);
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
