//! Recall and precision of the rules, over a corpus that is generated here.
//!
//! `cargo test -p indexd-secrets --test corpus -- --nocapture` prints the figures that
//! `docs/secrets.md` shows. Values are built at run time, so that no file of this repository holds a string
//! that a scanner would take for a secret.

use indexd_secrets::redact;

/// A generator of random numbers that are equal on every run.
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

/// Forms in which a secret occurs in a file: the kind of file, a tab, and the form, in which `§` is the
/// place of the secret, `\n` a line end, `\t` a tab and `\\` a backslash. Each is a form that was seen in
/// public code.
const FORMS: &str = include_str!("forms.tsv");

/// Values that are put into each form.
const VALUES: usize = 6;

fn forms() -> Vec<(&'static str, String)> {
    let line = |line: &'static str| {
        let (kind, form) = line.split_once('\t').expect("a kind and a form");
        let form = form.replace(r"\\", "\0").replace(r"\n", "\n").replace(r"\t", "\t").replace('\0', r"\");
        (kind, form + "\n")
    };
    FORMS.lines().map(line).collect()
}

fn value(random: &mut Random, i: usize, form: &str) -> String {
    let is_password = form.to_ascii_lowercase().contains("pass");
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

/// Each form with each value: its kind, the text, the secret and the form.
fn secrets() -> Vec<(&'static str, String, String, String)> {
    let mut random = Random(0x5eed);
    let mut out = Vec::new();
    for i in 0..VALUES {
        for (kind, form) in forms() {
            let secret = value(&mut random, i, &form);
            out.push((kind, form.replace('§', &secret), secret, form));
        }
    }
    out
}

/// A line that looks as if it held a secret, of kinds that occur in ordinary repositories.
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

/// A password in the style of people: words and numbers in several ways.
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
    let names_one = |form: &String| {
        let form = form.to_ascii_lowercase();
        form.contains("password") || form.contains("§@")
    };
    let (mut n, mut missed) = (0, Vec::new());
    for (_, form) in forms().into_iter().filter(|(_, form)| names_one(form)) {
        for kind in 0..12 {
            let secret = chosen(&mut random, kind % 6);
            let text = form.replace('§', &secret);
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
    let (forms, secrets) = (forms(), secrets());
    assert!(forms.len() >= 150 && secrets.len() == VALUES * forms.len());
    let missed: Vec<_> =
        secrets.iter().filter(|(_, text, secret, _)| redact(text).0.contains(secret.as_str())).collect();
    let n_missed = |form: &str| missed.iter().filter(|m| m.3 == form).count();
    let mut random = Random(0xfee1);
    let lines: Vec<String> = (0..LOOK_ALIKES).map(|i| look_alike(&mut random, i % KINDS)).collect();
    let wrong: Vec<&String> = lines.iter().filter(|line| !redact(line).1.is_empty()).collect();
    let kinds: std::collections::BTreeSet<&str> = forms.iter().map(|f| f.0).collect();
    for kind in kinds {
        let of_kind = || forms.iter().filter(|f| f.0 == kind);
        let n_missed: Vec<usize> = of_kind().map(|f| n_missed(&f.1)).collect();
        let n_whole = n_missed.iter().filter(|n| **n == 0).count();
        let n_found = VALUES * n_missed.len() - n_missed.iter().sum::<usize>();
        println!("| {kind} | {} | {n_whole} | {} | {n_found} |", n_missed.len(), VALUES * n_missed.len());
    }
    let n_never = forms.iter().filter(|f| n_missed(&f.1) == VALUES).count();
    let n_whole = forms.iter().filter(|f| n_missed(&f.1) == 0).count();
    println!(
        "of {} forms {n_whole} are found with every value and {n_never} with none; of {} secrets {}; taken for \
         secrets {} of {LOOK_ALIKES} lines",
        forms.len(),
        secrets.len(),
        secrets.len() - missed.len(),
        wrong.len()
    );
    for (kind, text, ..) in missed.iter().take(60) {
        println!("missed in {kind}: {}", text.trim_end());
    }
    wrong.iter().take(30).for_each(|line| println!("wrong: {line}"));
    assert!(missed.len() * 20 <= secrets.len(), "{} missed", missed.len());
    assert!(n_whole * 10 >= forms.len() * 9, "{n_whole} forms are found with every value");
    assert!(wrong.len() * 100 <= LOOK_ALIKES, "{} wrong", wrong.len());
}
