//! A pack for people: what was found, where, why, and the code itself.

use crate::style::{Style, count, number, safe, safe_line};
use indexd_proto::pack::{ChangeReport, Form, Item, Pack, Part, Status};
use std::fmt::Write as _;

/// Columns of the budget bar.
const BAR: usize = 24;

/// The whole text. `brief` leaves the code out; `signals` adds scores and what was left out.
pub fn render(pack: &Pack, style: Style, brief: bool, signals: bool) -> String {
    let mut out = String::new();
    head(&mut out, pack, style);
    let mut n = 0;
    if let Some(change) = &pack.change {
        changes(&mut out, change, style, brief);
    }
    for section in &pack.sections {
        if section.items.is_empty() {
            continue;
        }
        let left =
            if section.dropped > 0 { format!(", {} left out", section.dropped) } else { String::new() };
        let title = format!("{} ({}{left})", safe_line(&section.name), section.items.len());
        let _ = writeln!(out, "\n{}", style.heading(&title));
        for item in &section.items {
            n += 1;
            self::item(&mut out, n, item, style, signals);
            if !brief && item.form != Form::Diff {
                excerpt(&mut out, item, style);
            }
        }
    }
    if n == 0 && pack.change.as_ref().is_none_or(|c| c.shown == 0) {
        let _ = writeln!(out, "\n{}", nothing(pack));
    }
    tail(&mut out, pack, style, signals);
    out
}

