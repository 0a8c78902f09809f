#[path = "../../golden.rs"]
mod golden;

use super::*;
use proptest::prelude::*;
use rules::{PRIVATE_KEY, RULES};

/// Letters and digits in random order, equal on every run. Fakes are built here so that no file of this
/// repository holds a string that a scanner would take for a secret.
fn noise(n: usize, seed: u64, alphabet: &str) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            alphabet[(state % alphabet.len() as u64) as usize] as char
        })
        .collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ALPHA: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";

/// A fake of each rule: `(rule, text around it with the secret in the middle, the secret)`.
fn fakes(seed: u64) -> Vec<(&'static str, String, String)> {
    let an = |n| noise(n, seed, ALNUM);
    // A random string without a digit is possible, but rules want one.
    let mixed = |n: usize| format!("{}4x7{}", an(n / 2), noise(n - n / 2 - 3, seed + 1, ALNUM));
    let whole = |rule, secret: String| (rule, secret.clone(), secret);
    vec![
        whole("aws-access-key", format!("AKIA{}", noise(16, seed, BASE32))),
        {
            let s = mixed(40);
            ("aws-secret-key", format!("aws_secret_access_key = {s}"), s)
        },
        whole("github-token", format!("ghp_{}", an(36))),
        whole("github-fine-grained", format!("github_pat_{}", an(82))),
        whole("gitlab-token", format!("glpat-{}", an(20))),
        whole("slack-token", format!("xoxb-{}-{}", noise(12, seed, DIGITS), mixed(24))),
        {
            let s = format!("T{}/B{}/{}", noise(8, seed, UPPER), noise(8, seed + 2, UPPER), an(24));
            ("slack-webhook", format!("https://hooks.slack.com/services/{s}"), s)
        },
        whole("stripe-key", format!("sk_live_{}", mixed(24))),
        whole("google-api-key", format!("AIza{}", an(35))),
        whole("anthropic-key", format!("sk-ant-api03-{}", mixed(40))),
        whole("openai-key", format!("sk-{}", mixed(48))),
        whole("openai-key", format!("sk-proj-{}", mixed(48))),
        whole("huggingface-token", format!("hf_{}", noise(34, seed, ALPHA))),
        whole("npm-token", format!("npm_{}", an(36))),
        whole("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}", an(60))),
        whole("crates-token", format!("cio{}", mixed(32))),
        whole("sendgrid-key", format!("SG.{}.{}", an(22), noise(43, seed + 3, ALNUM))),
        {
            let s = format!("{}==", an(86));
            ("azure-storage-key", format!("AccountName=a;AccountKey={s}"), s)
        },
        whole("age-key", format!("AGE-SECRET-KEY-1{}", noise(58, seed, UPPER))),
        whole("telegram-token", format!("{}:AA{}", noise(9, seed, "123456789"), an(33))),
        {
            let s = format!("SK{}", noise(32, seed, HEX));
            ("twilio-key", format!("twilio.Client({s})"), s)
        },
        whole("digitalocean-token", format!("dop_v1_{}", noise(64, seed, HEX))),
        whole("databricks-token", format!("dapi{}", noise(32, seed, HEX))),
        whole("shopify-token", format!("shpat_{}", noise(32, seed, HEX))),
        whole("vault-token", format!("hvs.{}", mixed(90))),
        whole("grafana-token", format!("glsa_{}", mixed(40))),
        whole("google-oauth-secret", format!("GOCSPX-{}", an(28))),
        whole("docker-token", format!("dckr_pat_{}", an(27))),
        whole("linear-key", format!("lin_api_{}", an(40))),
        {
            let s = mixed(32);
            ("authorization", format!("\"Authorization\": \"Basic {s}\""), s)
        },
        whole(
            "jwt",
            format!("eyJ{}.eyJ{}.{}", an(20), noise(40, seed + 4, ALNUM), noise(43, seed + 5, ALNUM)),
        ),
        {
            let s = an(12);
            ("url-password", format!("postgres://app:{s}@db.internal:5432/x"), s)
        },
        {
            let s = mixed(24);
            ("generic", format!("api_key = \"{s}\""), s)
        },
        {
            let s = mixed(24);
            ("generic-line", format!("DB_PASSWORD={s}"), s)
        },
        {
            let s = mixed(24);
            ("generic-flag", format!("run --token {s}"), s)
        },
        {
            let s = mixed(24);
            ("generic-docker", format!("ENV API_TOKEN {s}"), s)
        },
        {
            let s = mixed(24);
            ("generic-pair", format!("- name: DB_PASSWORD\n  value: {s}"), s)
        },
        {
            let s = mixed(24);
            ("dsn-password", format!("\"app:{s}@tcp(db.internal:3306)/x\""), s)
        },
        {
            let s = mixed(24);
            ("sql-password", format!("CREATE USER app IDENTIFIED BY '{s}'"), s)
        },
        {
            let s = mixed(24);
            ("credentials", format!("login(\"robot\", \"{s}\")"), s)
        },
        {
            let s = mixed(24);
            ("user-flag", format!("curl -u admin:{s} x"), s)
        },
        {
            let s = mixed(24);
            ("tool-password", format!("mysql -u app -p{s} x"), s)
        },
        {
            let s = mixed(24);
            ("piped-password", format!("echo {s} | sudo -S make"), s)
        },
        {
            let s = mixed(24);
            ("config-password", format!("requirepass {s}"), s)
        },
        {
            let s = mixed(24);
            ("secure-string", format!("ConvertTo-SecureString \"{s}\" -AsPlainText"), s)
        },
        {
            let s = mixed(24);
            ("generic-define", format!("#define API_KEY \"{s}\""), s)
        },
        {
            let s = mixed(24);
            ("generic-setter", format!("db.setPassword(\"{s}\")"), s)
        },
        {
            let s = mixed(24);
            ("generic-xml", format!("<password>{s}</password>"), s)
        },
        {
            let s = mixed(24);
            ("generic-plist", format!("<key>ApiToken</key>\n<string>{s}</string>"), s)
        },
        {
            let s = mixed(24);
            ("generic-default", format!("variable \"db_password\" {{\n  default = \"{s}\"\n}}"), s)
        },
        {
            let s = mixed(24);
            ("generic-block", format!("password: |\n  {s}"), s)
        },
    ]
}

