//! The rules: the form of each kind of credential.
//!
//! Formats are those published by issuers or agreed on by secret scanners (gitleaks and detect-secrets were
//! read for comparison). A rule whose form also occurs in ordinary code has to pass a [`Check`] on the value
//! as well.

/// One kind of secret.
pub struct Rule {
    /// Its name, shown in place of the secret.
    pub name: &'static str,
    /// Words of which at least one is in every line that the rule can match; ASCII, any case.
    pub keywords: &'static [&'static str],
    /// Expression for the form of the secret within one line, byte by byte (`\w` is ASCII); the group `s` is
    /// the secret, otherwise the whole match. A match ends at a character boundary.
    pub pattern: &'static str,
    /// Further condition on the value.
    pub check: Check,
}

/// A test of the value that a pattern found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Not a placeholder.
    Real,
    /// Not a placeholder, and letters and digits mixed.
    Mixed,
    /// Password in a URL; placeholders are rejected.
    Password,
    /// Looks random: see `scan::looks_random`.
    Random,
    /// Found where only a password can be: looks random, or like a password chosen by a person.
    Chosen,
    /// Assigned to a name that says that it is a secret: looks random, or like a well made password where
    /// the name says that it is one.
    Assigned,
}

const fn rule(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    check: Check,
) -> Rule {
    Rule { name, keywords, pattern, check }
}

/// Words of names of secrets, for the generic rules.
const WORDS: &[&str] =
    &["access", "auth", "api", "credential", "creds", "key", "pass", "psk", "pwd", "secret", "token"];

/// Expression for these words, for use inside another one.
macro_rules! named {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "(?:access|auth|api|credential|creds|key|pass(?:w(?:or)?d|phrase)?|psk|pwd|secret|token)",
            $after
        )
    };
}

