//! Options of commands that look things up.

use super::{WaitArgs, tokens};
use clap::Args;
use std::path::PathBuf;

/// Options of `search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for, quoted or not; `-` reads it from standard input
    #[arg(required_unless_present = "expect")]
    pub query: Vec<String>,
    /// Names and words that you expect in the code that answers; wrong guesses cost
    /// nothing. May be repeated
    #[arg(short, long, value_name = "WORDS")]
    pub expect: Vec<String>,
    /// Hits at most [default: 10, for a plain question 20]
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<u32>,
    /// Name callers, callees and tests of each hit
    #[arg(long)]
    pub neighbors: bool,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Names, Class.method, path:line, path:first-last, path, or symbol ids
    #[arg(required = true)]
    pub what: Vec<String>,
    /// Tokens of the text
    #[arg(short, long, value_name = "TOKENS", value_parser = tokens, default_value = "4000")]
    pub budget: u64,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `symbol`.
#[derive(Debug, Args)]
pub struct SymbolArgs {
    /// A name, words of one, Class.method, path:line, or a symbol id
    pub name: String,
    /// Definitions at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `card`.
#[derive(Debug, Args)]
pub struct CardArgs {
    /// A name, Class.method, path:line, or a symbol id
    pub symbol: String,
    /// Tokens of the card (o200k_base), 100 to 2000
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub max_tokens: u32,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// A file or folder; it need not exist
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub path: String,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `callers`.
#[derive(Debug, Args)]
pub struct CallersArgs {
    /// Those of the other graph commands.
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Shown always: callers of what a method implements or overrides
    #[arg(long, hide = true)]
    pub dispatch: bool,
}

/// Options of the graph commands.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// A name, Class.method, a symbol id, a path, or path:line
    pub symbol: String,
    /// Steps to follow, at most 4 [default: 1; impact: 3]
    #[arg(short, long, value_name = "N")]
    pub depth: Option<u32>,
    /// Edges at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    pub limit: u32,
    /// Name everything: each definition, each place without an edge, 2000 edges
    #[arg(long, conflicts_with = "limit")]
    pub all: bool,
    /// Leave out edges below this, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    pub min_confidence: u8,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct PictureArgs {
    /// A name, Class.method, a symbol id, a path, or path:line
    pub symbol: String,
    /// Draw it as SVG
    #[arg(long, group = "picture", conflicts_with = "json")]
    pub svg: bool,
    /// Write it for Graphviz
    #[arg(long, group = "picture", conflicts_with = "json")]
    pub dot: bool,
    /// Write it as a Mermaid flow chart, for Markdown
    #[arg(long, group = "picture", conflicts_with = "json")]
    pub mermaid: bool,
    /// Write the picture to FILE instead of standard output
    #[arg(long, value_name = "FILE", requires = "picture")]
    pub out: Option<PathBuf>,
    /// Steps to follow, at most 4
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub depth: u32,
    /// Edges at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 60)]
    pub limit: u32,
    /// Leave out edges below this, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    pub min_confidence: u8,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}
