//! A pack for people: the best places first, then each with its name, why it is here, and its code.

use crate::code::{Code, columns_of, cut, words};
use crate::style::{Style, count, number, safe, safe_line};
use indexd_proto::pack::{Basis, ChangeReport, Form, Item, Pack, Part, Status};
use indexd_proto::symbol::{name_of_symbol, rule_in_words, section_in_words};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Places in the list at the top.
const LISTED: usize = 10;
/// Columns in front of code: the number of the line and a rule.
const GUTTER: usize = 8;
/// Commands that are offered at the end.
const NEXT_SHOWN: usize = 2;

/// The parts of a pack that are written.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    /// Places and reasons without code.
    pub brief: bool,
    /// Scores, tokens, and the places that were left out.
    pub signals: bool,
}

/// The lines of code that the text shows, as path, first and last line.
pub fn places(pack: &Pack) -> Vec<(String, u32, u32)> {
    let items = pack.sections.iter().flat_map(|s| &s.items).filter(|i| i.form != Form::Diff);
    let of = |i: &Item| {
        let path = i.path().to_owned();
        i.excerpt.parts.iter().map(move |p| (path.clone(), p.lines.start, p.lines.end)).collect::<Vec<_>>()
    };
    items.flat_map(of).collect()
}

/// The whole text.
pub fn render(pack: &Pack, style: Style, code: &Code, parts: Parts) -> String {
    let mut out = String::new();
    head(&mut out, pack, style);
    if let Some(change) = pack.change.as_ref().filter(|c| !c.files.is_empty()) {
        changes(&mut out, change, style, parts.brief);
    }
    let items: Vec<&Item> = pack.sections.iter().flat_map(|s| &s.items).collect();
    if parts.brief || items.len() > 1 {
        let shown = if parts.brief { items.len() } else { LISTED };
        list(&mut out, &items, shown, style);
    }
    let asked = asked_words(pack);
    let mut n = 0;
    for section in &pack.sections {
        for (i, item) in section.items.iter().enumerate() {
            n += 1;
            if parts.brief && !parts.signals {
                continue;
            }
            // Those of the first section need no name.
            let of = (i == 0 && n > 1).then(|| safe_line(&section_in_words(&section.name)));
            self::item(&mut out, n, item, style, (of, &asked), parts.signals);
            if !parts.brief && item.form != Form::Diff {
                excerpt(&mut out, item, style, code);
            }
        }
    }
    if n == 0 && pack.change.as_ref().is_none_or(|c| c.shown == 0) {
        let _ = writeln!(out, "\n{}", nothing(pack));
    }
    tail(&mut out, pack, style, parts.signals);
    out
}

/// Why there are no items: nothing was found, or it has no room.
pub(super) fn nothing(pack: &Pack) -> String {
    if let Some(change) = pack.change.as_ref().filter(|c| c.files.is_empty()) {
        let [from, to] = [&change.from, &change.to].map(|state| safe_line(short(state)));
        return format!("Nothing differs between {from} and {to}.");
    }
    if pack.stats.found == 0 {
        return "No relevant code found.".to_owned();
    }
    let limits = &pack.budgets;
    format!(
        "Nothing of what was found fits into {} and {}.",
        count(limits.max_total_tokens.value, "token", "tokens"),
        count(limits.max_total_chars.value, "character", "characters"),
    )
}

fn text<'p>(pack: &'p Pack, name: &str) -> &'p str {
    pack.request.get(name).and_then(|v| v.as_str()).unwrap_or("")
}

fn head(out: &mut String, pack: &Pack, style: Style) {
    // A text of several lines goes by its first.
    let all = text(pack, "query").trim();
    let query = safe_line(all.lines().next().unwrap_or(""));
    let short = cut(&query, style.width.saturating_sub(2));
    if !short.is_empty() {
        let dots = if short.len() < query.len() || all.contains('\n') { "…" } else { "" };
        let _ = writeln!(out, "{}{dots}", style.bold(&short));
    }
    let s = &pack.stats;
    let mut facts = vec![
        safe_line(text(pack, "repoId")),
        format!("{} of {} found", count(s.included, "place", "places"), number(s.found)),
        format!("{} of {} tokens", number(s.token_count), number(s.token_budget)),
    ];
    if s.found == 0 || pack.change.as_ref().is_some_and(|c| c.files.is_empty()) {
        facts.truncate(1);
    }
    let _ = writeln!(out, "{}", style.dim(&words(&facts.join(" · "), style.width)));
    if s.included > 0 && pack.change.is_none() && pack.confidence.basis != Basis::Nothing {
        let score = 10.0 * pack.confidence.score;
        let said = format!("The first place is right in {score:.0} of 10 answers like this");
        let _ = writeln!(out, "{}", style.dim(&said));
    }
}

