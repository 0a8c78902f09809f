//! The tools as a model reads them: names, descriptions and arguments.
//!
//! The list is the same for every workspace and session. It has room in 3,000 tokens.

use indexd_proto::limits::CTL_BUDGET_TOKENS;
use serde_json::{Map, Value, json};

/// Edges of a graph answer unless told otherwise.
pub const EDGES_DEFAULT: u32 = 60;
/// Hits and definitions unless told otherwise.
pub const HITS_DEFAULT: u32 = 10;
/// Tokens of a map unless told otherwise.
pub const MAP_TOKENS_DEFAULT: u32 = 3_000;
/// Tokens of an answer of `grep` unless told otherwise.
pub const GREP_TOKENS_DEFAULT: u32 = 2_000;
/// The least of a map.
const MAP_TOKENS_MIN: u64 = 500;
/// The least budget of a pack in tokens.
pub const TOKENS_MIN: u64 = 200;
/// The largest budget of a pack in tokens.
pub const TOKENS_MAX: u64 = 90_000;

/// The published schema of a pack.
const PACK_SCHEMA: &str = include_str!("../../../../proto/schema/context-pack.json");

macro_rules! tools {
    ($($(#[doc = $doc:literal])+ $tool:ident = $name:literal, $title:literal, $description:literal;)*) => {
        /// A tool.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Tool {
            $($(#[doc = $doc])+ $tool,)*
        }

        impl Tool {
            /// Every tool, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$tool),*];

            /// Its name with underscores.
            pub fn name(self) -> &'static str {
                match self { $(Self::$tool => $name,)* }
            }

            /// For people.
            pub fn title(self) -> &'static str {
                match self { $(Self::$tool => $title,)* }
            }

            /// For models.
            pub fn description(self) -> &'static str {
                match self { $(Self::$tool => $description,)* }
            }
        }
    };
}

tools! {
    /// A pack.
    Build = "build_context_pack", "Context pack for a task",
        "Start here for a question or task about this code base: the best places, then the code that \
         is worth its tokens, best first, each under path:first-last, from an index that has every \
         saved edit; then what is left out of definitions, key_usages, dependencies, tests, config and \
         docs, and what to ask next. Put in `expect` names and words that you expect in the code \
         (guesses; wrong ones cost nothing): the first place is then right in 8 of 10 answers instead \
         of 2. The first line says how sure the answer is.";
    /// A pack with a record.
    Create = "context_pack_create", "Context pack with a record",
        "As build_context_pack, with the same arguments, by how code was reached; also keeps a record and \
         says its packId, to be read again with context_pack_get by anyone on this machine.";
    /// A record of a pack.
    Get = "context_pack_get", "Read a context pack",
        "Reads a kept context pack by its packId.";
    /// A packing of offered sources.
    Sources = "pack_sources", "Pack what you have",
        "Packs text that you have (search results, open files, tool output, references) into \
         max_tokens: cut at definitions, without repeats, the best for `query` first.";
    /// Ranked places.
    Search = "search_code", "Search code",
        "The ten best places for a question, a line each: path:line, name, and the line that \
         matters. `expect` as in build_context_pack. Read them with build_context_pack or your own \
         tools.";
    /// Lines that match.
    Grep = "grep", "Search text",
        "Lines that match a regular expression, as ripgrep finds them, by file and enclosing \
         definition: definitions first, then calls, then the rest, tests apart. What does not fit is \
         counted by role and file.";
    /// Definitions by name.
    Locate = "locate_symbol", "Find definitions",
        "Definitions by exact name, Class.method, words of a name, or path:line, each with its \
         place and signature.";
    /// A definition at a glance.
    Card = "card", "A definition at a glance",
        "A definition in 400 tokens: signature, doc, owner, callers, callees and tests with their places. \
         To read it whole, use its place.";
    /// Who calls it.
    Callers = "callers", "Who calls it",
        "Who calls a function or method, or passes it on, resolved through imports, types and \
         inheritance; then every other place of the name in the text that may be a call.";
    /// Its uses.
    Refs = "refs", "Where it is used",
        "Where a definition is used in any way: calls, types, imports, reads and writes.";
    /// What it calls.
    Callees = "callees", "What it calls",
        "What a function or method calls.";
    /// What depends on it.
    Impact = "impact", "What depends on it",
        "What depends on a definition or file, step by step: look before changing a signature.";
    /// What the repository is.
    Map = "repo_map", "What the repository is",
        "What this repository is: entry points, modules, settings it reads, files that touch disk, \
         network or processes. For a first look; a task gets more from build_context_pack.";
}

