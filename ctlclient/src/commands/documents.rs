//! `ctl map` and `ctl pack --as document`: Markdown documents for loops that render prompts from files.
//!
//! The index answers first. Where it cannot, because its first build is not complete or no daemon can be
//! reached, text search takes its place for the pack: `rg`, else `git grep`; without either the command
//! fails.

use super::pack::{PackArgs, SearchWith, Shape};
use super::{Target, check_page, current_dir, note, text_search, wait};
use crate::cli::{Common, WaitArgs, word};
use crate::failure::Failure;
use crate::output::{json_of, print_json, print_styled};
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::style::{safe, safe_line};
use indexd_proto::Method;
use indexd_proto::documents::{MapParams, MapResult, MarkdownParams, MarkdownResult};
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::repository_around;
use indexd_proto::request::{PackParams, Request};
use std::path::{Path, PathBuf};

/// Options of `map`.
#[derive(Debug, clap::Args)]
#[command(after_help = "At most 500 lines of Markdown, what matters first; with --json all as data.

Examples:
  ctl map --out repo_map.md
  ctl map --budget 2000               # for a model
  ctl map --as html --out map.html    # to look at
  ctl map --json | jq '.map.entrypoints'")]
pub struct MapArgs {
    /// markdown, or html: one page to look at, which needs nothing else
    #[arg(long = "as", value_name = "FORM", value_parser = word::<MapForm>, default_value = "markdown")]
    form: MapForm,
    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Tokens of the document, exactly counted, 500 to 90000 [default: 500 lines]
    #[arg(short, long, alias = "max-tokens", value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(500..=90_000))]
    budget: Option<u32>,
    /// Everything, however long
    #[arg(long, conflicts_with = "budget")]
    all: bool,
    /// Make it afresh even when an equal one is at hand
    #[arg(long, hide_short_help = true)]
    no_cache: bool,
    /// Requirements of the index.
    #[command(flatten)]
    wait: WaitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum MapForm {
    Markdown,
    Html,
}

/// Prints the map of a repository, or writes it to a file.
pub fn map(common: &Common, args: &MapArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let params = MapParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(wait(&args.wait)),
        progress: Progress::new(common.quiet).is_wanted(),
        no_cache: args.no_cache,
        max_tokens: args.budget,
        whole: args.all,
        page: args.form == MapForm::Html,
    };
    if params.page {
        super::text_only(common, "a page")?;
        check_page(args.out.as_deref())?;
    }
    if !args.wait.overlays.is_empty() {
        return Err(Failure::new(ErrorCode::NotSupported, "a map shows what is saved, not overlays"));
    }
    let line = Session::open(common)?.call(Method::Map, &params)?;
    let answer: MapResult = session::result(&line)?;
    let text = answer.page.as_deref().unwrap_or(&answer.markdown);
    put(common, args.out.as_deref(), text, || session::raw(&line).map(str::to_owned))?;
    note(common, &answer.envelope, &answer.warnings);
    Ok(())
}

/// Prints the context of a task as one Markdown document, or writes it to a file.
pub fn markdown(common: &Common, args: &PackArgs, query: &str) -> Result<(), Failure> {
    let with = match args.shape {
        Some(Shape::Document(with)) => with,
        _ => SearchWith::Auto,
    };
    let answer = match with {
        SearchWith::Rg | SearchWith::Git => by_tools(common, with, query, None)?,
        SearchWith::Index => by_index(common, args, query)?,
        SearchWith::Auto => match by_index(common, args, query) {
            Err(failure) if is_without_index(&failure) => by_tools(common, with, query, Some(&failure))?,
            answer => answer?,
        },
    };
    put(common, args.out.as_deref(), &answer.markdown, || json_of(&answer))?;
    match &answer.envelope {
        Some(envelope) => note(common, envelope, &answer.warnings),
        None => warn(common, &answer.warnings),
    }
    if let Some(why) = answer.insufficient_reason.as_deref().filter(|_| !common.quiet) {
        eprintln!("ctl: insufficient context: {}", safe_line(why));
    }
    Ok(())
}

fn warn(common: &Common, warnings: &[String]) {
    for warning in warnings.iter().filter(|_| !common.quiet) {
        eprintln!("ctl: warning: {}", safe_line(warning));
    }
}

fn by_index(common: &Common, args: &PackArgs, query: &str) -> Result<MarkdownResult, Failure> {
    let PackParams { call, request } = super::pack::params(common, args, query.to_owned())?;
    let plain = Request { query: request.query.clone(), include_explain: Some(false), ..Request::default() };
    if request != plain {
        return Err(Failure::hinted(
            ErrorCode::NotSupported,
            "a document has limits and sections of its own",
            "leave out the options that shape a pack; --param noCache=true may stand",
        ));
    }
    let params = MarkdownParams {
        repo: call.repo,
        cwd: call.cwd,
        query: query.to_owned(),
        wait: call.wait,
        progress: call.progress,
        no_cache: call.no_cache,
    };
    Session::open(common)?.ask(Method::PackMarkdown, &params)
}

/// Whether a failure says that there is no index to ask.
fn is_without_index(failure: &Failure) -> bool {
    use ErrorCode as C;
    matches!(failure.code(), Some(C::Indexing | C::IndexMissing | C::DaemonUnavailable | C::Storage))
}

fn by_tools(
    common: &Common,
    with: SearchWith,
    query: &str,
    failure: Option<&Failure>,
) -> Result<MarkdownResult, Failure> {
    let root = root(common)?;
    let candidates = indexd_task::queries::candidates(query);
    let found = text_search::find(&root, &candidates, with)?;
    let read = |path: &str| text_search::read(&root, path);
    let n_files = found.paths.len();
    let (queries, files, n_found) = indexd_task::hits::files(&candidates, &found.lines, n_files, &read);
    let note = format!("Searched with {}; call sites and tests were not looked for.", found.by);
    let document = indexd_task::document::write(query, queries, files, n_found, &note);
    let mut warnings = Vec::new();
    if let Some(Failure::Error(e)) = failure {
        warnings.push(format!("the index was not used ({}): {}", e.data.code.name(), e.message));
    }
    warnings.push("made without the index: secrets in the text of files are not replaced".to_owned());
    Ok(MarkdownResult { warnings, ..MarkdownResult::of(document) })
}

/// The root of the repository as it is found without a daemon: the one named, else the nearest folder
/// above with `.git`, else the current one.
fn root(common: &Common) -> Result<PathBuf, Failure> {
    let start = match &common.repo {
        Some(dir) => dir.clone(),
        None => current_dir()?,
    };
    let start = std::fs::canonicalize(&start).map_err(|e| {
        Failure::new(ErrorCode::WorkspaceInvalid, format!("cannot open {}: {e}", start.display()))
    })?;
    Ok(repository_around(&start).filter(|_| common.repo.is_none()).unwrap_or(&start).to_owned())
}

/// Prints a document or its JSON, or writes the document to a file: the whole one or none.
fn put(
    common: &Common,
    out: Option<&Path>,
    markdown: &str,
    json: impl FnOnce() -> Result<String, Failure>,
) -> Result<(), Failure> {
    if let Some(path) = out {
        super::write_file(path, markdown)?;
    }
    match out {
        _ if common.json => print_json(&json()?),
        Some(_) => Ok(()),
        None => print_styled(&safe(markdown)),
    }
}
