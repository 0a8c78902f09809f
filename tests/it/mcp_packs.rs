//! Packs over the Model Context Protocol, as its contract states them: sections, records, codes, shapes.

use crate::mcp::{ERAS, QUERY, Raw, said, tokens, user_with_much_code};
use crate::user::User;
use serde_json::{Value, json};

/// Equal arguments give an equal answer, whatever the session was shown before.
#[test]
fn an_answer_depends_on_its_arguments_alone() {
    let user = User::new();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let mut ask =
        |query: &str| server.tool("build_context_pack", json!({"query": query, "structured": true}));
    let of = |result: &Value| (said(result), result["structuredContent"]["packId"].clone());
    let first = of(&ask(QUERY));
    ask("Delay");
    ask("Get");
    assert_eq!(of(&ask(QUERY)), first);
    let mut another = Raw::start(user.command("ctl"), ERAS[0]);
    let arguments = json!({"query": QUERY, "structured": true});
    assert_eq!(of(&another.tool("build_context_pack", arguments)), first);
}

#[test]
fn a_follow_up_repeats_nothing_if_told_so() {
    let user = User::new();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let mut ask = |arguments: Value| said(&server.tool("build_context_pack", arguments));
    let shows = |text: &str| text.contains("1 << n");
    assert!(shows(&ask(json!({"query": QUERY}))));
    assert!(shows(&ask(json!({"query": "Delay"}))), "nobody asked to leave it out");
    let again = ask(json!({"query": "Delay", "unseen": true}));
    assert!(!shows(&again) && again.contains("items that this session was shown are places only"), "{again}");
    user.write(
        "repo/retry.go",
        "package demo\n\n// Delay waits.\nfunc Delay(n int) int { return 1 << n + 1 }\n",
    );
    assert!(shows(&ask(json!({"query": "what does Delay do", "unseen": true}))), "it is another text by now");
    let mut another = Raw::start(user.command("ctl"), ERAS[0]);
    let arguments = json!({"query": "Delay", "unseen": true});
    assert!(
        shows(&said(&another.tool("build_context_pack", arguments))),
        "another session was shown nothing"
    );
}

/// A user with one thing of each section around `Weigh`.
fn user_with_six_sections() -> User {
    let user = User::new();
    user.write("repo/go.mod", "module example.com/demo\n\nrequire example.com/weighscale v1.0.0\n");
    user.write("repo/weigh.go", "package demo\n\nimport \"example.com/weighscale\"\n\n// Weigh weighs a parcel.\nfunc Weigh(parcel int) int {\n\treturn weighscale.Of(parcel)\n}\n");
    user.write(
        "repo/send.go",
        "package demo\n\n// Send posts it.\nfunc Send() int {\n\treturn Weigh(3)\n}\n",
    );
    user.write("repo/weigh_test.go", "package demo\n\nimport \"testing\"\n\nfunc TestScales(t *testing.T) {\n\tt.Log(\"a parcel is weighed\")\n}\n");
    user.write("repo/weigh.toml", "[weigh]\nparcel = 12\n");
    user.write("repo/docs/weigh.md", "# How to weigh a parcel\n\nPut the parcel on the scale.\n");
    user
}

/// The six sections of the contract, by their names and in their order, with provenance on every item, counts
/// of the candidates that are left out, and further questions, in text and as data.
#[test]
fn a_bundle_has_six_sections_with_provenance_and_a_way_on() {
    let user = user_with_six_sections();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let asked = json!({"query": "how does Weigh weigh a parcel", "fill": true, "structured": true});
    let result = server.tool("build_context_pack", asked);
    let pack = &result["structuredContent"];
    let sections = pack["sections"].as_array().unwrap();
    let names: Vec<&str> = sections.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["definitions", "key_usages", "dependencies", "tests", "config", "docs"]);
    let holds = |section: usize, path: &str| {
        let items = sections[section]["items"].as_array().unwrap();
        assert!(items.iter().any(|i| i["path"] == path), "{path} in {}: {pack}", names[section]);
    };
    holds(0, "weigh.go");
    holds(1, "send.go");
    holds(4, "weigh.toml");
    holds(5, "docs/weigh.md");
    for item in sections.iter().flat_map(|s| s["items"].as_array().unwrap()) {
        for member in ["snippet_id", "ref", "path", "content_hash", "selection_reason"] {
            assert!(item[member].as_str().is_some_and(|v| !v.is_empty()), "{member}: {item}");
        }
        let path = item["path"].as_str().unwrap();
        let file = std::fs::read_to_string(user.path("repo").join(path)).unwrap();
        let (from, to) = (item["line_start"].as_u64().unwrap(), item["line_end"].as_u64().unwrap());
        let lines: String =
            file.split_inclusive('\n').skip(from as usize - 1).take((to - from) as usize + 1).collect();
        let hash = indexd_model::ContentHash::of(lines.as_bytes()).to_string();
        assert_eq!(
            item["content_hash"], hash,
            "{path}:{from}-{to} is found and checked by these fields alone"
        );
    }
    assert!(said(&result).contains("\n# sections\ndefinitions "), "{}", said(&result));

    // Too little room: candidates that are left out are counted, and there is something to ask next.
    let asked = json!({"query": QUERY, "max_tokens": 400, "fill": true, "structured": true});
    let much = user_with_much_code();
    let mut server = Raw::start(much.command("ctl"), ERAS[0]);
    let short = server.tool("build_context_pack", asked);
    let (text, pack) = (said(&short), &short["structuredContent"]);
    assert!(tokens(&text) <= 400, "{} tokens", tokens(&text));
    let dropped: u64 =
        pack["sections"].as_array().unwrap().iter().map(|s| s["dropped"].as_u64().unwrap()).sum();
    assert!(dropped > 100 && pack["stats"]["dropped"].as_u64().unwrap() >= dropped, "{pack}");
    assert!(text.contains(" candidates left out\n") && text.contains("\nask next: "), "{text}");
    let next = pack["suggested_next_queries"][0].as_str().unwrap();
    assert!(text.contains(next) && !pack["missing_context_hints"].as_array().unwrap().is_empty(), "{pack}");
    let followed = server.tool("build_context_pack", json!({"query": next}));
    let name = next.split(' ').next().unwrap();
    assert!(said(&followed).contains(&format!("func {name}(")), "{next}: {}", said(&followed));
}

