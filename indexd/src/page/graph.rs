//! Edges as a picture: laid out and drawn as SVG, or written for Graphviz and Mermaid.
//!
//! The layout is a function of the answer: what uses a root stands to its left, what it uses to its right,
//! one column for each step; in a column tests come last, and a definition is near its neighbours of the
//! column before, else in the order of places.

use super::editor::Editor;
use super::picture::cut_to;
use super::plain;
use indexd_proto::graph::{EdgeWord, GraphEdge, GraphResult, Picture};
use indexd_proto::search::Symbol;
use maud::{Markup, PreEscaped, html};
use std::collections::{BTreeMap, HashMap};

/// Sizes in pixels.
const NODE_WIDTH: i32 = 220;
const NODE_HEIGHT: i32 = 40;
const COLUMN: i32 = NODE_WIDTH + 110;
const ROW: i32 = NODE_HEIGHT + 14;
const MARGIN: i32 = 16;
const FOOT: i32 = 44;
/// Characters that fit into a node.
const LABEL_CHARS: usize = 29;

const STYLE: &str = "svg{color-scheme:light dark;--bg:#fff;--fg:#1c2128;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--mark:#0550ae;background:var(--bg)}\
@media(prefers-color-scheme:dark){svg{--bg:#0d1117;--fg:#e6edf3;--dim:#9aa4ae;--line:#30363d;--soft:#161b22;--mark:#79b8ff}}\
text{fill:var(--fg);font:12px ui-monospace,monospace}.dim{fill:var(--dim);font-size:11px}\
.node rect{fill:var(--soft);stroke:var(--line)}a:hover rect,a:focus rect{stroke:var(--mark)}.here rect{stroke:var(--mark);stroke-width:2}.test rect{stroke-dasharray:4 3}\
.edge path{fill:none;stroke:var(--dim);stroke-width:1.3}.edge .tip{fill:var(--dim);stroke:none}\
.usage path{stroke-dasharray:5 3}.inherit path,.implement path{stroke-dasharray:1 3}.usage .tip,.inherit .tip,.implement .tip{stroke-dasharray:none}";

/// A definition in a picture.
struct Node<'a> {
    symbol: &'a Symbol,
    is_root: bool,
    /// Steps to the right of the roots; to the left below 0.
    column: i32,
    row: i32,
}

