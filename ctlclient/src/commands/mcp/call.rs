//! One call of a tool: its arguments, a request to the daemon, the answer as text.
//!
//! A model reads the text alone. Programs can ask for the answer as data, too, of a pack for the whole object
//! without its code: clients that find structured content may show it to the model in place of
//! the text.

use super::tools::{
    EDGES_DEFAULT, GREP_TOKENS_DEFAULT, HITS_DEFAULT, MAP_TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN, Tool,
};
use super::workspaces::Workspaces;
use crate::cli::{ColorWhen, Common};
use crate::commands::pack::default_budgets;
use crate::commands::{graph as edges, lookup, pack_text};
use crate::failure::Failure;
use crate::progress::Listener;
use crate::session::{self, Session, Stop, shape};
use crate::style::{Style, count, safe_line};
use indexd_proto::Method;
use indexd_proto::card::{CardParams, CardResult};
use indexd_proto::documents::{MapParams, MapResult};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::graph::{GraphParams, GraphResult};
use indexd_proto::grep::{GrepParams, GrepResult, GrepRole};
use indexd_proto::limits::CTL_BUDGET_TOKENS;
use indexd_proto::pack::{Form, Pack};
use indexd_proto::request::{
    BudgetsRequest, CallOptions, ChangeRequest, ContextBudgetRequest, Focus, Intent, Layout, PackGetParams,
    PackGetResult, PackParams, PackResult, Request, lay_over,
};
use indexd_proto::search::{SearchParams, SearchResult, Symbol, SymbolParams, SymbolResult};
use indexd_proto::sources::{OfferedSource, SourcesParams, SourcesResult};
use indexd_proto::workspace::{Envelope, Wait};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Items of earlier packs that a request may name.
const SEEN_MAX: usize = 2_000;
/// Packs whose text is remembered for `context_pack_get`.
const TEXTS_KEPT: usize = 32;
/// Bytes of these texts.
const TEXT_BYTES_KEPT: usize = 4 << 20;
/// Milliseconds that a call waits for a first build; clients give up after a minute.
const BUILD_WAIT_MS: u64 = 45_000;
/// Columns of text for models.
const STYLE: Style = Style::plain(100);

/// What a call gives.
pub struct Outcome {
    /// What the model reads: the answer, then what it should know of it.
    pub text: Vec<String>,
    /// For programs, when asked for.
    pub structured: Option<Value>,
}

impl Outcome {
    fn new(text: String, notes: &[String], structured: Value) -> Self {
        let notes = (!notes.is_empty()).then(|| notes.join("\n"));
        Self { text: [text].into_iter().chain(notes).collect(), structured: Some(structured) }
    }
}

/// What a call needs beside its arguments.
pub struct Wanted<'a> {
    /// What may be asked about.
    pub workspaces: &'a Workspaces,
    /// Whether the caller has gone.
    pub stop: Stop,
    /// Who is told of progress.
    pub listener: Option<Listener>,
}

/// The state of one session: what its model was shown.
pub struct Desk {
    no_daemon: bool,
    structured: bool,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// By root: what was shown.
    shown: HashMap<String, Shown>,
    /// The newest packs with their text.
    texts: VecDeque<(String, String)>,
}

/// Marks of the items shown, oldest first, as far as they are kept.
#[derive(Default)]
struct Shown(VecDeque<String>);

impl Shown {
    fn add(&mut self, mark: String) {
        if !self.0.contains(&mark) {
            self.0.push_back(mark);
        }
        if self.0.len() > SEEN_MAX {
            self.0.pop_front();
        }
    }
}

