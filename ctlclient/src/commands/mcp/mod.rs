//! `ctl mcp`: the same packs and lookups as tools of the Model Context Protocol.
//!
//! [`server`] alone knows the library of the protocol. [`tools`] is the list that a model reads,
//! [`call`] turns a call into a request to the daemon and an answer into text, [`workspaces`] says
//! what may be asked about, [`wire`] reads and writes lines, [`install`] changes the configurations of clients.

mod call;
mod install;
mod server;
mod tools;
mod wire;
pub mod workspaces;

use crate::cli::Common;
use crate::failure::Failure;
pub use install::entry_of;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  ctl mcp install claude              # shows the change to its configuration
  ctl mcp install claude --write      # makes it
  ctl mcp                             # what the client starts
  ctl mcp --workspace ~/a --workspace ~/b

Without --workspace the client's roots are served, else the current folder's
repository; nothing outside them.";

/// Options of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct McpArgs {
    /// Set up a client instead.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// A repository to serve; may be given several times
    #[arg(long, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// How names of tools are written in the list; each spelling is understood
    #[arg(long, value_name = "HOW", default_value = "underscore")]
    pub names: ToolNames,
    /// The answer as data with the text of every answer, of packs by a schema that
    /// is listed. Some clients then show the model the data alone
    #[arg(long)]
    pub structured: bool,
}

/// How names of tools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolNames {
    /// context_pack_create
    Underscore,
    /// context_pack.create, which some clients refuse
    Dotted,
}

/// What to do for clients.
#[derive(Debug, clap::Subcommand)]
pub enum McpCommand {
    /// Show, or with --write make, the change to a client's configuration
    #[command(after_help = "Examples:
  ctl mcp install cursor
  ctl mcp install cursor --write
  ctl mcp install cursor --remove --write")]
    Install {
        /// The client
        client: McpClient,
        /// Make the change
        #[arg(long)]
        write: bool,
        /// Take the entry out again
        #[arg(long)]
        remove: bool,
    },
}

/// A program that speaks MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum McpClient {
    /// Claude Code: .mcp.json of this repository
    Claude,
    /// Cursor: .cursor/mcp.json of this repository
    Cursor,
    /// Visual Studio Code: .vscode/mcp.json of this repository
    Vscode,
    /// Codex: config.toml of this user
    Codex,
    /// Zed: settings.json of this user
    Zed,
    /// Gemini CLI: .gemini/settings.json of this repository
    Gemini,
    /// OpenCode: opencode.json of this repository
    Opencode,
    /// Copilot CLI: mcp-config.json of this user
    Copilot,
    /// Windsurf: mcp_config.json of this user, for this repository
    Windsurf,
    /// Claude Desktop: claude_desktop_config.json of this user, for this repository
    ClaudeDesktop,
    /// Any other client: prints the entry and changes nothing
    Generic,
}

/// Serves, or sets up a client.
///
/// # Errors
/// Those of the configuration that cannot be read, or of folders that are not there.
pub fn mcp(common: &Common, args: &McpArgs) -> Result<(), Failure> {
    match args.command {
        Some(McpCommand::Install { client, write, remove }) => {
            install::install(common, client, write, remove)
        }
        None => {
            super::text_only(common, "a server")?;
            let named: Vec<PathBuf> = common.repo.iter().chain(&args.workspace).cloned().collect();
            let fixed = match named.is_empty() {
                true => None,
                false => Some(workspaces::Workspaces::of(&named)?),
            };
            let desk = call::Desk::new(common.no_daemon, args.structured);
            server::serve(desk, fixed, args.names)
        }
    }
}
