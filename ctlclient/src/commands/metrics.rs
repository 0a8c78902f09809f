//! `ctl metrics`: the figures of `ctl status` in the text format of Prometheus.

use crate::cli::Common;
use crate::failure::Failure;
use crate::session::{Session, Start};
use indexd_proto::Method;
use indexd_proto::workspace::{StatusParams, StatusResult};

/// Options of `metrics`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl metrics > /var/lib/node_exporter/indexd.prom")]
pub struct MetricsArgs {}

/// Prints every figure; exit status 69 when there is no daemon.
pub fn metrics(common: &Common, _: &MetricsArgs) -> Result<(), Failure> {
    super::text_only(common, "the text of Prometheus")?;
    let mut session = Session::connect(common, Start::Never)?;
    super::put(None, &text(&session.ask(Method::Status, &StatusParams {})?))
}

/// One metric: its kind, its help, and its values, each with labels.
struct Text(String);

impl Text {
    fn metric(&mut self, name: &str, kind: &str, help: &str, values: &[(String, f64)]) {
        self.0 += &format!("# HELP indexd_{name} {help}\n# TYPE indexd_{name} {kind}\n");
        for (labels, value) in values {
            self.0 += &format!("indexd_{name}{labels} {value}\n");
        }
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.metric(name, kind, help, &[(String::new(), value)]);
    }
}

fn label(name: &str, value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{{name}=\"{escaped}\"}}")
}

fn text(status: &StatusResult) -> String {
    let mut out = Text(String::new());
    daemon(&mut out, status);
    packs(&mut out, status);
    share(&mut out, status);
    workspaces(&mut out, status);
    out.0
}

fn daemon(out: &mut Text, status: &StatusResult) {
    let (d, r) = (&status.daemon, &status.daemon.requests);
    out.one("uptime_seconds", "gauge", "Time since the start of the daemon.", d.uptime_ms as f64 / 1e3);
    out.one("private_bytes", "gauge", "Private memory of the daemon.", d.private_bytes as f64);
    out.one("connections", "gauge", "Open connections.", f64::from(d.connections));
    let now = [("running", d.in_flight), ("waiting", d.queued)];
    let now = now.map(|(state, n)| (label("state", state), f64::from(n)));
    out.metric("requests_in_flight", "gauge", "Requests that have no answer yet.", &now);
    let ended = [
        ("ok", r.ok),
        ("failed", r.failed),
        ("cancelled", r.cancelled),
        ("busy", r.busy),
        ("panicked", r.panicked),
    ];
    let ended = ended.map(|(outcome, n)| (label("outcome", outcome), n as f64));
    out.metric("requests_total", "counter", "Requests that were answered, by outcome.", &ended);
}

fn share(out: &mut Text, status: &StatusResult) {
    let s = &status.share;
    let ended = [("begun", s.begun), ("missed", s.missed)].map(|(o, n)| (label("outcome", o), n as f64));
    let help = "First indexes for which a published one was looked for, by outcome.";
    out.metric("share_pulls_total", "counter", help, &ended);
    out.one("share_exports_total", "counter", "Indexes exported to be published.", s.exported as f64);
}