/// Why there are no items: nothing was found, or it has no room.
pub(super) fn nothing(pack: &Pack) -> String {
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

fn head(out: &mut String, pack: &Pack, style: Style) {
    let text = |name: &str| pack.request.get(name).and_then(|v| v.as_str()).unwrap_or("");
    // A text of several lines goes by its first.
    let all = text("query").trim();
    let query = safe_line(all.lines().next().unwrap_or(""));
    let short: String = query.chars().take(style.width.saturating_sub(4)).collect();
    if !short.is_empty() {
        let dots = if short.len() < query.len() || all.contains('\n') { "…" } else { "" };
        let _ = writeln!(out, "{}{dots}", style.bold(&short));
    }
    let s = &pack.stats;
    let _ = writeln!(
        out,
        "{} · {} · {} of {} found · {} {} / {} tokens ({}%)",
        safe_line(text("repoId")),
        safe_line(text("layout")),
        count(s.included, "item", "items"),
        number(s.found),
        style.bar(s.budget_used_percent, BAR),
        number(s.token_count),
        number(s.token_budget),
        s.budget_used_percent,
    );
}

/// A state of a change; the start of its id for a commit.
pub(super) fn short(state: &str) -> &str {
    let is_commit = state.len() >= 40 && state.bytes().all(|b| b.is_ascii_hexdigit());
    if is_commit { &state[..12] } else { state }
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

fn item(out: &mut String, n: usize, item: &Item, style: Style, signals: bool) {
    let place = format!("{}:{}-{}", safe_line(&item.file_rel_path), item.lines.start, item.lines.end);
    let _ = writeln!(
        out,
        "{} {}  {}",
        style.dim(&format!("{n:>3}")),
        style.path(&place),
        style.bold(&safe_line(&item.title))
    );
    // The path stands above.
    let here = format!(" {}:", item.file_rel_path);
    let mut facts = vec![safe_line(&why(item).replace(&here, " line "))];
    if let Some(owner) =
        item.symbol_id.as_deref().and_then(owner).filter(|o| !item.title.contains(o.as_str()))
    {
        facts.insert(0, format!("in {}", safe_line(&owner)));
    }
    if signals {
        let s = &item.scores;
        facts.push(format!(
            "score {:.3} (seed {:.3}, {} hops, evidence {:.2})",
            s.hybrid_score, s.seed_score, s.graph_distance, s.evidence_score
        ));
    }
    facts.push(format!("{} tokens", number(item.tokens)));
    if !item.redactions.is_empty() {
        facts.push(format!("redacted: {}", safe_line(&item.redactions.join(", "))));
    }
    for place in &item.also_at {
        facts.push(format!("also at {}:{}", safe_line(&place.file_rel_path), place.lines.start));
    }
    let _ = writeln!(out, "    {}", style.dim(&facts.join(" · ")));
}

/// What a definition is a member of, `Session` or `Outer.Inner`, from its SCIP symbol: the types
/// before its last descriptor. None for what stands alone.
fn owner(symbol: &str) -> Option<String> {
    let tail = symbol.rsplit(['/', ' ']).next()?;
    let (types, _) = tail.strip_suffix('#').unwrap_or(tail).rsplit_once('#')?;
    Some(types.replace('#', "."))
}

/// One sentence: the rule with its best evidence, and what else connects the item with others.
pub(super) fn why(item: &Item) -> String {
    let mut sentence = match item.why.evidence.first() {
        Some(e) if e.line > 0 => {
            let what = if e.via.is_empty() { e.kind.as_ref() } else { e.via.as_str() };
            let outside = if e.outside_excerpt { ", not shown" } else { "" };
            format!("{}: {what} at {}:{}{outside}", item.why.rule, e.file_rel_path, e.line)
        }
        _ => item.why.rule.clone(),
    };
    for relation in item.why.also.iter().filter(|a| a.contains(" item ")) {
        sentence.push_str("; ");
        sentence.push_str(relation);
    }
    sentence
}

fn excerpt(out: &mut String, item: &Item, style: Style) {
    let parts = &item.excerpt.parts;
    let Some(first) = parts.first() else { return };
    let gap = |out: &mut String, from: u32, to: u32| {
        if from <= to {
            let _ = writeln!(out, "{}", style.dim(&format!("      ⋮ lines {from}-{to}")));
        }
    };
    // What a whole item leaves out at its ends is not part of it.
    let is_cut = item.excerpt.truncated;
    let mut next = if is_cut { item.lines.start } else { first.lines.start };
    let mut texts = item.excerpt.text.lines();
    for part in parts {
        gap(out, next, part.lines.start.saturating_sub(1));
        lines(out, part, &mut texts, style);
        next = part.lines.end + 1;
    }
    if is_cut {
        gap(out, next, item.lines.end);
    }
}

fn lines<'t>(out: &mut String, part: &Part, texts: &mut impl Iterator<Item = &'t str>, style: Style) {
    for number in part.lines.start..=part.lines.end {
        let Some(line) = texts.next() else { return };
        let _ = writeln!(out, "{} {}", style.dim(&format!("{number:>6} │")), safe(line));
    }
}

fn tail(out: &mut String, pack: &Pack, style: Style, signals: bool) {
    let s = &pack.stats;
    let dropped: Vec<String> = s
        .dropped_by_reason
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(reason, n)| format!("{n} {reason}"))
        .collect();
    if !dropped.is_empty() {
        let _ = writeln!(out, "\n{}", style.dim(&format!("left out: {}", dropped.join(", "))));
    }
    if signals && let Some(explain) = &pack.explain {
        for e in explain.excluded.iter().take(20) {
            let (path, title) = (safe_line(&e.file_rel_path), safe_line(&e.title));
            let line = format!("{path}:{}  {title}  ({})", e.lines.start, safe_line(&e.reason));
            let _ = writeln!(out, "    {}", style.dim(&line));
        }
    }
    for hint in &pack.missing_context_hints {
        let _ = writeln!(out, "{} {}", style.warn("missing:"), safe_line(&as_options(hint)));
    }
    for command in next(pack) {
        let _ = writeln!(out, "{} {}", style.warn("try next:"), safe_line(&command));
    }
    let _ = writeln!(out, "{}", style.dim(&format!("pack {}", safe_line(&pack.pack_id))));
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
        let place = quoted(&format!("{}:{}", first.file_rel_path, first.lines.start));
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

    fn pack() -> Pack {
        serde_json::from_value(json!({
            "request": {"query": "where is the retry delay decided\n\nSince 1.2.", "repoId": "demo", "layout": "graph"},
            "packId": "pack:sha256:00",
            "sections": [
                {"name": "seeds", "dropped": 2, "items": [{
                    "fileRelPath": "net/re\u{1b}try.go", "lines": {"start": 8, "end": 19}, "title": "func delay(n int) time.Duration",
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
        let style = Style { color: false, width: 80 };
        insta::assert_snapshot!("pack", render(&pack(), style, false, true));
        insta::assert_snapshot!("pack_brief", render(&pack(), style, true, false));
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
    fn members_name_their_type() {
        for (symbol, expect) in [
            ("scip:indexd pip demo . `net.retry`/Session#delay().", Some("Session")),
            ("scip:indexd pip demo . `net.retry`/Outer#Inner#delay().", Some("Outer.Inner")),
            ("scip:indexd pip demo . `net.retry`/Outer#Inner#", Some("Outer")),
            ("scip:indexd gomod demo . Retry#Delay().", Some("Retry")),
            ("scip:indexd gomod demo . net/Retry#", None),
            ("scip:indexd gomod demo . net/Delay().", None),
            ("scip:indexd . . . docs/`a.md`/`C# and others`/", None),
        ] {
            assert_eq!(owner(symbol).as_deref(), expect, "{symbol}");
        }
    }

    #[test]
    fn says_when_nothing_was_found() {
        let style = Style { color: false, width: 80 };
        let mut pack = Pack::default();
        assert!(render(&pack, style, false, false).contains("No relevant code found."));
        (pack.stats.found, pack.budgets.max_total_tokens.value) = (361, 1);
        let full = render(&pack, style, false, false);
        assert!(full.contains("Nothing of what was found fits into 1 token and 0 characters."), "{full}");
    }

    #[test]
    fn no_colour_means_no_escape() {
        let plain = render(&pack(), Style { color: false, width: 80 }, false, true);
        assert!(!plain.contains('\x1b'));
        let coloured = render(&pack(), Style { color: true, width: 80 }, false, true);
        assert!(coloured.contains("\x1b[36m") && !coloured.contains("re\x1btry"));
    }
}
