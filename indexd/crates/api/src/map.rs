//! The map of a repository: its entry points, its parts, the settings it reads and its files that touch the
//! outside world.

use crate::JsonSchema;
use crate::kinds;
use serde::{Deserialize, Serialize};

/// The map of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RepoMap {
    /// Always `RepoMap`.
    pub schema: String,
    /// Version of this shape.
    pub schema_version: String,
    /// The workspace.
    pub repo_id: String,
    /// Files in the index.
    pub files: u32,
    /// Folders down to three levels, in path order.
    pub tree: Vec<Folder>,
    /// Entry points by kind, those that reach the most code first.
    pub entrypoints: Vec<Entrypoint>,
    /// Packages and other folders of code, by path.
    pub modules: Vec<Module>,
    /// Keys that configure the program and where each is parsed.
    pub config: Vec<Setting>,
    /// Files that touch the file system, the network or other processes.
    pub side_effects: Vec<Boundary>,
}

/// A folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Folder {
    /// Relative path; empty for the root.
    pub path: String,
    /// Levels below the root.
    pub depth: usize,
    /// Indexed files in it and below it.
    pub files: u32,
}

/// Where execution or use begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entrypoint {
    /// What begins there.
    pub kind: EntrypointKind,
    /// The name of the program or package.
    pub name: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// How it is started, or how it is known.
    pub how: String,
    /// Lines of its folder and of all folders that it imports, directly or through others.
    #[serde(default)]
    pub lines: u32,
    /// The first sentence of its documentation or of the command's description; empty without any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

/// A folder of code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// The folder; empty for the root.
    pub path: String,
    /// The name of the package, or of the folder.
    pub name: String,
    /// Language identifier of most of its files.
    pub language: String,
    /// Files of code, tests left out.
    pub files: u32,
    /// Their lines.
    pub lines: u32,
    /// Files of other folders that import it.
    #[serde(default)]
    pub dependants: u32,
    /// The first sentence of its own documentation.
    pub summary: String,
    /// Its most used exported names.
    pub names: Vec<String>,
}

/// A key and where it is parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Setting {
    /// How it reaches the program.
    pub kind: SettingKind,
    /// The key.
    pub key: String,
    /// The type it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Where it is declared, for settings and fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_at: Option<Place>,
    /// Where it is parsed.
    pub parsed_at: Vec<Place>,
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Relative path.
    pub path: String,
    /// 1-based line.
    pub line: u32,
}

/// A file that touches one part of the world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// What it touches.
    pub touches: Touches,
    /// The file.
    pub path: String,
    /// Through what.
    pub calls: Vec<BoundaryCall>,
}

/// A function through which a file touches something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoundaryCall {
    /// Its full name, or the member's name with a dot before it.
    pub name: String,
    /// Line of the first use.
    pub line: u32,
    /// How often it is used.
    pub count: u32,
}

kinds! {
    /// What begins at an entry point.
    EntrypointKind {
        /// A program that is built or installed.
        #[default]
        Program = "program",
        /// A file that is run by itself: a script, a tool of the repository.
        Script = "script",
        /// A package that others import.
        Library = "library",
        /// A program that shows how to use the others.
        Example = "example",
    }

    /// How a setting reaches the program.
    SettingKind {
        /// A variable of the environment.
        #[default]
        Environment = "environment",
        /// An option of the command line.
        Flag = "flag",
        /// A name of a settings module, or a key asked of a configuration by its name.
        Setting = "setting",
        /// A field of a type that a configuration file is read into.
        Field = "field",
    }

    /// A part of the world outside.
    Touches {
        /// Files and folders.
        #[default]
        FileSystem = "fileSystem",
        /// Other machines, sockets, databases.
        Network = "network",
        /// Other processes.
        Process = "process",
    }
}
