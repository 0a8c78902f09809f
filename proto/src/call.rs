//! The closed list of methods, with their parameters and answers.

use crate::card::{CardParams, CardResult};
use crate::documents::{MapParams, MapResult, MarkdownParams, MarkdownResult};
use crate::error::{ErrorCode, ErrorObject};
use crate::export::{ExportParams, ExportResult};
use crate::graph::{GraphParams, GraphResult};
use crate::grep::{GrepParams, GrepResult};
use crate::hello::{HelloParams, HelloResult, ShutdownParams, ShutdownResult};
use crate::highlight::{HighlightParams, HighlightResult};
use crate::import::{ImportParams, ImportResult};
use crate::request::{PackGetParams, PackGetResult, PackParams, PackResult, PreviewResult};
use crate::search::{
    DefinitionsParams, DefinitionsResult, SearchParams, SearchResult, SymbolParams, SymbolResult,
};
use crate::share::{BeginParams, BeginResult, DescribeParams, ShareExportParams, ShareExportResult, Tree};
use crate::shown::{ContextSummary, ShowParams};
use crate::sources::{OfferParams, OfferResult, SourcesParams, SourcesResult};
use crate::why::{WhyParams, WhyResult};
use crate::workspace::{
    AddParams, CompactParams, CompactResult, ConfigParams, ConfigResult, GcParams, GcResult, ListParams,
    ListResult, RemoveParams, RemoveResult, StatusParams, StatusResult, WaitParams, WaitResult,
    WorkspaceStatus,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $variant:ident($params:ty) -> $result:ty = $name:literal,)*) => {
        /// A method, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Method {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Method {
            /// Every method, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The schemas of its parameters and of its answer, by the names under which they are published.
            #[cfg(feature = "schema")]
            pub(crate) fn schemas(self) -> [(String, Value); 2] {
                use crate::schema;
                let [params, result] = ["params", "result"].map(|half| schema::file_of(self, half));
                match self {
                    $(Self::$variant => [schema::document::<$params>(params), schema::document::<$result>(result)],)*
                }
            }
        }

        // Without schemas nothing else names the types of answers.
        $(const _: Option<$result> = None;)*

        /// A request with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Call {
            $($(#[doc = $doc])+ $variant($params),)*
        }

        impl Call {
            /// Its method.
            pub fn method(&self) -> Method {
                match self { $(Self::$variant(_) => Method::$variant,)* }
            }

            /// Reads the parameters of a method.
            ///
            /// # Errors
            /// `POC_E_METHOD_NOT_FOUND` with the nearest name, or `POC_E_INVALID_REQUEST` with the
            /// member at fault; in the request for a pack `POC_E_NOT_SUPPORTED` for members and words that are
            /// not known.
            pub fn parse(method: &str, params: Value) -> Result<Self, ErrorObject> {
                match method {
                    $($name => read::<$params>(method, params).map(Self::$variant),)*
                    _ => Err(unknown(method)),
                }
            }
        }
    };
}

