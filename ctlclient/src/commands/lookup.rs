//! `ctl search`, `show`, `symbol`, `card` and `why`: what is found by words, names and paths.

use super::{asked, note, print, print_view, query, terminal};
use crate::cli::{Common, WaitArgs, tokens};
use crate::failure::Failure;
use crate::session::Session;
use crate::style::{Style, safe_line};
use indexd_proto::Method;
use indexd_proto::card::{CardLinks, CardParams, CardResult};
use indexd_proto::pack::Basis;
use indexd_proto::search::{
    DefinitionsParams, DefinitionsResult, Hit, SearchParams, SearchResult, Symbol, SymbolParams, SymbolResult,
};
use indexd_proto::why::{Standing, WhyParams, WhyResult};

/// Maximum number of omitted places in an answer to `show`.
const CUT_NAMED: usize = 40;
/// Words of a search that found nothing which are compared with names.
const WORDS_COMPARED: usize = 3;
/// Definitions in tests that an answer to `show` names.
const TESTS_NAMED: usize = 5;

/// Options of `search`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl search where is the retry header parsed -e 'parseRetryAfter Header'
  ctl search -e 'followRedirect Location 302'")]
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
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl show Client.get Retry.delay
  ctl show Client.get -e 'retry delay'      # the lines near these words
  ctl show net/retry.go:42 net/client.go:10-60 --budget 2000")]