impl Node<'_> {
    /// The text for a root, for a test, or for another definition.
    fn pick(&self, [root, test, other]: [&'static str; 3]) -> &'static str {
        match (self.is_root, self.symbol.test) {
            (true, _) => root,
            (_, true) => test,
            _ => other,
        }
    }
}

/// What is drawn: each definition once, and the edges between their places in the list.
struct Drawing<'a> {
    nodes: Vec<Node<'a>>,
    edges: Vec<(usize, usize, &'a GraphEdge)>,
}

/// The edges of an answer as a picture, its definitions links into `editor` where the form has links.
pub fn picture(answer: &GraphResult, how: Picture, editor: &Editor) -> String {
    let drawing = Drawing::of(answer);
    match how {
        Picture::Svg => drawing.svg(answer, editor).into_string() + "\n",
        Picture::Dot => drawing.dot(),
        Picture::Mermaid => drawing.mermaid(),
    }
}

/// What tells a definition from others.
fn key(s: &Symbol) -> (&str, u32, &str, &str) {
    (&s.file_rel_path, s.line, &s.qualified_name, &s.kind)
}

fn name(s: &Symbol) -> String {
    plain(if s.qualified_name.is_empty() { &s.name } else { &s.qualified_name })
}

fn place(s: &Symbol) -> String {
    plain(&format!("{}:{}", s.file_rel_path, s.line))
}

impl<'a> Drawing<'a> {
    fn of(answer: &'a GraphResult) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut known = HashMap::new();
        for symbol in &answer.roots {
            known.entry(key(symbol)).or_insert_with(|| {
                nodes.push(Node { symbol, is_root: true, column: 0, row: 0 });
                nodes.len() - 1
            });
        }
        let mut edges = Vec::new();
        // By depth, so that one end of each is known when it comes.
        for edge in &answer.edges {
            let [source, target] = [&edge.source, &edge.target].map(|s| known.get(&key(s)).copied());
            let [left, right] = [source, target].map(|i| i.map_or(0, |i| nodes[i].column));
            let mut add = |symbol, column| {
                known.insert(key(symbol), nodes.len());
                nodes.push(Node { symbol, is_root: false, column, row: 0 });
                nodes.len() - 1
            };
            let (source, target) = match (source, target) {
                (Some(s), Some(t)) => (s, t),
                (Some(s), None) => (s, add(&edge.target, left + 1)),
                (None, Some(t)) => (add(&edge.source, right - 1), t),
                // Of a member of a root.
                (None, None) => {
                    let target = add(&edge.target, 0);
                    (add(&edge.source, -1), target)
                }
            };
            edges.push((source, target, edge));
        }
        let mut drawing = Self { nodes, edges };
        drawing.rows();
        drawing
    }

    /// Gives each node of a column a row of its own, the columns from the roots outwards; columns are centred.
    fn rows(&mut self) {
        let mut columns: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate() {
            columns.entry(node.column).or_default().push(i);
        }
        let tallest = columns.values().map(Vec::len).max().unwrap_or(0) as i32;
        let mut columns: Vec<(i32, Vec<usize>)> = columns.into_iter().collect();
        columns.sort_by_key(|(column, _)| (column.abs(), *column));
        for (column, mut own) in columns {
            own.sort_by_key(|&i| {
                let symbol = self.nodes[i].symbol;
                (symbol.test, self.level(i, column - column.signum()), key(symbol))
            });
            let first = (tallest - own.len() as i32) * ROW / 2;
            for (n, i) in own.into_iter().enumerate() {
                self.nodes[i].row = first + n as i32 * ROW;
            }
        }
    }

    /// The mean row of the nodes of a column that a node has edges with.
    fn level(&self, node: usize, column: i32) -> i32 {
        let ends = self.edges.iter().filter(|(s, t, _)| *s == node || *t == node);
        let others = ends.map(|(s, t, _)| if *s == node { *t } else { *s });
        let rows: Vec<i32> = others
            .filter(|&o| o != node && self.nodes[o].column == column)
            .map(|o| self.nodes[o].row)
            .collect();
        rows.iter().sum::<i32>().checked_div(rows.len() as i32).unwrap_or(0)
    }

    fn svg(&self, answer: &GraphResult, editor: &Editor) -> Markup {
        let columns = || self.nodes.iter().map(|n| n.column);
        let left = columns().min().unwrap_or(0);
        let n_columns = columns().max().unwrap_or(0) - left + 1;
        let tallest = self.nodes.iter().map(|n| n.row + NODE_HEIGHT).max().unwrap_or(0);
        // Edges within a column leave it to the right and come back.
        let width = n_columns * COLUMN - (COLUMN - NODE_WIDTH) + 2 * MARGIN + 40;
        let height = tallest + 2 * MARGIN + FOOT;
        let at = |i: usize| {
            let node = &self.nodes[i];
            (MARGIN + (node.column - left) * COLUMN, MARGIN + node.row)
        };
        let roots: Vec<String> = answer.roots.iter().map(name).collect();
        let title = format!("{} {}", answer.relation, roots.join(", "));
        let cut = if answer.bounded { "There are more edges than the limit. " } else { "" };
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-labelledby="t d" {
                title id="t" { (title) }
                desc id="d" { (self.told()) }
                style { (PreEscaped(STYLE)) }
                @for (source, target, edge) in &self.edges { (arrow(at(*source), at(*target), edge)) }
                @for (i, node) in self.nodes.iter().enumerate() { (boxed(node, at(i), editor)) }
                text.dim x=(MARGIN) y=(height - FOOT + 12) { "solid: calls · dashed: uses · dotted: inherits, implements · dashed box: test" }
                text.dim x=(MARGIN) y=(height - FOOT + 30) { (cut) (plain(&answer.coverage.statement)) }
            }
        }
    }

    /// The edges in words.
    fn told(&self) -> String {
        let one = |(s, t, e): &(usize, usize, &GraphEdge)| {
            format!("{} {} {}", name(self.nodes[*s].symbol), e.kind, name(self.nodes[*t].symbol))
        };
        self.edges.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// A line for each node and each edge.
    fn lines(
        &self,
        node: impl Fn(usize, &Node) -> String,
        edge: impl Fn(usize, usize, &GraphEdge) -> String,
    ) -> String {
        let nodes = self.nodes.iter().enumerate().map(|(i, of)| node(i, of));
        let edges = self.edges.iter().map(|(s, t, of)| edge(*s, *t, of));
        nodes.chain(edges).map(|line| format!("  {line}\n")).collect()
    }

    fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let node = |i: usize, node: &Node| {
            let style = node.pick([", penwidth=2", ", style=dashed", ""]);
            let (name, place) = (quoted(&name(node.symbol)), quoted(&place(node.symbol)));
            format!("n{i} [label=\"{name}\\n{place}\"{style}];")
        };
        let edge = |s: usize, t: usize, edge: &GraphEdge| match style_of(edge.kind) {
            None => format!("n{s} -> n{t};"),
            Some(style) => format!("n{s} -> n{t} [label=\"{}\", style={style}];", edge.kind),
        };
        let head = "digraph indexd {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n";
        format!("{head}{}}}\n", self.lines(node, edge))
    }

    fn mermaid(&self) -> String {
        let quoted = |text: &str| {
            let marks =
                |c: char| matches!(c, '"' | '<' | '>' | '&' | '#' | ';' | '`' | '\\' | '\n' | '[' | ']');
            text.chars()
                .map(|c| if marks(c) { format!("#{};", c as u32) } else { c.to_string() })
                .collect::<String>()
        };
        let node = |i: usize, node: &Node| {
            let (name, place) = (quoted(&name(node.symbol)), quoted(&place(node.symbol)));
            format!("n{i}[\"{name}<br/>{place}\"]{}", node.pick([":::root", ":::test", ""]))
        };
        let edge = |s: usize, t: usize, edge: &GraphEdge| match style_of(edge.kind) {
            None => format!("n{s} --> n{t}"),
            Some(_) => format!("n{s} -. {} .-> n{t}", edge.kind),
        };
        let foot = "  classDef root stroke-width:3px\n  classDef test stroke-dasharray:4 3\n";
        format!("flowchart LR\n{}{foot}", self.lines(node, edge))
    }
}