/// Rules that match within a line, in order of precedence. Private keys span lines and are found separately,
/// under the name [`PRIVATE_KEY`].
pub const RULES: &[Rule] = &[
    rule(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
        Check::Real,
    ),
    rule(
        "aws-secret-key",
        &["aws"],
        r#"(?i)aws\w{0,20}(?:secret|access|key)\w{0,20}["'`]?\s{0,3}(?:=|:|:=|=>)\s{0,3}["'`]?(?P<s>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        Check::Mixed,
    ),
    rule(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\bgh[pousr]_[0-9A-Za-z]{36}\b",
        Check::Real,
    ),
    rule("github-fine-grained", &["github_pat_"], r"\bgithub_pat_\w{82}\b", Check::Real),
    rule("gitlab-token", &["glpat-"], r"\bglpat-[\w-]{20,}", Check::Real),
    rule(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"],
        r"\bxox[abeprs]-[\w-]{10,}",
        Check::Mixed,
    ),
    rule(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/services/(?P<s>T\w{6,12}/B\w{6,12}/\w{20,30})",
        Check::Real,
    ),
    rule(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        r"\b[rs]k_(?:live|test|prod)_\w{10,99}\b",
        Check::Mixed,
    ),
    rule("google-api-key", &["aiza"], r"\b(?P<s>AIza[\w-]{35})(?:[^\w-]|$)", Check::Real),
    rule("anthropic-key", &["sk-ant-"], r"\bsk-ant-[\w-]{20,}", Check::Mixed),
    rule(
        "openai-key",
        &["sk-"],
        r"\bsk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{20,})\b",
        Check::Mixed,
    ),
    rule("huggingface-token", &["hf_"], r"\bhf_[A-Za-z]{34}\b", Check::Real),
    rule("npm-token", &["npm_"], r"\bnpm_[0-9A-Za-z]{36}\b", Check::Real),
    rule("pypi-token", &["pypi-ageic"], r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,}", Check::Real),
    rule("crates-token", &["cio"], r"\bcio[0-9A-Za-z]{32}\b", Check::Mixed),
    rule("sendgrid-key", &["sg."], r"\bSG\.[\w-]{22}\.[\w-]{43}", Check::Real),
    rule("azure-storage-key", &["accountkey="], r"(?i)AccountKey=(?P<s>[0-9A-Za-z+/]{86}==)", Check::Real),
    rule("age-key", &["age-secret-key-"], r"AGE-SECRET-KEY-1[0-9A-Z]{58}", Check::Real),
    rule("telegram-token", &[":aa"], r"\b(?P<s>\d{8,10}:AA[\w-]{33})(?:[^\w-]|$)", Check::Real),
    rule("twilio-key", &["twilio"], r"\bSK[0-9a-f]{32}\b", Check::Real),
    rule(
        "digitalocean-token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"\bdo[opr]_v1_[0-9a-f]{64}\b",
        Check::Real,
    ),
    rule("databricks-token", &["dapi"], r"\bdapi[0-9a-f]{32}(?:-\d)?\b", Check::Real),
    rule(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}\b",
        Check::Real,
    ),
    rule("vault-token", &["hvb.", "hvs."], r"\bhv[bs]\.[\w-]{24,}", Check::Mixed),
    rule("grafana-token", &["glc_", "glsa_"], r"\bgl(?:c|sa)_[\w+/=]{32,}", Check::Mixed),
    rule("google-oauth-secret", &["gocspx-"], r"\bGOCSPX-[\w-]{28}", Check::Real),
    rule("docker-token", &["dckr_pat_"], r"\bdckr_pat_[\w-]{27}", Check::Real),
    rule("linear-key", &["lin_api_"], r"\blin_api_[0-9A-Za-z]{40}\b", Check::Real),
    rule("jwt", &["eyj"], r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}", Check::Real),
    rule(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^/\s:@"'`<>$%{}]{0,64}:(?P<s>[^/\s@"'`<>\\]{3,128})@[A-Za-z0-9\[]"#,
        Check::Password,
    ),
    rule(
        "authorization",
        &["authorization"],
        r#"(?i)\bauthorization["'`]?\]?\s{0,3}(?::=|=>|=|:|,)\s{0,3}[bf]?["'`]?(?:basic|bearer|token)\s{1,3}(?P<s>[\w.=+/~-]{12,2000})"#,
        Check::Random,
    ),
    // The address of a database in the form of Go's drivers.
    rule(
        "dsn-password",
        &["@tcp(", "@unix("],
        r#"["'`][\w.-]{1,64}:(?P<s>[^\s@"'`/]{3,128})@(?:tcp|unix)\("#,
        Check::Password,
    ),
    // `IDENTIFIED BY '...'`, `PASSWORD '...'`, `PASSWORD('...')`.
    rule(
        "sql-password",
        &["identified by", "password"],
        r#"(?i)\b(?:identified\s{1,3}by(?:\s{1,3}password)?|password(?:\s{0,3}=)?)\s{0,3}\(?\s{0,3}["'](?P<s>[^\s"'`<>\\]{6,150})["']"#,
        Check::Chosen,
    ),
    // `auth = ("name", "...")`, and calls that take a name and a password.
    rule(
        "credentials",
        &["auth", "credential", "getconnection", "login", "mysqli", "mysql_connect", "new pdo"],
        r#"(?i)(?:auth(?:entication)?|credentials?|getconnection|mysqli(?:_connect)?|mysql_connect|new\s{1,3}pdo|\blogin)["']?\s{0,3}(?:[=:]\s{0,3})?[(\[]?\s{0,3}(?:[^"'(\n]{1,60},\s{0,3}|["'][^"'\n]{0,60}["'],\s{0,3}){0,2}["'][^"'\n]{1,64}["'],\s{0,3}(?:Some\()?["'](?P<s>[^\s"'`<>\\]{6,150})["']"#,
        Check::Chosen,
    ),
    // `-u name:...` of curl and others, and its equivalents in programs.
    rule(
        "user-flag",
        &["-u ", "-u'", "-u\"", "--user", "--proxy-user", "userpwd", "http -a", "https -a"],
        r#"(?i)(?:userpwd["'`]?\s{0,3}(?:,|=>)\s{0,3}|(?:\s|^)(?:-u|--user|--proxy-user|-a)(?:\s{1,3}|=)?)["']?[^\s:"'/=]{1,64}:(?P<s>[^\s"'`:/]{6,128})"#,
        Check::Chosen,
    ),
    // The password among the arguments of a known tool.
    rule(
        "tool-password",
        &[
            "mysql",
            "mariadb",
            "7z",
            "sshpass",
            " login",
            "mongo",
            "twine",
            "ldap",
            "sqlcmd",
            "bcp",
            "zip -p",
            "redis-cli",
            "smbclient",
            "pass:",
        ],
        r#"(?i)(?:\b(?:mysql\w{0,10}|mariadb\w{0,10}|7za?)\s(?:[^\n]{0,200}?\s)?-p|\b(?:sshpass|\w{2,12}\s{1,3}login|mongo\w{0,8}|twine|sqlcmd|bcp|(?:un)?zip)\s(?:[^\n]{0,200}?\s)?-p[\s=]|\bldap\w{3,8}\s(?:[^\n]{0,200}?\s)?-w\s|\bredis-cli\s(?:[^\n]{0,200}?\s)?-a\s|\bsmbclient\s[^\n]{0,200}?-U\s{0,2}["']?[\w.-]{1,64}%|-pass\w{0,3}\s{1,3}["']?pass:)["']?(?P<s>[^\s"'`]{6,128})"#,
        Check::Chosen,
    ),
    // A password that a shell pipes into a program.
    rule(
        "piped-password",
        &["sudo -s", "chpasswd", "password-stdin", "with-token", "passphrase-fd", "passwd --stdin"],
        r#"(?i)(?:echo|printf|cat\s{0,3}<<<)\s{1,3}(?:-\w\s)?["']?(?:[\w.-]{1,64}:)?(?P<s>[^\s"'`:|]{6,128})["']?\s{0,3}\|[^|\n]{0,80}(?:sudo\s{1,3}-S|chpasswd|--password-stdin|--with-token|--passphrase-fd|passwd\s--stdin)"#,
        Check::Chosen,
    ),
    // Lines of settings with a keyword followed by the password.
    rule(
        "config-password",
        &["requirepass", "masterauth", "password "],
        r#"(?i)(?:^\s{0,16}(?:requirepass|masterauth)|\blogin\s{1,3}\S{1,64}\s{1,3}password)\s{1,3}["']?(?P<s>[^\s"'`]{6,128})"#,
        Check::Chosen,
    ),
    rule(
        "secure-string",
        &["securestring"],
        r#"(?i)\bConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?["'](?P<s>[^\s"'`]{6,128})["']"#,
        Check::Chosen,
    ),
    rule(
        "generic-define",
        WORDS,
        named!(
            r#"(?i)^\s{0,16}#\s{0,3}define\s{1,8}\w{0,40}"#,
            r#"\w{0,20}\s{1,20}[Lu8U]{0,2}"(?P<s>[^\s"<>\\]{8,150})""#
        ),
        Check::Assigned,
    ),
    // `.password("...")`, `setPassword("...")`.
    rule(
        "generic-setter",
        &["password(", "passwd(", "passphrase(", "secret(", "apikey(", "api_key(", "token("],
        r#"(?i)(?:\.|\bset_?|\bwith_?)\w{0,30}(?:password|passwd|passphrase|secret|api_?key|token)\(\s{0,3}["'`](?P<s>[^\s"'`<>\\]{8,150})["'`]\s{0,3}[,)]"#,
        Check::Assigned,
    ),
    // `<password>...</password>`, `<property name="password">...<`.
    rule(
        "generic-xml",
        WORDS,
        concat!(
            named!(r#"(?i)(?:<[\w:.-]{0,40}"#, r#"[\w:.-]{0,20}(?:\s[^<>\n]{0,80})?|"#),
            named!(
                r#"\bname=["'][\w.:-]{0,40}"#,
                r#"[\w.-]{0,20}["'][^<>\n]{0,80})>(?P<s>[^\s<>]{8,150})</"#
            )
        ),
        Check::Assigned,
    ),
    // `<key>password</key>` with a string on the same or the next line, as in property lists.
    rule(
        "generic-plist",
        &["</key>"],
        named!("(?i)", r#"\w{0,20}</key>\s{0,80}<string>(?P<s>[^\s<>]{8,150})</"#),
        Check::Assigned,
    ),
    // `variable "password" { ... default = "..."` of Terraform, over several lines.
    rule(
        "generic-default",
        &["variable"],
        named!(
            r#"(?i)\bvariable\s{1,3}"[\w-]{0,40}"#,
            r#"[\w-]{0,20}"\s{0,3}\{[^}]{0,600}?\bdefault\s{0,12}=\s{0,3}"(?P<s>[^\s"<>\\]{8,150})""#
        ),
        Check::Assigned,
    ),
    // `password: |` of YAML, with the value on the next line.
    rule(
        "generic-block",
        WORDS,
        named!(
            "(?i)",
            r#"[\w.-]{0,20}["']?:\s{1,3}[|>][+-]?\d?\s{1,80}(?P<s>[^\s"'`<>(){}\[\],;&$\\]{8,150})\s{0,80}$"#
        ),
        Check::Assigned,
    ),
    // `x: str = "..."`, `const x string = "..."`, `"x": "..."`, `env("X") || "..."`, `X = (` with the value
    // on the next line.
    rule(
        "generic",
        WORDS,
        named!(
            "(?i)",
            r#"[\w.-]{0,20}(?:\[\w{0,12}\])?\\{0,2}["'`]?\)?[\]}]?(?:\s{0,3}:\s{0,3}[\w.\[\]| &'<>:]{1,40}|\s{1,3}[\w.*\[\]]{1,20})?\s{0,3}(?::=|=>|={1,3}|\|\|=?|\?\?=?|\?:|//|:|,|\bor\b|\{|\.unwrap_or\()\s{0,3}[(\[{\\]?\s{0,40}(?:default(?:_value)?\s{0,2}[=:]\s{0,2}|(?:String::from|std::string|string|some|new\s{1,3}string)\(\s{0,2})?[brful@]{0,2}\\{0,2}["'`](?P<s>[^\s"'`<>\\]{8,150})\\{0,2}["'`]"#
        ),
        Check::Assigned,
    ),
    // `X=...` of shells, Dockerfiles and `.env`, `x: ...` of YAML, `--x=...` and `--x ...`, `?x=...`.
    rule(
        "generic-line",
        WORDS,
        named!(
            r#"(?i)(?:^|[\s"'`:;&?,{(=]|--?)[\w.-]{0,40}"#,
            r#"[\w.-]{0,20}(?:=|:\s{1,3}(?:[!&][\w!]{1,20}\s{1,3})?|\s{1,3}[:?]?=\s{1,3}|:)(?P<s>[^\s"'`<>(){}\[\],;&$\\]{8,150})(?:["'`;&,})\\]|\s|$)"#
        ),
        Check::Assigned,
    ),
    rule(
        "generic-flag",
        WORDS,
        r#"(?i)(?:\s|^|["'`])--?[\w-]{0,40}(?:auth|key|pass(?:w(?:or)?d|phrase)?|pwd|secret|token)[\w-]{0,20}(?:=|\s{1,3}|["'`],\s{0,3}["'`])["'`]?(?P<s>[^\s"'`<>(){}\[\],;$\\]{8,150})"#,
        Check::Assigned,
    ),
    // `ENV X ...` of Dockerfiles, `setenv X ...` and `set -x X ...` of shells.
    rule(
        "generic-docker",
        WORDS,
        named!(
            r#"(?i)^\s{0,16}(?:ENV|ARG|setenv|set\s{1,3}-\w{1,4})\s{1,3}[\w.-]{0,40}"#,
            r#"[\w.-]{0,20}\s{1,3}["']?(?P<s>[^\s"'`<>(){}\[\],;$\\]{8,150})"#
        ),
        Check::Assigned,
    ),
    // A name and its value as two members, on one line or two: containers, CI systems.
    rule(
        "generic-pair",
        WORDS,
        named!(
            r#"(?i)(?:name|key|id)["']?\s{0,3}[:=]\s{0,3}["']?[\w.-]{0,40}"#,
            r#"[\w.-]{0,20}["']?,?\s{1,40}["']?value["']?\s{0,3}[:=]\s{0,3}["']?(?P<s>[^\s"'`<>(){}\[\],;$\\]{8,150})"#
        ),
        Check::Assigned,
    ),
];

/// Name of the rule for private keys in PEM and OpenPGP armour.
pub const PRIVATE_KEY: &str = "private-key";

/// Begin and end of the text found by [`PRIVATE_KEY`].
pub const PRIVATE_KEY_BEGIN: &str = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
/// See [`PRIVATE_KEY_BEGIN`].
pub const PRIVATE_KEY_END: &str = "-----END ";
/// Bytes after a begin in which its end is looked for.
pub const PRIVATE_KEY_BYTES_MAX: usize = 16 << 10;