/// Text around a secret in real files, before and after it.
const CONTEXTS: [(&str, &str); 15] = [
    ("", ""),
    ("\n\n", "\n"),
    ("# ", "\n"),
    ("// use ", " here\n"),
    ("x = 1\r\n", "\r\ny = 2\r\n"),
    ("value: ", "\n"),
    ("  - ", "\n"),
    ("export X=", "\n"),
    ("os.environ['X'] = '", "'\n"),
    ("const x = `", "`;\n"),
    ("{\"x\": \"", "\"}\n"),
    ("f(\"", "\", 1)\n"),
    ("Authorization: Bearer ", "\n"),
    ("<!-- ", " -->\n"),
    ("ä\u{4e2d} ", " ü\n"),
];

#[test]
fn planted_fakes_are_found_in_every_context() {
    let (mut n, mut missed) = (0, Vec::new());
    for seed in 1..=3 {
        for (rule, around, secret) in fakes(seed) {
            for (before, after) in CONTEXTS {
                // These rules read a whole line or its quotes, so their cases include their context.
                let is_own_line = matches!(
                    rule,
                    "generic-line"
                        | "generic-docker"
                        | "generic-define"
                        | "generic-block"
                        | "config-password"
                );
                if is_own_line && !before.is_empty() && !before.ends_with('\n') {
                    continue;
                }
                n += 1;
                let text = format!("{before}{around}{after}");
                let (redacted, found) = redact(&text);
                if redacted.contains(&secret) || found.is_empty() {
                    missed.push(format!("{rule} in {before:?}"));
                }
                assert_eq!(redacted.len(), text.len());
            }
        }
    }
    assert!(n > 900);
    assert!(missed.len() * 100 <= n * 2, "{} of {n} missed: {missed:?}", missed.len());
}

#[test]
fn every_rule_has_a_fake_and_names_itself() {
    let fakes = fakes(7);
    for rule in RULES {
        let (_, text, secret) =
            fakes.iter().find(|f| f.0 == rule.name).unwrap_or_else(|| panic!("{}", rule.name));
        let (redacted, found) = redact(text);
        let names: Vec<_> = found.iter().map(|r| r.rule).collect();
        assert_eq!(names, [rule.name], "{text}");
        let start = text.find(secret.as_str()).unwrap() as u32;
        assert_eq!(found[0].span, Span::new(start, start + secret.len() as u32));
        let mark = format!("[REDACTED:{}]", rule.name);
        assert!(redacted.contains(&mark) || secret.len() < mark.len(), "{redacted}");
    }
}

