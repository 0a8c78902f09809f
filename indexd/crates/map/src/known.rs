//! What is known of packages outside a repository: which of their functions touch the file system, the
//! network or other processes.
//!
//! The lists name what acts; constants, types and helpers that compute are left out. A star stands for
//! every function of the module.

use indexd_model::{Language, Role};
use serde::Serialize;

/// What is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Touches {
    /// Files and folders.
    FileSystem,
    /// Other machines, sockets, databases.
    Network,
    /// Other processes.
    Process,
}

use Touches::{FileSystem, Network, Process};

type Row = (Touches, &'static str, &'static str);

const GO: &[Row] = &[
    (
        FileSystem,
        "os",
        "Open OpenFile Create CreateTemp ReadFile WriteFile ReadDir Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename Chmod Chown Lchown Chtimes Truncate Link Symlink Readlink Stat Lstat Chdir DirFS CopyFS OpenRoot OpenInRoot",
    ),
    (FileSystem, "io/ioutil", "ReadFile WriteFile ReadDir TempDir TempFile"),
    (FileSystem, "path/filepath", "Walk WalkDir Glob EvalSymlinks"),
    (FileSystem, "net/http", "Dir FileServer ServeFile"),
    (FileSystem, "github.com/spf13/afero", "*"),
    (FileSystem, "github.com/fsnotify/fsnotify", "NewWatcher NewBufferedWatcher"),
    (FileSystem, "go.etcd.io/bbolt", "Open"),
    (FileSystem, "github.com/boltdb/bolt", "Open"),
    (FileSystem, "github.com/gofrs/flock", "New"),
    (FileSystem, "github.com/rogpeppe/go-internal/lockedfile", "*"),
    (FileSystem, "debug/elf", "Open"),
    (FileSystem, "archive/zip", "OpenReader"),
    (FileSystem, "syscall", "Open Mkdir Rename Unlink Flock Stat Lstat Rmdir Chmod"),
    (FileSystem, "golang.org/x/sys/unix", "Open Mkdir Rename Unlink Flock Stat Lstat Rmdir Chmod Fsync Mmap"),
    (
        Network,
        "net",
        "Dial DialTimeout DialTCP DialUDP DialUnix DialIP Listen ListenTCP ListenUDP ListenUnix ListenPacket ListenMulticastUDP LookupHost LookupIP LookupAddr LookupCNAME LookupMX LookupSRV LookupTXT ResolveTCPAddr ResolveUDPAddr FileListener Dialer ListenConfig Resolver InterfaceAddrs Interfaces",
    ),
    (
        Network,
        "net/http",
        "Get Post PostForm Head NewRequest NewRequestWithContext ListenAndServe ListenAndServeTLS Serve ServeTLS Client Server Transport DefaultClient DefaultTransport",
    ),
    (Network, "net/smtp", "*"),
    (Network, "net/rpc", "*"),
    (Network, "crypto/tls", "Dial DialWithDialer Listen NewListener"),
    (Network, "database/sql", "Open OpenDB"),
    (Network, "google.golang.org/grpc", "Dial DialContext NewClient NewServer"),
    (Network, "github.com/gorilla/websocket", "*"),
    (
        Network,
        "github.com/quic-go/quic-go/http3",
        "ListenAndServe ListenAndServeQUIC ListenAndServeTLS Server",
    ),
    (Network, "github.com/quic-go/quic-go", "Dial DialAddr Listen ListenAddr"),
    (Network, "golang.org/x/crypto/ssh", "Dial NewClientConn NewServerConn"),
    (Network, "golang.org/x/net/websocket", "Dial DialConfig"),
    (Network, "github.com/redis/go-redis", "NewClient NewClusterClient"),
    (Network, "github.com/jackc/pgx", "Connect"),
    (Network, "go.mongodb.org/mongo-driver/mongo", "Connect NewClient"),
    (
        Network,
        "github.com/cli/go-gh/pkg/api",
        "NewRESTClient NewGraphQLClient NewHTTPClient DefaultRESTClient DefaultGraphQLClient DefaultHTTPClient",
    ),
    (Network, "github.com/hashicorp/go-retryablehttp", "NewClient NewRequest Get Post"),
    (Network, "go.etcd.io/etcd/client/v3", "New"),
    (Network, "syscall", "Socket Connect Bind Listen"),
    (Network, "golang.org/x/sys/unix", "Socket Connect Bind Listen"),
    (Process, "os/exec", "Command CommandContext LookPath Cmd"),
    (Process, "os", "StartProcess FindProcess"),
    (Process, "syscall", "Exec ForkExec StartProcess Kill"),
    (Process, "golang.org/x/sys/unix", "Exec Kill"),
    (Process, "golang.org/x/sys/execabs", "Command CommandContext LookPath"),
    (Process, "github.com/cli/safeexec", "LookPath"),
    (Process, "github.com/creack/pty", "Start StartWithSize Open"),
    (Process, "github.com/cli/browser", "OpenURL OpenFile OpenReader"),
    (Process, "github.com/cli/go-gh/pkg/browser", "New"),
];

