//! `ctl pack` and `ctl preview`.

use super::{Target, check_page, note, overlays, pack_text, standard_input, wait, write_page};
use crate::args::{Common, Format, PackArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::style::{self, Style};
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::limits::{
    CTL_BUDGET_TOKENS, CTL_BYTES_PER_ITEM, CTL_ITEMS, CTL_ITEMS_PER_SECTION, PATCH_BYTES_MAX,
    QUERY_BYTES_MAX, TEMPLATE_BYTES_MAX,
};
use indexd_proto::pack::Pack;
use indexd_proto::printed::PackRecord;
use indexd_proto::request::{
    BudgetsRequest, CallOptions, PackGetParams, PackGetResult, PackParams, PackResult, PreviewResult,
};
use indexd_proto::workspace::Envelope;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Read};
use std::path::Path;

/// Assembles a pack and prints it.
pub fn pack(common: &Common, args: &PackArgs) -> Result<(), Failure> {
    if args.read {
        return read(common, args);
    }
    let query = query(args)?;
    if args.format == Some(Format::Md) {
        return super::documents::markdown(common, args, query.as_deref().unwrap_or_default());
    }
    let mut session = Session::open(common)?;
    let mut progress = Progress::new(common.quiet);
    let mut params = params(common, args, query.as_deref(), &progress)?;
    let is_text = prints_text(common, args);
    params.call.rendered = is_text && args.html.is_none() && !args.write;
    params.call.page = args.html.is_some();
    check_page(args.html.as_deref(), "pack.html")?;
    if let Some(wanted) = &args.pack_id {
        // Nothing is kept of a pack that is another one.
        let line = session.call(Method::Pack, &params, &mut progress)?;
        let answer: PackResult = session::result(&line)?;
        check_id(&parse(answer.pack)?, wanted)?;
        params.request.insert("indexSignature".to_owned(), json!(answer.envelope.index_signature));
    }
    params.call.write = args.write;
    let line = session.call(Method::Pack, &params, &mut progress)?;
    let mut out = Output::new();
    if common.json
        && !args.write
        && let Some((pack, envelope)) = split(&line)
    {
        out.json_line(pack)?;
        note(common, &envelope, &warnings(pack)?);
        return out.finish();
    }
    let answer: PackResult = session::result(&line)?;
    if let Some(to) = &args.html {
        write_page(&mut out, answer.page.as_deref().unwrap_or(""), to)?;
    } else if args.write {
        let pack_id = parse(answer.pack)?.pack_id;
        match common.json {
            true => out.object("PackRecord", PackRecord { pack_id })?,
            false => out.line(&pack_id)?,
        }
    } else {
        print(common, args, &answer, is_text, &mut out)?;
    }
    note(common, &answer.envelope, &warnings(answer.pack.get())?);
    out.finish()
}

/// Whether the budgeted text is printed: into pipes, with a template and on demand.
fn prints_text(common: &Common, args: &PackArgs) -> bool {
    // Colours in a pipe were asked for: they go to a pager.
    let is_seen = std::io::stdout().is_terminal() || Style::of_stdout(common.color).color;
    let is_for_people = !args.text && (is_seen || args.explain == Some(true));
    args.template.is_some() || !(common.json || args.brief || is_for_people)
}

/// Prints a pack as JSON, as the budgeted text, or for people.
fn print(
    common: &Common,
    args: &PackArgs,
    answer: &PackResult,
    is_text: bool,
    out: &mut Output,
) -> Result<(), Failure> {
    if common.json {
        return out.json_line(answer.pack.get());
    }
    match answer.rendered.as_deref().filter(|_| is_text) {
        Some("") => out.line(&pack_text::nothing(&parse(answer.pack)?))?,
        Some(text) => out.text(text)?,
        None => out.styled(&text(common, args, &parse(answer.pack)?, args.brief))?,
    }
    Ok(())
}

/// A pack for people.
fn text(common: &Common, args: &PackArgs, pack: &Pack, brief: bool) -> String {
    pack_text::render(pack, Style::of_stdout(common.color), brief, args.explain == Some(true))
}

