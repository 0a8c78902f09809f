//! `ctl pack`: the code that a task needs.

use super::pack_text::Parts;
use super::{
    asked, check_page, input, note, pack_text, print_own, put, query, standard_input, terminal, write_file,
};
use crate::cli::{Common, WaitArgs, tokens, word};
use crate::code::Code;
use crate::failure::Failure;
use crate::output::print_json;
use crate::session::{self, Session};
use crate::style::{Style, safe_line};
use clap::ValueEnum;
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::limits::{
    CTL_BUDGET_TOKENS, CTL_BYTES_PER_ITEM, CTL_ITEMS, CTL_ITEMS_PER_SECTION, PATCH_BYTES_MAX,
    TEMPLATE_BYTES_MAX,
};
use indexd_proto::pack::Pack;
use indexd_proto::printed::PackRecord;
use indexd_proto::request::{
    BudgetsRequest, CallOptions, ChangeRequest, Focus, Intent, Layout, PackGetParams, PackGetResult,
    PackParams, PackResult, Renderer, Request, Stop,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Options of `pack`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl pack \"where is the retry delay decided\" -e 'backoff Retry-After jitter'
  ctl pack Client.get --fill --budget 8000                  # all that fits
  git log -1 --format=%B | ctl pack -
  ctl pack --diff main...HEAD --intent review               # for a reviewer
  ctl pack \"and who retries\" --seen pack:sha256:1f0c...     # nothing twice
  ctl pack -i \"where is the retry decided\" > context.md     # choose first
  ctl pack \"where is it\" --as html --out pack.html
  ctl pack \"x\" --param expansion.direction=in
  ctl pack \"why does it fail\" --sources offered.jsonl     # what you have")]
pub struct PackArgs {
    /// The task in words, quoted or not; `-` reads it from standard input
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Names and words that you expect in the code that answers, or the question in
    /// other words; wrong guesses cost nothing. May be repeated
    #[arg(short, long, value_name = "WORDS")]
    pub expect: Vec<String>,
    /// Tokens of the whole answer, exactly counted
    /// [default: as configured, else 4000]
    #[arg(short, long, alias = "max-tokens", value_name = "TOKENS", value_parser = tokens)]
    pub budget: Option<u64>,
    /// Fill the budget; without it a pack ends where more is worth little
    #[arg(long)]
    pub fill: bool,
    /// answer; summarize (outlines, entry points), refactor (every use), debug (messages,
    /// recent changes), impact (who depends), contract (exports, documents, tests);
    /// review orders a change for a reviewer
    #[arg(long, value_name = "INTENT", value_parser = word::<Intent>)]
    pub intent: Option<Intent>,
    /// What a change does, before and after, and what it reaches: A..B, A...B,
    /// A (to the work tree), - (a patch on standard input), or without a value
    /// all that is not committed
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "", group = "change")]
    pub diff: Option<String>,
    /// The same of what is staged
    #[arg(long, group = "change")]
    pub staged: bool,
    /// What you have already: ids of packs or chunk uids; they come back as places only
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub seen: Vec<String>,
    /// text (as pipes and models get it), places (without code), markdown, json, html
    /// (a page), document (at most 12 files, 50 lines of each; document=index, =rg or =git
    /// says what searches), or template=FILE
    #[arg(long = "as", value_name = "FORM", value_parser = Shape::of)]
    pub shape: Option<Shape>,
    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Choose on the terminal: drop and add items, watch the budget, then print or
    /// copy the text
    #[arg(short, long, conflicts_with_all = ["json", "shape", "out", "record", "overlays"])]
    pub interactive: bool,
    /// Show signals and what was left out
    #[arg(long)]
    pub explain: bool,
    /// Pack what FILE (- for standard input) offers and not what the index finds: a JSON
    /// object a line, with sourceType (toolResult, openFile, searchResult, reference),
    /// content, filePath, lineRange, relevanceScore, timestamp. Without --budget the
    /// window of the settings
    #[arg(long, value_name = "FILE", conflicts_with_all = ["expect", "fill", "intent", "change", "seen", "interactive", "explain", "focus_file", "layout", "param", "record", "overlays"])]
    pub sources: Option<PathBuf>,
    /// A file to start from
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub focus_file: Option<String>,
    /// Sections: graph (how it was reached), agent (what it is) or flat (one list)
    #[arg(short, long, value_name = "LAYOUT", value_parser = word::<Layout>, hide_short_help = true)]
    pub layout: Option<Layout>,
    /// Any member of the request: --param budgets.maxItems=10 --param strictness=strict
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// Keep a record of the pack and print its id; with =ID only if it has that id
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "", group = "record", conflicts_with = "shape", hide_short_help = true)]
    pub write: Option<String>,
    /// Print the record of a pack
    #[arg(long, value_name = "ID", group = "record", conflicts_with = "query", hide_short_help = true)]
    pub read: Option<String>,
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// A form of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text within the budget, as one of our renderers writes it.
    Text(Renderer),
    /// Text by a template in a file.
    Template(PathBuf),
    /// Places and reasons.
    Places,
    /// A page to look at.
    Html,
    /// One Markdown document of few files.
    Document(SearchWith),
}

