//! What the rules find and what they take for a secret, over a corpus that is made up here.
//!
//! `cargo test -p indexd-secrets --test corpus -- --nocapture` prints the figures that
//! `docs/secrets.md` shows. Values are put together at run time, so that no file of this repository
//! holds a string that a scanner would take for a secret.

use indexd_secrets::redact;

/// A source of numbers that are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn text(&mut self, n: usize, alphabet: &str) -> String {
        (0..n).map(|_| alphabet.as_bytes()[self.next(alphabet.len())] as char).collect()
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next(of.len())]
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const HEX: &str = "0123456789abcdef";
const SIGNED: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!@#%^*+~-_";

/// How a secret stands in a file; `@` is its place. Each is a form that was seen in public code.
const FORMS: [(&str, &str); 50] = [
    ("go", "const dbPassword string = \"@\"\n"),
    ("go", "const apiToken = \"@\"\n"),
    ("go", "var clientSecret string = `@`\n"),
    ("go", "\tsecret := \"@\"\n"),
    ("go", "\tcfg := Config{APIKey: \"@\", Region: \"eu\"}\n"),
    ("go", "\treq.Header.Set(\"X-Api-Key\", \"@\")\n"),
    ("go", "\tos.Setenv(\"DB_PASSWORD\", \"@\")\n"),
    ("python", "password = \"@\"\n"),
    ("python", "password: str = \"@\"\n"),
    ("python", "API_TOKEN: Final[str] = '@'\n"),
    ("python", "SECRET_KEY = (\n    \"@\"\n)\n"),
    ("python", "client = Client(api_key=\"@\", retries=3)\n"),
    ("python", "settings[\"auth_token\"] = \"@\"\n"),
    ("python", "    \"client_secret\": \"@\",\n"),
    ("python", "os.environ['ACCESS_TOKEN'] = '@'\n"),
    ("python", "access_token = \\\n    '@'\n"),
    ("yaml", "password: @\n"),
    ("yaml", "  api_key: \"@\"\n"),
    ("yaml", "    authToken: '@'\n"),
    ("yaml", "- name: DB_PASSWORD\n  value: \"@\"\n"),
    ("yaml", "        - name: API_TOKEN\n          value: @\n"),
    ("yaml", "stringData:\n  client-secret: @\n"),
    ("yaml", "env: { SECRET_TOKEN: @ }\n"),
    ("json", "{\"password\": \"@\"}\n"),
    ("json", "  \"apiKey\" : \"@\",\n"),
    ("json", "{\"name\": \"AUTH_TOKEN\", \"value\": \"@\"}\n"),
    ("json", "  \"accessToken\":\"@\"\n"),
    ("toml", "password = \"@\"\n"),
    ("toml", "api-token = '@'\n"),
    ("toml", "credentials = { secret = \"@\", region = \"eu\" }\n"),
    ("toml", "[auth]\ntoken=\"@\"\n"),
    ("docker", "ENV DB_PASSWORD=@\n"),
    ("docker", "ENV API_TOKEN @\n"),
    ("docker", "ARG NPM_AUTH_TOKEN=@\n"),
    ("docker", "ENV HOST=db SECRET_KEY=@ PORT=80\n"),
    ("docker", "RUN curl -H \"X-Auth-Token: @\" https://repo.internal/x\n"),
    ("docker", "CMD [\"serve\", \"--api-key\", \"@\"]\n"),
    ("shell", "export API_TOKEN=@\n"),
    ("shell", "export DB_PASSWORD='@'\n"),
    ("shell", "mysql --password=@ -u app\n"),
    ("shell", "deploy --token @ --force\n"),
    ("shell", "docker run -e SECRET_KEY=@ app\n"),
    ("shell", "kubectl create secret generic x --from-literal=password=@\n"),
    ("shell", "ACCESS_TOKEN=\"@\" make release\n"),
    ("shell", "curl \"https://host.internal/x?access_token=@&n=1\"\n"),
    ("env", "DB_PASSWORD=@\n"),
    ("env", "APP_SECRET = @\n"),
    ("env", "REDIS_URL=redis://:@@cache.internal:6379/0\n"),
    ("env", "DATABASE_URL=postgres://app:@@db.internal:5432/app\n"),
    ("env", "STRIPE_API_KEY=\"@\"\n"),
];