pub struct ShowArgs {
    /// Names, Class.method, path:line, path:first-last, path, or symbol ids
    #[arg(required = true)]
    pub what: Vec<String>,
    /// Print the head and the lines near these words, if a definition has more
    /// than 40 lines. May be repeated
    #[arg(short, long, value_name = "WORDS")]
    pub expect: Vec<String>,
    /// Tokens of the text
    #[arg(short, long, alias = "max-tokens", value_name = "TOKENS", value_parser = tokens, default_value = "4000")]
    pub budget: u64,
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `symbol`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl symbol Client.get")]
pub struct SymbolArgs {
    /// A name, words of one, Class.method, path:line, or a symbol id
    pub name: String,
    /// Definitions at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `card`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl card Client.get
  ctl card net/retry.go:42 --budget 200 --json")]
pub struct CardArgs {
    /// A name, Class.method, path:line, or a symbol id
    pub symbol: String,
    /// Tokens of the card, 100 to 2000
    #[arg(short, long, alias = "max-tokens", value_name = "TOKENS", default_value_t = 400, value_parser = clap::value_parser!(u32).range(100..=2000))]
    pub budget: u32,
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Options of `why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl why build/generated.go")]
pub struct WhyArgs {
    /// A file or folder; it need not exist
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub path: String,
    /// Requirements of the index.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Prints ranked places; nothing found is exit status 1.
pub fn search(common: &Common, args: &SearchArgs) -> Result<(), Failure> {
    let params = asked!(SearchParams, common, &args.wait, {
        query: query(&args.query)?,
        expect: args.expect.clone(),
        limit: args.limit,
        neighbors: args.neighbors,
    });
    let answer: SearchResult =
        print_view(common, Method::Search, &params, hits_text, (terminal::hit_places, terminal::hits))?;
    note(common, &answer.envelope, &[]);
    if !answer.hits.is_empty() {
        return Ok(());
    }
    if !common.quiet && !common.json && !Style::of_stdout(common).is_view {
        eprintln!("ctl: nothing found");
        if let Some(hint) = names_near(common, args)? {
            eprintln!("hint: {}", safe_line(&hint));
        }
    }
    Err(Failure::NoResult)
}

/// A hint with the names that are spelled most like a word of a search that found nothing.
fn names_near(common: &Common, args: &SearchArgs) -> Result<Option<String>, Failure> {
    let words = args.query.iter().chain(&args.expect).flat_map(|text| text.split_whitespace());
    let mut session = Session::open(common)?;
    for word in words.filter(|w| w.chars().count() > 2).take(WORDS_COMPARED) {
        let params = asked!(SymbolParams, common, &args.wait, { name: word.to_owned(), limit: Some(1) });
        let asked = session.ask::<_, SymbolResult>(Method::Symbol, &params);
        if let Err(Failure::Error(error)) = asked
            && error.data.hint.starts_with("did you mean")
        {
            return Ok(Some(error.data.hint));
        }
    }
    Ok(None)
}

/// Prints definitions whole.
pub fn show(common: &Common, args: &ShowArgs) -> Result<(), Failure> {
    let params = asked!(DefinitionsParams, common, &args.wait, {
        what: args.what.clone(),
        expect: args.expect.clone(),
        max_tokens: Some(u32::try_from(args.budget).unwrap_or(u32::MAX)),
    });
    let text = |answer: &DefinitionsResult, _| shown_text(answer, "--budget");
    let answer = print_view(common, Method::Show, &params, text, (terminal::shown_places, terminal::shown))?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// The text of shown definitions, and what had no room; `limit` names the option that makes more.
pub(super) fn shown_text(answer: &DefinitionsResult, limit: &str) -> String {
    crate::style::safe(&answer.text) + &not_shown(answer, limit)
}

/// Names the definitions without room, and the names without a definition.
pub(super) fn not_shown(answer: &DefinitionsResult, limit: &str) -> String {
    let mut out = String::new();
    let named = |places: &[String], most: usize| {
        let (first, more) = places.split_at(places.len().min(most));
        let more = if more.is_empty() { String::new() } else { format!(" (+{})", more.len()) };
        safe_line(&first.join(" ")) + &more
    };
    if !answer.cut.is_empty() {
        let places = named(&answer.cut, CUT_NAMED);
        out += &format!("no room for {places}; raise {limit}, or show them alone\n");
    }
    if !answer.tests.is_empty() {
        out += &format!("in tests too: {}\n", named(&answer.tests, TESTS_NAMED));
    }
    if !answer.unknown.is_empty() {
        out += &format!("nothing is called {}\n", safe_line(&answer.unknown.join(", ")));
    }
    out
}

/// How sure the answer can be, one line for each hit, and how to ask better.
pub(super) fn hits_text(answer: &SearchResult, style: Style) -> String {
    let mut out = String::new();
    let confidence = answer.confidence;
    if answer.hits.is_empty() {
        return out;
    }
    let status = match confidence.basis {
        Basis::Nothing => "little of what you expect is here; the nearest places:".to_owned(),
        _ => format!("first place right in {:.0} of 10 answers like this", 10.0 * confidence.score),
    };
    out += &format!("{}\n", style.dim(&status));
    if !answer.missing.is_empty() {
        out += &format!("no code holds: {}\n", safe_line(&answer.missing.join(", ")));
    }
    for hit in &answer.hits {
        let place = format!("{}:{}", safe_line(&hit.file_rel_path), hit.line);
        let text = safe_line(&hit.text);
        let rest = text.strip_prefix(&place).unwrap_or(&text);
        out += &format!("{}{rest}\n", style.path(&place));
        let parts = neighbors(hit);
        if !parts.is_empty() {
            out += &style.dim(&format!("    {}", parts.join(" · ")));
            out.push('\n');
        }
    }
    if confidence.basis == Basis::Question {
        let advice = "ask again with expect: names and words of the code that you look for";
        out += &format!("{}\n", style.dim(advice));
    }
    out
}

/// The definitions around a hit, a text for each kind.
pub(super) fn neighbors(hit: &Hit) -> Vec<String> {
    let kinds = hit
        .neighbors
        .as_ref()
        .map(|near| [("called by", &near.callers), ("calls", &near.callees), ("tests", &near.tests)]);
    kinds.into_iter().flatten().filter_map(|(label, links)| links_text(label, links)).collect()
}

/// `calls a f.go:3, b g.go:4 (+2)`; none without any.
fn links_text(label: &str, links: &CardLinks) -> Option<String> {
    let named = links.first.iter().map(|l| match l.name.as_str() {
        "(file)" => format!("{}:{}", l.file_rel_path, l.line),
        name => format!("{name} {}:{}", l.file_rel_path, l.line),
    });
    let named: Vec<String> = named.map(|l| safe_line(&l)).collect();
    let left = links.n as usize - named.len().min(links.n as usize);
    let more = if left > 0 { format!(" (+{left})") } else { String::new() };
    (!named.is_empty()).then(|| format!("{label} {}{more}", named.join(", ")))
}

/// Prints a definition at a glance.
pub fn card(common: &Common, args: &CardArgs) -> Result<(), Failure> {
    let params = asked!(CardParams, common, &args.wait, {
        symbol: args.symbol.clone(),
        max_tokens: Some(args.budget),
    });
    let text = |answer: &CardResult, _| crate::style::safe(&answer.text);
    let answer = print(common, Method::Card, &params, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// Says what became of a path; one that is in no way in the index is exit status 1.
pub fn why(common: &Common, args: &WhyArgs) -> Result<(), Failure> {
    let params = asked!(WhyParams, common, &args.wait, {
        path: args.path.clone(),
    });
    let text = |answer: &WhyResult, style: Style| {
        let path = if answer.path.is_empty() { "." } else { &answer.path };
        format!("{}: {}\n", style.path(&safe_line(path)), safe_line(&answer.reason))
    };
    let answer = print(common, Method::Why, &params, text)?;
    note(common, &answer.envelope, &[]);
    match answer.standing {
        Standing::Indexed | Standing::IndexedAroundErrors | Standing::WordsOnly | Standing::Folder => Ok(()),
        _ => Err(Failure::NoResult),
    }
}

/// Prints definitions.
pub fn symbol(common: &Common, args: &SymbolArgs) -> Result<(), Failure> {
    let params = asked!(SymbolParams, common, &args.wait, {
        name: args.name.clone(),
        limit: Some(args.limit),
    });
    let text = |answer: &SymbolResult, style: Style| {
        let mut out = String::new();
        for s in &answer.symbols {
            out += &format!("{}  {}\n", place(s, style), title(s, style));
            if let Some(id) = s.symbol_id.as_ref().filter(|_| common.verbose) {
                out += &format!("    {}\n", style.dim(&safe_line(id)));
            }
        }
        let left = answer.n_symbols.saturating_sub(answer.symbols.len() as u64);
        if left > 0 {
            out += &style.dim(&format!("and {left} more; raise it with --limit\n"));
        }
        out
    };
    let answer = print(common, Method::Symbol, &params, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

pub(super) fn place(s: &Symbol, style: Style) -> String {
    style.path(&format!("{}:{}", safe_line(&s.file_rel_path), s.line))
}

pub(super) fn title(s: &Symbol, style: Style) -> String {
    format!("{} {}", style.dim(&s.kind), style.bold(&safe_line(name_of(s))))
}

pub(super) fn name_of(s: &Symbol) -> &str {
    if s.qualified_name.is_empty() { &s.name } else { &s.qualified_name }
}
