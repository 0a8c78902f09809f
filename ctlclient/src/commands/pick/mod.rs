//! `ctl pack -i`: choosing what goes into the text, on a terminal.
//!
//! The pack comes as for everyone. `choice` holds what may be chosen, `view` what is shown of it, `screen`
//! the terminal. Each change is counted by the daemon, so that the budget holds exactly.

mod choice;
mod screen;
mod text;
mod view;

use super::pack::{self, PackArgs};
use super::{Target, pack_text};
use crate::cli::Common;
use crate::failure::Failure;
use crate::session::{self, Session};
use crate::style::{Style, count};
use choice::{Choice, Gathered, Packer};
use indexd_proto::Method;
use indexd_proto::pack::LineRange;
use indexd_proto::request::{ContextBudgetRequest, Focus, PackParams, PackResult};
use indexd_proto::sources::{OfferedSource, PackingMode, SourceType, SourcesParams, SourcesResult};
use screen::Screen;
use serde_json::{Value, json};
use view::{Picker, Step};

/// The exit status of whoever ends without a text, as after an interrupt.
const INTERRUPTED: u8 = 130;

/// Tokens up to which a text is counted; the budget is looked at afterwards.
const COUNTED_TOKENS_MAX: u64 = 10_000_000;

/// Lets the user choose, and prints or copies the text.
///
/// # Errors
/// `POC_E_NOT_SUPPORTED` without a terminal; what a pack ends with; exit status 130 without a text.
pub fn pick(common: &Common, args: &PackArgs) -> Result<(), Failure> {
    let query = super::query(&args.query)?;
    let mut params = pack::params(common, args, query)?;
    params.call.rendered = true;
    params.request.include_explain = Some(true);
    let mut daemon = Daemon { session: Session::open(common)?, target: Target::of(common)?, tokenizer: None };
    // A terminal that cannot be used is said before anything is built.
    drop(Screen::open()?);
    let choice = daemon.pack(&params)?;
    daemon.session.tells_progress(None);
    let mut picker = Picker::new(choice, Style::has_color_on_terminal(common.color));
    let step = choose(&mut picker, &mut daemon, params)?;
    let Gathered { content, tokens } = &picker.choice.gathered;
    match step {
        Step::Quit => Err(Failure::Status(INTERRUPTED)),
        Step::Copy => {
            screen::copy(content)?;
            let tokens = count(*tokens, "token", "tokens");
            eprintln!("ctl: copied {tokens}, where the terminal takes what is sent to its clipboard");
            Ok(())
        }
        _ => super::put(None, content),
    }
}

/// Draws and takes keys until the user ends.
fn choose(picker: &mut Picker, daemon: &mut Daemon, mut params: PackParams) -> Result<Step, Failure> {
    let mut screen = Screen::open()?;
    loop {
        if let Some(i) = picker.current() {
            // The preview says where there is no text.
            let _ = picker.choice.read(i, daemon);
        }
        screen.draw(|frame| picker.draw(frame))?;
        let Some(key) = screen.key()? else { continue };
        let next = match picker.key(key, daemon) {
            Step::Stay => continue,
            Step::Refill => without_dropped(&picker.choice, &params),
            Step::Focus(i) => starting_from(&picker.choice, i, &params),
            step => return Ok(step),
        };
        match next.and_then(|next| Ok((daemon.ask_again(&picker.choice, &next)?, next))) {
            Ok((choice, next)) => {
                picker.replace(choice);
                params = next;
            }
            Err(why) => picker.say(why),
        }
    }
}

/// The request without what was dropped.
fn without_dropped(choice: &Choice, params: &PackParams) -> Result<PackParams, String> {
    let dropped = choice.dropped();
    if dropped.is_empty() && choice.has_dropped_changes() {
        return Err("what a change does keeps its room in another pack: take in what was left out".to_owned());
    }
    if dropped.is_empty() {
        return Err("nothing was dropped: space drops what the cursor is on".to_owned());
    }
    let mut next = params.clone();
    next.request.seen.extend(dropped);
    Ok(next)
}

/// The request with an entry as its focus.
fn starting_from(choice: &Choice, i: usize, params: &PackParams) -> Result<PackParams, String> {
    let entry = &choice.entries[i];
    let mut next = params.clone();
    next.request.focus = Some(match &entry.chunk_uid {
        Some(uid) => Focus { chunk_uid: Some(uid.clone()), ..Focus::default() },
        None => Focus { file_rel_path: Some(entry.path.clone()), ..Focus::default() },
    });
    Ok(next)
}

/// A daemon that packs, reads and counts.
struct Daemon {
    session: Session,
    target: Target,
    tokenizer: Option<String>,
}

impl Daemon {
    fn pack(&mut self, params: &PackParams) -> Result<Choice, Failure> {
        let line = self.session.call(Method::Pack, params)?;
        let answer: PackResult = session::result(&line)?;
        let pack = pack::parse(answer.pack)?;
        let choice = Choice::of(&pack, answer.rendered.as_deref().unwrap_or(""), pack_text::why);
        self.tokenizer = Some(pack.budgets.tokenizer);
        Ok(choice)
    }

    /// Another pack, with what was dropped and added carried over.
    fn ask_again(&mut self, old: &Choice, params: &PackParams) -> Result<Choice, String> {
        let mut choice = self.pack(params).map_err(sentence)?;
        choice.follow(old, self)?;
        Ok(choice)
    }

    fn sources(&mut self, source: OfferedSource) -> Result<SourcesResult, String> {
        let settings = json!({
            "relevanceWeight": 1, "recencyWeight": 0, "sourceWeight": 0, "preferStructural": false,
            "minChunkTokens": 1, "maxChunkTokens": u32::MAX,
        });
        let params = SourcesParams {
            repo: self.target.repo.clone(),
            cwd: self.target.cwd.clone(),
            // Its chunks have text and tokens, and no pack is said to have been made.
            mode: Some(PackingMode::Preview),
            sources: vec![source],
            budget: Some(ContextBudgetRequest {
                total_tokens: Some(COUNTED_TOKENS_MAX),
                response_reserve: Some(0),
                system_reserve: Some(0),
            }),
            settings: settings.as_object().cloned(),
            tokenizer: self.tokenizer.clone(),
            ..SourcesParams::default()
        };
        self.session.ask(Method::ContextPack, &params).map_err(sentence)
    }
}

impl Packer for Daemon {
    fn count(&mut self, text: &str) -> Result<u64, String> {
        let source = OfferedSource {
            source_type: SourceType::ToolResult,
            content: Some(text.to_owned()),
            ..OfferedSource::default()
        };
        // It is one chunk, whose tokens are those of its text alone.
        let packed = Value::Object(self.sources(source)?.packed);
        packed
            .pointer("/chunks/0/tokenCount")
            .and_then(Value::as_u64)
            .ok_or_else(|| "it was not counted".to_owned())
    }

    fn read(&mut self, path: &str, lines: &LineRange) -> Result<String, String> {
        let source = OfferedSource {
            source_type: SourceType::SearchResult,
            file_path: Some(path.to_owned()),
            line_range: Some(*lines),
            ..OfferedSource::default()
        };
        let packed = self.sources(source)?.packed;
        let text =
            |at: &str| Value::Object(packed.clone()).pointer(at).and_then(Value::as_str).map(str::to_owned);
        text("/chunks/0/content").ok_or_else(|| text("/warnings/0").unwrap_or("it has no text".to_owned()))
    }
}

fn sentence(failure: Failure) -> String {
    match failure {
        Failure::Error(e) => e.message,
        other => format!("{other:?}"),
    }
}