/// Arguments of every tool.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shared {
    repo: Option<String>,
    structured: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackArguments {
    query: String,
    max_tokens: Option<u64>,
    intent: Option<Intent>,
    focus_file: Option<String>,
    diff: Option<String>,
    // The schema requires it, so that models fill it in; a call without it is understood.
    #[serde(default)]
    expect: Vec<String>,
    #[serde(default)]
    fill: bool,
    #[serde(default)]
    unseen: bool,
    /// Members of the request that the others do not cover.
    #[serde(default)]
    request: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourcesArguments {
    query: Option<String>,
    sources: Vec<OfferedSource>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GetArguments {
    #[serde(rename = "packId", alias = "pack_id")]
    pack_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindArguments {
    #[serde(alias = "name")]
    query: String,
    #[serde(default)]
    expect: Vec<String>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrepArguments {
    pattern: String,
    paths: Option<Vec<String>>,
    glob: Option<String>,
    ignore_case: Option<bool>,
    word: Option<bool>,
    role: Option<GrepRole>,
    tests: Option<bool>,
    max_tokens: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphArguments {
    symbol: String,
    depth: Option<u32>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CardArguments {
    #[serde(alias = "name")]
    symbol: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MapArguments {
    max_tokens: Option<u32>,
}

/// A connection with what the call is about.
struct Asking<'a> {
    session: Session,
    root: &'a str,
}

impl Asking<'_> {
    /// Asks about the workspace, and waits for its first build.
    fn call<P: serde::Serialize>(&mut self, method: Method, params: &P) -> Result<Vec<u8>, Failure> {
        let wait = Wait { build_timeout_ms: Some(BUILD_WAIT_MS), ..Wait::default() };
        let mut params = serde_json::to_value(params).map_err(shape)?;
        lay_over(
            &mut params,
            json!({"repo": self.root, "wait": wait, "progress": self.session.wants_progress()}),
        );
        self.session.call(method, &params)
    }

    /// Asks, and passes the answer on as the daemon gave it, with its text for a model.
    fn found<A: DeserializeOwned>(
        &mut self,
        method: Method,
        params: &impl serde::Serialize,
        text: impl FnOnce(&A) -> String,
    ) -> Result<Outcome, Failure> {
        let line = self.call(method, params)?;
        let structured: Value = session::result(&line)?;
        let envelope = Envelope::deserialize(&structured["envelope"]).map_err(shape)?;
        Ok(Outcome::new(text(&session::result(&line)?), &notes(&envelope, &[]), structured))
    }
}

impl Desk {
    /// For a session that is served by a daemon or by children, with structured content always or
    /// when asked for.
    pub fn new(no_daemon: bool, structured: bool) -> Self {
        Self { no_daemon, structured, memory: Mutex::default() }
    }

    /// True if every answer has structured content.
    pub fn is_structured(&self) -> bool {
        self.structured
    }

    /// Answers a call.
    ///
    /// # Errors
    /// What the model should know: arguments that are wrong, a workspace that is none of the
    /// session, the daemon's errors.
    pub fn call(&self, tool: Tool, mut args: Map<String, Value>, wanted: Wanted) -> Result<Outcome, Failure> {
        mend(&mut args);
        let shared = Map::from_iter(["repo", "structured"].into_iter().filter_map(|k| args.remove_entry(k)));
        let shared: Shared = read(tool, shared)?;
        let root = wanted.workspaces.pick(shared.repo.as_deref())?;
        let asking = &mut self.connect(root, wanted.stop, wanted.listener)?;
        let mut outcome = match tool {
            Tool::Build | Tool::Create => self.pack(asking, read(tool, args)?, tool),
            Tool::Sources => sources(asking, read(tool, args)?),
            Tool::Get => self.get(asking, &read(tool, args)?),
            Tool::Search => search(asking, read(tool, args)?),
            Tool::Grep => grep(asking, read(tool, args)?),
            Tool::Locate => locate(asking, read(tool, args)?),
            Tool::Callers => graph(asking, read(tool, args)?, Method::Callers),
            Tool::Card => card(asking, read(tool, args)?),
            Tool::Refs => graph(asking, read(tool, args)?, Method::Refs),
            Tool::Callees => graph(asking, read(tool, args)?, Method::Callees),
            Tool::Impact => graph(asking, read(tool, args)?, Method::Impact),
            Tool::Map => map(asking, &read(tool, args)?),
        }?;
        outcome.text.extend(wanted.workspaces.unusable().iter().map(|said| format!("note: {said}")));
        if !(shared.structured || self.structured) {
            outcome.structured = None;
        }
        Ok(outcome)
    }

    /// A connection of its own for each call: calls run side by side, and one that is cancelled takes
    /// no other with it.
    fn connect<'a>(
        &self,
        root: &'a str,
        stop: Stop,
        listener: Option<Listener>,
    ) -> Result<Asking<'a>, Failure> {
        let common =
            Common { color: ColorWhen::Never, quiet: true, no_daemon: self.no_daemon, ..Common::default() };
        let mut session = Session::open(&common)?;
        session.asks_for_agents();
        session.stop_when(stop);
        session.tells_progress(listener);
        Ok(Asking { session, root })
    }

    fn pack(&self, asking: &mut Asking, args: PackArguments, tool: Tool) -> Result<Outcome, Failure> {
        check_tokens(args.max_tokens)?;
        let write = tool == Tool::Create;
        let mut request = request_of(&args, tool)?;
        let seen = if args.unseen { self.seen(asking.root) } else { Vec::new() };
        let n_seen = seen.len();
        request.seen.extend(seen);
        let default_budgets = Some(default_budgets());
        let call = CallOptions { rendered: true, default_budgets, write, ..CallOptions::default() };
        let params = PackParams { call, request };
        let line = asking.call(Method::Pack, &params)?;
        let answer: PackResult = session::result(&line)?;
        let pack: Pack = serde_json::from_str(answer.pack.get()).map_err(shape)?;
        let text = answer.rendered.unwrap_or_default().into_owned();
        self.remember(asking.root, &pack, &text);
        let text = if text.is_empty() { "No relevant code found.".to_owned() } else { text };
        let mut notes = notes(&answer.envelope, &pack.warnings);
        if n_seen > 0 {
            notes.push(format!("note: {n_seen} items that this session was shown are places only"));
        }
        if write {
            notes.insert(0, format!("packId: {}", pack.pack_id));
        }
        let mut structured = without_code(answer.pack.get())?;
        structured["fresh"] = json!(answer.envelope.fresh);
        Ok(Outcome::new(text, &notes, structured))
    }

    fn get(&self, asking: &mut Asking, args: &GetArguments) -> Result<Outcome, Failure> {
        let pack_id = args.pack_id.trim().to_owned();
        let params = PackGetParams { repo: Some(asking.root.to_owned()), cwd: None, pack_id };
        let line = asking.session.call(Method::PackGet, &params)?;
        let answer: PackGetResult = session::result(&line)?;
        let pack: Pack = serde_json::from_str(answer.pack.get()).map_err(shape)?;
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = memory.texts.iter().find(|(id, _)| *id == pack.pack_id).map(|(_, text)| text.clone());
        let text = kept.unwrap_or_else(|| {
            pack_text::render(&pack, STYLE, &crate::code::Code::default(), pack_text::Parts::default())
        });
        Ok(Outcome::new(text, &[], without_code(answer.pack.get())?))
    }

    /// The items that a pack need not show again.
    fn seen(&self, root: &str) -> Vec<String> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.shown.get(root).map_or_else(Vec::new, |shown| shown.0.iter().cloned().collect())
    }

    fn remember(&self, root: &str, pack: &Pack, text: &str) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = memory.shown.entry(root.to_owned()).or_default();
        // A place shows no code of the item.
        pack.items().filter(|item| item.form != Form::Place).for_each(|item| shown.add(item.seen_mark()));
        memory.texts.push_back((pack.pack_id.clone(), text.to_owned()));
        let bytes = |texts: &VecDeque<(String, String)>| texts.iter().map(|t| t.1.len()).sum::<usize>();
        while memory.texts.len() > TEXTS_KEPT || bytes(&memory.texts) > TEXT_BYTES_KEPT {
            memory.texts.pop_front();
        }
    }
}

fn search(asking: &mut Asking, args: FindArguments) -> Result<Outcome, Failure> {
    let params =
        SearchParams { query: args.query, expect: args.expect, limit: args.limit, ..SearchParams::default() };
    asking.found(Method::Search, &params, |answer: &SearchResult| match answer.hits.is_empty() {
        true => "Nothing found. Try other words, or names as they are written in the code.".to_owned(),
        false => lookup::hits_text(answer, STYLE),
    })
}

fn grep(asking: &mut Asking, args: GrepArguments) -> Result<Outcome, Failure> {
    let params = GrepParams {
        patterns: vec![args.pattern],
        paths: args.paths.unwrap_or_default(),
        globs: args.glob.into_iter().collect(),
        ignore_case: args.ignore_case.unwrap_or_default(),
        word: args.word.unwrap_or_default(),
        roles: args.role.into_iter().collect(),
        tests: args.tests,
        max_tokens: Some(args.max_tokens.unwrap_or(GREP_TOKENS_DEFAULT)),
        ..GrepParams::default()
    };
    let more = "more: raise `max_tokens`; fewer: `role`, `tests`, `glob`, `paths`";
    asking.found(Method::Grep, &params, |answer: &GrepResult| {
        let text = answer.text.as_deref().unwrap_or_default();
        text.replace("more: --budget N or --all; fewer: --def, --call, --no-test, -g GLOB", more)
    })
}

fn locate(asking: &mut Asking, args: FindArguments) -> Result<Outcome, Failure> {
    let params = SymbolParams {
        name: args.query,
        limit: Some(args.limit.unwrap_or(HITS_DEFAULT)),
        ..SymbolParams::default()
    };
    let line = |s: &Symbol| {
        let title = if s.signature.is_empty() { &s.name } else { &s.signature };
        let (path, title) = (safe_line(&s.file_rel_path), safe_line(title));
        format!("{path}:{}-{}  {title}\n", s.lines.start, s.lines.end)
    };
    asking.found(Method::Symbol, &params, |answer: &SymbolResult| answer.symbols.iter().map(line).collect())
}

fn graph(asking: &mut Asking, args: GraphArguments, method: Method) -> Result<Outcome, Failure> {
    let params = GraphParams {
        symbol: args.symbol,
        depth: args.depth,
        limit: Some(args.limit.unwrap_or(EDGES_DEFAULT)),
        dispatch: method == Method::Callers,
        ..GraphParams::default()
    };
    asking.found(method, &params, |answer: &GraphResult| {
        let text = edges::graph_text(answer, STYLE).replace(", which --all names", "");
        text.replace("raise it with --limit, or --all", "raise `limit`")
    })
}

fn card(asking: &mut Asking, args: CardArguments) -> Result<Outcome, Failure> {
    let params = CardParams { symbol: args.symbol, ..CardParams::default() };
    asking.found(Method::Card, &params, |answer: &CardResult| answer.text.clone())
}

fn map(asking: &mut Asking, args: &MapArguments) -> Result<Outcome, Failure> {
    let params =
        MapParams { max_tokens: Some(args.max_tokens.unwrap_or(MAP_TOKENS_DEFAULT)), ..MapParams::default() };
    let line = asking.call(Method::Map, &params)?;
    let answer: MapResult = session::result(&line)?;
    let structured = serde_json::to_value(&answer.map).map_err(shape)?;
    // That nothing was cached is nothing to a model.
    Ok(Outcome::new(answer.markdown, &notes(&answer.envelope, &[]), structured))
}

/// Packs what the caller offers.
fn sources(asking: &mut Asking, args: SourcesArguments) -> Result<Outcome, Failure> {
    check_tokens(args.max_tokens)?;
    let tokens = args.max_tokens.unwrap_or(CTL_BUDGET_TOKENS);
    let params = SourcesParams {
        query: args.query,
        sources: args.sources,
        budget: Some(ContextBudgetRequest {
            total_tokens: Some(tokens),
            response_reserve: Some(0),
            system_reserve: Some(0),
        }),
        ..SourcesParams::default()
    };
    let line = asking.call(Method::ContextPack, &params)?;
    let answer: SourcesResult = session::result(&line)?;
    let (text, said, structured) = packed_text(answer.packed);
    Ok(Outcome::new(text, &notes(&answer.envelope, &said), structured))
}

/// The text of a packing, what else its reader should know, and the rest as data without the code.
fn packed_text(packed: Map<String, Value>) -> (String, Vec<String>, Value) {
    let mut packed = Value::Object(packed);
    let text = packed.as_object_mut().and_then(|p| p.remove("content"));
    let text = text.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    for chunk in packed["chunks"].as_array_mut().into_iter().flatten() {
        chunk.as_object_mut().map(|c| c.remove("content"));
    }
    let n = |key: &str| packed[key].as_array().map_or(0, Vec::len);
    let mut said: Vec<String> = serde_json::from_value(packed["warnings"].clone()).unwrap_or_default();
    if n("excluded") > 0 {
        said.push(format!("{} of {} chunks left out", n("excluded"), n("excluded") + n("chunks")));
    }
    let text = if text.is_empty() { "Nothing to show.".to_owned() } else { text };
    (text, said, packed)
}

fn check_tokens(asked: Option<u64>) -> Result<(), Failure> {
    let Some(n) = asked.filter(|n| !(TOKENS_MIN..=TOKENS_MAX).contains(n)) else { return Ok(()) };
    let message = format!("max_tokens must be {TOKENS_MIN} to {TOKENS_MAX}, not {n}");
    Err(Failure::hinted(ErrorCode::InvalidRequest, message, "leave it out for 4000"))
}

/// The request that the arguments make. `context_pack_create` makes the one that `ctl pack` makes for the same
/// question, so that both get the same pack; `build_context_pack` asks for the six sections.
fn request_of(args: &PackArguments, tool: Tool) -> Result<Request, Failure> {
    let request = Request {
        query: args.query.clone(),
        expect: args.expect.clone(),
        include_explain: Some(false),
        budgets: BudgetsRequest {
            max_total_tokens: args.max_tokens.filter(|n| *n != CTL_BUDGET_TOKENS),
            stop: args.fill.then_some(indexd_proto::request::Stop::Budget),
            ..BudgetsRequest::default()
        },
        intent: args.intent,
        change: args.diff.clone().map(|d| ChangeRequest { diff: Some(d), ..ChangeRequest::default() }),
        focus: args.focus_file.clone().map(|path| Focus { file_rel_path: Some(path), ..Focus::default() }),
        layout: (tool == Tool::Build).then_some(Layout::Agent),
        ..Request::default()
    };
    if args.request.is_empty() {
        return Ok(request);
    }
    let mut members = serde_json::to_value(request).map_err(shape)?;
    lay_over(&mut members, Value::Object(args.request.clone()));
    Request::from_json(members).map_err(|e| Failure::new(e.code(), e.to_string()))
}

/// A pack as an object, without its code, which is in the text.
fn without_code(pack: &str) -> Result<Value, Failure> {
    let mut pack: Value = serde_json::from_str(pack).map_err(shape)?;
    let sections = pack["sections"].as_array_mut().into_iter().flatten();
    for item in sections.flat_map(|s| s["items"].as_array_mut()).flatten() {
        item["excerpt"]["text"] = json!("");
    }
    Ok(pack)
}

/// What a reader of the answer alone would miss.
fn notes(envelope: &Envelope, warnings: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    if !envelope.fresh {
        out.push(match envelope.pending {
            0 => "note: not compared with the files: the last saves may be missing".to_owned(),
            n => format!("note: {} not in the index yet", count(n, "changed file is", "changed files are")),
        });
    }
    let shown = envelope.warnings.iter().chain(warnings).filter(|w| *w != ErrorCode::NoContent.name());
    out.extend(shown.map(|w| format!("note: {}", safe_line(w))));
    out
}

/// The largest whole number of which each smaller one is a floating-point number, too.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Numbers and truth values that a model wrote as text, and whole numbers with a fraction of zero, which JSON
/// Schema counts as integers.
fn mend(args: &mut Map<String, Value>) {
    for key in ["max_tokens", "limit", "depth", "fill", "unseen", "structured"] {
        let Some(value) = args.get_mut(key) else { continue };
        if let Value::String(text) = &value
            && let Ok(read) = serde_json::from_str::<Value>(text.trim())
        {
            *value = read;
        }
        if let Some(n) = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=WHOLE_MAX).contains(n)) {
            *value = json!(n as u64);
        }
    }
    args.retain(|_, value| !value.is_null());
}

