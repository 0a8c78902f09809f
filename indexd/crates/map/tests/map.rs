//! The map of small made-up repositories.

use indexd_map::{
    Cancelled, LINES_MAX, map,
    page::{page, page_that},
};
use indexd_oracle::Oracle;

fn of(tree: &[(&str, &str)]) -> indexd_map::RepoMap {
    map(&Oracle::of(tree), "fixture", &|| false).expect("not cancelled")
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.com/shop\n"),
    ("doc.go", "// Package shop sells things. It has more to say.\npackage shop\n"),
    (
        "shop.go",
        "package shop\n\n// Cart holds goods.\ntype Cart struct{}\n\nfunc New() *Cart { return &Cart{} }\n",
    ),
    (
        "cmd/shopd/main.go",
        "package main\n\nimport (\n\t\"flag\"\n\t\"net/http\"\n\t\"os\"\n\n\t\"example.com/shop\"\n\t\"example.com/shop/internal/config\"\n)\n\nfunc main() {\n\tport := flag.Int(\"port\", 80, \"the port\")\n\tflag.Parse()\n\t_ = port\n\t_ = shop.New()\n\t_ = config.Env(\"SHOP_TOKEN\")\n\t_ = os.Getenv(config.HomeVar)\n\thttp.ListenAndServe(\":80\", nil)\n}\n",
    ),
    (
        "internal/config/config.go",
        "package config\n\nimport (\n\t\"os\"\n\n\t\"gopkg.in/yaml.v3\"\n)\n\nconst HomeVar = \"SHOP_HOME\"\n\ntype Config struct {\n\tAddr string `yaml:\"listen-addr\"`\n\tskip int\n}\n\n// Env reads a variable.\nfunc Env(name string) string { return os.Getenv(name) }\n\nfunc Load(path string) (*Config, error) {\n\tdata, err := os.ReadFile(path)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tc := &Config{}\n\treturn c, yaml.Unmarshal(data, c)\n}\n",
    ),
    (
        "internal/run/run.go",
        "package run\n\nimport \"os/exec\"\n\n// Getenv does not read the environment.\nfunc Getenv(name string) string { return name }\n\nfunc Git() error {\n\t// exec.Command(\"rm\") stands in a comment.\n\t_ = Getenv(\"NOT_A_KEY\")\n\treturn exec.Command(\"git\").Run()\n}\n",
    ),
    (
        "internal/run/run_test.go",
        "package run\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestGit(t *testing.T) { os.Getenv(\"ONLY_IN_TESTS\"); os.Remove(\"x\") }\n",
    ),
    ("examples/hello/main.go", "package main\n\nfunc main() {}\n"),
];

const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"depot\"\n[project.scripts]\ndepot = \"depot.cli:main\"\n"),
    (
        "src/depot/__init__.py",
        "\"\"\"Keeps parcels.\n\nLonger text.\n\"\"\"\n\nfrom depot.store import Store\n\nx = 1\n",
    ),
    ("src/depot/__main__.py", "from depot.cli import main\n\nmain()\n"),
    (
        "src/depot/cli.py",
        "import argparse\nimport os\nimport subprocess as sp\n\nfrom depot.conf import settings\nfrom depot.store import Store\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument(\"-n\", \"--name\")\n    parser.add_argument(\"place\")\n    if \"DEPOT_DEBUG\" in os.environ:\n        sp.run([\"ls\"])\n    Store(os.environ[\"DEPOT_DIR\"], settings.RETRIES)\n    # settings.COMMENTED\n    return settings.get(\"UNDECLARED\")\n",
    ),
    ("src/depot/settings.py", "RETRIES = 3\n_private = 1\nlower = 2\n"),
    ("src/depot/conf.py", "from depot import settings\n"),
    (
        "src/depot/store.py",
        "from pathlib import Path\nfrom urllib.request import urlopen\n\n\nclass Store:\n    def __init__(self, root, retries):\n        self.root = Path(root)\n\n    def put(self, name):\n        self.root.joinpath(name).write_text(\"x\")\n        with open(name) as f:\n            return urlopen(f.read())\n",
    ),
    ("scripts/tidy.py", "import shutil\n\nif __name__ == \"__main__\":\n    shutil.rmtree(\"build\")\n"),
    (
        "tests/test_store.py",
        "import os\n\nos.environ[\"ONLY_IN_TESTS\"]\n\nif __name__ == \"__main__\":\n    pass\n",
    ),
];

