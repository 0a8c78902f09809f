//! `ctl mcp install`: an entry for this server in the configuration of a client.

use super::{McpClient, workspaces};
use crate::cli::Common;
use crate::commands::config_edit::{self, Edit};
use crate::failure::Failure;
use indexd_proto::error::ErrorCode;
use serde_json::{Value, json};
use std::path::PathBuf;
use toml_edit::{Array, DocumentMut, Item, Table};

/// Name of the entry.
const NAME: &str = "indexd";

/// Variables by which the folders of the daemon are found.
const FOUND_BY: [&str; 4] = ["XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// Shows, or makes, the change to a client's configuration.
///
/// # Errors
/// `POC_E_CONFIG` for a configuration that cannot be read, those of writing.
pub fn install(common: &Common, client: McpClient, write: bool, remove: bool) -> Result<(), Failure> {
    let program = crate::commands::own_command();
    if client == McpClient::Generic {
        return crate::commands::put(None, &generic(&program));
    }
    let Place { root, is_of_user, file, done } = place(common, client)?;
    let entry = match client {
        McpClient::Codex => None,
        _ if remove => None,
        _ => Some(entry(common, client, &program)?),
    };
    let change = |text: &str| match client {
        McpClient::Codex => toml_entry(text, (!remove).then_some(program.as_str())),
        _ => config_edit::json_member(text, &[list_of(client), NAME], entry.as_ref()),
    };
    // A user's own settings may be links to where they are kept.
    let edit = match is_of_user {
        true => Edit::of(root.join(file), change)?,
        false => Edit::within(&root, file, change)?,
    };
    config_edit::apply(common, &[edit], write, if remove { "" } else { done })
}

/// The file with our entry for a client, and that entry as JSON; `None` without one.
pub fn entry_of(common: &Common, client: McpClient) -> Option<(PathBuf, Value)> {
    let Place { root, file, .. } = place(common, client).ok()?;
    let file = root.join(file);
    let text = std::fs::read_to_string(&file).ok()?;
    let entry = match client {
        McpClient::Codex => {
            let document: DocumentMut = text.parse().ok()?;
            let entry = document.get("mcp_servers")?.get(NAME)?;
            let command = entry.get("command").and_then(Item::as_str);
            json!({"command": command, "env_vars": entry.get("env_vars").is_some()})
        }
        _ => config_edit::member(&text, &[list_of(client), NAME])?,
    };
    Some((file, entry))
}

/// The member that holds the servers.
fn list_of(client: McpClient) -> &'static str {
    match client {
        McpClient::Vscode => "servers",
        McpClient::Zed => "context_servers",
        McpClient::Opencode => "mcp",
        _ => "mcpServers",
    }
}

/// The entry that most clients read, for clients that are not listed here.
fn generic(program: &str) -> String {
    let entry = json!({"mcpServers": {NAME: {"command": program, "args": ["mcp"]}}});
    let text = serde_json::to_string_pretty(&entry).unwrap_or_default();
    format!(
        "{text}\n\nThe server speaks on standard input and output. It serves the repository that it is started in; a client\n\
         that starts it elsewhere gives \"args\": [\"mcp\", \"--workspace\", \"REPOSITORY\"].\n"
    )
}

/// The file of a client in its folder, and what is to be done after it was written.
struct Place {
    root: PathBuf,
    /// True if the file belongs to the user, not to the repository.
    is_of_user: bool,
    file: &'static str,
    done: &'static str,
}

/// The repository that is asked about.
fn here(common: &Common) -> Result<PathBuf, Failure> {
    let folder = match &common.repo {
        Some(dir) => dir.clone(),
        None => std::env::current_dir()?,
    };
    Ok(workspaces::Workspaces::of(&[folder])?.pick(None)?.into())
}

/// The folder that a variable names, else one below the home folder.
fn home(name: &str, below: &str) -> Result<PathBuf, Failure> {
    let set = std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    set.or(home.map(|h| h.join(below))).ok_or_else(|| {
        Failure::hinted(ErrorCode::Config, "there is no home folder", "set HOME to your home folder")
    })
}