/// The best places by name, a line each.
fn list(out: &mut String, items: &[&Item], shown: usize, style: Style) {
    let rows: Vec<(String, String)> = items
        .iter()
        .take(shown)
        .map(|i| (name(i), format!("{}:{}", safe_line(i.path()), i.lines().start)))
        .collect();
    let most = (style.width * 45 / 100).max(16);
    let width = rows.iter().map(|(name, _)| columns_of(name)).max().unwrap_or(0).min(most);
    out.push('\n');
    for (n, (name, place)) in rows.iter().enumerate() {
        let short = cut(name, width);
        let dots = if short.len() < name.len() { "…" } else { "" };
        let blank = " ".repeat(width.saturating_sub(columns_of(&short) + dots.chars().count()));
        let room = style.width.saturating_sub(width + 6);
        let _ = writeln!(
            out,
            "{} {}{dots}{blank}  {}",
            style.dim(&format!("{:>3}", n + 1)),
            style.bold(&short),
            style.place(place, room),
        );
    }
    if items.len() > shown {
        let _ = writeln!(out, "    {}", style.dim(&format!("and {} more below", items.len() - shown)));
    }
}

/// The name of an item: that of its symbol, else its title.
fn name(item: &Item) -> String {
    let of_symbol = item.symbol_id.as_deref().and_then(name_of_symbol);
    safe_line(&of_symbol.unwrap_or_else(|| item.title.clone()))
}

/// A state of a change; the start of its id for a commit.
pub(super) fn short(state: &str) -> &str {
    let is_commit = state.len() >= 40 && state.bytes().all(|b| b.is_ascii_hexdigit());
    match state {
        "worktree" => "the work tree",
        _ if is_commit => &state[..12],
        _ => state,
    }
}

/// What a change does, file by file.
fn changes(out: &mut String, change: &ChangeReport, style: Style, brief: bool) {
    let n = count(change.files.len() as u64, "file", "files");
    let [from, to] = [&change.from, &change.to].map(|state| safe_line(short(state)));
    let title = format!("change {from} → {to} ({n})");
    let _ = writeln!(out, "\n{}", style.heading(&title));
    for file in &change.files {
        let (added, removed) =
            file.parts.iter().fold((0, 0), |(a, r), p| (a + u64::from(p.added), r + u64::from(p.removed)));
        let was = file.previous_path.as_ref().map_or(String::new(), |p| format!(" from {}", safe_line(p)));
        let sizes = format!("{}{was} +{added} -{removed}", file.status.name());
        let path = style.path(&safe_line(&file.file_rel_path));
        let _ = writeln!(out, "  {path}  {}", style.dim(&sizes));
        if let Some(why) = &file.unreadable {
            let _ = writeln!(out, "    {}", style.dim(&format!("not shown: {}", safe_line(why))));
        }
        for part in &file.parts {
            let name = if part.name.is_empty() { "(between definitions)" } else { &part.name };
            let mut facts = vec![format!("{} +{} -{}", part.status.name(), part.added, part.removed)];
            facts.extend(part.contract.then(|| "changed for its users".to_owned()));
            facts.extend(part.previous_name.as_ref().map(|p| format!("was {}", safe_line(p))));
            let way = if part.status == Status::Removed { "now" } else { "was" };
            facts.extend(part.elsewhere.as_ref().map(|e| format!("{way} {}", safe_line(e))));
            facts.extend(part.diff.is_none().then(|| "no room".to_owned()));
            let facts = style.dim(&facts.join(" · "));
            let _ = writeln!(out, "    {}  {facts}", style.bold(&safe_line(name)));
            for line in part.diff.iter().filter(|_| !brief).flat_map(|d| d.lines()) {
                let _ = writeln!(out, "      {}", style.diff_line(&safe(line)));
            }
        }
    }
}

