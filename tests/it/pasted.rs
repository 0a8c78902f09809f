//! What README and docs offer for pasting into a shell, run as it stands.
//!
//! Every block of `sh` is listed here: it is run in a repository by a user with a new home, or it says why
//! it is not. Placeholders get what a reader would put there.

use crate::user::{User, programs, text};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What becomes of a block.
enum Run {
    /// It is run, and what it prints contains this.
    Prints(&'static str),
    /// It is run, and this file is there then, relative to the repository.
    Writes(&'static str),
    /// It is not run here.
    Not(&'static str),
}

use Run::{Not, Prints, Writes};

const MEASURES: &str = "measures trees that the project does not hold";

/// Each block by its page and its first line.
const BLOCKS: &[(&str, &str, Run)] = &[
    ("README.md", "cargo install", Not("builds the programs")),
    ("README.md", "scripts/try.sh [REPOSITORY [QUERY]]", Not("builds the release, and runs these tests")),
    ("docs/internals/accuracy-go.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/internals/accuracy-cpp.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/internals/accuracy-java.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/internals/accuracy-python.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/internals/accuracy-rust.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/internals/accuracy-typescript.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/agents.md", "cd YOUR-REPOSITORY\nctl agent", Writes("CLAUDE.md")),
    ("docs/agents.md", "ctl card", Prints("function main  main.go:5")),
    ("docs/exchange.md", "ctl export artifacts", Prints("symbols  ")),
    (
        "docs/service.md",
        "ctl daemon stop",
        Not("needs Docker; tests/it/containers.rs has two roots of one folder"),
    ),
    ("docs/service.md", "ctl daemon start", Prints("main.go:5-6")),
    ("docs/internals/decisions.md", "cargo run --release", Not(MEASURES)),
    ("docs/internals/ranking-log.md", "EVAL_TASKS", Not(MEASURES)),
    ("docs/documents.md", "mkdir -p \"$OUT\"", Not("the_documented_loop_works runs it")),
    ("docs/documents.md", "ctl map", Writes("context_pack.md")),
    (
        "docs/editors.md",
        "mkdir -p ~/.local",
        Writes("../home/.local/share/nvim/site/pack/indexd/start/indexd/plugin/indexd.lua"),
    ),
    ("docs/editors.md", "nvim -c", Prints("nvim -c Indexd pack where are errors handled")),
    ("docs/editors.md", "cd INDEXD/editors/vscode", Prints("code --install-extension indexd.vsix")),
    ("docs/editors.md", "emacs -L", Prints("emacs -L /")),
    ("docs/editors.md", "python3 INDEXD/proto/clients", Prints("pack:sha256:")),
    ("docs/installing.md", "python3 -m venv zig", Not("builds packages")),
    ("docs/installing.md", "scripts/package.sh --test", Not("builds packages")),
    ("docs/manual.md", "ctl pack -i", Not("needs a terminal; tests/it/pick.rs has one")),
    ("docs/agents.md", "cd YOUR-REPOSITORY\nctl mcp", Writes(".mcp.json")),
    ("docs/agents.md", "meta=", Prints("# code\n")),
    ("docs/page.md", "ctl map --as html", Writes("main.svg")),
    ("docs/page.md", "ctl pack", Prints("xdg-open pack.html")),
    ("docs/recipes.md", "git diff HEAD~1", Writes("review.md")),
    ("docs/recipes.md", "ctl pack --staged", Prints("Nothing differs between ")),
    ("docs/recipes.md", "ctl search main", Prints("SearchResult")),
    ("docs/reviews.md", "git clone", Prints("## Change: client.go (modified)")),
    ("docs/exchange.md", "npm install", Not("installs programs; tests/it/imports.rs reads what is exported")),
    ("docs/exchange.md", "ctl export edges --jsonl --repo TREE", Not(MEASURES)),
    ("docs/exchange.md", "ctl export scip", Prints("the import is taken back")),
    ("docs/service.md", "ctl service status", Not("needs systemd; the tests of `service` have a stand-in")),
    ("docs/share.md", "ctl share push s3", Not("needs a bucket; tests/it/share.rs has one")),
    ("docs/share.md", "export INDEXD_SHARE_URL", Not("needs a bucket; tests/it/share.rs has one")),
    ("docs/share.md", "git clone --depth 50", Not("needs a network; tests/it/share.rs pulls by itself")),
    ("docs/share.md", "d=$(mktemp", Prints("1 state")),
    ("docs/templates.md", "echo", Prints("main.go:5 func main()")),
    ("docs/tutorial.md", "ctl search main", Prints("# Repo map")),
    ("docs/service.md", "ctl service install", Not("needs systemd; the tests of `service` have a stand-in")),
];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The blocks of `sh` of all pages, each with its page.
fn blocks() -> Vec<(String, String)> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/internals"] {
        let docs = std::fs::read_dir(top().join(folder)).unwrap().map(|e| e.unwrap().path());
        let docs = docs.filter(|p| p.extension().is_some_and(|e| e == "md"));
        pages.extend(docs.map(|p| format!("{folder}/{}", p.file_name().unwrap().to_str().unwrap())));
    }
    pages.sort();
    let mut out = Vec::new();
    for page in pages {
        let all = std::fs::read_to_string(top().join(&page)).unwrap();
        let parts = all.split("\n```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
        out.extend(parts.map(|block| (page.clone(), format!("{block}\n"))));
    }
    out
}

/// A user with a repository that has something to show, and stand-ins that tell how they were called for
/// programs that open windows or install something.
fn user() -> User {
    let user = User::new();
    user.write("repo/main.go", "package demo\n\nimport \"fmt\"\n\n// The program starts here, where errors are handled.\nfunc main() { fmt.Println(Get()) }\n");
    user.git(&["init", "-q"]);
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "one"]);
    user.write("repo/client.go", "package demo\n\nfunc Get() int { return Delay(4) }\n");
    user.git(&["commit", "-q", "-a", "-m", "two"]);
    std::fs::create_dir_all(user.path("home")).unwrap();
    for name in ["code", "emacs", "npx", "nvim", "xdg-open"] {
        let path = format!("stand-ins/{name}");
        user.write(&path, &format!("#!/bin/sh\necho {name} \"$@\"\n"));
        std::fs::set_permissions(user.path(&path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    user
}

#[test]
fn what_the_pages_offer_for_pasting_works() {
    let mut listed: BTreeSet<(&str, &str)> = BLOCKS.iter().map(|b| (b.0, b.1)).collect();
    assert_eq!(listed.len(), BLOCKS.len());
    for (page, block) in blocks() {
        let found =
            BLOCKS.iter().find(|b| b.0 == page && block.starts_with(b.1) && listed.contains(&(b.0, b.1)));
        let (page, first, run) =
            found.unwrap_or_else(|| panic!("{page} has a block that is not listed:\n{block}"));
        listed.remove(&(page, first));
        if let Not(why) = run {
            eprintln!("not run: {page}, {first}: {why}");
            continue;
        }
        let user = user();
        let clone = "git clone -q https://github.com/spf13/cobra && cd cobra\n";
        // First what stands in the page: the folder of the sources may be below /tmp itself.
        let script = block
            .replace(" /tmp/", " ../")
            .replace("YOUR-REPOSITORY", "../repo")
            .replace("INDEXD/", &format!("{}/", top().display()))
            .replace(clone, "git clone -q . ../cobra && cd ../cobra\n");
        let mut shell = user.run(Path::new("bash"));
        let path = format!("{}:{}:/usr/bin:/bin", user.path("stand-ins").display(), programs().display());
        let ran = shell.args(["-euo", "pipefail", "-c", &script]).env("PATH", path).output().unwrap();
        let printed = format!("{}{}", text(&ran.stdout), text(&ran.stderr));
        assert!(ran.status.success(), "{page}: {:?}\n{script}{printed}", ran.status);
        match run {
            Prints(wanted) => assert!(printed.contains(wanted), "{page}: no {wanted:?}\n{script}{printed}"),
            Writes(file) => {
                assert!(user.path("repo").join(file).is_file(), "{page}: no {file}\n{script}{printed}");
            }
            Not(_) => {}
        }
    }
    assert!(listed.is_empty(), "blocks that no page has: {listed:?}");
}

/// The list of all pages links each, and no link of a page leads nowhere.
#[test]
fn pages_lead_to_each_other() {
    let mut unlinked = BTreeSet::new();
    for folder in ["docs", "docs/internals"] {
        let all = std::fs::read_dir(top().join(folder)).unwrap().map(|e| e.unwrap().path());
        unlinked.extend(all.filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    let index = top().join("docs/README.md");
    let pages = unlinked.clone().into_iter().chain(["README.md", "ARCHITECTURE.md"].map(|p| top().join(p)));
    for page in pages {
        let folder = page.parent().unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
        for link in links.filter(|l| l.ends_with(".md")) {
            let to = folder.join(link).canonicalize();
            let to = to.unwrap_or_else(|e| panic!("{}: {link}: {e}", page.display()));
            if page == index {
                unlinked.remove(&to);
            }
        }
    }
    unlinked.remove(&index);
    assert!(unlinked.is_empty(), "docs/README.md does not link {unlinked:?}");
}

/// A page about a door ends in something that can be pasted.
#[test]
fn pages_about_doors_end_in_something_to_paste() {
    let pages = ["agents", "documents", "editors", "exchange", "installing", "page", "reviews", "service"];
    for page in pages.into_iter().chain(["templates"]) {
        let all = std::fs::read_to_string(top().join(format!("docs/{page}.md"))).unwrap();
        assert!(all.ends_with("\n```\n"), "docs/{page}.md");
    }
}
