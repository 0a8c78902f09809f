//! Go: `os.Getenv`, flags of the usual libraries, keys read through viper, tags of configuration types.

use super::{Kind, Reading, value_of};
use crate::Place;
use crate::imports::{Outside, Use};
use crate::scan;
use crate::sources::Source;
use indexd_model::lists::holds;
use indexd_model::path::{dir_of, file_name_of, stem_of};
use indexd_model::{DefFlags, DefIdx, DefKind, EdgeKind, Facts, Role};

const FLAG_MODULES: [&str; 6] = [
    "flag",
    "github.com/spf13/pflag",
    "github.com/spf13/cobra",
    "github.com/alecthomas/kingpin",
    "gopkg.in/alecthomas/kingpin",
    "github.com/urfave/cli",
];
const VIPER: &str = "github.com/spf13/viper";
/// Packages that fill a type from a file or from the environment.
const DECODERS: [&str; 12] = [
    "gopkg.in/yaml",
    "sigs.k8s.io/yaml",
    "github.com/goccy/go-yaml",
    "github.com/BurntSushi/toml",
    "github.com/pelletier/go-toml",
    "encoding/json",
    VIPER,
    "github.com/knadh/koanf",
    "github.com/kelseyhightower/envconfig",
    "github.com/caarlos0/env",
    "github.com/hashicorp/hcl",
    "gopkg.in/ini",
];
/// Types of flags, in the names of the functions that declare them.
const FLAG_TYPES: &str = "String Bool Int Int8 Int16 Int32 Int64 Uint Uint8 Uint16 Uint32 Uint64 Float32 \
    Float64 Duration Count IP IPMask IPNet IPSlice StringSlice StringArray StringToString StringToInt \
    StringToInt64 IntSlice Int32Slice Int64Slice UintSlice BoolSlice DurationSlice Text BytesHex";
/// Tags of fields: the key and the kind of setting.
const TAGS: [(&str, Kind); 9] = [
    ("env", Kind::Environment),
    ("envconfig", Kind::Environment),
    ("mapstructure", Kind::Field),
    ("koanf", Kind::Field),
    ("toml", Kind::Field),
    ("ini", Kind::Field),
    ("hcl", Kind::Field),
    ("yaml", Kind::Field),
    ("json", Kind::Field),
];
/// Variables that `http.ProxyFromEnvironment` reads.
const PROXIES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
/// Limit on the uses of a key that are read.
const USES_MAX: usize = 20;

pub(super) fn read(reading: &mut Reading, source: &Source, text: &str, uses: &Outside) {
    for it in &uses.uses {
        call(reading, &source.path, text, it, uses);
    }
    tags(reading, source, text);
    keys(reading, source, text);
}

/// Reads one use of an outside name.
pub(super) fn call(reading: &mut Reading, path: &str, text: &str, it: &Use, uses: &Outside) {
    let place = || Place { path: path.to_owned(), line: it.line };
    let (module, name) = match it.full.as_deref().and_then(|f| f.rsplit_once('.')) {
        Some((module, name)) => (Some(module), name),
        None => (None, it.name.as_str()),
    };
    let is_made = it.role == Role::Type && module == Some("github.com/urfave/cli");
    if is_made && name.ends_with("Flag") {
        let fields = scan::parts(text, it.at + it.name.len() + 1);
        let named =
            fields.iter().filter_map(|f| f.strip_prefix("Name:")).find_map(|v| scan::literal(v.trim()));
        named.into_iter().for_each(|key| reading.parsed(Kind::Flag, key, place()));
        return;
    }
    if it.full.as_deref() == Some("net/http.ProxyFromEnvironment") {
        PROXIES.iter().for_each(|key| reading.parsed(Kind::Environment, key, place()));
    }
    if !matches!(it.role, Role::Call | Role::Read) {
        return;
    }
    if let Some(arguments) = scan::arguments(text, it.at) {
        with_arguments(reading, place(), it, uses, (module, name), &arguments);
    }
}

/// Reads a call with its arguments.
fn with_arguments(
    reading: &mut Reading,
    place: Place,
    it: &Use,
    uses: &Outside,
    (module, name): (Option<&str>, &str),
    arguments: &[&str],
) {
    let of = |modules: &[&str]| module.map_or_else(|| uses.imports(modules), |m| modules.contains(&m));
    if matches!((module, name), (Some("os" | "syscall"), "Getenv" | "LookupEnv")) {
        if let Some(first) = arguments.first() {
            reading.argument(Kind::Environment, first, place, it.source, 0);
        }
    } else if of(&FLAG_MODULES) && is_flag(name) && arguments.len() > 1 {
        // A function that fills a variable takes the name as its second argument.
        if let Some(name) = arguments.get(usize::from(it.name.contains("Var"))) {
            reading.argument(Kind::Flag, name, place, it.source, 0);
        }
    } else if of(&[VIPER]) && is_viper(name) {
        let keys: Vec<&str> = arguments.iter().filter_map(|a| scan::literal(a)).collect();
        bound(reading, name, &keys, &place);
    } else if module.is_some_and(|m| DECODERS.contains(&m)) && is_decoder(name) {
        reading.decoded.entry(dir_of(&place.path).to_owned()).or_default().insert(place);
    }
}

/// Reads a key of viper, and the variables that it is bound to.
fn bound(reading: &mut Reading, name: &str, keys: &[&str], place: &Place) {
    if let Some(key) = keys.first() {
        reading.parsed(Kind::Setting, key, place.clone());
    }
    if name == "BindEnv" {
        let variables = keys.iter().skip(1);
        variables.for_each(|variable| reading.parsed(Kind::Environment, variable, place.clone()));
    }
}