fn item(
    out: &mut String,
    n: usize,
    item: &Item,
    style: Style,
    (section, asked): (Option<String>, &[String]),
    signals: bool,
) {
    let name = name(item);
    let place = format!("{}:{}-{}", safe_line(item.path()), item.lines().start, item.lines().end);
    let left = columns_of(&name) + 5;
    out.push('\n');
    if let Some(section) = section {
        let _ = writeln!(out, "{}\n", style.bold(&section));
    }
    let n = style.dim(&format!("{n:>3}"));
    match style.width.checked_sub(left + columns_of(&place) + 2) {
        Some(room) => {
            let rule = style.dim(&"─".repeat(room));
            let _ = writeln!(out, "{n} {} {rule} {}", style.bold(&name), style.path(&place));
        }
        None => {
            let room = style.width - 4;
            let _ = writeln!(out, "{n} {}", style.bold(&cut(&name, room)));
            let _ = writeln!(out, "    {}", style.place(&place, room));
        }
    }
    let mut facts = reasons(item, asked);
    if signals {
        let s = &item.scores;
        facts.push(format!(
            "score {:.3} (seed {:.3}, {} hops, evidence {:.2})",
            s.hybrid_score, s.seed_score, s.graph_distance, s.evidence_score
        ));
        facts.push(count(item.tokens, "token", "tokens"));
    }
    if !item.redactions.is_empty() {
        facts.push(format!("redacted: {}", safe_line(&item.redactions.join(", "))));
    }
    for place in &item.also_at {
        facts.push(format!("also at {}:{}", safe_line(&place.file_rel_path), place.lines.start));
    }
    let facts = words(&facts.join(" · "), style.width - 4);
    for line in facts.lines() {
        let _ = writeln!(out, "    {}", style.dim(line));
    }
}

/// Words of the question and of the expectations that are worth naming as found.
fn asked_words(pack: &Pack) -> Vec<String> {
    const COMMON: [&str; 14] = [
        "where", "what", "which", "when", "does", "that", "this", "with", "from", "into", "have", "them",
        "they", "there",
    ];
    let expected = pack.request.get("expect").and_then(|v| v.as_array());
    let expected = expected.into_iter().flatten().filter_map(|v| v.as_str());
    let is_part = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut out: Vec<String> = Vec::new();
    for word in expected.chain([text(pack, "query")]).flat_map(|t| t.split(is_part)) {
        let is_known = out.iter().any(|o| o.eq_ignore_ascii_case(word));
        if word.len() > 3 && !is_known && !COMMON.contains(&word.to_lowercase().as_str()) {
            out.push(word.to_owned());
        }
    }
    out
}

/// Why an item is here, in words: how it was found, and what connects it with other items by their numbers.
pub(super) fn why(item: &Item) -> String {
    reasons(item, &[]).join(" · ")
}

fn reasons(item: &Item, asked: &[String]) -> Vec<String> {
    let related = relations(item);
    let found = |what: &str| {
        let words = matched(item, asked);
        if words.is_empty() { what.to_owned() } else { format!("{what}: {}", words.join(", ")) }
    };
    let words = rule_in_words(&item.why.rule);
    let first = match item.why.rule.as_str() {
        "seed-terms" | "seed-path" | "seed-literal" | "test-match" | "doc-match" | "config-match" => {
            Some(found(words))
        }
        // Its relations say more.
        "call-neighbor" | "usage-neighbor" | "import-neighbor" | "export-neighbor" | "dataflow-neighbor" => {
            related.is_empty().then(|| words.to_owned())
        }
        _ => Some(safe_line(words)),
    };
    first.into_iter().chain(related).collect()
}

/// `calls #3, #8` for `calls item 3` and `calls item 8`, in the order of the items of a kind.
fn relations(item: &Item) -> Vec<String> {
    let mut order: Vec<&str> = Vec::new();
    let mut by: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (verb, n) in item.why.also.iter().filter_map(|a| a.split_once(" item ")) {
        let Ok(n) = n.parse() else { continue };
        if !order.contains(&verb) {
            order.push(verb);
        }
        by.entry(verb).or_default().push(n);
    }
    let of = |verb: &str| {
        let mut numbers = by.remove(verb).unwrap_or_default();
        numbers.sort_unstable();
        let numbers: Vec<String> = numbers.iter().map(|n| format!("#{n}")).collect();
        format!("{verb} {}", numbers.join(", "))
    };
    order.into_iter().map(of).collect()
}

