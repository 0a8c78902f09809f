//! Options of `ctl pack`.

use super::{WaitArgs, tokens};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `pack` and `preview`.
#[derive(Debug, Args)]
pub struct PackArgs {
    /// The task in words, quoted or not; `-` reads it from standard input
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Names and words that you expect in the code that answers, or the question in
    /// other words; wrong guesses cost nothing. May be repeated
    #[arg(short, long, value_name = "WORDS")]
    pub expect: Vec<String>,
    /// The task in words
    #[arg(long = "query", value_name = "TEXT", conflicts_with = "query")]
    pub query_text: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "query_text"])]
    pub query_file: Option<PathBuf>,
    /// Tokens of the whole answer, exactly counted
    /// [default: as configured, else 4000]
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens)]
    pub budget: Option<u64>,
    /// Sections: graph (how it was reached), agent (what it is) or flat (one list)
    #[arg(short, long, value_name = "LAYOUT")]
    pub layout: Option<String>,
    /// answer; summarize (outlines, entry points), refactor (every use), debug (messages,
    /// recent changes), impact (who depends), contract (exports, documents, tests);
    /// review orders a change for a reviewer
    #[arg(long, value_name = "INTENT")]
    pub intent: Option<String>,
    /// What a change does, before and after, and what it reaches: A..B, A...B,
    /// A (to the work tree), - (a patch on standard input), or without a value
    /// all that is not committed
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "", group = "change")]
    pub diff: Option<String>,
    /// The same of what is staged
    #[arg(long, group = "change")]
    pub staged: bool,
    /// The same of what is not staged
    #[arg(long, group = "change")]
    pub worktree: bool,
    /// Show signals and what was left out
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub explain: Option<bool>,
    /// Fill the budget; without it a pack ends where more is worth little
    #[arg(long)]
    pub fill: bool,
    /// What you have already: ids of packs or chunk uids; they come back as places only
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub seen: Option<Vec<String>>,
    /// Print the budgeted text itself on a terminal too, as pipes and models get it
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// Print places and reasons without the code
    #[arg(long)]
    pub brief: bool,
    /// Choose on the terminal: drop and add items, watch the budget, then print or
    /// copy the text
    #[arg(short, long, conflicts_with_all = ["json", "text", "brief", "html", "format", "record", "overlays"])]
    pub interactive: bool,
    /// Write a page to look at: one HTML file that needs nothing else; without
    /// FILE to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with_all = ["json", "text", "brief", "record"])]
    pub html: Option<PathBuf>,
    /// md: one Markdown document of at most 12 files, 50 lines of each, 50 kB
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["text", "brief", "write", "read"])]
    pub format: Option<Format>,
    /// Write the document of --format to FILE
    #[arg(long, value_name = "FILE", requires = "format")]
    pub out: Option<PathBuf>,
    /// What searches for --format: the index, else rg, else git grep
    #[arg(long, value_name = "WITH", default_value = "auto", requires = "format")]
    pub search: SearchWith,

    /// An entity to start from, by symbol id
    #[arg(long, value_name = "ID", help_heading = "Seeds", group = "focus")]
    pub focus_symbol: Option<String>,
    /// An entity to start from, by chunk uid
    #[arg(long, value_name = "UID", help_heading = "Seeds", group = "focus")]
    pub focus_chunk: Option<String>,
    /// A file to start from
    #[arg(long, value_name = "PATH", help_heading = "Seeds", group = "focus")]
    pub focus_file: Option<String>,
    /// code, prose or mixed
    #[arg(long, value_name = "MODE", help_heading = "Seeds")]
    pub seed_mode: Option<String>,
    /// sparse, fts, ann or hybrid
    #[arg(long, value_name = "PROVIDER", help_heading = "Seeds")]
    pub seed_provider: Option<String>,

    /// Hops along edges, at most 4
    #[arg(long, value_name = "N", help_heading = "Expansion")]
    pub hops: Option<u32>,
    /// Edges to follow: call,usage,import,export,dataflow
    #[arg(long, value_name = "KINDS", value_delimiter = ',', help_heading = "Expansion")]
    pub edges: Option<Vec<String>>,
    /// out (callees), in (callers) or both
    #[arg(long, value_name = "WAY", help_heading = "Expansion")]
    pub direction: Option<String>,
    /// Consider neighbours in the file of a hit
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Expansion")]
    pub same_file: Option<bool>,
    /// Add (or, with =false, remove) import edges
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Expansion")]
    pub imports: Option<bool>,
    /// Add or remove export edges
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Expansion")]
    pub exports: Option<bool>,
    /// Add or remove dataflow edges
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Expansion")]
    pub dataflow: Option<bool>,
    /// Follow only edges with evidence
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Expansion")]
    pub require_evidence: Option<bool>,
    /// Evidence that counts: callsite,identifier,importStmt,span,tooling
    #[arg(long, value_name = "KINDS", value_delimiter = ',', help_heading = "Expansion")]
    pub evidence: Option<Vec<String>>,

    /// Characters, at most 2000000
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_chars: Option<u64>,
    /// Items, at most 250
    /// [default: as configured, else 250]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_items: Option<u64>,
    /// Items of one section, at most 80
    /// [default: as configured, else 80]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_items_per_section: Option<u64>,
    /// Bytes of one excerpt, at most 64000
    /// [default: as configured, else 16000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_bytes_per_item: Option<u64>,
    /// Gross window in tokens, less two reserves; instead of --budget
    #[arg(long, value_name = "TOKENS", value_parser = tokens, conflicts_with = "budget", help_heading = "Limits")]
    pub context_window: Option<u64>,
    /// Tokens of the window kept for the response
    #[arg(long, value_name = "TOKENS", requires = "context_window", help_heading = "Limits")]
    pub response_reserve: Option<i64>,
    /// Tokens of the window kept for the system prompt
    #[arg(long, value_name = "TOKENS", requires = "context_window", help_heading = "Limits")]
    pub system_reserve: Option<i64>,
    /// What counts tokens [default: as configured]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = ["o200k_base", "cl100k_base", "generic", "claude"],
        help_heading = "Limits"
    )]
    pub tokenizer: Option<String>,
    /// strict, warn or loose, at hard caps and where evidence lacks
    #[arg(long, value_name = "LEVEL", help_heading = "Limits")]
    pub strictness: Option<String>,

    /// seedScore, graphDistance, graphEvidence or hybridScore
    #[arg(long, value_name = "KEY", help_heading = "Order")]
    pub order_by: Option<String>,
    /// Between equals: symbolId,chunkUid,fileRelPath,startLine
    #[arg(long, value_name = "KEYS", value_delimiter = ',', help_heading = "Order")]
    pub tie_breakers: Option<Vec<String>>,
    /// Scoring profile: graph, sources or task
    #[arg(long, value_name = "PROFILE", help_heading = "Order")]
    pub scoring: Option<String>,
    /// What the budgeted text looks like: text, markdown, json or template
    #[arg(long, value_name = "NAME", help_heading = "Order")]
    pub renderer: Option<String>,
    /// Write the budgeted text by a template in Jinja's language and print it; - reads
    /// it from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["renderer", "format", "html", "interactive"], help_heading = "Order")]
    pub template: Option<PathBuf>,

    /// Any member of the request as JSON: --param budgets.maxItems=10
    #[arg(long, value_name = "KEY=JSON", help_heading = "Request")]
    pub param: Vec<String>,
    /// Answer from this state of the index only
    #[arg(long, value_name = "SIGNATURE", help_heading = "Request")]
    pub signature: Option<String>,
    /// Assemble afresh even when an equal pack is at hand
    #[arg(long, help_heading = "Request")]
    pub no_cache: bool,
    /// Keep a record of the pack and print its id
    #[arg(long, conflicts_with = "text", group = "record", help_heading = "Request")]
    pub write: bool,
    /// Print the record of --pack-id
    #[arg(long, requires = "pack_id", group = "record", help_heading = "Request")]
    pub read: bool,
    /// The record to read, or the id that --write must come to
    #[arg(long, value_name = "ID", requires = "record", help_heading = "Request")]
    pub pack_id: Option<String>,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

