use super::*;
use serde_json::json;

fn check(user: &str, repo: &str, env: &[(&str, &str)], key: &str, want: Value) {
    let config = effective(user, repo, env).unwrap();
    assert_eq!(config.get(key), Some(want), "{key}");
}

fn effective(user: &str, repo: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let tmp = tempfile::tempdir().unwrap();
    std::fs::write(tmp.path().join(USER_FILE), user).unwrap();
    std::fs::write(tmp.path().join(super::REPO_CONFIG), repo).unwrap();
    let env = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Config::load(tmp.path(), env)?.for_repository(tmp.path())
}

#[test]
fn the_strongest_origin_wins() {
    let user = "[history]\ncommits_max = 900\n";
    let env = [("INDEXD_HISTORY_COMMITS_MAX", "800")];
    check("", "", &[], "history.commits_max", json!(2_000));
    check(user, "", &[], "history.commits_max", json!(900));
    check(user, "history.commits_max = 70", &[], "history.commits_max", json!(70));
    check(user, "history.commits_max = 70", &env, "history.commits_max", json!(800));
    check("", "", &[("INDEXD_INDEX_EXCLUDE", "a, b")], "index.exclude", json!(["a", "b"]));
}

#[test]
fn a_repository_narrows_and_never_widens() {
    check("index.exclude = ['a']", "index.exclude = ['b']", &[], "index.exclude", json!(["a", "b"]));
    check("", "pack.budgets.max_items = 10", &[], "pack.budgets.max_items", json!(10));
    check("", "index.background_tokens = false", &[], "index.background_tokens", json!(false));
    for repo in ["pack.budgets.max_items = 100000", "watch.enabled = false", "history.commits_max = 99999"] {
        assert!(matches!(effective("", repo, &[]), Err(ConfigError::Widens { .. })), "{repo}");
    }
    for repo in ["pack.budgets.max_hops = 3", "pack.min_items = 2"] {
        assert!(matches!(effective("", repo, &[]), Err(ConfigError::Widens { .. })), "{repo}");
    }
    let headroom = effective("", "pack.headroom.generic = 0", &[]);
    assert!(matches!(headroom, Err(ConfigError::Widens { .. })));
    let off = "index.background_tokens = false";
    let on = effective(off, "index.background_tokens = true", &[]);
    assert!(matches!(on, Err(ConfigError::Widens { .. })));
}

#[test]
fn an_editor_has_an_address_that_a_program_opens() {
    let code = "vscode://file{path}:{line}";
    check(&format!("page.editor = '{code}'"), "", &[], "page.editor", json!(code));
    let refused = effective("page.editor = 'javascript:alert(1)'", "", &[]).unwrap_err();
    assert!(refused.to_string().contains("address of an editor"), "{refused}");
    assert!(effective("", &format!("page.editor = '{code}'"), &[]).is_err(), "a repository names none");
}

#[test]
fn a_variable_that_sets_nothing_is_named() {
    let check = |names: &[&str], want: &[&str]| {
        let env: Vec<(&str, &str)> = names.iter().map(|n| (*n, "1")).collect();
        let config = effective("", "", &env).unwrap();
        assert_eq!(config.ignored(), want);
    };
    check(&["HOME", "INDEXD_HISTORY_COMMITS_MAX", "INDEXD_NO_AUTOSTART", "INDEXD_LOG"], &[]);
    check(
        &["INDEXD_WATCH_SWEP_S", "INDEXD_CACHE"],
        &[
            "INDEXD_CACHE is no setting and is ignored; did you mean INDEXD_CACHE_DIR?",
            "INDEXD_WATCH_SWEP_S is no setting and is ignored; did you mean INDEXD_WATCH_SWEEP_S?",
        ],
    );
}

#[test]
fn a_wrong_key_names_the_nearest_and_a_wrong_value_its_place() {
    let message = |user: &str| effective(user, "", &[]).unwrap_err().to_string();
    assert!(message("[watch]\nswep_s = 3").ends_with("did you mean `watch.sweep_s`?"));
    assert!(message("[pack.budgets]\nmax_item = 10").ends_with("did you mean `pack.budgets.max_items`?"));
    assert!(message("[pack]\nbudgets = 1").contains("unknown key `pack.budgets`"));
    assert!(message("[pack.shares]\ncode = 10").contains("unknown key `pack.shares.code`"), "a constant");
    assert!(message("watch.sweep_s = 'soon'").starts_with("wrong value for `watch.sweep_s` in /"));
    assert!(message("watch = [").contains("not valid TOML"));
    for (user, what) in [
        ("pack.budgets.max_items = 251", "it may be at most 250"),
        ("pack.min_items = 4000000000", "it may be at most 250"),
    ] {
        assert!(message(user).ends_with(what), "{}", message(user));
    }
}

