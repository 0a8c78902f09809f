//! Known packages outside a repository: which of their functions touch the file system, the network or other
//! processes.
//!
//! The lists name functions with effects; constants, types and helpers that only compute are left out. A
//! star means every function of the module.

pub use indexd_api::map::Touches;
use indexd_model::{Language, Role};
use std::sync::LazyLock;

use Touches::{FileSystem, Network, Process};

type Row = (Touches, &'static str, &'static str);

/// A member of values, known by its name: name, effect, and modules of which the file has to import at least
/// one.
type Member = (&'static str, Touches, &'static [&'static str]);

const GO_MEMBERS: &[Member] = &[
    ("Do", Network, &["net/http"]),
    ("DialContext", Network, &["net"]),
    ("ListenAndServe", Network, &["net/http"]),
    ("ListenAndServeTLS", Network, &["net/http"]),
];
const PYTHON_MEMBERS: &[Member] = &[
    ("read_text", FileSystem, &["pathlib"]),
    ("write_text", FileSystem, &["pathlib"]),
    ("read_bytes", FileSystem, &["pathlib"]),
    ("write_bytes", FileSystem, &["pathlib"]),
    ("iterdir", FileSystem, &["pathlib"]),
    ("rglob", FileSystem, &["pathlib"]),
    ("is_file", FileSystem, &["pathlib"]),
    ("is_dir", FileSystem, &["pathlib"]),
    ("mkdir", FileSystem, &["pathlib"]),
    ("unlink", FileSystem, &["pathlib"]),
    ("rmdir", FileSystem, &["pathlib"]),
    ("symlink_to", FileSystem, &["pathlib"]),
    ("open", FileSystem, &["pathlib"]),
    ("connectTCP", Network, &["twisted.internet", "twisted.internet.reactor"]),
    ("listenTCP", Network, &["twisted.internet", "twisted.internet.reactor"]),
];

/// The rows of one section of `known.txt`.
fn section(name: &str) -> Vec<Row> {
    let text = include_str!("known.txt");
    let begin = text.find(name).map_or(text.len(), |at| at + name.len() + 1);
    let rows = text[begin..].lines().take_while(|line| !line.is_empty());
    let row = |line: &'static str| {
        let mut parts = line.splitn(3, ' ');
        let touches = match parts.next()? {
            "files" => FileSystem,
            "network" => Network,
            "process" => Process,
            _ => return None,
        };
        Some((touches, parts.next()?, parts.next()?))
    };
    rows.map(|line| row(line).expect("a row of the table")).collect()
}

fn table(language: Language) -> &'static [Row] {
    static GO: LazyLock<Vec<Row>> = LazyLock::new(|| section("[go]"));
    static PYTHON: LazyLock<Vec<Row>> = LazyLock::new(|| section("[python]"));
    static ECMA: LazyLock<Vec<Row>> = LazyLock::new(|| section("[ecma]"));
    match language {
        Language::Go => &GO,
        Language::Python => &PYTHON,
        Language::TypeScript | Language::Tsx | Language::JavaScript => &ECMA,
        _ => &[],
    }
}

/// The effect of the function with this full name. Where a whole module is listed, only calls and base
/// classes count: its constants and errors touch nothing.
pub fn touched_by(language: Language, full: &str, is_call: bool) -> Option<Touches> {
    let (module, name) = full.rsplit_once('.').unwrap_or((full, ""));
    let found = |(_, m, names): &&Row| {
        *m == module && (names.split(' ').any(|n| n == name) || (*names == "*" && is_call))
    };
    let own = table(language).iter().find(found);
    // A default export of a script is called by the name of its module.
    let whole = || table(language).iter().find(|(_, m, names)| *m == full && *names == "*" && is_call);
    own.or_else(whole).map(|(touches, ..)| *touches)
}

/// The effect of a member of this name, and the modules of which at least one has to be imported.
pub fn touched_by_member(
    language: Language,
    name: &str,
    role: Role,
) -> Option<(Touches, &'static [&'static str])> {
    let members = match language {
        Language::Go => GO_MEMBERS,
        Language::Python => PYTHON_MEMBERS,
        _ => return None,
    };
    members.iter().find(|(n, ..)| *n == name && role == Role::Call).map(|(_, t, m)| (*t, *m))
}

