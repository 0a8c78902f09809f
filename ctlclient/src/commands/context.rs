//! `ctl context show`: what a pack held and what it cost, for people who wonder why something is in it.

use super::{Target, print_of};
use crate::cli::Common;
use crate::failure::Failure;
use crate::session::{Session, Start};
use crate::style::{Style, count, number, safe_line};
use indexd_proto::Method;
use indexd_proto::shown::{ContextSummary, ShowParams, ShownChunk, ShownSource};
use indexd_proto::sources::SourceType;

/// Length of the rule below the title.
const RULE: usize = 20;

/// Options of `context`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl context show")]
pub struct ContextArgs {
    #[command(subcommand)]
    command: ContextCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ContextCommand {
    /// Print what a pack held and cost: budget, sources, chunks, settings
    #[command(after_help = "Examples:
  ctl context show
  ctl context show --pack-id pack:sha256:1f0c... --json")]
    Show {
        /// The pack, one of the latest or one that was written [default: the last
        /// one of this repository]
        #[arg(long, value_name = "ID")]
        pack_id: Option<String>,
    },
}

/// Prints the summary of the last pack of a repository, or of the one that is named.
pub fn context(common: &Common, args: &ContextArgs) -> Result<(), Failure> {
    let ContextCommand::Show { pack_id } = &args.command;
    let target = Target::of(common)?;
    let params = ShowParams { repo: target.repo, cwd: target.cwd, pack_id: pack_id.clone() };
    // Only the daemon that runs remembers; a record is read by any.
    let start = if pack_id.is_some() { Start::Auto } else { Start::Never };
    let mut session = Session::connect(common, start)?;
    print_of(common, &mut session, Method::ContextShow, &params, text)?;
    Ok(())
}

fn text(s: &ContextSummary, style: Style) -> String {
    let b = &s.budget;
    let mut out = format!("{}\n{}\n", style.bold("Context Summary"), "─".repeat(RULE));
    out += &format!("Total budget: {} tokens\n", number(b.total_tokens));
    out += &format!("Used: {} tokens ({}%)\n", number(b.used_tokens), b.used_percent);
    if b.available_tokens != b.total_tokens {
        out += &format!("Available for content: {} tokens\n", number(b.available_tokens));
    }
    if let Some(id) = &s.pack_id {
        out += &style.dim(&format!("Pack: {}\n", safe_line(id)));
    }
    out += "\nSources:\n";
    for source in &s.sources {
        out += &format!("  {}\n", source_line(source));
    }
    let in_chunks: u64 = s.sources.iter().map(|source| source.tokens).sum();
    if let Some(frames) = b.used_tokens.checked_sub(in_chunks).filter(|n| *n > 0) {
        out += &format!("  {}\n", style.dim(&format!("Headers and marks: {} tokens", number(frames))));
    }
    out += "\nChunks:\n";
    for (i, chunk) in s.chunks.iter().enumerate() {
        out += &format!("  {}. {}\n", i + 1, chunk_line(chunk, style));
    }
    out += "\nSettings:\n";
    for (key, value) in &s.settings {
        out += &format!("  {key} = {}\n", safe_line(&value.to_string()));
    }
    out
}

/// The name of a kind of sources, their unit, one and many, and the tag of their chunks.
fn words_of(kind: SourceType) -> [&'static str; 4] {
    match kind {
        SourceType::ToolResult => ["Tool results", "item", "items", "[tool]"],
        SourceType::OpenFile => ["Open files", "file", "files", "[open]"],
        SourceType::SearchResult => ["Search results", "chunk", "chunks", "[search]"],
        SourceType::Reference => ["References", "chunk", "chunks", "[ref]"],
    }
}

fn source_line(s: &ShownSource) -> String {
    let [name, one, many, _] = words_of(s.kind);
    format!("{name}: {} tokens ({})", number(s.tokens), count(s.n, one, many))
}

fn chunk_line(c: &ShownChunk, style: Style) -> String {
    let [.., tag] = words_of(c.origin);
    let place = match &c.file_path {
        Some(path) => format!("{}:{}-{}", style.path(&safe_line(path)), c.start_line, c.end_line),
        None => format!("lines {}-{}", c.start_line, c.end_line),
    };
    format!("{place} ({} tokens) {}", number(c.tokens), style.dim(tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::shown::ShownBudget;

    #[test]
    fn the_summary_has_all_its_parts() {
        let chunk = |path: Option<&str>, tokens, origin| ShownChunk {
            file_path: path.map(str::to_owned),
            start_line: 1,
            end_line: 50,
            tokens,
            origin,
        };
        let chunks = vec![
            chunk(None, 15_234, SourceType::ToolResult),
            chunk(Some("src/a.go"), 2_000, SourceType::OpenFile),
            chunk(Some("src/b.go"), 28_000, SourceType::SearchResult),
        ];
        let summary = ContextSummary {
            budget: ShownBudget::new(100_000, 90_000, 45_234),
            sources: ContextSummary::sources_of(&chunks),
            chunks,
            settings: [("relevanceWeight".to_owned(), 0.5.into())].into(),
            ..ContextSummary::default()
        };
        let expected = "\
Context Summary
────────────────────
Total budget: 100,000 tokens
Used: 45,234 tokens (45%)
Available for content: 90,000 tokens

Sources:
  Tool results: 15,234 tokens (1 item)
  Open files: 2,000 tokens (1 file)
  Search results: 28,000 tokens (1 chunk)

Chunks:
  1. lines 1-50 (15,234 tokens) [tool]
  2. src/a.go:1-50 (2,000 tokens) [open]
  3. src/b.go:1-50 (28,000 tokens) [search]

Settings:
  relevanceWeight = 0.5
";
        assert_eq!(text(&summary, Style::plain(80)), expected);
    }
}