impl Shape {
    fn of(name: &str) -> Result<Self, String> {
        Ok(match name.split_once('=').unwrap_or((name, "")) {
            ("template", file) if !file.is_empty() => Self::Template(file.into()),
            ("text", "") => Self::Text(Renderer::Text),
            ("markdown", "") => Self::Text(Renderer::Markdown),
            ("json", "") => Self::Text(Renderer::Json),
            ("places", "") => Self::Places,
            ("html", "") => Self::Html,
            ("document", "") if name == "document" => Self::Document(SearchWith::Auto),
            ("document", with) => Self::Document(SearchWith::from_str(with, false)?),
            _ => return Err("write text, places, markdown, json, html, document or template=FILE".to_owned()),
        })
    }
}

/// The tool that searches.
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

/// Assembles a pack and prints it.
pub fn pack(common: &Common, args: &PackArgs) -> Result<(), Failure> {
    if args.interactive {
        return super::handed_over::to_more(common, args);
    }
    if let Some(pack_id) = &args.read {
        return read(common, args, pack_id);
    }
    let query = query(&args.query)?;
    if let Some(file) = &args.sources {
        return super::pack_sources::pack(common, args, file, query);
    }
    let is_page = args.shape == Some(Shape::Html);
    if matches!(args.shape, Some(Shape::Document(_))) {
        return super::documents::markdown(common, args, &query);
    }
    if is_page {
        super::text_only(common, "a page")?;
        check_page(args.out.as_deref())?;
    }
    let mut session = Session::open(common)?;
    let style = Style::of_code(common);
    let mut params = params(common, args, query)?;
    params.call.rendered = prints_text(common, args);
    params.call.page = is_page;
    if let Some(wanted) = args.write.as_deref().filter(|id| !id.is_empty()) {
        // Nothing is kept of a pack that is another one.
        let line = session.call(Method::Pack, &params)?;
        let answer: PackResult = session::result(&line)?;
        check_id(&parse(answer.pack)?, wanted)?;
        params.request.index_signature = Some(answer.envelope.index_signature);
    }
    params.call.write = args.write.is_some();
    let line = session.call(Method::Pack, &params)?;
    let answer: PackResult = session::result(&line)?;
    print(common, args, &mut session, style, &answer)?;
    let mut warnings = warnings(answer.pack)?;
    // A text says itself that nothing was found.
    if !common.json && args.write.is_none() {
        warnings.retain(|w| w != ErrorCode::NoContent.name());
    }
    note(common, &answer.envelope, &warnings);
    Ok(())
}

/// True if the budgeted text is printed: into pipes, into files and on demand.
fn prints_text(common: &Common, args: &PackArgs) -> bool {
    // Colours in a pipe were asked for: they go to a pager.
    let is_seen = Style::of_stdout(common).is_view;
    match args.shape {
        Some(Shape::Text(_) | Shape::Template(_)) => !common.json,
        Some(_) => false,
        None => {
            let is_for_people = is_seen && args.out.is_none() || args.explain;
            !(common.json || args.write.is_some() || is_for_people)
        }
    }
}

/// Prints a pack as JSON, by its id, as a page, as the budgeted text, or for people.
fn print(
    common: &Common,
    args: &PackArgs,
    session: &mut Session,
    style: Style,
    answer: &PackResult,
) -> Result<(), Failure> {
    let to = args.out.as_deref();
    if args.write.is_some() {
        let record = PackRecord { pack_id: parse(answer.pack)?.pack_id };
        return print_own(common, "PackRecord", &record, |r, _| format!("{}\n", safe_line(&r.pack_id)));
    }
    if common.json {
        return print_json(answer.pack.get());
    }
    match answer.page.as_ref().or(answer.rendered.as_ref()) {
        Some(text) if text.is_empty() => put(to, &format!("{}\n", pack_text::nothing(&parse(answer.pack)?))),
        Some(text) => put(to, text),
        None => look(common, args, session, style, &parse(answer.pack)?),
    }
}

/// Prints a pack for people, or writes it to the file that was named.
fn look(
    common: &Common,
    args: &PackArgs,
    session: &mut Session,
    style: Style,
    pack: &Pack,
) -> Result<(), Failure> {
    let parts = Parts { brief: args.shape == Some(Shape::Places), signals: args.explain };
    if let Some(path) = args.out.as_deref() {
        return write_file(path, &pack_text::render(pack, Style::plain(100), &Code::default(), parts));
    }
    terminal::print(common, session, style, pack_text::places(pack), |code| {
        pack_text::render(pack, style, code, parts)
    })
}

