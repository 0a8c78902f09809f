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

/// Shows, or makes, the change to a client's configuration.
///
/// # Errors
/// `POC_E_CONFIG` for a configuration that cannot be read, those of writing.
pub fn install(common: &Common, client: McpClient, write: bool, remove: bool) -> Result<(), Failure> {
    let program = crate::commands::own_command();
    let (root, file, done) = place(common, client)?;
    let entry = (!remove).then(|| entry(client, &program));
    let change = |text: &str| match client {
        McpClient::Codex => toml_entry(text, (!remove).then_some(program.as_str())),
        McpClient::Claude | McpClient::Cursor => {
            config_edit::json_member(text, &["mcpServers", NAME], entry.as_ref())
        }
        McpClient::Vscode => config_edit::json_member(text, &["servers", NAME], entry.as_ref()),
        McpClient::Zed => config_edit::json_member(text, &["context_servers", NAME], entry.as_ref()),
    };
    // A user's own settings may be links to where they are kept.
    let edit = match client {
        McpClient::Codex | McpClient::Zed => Edit::of(root.join(file), change)?,
        _ => Edit::within(&root, file, change)?,
    };
    config_edit::apply(common, &[edit], write, if remove { "" } else { done })
}

/// The file of a client in its folder, and what is to be done after it was written.
fn place(common: &Common, client: McpClient) -> Result<(PathBuf, &'static str, &'static str), Failure> {
    let here = || -> Result<PathBuf, Failure> {
        let folder = match &common.repo {
            Some(dir) => dir.clone(),
            None => std::env::current_dir()?,
        };
        Ok(workspaces::Workspaces::of(&[folder])?.pick(None)?.into())
    };
    let home = |name: &str, below: &str| -> Result<PathBuf, Failure> {
        let set = std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        set.or(home.map(|h| h.join(below))).ok_or_else(|| {
            Failure::hinted(ErrorCode::Config, "there is no home folder", "set HOME to your home folder")
        })
    };
    Ok(match client {
        McpClient::Claude => {
            (here()?, ".mcp.json", "Start `claude` in this repository and allow the server indexd.")
        }
        McpClient::Cursor => {
            (here()?, ".cursor/mcp.json", "Open this repository in Cursor and enable indexd under MCP.")
        }
        McpClient::Vscode => {
            (here()?, ".vscode/mcp.json", "Open this repository in VS Code and start indexd in the file.")
        }
        McpClient::Codex => (home("CODEX_HOME", ".codex")?, "config.toml", "Start `codex` in a repository."),
        McpClient::Zed => (
            home("XDG_CONFIG_HOME", ".config")?,
            "zed/settings.json",
            "Open a repository in Zed: indexd is in the list of the agent's tools.",
        ),
    })
}

fn entry(client: McpClient, program: &str) -> Value {
    match client {
        McpClient::Vscode => json!({"type": "stdio", "command": program, "args": ["mcp"]}),
        McpClient::Zed => json!({"source": "custom", "command": program, "args": ["mcp"]}),
        // It starts servers in its own folder and tells no roots; this variable it fills in.
        McpClient::Cursor => {
            json!({"command": program, "args": ["mcp", "--workspace", "${workspaceFolder}"]})
        }
        _ => json!({"command": program, "args": ["mcp"]}),
    }
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
    let servers = servers.as_table_like_mut().ok_or("mcp_servers is no table")?;
    let entry = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or("mcp_servers.indexd is no table")?;
    if entry.get("command").and_then(Item::as_str) != Some(program) {
        entry.insert("command", toml_edit::value(program));
    }
    // What the user has added behind it stays.
    let is_same = |args: &Array| args.get(0).and_then(|v| v.as_str()) == Some("mcp");
    if !entry.get("args").and_then(Item::as_array).is_some_and(is_same) {
        entry.insert("args", toml_edit::value(Array::from_iter(["mcp"])));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_added_and_the_rest_stays() {
        let fresh = "[mcp_servers.indexd]\ncommand = \"ctl\"\nargs = [\"mcp\"]\n";
        assert_eq!(toml_entry("", Some("ctl")).unwrap(), fresh);
        let mine = "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let with = toml_entry(mine, Some("ctl")).unwrap();
        assert_eq!(with, format!("{mine}\n{fresh}"));
        assert_eq!(toml_entry(&with, Some("ctl")).unwrap(), with);
        assert_eq!(toml_entry(&with, None).unwrap(), mine);
        assert!(toml_entry("a = ", Some("ctl")).is_err());
    }
}