#[test]
fn no_setting_passes_a_hard_limit() {
    for (key, most) in [
        ("max_total_chars", limits::TOTAL_CHARS_MAX),
        ("max_items", limits::ITEMS_MAX),
        ("max_items_per_section", limits::ITEMS_PER_SECTION_MAX),
        ("max_bytes_per_item", limits::BYTES_PER_ITEM_MAX),
        ("max_hops", limits::HOPS_MAX),
    ] {
        let set = |n: u64| effective(&format!("pack.budgets.{key} = {n}"), "", &[]);
        assert!(set(most.into()).is_ok(), "{key}");
        let message = set(u64::from(most) + 1).unwrap_err().to_string();
        assert!(message.ends_with(&format!("it may be at most {most}")), "{message}");
    }
}

#[test]
fn values_that_nothing_good_can_come_of_are_refused() {
    for (user, want) in [
        ("index.threads = 1000", "1000 is not from 0 to 256"),
        ("watch.sweep_s = 0", "0 is not from 1 to 86400"),
        ("workspace.idle_close_s = 9223372036854775807", "is not from 1 to 31536000"),
        ("history.commits_max = -1", "-1 is not from 0 to 1000000"),
        ("history.commits_max = 1.5", "invalid type"),
        ("watch.enabled = 1", "invalid type"),
        ("index.exclude = 'one'", "invalid type"),
        ("index.exclude = ['ok', '*.{js,ts}']", "\"*.{js,ts}\" is not a pattern: braces"),
        ("index.exclude = ['#ok']", "it is empty or a comment"),
        ("index.exclude = [\"a\\nb\"]", "it has more than one line"),
        ("pack.tokenizer = 'foo'", "\"foo\" is none of o200k_base, cl100k_base, generic, claude"),
        ("pack.budgets.max_items = -3", "invalid value"),
    ] {
        let message = effective(user, "", &[]).unwrap_err().to_string();
        let key = user.split(' ').next().unwrap();
        assert!(message.starts_with(&format!("wrong value for `{key}` in /")), "{user}: {message}");
        assert!(message.contains(want), "{user}: {message}");
    }
    let variable = effective("", "", &[("INDEXD_INDEX_THREADS", "-1")]).unwrap_err().to_string();
    assert_eq!(variable, "wrong value for `index.threads` in INDEXD_INDEX_THREADS: -1 is not from 0 to 256");
}

#[test]
fn defaults_are_in_their_ranges_and_the_reference_tells_them() {
    let text = include_str!("../../../docs/configuration.md");
    for entry in Config::default().entries() {
        assert_eq!(checked(&entry.key, &entry.value), Ok(()), "{}", entry.key);
        let row = text.lines().find(|l| l.starts_with(&format!("| `{}` |", entry.key))).unwrap();
        if let Some((Some(low), high)) = option(&entry.key).unwrap().range.first() {
            assert!(row.contains(&format!("({low} to {high})")), "{row}");
        }
    }
}

#[test]
fn every_entry_knows_its_origin() {
    let config = effective("index.name = 'x'", "pack.tokenizer = 'cl100k_base'", &[]).unwrap();
    let by_key: BTreeMap<String, ConfigEntry> =
        config.entries().into_iter().map(|e| (e.key.clone(), e)).collect();
    assert!(matches!(config.origin("index.name"), Origin::User(_)));
    assert!(matches!(config.origin("pack.tokenizer"), Origin::Repository(_)));
    assert_eq!(by_key["watch.enabled"].origin, "default");
    assert_eq!(by_key["index.name"].origin, config.origin("index.name").to_string());
    assert_eq!(by_key["index.name"].default, json!(""));
}

/// The reference lists exactly the keys that exist, each with its default and, for the daemon's own,
/// its help.
#[test]
fn the_reference_lists_every_key_and_default() {
    let text = include_str!("../../../docs/configuration.md");
    let listed: Vec<Vec<&str>> = text
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| l.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<&str>>())
        // Variables of the environment have a table of their own, without defaults.
        .filter(|row| row.len() == 4)
        .collect();
    let entries = Config::default().entries();
    let keys: Vec<String> = entries.iter().map(|e| format!("`{}`", e.key)).collect();
    assert_eq!(listed.iter().map(|row| row[0]).collect::<Vec<_>>(), keys);
    for (row, entry) in listed.iter().zip(&entries) {
        assert_eq!(row[1], format!("`{}`", entry.default), "{}", entry.key);
        assert!(row[2].contains(help(&entry.key)) && row[2].len() > 3, "{}: {}", entry.key, help(&entry.key));
    }
}