/// Refuses a pack with another id than the one that was named.
fn check_id(pack: &Pack, wanted: &str) -> Result<(), Failure> {
    if pack.pack_id == wanted {
        return Ok(());
    }
    Err(Failure::hinted(
        ErrorCode::PackNotFound,
        format!("the pack is {}, not {}", pack.pack_id, safe_line(wanted)),
        "the tree, the request or the configuration is another one; give --write without an id to keep this pack",
    ))
}

/// Prints a record.
fn read(common: &Common, args: &PackArgs, pack_id: &str) -> Result<(), Failure> {
    let target = super::Target::of(common)?;
    let params = PackGetParams { repo: target.repo, cwd: target.cwd, pack_id: pack_id.to_owned() };
    let mut session = Session::open(common)?;
    let line = session.call(Method::PackGet, &params)?;
    let got: PackGetResult = session::result(&line)?;
    if !common.json {
        return look(common, args, &mut session, Style::of_code(common), &parse(got.pack)?);
    }
    print_json(got.pack.get())
}

/// The warnings of a pack that is passed on as it came.
fn warnings(pack: &RawValue) -> Result<Vec<String>, Failure> {
    #[derive(serde::Deserialize)]
    struct Warnings {
        #[serde(default)]
        warnings: Vec<String>,
    }
    serde_json::from_str(pack.get()).map(|w: Warnings| w.warnings).map_err(shape)
}

pub(super) fn parse(pack: &RawValue) -> Result<Pack, Failure> {
    serde_json::from_str(pack.get()).map_err(shape)
}

fn shape(e: serde_json::Error) -> Failure {
    Failure::new(ErrorCode::ContractVersion, format!("the pack has another shape: {e}"))
}

/// The parameters of a pack.
pub(super) fn params(common: &Common, args: &PackArgs, query: String) -> Result<PackParams, Failure> {
    let request = request(args, query)?;
    if request.query.trim().is_empty()
        && request.expect.is_empty()
        && request.change.is_none()
        && request.focus.is_none()
        && args.param.is_empty()
    {
        return Err(Failure::hinted(
            ErrorCode::InvalidRequest,
            "there is no task",
            "write ctl pack where is X decided --expect 'names and words of its code', or ctl pack --diff",
        ));
    }
    let call = asked!(CallOptions, common, &args.wait, {
        default_budgets: Some(default_budgets()),
        ..CallOptions::default()
    });
    with_params(PackParams { call, request }, &args.param)
}

/// The limits of packs that people and their agents ask for.
pub(super) fn default_budgets() -> BudgetsRequest {
    BudgetsRequest {
        max_total_tokens: Some(CTL_BUDGET_TOKENS),
        max_bytes_per_item: Some(CTL_BYTES_PER_ITEM),
        max_items: Some(CTL_ITEMS),
        max_items_per_section: Some(CTL_ITEMS_PER_SECTION),
        ..BudgetsRequest::default()
    }
}

/// The request that the options make.
fn request(args: &PackArgs, query: String) -> Result<Request, Failure> {
    let (renderer, template) = match &args.shape {
        Some(Shape::Text(renderer)) => (Some(*renderer), None),
        Some(Shape::Template(file)) => (Some(Renderer::Template), Some(template(file)?)),
        _ => (None, None),
    };
    Ok(Request {
        query,
        expect: args.expect.clone(),
        intent: args.intent,
        focus: args.focus_file.clone().map(|path| Focus { file_rel_path: Some(path), ..Focus::default() }),
        change: change(args)?,
        budgets: BudgetsRequest {
            max_total_tokens: args.budget,
            stop: args.fill.then_some(Stop::Budget),
            ..BudgetsRequest::default()
        },
        // The envelope doubles the size of a pack.
        include_explain: Some(args.explain || args.shape == Some(Shape::Html)),
        layout: args.layout,
        renderer,
        template,
        seen: args.seen.clone(),
        ..Request::default()
    })
}

