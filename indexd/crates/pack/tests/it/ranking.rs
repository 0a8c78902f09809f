//! Signals of retrieval that need more than one definition to show.

use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::Config;
use indexd_pack::config::Ranking;
use indexd_pack::query::Query;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::{Signal, retrieve};
use indexd_pack::unit::Units;

/// Names of the ranked definitions of `net.py`, best first, those with a part of `signal` marked.
fn check(view: &Oracle, text: &str, config: &Config, signal: Signal, expect: &str) {
    let query = Query::parse(text, &Ranking::default());
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

/// Places of the ranked units, best first.
fn check_order(view: &Oracle, text: &str, ranking: &Ranking, expect: &[&str]) {
    let query = Query::parse(text, &Ranking::default());
    let found = retrieve(&mut Units::new(view), &query, ranking, SeedProvider::Hybrid);
    let got: Vec<String> =
        found.hits.iter().map(|h| format!("{}:{}", h.file.path, h.unit.lines().start)).collect();
    assert_eq!(got, expect, "{text:?}");
}

#[test]
fn a_definition_without_a_body_gives_way_to_one_with() {
    let view = Oracle::of(&[(
        "net.py",
        "class Backend:\n    def connect_socket(self, host):\n        raise NotImplementedError\n\n\n\
         class Tcp(Backend):\n    def connect_socket(self, host):\n        line = self.open(host)\n        \
         line.start()\n        self.count = self.count + 1\n        return line\n",
    )]);
    let body_first = ["net.py:7", "net.py:2", "net.py:1", "net.py:6"];
    check_order(&view, "connect socket", &Ranking::default(), &body_first);
    // The shorter one has more of the words in its few.
    let off = Ranking { stub_factor: 1.0, ..Ranking::default() };
    check_order(&view, "connect socket", &off, &["net.py:2", "net.py:7", "net.py:1", "net.py:6"]);
}

#[test]
fn imports_alone_give_way() {
    let view = Oracle::of(&[
        ("pkg/__init__.py", "from .retry import backoff, jitter\n"),
        ("pkg/loop.py", "def run(call):\n    wait = backoff(call)\n    return wait\n"),
    ]);
    check_order(&view, "backoff", &Ranking::default(), &["pkg/loop.py:1", "pkg/__init__.py:1"]);
    let off = Ranking { alone_factor: 1.0, ..Ranking::default() };
    check_order(&view, "backoff", &off, &["pkg/__init__.py:1", "pkg/loop.py:1"]);
}

#[test]
fn of_files_for_several_platforms_one_comes_first() {
    let read = "package os\n\nfunc readClock() int {\n\treturn 1\n}\n";
    let view = Oracle::of(&[
        ("go.mod", "module m\n"),
        ("os/clock_linux.go", read),
        ("os/clock_windows.go", read),
        ("os/use.go", "package os\n\nfunc Now() int {\n\tclock := readClock()\n\treturn clock\n}\n"),
    ]);
    let names = |ranking: &Ranking| {
        let query = Query::parse("read the clock", &Ranking::default());
        let found = retrieve(&mut Units::new(&view), &query, ranking, SeedProvider::Hybrid);
        let of_code = found.hits.iter().filter(|h| h.unit.def.some().is_some());
        of_code.map(|h| h.file.path.to_string()).collect::<Vec<_>>()
    };
    let strong = Ranking { twin_factor: 0.3, ..Ranking::default() };
    assert_eq!(names(&strong), ["os/clock_linux.go", "os/use.go", "os/clock_windows.go"]);
    let off = Ranking { twin_factor: 1.0, ..Ranking::default() };
    assert_eq!(names(&off), ["os/clock_linux.go", "os/clock_windows.go", "os/use.go"]);
}

/// Which definitions are found for a question about redirects, best first, among clients and a check;
/// each client is a file with methods that differ in nothing but their names.
fn redirecting(clients: &[&[&str]], alike_factor: f32) -> Vec<String> {
    let method = |name: &&str| {
        format!(
            "    def {name}(self, url, redirect=None):\n        return self.request(\n            \"{name}\",\n            \
             url,\n            redirect=redirect,\n            timeout=self.timeout,\n            \
             retries=self.retries,\n            proxy=self.proxy,\n        )\n\n"
        )
    };
    let client = |(i, names): (usize, &&[&str])| {
        let methods: String = names.iter().map(method).collect();
        (format!("client{i}.py"), format!("class Client:\n{methods}"))
    };
    let mut files: Vec<(String, String)> = clients.iter().enumerate().map(client).collect();
    let check = "def is_safe(url):\n    if url.redirect:\n        return False\n    return True\n";
    files.push(("checks.py".to_owned(), check.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let view = Oracle::of(&files);
    let mut units = Units::new(&view);
    let ranking = Ranking { alike_factor, ..Ranking::default() };
    let query = Query::parse("redirect to another url", &Ranking::default());
    let found = retrieve(&mut units, &query, &ranking, SeedProvider::Hybrid);
    let defs: Vec<_> = found.hits.iter().filter_map(|h| h.unit.def.some()).collect();
    let names = defs.into_iter().map(|d| units.def(d).name.to_string());
    names.filter(|n| n != "Client").collect()
}

#[test]
fn of_what_looks_alike_two_come_first() {
    let client: &[&[&str]] = &[&["delete", "get", "head", "options"]];
    assert_eq!(redirecting(client, 1.0), ["delete", "get", "head", "options", "is_safe"]);
    assert_eq!(redirecting(client, 0.3), ["delete", "get", "is_safe", "head", "options"]);
}

#[test]
fn what_looks_alike_stands_in_one_file_or_bears_one_name() {
    let same: &[&[&str]] = &[&["get"], &["get"], &["get"]];
    assert_eq!(redirecting(same, 0.3), ["get", "get", "is_safe", "get"]);
    let others: &[&[&str]] = &[&["get"], &["put"], &["patch"]];
    assert_eq!(redirecting(others, 0.3), ["get", "put", "patch", "is_safe"]);
}

#[test]
fn what_tells_of_changes_comes_after_what_tells_of_use() {
    let view = Oracle::of(&[
        ("docs/whatsnew-2.0.md", "# Retries\n\nRetries back off now.\n"),
        (
            "docs/retries.md",
            "# Retries\n\nRetries back off, and each one waits a little longer than before.\n",
        ),
    ]);
    let paths = |ranking: &Ranking| {
        let query = Query::parse("retries back off", &Ranking::default());
        let found = retrieve(&mut Units::new(&view), &query, ranking, SeedProvider::Hybrid);
        found.hits.iter().map(|h| h.file.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&Ranking::default()), ["docs/retries.md", "docs/whatsnew-2.0.md"]);
    let off = Ranking { news_factor: 1.0, path: 0.0, ..Ranking::default() };
    assert_eq!(paths(&off), ["docs/whatsnew-2.0.md", "docs/retries.md"]);
}

#[test]
fn a_frame_points_at_the_body_nearest_to_its_line() {
    let send = |n: usize| "        self.sent = 1\n".repeat(n);
    let text = format!(
        "class Base:\n    def send(self):\n        raise NotImplementedError\n\n    def close(self):\n{}\n\
         class Tcp(Base):\n    def send(self):\n{}",
        send(12),
        send(3)
    );
    let view = Oracle::of(&[("net.py", text)]);
    let framed = |line: u32| {
        let text =
            format!("Traceback (most recent call last):\n  File \"net.py\", line {line}, in send\n    x()\n");
        let query = Query::parse(&text, &Ranking::default());
        let found = retrieve(&mut Units::new(&view), &query, &Ranking::default(), SeedProvider::Hybrid);
        let hits = found.hits.iter().filter(|h| h.signals.get(Signal::Frame) > 0.0);
        hits.map(|h| h.unit.lines().start).collect::<Vec<_>>()
    };
    assert_eq!(framed(3), [2]);
    // In another version of the file: the abstract one is nearer and cannot have been running.
    assert_eq!(framed(6), [20]);
    assert_eq!(framed(40), [20]);
}

#[test]
fn neighbouring_words_name_neighbouring_names_of_a_path() {
    let view = Oracle::of(&[
        ("go.mod", "module m\n"),
        ("cmd/pr/checkout/checkout.go", "package checkout\n\nfunc Run() int {\n\treturn 1\n}\n"),
        ("cmd/pr/list.go", "package pr\n\nfunc List() int {\n\treturn 1\n}\n"),
        ("cmd/repo/checkout.go", "package repo\n\nfunc Fork() int {\n\treturn 1\n}\n"),
    ]);
    let named = |text: &str| {
        let query = Query::parse(text, &Ranking::default());
        let off = Ranking { files_whole: 0, ..Ranking::default() };
        let found = retrieve(&mut Units::new(&view), &query, &off, SeedProvider::Hybrid);
        let mut hits: Vec<(String, f64)> = found
            .hits
            .iter()
            .filter(|h| h.unit.def.some().is_some())
            .map(|h| (h.file.path.to_string(), h.signals.get(Signal::NamedFolder)))
            .filter(|(_, part)| *part == 1.0)
            .collect();
        hits.sort_by(|a, b| a.0.cmp(&b.0));
        hits.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert_eq!(named("pr checkout forgets the branch"), ["cmd/pr/checkout/checkout.go"]);
    assert_eq!(named("checkout forgets\n\n```\n$ tool pr list\n```\n"), ["cmd/pr/list.go"]);
    assert_eq!(named("pr, checkout and list"), [""; 0]);
}

#[test]
fn a_message_in_one_place_says_more_than_a_flag_in_many() {
    let flags: String = (0..16).map(|i| format!("def flag_{i}(x):\n    return \"--color\"\n\n\n")).collect();
    let one = "def say(x):\n    return \"no color here\"\n";
    let view = Oracle::of(&[("net.py", format!("{flags}{one}"))]);
    let query = Query::parse("`--color` gives \"no color here\"", &Ranking::default());
    let found = retrieve(&mut Units::new(&view), &query, &Ranking::default(), SeedProvider::Hybrid);
    let parts: Vec<f64> = found.hits.iter().map(|h| h.signals.get(Signal::Literal)).collect();
    assert_eq!((parts[0], parts.len()), (1.0, 17));
    assert!(parts[1..].iter().all(|p| *p == 0.5), "{parts:?}");
}