/// The words that it was found by, at most three: that of the evidence, then others that it shows.
fn matched(item: &Item, asked: &[String]) -> Vec<String> {
    let shown = item.excerpt.text.to_lowercase();
    let terms = item.why.evidence.iter().filter_map(|e| e.via.strip_prefix("term "));
    // In `retried as Retry` the second word is that of the code.
    let terms = terms.map(|t| t.split_once(" as ").map_or(t, |(_, there)| there).to_owned());
    let others = asked.iter().filter(|w| shown.contains(&w.to_lowercase())).cloned();
    let mut out: Vec<String> = Vec::new();
    for word in terms.chain(others) {
        let lower = word.to_lowercase();
        let is_known = out.iter().any(|o| o.to_lowercase().contains(&lower));
        if !is_known && out.len() < 3 {
            out.push(safe_line(&word));
        }
    }
    out
}

fn excerpt(out: &mut String, item: &Item, style: Style, code: &Code) {
    let parts = &item.excerpt.parts;
    let Some(first) = parts.first() else { return };
    let gap = |out: &mut String, from: u32, to: u32| {
        if from <= to {
            let lines = if from == to { format!("line {from}") } else { format!("lines {from}-{to}") };
            let _ = writeln!(out, "{}", style.dim(&format!("      ⋮ {lines}")));
        }
    };
    // What a whole item leaves out at its ends is not part of it.
    let is_cut = item.excerpt.truncated;
    let mut next = if is_cut { item.lines().start } else { first.lines.start };
    let mut texts = item.excerpt.text.lines();
    for part in parts {
        gap(out, next, part.lines.start.saturating_sub(1));
        lines(out, (item.path(), part), &mut texts, style, code);
        next = part.lines.end + 1;
    }
    if is_cut {
        gap(out, next, item.lines().end);
    }
}

fn lines<'t>(
    out: &mut String,
    (path, part): (&str, &Part),
    texts: &mut impl Iterator<Item = &'t str>,
    style: Style,
    code: &Code,
) {
    for number in part.lines.start..=part.lines.end {
        let Some(line) = texts.next() else { return };
        *out += &numbered(path, number, line, style, code);
    }
}

/// A line of code behind its number, on as many lines as it takes.
pub(super) fn numbered(path: &str, number: u32, line: &str, style: Style, code: &Code) -> String {
    let mut out = String::new();
    let width = style.width.saturating_sub(GUTTER);
    for (i, text) in code.lines(path, number, line, width, style).into_iter().enumerate() {
        let gutter = if i == 0 { format!("{number:>5} │") } else { "      ┊".to_owned() };
        let _ = writeln!(out, "{}", format!("{} {text}", style.dim(&gutter)).trim_end());
    }
    out
}

fn tail(out: &mut String, pack: &Pack, style: Style, signals: bool) {
    let s = &pack.stats;
    out.push('\n');
    let mut say = |label: &str, text: &str| labelled(out, style, label, text);
    let no_change = pack.change.as_ref().is_some_and(|c| c.files.is_empty());
    // Other lines of this text say those.
    let is_said = |h: &str| {
        no_change || ["had no room", "sections without room", ASK_AGAIN].iter().any(|s| h.contains(s))
    };
    for hint in pack.missing_context_hints.iter().filter(|h| signals || !is_said(h)) {
        let label = if hint.starts_with("name ") { "hint:" } else { "missing:" };
        say(label, &safe_line(&as_options(hint)));
    }
    let no_room = s.dropped_by_reason.get("budget").copied().unwrap_or(0);
    if no_room > 0 && s.included > 0 {
        let budget = (s.token_budget * 2).to_string();
        let more = format!("{} more found; --fill --budget {budget} shows more", number(no_room));
        say("more:", &more);
    }
    if pack.confidence.basis == Basis::Question && s.included > 0 {
        say("surer:", &format!("name what the code may say, as in -e '{}'", expected(pack)));
    }
    for command in next(pack).into_iter().take(if signals { usize::MAX } else { NEXT_SHOWN }) {
        say("next:", &safe_line(&command));
    }
    let dropped = s.dropped_by_reason.iter().filter(|(_, n)| signals && **n > 0);
    let dropped: Vec<String> = dropped.map(|(reason, n)| format!("{n} {reason}")).collect();
    if !dropped.is_empty() {
        say("left out:", &dropped.join(", "));
    }
    if signals {
        excluded(out, pack, style);
    }
}

