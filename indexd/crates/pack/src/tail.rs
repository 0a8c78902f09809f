//! The end of the text in layout `agent`: the counts of its sections and of the candidates that are left out, and further questions.
//!
//! ~~~text
//! # sections
//! definitions 4 (57 more), key_usages 2 (188 more), tests 1; 245 of 252 candidates left out
//! ask next: Policy.Delay retry/delay.go:12
//! hint: words that occur nowhere in the index: jitter
//! ~~~

use crate::pack::Pack;
use crate::request::{Caps, Layout, Resolved};
use crate::write::NO_SECTION;
use indexd_text::{TokenCounter, one_line};

/// Tokens that are kept free for the end of the text.
const TOKENS: u64 = 120;
/// Characters likewise.
const CHARS: u64 = 600;
/// A budget gives at most this part of itself.
const PART: u64 = 10;

/// The limits of a text that leaves room for the end; those of the request for other layouts.
pub fn limits(request: &Resolved) -> Caps {
    let mut caps = request.budgets;
    if request.layout == Layout::Agent {
        caps.max_total_tokens -= TOKENS.min(caps.max_total_tokens / PART);
        caps.max_total_chars -= CHARS.min(caps.max_total_chars / PART);
    }
    caps
}

/// Takes the text of a pack, with as many lines at its end as its budget has room for.
pub fn text(pack: &mut Pack, request: &Resolved, counter: &dyn TokenCounter) -> String {
    let caps = request.budgets;
    let mut text = std::mem::take(&mut pack.rendered);
    let lines = if request.layout == Layout::Agent { lines(pack) } else { Vec::new() };
    for line in lines {
        let with = format!("{text}{line}\n");
        let is_in = with.chars().count() as u64 <= caps.max_total_chars
            && u64::from(counter.count_tokens(&with)) <= caps.max_total_tokens;
        if is_in {
            text = with;
        }
    }
    text
}

fn lines(pack: &Pack) -> Vec<String> {
    let sections = pack.sections.iter().filter(|s| !s.items.is_empty() || s.dropped > 0);
    let said = sections.map(|s| match s.dropped {
        0 => format!("{} {}", s.name, s.items.len()),
        more => format!("{} {} ({more} more)", s.name, s.items.len()),
    });
    let (found, dropped) = (pack.stats.found, pack.stats.dropped);
    let mut counts = said.collect::<Vec<_>>().join(", ");
    if dropped > 0 {
        counts +=
            &format!("{}{dropped} of {found} candidates left out", if counts.is_empty() { "" } else { "; " });
    }
    let counts = (!counts.is_empty()).then(|| format!("# sections\n{counts}"));
    let next = pack.suggested_next_queries.iter().map(|q| format!("ask next: {}", one_line(q)));
    // Candidates without a section are in the counts.
    let hints = pack
        .missing_context_hints
        .iter()
        .filter(|h| !h.contains(NO_SECTION))
        .map(|h| format!("hint: {}", one_line(h).replace("raise maxTotalTokens", "raise the budget")));
    counts.into_iter().chain(next).chain(hints).collect()
}
