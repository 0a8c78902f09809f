//! Packs about changes: what differs, between which states, and what surrounds it.

use crate::answers::{World, ask, check_shape, world};
use crate::client::{Client, run};
use crate::support::git;
use indexd_proto::pack::Pack;
use serde_json::{Value, json};
use std::path::Path;

fn edit(world: &World, path: &str, change: impl Fn(String) -> String) {
    let path = Path::new(&world.root).join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, change(text)).unwrap();
}

/// A repository with one commit.
fn committed() -> World {
    let world = world();
    edit(&world, "retry_test.go", |_| {
        "package retry\n\nimport \"testing\"\n\nfunc TestDelay(t *testing.T) {\n\tif Delay(1) != 4 {\n\t\tt.Fatal()\n\t}\n}\n".into()
    });
    git(Path::new(&world.root), &["init", "-q", "-b", "main"]);
    git(Path::new(&world.root), &["add", "-A"]);
    git(Path::new(&world.root), &["commit", "-q", "-m", "one"]);
    world
}

async fn pack(world: &World, params: Value) -> Value {
    let c = &mut Client::of(&world.server);
    let mut params = params;
    params["rendered"] = json!(true);
    ask(world, c, "pack", params).await.1
}

/// Each changed part as `path name status` with `!` for what others rely on.
fn parts(answer: &Value) -> Vec<String> {
    let pack: Pack = check_shape("pack", &json!({"result": answer["result"]["pack"]}));
    let change = pack.change.expect("the pack is about a change");
    let mut out = Vec::new();
    for file in &change.files {
        for part in &file.parts {
            let mark = if part.contract { "!" } else { "" };
            out.push(format!("{} {} {}{mark}", file.file_rel_path, part.name, part.status.name()));
        }
        if file.parts.is_empty() {
            let was = file.previous_path.as_deref().or(file.unreadable.as_deref()).unwrap_or("");
            out.push(format!("{} {} {was}", file.file_rel_path, file.status.name()));
        }
    }
    out
}