/// A record is the `ContextPack`, the same when it is made and when it is read, by another process too.
#[test]
fn a_record_is_read_as_the_object_that_was_made() {
    let user = User::new();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let made = server.tool("context_pack_create", json!({"query": QUERY, "structured": true}));
    let mut object = made["structuredContent"].clone();
    object.as_object_mut().unwrap().remove("fresh");
    let id = object["packId"].as_str().unwrap();
    assert!(object["schema"] == "ContextPack" && said(&made).contains(id), "{made}");
    assert_eq!(object["request"]["query"], QUERY, "the request is part of the record");
    let mut other = Raw::start(user.command("ctl"), ERAS[1]);
    let read = other.tool("context_pack_get", json!({"packId": id, "structured": true}));
    assert_eq!(read["structuredContent"], object);
    let places: Vec<String> = object["sections"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|s| s["items"].as_array().unwrap())
        .map(|i| format!("{}:{}", i["fileRelPath"].as_str().unwrap(), i["lines"]["start"]))
        .collect();
    assert!(places.contains(&"retry.go:3".to_owned()), "{places:?}");
}

/// Each of the four codes of the contract comes out of the tools, as data and in the text, with a hint that can be
/// followed there.
#[test]
fn each_code_of_the_contract_comes_out_as_data() {
    let user = User::new();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    for (request, code) in [
        (json!({"indexSignature": "b3:0"}), "POC_E_INDEX_MISSING"),
        (json!({"schemaVersion": "9.0.0"}), "POC_E_CONTRACT_VERSION"),
        (json!({"strictness": "strict", "budgets": {"maxItems": 251}}), "POC_E_BUDGET_EXCEEDED"),
        (json!({"seedProvider": "ann"}), "POC_E_NOT_SUPPORTED"),
        (json!({"layout": "round"}), "POC_E_NOT_SUPPORTED"),
    ] {
        let result = server.tool("context_pack_create", json!({"query": "x", "request": request}));
        let error = &result["structuredContent"]["error"];
        assert_eq!((&result["isError"], &error["code"]), (&json!(true), &json!(code)), "{result}");
        assert!(said(&result).contains(code) && !error["message"].as_str().unwrap().is_empty(), "{result}");
        let hint = error["hint"].as_str().unwrap();
        assert!(!hint.is_empty() && !hint.contains("--help") && !hint.contains("--repo"), "{hint}");
    }
    let whole = server
        .tool("context_pack_create", json!({"query": "Delay", "request": {"budgets": {"maxItems": 1}}}));
    assert_ne!(whole["isError"], true, "{whole}");
}

/// A server that always gives data says by which schema, and the packs keep to it.
#[test]
fn a_shape_that_is_listed_is_kept() {
    let user = User::new();
    let mut command = user.command("ctl");
    command.args(["mcp", "--structured"]);
    let mut server = Raw::spawn(&mut command, ERAS[1]);
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    for (name, arguments) in
        [("build_context_pack", json!({"query": QUERY})), ("context_pack_create", json!({"query": QUERY}))]
    {
        let tool = tools.as_array().unwrap().iter().find(|t| t["name"] == name).unwrap();
        let answer = server.tool(name, arguments);
        let faults = crate::conventions::faults(&tool["outputSchema"], &answer["structuredContent"]);
        assert_eq!(faults, [""; 0], "{name}");
        assert!(
            tool["outputSchema"]["required"].is_array() || tool["outputSchema"]["properties"].is_object()
        );
    }
}