/// The pack and the envelope of an answer as our daemon writes it, without a look at the pack, which
/// has a few hundred kilobytes and is passed on as it came. `None` for answers of any other shape.
fn split(line: &[u8]) -> Option<(&str, Envelope)> {
    let result = std::str::from_utf8(line.strip_prefix(session::ANSWER)?).ok()?;
    let (pack, envelope) = result.strip_prefix(r#"{"pack":"#)?.rsplit_once(BEFORE_ENVELOPE)?;
    // Inside of a string its quotes would be escaped, so this is the member itself.
    Some((pack, serde_json::from_str(envelope.strip_suffix("}}")?).ok()?))
}

const BEFORE_ENVELOPE: &str = r#","envelope":"#;

/// Refuses a pack with another id than the one that was named.
fn check_id(pack: &Pack, wanted: &str) -> Result<(), Failure> {
    if pack.pack_id == wanted {
        return Ok(());
    }
    Err(Failure::hinted(
        ErrorCode::PackNotFound,
        format!("the pack is {}, not {}", pack.pack_id, style::safe_line(wanted)),
        "the tree, the request or the configuration is another one; leave out --pack-id to keep this pack",
    ))
}

/// Prints what a pack would hold.
pub fn preview(common: &Common, args: &PackArgs) -> Result<(), Failure> {
    if args.is_about_text() {
        return Err(Failure::hinted(
            ErrorCode::InvalidRequest,
            "a preview prints places and reasons alone",
            "leave out the options about the text, or write ctl pack",
        ));
    }
    let query = query(args)?;
    let mut session = Session::open(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = params(common, args, query.as_deref(), &progress)?;
    let line = session.call(Method::Preview, &params, &mut progress)?;
    let answer: PreviewResult = session::result(&line)?;
    let mut out = Output::new();
    if common.json {
        out.json_line(session::raw(&line)?)?;
    } else {
        let pack: Pack = serde_json::from_value(answer.preview).map_err(shape)?;
        out.styled(&text(common, args, &pack, true))?;
    }
    note(common, &answer.envelope, &[]);
    out.finish()
}

/// Prints a record.
fn read(common: &Common, args: &PackArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let pack_id = args.pack_id.clone().unwrap_or_default();
    let params = PackGetParams { repo: target.repo, cwd: target.cwd, pack_id };
    let mut session = Session::open(common)?;
    let line = session.call(Method::PackGet, &params, &mut Progress::new(true))?;
    let got: PackGetResult = session::result(&line)?;
    let mut out = Output::new();
    if common.json {
        out.json_line(got.pack.get())?;
    } else {
        out.styled(&text(common, args, &parse(got.pack)?, args.brief))?;
    }
    out.finish()
}

/// The warnings of a pack that is passed on unread. Most packs have none and are not parsed at all:
/// the member's name as written by the engine cannot stand inside a string of JSON.
fn warnings(pack: &str) -> Result<Vec<String>, Failure> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Warnings {
        warnings: Vec<String>,
    }
    if !pack.contains("\"warnings\":") {
        return Ok(Vec::new());
    }
    serde_json::from_str(pack).map(|w: Warnings| w.warnings).map_err(shape)
}

pub(super) fn parse(pack: &RawValue) -> Result<Pack, Failure> {
    serde_json::from_str(pack.get()).map_err(shape)
}

fn shape(e: serde_json::Error) -> Failure {
    Failure::new(ErrorCode::ContractVersion, format!("the pack has another shape: {e}"))
}

/// The task in words, from wherever it comes.
pub(super) fn query(args: &PackArgs) -> Result<Option<String>, Failure> {
    let unreadable = |what: &str, e: std::io::Error| {
        let code = match e.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::WorkspaceInvalid,
            std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
            _ => ErrorCode::Storage,
        };
        Failure::hinted(code, format!("cannot read the query from {what}: {e}"), "name an existing text file")
    };
    let words = (!args.query.is_empty()).then(|| args.query.join(" "));
    let bytes = match (&words, &args.query_text, &args.query_file) {
        (Some(dash), _, _) if dash == "-" => {
            let mut bytes = Vec::new();
            let read = standard_input(QUERY_BYTES_MAX).read_to_end(&mut bytes);
            read.map_err(|e| unreadable("standard input", e))?;
            bytes
        }
        (Some(text), _, _) | (_, Some(text), _) => return Ok(Some(text.clone())),
        (_, _, Some(path)) => std::fs::read(path).map_err(|e| unreadable(&path.display().to_string(), e))?,
        _ => return Ok(None),
    };
    // Logs and pastes may hold anything; words that are no text match nothing.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

pub(super) fn params(
    common: &Common,
    args: &PackArgs,
    query: Option<&str>,
    progress: &Progress,
) -> Result<PackParams, Failure> {
    if !args.names_something(query) {
        return Err(Failure::hinted(
            ErrorCode::InvalidRequest,
            "there is no task",
            "write ctl pack where is X decided --expect 'names and words of its code', or ctl pack --diff",
        ));
    }
    let target = Target::of(common)?;
    let call = CallOptions {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
        no_cache: args.no_cache,
        default_budgets: Some(default_budgets()),
        overlays: overlays(&args.wait)?,
        ..CallOptions::default()
    };
    Ok(PackParams { call, request: request(args, query)? })
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

/// The request, as the wire has it. Values are not checked here: the daemon knows them.
fn request(args: &PackArgs, query: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let mut root = Map::new();
    let mut set = |path: &str, value: Value| {
        if !value.is_null() {
            put(&mut root, path, value);
        }
    };
    set("query", json!(query));
    if !args.expect.is_empty() {
        set("expect", json!(args.expect));
    }
    if args.context_window.is_some() {
        set("contextBudget.totalTokens", json!(args.context_window));
        set("contextBudget.responseReserve", json!(args.response_reserve));
        set("contextBudget.systemReserve", json!(args.system_reserve));
    } else {
        set("budgets.maxTotalTokens", json!(args.budget));
    }
    set("budgets.maxBytesPerItem", json!(args.max_bytes_per_item));
    set("budgets.maxTotalChars", json!(args.max_chars));
    set("budgets.maxItems", json!(args.max_items));
    set("budgets.maxItemsPerSection", json!(args.max_items_per_section));
    set("tokenizer", json!(args.tokenizer));
    set("layout", json!(args.layout));
    set("intent", json!(args.intent));
    // The envelope doubles the size of a pack.
    set("includeExplain", json!(args.explain.unwrap_or(args.html.is_some())));
    set("budgets.stop", json!(args.fill.then_some("budget")));
    set("seen", json!(args.seen));
    set("focus.symbolId", json!(args.focus_symbol));
    set("focus.chunkUid", json!(args.focus_chunk));
    set("focus.fileRelPath", json!(args.focus_file));
    set("seedMode", json!(args.seed_mode));
    set("seedProvider", json!(args.seed_provider));
    expansion(args, &mut set);
    set("strictness", json!(args.strictness));
    set("ordering.primary", json!(args.order_by));
    set("ordering.stableTieBreakers", json!(args.tie_breakers));
    set("scoring", json!(args.scoring));
    files(args, &mut set)?;
    set("indexSignature", json!(args.signature));
    for param in &args.param {
        let (key, value) = param.split_once('=').ok_or_else(|| bad_param(param, "there is no ="))?;
        let value = serde_json::from_str(value)
            .map_err(|e| bad_param(param, &format!("the value is no JSON: {e}")))?;
        put(&mut root, key, value);
    }
    Ok(root)
}

/// How far and along which edges to look.
fn expansion(args: &PackArgs, set: &mut impl FnMut(&str, Value)) {
    set("expansion.maxHops", json!(args.hops));
    set("expansion.edgeTypes", json!(args.edges));
    set("expansion.direction", json!(args.direction));
    set("expansion.includeSameFileNeighbors", json!(args.same_file));
    set("expansion.includeImports", json!(args.imports));
    set("expansion.includeExports", json!(args.exports));
    set("expansion.includeDataflow", json!(args.dataflow));
    set("expansion.requireEvidence", json!(args.require_evidence));
    set("expansion.evidenceKinds", json!(args.evidence));
}

/// What is read from files: the template of the text, and the change that the pack is about.
fn files(args: &PackArgs, set: &mut impl FnMut(&str, Value)) -> Result<(), Failure> {
    match &args.template {
        Some(file) => {
            set("renderer", json!("template"));
            set("template", json!(template(file)?));
        }
        None => set("renderer", json!(args.renderer)),
    }
    match args.diff.as_deref() {
        Some("-") => set("change.patch", json!(patch()?)),
        Some(range) => set("change.diff", json!(range)),
        None if args.staged => set("change.staged", json!(true)),
        None if args.worktree => set("change.worktree", json!(true)),
        None => {}
    }
    Ok(())
}

/// The text of a template; the daemon says what is wrong with it.
fn template(file: &Path) -> Result<String, Failure> {
    let read = match file.as_os_str() == "-" {
        true => std::io::read_to_string(standard_input(TEMPLATE_BYTES_MAX)),
        false => std::fs::read_to_string(file),
    };
    read.map_err(|e| {
        let message = format!("cannot read the template from {}: {e}", file.display());
        Failure::hinted(ErrorCode::WorkspaceInvalid, message, "name an existing text file")
    })
}

/// The patch on standard input.
fn patch() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    standard_input(PATCH_BYTES_MAX).read_to_end(&mut bytes).map_err(|e| {
        Failure::new(ErrorCode::Storage, format!("cannot read the patch from standard input: {e}"))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn bad_param(param: &str, why: &str) -> Failure {
    Failure::hinted(
        ErrorCode::InvalidRequest,
        format!("--param {}: {why}", style::safe_line(param)),
        "write --param budgets.maxItems=10",
    )
}

/// Sets a member by its dotted path.
fn put(root: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            root.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let child = root.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if !child.is_object() {
                *child = Value::Object(Map::new());
            }
            if let Value::Object(map) = child {
                put(map, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn check(line: &[&str], expect: Value) {
        let cli = Cli::try_parse_from(["ctl", "pack"].iter().chain(line)).unwrap();
        let Some(Command::Pack(args)) = cli.command else { panic!("{line:?}") };
        let query = query(&args).unwrap();
        assert_eq!(Value::Object(request(&args, query.as_deref()).unwrap()), expect, "{line:?}");
    }

    #[test]
    fn every_option_becomes_a_member() {
        check(&["where is it"], json!({"query": "where is it", "includeExplain": false}));
        check(
            &[
                "--query",
                "x",
                "-b",
                "4k",
                "--layout",
                "agent",
                "--hops",
                "1",
                "--edges",
                "call,usage",
                "--imports=false",
                "--exports",
            ],
            json!({
                "query": "x", "layout": "agent", "includeExplain": false, "budgets": {"maxTotalTokens": 4000},
                "expansion": {"maxHops": 1, "edgeTypes": ["call", "usage"], "includeImports": false, "includeExports": true},
            }),
        );
        check(
            &[
                "x",
                "--context-window",
                "100k",
                "--response-reserve",
                "5",
                "--explain",
                "--param",
                "ordering.primary=\"seedScore\"",
                "--param",
                "budgets.maxItems=3",
            ],
            json!({
                "query": "x", "includeExplain": true,
                "contextBudget": {"totalTokens": 100000, "responseReserve": 5},
                "budgets": {"maxItems": 3}, "ordering": {"primary": "seedScore"},
            }),
        );
        check(&["--focus-file", "a.go"], json!({"includeExplain": false, "focus": {"fileRelPath": "a.go"}}));
        check(
            &["who", "asks", "--fill", "-e", "a b", "--expect", "c", "--seen", "pack:sha256:1,b3:2@head"],
            json!({
                "query": "who asks", "expect": ["a b", "c"], "includeExplain": false,
                "budgets": {"stop": "budget"}, "seen": ["pack:sha256:1", "b3:2@head"],
            }),
        );
    }

    #[test]
    fn an_answer_is_split_where_its_envelope_begins() {
        let envelope = Envelope { generation: 3, repo_id: "a".to_owned(), ..Envelope::default() };
        let text = json!(envelope).to_string();
        let pack = r#"{"text":"}},\",\"envelope\":{","n":{}}"#;
        let answer = |rest: &str| [session::ANSWER, rest.as_bytes()].concat();
        for (line, is_split) in [
            (answer(&format!(r#"{{"pack":{pack},"envelope":{text}}}}}"#)), true),
            (answer(&format!(r#"{{"pack":{pack},"envelope":{text},"rendered":"x"}}}}"#)), false),
            (answer(&format!(r#"{{"envelope":{text},"pack":{pack}}}}}"#)), false),
            (answer(r#"{"pack":{}}}"#), false),
            (format!(r#"{{"id":1,"result":{{"pack":{pack},"envelope":{text}}}}}"#).into_bytes(), false),
        ] {
            let expect = is_split.then(|| (pack, envelope.clone()));
            assert_eq!(split(&line), expect, "{}", String::from_utf8_lossy(&line));
        }
    }

    #[test]
    fn refuses_parameters_without_a_value() {
        for param in ["a", "a=", "a={"] {
            let cli = Cli::try_parse_from(["ctl", "pack", "x", "--param", param]).unwrap();
            let Some(Command::Pack(args)) = cli.command else { panic!() };
            assert_eq!(request(&args, None).unwrap_err().exit(), 2, "{param}");
        }
    }
}