fn text(answer: &Value) -> &str {
    answer["result"]["rendered"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_change_of_a_signature_shows_both_sides_and_who_uses_it() {
    run(async {
        let world = committed();
        edit(&world, "retry.go", |t| t.replace("Delay(attempt int) int {", "Delay(attempt, most int) int {"));
        let answer = pack(&world, json!({"change": {"diff": ""}, "intent": "review"})).await;
        assert_eq!(parts(&answer), ["retry.go Delay modified!"]);
        let text = text(&answer);
        for line in [
            "## Change: retry.go (modified)\nchanged for its users: Delay\n",
            "-func Delay(attempt int) int {\n+func Delay(attempt, most int) int {\n",
            "# callers\nclient.go\n:4 func Get() int {\n:5 return Delay(3) + Unknown()\n",
            ":5 func TestDelay(t *testing.T) {\n:6 if Delay(1) != 4 {\n",
            "func base(attempt int) int",
        ] {
            assert!(text.contains(line), "{line:?} in\n{text}");
        }
        assert!(text.starts_with("# changes\n\n"));
        let hints = answer["result"]["pack"]["missing_context_hints"].to_string();
        assert!(!hints.contains("best of"), "no seed is walked from: {hints}");
        let budget = answer["result"]["pack"]["stats"]["tokenBudget"].as_u64().unwrap();
        assert!(answer["result"]["pack"]["stats"]["tokenCount"].as_u64().unwrap() <= budget);
        let again = pack(&world, json!({"change": {"diff": ""}, "intent": "review", "noCache": true})).await;
        assert_eq!(again["result"]["rendered"], answer["result"]["rendered"]);
        assert_eq!(again["result"]["pack"]["packId"], answer["result"]["pack"]["packId"]);
    });
}

#[test]
fn each_state_is_compared_with_the_one_that_is_asked_for() {
    run(async {
        let world = committed();
        edit(&world, "client.go", |t| t.replace("Delay(3)", "Delay(4)"));
        git(Path::new(&world.root), &["add", "client.go"]);
        edit(&world, "retry.go", |t| t.replace("* 2", "* 3"));
        edit(&world, "new.py", |_| "def fresh():\n    return 1\n".into());
        std::fs::remove_file(Path::new(&world.root).join("tools/helper.py")).unwrap();
        let worktree = ["new.py fresh added", "retry.go Delay modified", "tools/helper.py work removed!"]
            .map(String::from);
        for (change, expect) in [
            (json!({"staged": true}), vec!["client.go Get modified".to_owned()]),
            (json!({"worktree": true}), worktree.to_vec()),
        ] {
            assert_eq!(parts(&pack(&world, json!({"change": change})).await), expect, "{change}");
        }
        let all = parts(&pack(&world, json!({"change": {"diff": "HEAD"}})).await);
        assert_eq!(all.len(), 4, "{all:?}");
        // Whoever still calls what is gone is shown.
        let answer = pack(&world, json!({"change": {"worktree": true}})).await;
        assert!(text(&answer).contains("helper.work()"), "{}", text(&answer));
        // Commits, the newest of which is the work tree, and one that it is not any more.
        git(Path::new(&world.root), &["add", "-A"]);
        git(Path::new(&world.root), &["commit", "-q", "-m", "two"]);
        let range = json!({"change": {"diff": "HEAD~1..HEAD"}});
        assert_eq!(parts(&pack(&world, range.clone()).await), all);
        edit(&world, "retry.go", |t| t.replace("* 3", "* 5"));
        let answer = pack(&world, range).await;
        assert_eq!(parts(&answer), all);
        let warnings = answer["result"]["pack"]["warnings"].to_string();
        assert!(warnings.contains("1 of 4 changed files"), "{warnings}");
        assert!(text(&answer).contains("+\treturn base(attempt) * 3\n"));
        // Nothing differs: that is an answer.
        let nothing = pack(&world, json!({"change": {"diff": "HEAD..HEAD"}})).await;
        assert!(parts(&nothing).is_empty());
    });
}

#[test]
fn a_patch_is_read_whether_it_is_applied_or_not() {
    run(async {
        let world = committed();
        edit(&world, "retry.go", |t| t.replace("* 2", "* 7"));
        git(Path::new(&world.root), &["mv", "tools/run.py", "tools/start.py"]);
        let patch = git(Path::new(&world.root), &["diff", "HEAD"]);
        let request = json!({"change": {"patch": patch}});
        let applied = pack(&world, request.clone()).await;
        assert_eq!(parts(&applied), ["retry.go Delay modified", "tools/start.py renamed tools/run.py"]);
        git(Path::new(&world.root), &["reset", "-q", "--hard"]);
        let open = pack(&world, request).await;
        assert_eq!(parts(&open)[0], "retry.go Delay modified");
        for answer in [&applied, &open] {
            assert!(text(answer).contains("-\treturn base(attempt) * 2\n+\treturn base(attempt) * 7\n"));
            assert!(text(answer).contains("func Get() int {"), "callers are there");
        }
        let misfit =
            pack(&world, json!({"change": {"patch": "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n"}})).await;
        assert!(misfit["error"]["message"].as_str().unwrap().contains("fits no file"), "{misfit}");
    });
}

#[test]
fn what_is_left_out_of_the_index_is_left_out_of_a_change() {
    run(async {
        let world = committed();
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        edit(&world, "tools/helper.py", |t| format!("{t}\nTOKEN = \"{token}\"\n"));
        edit(&world, ".env", |_| format!("KEY={token}\n"));
        edit(&world, "old.txt", |_| "hidden by a rule\n".into());
        git(Path::new(&world.root), &["add", "-A"]);
        git(Path::new(&world.root), &["commit", "-q", "-m", "secrets"]);
        edit(&world, "tools/helper.py", |t| t.replace(&token, "none"));
        edit(&world, ".env", |_| "KEY=none\n".into());
        edit(&world, ".gitignore", |_| "old.txt\n".into());
        edit(&world, "old.txt", |_| "changed\n".into());
        let answer = pack(&world, json!({"change": {"diff": ""}})).await;
        assert!(!answer.to_string().contains(&token), "{answer}");
        let parts = parts(&answer);
        assert!(parts.iter().any(|p| p.starts_with("tools/helper.py")), "{parts:?}");
        assert!(parts.contains(&"old.txt modified the index leaves it out".to_owned()), "{parts:?}");
        assert!(!text(&answer).contains("hidden by a rule"));
    });
}

/// What the index holds of a file may be another text than its bytes: without secrets, or decoded. Whether
/// HEAD has the file is a question of the bytes.
#[test]
fn a_file_without_its_secrets_still_comes_from_head() {
    run(async {
        let world = committed();
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        edit(&world, "tools/zorkmid.py", |_| format!("def zorkmid():\n    return \"{token}\"\n"));
        let latin = Path::new(&world.root).join("tools/quatloo.py");
        std::fs::write(&latin, b"def quatloo():\n    return '\xe9'\n").unwrap();
        git(Path::new(&world.root), &["add", "-A"]);
        git(Path::new(&world.root), &["commit", "-q", "-m", "two"]);
        let head = git(Path::new(&world.root), &["rev-parse", "HEAD"]).trim().to_owned();
        let refs = async |word: &str| {
            let answer = pack(&world, json!({"query": word, "includeExplain": true})).await;
            let pack: Pack = check_shape("pack", &json!({"result": answer["result"]["pack"]}));
            let items = pack.sections.into_iter().flat_map(|s| s.items);
            let of = |i: indexd_proto::pack::Item| i.provenance().clone();
            let mut found = items.filter(|i| i.title.contains(word)).map(of);
            let first = found.next().unwrap_or_else(|| panic!("{word}: {answer}"));
            first.reference
        };
        for word in ["zorkmid", "quatloo"] {
            assert_eq!(refs(word).await, head, "{word}");
        }
        edit(&world, "tools/zorkmid.py", |t| t.replace("a1B2", "a1B3"));
        assert!(refs("zorkmid").await.starts_with("worktree:"), "another secret is another file");
        std::fs::write(&latin, b"def quatloo():\n    return '\xe8'\n").unwrap();
        assert!(refs("quatloo").await.starts_with("worktree:"));
    });
}

#[test]
fn requests_that_name_no_change_are_told_so() {
    run(async {
        let world = committed();
        for (change, said) in [
            (json!({"diff": "nowhere..HEAD"}), "no commit is named \"nowhere\""),
            (json!({"diff": "-x"}), "no commit is named"),
            (json!({"diff": "", "staged": true}), "more than one"),
            (json!({}), "none or more than one"),
            (json!({"patch": "no patch at all"}), "holds no patch"),
        ] {
            let answer = pack(&world, json!({"change": change})).await;
            let message = answer["error"]["message"].as_str().unwrap_or("");
            assert!(message.contains(said), "{change}: {answer}");
        }
    });
}

#[test]
fn a_pack_is_a_page_that_needs_nothing_else() {
    run(async {
        let world = committed();
        edit(&world, "retry.go", |t| t.replace("* 2", "* 3 // <script>alert(1)</script>"));
        let c = &mut Client::of(&world.server);
        let params = json!({"query": "how long is the delay", "change": {"diff": ""}, "page": true});
        let (_, answer) = ask(&world, c, "pack", params).await;
        let page = answer["result"]["page"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
        for part in [
            "Content-Security-Policy",
            "<span class=\"k\">func</span>",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "<svg",
            "left out",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert_eq!(page.matches("<script").count(), 1, "its own alone");
        for elsewhere in ["http://", "https://", "src=", "@import", "url(", &world.root] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
        let (_, again) = ask(&world, c, "pack", json!({"query": "how long is the delay"})).await;
        assert!(again["result"].get("page").is_none());
    });
}