impl Tool {
    /// Its name as the contract writes it.
    pub fn dotted(self) -> &'static str {
        match self {
            Self::Create => "context_pack.create",
            Self::Get => "context_pack.get",
            _ => self.name(),
        }
    }

    /// The tool of a name in either spelling.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.name() == name || t.dotted() == name)
    }

    /// The schema of its structured content, for packs: programs that ask for structure are told its shape.
    pub fn output_schema(self) -> Option<Map<String, Value>> {
        let is_pack = matches!(self, Self::Build | Self::Create | Self::Get);
        is_pack.then(|| serde_json::from_str(PACK_SCHEMA).unwrap_or_default())
    }

    /// The schema of its arguments.
    pub fn schema(self) -> Map<String, Value> {
        let (mut properties, required) = self.properties();
        properties["repo"] = json!({"type": "string", "description": "Of several: name or folder"});
        properties["structured"] =
            json!({"type": "boolean", "default": false, "description": "Data for programs, too"});
        let required: Vec<&str> = required.split_whitespace().collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        match schema {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// The arguments of its own, and the names of those that are required.
    fn properties(self) -> (Value, &'static str) {
        let symbol = json!({"type": "string", "description": "Name, Class.method, path or path:line"});
        let limit =
            |default: u32| json!({"type": "integer", "minimum": 1, "maximum": 500, "default": default});
        match self {
            Self::Map => (json!({"max_tokens": tokens(MAP_TOKENS_MIN, MAP_TOKENS_DEFAULT)}), ""),
            Self::Build => (pack_properties(), "query expect"),
            Self::Create => {
                let mut properties = pack_properties();
                properties.as_object_mut().into_iter().flatten().for_each(|(_, p)| drop_description(p));
                properties["request"] = json!({
                    "type": "object", "description": "More members of a PackRequest, e.g. {\"strictness\": \"strict\"}"
                });
                (properties, "query expect")
            }
            Self::Sources => (sources_properties(), "sources"),
            Self::Get => (json!({"packId": {"type": "string", "description": "pack:sha256:..."}}), "packId"),
            Self::Search => (
                json!({
                    "query": {"type": "string"}, "limit": limit(HITS_DEFAULT),
                    "expect": {"type": "array", "items": {"type": "string"}, "maxItems": 64},
                }),
                "query expect",
            ),
            Self::Grep => (
                json!({
                    "pattern": {"type": "string"},
                    "paths": {"type": "array", "items": {"type": "string"}, "description": "Files, folders"},
                    "glob": {"type": "string"},
                    "ignore_case": {"type": "boolean", "default": false},
                    "word": {"type": "boolean", "default": false},
                    "role": {"type": "string",
                        "enum": ["def", "call", "ref", "import", "string", "comment"]},
                    "tests": {"type": "boolean", "description": "Only tests, or none"},
                    "max_tokens": tokens(TOKENS_MIN, GREP_TOKENS_DEFAULT),
                }),
                "pattern",
            ),
            Self::Locate => (json!({"name": symbol, "limit": limit(HITS_DEFAULT)}), "name"),
            Self::Card => (json!({"symbol": symbol}), "symbol"),
            Self::Callers | Self::Refs | Self::Callees | Self::Impact => (
                json!({
                    "symbol": symbol,
                    "depth": {"type": "integer", "minimum": 1, "maximum": 4,
                        "default": if self == Self::Impact { 3 } else { 1 }},
                    "limit": limit(EDGES_DEFAULT),
                }),
                "symbol",
            ),
        }
    }
}

/// Removes the description of an argument that another tool describes: each session pays for the list.
fn drop_description(property: &mut Value) {
    property.as_object_mut().and_then(|p| p.remove("description"));
}

/// A number of tokens.
fn tokens(least: u64, default: impl Into<u64>) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": TOKENS_MAX, "default": default.into()})
}

fn pack_properties() -> Value {
    json!({
        "query": {"type": "string", "description": "The task or question in words"},
        "max_tokens": {"type": "integer", "minimum": TOKENS_MIN, "maximum": TOKENS_MAX,
            "default": CTL_BUDGET_TOKENS, "description": "Of the whole text, counted exactly"},
        "intent": {"type": "string", "enum": ["answer", "summarize", "refactor", "debug", "impact", "contract"],
            "default": "answer", "description": "summarize: outlines and entry points; refactor: every use as its \
                line; debug: messages and recent changes; impact: who depends, over several calls; contract: \
                exports, documents, tests"},
        "diff": {"type": "string", "description": "For a change: A..B, A...B, A (to the work tree), or \"\" for all that \
            is not committed: what it does, and what it reaches"},
        "focus_file": {"type": "string", "description": "A file to start from"},
        "expect": {"type": "array", "items": {"type": "string"}, "maxItems": 64, "description": "Names and words that \
            you expect in the code: likely function, type and variable names, messages, terms; e.g. \
            [\"parseRetryAfter\", \"backoff\", \"Retry-After\"]. [] if you have none"},
        "fill": {"type": "boolean", "default": false,
            "description": "Fill max_tokens instead of ending where more is worth little"},
        "unseen": {"type": "boolean", "default": false,
            "description": "Name, and do not repeat, what earlier packs of this session showed"},
    })
}

fn sources_properties() -> Value {
    let source = json!({
        "type": "object", "required": ["sourceType"], "additionalProperties": false,
        "properties": {
            "sourceType": {"type": "string", "enum": ["toolResult", "openFile", "searchResult", "reference"]},
            "content": {"type": "string", "description": "Left out: read from the index"},
            "filePath": {"type": "string"},
            "lineRange": {"type": "object", "required": ["start", "end"],
                "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}}},
            "relevanceScore": {"type": "number", "minimum": 0, "maximum": 1},
            "timestamp": {"type": "integer"},
        },
    });
    json!({
        "query": {"type": "string", "description": "The task in words"},
        "sources": {"type": "array", "items": source, "maxItems": 1000},
        "max_tokens": tokens(TOKENS_MIN, CTL_BUDGET_TOKENS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_of_a_name_is_understood() {
        for &tool in Tool::ALL {
            for name in [tool.name(), tool.dotted()] {
                assert_eq!(Tool::named(name), Some(tool));
            }
            assert!(tool.description().len() <= 600, "{tool:?}");
            assert!(tool.name().chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        }
        assert_eq!(Tool::named("pack"), None);
    }
}