/// Appends a text behind its label, wrapped in a column of its own.
fn labelled(out: &mut String, style: Style, label: &str, text: &str) {
    let label_width = columns_of(label) + 1;
    let lines = words(text, style.width.saturating_sub(label_width));
    for (i, line) in lines.lines().enumerate() {
        let label = if i == 0 { style.warn(label) } else { " ".repeat(label_width - 1) };
        let _ = writeln!(out, "{label} {line}");
    }
}

/// Appends candidates that were left out, with the reason, and the id of the pack.
fn excluded(out: &mut String, pack: &Pack, style: Style) {
    for e in pack.explain.iter().flat_map(|e| e.excluded.iter().take(20)) {
        let (path, title) = (safe_line(&e.file_rel_path), safe_line(&e.title));
        let line = format!("{path}:{}  {title}  ({})", e.lines.start, safe_line(&e.reason));
        let _ = writeln!(out, "    {}", style.dim(&line));
    }
    let _ = writeln!(out, "{}", style.dim(&format!("pack {}", safe_line(&pack.pack_id))));
}

/// The beginning of the hint that a question in words alone gets.
const ASK_AGAIN: &str = "ask again with expect";

/// Names of the tree near the question, as an example of what to expect.
fn expected(pack: &Pack) -> String {
    let hint = pack.missing_context_hints.iter().find(|h| h.starts_with(ASK_AGAIN));
    let near =
        hint.and_then(|h| h.split_once("near it are ")).map_or("retryDelay, backoff", |(_, names)| names);
    let is_name = |n: &&str| n.chars().all(|c| c.is_alphanumeric() || "._:#".contains(c));
    near.split(", ").filter(is_name).take(3).collect::<Vec<_>>().join(" ")
}

/// A hint with the options of `ctl pack` in place of the members of a request.
fn as_options(hint: &str) -> String {
    // Those that another begins with stand after it.
    let names = ["maxItemsPerSection", "maxBytesPerItem", "maxTotalChars", "maxItems"];
    let option = |hint: String, name: &&str| {
        let is_named = hint.contains(&format!("{name} ")) || hint.ends_with(*name);
        if is_named { hint.replacen(*name, &format!("--param budgets.{name}"), 1) } else { hint }
    };
    names.iter().fold(hint.replace("maxTotalTokens", "--budget"), option)
}

/// Command lines that show more: the definitions that had no room, then what surrounds the first one
/// shown, where that has a section and the section was cut whole.
fn next(pack: &Pack) -> Vec<String> {
    let queries = &pack.suggested_next_queries;
    if pack.stats.found == 0 {
        return queries.clone();
    }
    let mut out: Vec<String> = queries.iter().map(|q| format!("ctl pack {}", quoted(q))).collect();
    let cut = |section: &str| {
        pack.sections.iter().any(|s| s.name == section && s.items.is_empty() && s.dropped > 0)
    };
    let shown = || pack.sections.iter().flat_map(|s| &s.items);
    if let Some(first) = shown().find(|i| i.symbol_id.is_some()) {
        let place = quoted(&format!("{}:{}", first.path(), first.lines().start));
        if cut("callers") {
            out.push(format!("ctl callers {place}"));
        } else if cut("usages") || cut("key_usages") {
            out.push(format!("ctl refs {place}"));
        }
        if cut("callees") {
            out.push(format!("ctl callees {place}"));
        }
    }
    out
}

