//! Packages and namespaces that files declare: Kotlin, Scala and PHP.

use super::{EQUALS_MAX, Found, Linker, Target};
use indexd_model::facts::ImportKind;
use indexd_model::path::{ancestors, dir_of, join};
use indexd_model::roles::is_foreign_data;
use indexd_model::{DefIdx, DefRef, FactsView, Key, Role, Rule};

impl Linker<'_> {
    /// What a name is in a package: every file that declares the package is asked.
    fn packaged(&self, group: &str, package: &str, name: &str, role: Role) -> Option<Found> {
        if group == "php" && self.is_needed(package) {
            return None;
        }
        let files = self.recorder.find(Key::member(&format!("{group}:{package}"), name));
        let mut all: Vec<DefRef> = Vec::new();
        let mut n_files = 0;
        for &file in files.iter() {
            let facts = self.facts_of(file);
            let is_data = is_foreign_data(&self.recorder.path(file), self.path);
            if is_data || facts.interface.package.map_or("", |p| facts.str(p)) != package {
                continue;
            }
            let is_it = |d: &DefIdx| {
                let def = facts.def(*d);
                let is_here = def.parent == DefIdx::NONE && def.receiver.is_none();
                is_here && super::is_named_alone(def, role)
            };
            let defs = self.named(file, name).into_iter().filter(is_it).collect();
            if let Some(Found { target: Target::Defs(defs), .. }) = self.best(file, defs, role, Rule::Import)
            {
                n_files += 1;
                all.extend(defs);
            }
        }
        if n_files > 1 {
            self.keep_nearest(&mut all);
        }
        if n_files > 1 && all.len() > EQUALS_MAX {
            return None;
        }
        (!all.is_empty()).then(|| Found::new(Target::Defs(all), Rule::Import))
    }

    /// Whether a namespace is that of a vendor whose packages the manifests around depend on, and not of the
    /// project itself.
    fn is_needed(&self, namespace: &str) -> bool {
        let own = self.own_package();
        let vendor = namespace.split('\\').next().unwrap_or("").to_ascii_lowercase();
        let of_vendor = |name: &str| name.split_once('/').is_some_and(|(v, _)| v.replace('-', "") == vendor);
        let manifests =
            ancestors(dir_of(self.path)).filter_map(|d| self.recorder.file(&join(d, "composer.json")));
        let mut is_needed = false;
        for manifest in manifests.filter(|_| !vendor.is_empty() && own != namespace) {
            let facts = self.facts_of(manifest);
            if facts.interface.package.is_some_and(|p| of_vendor(facts.str(p))) {
                return false;
            }
            let needs =
                facts.interface.imports.iter().filter_map(|i| facts.str(i.name?).strip_prefix("needs:"));
            is_needed |= needs.into_iter().any(of_vendor);
        }
        is_needed
    }

    fn own_package(&self) -> &str {
        self.facts.interface.package.map_or("", |p| self.facts.str(p))
    }

    /// Of definitions in several projects, keeps those of the nearest.
    fn keep_nearest(&self, all: &mut Vec<DefRef>) {
        let is_type = |d: &DefRef| self.facts_of(d.file).def(d.def).kind.is_type();
        let paths: Vec<&str> = all.iter().map(|d| self.loaded.path(self.loaded.open(d.file))).collect();
        let kept = crate::projects::nearest(self.recorder, self.path, &paths, all.iter().all(is_type));
        let mut kept = kept.into_iter();
        all.retain(|_| kept.next().unwrap_or(true));
    }

    /// `a.b.C`, `a.b.C.member` or the package `a.b` of an import.
    pub(super) fn by_full_name(&self, group: &str, joint: &str, path: &str, role: Role) -> Found {
        let mut end = path.len();
        while let Some(cut) = path[..end].rfind(joint) {
            let (package, name) = (&path[..cut], &path[cut + joint.len()..end]);
            if let Some(mut found) =
                self.packaged(group, package, name, if end < path.len() { Role::Type } else { role })
            {
                for member in path[end..].split(joint).filter(|m| !m.is_empty()) {
                    let Target::Defs(defs) = &found.target else { break };
                    found = self.member(defs, member, role, Rule::Import);
                }
                return found;
            }
            end = cut;
        }
        Found::new(Target::Package(path.to_owned()), Rule::Import)
    }

    /// A name of the same package, of packages that are imported whole, or the first part of a package's name.
    pub(super) fn in_packages(&self, group: &str, joint: &str, name: &str, role: Role) -> Found {
        let own = self.own_package();
        if let Some(found) = self.packaged(group, own, name, role) {
            return found;
        }
        if let Some(inner) = name.strip_prefix('\\') {
            return self.by_full_name(group, joint, inner, role);
        }
        for import in self.facts.interface.imports.iter().filter(|i| i.kind == ImportKind::All) {
            let opened = self.facts.str(import.module);
            if let Some(found) = self.packaged(group, opened, name, role) {
                return found;
            }
            if let Target::Defs(defs) = self.by_full_name(group, joint, opened, Role::Type).target {
                let found = self.member(&defs, name, role, Rule::Import);
                if matches!(found.target, Target::Defs(_)) {
                    return found;
                }
            }
        }
        if group == "php" && !own.is_empty() && role == Role::Call {
            return self.packaged(group, "", name, role).unwrap_or(Found::nothing());
        }
        let is_package = group == "jvm" && name.starts_with(char::is_lowercase) && role == Role::Read;
        if is_package { Found::new(Target::Package(name.to_owned()), Rule::Import) } else { Found::nothing() }
    }

    /// A name behind the name of a package.
    pub(super) fn in_package(&self, package: &str, name: &str, role: Role) -> Found {
        if name.starts_with(char::is_uppercase) {
            return self
                .packaged("jvm", package, name, role)
                .unwrap_or(Found::new(Target::Value, Rule::Scope));
        }
        match role {
            Role::Read => Found::new(Target::Package(format!("{package}.{name}")), Rule::Import),
            _ => Found::new(Target::Value, Rule::Scope),
        }
    }
}
