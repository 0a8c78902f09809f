//! The protocol, through the crate rmcp: both eras, with and without `initialize`.
//!
//! Nothing here waits for the index: a call runs on a thread of its own, and the daemon is reached
//! with the first one.

use super::ToolNames;
use super::call::{Desk, Outcome, Wanted, said, said_as_data};
use super::tools::Tool;
use super::wire;
use super::workspaces::Workspaces;
use crate::failure::Failure;
use indexd_proto::call::nearest;
use indexd_proto::error::ErrorCode;
use indexd_proto::rpc::ProgressParams;
use indexd_proto::workspace::Phase;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool as ListedTool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// How long a client may take to say what its roots are.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a client may take to read the last answers.
const LAST_TIMEOUT: Duration = Duration::from_secs(2);
/// Milliseconds for which the list of tools may be kept: it changes with the program alone.
const LIST_TTL_MS: u64 = 3_600_000;
const INSTRUCTIONS: &str = "Code context from a local index that follows every save. To find code, call \
     search_code (places) or build_context_pack (the code) with the question and, in `expect`, five to ten \
     names and words that you expect in the code; wrong guesses cost nothing. Ask again with what you \
     learnt. Use callers and impact before changing a signature.";

/// Serves standard input and output until the client ends.
///
/// # Errors
/// A first message that belongs to no era of the protocol.
pub fn serve(desk: Desk, fixed: Option<Workspaces>, names: ToolNames) -> Result<(), Failure> {
    end_with_the_reader();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(ErrorCode::Internal, format!("cannot start: {e}")))?;
    let server = Server { desk: Arc::new(desk), fixed, roots: Mutex::default(), names };
    let ended = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        let (library, written) = wire::checked(input, output);
        let ended = match rmcp::serve_server(server, library).await {
            Ok(service) => service.waiting().await.map(drop).map_err(|e| e.to_string()),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(e.to_string()),
        };
        // The last answers; a client that does not read them is not waited for.
        let _ = tokio::time::timeout(LAST_TIMEOUT, written).await;
        ended
    });
    // Calls that nobody waits for end with the process.
    runtime.shutdown_background();
    ended.map_err(|e| Failure::new(ErrorCode::InvalidRequest, e))
}

/// Ends the process when nobody can read its answers any more, as after a client was killed.
fn end_with_the_reader() {
    use rustix::event::{PollFd, PollFlags, poll};
    std::thread::spawn(|| {
        let stdout = std::io::stdout();
        loop {
            let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
            let ended = poll(&mut fds, None).is_ok_and(|n| n > 0);
            if ended && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
                std::process::exit(0);
            }
            if ended {
                return;
            }
        }
    });
}

struct Server {
    desk: Arc<Desk>,
    /// The workspaces of the command line.
    fixed: Option<Workspaces>,
    /// Those of the client's roots, once asked for.
    roots: Mutex<Option<Workspaces>>,
    names: ToolNames,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("indexd", env!("CARGO_PKG_VERSION"));
        info.server_info.title = Some("indexd".to_owned());
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let structured = self.desk.is_structured();
        let tools = Tool::ALL.iter().map(|t| listed(*t, self.names, structured)).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(LIST_TTL_MS))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::named(&request.name).ok_or_else(|| unknown(&request.name))?;
        let workspaces = match self.workspaces(&context).await {
            Ok(workspaces) => workspaces,
            Err(failure) => return Ok(failed(failure).into()),
        };
        let desk = Arc::clone(&self.desk);
        let gone = context.ct.clone();
        let token = context.meta.get_progress_token();
        let listener = token.map(|token| listener(token, context.peer.clone()));
        let args = request.arguments.unwrap_or_default();
        let answer = tokio::task::spawn_blocking(move || {
            let listener = listener.map(|l| Box::new(l) as crate::progress::Listener);
            let stop = Box::new(move || gone.is_cancelled());
            // Handed back only as a result: what the call made stays on its thread.
            match desk.call(tool, args, Wanted { workspaces: &workspaces, stop, listener }) {
                Ok(outcome) => answered(outcome),
                Err(failure) => failed(failure),
            }
        });
        let answer = answer.await.map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        Ok(answer.into())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *self.roots.lock().await = None;
    }
}

