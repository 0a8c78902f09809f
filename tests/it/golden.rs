//! Golden packs, compared byte for byte. `UPDATE_GOLDEN=1 cargo test -p indexd-tests golden` writes them;
//! the commit that changes one says why in its body (`scripts/golden-reasons.sh`).

use crate::support::pack_of;
use crate::user::User;
use indexd_oracle::Oracle;
use indexd_pack::{Pack, PackError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn tree(dir: &Path, prefix: &str, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => tree(&path, &format!("{name}/"), out),
            false => out.push((name, std::fs::read(&path).unwrap())),
        }
    }
}

fn pack(request: Value) -> Result<Pack, PackError> {
    let mut files = Vec::new();
    tree(&top().join("fixtures/packs/go"), "", &mut files);
    pack_of(&Oracle::of(&files), &request)
}

/// Compares with the golden of this name, or writes it.
fn check(name: &str, text: &str) {
    let path = top().join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        golden == text,
        "{name} is another from line {:?} on. Is the new pack right? Then run UPDATE_GOLDEN=1 cargo test -p \
         indexd-tests golden, and say why in the body of the commit: \"golden: ...\"",
        differs.map(|n| n + 1)
    );
}

/// The canonical bytes of one pack: no white space, sorted keys, nothing volatile.
#[test]
fn context_pack_v1() {
    let request = json!({
        "query": "The retry delay should never exceed MaxDelay",
        "budgets": {"maxTotalTokens": 1200, "maxItems": 12},
    });
    check("context_pack_v1.json", &pack(request).unwrap().canonical());
}

/// The template that the documentation shows.
fn documented_template() -> String {
    let docs = std::fs::read_to_string(top().join("docs/templates.md")).unwrap();
    let (_, rest) = docs.split_once("```jinja\n").unwrap();
    rest.split_once("```\n").unwrap().0.to_owned()
}

/// One text for each layout and renderer that there is.
#[test]
fn each_layout_and_renderer() {
    let mut written = Vec::new();
    for layout in ["graph", "agent", "flat"] {
        for renderer in ["text", "markdown", "template", "json"] {
            let mut request = json!({
                "query": "The retry delay should never exceed MaxDelay", "layout": layout, "renderer": renderer,
                "budgets": {"maxTotalTokens": 700},
            });
            if renderer == "template" {
                request["template"] = documented_template().into();
            }
            let name = format!("{layout}-{renderer}.txt");
            match pack(request) {
                Ok(pack) => {
                    check(&name, &pack.rendered);
                    written.push(name);
                }
                Err(PackError::NotSupported { .. }) => {}
                Err(e) => panic!("{name}: {e}"),
            }
        }
    }
    assert!(written.len() >= 8, "{written:?}");
    for entry in std::fs::read_dir(top().join("tests/golden")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "context_pack_v1.json" || written.contains(&name), "{name} is the golden of nothing");
    }
}

/// A commit that changes a golden is found unless its body says why.
#[test]
fn a_changed_golden_has_a_reason() {
    let user = User::new();
    std::fs::create_dir_all(user.path("repo/scripts")).unwrap();
    let script = "scripts/golden-reasons.sh";
    std::fs::copy(top().join(script), user.path("repo").join(script)).unwrap();
    user.write("repo/tests/golden/a.json", "1\n");
    user.git(&["init", "-q"]);
    user.git(&["add", "."]);
    user.git(&["commit", "-qm", "begin"]);
    let passes = |base: Option<&str>| {
        let run = std::process::Command::new("bash").arg(user.path("repo").join(script)).args(base).output();
        run.unwrap().status.success()
    };
    let check = |text: &str, message: &str| {
        user.write("repo/tests/golden/a.json", text);
        user.git(&["commit", "-qam", message]);
        passes(Some("HEAD~1"))
    };
    assert!(passes(None));
    assert!(!check("2\n", "pack: something else"));
    assert!(!check("3\n", "pack: something else\n\ngolden: so\n"), "a reason is longer");
    assert!(check("4\n", "pack: something else\n\ngolden: the new order is the documented one\n"));
    assert!(!passes(None), "all commits since the rule are looked at");
}