/// Names of variables in the sources of the programs, as string literals.
fn variables_of(dir: &Path, out: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "tests" | "target" | "snapshots") {
                variables_of(&path, out);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for literal in product.split('"').skip(1).step_by(2) {
                let is_name = literal.len() > 5
                    && ["INDEXD_", "XDG_", "LISTEN_", "NO_COLOR", "CLICOLOR"]
                        .iter()
                        .any(|p| literal.starts_with(p))
                    && literal.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                    && !literal.starts_with("INDEXD_TEST_")
                    && !literal.ends_with('_');
                if is_name {
                    out.insert(literal.to_owned());
                }
            }
        }
    }
}

#[test]
fn the_reference_lists_every_variable() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut used = std::collections::BTreeSet::new();
    for folder in ["indexd/src", "indexd/crates", "proto/src", "ctlclient/src"] {
        variables_of(&top.join(folder), &mut used);
    }
    used.extend(OTHER_VARIABLES.map(str::to_owned));
    assert!(used.len() > 12, "{used:?}");
    let text = include_str!("../../../docs/configuration.md");
    let section = text.split("## Environment").nth(1).unwrap().split("\n## ").next().unwrap();
    let of_keys: Vec<String> = keys().iter().map(|k| variable(k)).collect();
    for name in used.iter().filter(|n| !of_keys.contains(n)) {
        assert!(section.contains(&format!("`{name}`")), "{name} is not in docs/configuration.md");
    }
}

#[test]
fn settings_of_the_packer_come_from_files_of_other_tools() {
    let read = |agent: &str, rauf: &str, own: &str, env: &[(&str, &str)]| {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tmp.path().join(".agent")).unwrap();
        std::fs::write(tmp.path().join(".agent/config.yml"), agent).unwrap();
        std::fs::write(tmp.path().join("rauf.yaml"), rauf).unwrap();
        std::fs::write(tmp.path().join(super::REPO_CONFIG), own).unwrap();
        let env: Vec<_> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::load(Path::new("/nonexistent"), env).unwrap().for_repository(tmp.path()).unwrap()
    };
    let agent =
        "context: {budget: {total: 5000}, ranking: {recency_weight: 0.9}, source_priority: {references: 90}}";
    let config = read(agent, "", "", &[]);
    assert_eq!((config.pack.window.total_tokens, config.packer.recency_weight), (5_000, 0.9));
    assert_eq!((config.packer.priorities.search_result, config.packer.priorities.reference), (60, 90));
    assert!(config.unused().is_empty(), "{:?}", config.unused());
    assert!(
        matches!(config.origin("context.budget.total"), Origin::Repository(p) if p.ends_with(".agent/config.yml"))
    );
    // Weaker than a variable, stronger than our own file; the other tool's file is the weaker of the two.
    let config = read(agent, "", "context.budget.total = 7000", &[("INDEXD_CONTEXT_BUDGET_TOTAL", "9000")]);
    assert_eq!(config.pack.window.total_tokens, 9_000);
    let config = read(
        agent,
        "context_builder: {budget: {total: 6000, system_reserve: 1}}",
        "context.budget.total = 7000",
        &[],
    );
    assert_eq!((config.pack.window.total_tokens, config.pack.window.system_reserve), (5_000, 1));
    let said = config.unused().join("; ");
    assert!(said.contains("5000 by .agent/config.yml, and 6000 by rauf.yaml does not count"), "{said}");
    // Nothing in such a file stops anything else.
    for (agent, says) in [
        ("context: {budget: {totl: 1}}", "did you mean `context.budget.total`?"),
        ("context: {budget: {total: 200000}}", "it may only be lowered"),
        ("context: {ranking: {relevance_weight: -1}}", "-1 is not from 0 to 1000"),
        ("context: {ranking: {relevance_weight: 0, recency_weight: 0, source_weight: 0}}", "must be above 0"),
        ("context: {chunking: {max_chunk_tokens: 50}}", "above context.chunking.max_chunk_tokens"),
        ("context: [", "not valid YAML"),
        ("context: 7", "unknown key `context`"),
    ] {
        let config = read(agent, "", "index.name = 'kept'", &[]);
        let said = config.unused().join("; ");
        assert!(said.contains(says), "{agent}: {said}");
        assert_eq!(
            (config.index_name.as_str(), config.packer.clone()),
            ("kept", Default::default()),
            "{agent}"
        );
    }
}
