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

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A pack.
    Build,
    /// A pack with a record.
    Create,
    /// A record of a pack.
    Get,
    /// A packing of offered sources.
    Sources,
    /// Ranked places.
    Search,
    /// Lines that match.
    Grep,
    /// Definitions by name.
    Locate,
    /// A definition at a glance.
    Card,
    /// Who calls it.
    Callers,
    /// Its uses.
    Refs,
    /// What it calls.
    Callees,
    /// What depends on it.
    Impact,
    /// What the repository is.
    Map,
}

impl Tool {
    /// Every tool, in the order of the list.
    pub const ALL: [Self; 13] = [
        Self::Build,
        Self::Create,
        Self::Get,
        Self::Sources,
        Self::Search,
        Self::Grep,
        Self::Locate,
        Self::Card,
        Self::Callers,
        Self::Refs,
        Self::Callees,
        Self::Impact,
        Self::Map,
    ];

    /// Its name with underscores, or as the contract writes it.
    pub fn name(self, dotted: bool) -> &'static str {
        match (self, dotted) {
            (Self::Build, _) => "build_context_pack",
            (Self::Create, false) => "context_pack_create",
            (Self::Create, true) => "context_pack.create",
            (Self::Get, false) => "context_pack_get",
            (Self::Get, true) => "context_pack.get",
            (Self::Sources, _) => "pack_sources",
            (Self::Search, _) => "search_code",
            (Self::Grep, _) => "grep",
            (Self::Locate, _) => "locate_symbol",
            (Self::Card, _) => "card",
            (Self::Callers, _) => "callers",
            (Self::Refs, _) => "refs",
            (Self::Callees, _) => "callees",
            (Self::Impact, _) => "impact",
            (Self::Map, _) => "repo_map",
        }
    }

    /// The tool of a name in either spelling.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name(false) == name || t.name(true) == name)
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Build => "Context pack for a task",
            Self::Create => "Context pack with a record",
            Self::Get => "Read a context pack",
            Self::Sources => "Pack what you have",
            Self::Search => "Search code",
            Self::Grep => "Search text",
            Self::Locate => "Find definitions",
            Self::Card => "A definition at a glance",
            Self::Callers => "Who calls it",
            Self::Refs => "Where it is used",
            Self::Callees => "What it calls",
            Self::Impact => "What depends on it",
            Self::Map => "What the repository is",
        }
    }

    /// For models.
    pub fn description(self) -> &'static str {
        match self {
            Self::Build => {
                "Start here for a question or task about this code base: the best places, then the code that \
                 is worth its tokens, best first, each under path:first-last, from an index that has every \
                 saved edit; then what is left out of definitions, key_usages, dependencies, tests, config and \
                 docs, and what to ask next. Put in `expect` names and words that you expect in the code \
                 (guesses; wrong ones cost nothing): the first place is then right in 8 of 10 answers instead \
                 of 2. The first line says how sure the answer is."
            }
            Self::Create => {
                "As build_context_pack, with the same arguments, by how code was reached; also keeps a record and \
                 says its packId, to be read again with context_pack_get by anyone on this machine."
            }
            Self::Get => "Reads a kept context pack by its packId.",
            Self::Sources => {
                "Packs text that you have (search results, open files, tool output, references) into \
                 max_tokens: cut at definitions, without repeats, the best for `query` first."
            }
            Self::Search => {
                "The ten best places for a question, a line each: path:line, name, and the line that \
                 matters. `expect` as in build_context_pack. Read them with build_context_pack or your own \
                 tools."
            }
            Self::Grep => {
                "Lines that match a regular expression, as ripgrep finds them, by file and enclosing \
                 definition: definitions first, then calls, then the rest, tests apart. What does not fit is \
                 counted by role and file."
            }
            Self::Locate => {
                "Definitions by exact name, Class.method, words of a name, or path:line, each with its \
                 place and signature."
            }
            Self::Callers => {
                "Who calls a function or method, or passes it on, resolved through imports, types and \
                 inheritance; then every other place of the name in the text that may be a call."
            }
            Self::Card => {
                "A definition in 400 tokens: signature, doc, owner, callers, callees and tests with their places. \
                 To read it whole, use its place."
            }
            Self::Refs => "Where a definition is used in any way: calls, types, imports, reads and writes.",
            Self::Callees => "What a function or method calls.",
            Self::Impact => {
                "What depends on a definition or file, step by step: look before changing a signature."
            }
            Self::Map => {
                "What this repository is: entry points, modules, settings it reads, files that touch disk, \
                 network or processes. For a first look; a task gets more from build_context_pack."
            }
        }
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
            Self::Map => (
                json!({"max_tokens": {"type": "integer", "minimum": MAP_TOKENS_MIN, "maximum": TOKENS_MAX,
                    "default": MAP_TOKENS_DEFAULT}}),
                "",
            ),
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
                    "max_tokens": {"type": "integer", "minimum": TOKENS_MIN, "maximum": TOKENS_MAX,
                        "default": GREP_TOKENS_DEFAULT},
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

/// What the caller expects in the code that answers.
fn expect() -> Value {
    json!({
        "type": "array", "items": {"type": "string"}, "maxItems": 64,
        "description": "Names and words that you expect in the code: likely function, type and variable names, \
            messages, terms; e.g. [\"parseRetryAfter\", \"backoff\", \"Retry-After\"]. [] if you have none"
    })
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
        "expect": expect(),
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
        "max_tokens": {"type": "integer", "minimum": TOKENS_MIN, "maximum": TOKENS_MAX,
            "default": CTL_BUDGET_TOKENS},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_of_a_name_is_understood() {
        for tool in Tool::ALL {
            for dotted in [false, true] {
                assert_eq!(Tool::named(tool.name(dotted)), Some(tool));
            }
            assert!(tool.description().len() <= 600, "{tool:?}");
            assert!(tool.name(false).chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        }
        assert_eq!(Tool::named("pack"), None);
    }
}