/// Every known function of Go's standard library, including those that read settings.
pub fn go_functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    const SETTINGS: [(&str, &str); 2] = [
        ("os", "Getenv LookupEnv"),
        (
            "flag",
            "Bool BoolVar Int IntVar Int64 Int64Var Uint UintVar String StringVar Duration DurationVar Float64 Float64Var Func BoolFunc Var TextVar",
        ),
    ];
    let touching = table(Language::Go).iter().map(|(_, module, names)| (*module, *names));
    let all = touching.chain(SETTINGS).filter(|(module, names)| *names != "*" && !module.contains('.'));
    all.flat_map(|(module, names)| names.split(' ').map(move |name| (module, name)))
}

/// Text of the source that touches the outside world, for languages whose uses are not resolved.
pub const WRITTEN: &[(Language, &str, Touches)] = &[
    (Language::Rust, "fs::read", FileSystem),
    (Language::Rust, "fs::write", FileSystem),
    (Language::Rust, "fs::create_dir", FileSystem),
    (Language::Rust, "fs::remove_", FileSystem),
    (Language::Rust, "fs::rename", FileSystem),
    (Language::Rust, "fs::copy", FileSystem),
    (Language::Rust, "fs::metadata", FileSystem),
    (Language::Rust, "File::open", FileSystem),
    (Language::Rust, "File::create", FileSystem),
    (Language::Rust, "OpenOptions::new", FileSystem),
    (Language::Rust, "TcpStream::connect", Network),
    (Language::Rust, "TcpListener::bind", Network),
    (Language::Rust, "UdpSocket::bind", Network),
    (Language::Rust, "UnixStream::connect", Network),
    (Language::Rust, "UnixListener::bind", Network),
    (Language::Rust, "reqwest::", Network),
    (Language::Rust, "Command::new", Process),
    (Language::Java, "new File(", FileSystem),
    (Language::Java, "Files.", FileSystem),
    (Language::Java, "new FileInputStream(", FileSystem),
    (Language::Java, "new FileOutputStream(", FileSystem),
    (Language::Java, "new Socket(", Network),
    (Language::Java, "new ServerSocket(", Network),
    (Language::Java, "HttpClient.", Network),
    (Language::Java, "new ProcessBuilder(", Process),
    (Language::Java, "Runtime.getRuntime().exec(", Process),
    (Language::Ruby, "File.open", FileSystem),
    (Language::Ruby, "File.read", FileSystem),
    (Language::Ruby, "File.write", FileSystem),
    (Language::Ruby, "FileUtils.", FileSystem),
    (Language::Ruby, "Net::HTTP", Network),
    (Language::Ruby, "TCPSocket.", Network),
    (Language::Ruby, "Open3.", Process),
    (Language::Ruby, "Process.spawn", Process),
    (Language::C, "fopen(", FileSystem),
    (Language::C, "socket(", Network),
    (Language::C, "execve(", Process),
    (Language::C, "execvp(", Process),
    (Language::C, "fork()", Process),
    (Language::C, "system(", Process),
    (Language::Cpp, "fopen(", FileSystem),
    (Language::Cpp, "std::ifstream", FileSystem),
    (Language::Cpp, "std::ofstream", FileSystem),
    (Language::Cpp, "execvp(", Process),
    (Language::Php, "fopen(", FileSystem),
    (Language::Php, "file_get_contents(", FileSystem),
    (Language::Php, "file_put_contents(", FileSystem),
    (Language::Php, "curl_init(", Network),
    (Language::Php, "proc_open(", Process),
    (Language::Php, "shell_exec(", Process),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_read_to_its_end() {
        let tables = [Language::Go, Language::Python, Language::JavaScript].map(table);
        assert_eq!(tables.map(|rows| rows.len()), [43, 90, 22]);
    }

    #[test]
    fn full_names_are_looked_up() {
        for (language, full, is_call, expect) in [
            (Language::Go, "os/exec.Command", true, Some(Process)),
            (Language::Go, "os.Getenv", true, None),
            (Language::Python, "os.path.exists", true, Some(FileSystem)),
            (Language::Python, "shutil.rmtree", true, Some(FileSystem)),
            (Language::Python, "shutil.Error", false, None),
            (Language::JavaScript, "axios", true, Some(Network)),
            (Language::JavaScript, "fs.readFileSync", true, Some(FileSystem)),
            (Language::Rust, "os.open", true, None),
        ] {
            assert_eq!(touched_by(language, full, is_call), expect, "{full}");
        }
    }
}