fn key_block(kind: &str) -> String {
    format!(
        "-----BEGIN {kind}-----\n{}\n{}\n-----END {kind}-----\n",
        noise(64, 1, ALNUM),
        noise(40, 2, ALNUM)
    )
}

#[test]
fn private_keys_lose_their_body_and_keep_their_lines() {
    let kind = ["RSA PRIVATE ", "KEY"].concat();
    let text = format!("a\n{}b\n", key_block(&kind));
    let (redacted, found) = redact(&text);
    let expect = format!(
        "a\n-----BEGIN {kind}-----\n[REDACTED:private-key]{}\n[REDACTED:private-key]{}\n-----END {kind}-----\nb\n",
        "*".repeat(64 - 22),
        "*".repeat(40 - 22)
    );
    assert_eq!((redacted.as_ref(), found[0].rule), (expect.as_str(), PRIVATE_KEY));
    // In one line of JSON, and without an end.
    let json = format!("{{\"private_key\": \"{}\"}}", key_block(&kind).replace('\n', "\\n"));
    let cut = text.split("-----END").next().unwrap().to_owned();
    for text in [json, cut] {
        let (redacted, found) = redact(&text);
        assert!(!redacted.contains(&noise(64, 1, ALNUM)) && found[0].rule == PRIVATE_KEY, "{redacted}");
    }
    // A key without an end does not hide the code after it.
    let code = "\nfn main() {\n    run();\n}\n";
    let text = format!("{}{code}", text.split("-----END").next().unwrap());
    assert!(redact(&text).0.ends_with(code), "{}", redact(&text).0);
}

#[test]
fn what_is_no_secret_stays() {
    let key = ["PRIVATE ", "KEY"].concat();
    for text in [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("if strings.Contains(s, \"-----BEGIN {key}-----\") {{"),
        key_block("CERTIFICATE"),
        "api_key = \"your-api-key-goes-here-123\"".into(),
        "token = os.environ[\"GITHUB_TOKEN_2\"]".into(),
        "password: ${DB_PASSWORD}".into(),
        "SECRET_KEY = 'django-insecure-tests-secret-key'".into(),
        "postgres://user:password@localhost/db".into(),
        "https://user:{pw}@host".into(),
        "cache_key = \"views.decorators.cache.cache_page.2\"".into(),
        "key: \"application/x-www-form-urlencoded\"".into(),
        "public_key = \"5f2b8c7d9e1a4b3c6d8e\"".into(),
        "key := \"000102030405060708090a0b0c0d0e0f\"".into(),
        "xoxb-your-token-here".into(),
        "headers[\"Authorization\"] = \"Bearer \" + token".into(),
        "Authorization: Basic dXNlcjpwYXNz".into(),
        "req.Header.Set(\"Authorization\", \"Bearer abc123\")".into(),
        "hvs.CAESIJ-your-token-goes-here-ab".into(),
        "task-1234567890abcdefghijklmnop".into(),
    ] {
        let (redacted, found) = redact(&text);
        assert!(found.is_empty(), "{found:?} in {text}");
        assert!(matches!(redacted, Cow::Borrowed(_)));
    }
    let allowed = format!("{}  # {ALLOW_MARK}\n", fakes(1)[2].1);
    assert!(find(&allowed).is_empty());
}

/// Passwords in the style of people; built at run time, since a scanner reads this file, too.
#[test]
fn passwords_of_ordinary_length_are_found_where_a_name_says_so() {
    for (before, parts, after, is_found) in [
        ("password = \"", &["s3cr", "3tbird"][..], "\"", true),
        ("const password = \"", &["hunter2", "hunter2", "Zx9"], "\"", true),
        ("password: str = '", &["sun", "shine42"], "'", true),
        ("db_passwd: ", &["blue", "horse", "77"], "\n", true),
        ("DB_PWD=", &["w1nter", "is", "here"], "\n", true),
        ("postgres://admin:", &["s3cr3t", "pass"], "@db.internal.corp/prod", true),
        ("amqp://app:", &["letme", "in99"], "@mq.internal:5672/", true),
        ("postgres://user:", &["pass", "word1"], "@localhost/db", false),
        ("postgres://user:", &["user", "pass"], "@localhost/db", false),
        ("password = \"", &["password", "123"], "\"", false),
        ("password = \"", &["test", "1234"], "\"", false),
        ("password_field = \"", &["input", "field2"], "\"", false),
        ("password = \"", &["db_pass", "word_2"], "\"", false),
        ("password = \"", &["correct", "horse"], "\"", false),
        ("password_hash = \"", &["blue", "horse77"], "\"", false),
    ] {
        let secret = parts.concat();
        let text = format!("{before}{secret}{after}");
        assert_eq!(!redact(&text).0.contains(&secret), is_found, "{before}");
    }
}

