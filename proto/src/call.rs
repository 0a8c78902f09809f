//! The closed list of methods, with their parameters.

use crate::card::CardParams;
use crate::documents::{MapParams, MarkdownParams};
use crate::error::{ErrorCode, ErrorObject};
use crate::export::ExportParams;
use crate::graph::GraphParams;
use crate::hello::{HelloParams, ShutdownParams};
use crate::import::ImportParams;
use crate::request::{PackGetParams, PackParams};
use crate::search::{SearchParams, SymbolParams};
use crate::shown::ShowParams;
use crate::sources::{OfferParams, SourcesParams};
use crate::why::WhyParams;
use crate::workspace::{
    AddParams, CompactParams, ConfigParams, GcParams, ListParams, RemoveParams, StatusParams, WaitParams,
};
use serde::de::DeserializeOwned;

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $variant:ident($params:ty) = $name:literal,)*) => {
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
        }

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
            /// member at fault.
            pub fn parse(method: &str, params: &str) -> Result<Self, ErrorObject> {
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
    Hello(HelloParams) = "hello",
    /// Assembles a context pack.
    Pack(PackParams) = "pack",
    /// Says what a pack would hold, without its text.
    Preview(PackParams) = "preview",
    /// Reads a record of a pack.
    PackGet(PackGetParams) = "pack.get",
    /// Writes the context of a task as one Markdown document.
    PackMarkdown(MarkdownParams) = "pack.markdown",
    /// Packs what the caller offers into a budget.
    ContextPack(SourcesParams) = "context.pack",
    /// Gives the content of a source that a packing waits for, or will.
    ContextOffer(OfferParams) = "context.offer",
    /// What a pack held and what it cost, without its content.
    ContextShow(ShowParams) = "context.show",
    /// Describes the repository: entry points, modules, settings, what touches the world outside.
    Map(MapParams) = "map",
    /// Ranks places for a text.
    Search(SearchParams) = "search",
    /// Finds definitions by name.
    Symbol(SymbolParams) = "symbol",
    /// A definition at a glance.
    Card(CardParams) = "card",
    /// Whether a path is in the index, and what decides it.
    Why(WhyParams) = "why",
    /// Who calls it.
    Callers(GraphParams) = "graph.callers",
    /// What it calls.
    Callees(GraphParams) = "graph.callees",
    /// Where it is used in any way.
    Refs(GraphParams) = "graph.refs",
    /// What depends on it, step by step.
    Impact(GraphParams) = "graph.impact",
    /// What stands around it: callers, callees, types, tests.
    Around(GraphParams) = "graph.around",
    /// Registers a workspace and starts its index.
    WorkspaceAdd(AddParams) = "workspace.add",
    /// Lists the workspaces.
    WorkspaceList(ListParams) = "workspace.list",
    /// Forgets a workspace and deletes its index.
    WorkspaceRemove(RemoveParams) = "workspace.remove",
    /// Removes indexes that nobody needs.
    WorkspaceGc(GcParams) = "workspace.gc",
    /// Copies an index so that it takes no more room than it needs.
    IndexCompact(CompactParams) = "index.compact",
    /// Waits until the index holds every change saved before the request.
    IndexWait(WaitParams) = "index.wait",
    /// Prints the canonical dump of the index.
    ExportDump(ExportParams) = "export.dump",
    /// Prints the resolved edges, one JSON object a line.
    ExportEdges(ExportParams) = "export.edges",
    /// Prints the index and the packs that were written as artifacts, one JSON object a line.
    ExportArtifacts(ExportParams) = "export.artifacts",
    /// Prints the index in the SCIP format.
    ExportScip(ExportParams) = "export.scip",
    /// Lays an index made by another tool over the links.
    ImportScip(ImportParams) = "import.scip",
    /// The settings in force and where each came from.
    ConfigShow(ConfigParams) = "config.show",
    /// The condition of the daemon and its workspaces.
    Status(StatusParams) = "status",
    /// Finishes what is in flight and ends the daemon.
    Shutdown(ShutdownParams) = "shutdown",
}

fn read<P: DeserializeOwned>(method: &str, params: &str) -> Result<P, ErrorObject> {
    serde_json::from_str(params).map_err(|e| {
        // Positions count within the parameters and would mislead.
        let text = e.to_string();
        let what = text.split(" at line ").next().unwrap_or(&text);
        ErrorObject::new(ErrorCode::InvalidRequest, format!("{method}: {what}"))
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

/// The candidate with the smallest edit distance to `name`, if it is at most a third of the name.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.chars().take(60).collect();
    candidates
        .map(|c| (distance(&name, c), c))
        .min()
        .filter(|(d, _)| *d <= name.chars().count().max(3) / 3)
        .map(|(_, c)| c)
}

/// Levenshtein distance in characters.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_reads_its_own_name() {
        for m in Method::ALL {
            match Call::parse(m.name(), "{}") {
                Ok(call) => assert_eq!(call.method(), *m),
                Err(e) => assert_eq!(e.data.code, ErrorCode::InvalidRequest, "{}", m.name()),
            }
        }
    }

    #[test]
    fn says_what_is_unknown() {
        let error = |method: &str, params: &str| Call::parse(method, params).unwrap_err();
        assert_eq!(error("serach", "{}").data.hint, "did you mean \"search\"?");
        assert_eq!(error("launch.rockets", "{}").data.hint, ErrorCode::MethodNotFound.hint());
        let e = error("search", r#"{"query":"x","limt":3}"#);
        assert_eq!(e.data.code, ErrorCode::InvalidRequest);
        assert!(e.message.starts_with("search: unknown field `limt`, expected one of"), "{}", e.message);
        assert!(error("search", r#"{"query":3}"#).message.contains("expected a string"));
        assert!(error("workspace.remove", "{}").message.contains("missing field `repo`"));
    }

    #[test]
    fn distances_are_edits() {
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("ab", "ba")), (3, 3, 2));
    }
}
