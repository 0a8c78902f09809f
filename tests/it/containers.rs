//! Clients that know a folder by another path than the daemon, as those in a container do.

use crate::user::{User, ok, text};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// A user whose repository lies at a second path as well, the files being the same ones.
fn mounted() -> (User, String) {
    let user = User::new();
    std::fs::create_dir_all(user.path("inside/code/tools")).unwrap();
    user.write("repo/tools/run.go", "package tools\n\nfunc Run() {}\n");
    for file in ["go.mod", "retry.go", "client.go", "tools/run.go"] {
        std::fs::hard_link(user.path("repo").join(file), user.path("inside/code").join(file)).unwrap();
    }
    let (host, container) =
        (user.path("repo").canonicalize().unwrap(), user.path("inside/code").canonicalize().unwrap());
    let container = container.display().to_string();
    let setting = format!("[daemon]\npath_map = [\"{}={container}\"]\n", host.display());
    user.write("config/indexd/config.toml", &setting);
    (user, container)
}

#[test]
fn a_client_in_a_container_asks_about_the_paths_that_it_knows() {
    let (user, container) = mounted();
    let inside = |folder: &str, args: &[&str]| {
        let mut ctl = user.command("ctl");
        ctl.current_dir(format!("{container}{folder}")).args(args);
        ok(&ctl.output().unwrap())
    };
    let outside = ok(&user.ctl(&["pack", "delay", "--json"]));
    let id = |pack: &str| serde_json::from_str::<Value>(pack).unwrap()["packId"].clone();
    assert_eq!(id(&inside("", &["pack", "delay", "--json"])), id(&outside));
    assert_eq!(id(&inside("/tools", &["pack", "delay", "--json"])), id(&outside));
    let place = format!("{container}/retry.go:4");
    assert!(inside("/tools", &["callers", &place]).contains("Get"));
    assert!(inside("/tools", &["why", &format!("{container}/tools/run.go")]).contains("tools/run.go"));
    let added: Value = serde_json::from_str(&inside("", &["workspace", "add", ".", "--json"])).unwrap();
    assert_eq!(added["root"], container);
    let list: Value = serde_json::from_str(&inside("", &["workspace", "list", "--json"])).unwrap();
    assert_eq!(list["workspaces"].as_array().unwrap().len(), 1, "one index serves both: {list}");
}

#[test]
fn answers_name_the_root_that_the_client_knows() {
    let (user, container) = mounted();
    let mut indexd =
        user.command("indexd").arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let overlay = json!([{"path": format!("{container}/retry.go"), "text": "package demo\n\nfunc Jitter() int { return 1 }\n"}]);
    let host = user.path("repo").canonicalize().unwrap();
    let requests = [
        json!({"cwd": format!("{container}/tools"), "query": "delay"}),
        json!({"cwd": host, "query": "delay"}),
        json!({"repo": container, "query": "jitter", "overlays": overlay}),
    ];
    let mut stdin = indexd.stdin.take().unwrap();
    for (id, params) in requests.iter().enumerate() {
        writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "search", "params": params}))
            .unwrap();
    }
    drop(stdin);
    let said = text(&indexd.wait_with_output().unwrap().stdout);
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: usize| answers.iter().find(|a| a["id"] == id).unwrap_or_else(|| panic!("{said}"));
    assert_eq!(answer(0)["result"]["envelope"]["root"], container);
    assert_eq!(answer(1)["result"]["envelope"]["root"], host.display().to_string());
    assert_eq!(answer(0)["result"]["hits"], answer(1)["result"]["hits"]);
    assert!(answer(2)["result"].to_string().contains("Jitter"), "{said}");
}
