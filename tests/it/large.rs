//! Trees of many files, and what commits say about them.

use crate::answers::{World, ask, world};
use crate::client::{Client, run};
use crate::user::{User, ok};
use indexd_text::{CounterOptions, TokenCounter as _};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Files that call each other across folders, each with the words of the query.
fn fill(world: &World, n: usize, body: &str) {
    for i in 0..n {
        let dir = Path::new(&world.root).join(format!("pkg{}", i % 20));
        std::fs::create_dir_all(&dir).unwrap();
        let text = format!(
            "package pkg{}\n\n// Step{i} counts the parcels.\nfunc Step{i}() int {{{body}\n\treturn Step{}()\n}}\n",
            i % 20,
            (i + 20) % n
        );
        std::fs::write(dir.join(format!("step{i}.go")), text).unwrap();
    }
}

async fn packed(world: &World, c: &mut Client, budget: u64) -> Value {
    let params = json!({"query": "count the parcels", "rendered": true, "noCache": true,
        "budgets": {"maxTotalTokens": budget, "maxItems": 250, "maxItemsPerSection": 80, "stop": "budget"}});
    let (_, answer) = ask(world, c, "pack", params).await;
    answer["result"].clone()
}

/// Checks what holds of every pack, and gives its items.
fn check(result: &Value, budget: u64) -> u64 {
    let counter = indexd_text::counter("o200k_base", &CounterOptions::default()).unwrap();
    let stats = &result["pack"]["stats"];
    let n = |key: &str| stats[key].as_u64().unwrap();
    assert_eq!(u64::from(counter.count_tokens(result["rendered"].as_str().unwrap())), n("tokenCount"));
    assert!(n("tokenCount") <= budget, "{stats}");
    assert_eq!(n("found"), n("included") + n("merged") + n("dropped"), "{stats}");
    n("included")
}

/// TEST-101: the work of a pack is bounded by counts, whatever the size of the tree.
#[test]
fn should_handle_large_codebase() {
    run(async {
        let world = world();
        fill(&world, 500, "\n\tx := 1\n\t_ = x");
        let c = &mut Client::of(&world.server);
        let result = packed(&world, c, 8_000).await;
        let items = check(&result, 8_000);
        let found = |r: &Value| r["pack"]["stats"]["found"].as_u64().unwrap();
        let first = found(&result);
        assert!(items > 20 && items <= 250 && first <= 600, "{items} items of {first}");
        // Twice the files are not twice the work.
        fill(&world, 1_000, "\n\tx := 1\n\t_ = x");
        let result = packed(&world, c, 8_000).await;
        check(&result, 8_000);
        assert!(found(&result) <= 600 && found(&result) * 2 < first * 3, "{first}, then {}", found(&result));
        world.server.shutdown_backend();
    });
}

/// TEST-102: with many small files the headers count, and each budget is kept.
#[test]
fn should_handle_many_small_files() {
    run(async {
        let world = world();
        fill(&world, 400, "");
        let c = &mut Client::of(&world.server);
        let mut last = 0;
        for budget in [0, 50, 200, 1_000, 5_000] {
            let result = packed(&world, c, budget).await;
            let items = check(&result, budget);
            assert!(items >= last, "{budget}: {items} after {last}");
            last = items;
        }
        assert!(last > 40, "{last}");
        world.server.shutdown_backend();
    });
}