fn value(random: &mut Random, i: usize, form: &str) -> String {
    let is_password = form.to_ascii_lowercase().contains("passw");
    let random_text = |random: &mut Random, n: usize| {
        let half = n / 2;
        format!("{}7q4{}", random.text(half - 2, ALNUM), random.text(n - half - 1, ALNUM))
    };
    match i % 6 {
        0 => random_text(random, 24),
        1 => random_text(random, 40),
        2 => format!("{}4e{}", random.text(19, HEX), random.text(19, HEX)),
        3 => random_text(random, 32),
        // People choose passwords; issuers make tokens.
        4 if is_password => {
            let all = "ABCDEFGHJKLMNPQRSTUVWXYZ";
            format!("{}{}9k4{}", random.text(1, all), random.text(5, LOWER), random.text(4, ALNUM))
        }
        5 if is_password && !form.contains("://") => {
            format!("{}g7R{}", random.text(5, SIGNED), random.text(6, SIGNED))
        }
        _ => random_text(random, 20),
    }
}

fn secrets() -> Vec<(&'static str, String, String)> {
    let mut random = Random(0x5eed);
    let mut out = Vec::new();
    for i in 0..6 {
        for (kind, form) in FORMS {
            let secret = value(&mut random, i, form);
            // An address has an `@` of its own behind the place.
            out.push((kind, form.replacen('@', &secret, 1), secret));
        }
    }
    out
}

/// A line that looks as if it held a secret, of kinds that stand in ordinary repositories.
fn look_alike(random: &mut Random, kind: usize) -> String {
    let hex = |random: &mut Random, n: usize| random.text(n, HEX);
    let word = |random: &mut Random| {
        random.pick(&["access", "auth", "api", "cache", "primary", "sort", "session", "user", "index"])
    };
    let uuid = |random: &mut Random| [8, 4, 4, 4, 12].map(|n| random.text(n, HEX)).join("-");
    match kind {
        0 => format!("\"integrity\": \"sha512-{}==\",", random.text(86, BASE64)),
        1 => format!("github.com/x/{} v1.2.{} h1:{}=", word(random), random.next(9), random.text(43, BASE64)),
        2 => format!(
            "    {{file = \"{}-1.{}.tar.gz\", hash = \"sha256:{}\"}},",
            word(random),
            random.next(99),
            hex(random, 64)
        ),
        3 => format!("checksum = \"{}\"", hex(random, 64)),
        4 => format!("  {}_id: {}", word(random), uuid(random)),
        5 => format!("  uses: actions/checkout@{} # v4", hex(random, 40)),
        6 => format!("background: url(data:image/png;base64,iVBORw0KGgo{}=)", random.text(120, BASE64)),
        7 => format!("<img src=\"data:image/gif;base64,R0lGODlh{}\">", random.text(80, BASE64)),
        8 => format!("\tsha256 := \"{}\" // test vector", hex(random, 64)),
        9 => format!(
            "{{\"key\": \"00010203040506070809{}\", \"tcId\": {}}},",
            hex(random, 12),
            random.next(999)
        ),
        10 => format!("key = f\"{}:{{user_id}}:{{page}}:v{}\"", word(random), random.next(20)),
        11 => format!("token = self.next_token(kind={}, at={})", random.next(9), random.next(999)),
        12 => format!(
            "{}_token = request.headers.get(\"X-{}-Token-V{}\")",
            word(random),
            word(random),
            random.next(9)
        ),
        13 => format!(
            "func (t *Token) String{}() string {{ return t.lit[{}:] }}",
            random.next(99),
            random.next(9)
        ),
        14 => format!("password = os.environ[\"DB{}_PASSWORD\"]", random.next(9)),
        15 => format!("password=getpass.getpass(prompt{})", random.next(99)),
        16 => format!("api_key: ${{{{ secrets.API_KEY_{} }}}}", random.next(99)),
        17 => format!("secretName: {}-tls-{}", word(random), random.next(99)),
        18 => format!("ENV AUTH_URL=https://{}.internal:8{}/v1", word(random), random.next(999)),
        19 => format!("--key-file=/etc/ssl/{}-{}.pem", word(random), random.next(99)),
        20 => format!("keyboard_shortcut = \"Ctrl+Shift+{}\"", random.next(9)),
        21 => format!("primary_key = \"{}_id_v{}\"", word(random), random.next(99)),
        22 => format!("tokenizer = \"o200k_base_v{}\"", random.next(9)),
        23 => format!("author = \"Jane Doe <jane{}@mail.internal>\"", random.next(99)),
        24 => format!("access_log = \"/var/log/nginx/access-2024-01-{:02}.log\"", random.next(28) + 1),
        25 => format!("commit {} Author: x", hex(random, 40)),
        26 => format!("assert key == \"{}-{}-2024\"", word(random), word(random)),
        27 => format!("public_key = \"{}\"", random.text(44, BASE64)),
        28 => format!("token_type: bearer_v{}, expires_in: 36{:02}", random.next(9), random.next(99)),
        29 => format!("password_label{} = \"Password{}\"", random.next(9), random.next(99)),
        30 => format!("password = \"{}_field_{}\"", word(random), random.next(99)),
        31 => format!(
            "login(user{}, password=\"{}{}\")",
            random.next(9),
            random.pick(&["test", "pass", "secret"]),
            random.next(999)
        ),
        32 => format!("\"password\": \"form.password.v{}\",", random.next(9)),
        _ => format!("PASSWORD_MIN_LENGTH = {} # see RFC {}", random.next(90) + 8, random.next(9_999)),
    }
}