fn read<T: DeserializeOwned>(tool: Tool, args: Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(args)).map_err(|e| {
        let known = tool.schema();
        let known = known.get("properties").and_then(Value::as_object);
        let known: Vec<&str> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let message = format!("{}: {e}", tool.name());
        Failure::hinted(ErrorCode::InvalidRequest, message, format!("arguments: {}", known.join(", ")))
    })
}

/// What a model is told of a failure: what it was, its stable code, what to do.
pub fn said(error: &ErrorObject) -> String {
    let mut text = format!("{} [{}]", safe_line(&error.message), error.data.code.name());
    let hint = hint(error);
    if !hint.is_empty() {
        text += &format!("\nhint: {}", safe_line(hint));
    }
    text
}

/// A failure as data.
pub fn said_as_data(error: &ErrorObject) -> Value {
    let mut out = json!({
        "code": error.data.code.name(), "message": safe_line(&error.message), "hint": safe_line(hint(error)),
    });
    if let Some(details) = &error.data.details {
        out["details"] = details.clone();
    }
    json!({ "error": out })
}

/// Hints of the command line, in the words of the tools.
fn hint(error: &ErrorObject) -> &str {
    match error.data.code {
        ErrorCode::SymbolNotFound if !error.data.hint.starts_with("did you mean") => {
            "find the name with locate_symbol (words of it) or search_code"
        }
        ErrorCode::Indexing => "the first index is being built: ask again in a moment",
        ErrorCode::PackNotFound => "make it again with context_pack_create",
        ErrorCode::IndexMissing => "leave indexSignature out, or give the one in the details",
        ErrorCode::NotSupported if error.data.hint.contains("--help") => {
            "the message names what is allowed; leave the member out for the default"
        }
        _ => &error.data.hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::pack::{Item, Section};

    #[test]
    fn text_that_is_a_number_counts_as_one() {
        let mut args =
            json!({"limit": "5", "unseen": "true", "query": "7", "depth": null, "max_tokens": "many"});
        let mut floats = json!({"limit": 5.0, "depth": "2.0", "max_tokens": 2.5, "unseen": 1e3});
        let Value::Object(map) = &mut floats else { unreachable!() };
        mend(map);
        assert_eq!(floats, json!({"limit": 5, "depth": 2, "max_tokens": 2.5, "unseen": 1000}));
        let Value::Object(map) = &mut args else { unreachable!() };
        mend(map);
        assert_eq!(args, json!({"limit": 5, "unseen": true, "query": "7", "max_tokens": "many"}));
    }

    #[test]
    fn wrong_arguments_name_the_right_ones() {
        for (tool, args, expect) in [
            (Tool::Build, json!({}), "missing field `query`"),
            (Tool::Build, json!({"query": "x", "expect": [], "budget": 1}), "unknown field `budget`"),
            (Tool::Build, json!({"query": "x", "expect": [], "max_tokens": -1}), "-1"),
        ] {
            let Value::Object(args) = args else { unreachable!() };
            let Err(Failure::Error(e)) = read::<PackArguments>(tool, args) else { panic!("{expect}") };
            assert!(e.message.contains(expect), "{}", e.message);
            assert!(e.data.hint.contains("max_tokens"), "{}", e.data.hint);
        }
    }

    #[test]
    fn what_was_shown_of_a_workspace_is_remembered() {
        let desk = Desk::new(false, false);
        let item = |uid: &str, form: &str| json!({"chunkUid": uid, "form": form});
        let items = [item("b3:1", "whole"), item("b3:2", "head"), item("b3:3", "place")];
        let pack = Pack { sections: vec![section_of(&items)], ..Pack::default() };
        assert!(desk.seen("/r").is_empty());
        desk.remember("/r", &pack, "text");
        desk.remember("/r", &pack, "text");
        assert_eq!(desk.seen("/r"), ["b3:1", "b3:2@head"]);
        assert!(desk.seen("/other").is_empty());
    }

    #[test]
    fn a_session_remembers_so_much_and_no_more() {
        let desk = Desk::new(false, false);
        for n in 0..2 * SEEN_MAX {
            let item = json!({"chunkUid": format!("b3:{n}"), "form": "whole"});
            let pack =
                Pack { pack_id: n.to_string(), sections: vec![section_of(&[item])], ..Pack::default() };
            assert_eq!(desk.seen("/r").len(), n.min(SEEN_MAX));
            desk.remember("/r", &pack, &"x".repeat(TEXT_BYTES_KEPT / 8));
        }
        assert_eq!(desk.seen("/r")[0], format!("b3:{SEEN_MAX}"), "the oldest make room");
        assert!(desk.memory.lock().unwrap().texts.len() <= 8);
    }

    fn section_of(items: &[Value]) -> Section {
        let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let items = items.iter().map(|i| Item {
            chunk_uid: text(i, "chunkUid"),
            form: serde_json::from_value(i["form"].clone()).unwrap_or_default(),
            ..Item::default()
        });
        Section { items: items.collect(), ..Section::default() }
    }
}