impl PackArgs {
    /// Options that say what becomes of the text, by their ids.
    pub const NOT_OF_PREVIEW: [&str; 11] = [
        "text",
        "brief",
        "interactive",
        "html",
        "format",
        "out",
        "search",
        "template",
        "write",
        "read",
        "pack_id",
    ];

    /// One of them that is given.
    pub fn is_about_text(&self) -> bool {
        [self.text, self.brief, self.interactive, self.write, self.read].contains(&true)
            || self.html.is_some()
            || self.format.is_some()
            || self.template.is_some()
    }

    /// Whether anything says what to pack: a task, a change, a place, or some member of the request.
    pub fn names_something(&self, query: Option<&str>) -> bool {
        let focus = [&self.focus_symbol, &self.focus_chunk, &self.focus_file];
        query.is_some_and(|q| !q.trim().is_empty())
            || !self.expect.is_empty()
            || self.staged
            || self.worktree
            || self.diff.is_some()
            || focus.into_iter().any(Option::is_some)
            || !self.param.is_empty()
    }
}

/// A form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One Markdown document
    Md,
}

/// What searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchWith {
    /// The index where it can be asked, else rg, else git grep
    Auto,
    /// The index alone
    Index,
    /// rg, without the index
    Rg,
    /// git grep, without the index
    Git,
}