/// A password as people choose them: words and numbers in several ways.
fn chosen(random: &mut Random, kind: usize) -> String {
    const WORDS: [&str; 12] = [
        "winter", "dragon", "monkey", "orange", "purple", "castle", "garden", "rocket", "silver", "turtle",
        "violin", "yellow",
    ];
    let (a, b) = (random.pick(&WORDS).to_owned(), random.pick(&WORDS).to_owned());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let n = 13 + random.next(80);
    match kind {
        0 => format!("{a}{n}{b}"),
        1 => format!("{}{n}", capital(&a)),
        2 => format!("{a}{b}{n}"),
        3 => format!("{}{n}!", capital(&a)),
        4 => a.replace('e', "3").replace('o', "0").replace('i', "1") + &b + "7",
        _ => format!("{}{}{n}", capital(&a), capital(&b)),
    }
}

#[test]
fn passwords_of_ordinary_length_are_found() {
    let mut random = Random(0xca7);
    let names_one = |form: &&(&str, &str)| {
        let form = form.1.to_ascii_lowercase();
        form.contains("password") || form.contains("@@")
    };
    let (mut n, mut missed) = (0, Vec::new());
    for (_, form) in FORMS.iter().filter(names_one) {
        for kind in 0..12 {
            let secret = chosen(&mut random, kind % 6);
            let text = form.replacen('@', &secret, 1);
            n += 1;
            if redact(&text).0.contains(&secret) {
                missed.push(text);
            }
        }
    }
    println!("of {n} chosen passwords {} are found", n - missed.len());
    missed.iter().take(30).for_each(|text| println!("missed: {}", text.trim_end()));
    assert!(n >= 150 && missed.len() * 20 <= n, "{} of {n} missed", missed.len());
}

const LOOK_ALIKES: usize = 3_000;
const KINDS: usize = 34;

#[test]
fn nearly_all_secrets_are_found_and_hardly_anything_else() {
    let secrets = secrets();
    assert_eq!(secrets.len(), 300);
    let missed: Vec<&(&str, String, String)> =
        secrets.iter().filter(|(_, text, secret)| redact(text).0.contains(secret.as_str())).collect();
    let mut random = Random(0xfee1);
    let lines: Vec<String> = (0..LOOK_ALIKES).map(|i| look_alike(&mut random, i % KINDS)).collect();
    let wrong: Vec<&String> = lines.iter().filter(|line| !redact(line).1.is_empty()).collect();
    for kind in ["go", "python", "yaml", "json", "toml", "docker", "shell", "env"] {
        let n = secrets.iter().filter(|s| s.0 == kind).count();
        let n_found = n - missed.iter().filter(|s| s.0 == kind).count();
        println!("| {kind} | {n} | {n_found} |");
    }
    println!("found {} of {}, taken for secrets {} of {LOOK_ALIKES}", 300 - missed.len(), 300, wrong.len());
    for (kind, text, _) in missed.iter().take(30) {
        println!("missed in {kind}: {}", text.trim_end());
    }
    wrong.iter().take(30).for_each(|line| println!("wrong: {line}"));
    assert!(missed.len() * 20 <= secrets.len(), "{} missed", missed.len());
    assert!(wrong.len() * 100 <= LOOK_ALIKES, "{} wrong", wrong.len());
}
