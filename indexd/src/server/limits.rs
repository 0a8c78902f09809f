//! Limits of the server: name, unit, value, reason.

use std::time::Duration;

/// Connections at once; every editor window and shell of one person fits many times.
pub const CONNECTIONS_MAX: usize = 64;
/// Requests in flight of one connection; one client must not take all places.
pub const IN_FLIGHT_PER_CLIENT_MAX: usize = 8;
/// Requests that run at once. Those that wait for an index, or for a source, are not among them.
pub const RUNNING_MAX: usize = 32;
/// A thread of requests that has none for so long ends; what it has freed is of use to nobody before.
pub const THREAD_KEPT: Duration = Duration::from_secs(2);
/// Requests that wait for a place; more are refused with a time to try again.
pub const QUEUE_MAX: usize = 64;
/// Messages that wait to be written to one client.
pub const OUTBOX_MAX: usize = 16;
/// When a refused client may try again.
pub const BUSY_RETRY: Duration = Duration::from_millis(100);
/// When a client may try again for which there is no connection; those that are answered make room.
pub const CONNECT_RETRY: Duration = Duration::from_millis(250);
/// Time without a request after which a client may have to give way to another one.
pub const SILENT_MIN: Duration = Duration::from_secs(1);
/// Threads of requests: as many as can be in flight, since those that wait for an index or for a source
/// hold a thread and no place, and some for what needs none.
pub const THREADS_MAX: usize = CONNECTIONS_MAX * IN_FLIGHT_PER_CLIENT_MAX + 64;
/// Exports that are made at once, each of which holds a table of the index as text.
pub const EXPORTS_MAX: usize = 1;
/// A client that takes no byte for so long is gone.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that connects and asks nothing for so long is gone; it may not hold a place.
pub const FIRST_TIMEOUT: Duration = Duration::from_secs(30);
/// A client that stops within a line for so long is gone.
pub const PARTIAL_LINE_TIMEOUT: Duration = Duration::from_secs(30);
/// A connection without any request for so long is closed; clients connect again when they need to.
pub const QUIET_TIMEOUT: Duration = Duration::from_secs(3_600);
/// How long requests in flight may go on after the daemon was asked to end.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a starting daemon waits for the lock of one that is ending.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(15);
/// How long it waits for the lock of the cache folder, which is that of the same daemon as a rule.
pub const CACHE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the daemon looks whether its socket file is still its own, besides when something
/// happens in its folder; each look wakes a sleeping processor.
pub const SOCKET_CHECK: Duration = Duration::from_secs(60);
/// The same where the folder cannot be watched; a daemon started meanwhile waits for the lock.
pub const SOCKET_CHECK_UNWATCHED: Duration = Duration::from_secs(5);
/// Time between two looks for indexes that nobody needs any more.
pub const HOUSE_INTERVAL: Duration = Duration::from_secs(86_400);
/// Time between two notifications that say that a request is still worked on. A client takes the
/// daemon for dead after several of them are missing.
pub const HEARTBEAT: Duration = Duration::from_secs(2);
/// KiB that are held for all clients together: lines that are not complete, and messages that are not
/// written. Four of the largest lines.
pub const HELD_KIB_MAX: usize = 64 << 10;
/// Bytes of an unfinished line that are not counted, so that ordinary requests pass always.
pub const UNCOUNTED_BYTES: usize = 64 << 10;
/// Time between two progress notifications of one request.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Idle exit when the environment says CI, where nobody comes back.
pub const CI_IDLE_EXIT: Duration = Duration::from_secs(60);
/// Bytes of the log file before it is renamed.
pub const LOG_BYTES_MAX: u64 = 10 << 20;
/// Log files that are kept, the current one included.
pub const LOG_FILES_MAX: u32 = 5;
