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

use crate::args::{Common, McpArgs, McpCommand};
use crate::failure::Failure;
use std::path::PathBuf;

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