impl Server {
    /// What this session may ask about: the command line's workspaces, else the client's roots, else
    /// the current folder's repository.
    async fn workspaces(&self, context: &RequestContext<RoleServer>) -> Result<Workspaces, Failure> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        let mut roots = self.roots.lock().await;
        if roots.is_none() {
            *roots = client_roots(context).await.transpose()?;
        }
        match &*roots {
            Some(roots) if !roots.is_empty() => Ok(roots.clone()),
            _ => Workspaces::here(),
        }
    }
}

/// The client's roots; none where the protocol or the client knows no such question. An error when it has
/// some of which none can be used: another folder is not what it means.
#[expect(deprecated, reason = "clients of the era with initialize say their folders so")]
async fn client_roots(context: &RequestContext<RoleServer>) -> Option<Result<Workspaces, Failure>> {
    let version = context.protocol_version()?;
    let may_be_asked = version.as_str() < ProtocolVersion::V_2026_07_28.as_str();
    if !may_be_asked || context.client_capabilities()?.roots.is_none() {
        return None;
    }
    let asked = context.peer.list_roots();
    let answer = tokio::time::timeout(ROOTS_TIMEOUT, asked).await.ok()?.ok()?;
    Some(Workspaces::of_uris(answer.roots.iter().map(|root| root.uri.as_str())))
}

fn listed(tool: Tool, names: ToolNames, structured: bool) -> ListedTool {
    let name = if names == ToolNames::Dotted { tool.dotted() } else { tool.name() };
    let mut out = ListedTool::new(name, tool.description(), tool.schema());
    out.title = Some(tool.title().to_owned());
    out.annotations = Some(ToolAnnotations::new().read_only(true).open_world(false));
    // A shape that is declared must be kept in every answer.
    out.output_schema = if structured { tool.output_schema().map(Arc::new) } else { None };
    out
}

fn unknown(name: &str) -> ErrorData {
    let shown: String = name.chars().take(60).collect();
    let near = nearest(&shown, Tool::ALL.iter().map(|t| t.name()));
    let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    ErrorData::invalid_params(format!("there is no tool {shown:?}{hint}"), None)
}

fn answered(outcome: Outcome) -> CallToolResult {
    let mut result = CallToolResult::success(outcome.text.into_iter().map(ContentBlock::text).collect());
    result.structured_content = outcome.structured;
    result
}

/// Failures are results: the model reads them and can do something about most. Programs read the code.
fn failed(failure: Failure) -> CallToolResult {
    let (text, structured) = match failure {
        Failure::Error(error) => (said(&error), Some(said_as_data(&error))),
        other => (format!("the call ended with status {}", other.exit()), None),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = structured;
    result
}

/// Passes progress on, as one number that only grows: each phase is a hundred.
fn listener(token: ProgressToken, peer: Peer<RoleServer>) -> impl FnMut(&ProgressParams) + Send + 'static {
    let handle = Handle::current();
    let mut phases: Vec<Phase> = Vec::new();
    let mut last = 0.0;
    move |p| {
        if phases.last() != Some(&p.phase) {
            phases.push(p.phase);
        }
        let part = if p.total == 0 { 0.0 } else { p.done.min(p.total) as f64 / p.total as f64 * 99.0 };
        let now = (phases.len() - 1) as f64 * 100.0 + part + 1.0;
        if now <= last {
            return;
        }
        last = now;
        let of = if p.total == 0 { p.done.to_string() } else { format!("{} of {}", p.done, p.total) };
        let message = format!("indexing: {} {of}", p.phase);
        let note = ProgressNotificationParam::new(token.clone(), now).with_message(message);
        // A client that is gone is noticed elsewhere.
        let _ = handle.block_on(peer.notify_progress(note));
    }
}