/// How an edge other than a call is drawn.
fn style_of(kind: EdgeWord) -> Option<&'static str> {
    match kind {
        EdgeWord::Call => None,
        EdgeWord::Inherit | EdgeWord::Implement => Some("dotted"),
        _ => Some("dashed"),
    }
}

fn boxed(node: &Node, (x, y): (i32, i32), editor: &Editor) -> Markup {
    let s = node.symbol;
    let class = node.pick(["node here", "node test", "node"]);
    let drawn = html! {
        g class=(class) {
            title { (plain(&s.kind)) " " (name(s)) " " (place(s)) }
            rect x=(x) y=(y) width=(NODE_WIDTH) height=(NODE_HEIGHT) rx="5" {}
            text x=(x + NODE_WIDTH / 2) y=(y + 17) text-anchor="middle" { (cut_to(&name(s), LABEL_CHARS)) }
            text.dim x=(x + NODE_WIDTH / 2) y=(y + 32) text-anchor="middle" { (tail(&place(s))) }
        }
    };
    match editor.address(&s.file_rel_path, s.line) {
        Some(address) => html! { a href=(address) { (drawn) } },
        None => drawn,
    }
}

/// The end of a place, which says more than its beginning.
fn tail(place: &str) -> String {
    let n = place.chars().count();
    if n <= LABEL_CHARS + 2 {
        return place.to_owned();
    }
    format!("…{}", place.chars().skip(n - LABEL_CHARS - 1).collect::<String>())
}