methods! {
    /// The handshake.
    Hello(HelloParams) -> HelloResult = "hello",
    /// Assembles a context pack.
    Pack(PackParams) -> PackResult<'static> = "pack",
    /// Says what a pack would hold, without its text.
    Preview(PackParams) -> PreviewResult = "preview",
    /// Reads a record of a pack.
    PackGet(PackGetParams) -> PackGetResult<'static> = "pack.get",
    /// Writes the context of a task as one Markdown document.
    PackMarkdown(MarkdownParams) -> MarkdownResult = "pack.markdown",
    /// Packs what the caller offers into a budget.
    ContextPack(SourcesParams) -> SourcesResult = "context.pack",
    /// Gives the content of a source that a packing waits for, or will.
    ContextOffer(OfferParams) -> OfferResult = "context.offer",
    /// What a pack held and what it cost, without its content.
    ContextShow(ShowParams) -> ContextSummary = "context.show",
    /// Describes the repository: entry points, modules, settings, what touches the world outside.
    Map(MapParams) -> MapResult = "map",
    /// Ranks places for a text.
    Search(SearchParams) -> SearchResult = "search",
    /// Searches text by regular expressions.
    Grep(GrepParams) -> GrepResult = "grep",
    /// Finds definitions by name.
    Symbol(SymbolParams) -> SymbolResult = "symbol",
    /// Shows definitions whole.
    Show(DefinitionsParams) -> DefinitionsResult = "show",
    /// Classifies the words of shown lines, for colours.
    Highlight(HighlightParams) -> HighlightResult = "highlight",
    /// A definition at a glance.
    Card(CardParams) -> CardResult = "card",
    /// Whether a path is in the index, and what decides it.
    Why(WhyParams) -> WhyResult = "why",
    /// Who calls it.
    Callers(GraphParams) -> GraphResult = "graph.callers",
    /// What it calls.
    Callees(GraphParams) -> GraphResult = "graph.callees",
    /// Where it is used in any way.
    Refs(GraphParams) -> GraphResult = "graph.refs",
    /// What depends on it, step by step.
    Impact(GraphParams) -> GraphResult = "graph.impact",
    /// What implements or overrides it, and what it implements or overrides.
    Implementations(GraphParams) -> GraphResult = "graph.implementations",
    /// What stands around it: callers, callees, types, tests.
    Around(GraphParams) -> GraphResult = "graph.around",
    /// Registers a workspace and starts its index.
    WorkspaceAdd(AddParams) -> WorkspaceStatus = "workspace.add",
    /// Lists the workspaces.
    WorkspaceList(ListParams) -> ListResult = "workspace.list",
    /// Forgets a workspace and deletes its index.
    WorkspaceRemove(RemoveParams) -> RemoveResult = "workspace.remove",
    /// Removes indexes that nobody needs.
    WorkspaceGc(GcParams) -> GcResult = "workspace.gc",
    /// Copies an index so that it takes no more room than it needs.
    IndexCompact(CompactParams) -> CompactResult = "index.compact",
    /// Waits until the index holds every change saved before the request.
    IndexWait(WaitParams) -> WaitResult = "index.wait",
    /// Prints the canonical dump of the index.
    ExportDump(ExportParams) -> ExportResult = "export.dump",
    /// Prints the resolved edges, one JSON object a line.
    ExportEdges(ExportParams) -> ExportResult = "export.edges",
    /// Prints the index and the packs that were written as artifacts, one JSON object a line.
    ExportArtifacts(ExportParams) -> ExportResult = "export.artifacts",
    /// Prints the index in the SCIP format.
    ExportScip(ExportParams) -> ExportResult = "export.scip",
    /// Lays an index made by another tool over the links.
    ImportScip(ImportParams) -> ImportResult = "import.scip",
    /// Facts by which a published index of a tree is found.
    ShareDescribe(DescribeParams) -> Tree = "share.describe",
    /// Writes the rows of the index to files, to be published.
    ShareExport(ShareExportParams) -> ShareExportResult = "share.export",
    /// Begins the first index with published rows in files.
    ShareBegin(BeginParams) -> BeginResult = "share.begin",
    /// The settings in force and where each came from.
    ConfigShow(ConfigParams) -> ConfigResult = "config.show",
    /// The condition of the daemon and its workspaces.
    Status(StatusParams) -> StatusResult = "status",
    /// Finishes what is in flight and ends the daemon.
    Shutdown(ShutdownParams) -> ShutdownResult = "shutdown",
}

fn read<P: DeserializeOwned>(method: &str, params: Value) -> Result<P, ErrorObject> {
    serde_json::from_value(params).map_err(|e| {
        let what = e.to_string();
        let is_unknown = ["unknown field", "unknown variant"].iter().any(|start| what.starts_with(start));
        let code = match method {
            "pack" | "preview" if is_unknown => ErrorCode::NotSupported,
            _ => ErrorCode::InvalidRequest,
        };
        ErrorObject::new(code, format!("{method}: {what}"))
    })
}

fn unknown(method: &str) -> ErrorObject {
    let error = ErrorObject::new(ErrorCode::MethodNotFound, format!("there is no method {:?}", crop(method)));
    match nearest(method, Method::ALL.iter().map(|m| m.name())) {
        Some(near) => error.with_hint(format!("did you mean {near:?}?")),
        None => error,
    }
}

fn crop(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The candidate with the smallest edit distance to `name`, of which 60 characters count, if it is at most a third
/// of the name.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = crop(name);
    let most = name.chars().count().max(3) / 3;
    candidates.map(|c| (strsim::osa_distance(&name, c), c)).min().filter(|(d, _)| *d <= most).map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_method_reads_its_own_name() {
        for m in Method::ALL {
            match Call::parse(m.name(), json!({})) {
                Ok(call) => assert_eq!(call.method(), *m),
                Err(e) => assert_eq!(e.data.code, ErrorCode::InvalidRequest, "{}", m.name()),
            }
        }
    }

    #[test]
    fn says_what_is_unknown() {
        let error = |method: &str, params| Call::parse(method, params).unwrap_err();
        assert_eq!(error("serach", json!({})).data.hint, "did you mean \"search\"?");
        assert_eq!(error("launch.rockets", json!({})).data.hint, ErrorCode::MethodNotFound.hint());
        let e = error("search", json!({"query": "x", "limt": 3}));
        assert_eq!(e.data.code, ErrorCode::InvalidRequest);
        assert!(e.message.starts_with("search: unknown field `limt`, expected one of"), "{}", e.message);
        assert!(error("search", json!({"query": 3})).message.contains("expected a string"));
        assert!(error("workspace.remove", json!({})).message.contains("missing field `repo`"));
        for (params, code) in [
            (json!({"colour": 1}), ErrorCode::NotSupported),
            (json!({"layout": "round"}), ErrorCode::NotSupported),
            (json!({"query": 3}), ErrorCode::InvalidRequest),
        ] {
            assert_eq!(error("pack", params.clone()).data.code, code, "{params}");
        }
    }
}
