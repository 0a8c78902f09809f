//! An index as files of JSON lines: what is written, how it is cut, and that packs built from it equal
//! those of the index.

use crate::artifact_view::{ArtifactView, Builder};
use crate::support::{Bench, pack_of};
use crate::user::{User, check_failure, ok, text};
use indexd_artifact::{Artifact, Vocabulary};
use indexd_model::IndexView;
use indexd_store::Snapshot;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The lines of a state.
fn lines_of(snapshot: &Snapshot) -> Vec<(Artifact, String)> {
    let [texts, paths, commits] = snapshot.vocabulary().unwrap();
    let vocabulary = Vocabulary { texts, paths, commits };
    let mut out = Vec::new();
    indexd_artifact::write::<()>(snapshot, &vocabulary, &mut |artifact, line| {
        out.push((artifact, line.to_owned()));
        Ok(())
    })
    .unwrap();
    out
}

fn view_of<'l>(lines: impl Iterator<Item = (Artifact, &'l str)>) -> ArtifactView {
    let mut builder = Builder::default();
    for (artifact, line) in lines {
        builder.add(artifact, line).unwrap();
    }
    builder.finish().unwrap()
}

fn pack(view: &dyn IndexView, request: &Value) -> String {
    let pack = pack_of(view, request).unwrap();
    format!("{}\n{}", pack.canonical(), pack.rendered)
}

/// Two languages, documents, a secret, text that is not code.
fn bench() -> Bench {
    let mut bench = Bench::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/packs");
    for tree in ["go", "python"] {
        copy(&bench, &fixtures.join(tree), tree);
    }
    bench.write("notes/naïve.md", "# Naïve\n\nThe delay – doubled. 🦀\n");
    bench.write("deploy.env.sample", "token = \"ghp_012345678901234567890123456789012345\"\n");
    bench.build();
    bench
}

fn copy(bench: &Bench, from: &Path, to: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{to}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            copy(bench, &path, &name);
        } else {
            bench.write(&name, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn a_pack_from_artifacts_equals_the_one_from_the_index() {
    let mut bench = bench();
    // An index that was changed has other handles than one that was built.
    bench.write("go/zz_more.go", "package zz\n\nfunc More() int { return 1 }\n");
    bench.update(&["go/zz_more.go".to_owned()]);
    let snapshot = bench.snapshot();
    let lines = lines_of(&snapshot);
    let view = view_of(lines.iter().map(|(a, line)| (*a, line.as_str())));
    let mut items = 0;
    for query in
        ["how is the price of an order computed", "retry delay", "parse config error", "More", "zyzzyva"]
    {
        for rest in [
            json!({}),
            json!({"layout": "agent", "budgets": {"maxTotalTokens": 1500}}),
            json!({"intent": "impact", "expansion": {"maxHops": 4, "includeDataflow": true, "includeExports": true}}),
            json!({"intent": "debug", "budgets": {"maxTotalTokens": 300}, "strictness": "strict"}),
        ] {
            let mut request = rest.clone();
            request["query"] = json!(query);
            let (from_index, from_lines) = (pack(&snapshot, &request), pack(&view, &request));
            assert_eq!(from_index, from_lines, "{request}");
            items += from_index.matches("\"chunkUid\"").count();
        }
    }
    assert!(items > 50, "{items}");
}

/// Two states of one tree have equal artifacts, whatever led to them.
#[test]
fn artifacts_are_a_function_of_the_tree() {
    let built = lines_of(&bench().snapshot());
    let mut changed = bench();
    for text in ["package zz\n\nfunc Gone() {}\n", ""] {
        if text.is_empty() {
            std::fs::remove_file(changed.root().join("go/gone.go")).unwrap();
        } else {
            changed.write("go/gone.go", text);
        }
        changed.update(&["go/gone.go".to_owned()]);
    }
    assert_eq!(lines_of(&changed.snapshot()), built);
}

/// The artifacts of a folder, by its manifest.
fn read(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("pieces/manifest.json")).unwrap()).unwrap();
    let mut out = BTreeMap::new();
    for piece in manifest["pieces"].as_array().unwrap() {
        let mut lines = Vec::new();
        for part in piece["parts"].as_array().unwrap() {
            let text = std::fs::read_to_string(dir.join(part["file"].as_str().unwrap())).unwrap();
            assert_eq!(json!(text.len()), part["bytes"]);
            assert_eq!(json!(text.lines().count()), part["nRecords"]);
            lines.extend(text.lines().map(str::to_owned));
        }
        assert_eq!(json!(lines.len()), piece["nRecords"]);
        out.insert(piece["name"].as_str().unwrap().to_owned(), lines);
    }
    out
}

#[test]
fn an_export_has_every_artifact_and_the_packs_that_were_written() {
    let user = User::new();
    let ids: Vec<String> = ["delay", "retry", "Get"]
        .map(|query| ok(&user.ctl(&["pack", query, "--write"])).trim().to_owned())
        .to_vec();
    let dir = user.path("out");
    let to = dir.to_str().unwrap();
    let said = ok(&user.ctl(&["export", "artifacts", to]));
    assert!(said.contains("context_packs  3 records") && said.contains("pieces/manifest.json"), "{said}");
    let whole = read(&dir);
    for artifact in Artifact::ALL {
        assert!(whole.contains_key(artifact.name()), "{}", artifact.name());
    }
    let mut packs: Vec<String> = whole["context_packs"]
        .iter()
        .map(|line| {
            let pack: Value = serde_json::from_str(line).unwrap();
            assert!(pack["request"]["query"].is_string(), "the request is part of the record");
            pack["packId"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut expected = ids.clone();
    expected.sort();
    packs.sort();
    assert_eq!(packs, expected);
    // Small shards hold the same records, none of them cut, and a list stands beside them.
    let said = user.ctl(&["export", "artifacts", to, "--max-shard-bytes", "3000"]);
    assert!(
        text(&said.stderr).contains("removed context_packs.jsonl of an earlier export"),
        "{}",
        text(&said.stderr)
    );
    ok(&said);
    let cut = read(&dir);
    assert_eq!(cut, whole);
    assert!(!dir.join("context_packs.jsonl").exists() && dir.join("context_packs.part-00002.jsonl").exists());
    let meta: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("context_packs.meta.json")).unwrap()).unwrap();
    assert_eq!((&meta["nRecords"], &meta["maxShardBytes"]), (&json!(3), &json!(3000)));
    // The files are an index again.
    let lines = Artifact::ALL.into_iter().flat_map(|a| whole[a.name()].iter().map(move |l| (a, l.as_str())));
    let view = view_of(lines);
    assert_eq!(view.defs_named("Delay").len(), 1);
    assert!(pack(&view, &json!({"query": "delay"})).contains("func Delay"));
    // A folder of somebody else is left alone.
    check_failure(
        &user.ctl(&["export", "artifacts", user.path("repo").to_str().unwrap()]),
        73,
        "POC_E_CANNOT_CREATE",
    );
}
