//! Folders that clients know by another path than the daemon: those of containers, into which a folder of
//! this machine is mounted together with the daemon's socket.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Pairs of folders, written as `HOST=CONTAINER`, the longest container's first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct PathMap(Vec<Mount>);

/// A folder and where a container has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    host: String,
    container: String,
}

/// Members of parameters that name a folder or file, or a place in one.
const PATHS: [&str; 7] = ["repo", "cwd", "path", "symbol", "name", "filePath", "fileRelPath"];

impl TryFrom<Vec<String>> for PathMap {
    type Error = String;

    fn try_from(pairs: Vec<String>) -> Result<Self, String> {
        let read = |pair: &String| {
            let (host, container) = pair.split_once('=')?;
            let plain = |path: &str| {
                let plain = path.trim_end_matches('/');
                let is_plain =
                    plain.starts_with('/') && !plain.split('/').any(|name| name == ".." || name == ".");
                is_plain.then(|| plain.to_owned())
            };
            Some(Mount { host: plain(host)?, container: plain(container)? })
        };
        let mut mounts = pairs
            .iter()
            .map(|pair| {
                read(pair).ok_or_else(|| format!("{pair:?} is not HOST=CONTAINER with two absolute folders"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        mounts.sort_by_key(|m| std::cmp::Reverse(m.container.len()));
        Ok(Self(mounts))
    }
}

impl From<PathMap> for Vec<String> {
    fn from(map: PathMap) -> Self {
        map.0.into_iter().map(|m| format!("{}={}", m.host, m.container)).collect()
    }
}

impl PathMap {
    /// Makes paths of a container in the parameters of a request those of this machine. Gives the mount that
    /// its workspace lies in; `None` where nothing is mapped.
    pub fn inward(&self, params: &mut Value) -> Option<Mount> {
        let folder = params.get("repo").or_else(|| params.get("cwd"))?.as_str()?;
        let mount = self.0.iter().find(|m| m.host_of(folder).is_some())?.clone();
        self.rewrite(params);
        Some(mount)
    }

    fn rewrite(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        Value::String(path) if PATHS.contains(&name.as_str()) => {
                            if let Some(host) = self.0.iter().find_map(|m| m.host_of(path)) {
                                *path = host;
                            }
                        }
                        _ => self.rewrite(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|v| self.rewrite(v)),
            _ => {}
        }
    }
}

impl Mount {
    fn host_of(&self, path: &str) -> Option<String> {
        moved(path, &self.container, &self.host)
    }

    /// A path of this machine as the container has it; as it is where it lies outside.
    pub fn container_of(&self, path: &str) -> String {
        moved(path, &self.host, &self.container).unwrap_or_else(|| path.to_owned())
    }
}

/// The path below `to` that `path` is below `from`.
fn moved(path: &str, from: &str, to: &str) -> Option<String> {
    let rest = path.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with(['/', ':'])).then(|| format!("{to}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(pairs: &[&str]) -> Result<PathMap, String> {
        pairs.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>().try_into()
    }

    #[test]
    fn pairs_are_two_absolute_folders() {
        assert!(map(&["/home/me/src=/src", "/home/me/=/home/node/"]).is_ok());
        for wrong in ["/src", "src=/src", "/src=src", "/a/..=/src", "=", "/=/src"] {
            assert!(map(&[wrong]).unwrap_err().contains("is not HOST=CONTAINER"), "{wrong}");
        }
    }

    #[test]
    fn paths_of_the_container_become_those_of_this_machine() {
        let map = map(&["/home/me=/home/node", "/mnt/code=/home/node/code"]).unwrap();
        let check = |params: Value, expect: Option<(Value, &str)>| {
            let mut inward = params.clone();
            let got = map.inward(&mut inward).map(|mount| (inward, mount.container));
            assert_eq!(got, expect.map(|(v, c)| (v, c.to_owned())), "{params}");
        };
        check(json!({"cwd": "/home/node/x"}), Some((json!({"cwd": "/home/me/x"}), "/home/node")));
        check(json!({"repo": "/home/node/code"}), Some((json!({"repo": "/mnt/code"}), "/home/node/code")));
        check(
            json!({"cwd": "/home/node/code/r", "symbol": "/home/node/code/r/a.go:3", "query": "/home/node/code/r", "overlays": [{"path": "/home/node/code/r/a.go", "text": "/home/node"}]}),
            Some((
                json!({"cwd": "/mnt/code/r", "symbol": "/mnt/code/r/a.go:3", "query": "/home/node/code/r", "overlays": [{"path": "/mnt/code/r/a.go", "text": "/home/node"}]}),
                "/home/node/code",
            )),
        );
        // Another folder whose name begins alike, one of this machine, and none at all.
        for unmapped in
            [json!({"cwd": "/home/nodes"}), json!({"cwd": "/home/me/x"}), json!({"query": "x"}), json!([])]
        {
            check(unmapped, None);
        }
    }

    #[test]
    fn answers_name_the_folder_of_the_container() {
        let map = map(&["/home/me=/src"]).unwrap();
        let mount = map.inward(&mut json!({"cwd": "/src/r"})).unwrap();
        assert_eq!(mount.container_of("/home/me/r"), "/src/r");
        assert_eq!(mount.container_of("/elsewhere"), "/elsewhere");
    }
}