fn packs(out: &mut Text, status: &StatusResult) {
    let p = &status.packs;
    for (name, help, n) in [
        ("packs_answered_total", "Packs answered.", p.answered),
        ("packs_assembled_total", "Packs assembled; the others came out of the cache.", p.assembled),
        ("pack_candidates_total", "Candidates of the assembled packs.", p.candidates),
        ("pack_items_total", "Their items.", p.items),
        ("pack_merged_total", "Candidates that live on in another's item.", p.merged),
        ("pack_duplicates_total", "Candidates left out as shown already.", p.duplicates),
        ("pack_tokens_total", "Tokens of the assembled packs.", p.tokens),
        ("pack_cache_hits_total", "Packs that the cache had.", p.cache_hits),
        ("pack_cache_misses_total", "Packs that it was asked for in vain.", p.cache_misses),
        ("token_cache_hits_total", "Counts of tokens that were remembered.", p.token_cache_hits),
        ("token_cache_misses_total", "Counts of tokens that were not.", p.token_cache_misses),
        ("shadow_runs_total", "Packs compared with a search.", p.shadow.runs),
        ("shadow_failed_total", "Packs beside a search that failed.", p.shadow.failed),
    ] {
        out.one(name, "counter", help, n as f64);
    }
    let s = &p.shadow;
    let chunks = [("both", s.in_both), ("search", s.search_only), ("pack", s.pack_only)];
    let chunks = chunks.map(|(side, n)| (label("in", side), n as f64));
    out.metric("shadow_chunks_total", "counter", "Chunks of these comparisons, by who has them.", &chunks);
    let used = p.budget_used_percent as f64 / 100.0;
    out.one("pack_budget_used_ratio", "gauge", "Share of their budgets that packs use.", used);
    let latency =
        [("0.5", p.latency_micros_p50), ("0.99", p.latency_micros_p99), ("1", p.latency_micros_max)];
    let latency = latency.map(|(q, micros)| (label("quantile", q), micros as f64 / 1e6));
    out.metric("pack_seconds", "gauge", "Time of the latest 1,000 packs, without waits.", &latency);
}

fn workspaces(out: &mut Text, status: &StatusResult) {
    let each = |f: &dyn Fn(&indexd_proto::workspace::WorkspaceStatus) -> u64| -> Vec<(String, f64)> {
        status.workspaces.iter().map(|w| (label("root", &w.root), f(w) as f64)).collect()
    };
    out.metric("workspace_files", "gauge", "Files in the index.", &each(&|w| w.n_files));
    out.metric("workspace_pending", "gauge", "Changed paths not in the index yet.", &each(&|w| w.n_pending));
    out.metric("workspace_index_bytes", "gauge", "Bytes of the index on disk.", &each(&|w| w.index_bytes));
    out.metric(
        "workspace_rescans_total",
        "counter",
        "Full comparisons after lost events.",
        &each(&|w| w.n_rescans),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_one_that_prometheus_reads() {
        let status: StatusResult = serde_json::from_value(serde_json::json!({
            "schema": "Status", "schemaVersion": "1.0.0",
            "daemon": {"pid": 1, "version": "1", "protocol": 1, "uptimeMs": 1500, "socket": "", "log": "",
                "executable": "", "privateBytes": 9, "connections": 1, "inFlight": 0, "queued": 0,
                "requests": {"ok": 2, "failed": 0, "cancelled": 0, "busy": 0, "panicked": 0}, "idleExitMs": 0},
            "packs": {"answered": 4, "assembled": 3, "candidates": 1, "items": 1, "merged": 0, "tokens": 10,
                "budgetUsedPercent": 50, "latencyMicrosP50": 1500, "latencyMicrosP99": 2500,
                "latencyMicrosMax": 3000, "cacheHits": 1, "cacheMisses": 3, "tokenCacheHits": 7,
                "tokenCacheMisses": 1},
            "workspaces": [],
        }))
        .unwrap();
        let text = text(&status);
        for expected in [
            "indexd_uptime_seconds 1.5",
            "indexd_requests_total{outcome=\"ok\"} 2",
            "indexd_pack_cache_hits_total 1",
            "indexd_token_cache_hits_total 7",
            "indexd_pack_budget_used_ratio 0.5",
            "indexd_pack_seconds{quantile=\"0.99\"} 0.0025",
        ] {
            assert!(text.lines().any(|l| l == expected), "{expected}: {text}");
        }
        let mut declared = "";
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(rest) => declared = rest.split(' ').next().unwrap(),
                None if line.starts_with("# HELP ") => {}
                None => assert!(line.split(['{', ' ']).next() == Some(declared), "{line}"),
            }
        }
        assert_eq!(label("root", "a\"b\\c"), r#"{root="a\"b\\c"}"#);
    }
}
