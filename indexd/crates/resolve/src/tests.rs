//! What holds for every language: a use that is written in the source is answered or counted.

use super::*;
use indexd_lang::tokens::{Token, tokens};
use indexd_model::memory::MemoryFacts;
use indexd_model::{LineIndex, RepoPath};
use proptest::prelude::*;
use std::sync::Arc;

const GO: &str = "package p

type T struct{ n int }

func sum(a, b int) int { return a + b }

func (t *T) add(b int) { t.n = sum(t.n, b) }

func loop(xs []int) (n int) {
	for i, x := range xs {
		if x > sum(i, 1) && (sum(x, 2) < 3) {
			n = sum(n, func() int { return sum(xs[i], 4) }())
			continue
		}
		switch sum(1, 2) {
		case sum(2, 3):
			go sum(3, 4)
		default:
			defer sum(4, 5)
		}
	}
	p := new(sum(5, 6))
	m := map[int]T{sum(6, 7): {n: sum(7, 8)}}
	return *p + len(m)
}

var f = sum
";

const PYTHON: &str = "import json

def total(a, b=1):
    return a + b

class C:
    size = total(1)

    def add(self, b: int) -> int:
        self.n = total(self.n, b)
        return [total(x, y=total(2)) for x in b if total(x)]

@total
def loop(xs, *rest, **more):
    while total(xs):
        try:
            yield total(1) if total(2) else {total(3): total(4)}
        except (A, B) as e:
            raise total(e) from total(5)
    with total(6) as f, open(f) as g:
        return lambda x: total(x, *rest, k=total(7))

f = total
";

/// The text without the tokens at these positions.
fn without(text: &str, all: &[Token], gone: &[usize]) -> String {
    let mut out = text.to_owned();
    let mut gone: Vec<usize> = gone.iter().map(|i| i % all.len()).collect();
    gone.sort_unstable();
    gone.dedup();
    for i in gone.into_iter().rev() {
        out.replace_range(all[i].span.range(), "");
    }
    out
}

/// The lines where `name` is written and neither defined nor told of in any way.
fn passed_over(path: &str, text: &str, language: Language, name: &str) -> Vec<u32> {
    let path = RepoPath::new(path).unwrap();
    let facts = indexd_lang::extract(&path, text.as_bytes()).facts;
    let view = MemoryFacts::new(vec![(path, Arc::new(facts.interface.clone()))]);
    let links = link(FileDoc(0), Facts::inside(&facts), &view);
    let read = Facts::inside(&facts);
    let bound = (0..read.n_bindings() as u32).filter_map(|i| read.binding(indexd_model::BindingId(i)));
    let mut told: Vec<u32> = links.links.iter().map(|l| l.at).collect();
    told.extend(links.unresolved.iter().map(|u| u.at));
    told.extend(facts.interface.defs.iter().map(|d| d.name_span.start));
    told.extend(bound.map(|b| b.at));
    // A name that damage has made a variable of a function is that variable's.
    let local = (0..read.n_exprs() as u32).map(|i| read.expr(ExprId(i)));
    told.extend(
        local
            .filter(|e| matches!(e.node, Node::Name { binding, .. } if binding.some().is_some()))
            .map(|e| e.at),
    );
    let places = indexd_lang::unread::places(text, language, name);
    let index = LineIndex::new(text);
    places.into_iter().filter(|at| !told.contains(at)).map(|at| index.line(at)).collect()
}

#[test]
fn a_whole_file_is_told_of() {
    assert_eq!(passed_over("a.go", GO, Language::Go, "sum"), [0u32; 0]);
    assert_eq!(passed_over("a.py", PYTHON, Language::Python, "total"), [0u32; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_use_in_damaged_source_is_answered_or_counted(gone in proptest::collection::vec(0usize..400, 1..6)) {
        for (path, whole, language, name) in
            [("a.go", GO, Language::Go, "sum"), ("a.py", PYTHON, Language::Python, "total")]
        {
            let text = without(whole, &tokens(whole, language), &gone);
            prop_assert_eq!(passed_over(path, &text, language, name), [0u32; 0], "{}", text);
        }
    }
}