/// The parameters with members that `--param` names; a value that is not JSON is a text.
fn with_params(asked: PackParams, params: &[String]) -> Result<PackParams, Failure> {
    if params.is_empty() {
        return Ok(asked);
    }
    let mut root = serde_json::to_value(asked).map_err(shape)?;
    for param in params {
        let bad = || {
            let message = format!("--param {} does not name a member", safe_line(param));
            Failure::hinted(ErrorCode::InvalidRequest, message, "write --param budgets.maxItems=10")
        };
        let (path, value) = param.split_once('=').ok_or_else(bad)?;
        let mut at = &mut root;
        for name in path.split('.') {
            if at.is_null() {
                *at = Value::Object(Map::new());
            }
            at = at.as_object_mut().ok_or_else(bad)?.entry(name).or_insert(Value::Null);
        }
        *at = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    PackParams::from_json(root).map_err(|e| Failure::new(e.code(), e.to_string()))
}

/// The change that the pack is about.
fn change(args: &PackArgs) -> Result<Option<ChangeRequest>, Failure> {
    let mut change = ChangeRequest { staged: args.staged, ..ChangeRequest::default() };
    match args.diff.as_deref() {
        Some("-") => change.patch = Some(standard_input("patch", PATCH_BYTES_MAX)?),
        Some(range) => change.diff = Some(range.to_owned()),
        None if !args.staged => return Ok(None),
        None => {}
    }
    Ok(Some(change))
}

/// The text of a template; the daemon says what is wrong with it.
pub(super) fn template(file: &Path) -> Result<String, Failure> {
    input(file, TEMPLATE_BYTES_MAX).map_err(|e| {
        let message = format!("cannot read the template from {}: {e}", file.display());
        Failure::hinted(ErrorCode::WorkspaceInvalid, message, "name an existing text file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;
    use serde_json::json;

    fn args(line: &[&str]) -> PackArgs {
        let words = ["ctl", "pack"].iter().chain(line);
        let matches = crate::cli::command().try_get_matches_from(words).unwrap();
        PackArgs::from_arg_matches(matches.subcommand().unwrap().1).unwrap()
    }

    fn asked(line: &[&str]) -> Result<PackParams, Failure> {
        let args = args(line);
        let request = request(&args, query(&args.query)?)?;
        with_params(PackParams { request, ..PackParams::default() }, &args.param)
    }

    fn check(line: &[&str], expect: Value) {
        assert_eq!(serde_json::to_value(asked(line).unwrap()).unwrap(), expect, "{line:?}");
    }

    #[test]
    fn every_option_becomes_a_member() {
        check(&["where is it"], json!({"query": "where is it", "includeExplain": false}));
        check(
            &["x", "-b", "4k", "--layout", "agent", "--intent", "debug", "--as", "markdown", "--explain"],
            json!({
                "query": "x", "layout": "agent", "intent": "debug", "renderer": "markdown", "includeExplain": true,
                "budgets": {"maxTotalTokens": 4000},
            }),
        );
        check(
            &[
                "x",
                "--budget=9",
                "--param",
                "contextBudget.totalTokens=100000",
                "--param",
                "expansion.edgeTypes=[\"call\"]",
                "--param",
                "ordering.primary=seedScore",
                "--param",
                "budgets.maxItems=3",
                "--param",
                "budgets.maxTotalTokens=null",
            ],
            json!({
                "query": "x", "includeExplain": false, "contextBudget": {"totalTokens": 100000},
                "expansion": {"edgeTypes": ["call"]}, "budgets": {"maxItems": 3}, "ordering": {"primary": "seedScore"},
            }),
        );
        check(&["--focus-file", "a.go"], json!({"includeExplain": false, "focus": {"fileRelPath": "a.go"}}));
        check(&["--diff", "--as", "html"], json!({"includeExplain": true, "change": {"diff": ""}}));
        check(
            &["x", "--param", "noCache=true"],
            json!({"query": "x", "includeExplain": false, "noCache": true}),
        );
        check(&["--staged"], json!({"includeExplain": false, "change": {"staged": true}}));
        check(
            &["who", "asks", "--fill", "-e", "a b", "--expect", "c", "--seen", "pack:sha256:1,b3:2@head"],
            json!({
                "query": "who asks", "expect": ["a b", "c"], "includeExplain": false,
                "budgets": {"stop": "budget"}, "seen": ["pack:sha256:1", "b3:2@head"],
            }),
        );
    }

    #[test]
    fn refuses_parameters_that_are_not_members() {
        for (param, code) in [
            ("a", ErrorCode::InvalidRequest),
            ("a=", ErrorCode::NotSupported),
            ("query.a=1", ErrorCode::InvalidRequest),
            ("layout=round", ErrorCode::NotSupported),
            ("budgets.maxItems=many", ErrorCode::InvalidRequest),
        ] {
            let Err(Failure::Error(e)) = asked(&["x", "--param", param]) else { panic!("{param}") };
            assert_eq!(e.data.code, code, "{param}");
        }
    }

    #[test]
    fn an_answer_has_one_of_few_forms() {
        assert_eq!(Shape::of("template=a=b"), Ok(Shape::Template("a=b".into())));
        assert_eq!(Shape::of("document=git"), Ok(Shape::Document(SearchWith::Git)));
        for wrong in ["", "md", "template", "template=", "text=x", "document=", "document=grep"] {
            assert!(Shape::of(wrong).is_err(), "{wrong}");
        }
    }
}
