//! Signals of retrieval that need more than one definition to show.

use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::Config;
use indexd_pack::query::Query;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::{Signal, retrieve};
use indexd_pack::unit::Units;

/// Names of the ranked definitions of `net.py`, best first, those with a part of `signal` marked.
fn check(view: &Oracle, text: &str, config: &Config, signal: Signal, expect: &str) {
    let query = Query::parse(text, 2.0, 0.0);
    let found = retrieve(&mut Units::new(view), &query, &config.ranking, SeedProvider::Hybrid);
    let got: Vec<String> = found
        .hits
        .iter()
        .filter(|h| &*h.file.path == "net.py")
        .filter_map(|h| h.unit.def.some().map(|d| (view.def(d).name, h.signals.get(signal))))
        .map(|(name, part)| if part > 0.0 { format!("{name}*") } else { name.to_string() })
        .collect();
    assert_eq!(got.join(" "), expect);
}

#[test]
fn words_of_the_best_hit_bring_up_what_shares_them() {
    let net = "def connect(host):\n    backoff = open(host)\n    return backoff\n\n\n\
               def omega(x):\n    alpha = x\n    return alpha\n\n\n\
               def pause(x):\n    backoff = x\n    return backoff\n";
    let others: String = (0..60).map(|i| format!("def filler_{i}(x):\n    return x\n\n\n")).collect();
    let view = Oracle::of(&[
        ("net.py".to_owned(), net.as_bytes().to_vec()),
        ("other.py".to_owned(), others.into_bytes()),
    ]);
    let mut config = Config::default();
    check(&view, "connect to the host", &config, Signal::Feedback, "connect* pause* omega");
    config.ranking.feedback = 0.0;
    check(&view, "connect to the host", &config, Signal::Feedback, "connect omega pause");
}