/// A real request that is withdrawn while its index is built ends at once, and the next one is served whole.
#[test]
fn a_withdrawn_pack_leaves_nothing_behind() {
    run(async {
        let world = world();
        fill(&world, 1_000, "\n\tx := 1\n\t_ = x");
        let c = &mut Client::of(&world.server);
        let params = json!({"repo": world.root, "query": "count the parcels", "wait": {"mode": "strict"}});
        c.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": params}).to_string()).await;
        c.send(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#).await;
        let answer = c.answer().await;
        assert_eq!((crate::client::code(&answer), &answer["id"]), ("POC_E_CANCELLED", &json!(1)));
        assert!(check(&packed(&world, c, 8_000).await, 8_000) > 20);
        assert_eq!(world.server.in_flight(), 0);
        world.server.shutdown_backend();
    });
}

/// A large pack over the socket ends long before it would be done when it is withdrawn.
#[test]
fn a_withdrawn_pack_ends_at_once() {
    run(async {
        let world = world();
        fill(&world, 600, &"\n\tx := 1\n\t_ = x".repeat(20));
        let c = &mut Client::of(&world.server);
        let query: String =
            (0..600).map(|i| format!("Step{i} counts the parcels of pkg{} ", i % 20)).collect();
        let params = json!({"repo": world.root, "query": query, "noCache": true, "budgets":
            {"maxTotalTokens": 200_000, "maxTotalChars": 2_000_000, "maxItems": 250, "maxItemsPerSection": 80, "stop": "budget"}});
        let asked = Instant::now();
        let (_, whole) = ask(&world, c, "pack", params.clone()).await;
        let whole_time = asked.elapsed();
        assert!(whole["result"]["pack"]["stats"]["included"].as_u64().unwrap() > 100, "{}", whole["error"]);
        let mut times = Vec::new();
        for wait_ms in [1, 3, 6, 10, 20, 30, 1, 3, 6, 10] {
            let request = json!({"jsonrpc": "2.0", "id": 9, "method": "pack", "params": params});
            c.send(&request.to_string()).await;
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            let started = Instant::now();
            c.send(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).await;
            let answer = c.answer().await;
            if crate::client::code(&answer) == "POC_E_CANCELLED" {
                times.push(started.elapsed());
            }
            // The thread is free, too, and not the answer alone there.
            crate::client::until("the request ends", || world.server.in_flight() == 0).await;
        }
        let least = times.iter().min().expect("one was withdrawn before it was done");
        assert!(2 * *least < whole_time, "{times:?}, and {whole_time:?} for all of it");
        world.server.shutdown_backend();
    });
}

/// Two functions that words cannot tell apart, and commits about the one of `touched`: the files of the
/// hits in their order.
fn order_after_commits_to(touched: Option<&str>) -> Vec<String> {
    let user = User::new();
    let of = |name: &str, n: u32| {
        format!("package demo\n\n// {name} weighs the parcel.\nfunc {name}() int {{\n\treturn {n}\n}}\n")
    };
    for (file, name) in [("east.go", "East"), ("west.go", "West")] {
        user.write(&format!("repo/{file}"), &of(name, 1));
    }
    user.git(&["init", "-q"]);
    user.git(&["add", "."]);
    user.git(&["commit", "-qm", "begin"]);
    for n in 2..5 {
        if let Some(file) = touched {
            let name = if file == "east.go" { "East" } else { "West" };
            user.write(&format!("repo/{file}"), &of(name, n));
            user.git(&["commit", "-qam", &format!("fix how a parcel is weighed, {n}")]);
        }
    }
    let found: Value = serde_json::from_str(&ok(&user.ctl(&[
        "search",
        "fix the weight of a parcel that is wrong",
        "--json",
    ])))
    .unwrap();
    let hits = found["hits"].as_array().unwrap().iter();
    let files = hits.map(|h| h["fileRelPath"].as_str().unwrap().to_owned());
    // A file may have several hits: its best one counts.
    let mut order: Vec<String> = Vec::new();
    for file in files.filter(|f| f == "east.go" || f == "west.go") {
        if !order.contains(&file) {
            order.push(file);
        }
    }
    order
}

/// History goes from commits to ranking: it decides between two that are equal without it.
#[test]
fn commits_decide_between_equals() {
    assert_eq!(order_after_commits_to(None), ["east.go", "west.go"], "by path");
    assert_eq!(order_after_commits_to(Some("west.go")), ["west.go", "east.go"]);
    assert_eq!(order_after_commits_to(Some("east.go")), ["east.go", "west.go"]);
}