/// A word for a shell: as it is where that is safe, else in single quotes.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EXPLAINED: Parts = Parts { brief: false, signals: true };

    fn pack() -> Pack {
        serde_json::from_value(json!({
            "request": {"query": "where is the retry delay decided\n\nSince 1.2.", "repoId": "demo", "layout": "graph"},
            "packId": "pack:sha256:00",
            "sections": [
                {"name": "seeds", "dropped": 2, "items": [{
                    "fileRelPath": "net/re\u{1b}try.go", "lines": {"start": 8, "end": 19}, "title": "func delay(n int) time.Duration",
                    "provenance": {"snippet_id": "", "ref": "", "content_hash": "", "selection_reason": ""},
                    "symbolId": "scip:indexd gomod demo . net/Retry#delay().", "tokens": 42, "scores": {"hybridScore": 0.91, "seedScore": 1.0, "evidenceScore": 1.0},
                    "why": {"rule": "text-hit", "evidence": [{"kind": "identifier", "fileRelPath": "net/retry.go", "line": 11}]},
                    "excerpt": {
                        "truncated": true, "text": "func delay(n int) time.Duration {\n\treturn base << n\n}\n",
                        "parts": [{"lines": {"start": 10, "end": 11}}, {"lines": {"start": 15, "end": 15}}],
                    },
                }]},
                {"name": "callers", "items": []},
            ],
            "stats": {"found": 7, "included": 1, "dropped": 6, "droppedByReason": {"budget": 4, "duplicate": 2}, "tokenCount": 420, "tokenBudget": 8000, "budgetUsedPercent": 5},
            "missing_context_hints": ["no test names it"],
        }))
        .unwrap()
    }

    #[test]
    fn reads_like_a_report() {
        let style = Style::plain(80);
        insta::assert_snapshot!("pack", render(&pack(), style, &Code::default(), EXPLAINED));
        insta::assert_snapshot!(
            "pack_brief",
            render(&pack(), style, &Code::default(), Parts { brief: true, signals: false })
        );
    }

    #[test]
    fn what_to_do_next_is_said_as_command_lines() {
        let mut pack = pack();
        pack.suggested_next_queries = vec!["Retry.wait net/retry.go:8".to_owned(), "it's".to_owned()];
        pack.sections[1].dropped = 3;
        let expect = [
            "ctl pack 'Retry.wait net/retry.go:8'",
            r"ctl pack 'it'\''s'",
            "ctl callers 'net/re\u{1b}try.go:8'",
        ];
        assert_eq!(next(&pack), expect);
        pack.stats.found = 0;
        assert_eq!(next(&pack), pack.suggested_next_queries, "there is no command for it");
        let hint = "3 candidates had no room; raise maxItemsPerSection";
        assert_eq!(as_options(hint), "3 candidates had no room; raise --param budgets.maxItemsPerSection");
        assert_eq!(as_options("raise maxItems or ask"), "raise --param budgets.maxItems or ask");
    }

    #[test]
    fn reasons_are_said_in_words() {
        let mut item = pack().sections.swap_remove(0).items.swap_remove(0);
        item.why.rule = "seed-terms".to_owned();
        item.why.evidence[0].via = "term retried as Retry".to_owned();
        item.why.also =
            ["callers", "calls item 8", "called by item 3", "calls item 2"].map(str::to_owned).to_vec();
        let asked = ["retry", "delay", "base"].map(str::to_owned);
        assert_eq!(
            reasons(&item, &asked),
            ["best match: Retry, delay, base", "calls #2, #8", "called by #3"]
        );
        item.why.rule = "call-neighbor".to_owned();
        assert_eq!(reasons(&item, &asked), ["calls #2, #8", "called by #3"]);
        item.why.also.clear();
        assert_eq!(reasons(&item, &asked), ["a call away from a match"]);
    }

    #[test]
    fn says_when_nothing_was_found() {
        let style = Style::plain(80);
        let mut pack = Pack::default();
        assert!(render(&pack, style, &Code::default(), Parts::default()).contains("No relevant code found."));
        (pack.stats.found, pack.budgets.max_total_tokens.value) = (361, 1);
        let full = render(&pack, style, &Code::default(), Parts::default());
        assert!(full.contains("Nothing of what was found fits into 1 token and 0 characters."), "{full}");
    }

    #[test]
    fn no_colour_means_no_escape() {
        let plain = render(&pack(), Style::plain(80), &Code::default(), EXPLAINED);
        assert!(!plain.contains('\x1b'));
        let coloured =
            render(&pack(), Style { color: true, ..Style::plain(80) }, &Code::default(), EXPLAINED);
        assert!(coloured.contains("\x1b[36m") && !coloured.contains("re\x1btry"));
    }
}