const PYTHON: &[Row] = &[
    (FileSystem, "builtins", "open"),
    (FileSystem, "io", "open FileIO"),
    (FileSystem, "codecs", "open"),
    (FileSystem, "gzip", "open GzipFile"),
    (FileSystem, "bz2", "open BZ2File"),
    (FileSystem, "lzma", "open LZMAFile"),
    (FileSystem, "tarfile", "open TarFile"),
    (FileSystem, "zipfile", "ZipFile is_zipfile"),
    (
        FileSystem,
        "os",
        "open fdopen listdir scandir walk fwalk mkdir makedirs remove unlink rename renames replace rmdir removedirs chmod chown lchown link symlink readlink utime truncate access stat lstat chdir mkfifo sendfile statvfs",
    ),
    (
        FileSystem,
        "os.path",
        "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath samefile",
    ),
    (FileSystem, "shutil", "*"),
    (FileSystem, "tempfile", "*"),
    (FileSystem, "glob", "glob iglob"),
    (FileSystem, "fileinput", "input FileInput"),
    (FileSystem, "fcntl", "flock lockf fcntl"),
    (FileSystem, "mmap", "mmap"),
    (FileSystem, "sqlite3", "connect"),
    (FileSystem, "dbm", "open"),
    (FileSystem, "shelve", "open"),
    (FileSystem, "linecache", "getline getlines"),
    (FileSystem, "logging", "FileHandler"),
    (FileSystem, "logging.handlers", "RotatingFileHandler TimedRotatingFileHandler WatchedFileHandler"),
    (FileSystem, "pathlib.Path", "cwd home"),
    (FileSystem, "netrc", "netrc"),
    (FileSystem, "anyio", "open_file"),
    (FileSystem, "aiofiles", "open"),
    (FileSystem, "watchdog.observers", "Observer"),
    (
        Network,
        "socket",
        "socket create_connection create_server socketpair getaddrinfo gethostbyname gethostbyaddr getfqdn fromfd",
    ),
    (Network, "socketserver", "*"),
    (Network, "ssl", "wrap_socket get_server_certificate SSLSocket"),
    (Network, "http.client", "HTTPConnection HTTPSConnection"),
    (Network, "http.server", "*"),
    (Network, "urllib.request", "urlopen urlretrieve Request build_opener OpenerDirector"),
    (Network, "wsgiref.simple_server", "*"),
    (Network, "xmlrpc.client", "ServerProxy Transport"),
    (Network, "xmlrpc.server", "*"),
    (Network, "smtplib", "*"),
    (Network, "ftplib", "*"),
    (Network, "imaplib", "*"),
    (Network, "poplib", "*"),
    (Network, "telnetlib", "*"),
    (Network, "asyncio", "open_connection open_unix_connection start_server start_unix_server"),
    (Network, "anyio", "connect_tcp connect_unix create_tcp_listener create_unix_listener"),
    (Network, "trio", "open_tcp_stream open_unix_socket serve_tcp"),
    (Network, "requests", "get post put patch delete head options request Session session"),
    (Network, "requests.sessions", "Session"),
    (Network, "requests.adapters", "HTTPAdapter"),
    (
        Network,
        "httpx",
        "get post put patch delete head options request stream Client AsyncClient HTTPTransport AsyncHTTPTransport",
    ),
    (
        Network,
        "httpcore",
        "ConnectionPool AsyncConnectionPool HTTPProxy AsyncHTTPProxy SOCKSProxy AsyncSOCKSProxy HTTPConnection AsyncHTTPConnection",
    ),
    (Network, "urllib3", "PoolManager HTTPConnectionPool HTTPSConnectionPool ProxyManager request"),
    (Network, "aiohttp", "ClientSession request TCPConnector"),
    (Network, "aiohttp.web", "run_app AppRunner TCPSite"),
    (Network, "websockets", "connect serve"),
    (Network, "grpc", "insecure_channel secure_channel server"),
    (Network, "grpc.aio", "insecure_channel secure_channel server"),
    (Network, "paramiko", "SSHClient Transport"),
    (Network, "boto3", "client resource Session"),
    (Network, "boto3.session", "Session"),
    (Network, "botocore.session", "get_session Session"),
    (Network, "google.cloud.storage", "Client"),
    (Network, "redis", "Redis StrictRedis from_url"),
    (Network, "pymongo", "MongoClient"),
    (Network, "psycopg", "connect"),
    (Network, "psycopg2", "connect"),
    (Network, "MySQLdb", "connect"),
    (Network, "oracledb", "connect"),
    (Network, "cx_Oracle", "connect"),
    (Network, "pylibmc", "Client"),
    (Network, "pymemcache", "Client HashClient"),
    (Network, "sqlalchemy", "create_engine"),
    (Network, "uvicorn", "run Server"),
    (Network, "twisted.internet.reactor", "connectTCP connectSSL listenTCP listenSSL connectUNIX listenUNIX"),
    (Network, "twisted.internet.endpoints", "*"),
    (Network, "twisted.web.client", "Agent HTTPClientFactory HTTPConnectionPool ProxyAgent getPage"),
    (Network, "twisted.protocols.ftp", "FTPClient"),
    (Network, "twisted.conch.telnet", "TelnetTransport"),
    (Network, "twisted.names.client", "*"),
    (Process, "subprocess", "Popen run call check_call check_output getoutput getstatusoutput"),
    (
        Process,
        "os",
        "system popen execv execve execvp execvpe execl execle execlp fork forkpty kill killpg spawnl spawnv spawnve spawnvp posix_spawn startfile waitpid",
    ),
    (Process, "multiprocessing", "Process Pool get_context Manager"),
    (Process, "multiprocessing.pool", "Pool"),
    (Process, "concurrent.futures", "ProcessPoolExecutor"),
    (Process, "concurrent.futures.process", "ProcessPoolExecutor"),
    (Process, "asyncio", "create_subprocess_exec create_subprocess_shell"),
    (Process, "asyncio.subprocess", "create_subprocess_exec create_subprocess_shell"),
    (Process, "anyio", "run_process open_process"),
    (Process, "pty", "*"),
    (Process, "pexpect", "*"),
    (Process, "sh", "*"),
    (Process, "webbrowser", "open open_new open_new_tab"),
];