fn place(common: &Common, client: McpClient) -> Result<Place, Failure> {
    use McpClient as C;
    let own = |file, done| Ok(Place { root: here(common)?, is_of_user: false, file, done });
    let user = |root: Result<PathBuf, Failure>, file, done| {
        root.map(|root| Place { root, is_of_user: true, file, done })
    };
    match client {
        C::Claude => own(".mcp.json", "Start `claude` in this repository and allow the server indexd."),
        C::Cursor => own(".cursor/mcp.json", "Open this repository in Cursor and enable indexd under MCP."),
        C::Vscode => own(".vscode/mcp.json", "Open this repository in VS Code and start indexd in the file."),
        C::Gemini => own(".gemini/settings.json", "Start `gemini` in this repository; /mcp lists indexd."),
        C::Opencode => own("opencode.json", "Start `opencode` in this repository."),
        C::Codex => user(home("CODEX_HOME", ".codex"), "config.toml", "Start `codex` in a repository."),
        C::Copilot => user(
            home("COPILOT_HOME", ".copilot"),
            "mcp-config.json",
            "Start `copilot` in a repository; /mcp show lists indexd.",
        ),
        C::Windsurf => user(
            home("", ".codeium/windsurf"),
            "mcp_config.json",
            "Refresh the list of MCP servers in Windsurf. It serves this repository.",
        ),
        C::ClaudeDesktop => user(
            match std::env::consts::OS {
                "macos" => home("", "Library/Application Support"),
                _ => home("XDG_CONFIG_HOME", ".config"),
            },
            "Claude/claude_desktop_config.json",
            "Start Claude Desktop again. It serves this repository.",
        ),
        C::Zed | C::Generic => user(
            home("XDG_CONFIG_HOME", ".config"),
            "zed/settings.json",
            "Open a repository in Zed: indexd is in the list of the agent's tools.",
        ),
    }
}

fn entry(common: &Common, client: McpClient, program: &str) -> Result<Value, Failure> {
    Ok(match client {
        McpClient::Vscode => json!({"type": "stdio", "command": program, "args": ["mcp"]}),
        McpClient::Zed => json!({"source": "custom", "command": program, "args": ["mcp"]}),
        McpClient::Opencode => json!({"type": "local", "command": [program, "mcp"], "enabled": true}),
        McpClient::Copilot => {
            json!({"type": "local", "command": program, "args": ["mcp"], "tools": ["*"]})
        }
        // It starts servers in its own folder and tells no roots; this variable it fills in.
        McpClient::Cursor => {
            json!({"command": program, "args": ["mcp", "--workspace", "${workspaceFolder}"]})
        }
        // These start servers in their own folder and have no variable for it.
        McpClient::Windsurf | McpClient::ClaudeDesktop => {
            json!({"command": program, "args": ["mcp", "--workspace", here(common)?]})
        }
        _ => json!({"command": program, "args": ["mcp"]}),
    })
}

/// Sets or removes our table below `mcp_servers`; the rest of the text stays as it is.
fn toml_entry(text: &str, program: Option<&str>) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|e| format!("not valid TOML: {e}"))?;
    let Some(program) = program else {
        if let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) {
            servers.remove(NAME);
        }
        return Ok(document.to_string());
    };
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or("mcp_servers is not a table")?;
    let entry = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or("mcp_servers.indexd is not a table")?;
    if entry.get("command").and_then(Item::as_str) != Some(program) {
        entry.insert("command", toml_edit::value(program));
    }
    // What the user has added behind it stays.
    let is_same = |args: &Array| args.get(0).and_then(|v| v.as_str()) == Some("mcp");
    if !entry.get("args").and_then(Item::as_array).is_some_and(is_same) {
        entry.insert("args", toml_edit::value(Array::from_iter(["mcp"])));
    }
    // It passes on few variables; the daemon is found by these.
    if entry.get("env_vars").is_none() {
        entry.insert("env_vars", toml_edit::value(Array::from_iter(FOUND_BY)));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_added_and_the_rest_stays() {
        let fresh = "[mcp_servers.indexd]\ncommand = \"ctl\"\nargs = [\"mcp\"]\nenv_vars = [\"XDG_RUNTIME_DIR\", \
                     \"XDG_CACHE_HOME\", \"XDG_CONFIG_HOME\", \"XDG_STATE_HOME\"]\n";
        assert_eq!(toml_entry("", Some("ctl")).unwrap(), fresh);
        let mine = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let with = toml_entry(mine, Some("ctl")).unwrap();
        assert_eq!(with, format!("{mine}\n{fresh}"));
        assert_eq!(toml_entry(&with, Some("ctl")).unwrap(), with);
        assert_eq!(toml_entry(&with, None).unwrap(), mine);
        assert!(toml_entry("a = ", Some("ctl")).is_err());
    }
}