/// Minified code is a single line.
#[test]
fn a_line_of_any_length_is_looked_at() {
    let fill = |n: usize| "var a=b[1];".repeat(n);
    for seed in 1..=3 {
        for (rule, around, secret) in fakes(seed) {
            // These read a line from its start.
            if matches!(
                rule,
                "generic-docker"
                    | "generic-pair"
                    | "generic-define"
                    | "generic-block"
                    | "generic-plist"
                    | "generic-default"
                    | "config-password"
            ) {
                continue;
            }
            for n in [100, 2_500] {
                let text = format!("{} {around} {}", fill(n), fill(2_500));
                let (redacted, found) = redact(&text);
                assert!(!redacted.contains(&secret), "{rule} after {n}: {found:?}");
                assert_eq!(redacted.len(), text.len());
            }
        }
    }
}

/// In a long line a part around each keyword is scanned; a token may cross the end of a part.
#[test]
fn a_token_across_the_end_of_a_part_is_found() {
    let fill = "var a=b[1];".repeat(2_500);
    let token = format!("ghp_{}", noise(36, 1, ALNUM));
    for gap in (2_300..2_500).step_by(10) {
        let text = format!("{fill} ghp_ {} {token} {fill}", " ".repeat(gap));
        assert!(!redact(&text).0.contains(&token), "{gap} bytes after a keyword");
    }
}

/// The value of an assignment may begin with a token and be longer than that.
#[test]
fn the_longest_find_at_a_place_counts() {
    let token = format!("ghp_{}", noise(36, 1, ALNUM));
    let rest = format!("4x7{}", noise(20, 2, ALNUM));
    let text = format!("DB_PASSWORD={token}:{rest}\n");
    let (redacted, found) = redact(&text);
    assert!(!redacted.contains(&rest) && found[0].rule == "generic-line", "{redacted}");
}

#[test]
fn lock_files_and_pictures_are_exempt() {
    for (path, expect) in
        [("a/Cargo.lock", true), ("go.sum", true), ("x.svg", true), ("a.go", false), ("svg", false)]
    {
        assert_eq!(is_exempt(path), expect, "{path}");
    }
}

proptest! {
    #[test]
    fn redaction_moves_nothing(
        parts in proptest::collection::vec((0usize..64, "(\\PC|[\r\n\"'= ]){0,20}"), 0..12),
        seed in 1u64..50,
    ) {
        let fakes = fakes(seed);
        let text: String = parts.iter().map(|(i, between)| format!("{between}{}", fakes[*i % fakes.len()].1)).collect();
        let (redacted, found) = redact(&text);
        prop_assert_eq!(redacted.len(), text.len());
        let ends = |s: &str| s.bytes().enumerate().filter(|(_, b)| matches!(b, b'\n' | b'\r')).collect::<Vec<_>>();
        prop_assert_eq!(ends(&redacted), ends(&text));
        let mut end = 0;
        for r in found {
            prop_assert!(r.span.start >= end && !r.span.is_empty());
            end = r.span.end;
        }
    }
}

#[test]
fn redactions_change_with_the_version() {
    let plain = ("plain".to_owned(), "let x = compute(1);\npassword = getenv(\"P\")\n".to_owned());
    let texts = fakes(7).into_iter().enumerate().map(|(i, (rule, text, _))| (format!("{rule}/{i}"), text));
    let samples: Vec<golden::Sample> = texts
        .chain([plain])
        .map(|(name, input)| golden::Sample { output: redact(&input).0.into_owned(), name, input })
        .collect();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version.golden");
    golden::check(&file, "RULES_VERSION", RULES_VERSION, &samples);
}
