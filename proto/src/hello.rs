//! The handshake, `shutdown`, and what both sides say about their builds.

use crate::{PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

/// A range of protocol versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolRange {
    /// The oldest understood.
    pub min: u32,
    /// The newest understood.
    pub max: u32,
}

impl ProtocolRange {
    /// What this build speaks.
    pub const OURS: Self = Self { min: PROTOCOL_VERSION_MIN, max: PROTOCOL_VERSION };

    /// The newest version both sides understand.
    pub fn common(self, other: Self) -> Option<u32> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }
}

/// A build of either program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// `ctl`, `indexd` or the client's own name.
    pub name: String,
    /// Its version, `major.minor.patch`.
    pub version: String,
}

impl Build {
    /// Whether this build's version is newer than `other`'s; versions that are no three numbers
    /// are never newer.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        match (triple(&self.version), triple(&other.version)) {
            (Some(a), Some(b)) => a > b,
            _ => false,
        }
    }
}

fn triple(version: &str) -> Option<[u32; 3]> {
    let core = version.split(['-', '+']).next()?;
    let mut parts = core.split('.').map(|p| p.parse().ok());
    let out = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(out)
}

/// The name of a client that asks for coding agents; `mcp.enabled` switches its answers off.
pub const FOR_AGENTS: &str = "ctl mcp";

/// The daemon sends [`HEARTBEAT`] to whoever has said `hello`, every few seconds while it works on a
/// request.
pub const CAPABILITY_HEARTBEAT: &str = "heartbeat";

/// The notification that says that work goes on; it has no parameters.
pub const HEARTBEAT: &str = "$/heartbeat";

params! {
    /// `hello`: optional, first when sent.
    HelloParams {
        /// Who asks.
        client: Option<Build>,
        /// What the client speaks; absent means any.
        protocol: Option<ProtocolRange>,
        /// True if the client fetches published indexes when it is told to.
        pulls: bool,
    }
}

/// Answer to `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelloResult {
    /// The version both sides use from here on.
    pub protocol: u32,
    /// What the daemon speaks.
    pub supported: ProtocolRange,
    /// The daemon's build.
    pub server: Build,
    /// Its methods, sorted.
    pub methods: Vec<String>,
    /// Additions within the protocol version, sorted.
    pub capabilities: Vec<String>,
    /// Its process id.
    pub pid: u32,
}

params! {
    /// `shutdown`: answers once the socket is closed to new requests; requests in flight are finished
    /// first, then the process ends.
    ShutdownParams {
        /// Why, for the log: `stop`, `upgrade`.
        reason: Option<String>,
    }
}

/// Answer to `shutdown`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownResult {
    /// The process that ends.
    pub pid: u32,
    /// Requests that are finished first.
    pub draining: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let build = |v: &str| Build { name: "x".into(), version: v.into() };
        for (a, b, newer) in [
            ("0.10.0", "0.9.9", true),
            ("0.1.0", "0.1.0", false),
            ("1.0.0-dev", "0.9.0", true),
            ("0.1", "0.0.1", false),
            ("0.0.9", "0.1.0", false),
        ] {
            assert_eq!(build(a).is_newer_than(&build(b)), newer, "{a} {b}");
        }
    }

    #[test]
    fn the_newest_common_version_is_chosen() {
        let range = |min, max| ProtocolRange { min, max };
        assert_eq!(range(1, 3).common(range(2, 5)), Some(3));
        assert_eq!(range(1, 1).common(range(2, 5)), None);
    }
}