#[test]
fn a_map_of_go() {
    insta::assert_snapshot!("go", page(&of(GO)));
}

#[test]
fn a_map_of_python() {
    insta::assert_snapshot!("python", page(&of(PYTHON)));
}

#[test]
fn other_languages_are_read_as_written() {
    let tree = [
        (
            "package.json",
            "{\"name\": \"web\", \"main\": \"dist/index.js\", \"bin\": {\"web\": \"./cli.js\"}}",
        ),
        (
            "cli.js",
            "const fs = require('fs');\nconst { spawn } = require('child_process');\nconsole.log(process.env.WEB_TOKEN, fs.readFileSync('x'));\nspawn('ls');\n",
        ),
        (
            "src/index.ts",
            "import axios from 'axios';\nexport const get = () => axios.get('x');\nconst key = process.env[\"API_KEY\"];\n",
        ),
        ("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
        (
            "tool/src/main.rs",
            "//! Does things. More.\nfn main() {\n    // std::fs::read_dir(\"in a comment\")\n    let _ = std::env::var(\"TOOL_HOME\");\n    std::process::Command::new(\"ls\");\n}\n",
        ),
    ];
    insta::assert_snapshot!("others", page(&of(&tree)));
}

/// Two maps of one tree are equal, whatever the order in which files are added.
#[test]
fn the_same_tree_gives_the_same_bytes() {
    let mut turned = [GO, PYTHON].concat();
    let there = page(&of(&turned));
    turned.reverse();
    assert_eq!(page(&of(&turned)), there);
}

#[test]
fn an_empty_repository_has_all_five_parts() {
    let text = page(&of(&[]));
    for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
        assert!(text.contains(part), "{text}");
    }
}

/// A repository in which every part alone would fill the page.
#[test]
fn a_large_map_is_shortened_and_says_so() {
    let mut tree: Vec<(String, String)> = Vec::new();
    for i in 0..700 {
        let source = format!(
            "package main\n\nimport (\n\t\"flag\"\n\t\"os\"\n)\n\nfunc main() {{\n\tflag.Bool(\"flag-{i}\", false, \"\")\n\tos.Getenv(\"KEY_{i}\")\n\tos.Remove(\"x\")\n}}\n"
        );
        tree.push((format!("cmd/tool{i}/deep/deeper/main.go"), source));
    }
    let oracle = Oracle::of(&tree);
    let full = map(&oracle, "large", &|| false).expect("not cancelled");
    assert_eq!((full.entrypoints.len(), full.config.len(), full.side_effects.len()), (700, 1400, 700));
    assert!(full.tree.iter().all(|f| f.depth <= 3));
    let text = page(&full);
    assert!(text.lines().count() <= LINES_MAX, "{}", text.lines().count());
    assert!(text.lines().count() > LINES_MAX - 80, "room is left: {}", text.lines().count());
    for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
        let at = text.find(part).expect("every part is there");
        assert!(text[at..].lines().nth(2).is_some_and(|l| !l.is_empty()), "{part}");
    }
    assert!(text.contains(" more\n"));
}

/// Pages for smaller and smaller limits: each is as long as its limit allows, with all five parts until
/// nothing fits.
#[test]
fn a_map_is_as_long_as_fits() {
    let tree: Vec<(String, String)> = (0..200)
        .map(|i| (format!("cmd/tool{i}/main.go"), "package main\n\nfunc main() {}\n".to_owned()))
        .collect();
    let map = map(&Oracle::of(&tree), "many", &|| false).expect("not cancelled");
    let of = |most: usize| page_that(&map, &|text: &str| text.len() <= most);
    assert_eq!(of(usize::MAX), page(&map));
    let mut before = usize::MAX;
    for most in [20_000, 5_000, 2_000, 1_000] {
        let text = of(most);
        assert!(
            text.len() <= most && text.len() > most / 2 && text.len() <= before,
            "{most}: {}",
            text.len()
        );
        for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
            assert!(text.contains(part), "{most}: {text}");
        }
        before = text.len();
    }
    assert!(of(60).len() <= 60 && of(60).starts_with("# Repo map: many"));
    assert_eq!(of(0), "");
}

#[test]
fn a_map_can_be_withdrawn() {
    assert_eq!(map(&Oracle::of(GO), "fixture", &|| true), Err(Cancelled));
}
