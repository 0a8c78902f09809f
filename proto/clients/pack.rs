//! `cargo run -p indexd-proto --example pack QUERY`: the pack's id and its text. `ctl` starts the daemon.
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Error, Write};
use std::{env, os::unix::net::UnixStream, process::Command};

fn main() -> Result<(), Error> {
    Command::new("ctl").args(["--quiet", "daemon", "start"]).output()?;
    let status = Command::new("ctl").args(["status", "--json"]).output()?.stdout;
    let status: Value = serde_json::from_slice(&status)?;
    let mut socket = UnixStream::connect(status["daemon"]["socket"].as_str().unwrap_or_default())?;
    let budgets = r#"{"maxTotalTokens":4000,"maxBytesPerItem":16000,"maxItems":250,"maxItemsPerSection":80}"#;
    let budgets: Value = serde_json::from_str(budgets)?;
    let (cwd, query) = (env::current_dir()?, env::args().nth(1));
    let params = json!({"cwd": cwd, "query": query, "includeExplain": false, "rendered": true, "defaultBudgets": budgets});
    writeln!(socket, "{}", json!({"id": 1, "method": "pack", "params": params}))?;
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line)?;
    let answer: Value = serde_json::from_str(&line)?;
    if !answer["error"].is_null() {
        return Err(Error::other(answer["error"].to_string()));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    print!("{}\n{}", text(&answer["result"]["pack"]["packId"]), text(&answer["result"]["rendered"]));
    Ok(())
}