/// A curve from the right side of the source to the left side of a target that lies to the right; else to
/// the right side of the target.
fn arrow(from: (i32, i32), to: (i32, i32), edge: &GraphEdge) -> Markup {
    let half = NODE_HEIGHT / 2;
    let (x0, y0) = (from.0 + NODE_WIDTH, from.1 + half);
    let is_ahead = to.0 > from.0;
    let (x1, y1) = if is_ahead { (to.0, to.1 + half) } else { (to.0 + NODE_WIDTH, to.1 + half + 6) };
    let back = if is_ahead { x1 - 8 } else { x1 + 8 };
    let curve = match is_ahead {
        true => format!("M{x0} {y0}C{} {y0} {} {y1} {back} {y1}", x0 + 50, back - 50),
        false => format!("M{x0} {y0}C{} {y0} {} {y1} {back} {y1}", x0 + 40, x0.max(x1) + 40),
    };
    let line = edge.evidence.first().map_or(0, |e| e.line);
    html! {
        g class={ "edge " (edge.kind) } {
            title { (name(&edge.source)) " " (edge.kind) " " (name(&edge.target)) ", " (plain(&edge.source.file_rel_path)) ":" (line) }
            path d=(curve) {}
            path.tip d={ "M" (x1) " " (y1) "L" (back) " " (y1 - 4) "L" (back) " " (y1 + 4) "Z" } {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::graph::{Coverage, GraphEvidence, Relation};
    use indexd_proto::workspace::Envelope;

    fn symbol(name: &str, path: &str, line: u32) -> Symbol {
        Symbol {
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            kind: "function".to_owned(),
            file_rel_path: path.to_owned(),
            line,
            test: path.contains("test"),
            ..Symbol::default()
        }
    }

    fn edge(depth: u32, kind: EdgeWord, source: &Symbol, target: &Symbol) -> GraphEdge {
        let evidence = GraphEvidence {
            kind: "callsite".to_owned(),
            line: source.line + 1,
            column: 1,
            confidence: 1.0,
            via: "scope".to_owned(),
            text: String::new(),
        };
        GraphEdge {
            depth,
            kind,
            source: source.clone(),
            target: target.clone(),
            evidence: vec![evidence],
            n_evidence: 1,
            confidence: 1.0,
        }
    }

    fn answer(roots: &[&Symbol], edges: Vec<GraphEdge>) -> GraphResult {
        GraphResult {
            schema: "GraphResult".to_owned(),
            schema_version: "1.0.0".to_owned(),
            relation: Relation::Around,
            roots: roots.iter().map(|s| (*s).clone()).collect(),
            edges,
            bounded: false,
            n_roots: roots.len() as u64,
            n_edges: 0,
            through: Vec::new(),
            coverage: Coverage { statement: "2 source files parsed".to_owned(), ..Coverage::default() },
            picture: None,
            envelope: Envelope::default(),
        }
    }

    fn small() -> GraphResult {
        let [delay, get, base, policy, test] = [
            symbol("Delay", "retry.go", 3),
            symbol("Get", "client.go", 5),
            symbol("base", "retry.go", 9),
            symbol("Policy", "policy.go", 1),
            symbol("TestDelay", "retry_test.go", 7),
        ];
        let edges = vec![
            edge(1, EdgeWord::Call, &get, &delay),
            edge(1, EdgeWord::Call, &delay, &base),
            edge(1, EdgeWord::Usage, &delay, &policy),
            edge(1, EdgeWord::Call, &test, &delay),
            edge(2, EdgeWord::Call, &base, &base),
        ];
        answer(&[&delay], edges)
    }

    fn picture(answer: &GraphResult, how: Picture) -> String {
        super::picture(answer, how, &Editor::new("vscode://file{path}:{line}", std::path::Path::new("/r")))
    }

    #[test]
    fn nodes_stand_near_what_they_have_edges_with_and_lead_to_their_places() {
        let [root, a, b, c, d] = [
            symbol("root", "m.go", 1),
            symbol("a", "a.go", 1),
            symbol("b", "b.go", 1),
            symbol("c", "y.go", 1),
            symbol("d", "x.go", 1),
        ];
        let edges = vec![
            edge(1, EdgeWord::Call, &root, &a),
            edge(1, EdgeWord::Call, &root, &b),
            edge(2, EdgeWord::Call, &a, &c),
            edge(2, EdgeWord::Call, &b, &d),
        ];
        let answer = answer(&[&root], edges);
        let drawing = Drawing::of(&answer);
        let row = |name: &str| drawing.nodes.iter().find(|n| n.symbol.name == name).unwrap().row;
        assert!(
            row("a") < row("b") && row("c") < row("d"),
            "the edges from a to c and from b to d do not cross"
        );
        let svg = picture(&answer, Picture::Svg);
        assert!(
            svg.contains("<a href=\"vscode://file/r/x.go:1\"><g class=\"node\"><title>function d"),
            "{svg}"
        );
    }

    #[test]
    fn what_uses_stands_left_of_what_is_used_and_tests_come_last() {
        let answer = small();
        let drawing = Drawing::of(&answer);
        let mut places: Vec<(i32, i32, &str)> =
            drawing.nodes.iter().map(|n| (n.column, n.row, &*n.symbol.name)).collect();
        places.sort_unstable();
        assert_eq!(
            places,
            [
                (-1, 0, "Get"),
                (-1, ROW, "TestDelay"),
                (0, ROW / 2, "Delay"),
                (1, 0, "Policy"),
                (1, ROW, "base")
            ]
        );
    }

    #[test]
    fn each_way_of_writing_has_every_node_and_edge_once() {
        insta::assert_snapshot!("dot", picture(&small(), Picture::Dot));
        insta::assert_snapshot!("mermaid", picture(&small(), Picture::Mermaid));
        let svg = picture(&small(), Picture::Svg);
        assert_eq!((svg.matches("<rect").count(), svg.matches("class=\"edge ").count()), (5, 5));
        assert!(svg.contains("<title>Get call Delay, client.go:6</title>"), "{svg}");
        assert_eq!(svg, picture(&small(), Picture::Svg));
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let hostile = symbol("\"];x\n<script>\\\"", "a.go", 1);
        let answer = answer(&[&hostile], Vec::new());
        let lines = |how| picture(&answer, how).lines().count();
        let empty = |how| picture(&self::answer(&[&symbol("x", "a.go", 1)], Vec::new()), how).lines().count();
        for how in [Picture::Dot, Picture::Mermaid] {
            assert_eq!(lines(how), empty(how), "{how:?}");
        }
        assert!(picture(&answer, Picture::Dot).contains(r#"label="\"];x <script>\\\"\na.go:1""#));
        for how in [Picture::Svg, Picture::Mermaid] {
            assert!(!picture(&answer, how).contains("<script"), "{how:?}");
        }
        let none = self::answer(&[], Vec::new());
        assert!(picture(&none, Picture::Svg).ends_with("</svg>\n"));
    }
}