const ECMA: &[Row] = &[
    (FileSystem, "fs", "*"),
    (FileSystem, "fs/promises", "*"),
    (FileSystem, "fs-extra", "*"),
    (FileSystem, "graceful-fs", "*"),
    (FileSystem, "chokidar", "*"),
    (FileSystem, "glob", "*"),
    (Network, "builtins", "fetch WebSocket XMLHttpRequest EventSource"),
    (Network, "http", "request get createServer Agent"),
    (Network, "https", "request get createServer Agent"),
    (Network, "http2", "connect createServer createSecureServer"),
    (Network, "net", "connect createConnection createServer Socket"),
    (Network, "tls", "connect createServer"),
    (Network, "dgram", "createSocket"),
    (Network, "dns", "*"),
    (Network, "axios", "*"),
    (Network, "node-fetch", "*"),
    (Network, "undici", "*"),
    (Network, "ws", "*"),
    (Process, "child_process", "*"),
    (Process, "cross-spawn", "*"),
    (Process, "execa", "*"),
    (Process, "worker_threads", "Worker"),
];

/// Members of values whose names say what they do: name, what they touch, and modules one of which the
/// file has to import.
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

fn table(language: Language) -> &'static [Row] {
    match language {
        Language::Go => GO,
        Language::Python => PYTHON,
        Language::TypeScript | Language::Tsx | Language::JavaScript => ECMA,
        _ => &[],
    }
}

/// What the function of this full name touches. Where a whole module is meant, only calls and base
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

/// What a member of this name touches, and the modules one of which has to be imported.
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

/// Every known function of Go's standard library, those that read settings too.
pub fn go_functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    const SETTINGS: [(&str, &str); 2] = [
        ("os", "Getenv LookupEnv"),
        (
            "flag",
            "Bool BoolVar Int IntVar Int64 Int64Var Uint UintVar String StringVar Duration DurationVar Float64 Float64Var Func BoolFunc Var TextVar",
        ),
    ];
    let touching = GO.iter().map(|(_, module, names)| (*module, *names));
    let all = touching.chain(SETTINGS).filter(|(module, names)| *names != "*" && !module.contains('.'));
    all.flat_map(|(module, names)| names.split(' ').map(move |name| (module, name)))
}

/// Ways to touch the world in languages whose uses are not followed: what stands in the source.
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