/// Returns true if a function of this name declares a flag.
fn is_flag(name: &str) -> bool {
    if holds(FLAG_TYPES, name) {
        return true;
    }
    let base = ["VarPF", "VarP", "Var", "P"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    holds(FLAG_TYPES, base)
        || matches!(name, "Var" | "VarP" | "VarPF" | "Func" | "BoolFunc" | "Flag" | "BoolVarPF")
}

fn is_viper(name: &str) -> bool {
    name.starts_with("Get")
        || matches!(name, "IsSet" | "SetDefault" | "BindEnv" | "BindPFlag" | "UnmarshalKey")
}

fn is_decoder(name: &str) -> bool {
    name.starts_with("Unmarshal")
        || name.starts_with("Decode")
        || matches!(name, "Parse" | "Process" | "MustProcess" | "NewDecoder" | "MapTo" | "Load")
}

/// Reads the tags of the fields of configuration types.
fn tags(reading: &mut Reading, source: &Source, text: &str) {
    let view = reading.view;
    let interface = view.interface(source.doc);
    let facts = Facts::outside(&interface);
    let lines = view.lines(source.doc);
    for (i, def) in interface.defs.iter().enumerate().filter(|(_, d)| d.kind == DefKind::Struct) {
        let owner = facts.str(def.name);
        let is_config = is_config_name(owner) || is_config_path(&source.path);
        for field in
            facts.children(DefIdx(i as u32)).map(|f| facts.def(f)).filter(|f| f.kind == DefKind::Field)
        {
            let line = lines.line(field.name_span.start);
            let end = lines.span(lines.line(field.span.end.max(field.name_span.end))).end;
            let declaration = text.get(field.name_span.start as usize..end as usize).unwrap_or_default();
            let Some(tag) = declaration.split('`').nth(1) else { continue };
            let is_read = |name: &str| is_config || !matches!(name, "yaml" | "json");
            for (name, kind) in TAGS.into_iter().filter(|(name, _)| is_read(name)) {
                let Some(key) = tag_value(tag, name) else { continue };
                let place = Place { path: source.path.to_string(), line };
                match kind {
                    Kind::Environment => reading.parsed(kind, key, place),
                    _ => reading.declared(kind, key, owner, place),
                }
            }
        }
    }
}

/// The name in one tag of a field; `None` without one, and for fields that the tag excludes.
fn tag_value<'a>(tag: &'a str, key: &str) -> Option<&'a str> {
    let at = tag.match_indices(key).map(|(at, _)| at).find(|&at| {
        let before = at.checked_sub(1).and_then(|i| tag.as_bytes().get(i));
        tag[at + key.len()..].starts_with(":\"") && before.is_none_or(|b| *b == b' ')
    })?;
    let value = tag[at + key.len() + 2..].split(['"', ',']).next()?;
    (!value.is_empty() && value != "-").then_some(value)
}

/// Reads constants that name the keys of a configuration: `editorKey = "editor"` in package `config`.
fn keys(reading: &mut Reading, source: &Source, text: &str) {
    if !is_config_path(&source.path) {
        return;
    }
    let view = reading.view;
    let interface = view.interface(source.doc);
    let facts = Facts::outside(&interface);
    for (i, def) in interface.defs.iter().enumerate() {
        let name = facts.str(def.name);
        let names_key = name.ends_with("Key")
            || name.strip_prefix("key").is_some_and(|r| r.starts_with(char::is_uppercase));
        if def.kind != DefKind::Constant || !names_key || def.flags.has(DefFlags::LOCAL) {
            continue;
        }
        let Some(key) = value_of(text, def.name_span.end as usize) else { continue };
        let handle = view.def_doc(source.doc, DefIdx(i as u32));
        let line = view.def(handle).name_line;
        reading.declared(Kind::Setting, key, "", Place { path: source.path.to_string(), line });
        for edge in view.edges_to(handle, &[EdgeKind::Usage], USES_MAX) {
            let file = view.file(view.def(edge.site()).file);
            if let Some(o) = edge.occurrences.first()
                && !file.roles.has(indexd_model::FileRoles::TEST)
            {
                let place = Place { path: file.path.to_string(), line: o.line };
                reading.parsed(Kind::Setting, key, place);
            }
        }
    }
}

/// Returns true if a type of this name holds a configuration.
fn is_config_name(name: &str) -> bool {
    ["Config", "Conf", "Configuration", "Settings", "Options"].iter().any(|end| name.ends_with(end))
}

/// Returns true if a file belongs to a package for configuration.
fn is_config_path(path: &str) -> bool {
    let is_config = |s: &str| matches!(s, "config" | "conf" | "configuration" | "settings");
    is_config(file_name_of(dir_of(path))) || is_config(stem_of(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_declare_flags() {
        for (name, expect) in [
            ("StringVarP", true),
            ("Bool", true),
            ("VarPF", true),
            ("IP", true),
            ("Strings", false),
            ("Write", false),
        ] {
            assert_eq!(is_flag(name), expect, "{name}");
        }
    }

    #[test]
    fn tags_are_read_by_their_key() {
        let tag = r#"yaml:"listen-addr,omitempty" json:"-" env:"ADDR" myenv:"X""#;
        let found = ["yaml", "json", "env", "toml"].map(|key| tag_value(tag, key));
        assert_eq!(found, [Some("listen-addr"), None, Some("ADDR"), None]);
    }
}
