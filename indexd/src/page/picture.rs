//! Pictures laid out here: the bar of the budget, and the edges that lead to an item.

use super::plain;
use indexd_proto::pack::{Item, PathStep};
use indexd_proto::symbol::name_of_symbol;
use maud::{Markup, html};

/// Width of the bar in its own units.
const BAR: f64 = 1_000.0;
/// Sizes of the picture of a path, in pixels: its width fits the narrowest phones.
const WIDTH: u32 = 320;
const NODE: u32 = 30;
const EDGE: u32 = 40;
/// Characters of a label that fit into a node.
const LABEL_CHARS: usize = 42;

/// A whole as a bar: what takes how much, in order, by class.
pub fn bar(parts: &[(&str, u64)], label: &str) -> Markup {
    let total = parts.iter().map(|p| p.1).sum::<u64>().max(1) as f64;
    let mut at = 0.0;
    let mut rects: Vec<(f64, f64, &str)> = Vec::new();
    for (class, n) in parts {
        let width = *n as f64 / total * BAR;
        rects.push((at, width, class));
        at += width;
    }
    html! {
        svg.bar viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (x, width, class) in rects.iter().filter(|r| r.1 > 0.0) {
                rect class=(class) x=(format!("{x:.2}")) y="0" width=(format!("{width:.2}")) height="20" {}
            }
        }
    }
}

/// The edges from a seed to an item, from top to bottom, each arrow in the direction of its edge.
pub fn path(item: &Item) -> Markup {
    let steps = &item.why.path;
    let mut at = first(steps, item.symbol_id.as_deref().unwrap_or(""));
    let mut nodes = vec![at];
    for step in steps {
        at = if step.from == at { &step.to } else { &step.from };
        nodes.push(at);
    }
    let n = nodes.len() as u32;
    let height = n * NODE + (n - 1) * EDGE + 8;
    let told = steps.iter().map(|s| format!("{} {} {}", short(&s.from), s.edge_type, short(&s.to)));
    let told: Vec<String> = told.collect();
    html! {
        svg width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(plain(&told.join(", "))) {
            @for (i, node) in nodes.iter().enumerate() {
                (box_of(&short(node), i as u32, i + 1 == nodes.len()))
            }
            @for (i, step) in steps.iter().enumerate() { (arrow(step, i as u32, step.from == nodes[i])) }
        }
    }
}

/// Where a walk starts: the end of its first edge that is not an end of the next one, or that is not the item.
fn first<'s>(steps: &'s [PathStep], own: &str) -> &'s str {
    let Some(step) = steps.first() else { return "" };
    let is_next = |end: &str| match steps.get(1) {
        Some(next) => next.from == end || next.to == end,
        None => end == own,
    };
    if is_next(&step.from) && !is_next(&step.to) { &step.to } else { &step.from }
}

fn top(i: u32) -> u32 {
    4 + i * (NODE + EDGE)
}

fn box_of(label: &str, i: u32, is_here: bool) -> Markup {
    let y = top(i);
    html! {
        g class=(if is_here { "node here" } else { "node" }) {
            rect x="2" y=(y) width=(WIDTH - 4) height=(NODE) rx="5" {}
            text x=(WIDTH / 2) y=(y + 20) text-anchor="middle" { (cut_to(label, LABEL_CHARS)) }
        }
    }
}

fn arrow(step: &PathStep, i: u32, is_down: bool) -> Markup {
    let (from, to) = (top(i) + NODE, top(i + 1));
    let x = 40;
    let (tip, back) = if is_down { (to, to - 8) } else { (from, from + 8) };
    let label = match &step.subkind {
        Some(sub) => format!("{} ({sub})", step.edge_type),
        None => step.edge_type.to_string(),
    };
    html! {
        g.edge {
            line x1=(x) y1=(from) x2=(x) y2=(to) {}
            path d={ "M" (x) " " (tip) "L" (x - 5) " " (back) "L" (x + 5) " " (back) "Z" } {}
            text x=(x + 14) y=(from + EDGE / 2 + 4) { (cut_to(&label, LABEL_CHARS)) }
        }
    }
}

/// The beginning of a label, of at most so many characters.
pub fn cut_to(label: &str, chars: usize) -> String {
    let plain = plain(label);
    if plain.chars().count() <= chars {
        return plain;
    }
    format!("{}…", plain.chars().take(chars - 1).collect::<String>())
}

/// The names of a symbol without its place: `Type.method`; a path for a file.
pub fn short(symbol: &str) -> String {
    if let Some(path) = symbol.strip_prefix("file:") {
        return path.to_owned();
    }
    name_of_symbol(symbol).unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: &str, to: &str) -> PathStep {
        PathStep { from: from.to_owned(), to: to.to_owned(), edge_type: "call".into(), ..PathStep::default() }
    }

    #[test]
    fn symbols_go_by_their_names() {
        for (symbol, expect) in [
            ("indexd gomod m . a/b/T#m().", "T.m"),
            ("indexd . r . a.py/f().", "f"),
            ("indexd . r . a.md/`How it works`#", "How it works"),
            ("file:a/b.go", "a/b.go"),
            ("b3:1234", "b3:1234"),
            ("", ""),
        ] {
            assert_eq!(short(symbol), expect);
        }
    }

    #[test]
    fn arrows_point_as_edges_do() {
        let mut item = Item { symbol_id: Some("c".to_owned()), ..Item::default() };
        for (steps, expect) in [
            (vec![step("a", "c")], "a call c"),
            (vec![step("c", "a")], "c call a"),
            (vec![step("a", "b"), step("c", "b")], "a call b, c call b"),
            (vec![step("b", "a"), step("b", "c")], "b call a, b call c"),
        ] {
            item.why.path = steps;
            let svg = path(&item).into_string();
            assert!(svg.contains(&format!("aria-label=\"{expect}\"")), "{svg}");
        }
    }

    #[test]
    fn a_bar_is_as_wide_as_its_parts() {
        let svg = bar(&[("p0", 250), ("p1", 0), ("free", 750)], "of a thousand").into_string();
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(svg.contains("x=\"250.00\"") && svg.contains("width=\"750.00\""), "{svg}");
    }
}
