//! The walk over edges: from where it goes on when its bounds end it early.

use indexd_model::IndexView as _;
use indexd_oracle::Oracle;
use indexd_pack::config::ExpansionBounds;
use indexd_pack::expand::expand;
use indexd_pack::unit::Units;
use indexd_pack::{Asked, Config, Request};
use serde_json::json;

/// Methods behind an interface may be what a call reaches; a function that is named is.
const TEXT: &str = "package a\n\ntype Store interface{ Save() }\n\ntype disk struct{}\n\nfunc (disk) Save() { flush() }\n\n\
                    type memory struct{}\n\nfunc (memory) Save() {}\n\nfunc strong() { direct() }\n\n\
                    func flush() {}\n\nfunc direct() {}\n\nfunc Needle(s Store) {\n\ts.Save()\n\tstrong()\n}\n";

/// Names of what a walk from `Needle` along calls reaches, in its order, with the edges to each.
fn walk(nodes: u32) -> Vec<(String, usize)> {
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/x.go", TEXT)]);
    let request =
        json!({"query": "Needle", "expansion": {"maxHops": 2, "edgeTypes": ["call"], "direction": "out"}});
    let request = Request::from_json(request).expect("a request");
    let asked = Asked::new(&request, &Config::default()).expect("a sound request");
    let units = &mut Units::new(&view);
    let seed = units.of_def(view.defs_named("Needle")[0]).expect("a unit");
    let bounds = ExpansionBounds { nodes, ..ExpansionBounds::default() };
    let found = expand(units, &[seed], &asked.options.expansion, false, &bounds, &|| false).expect("a walk");
    found.reached.iter().map(|r| (view.def(r.def).name.to_string(), r.path.len())).collect()
}

#[test]
fn a_bounded_walk_goes_on_from_the_best_evidence() {
    let names = |nodes, hops| -> Vec<String> {
        walk(nodes).into_iter().filter(|(_, n)| *n == hops).map(|(name, _)| name).collect()
    };
    assert_eq!(names(40, 1), ["Save", "Save", "Save", "strong"], "in the order of the index");
    assert_eq!(names(40, 2), ["direct", "flush"], "in the order of the evidence");
    // The seed and two of four: the method of the interface and `strong`, which the calls name.
    assert_eq!(names(3, 2), ["direct"]);
    assert_eq!(names(1, 2), [""; 0]);
}
