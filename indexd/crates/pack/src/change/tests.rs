use super::*;

/// A version without chunks of its own: definitions are given as `name first-last`, one a line.
fn version(text: &str, defs: &[(&str, u32, u32)]) -> Version {
    use indexd_model::facts::{Arena, Chunk, ChunkKind, Def, ExprId, StrId};
    use indexd_model::{Interface, Outcome};
    let lines = LineIndex::new(text);
    let mut interface = Interface::empty(Language::Go, Outcome::Parsed, FileRoles::default());
    let mut chunks = Vec::new();
    for (i, &(name, first, last)) in defs.iter().enumerate() {
        interface.arena.strings.push(name.to_owned());
        let span = Span { start: lines.start(first), end: lines.start(last + 1) };
        let head = lines.span(first);
        interface.defs.push(Def {
            name: StrId(i as u32),
            kind: DefKind::Function,
            flags: DefFlags::default(),
            parent: DefIdx::NONE,
            receiver: None,
            ordinal: 0,
            name_span: Span { start: head.start, end: head.start },
            span,
            head,
            doc: Span::default(),
            ty: ExprId::NONE,
            value: ExprId::NONE,
            value_index: 0,
            params: Vec::new(),
            results: Vec::new(),
            returns: Vec::new(),
            bases: Vec::new(),
            decorators: Vec::new(),
            type_params: Vec::new(),
        });
        let lines = Lines { start: first, end: last };
        let (def, kind) = (DefIdx(i as u32), ChunkKind::Definition);
        chunks.push(Chunk { span, lines, def, kind, part: 0, n_parts: 1 });
    }
    let facts = FileFacts { interface, body: Arena::default(), chunks };
    Version { text: Arc::from(text), lines, facts }
}

fn change(before: Option<Version>, after: Option<Version>, hunks: &[(u32, u32, u32, u32)]) -> Change {
    let hunks = hunks.iter().map(|&(before, removed, after, added)| Run { before, removed, after, added });
    let file = ChangedFile {
        path: "a.go".to_owned(),
        previous_path: None,
        before,
        after,
        hunks: hunks.collect(),
        is_indexed: true,
        unreadable: None,
    };
    Change { files: vec![file], ..Change::default() }
}

/// Each part as `name status contract +added -removed`.
fn check(change: &Change, expect: &[&str]) {
    let said: Vec<String> = segments(change)
        .iter()
        .map(|s| {
            let part = &s.report;
            let contract = if part.contract { " contract" } else { "" };
            let was = part.previous_name.as_ref().map_or(String::new(), |p| format!(" was {p}"));
            format!("{} {}{was}{contract} +{} -{}", part.name, part.status.name(), part.added, part.removed)
        })
        .collect();
    assert_eq!(said, expect);
}

const BEFORE: &str = "import x\n\nf(a)\n  one\n  two\n\ng()\n  three\n  four\n";

#[test]
fn lines_go_to_the_definitions_they_belong_to() {
    let before = || Some(version(BEFORE, &[("f", 3, 5), ("g", 7, 9)]));
    // A body, a signature, and lines between definitions.
    let body = BEFORE.replace("two", "TWO");
    let after = version(&body, &[("f", 3, 5), ("g", 7, 9)]);
    check(&change(before(), Some(after), &[(4, 1, 4, 1)]), &["f modified +1 -1"]);
    let head = BEFORE.replace("f(a)", "f(a, b)");
    let after = version(&head, &[("f", 3, 5), ("g", 7, 9)]);
    check(&change(before(), Some(after), &[(2, 1, 2, 1)]), &["f modified contract +1 -1"]);
    let import = BEFORE.replace("import x", "import y");
    let after = version(&import, &[("f", 3, 5), ("g", 7, 9)]);
    check(&change(before(), Some(after), &[(0, 1, 0, 1)]), &[" modified +1 -1"]);
    // One goes, one comes.
    let other = "import x\n\nf(a)\n  one\n  two\n\nh(b)\n  five\n  six six six six\n";
    let after = version(other, &[("f", 3, 5), ("h", 7, 9)]);
    check(&change(before(), Some(after), &[(6, 3, 6, 3)]), &["g removed contract +0 -3", "h added +3 -0"]);
    // The blank line between two definitions changes nothing.
    let blank = BEFORE.replace("two\n\n", "two\n\n\n");
    let after = version(&blank, &[("f", 3, 5), ("g", 8, 10)]);
    check(&change(before(), Some(after), &[(6, 0, 6, 1)]), &[]);
}

#[test]
fn files_come_and_go_whole() {
    let all = || Some(version(BEFORE, &[("f", 3, 5), ("g", 7, 9)]));
    check(&change(None, all(), &[(0, 0, 0, 9)]), &[" added +3 -0", "f added +3 -0", "g added +3 -0"]);
    check(
        &change(all(), None, &[(0, 9, 0, 0)]),
        &[" removed +0 -3", "f removed contract +0 -3", "g removed contract +0 -3"],
    );
}

#[test]
fn another_name_is_known_by_the_body() {
    let before = version("f()\n  a long enough body here\n  and another line\n", &[("f", 1, 3)]);
    let after = version("better()\n  a long enough body here\n  and another line\n", &[("better", 1, 3)]);
    check(&change(Some(before), Some(after), &[(0, 1, 0, 1)]), &["better renamed was f contract +1 -1"]);
}

#[test]
fn a_part_prints_as_its_own_diff() {
    let after = BEFORE.replace("two", "TWO").replace("four", "FOUR");
    let after = version(&after, &[("f", 3, 5), ("g", 7, 9)]);
    let before = version(BEFORE, &[("f", 3, 5), ("g", 7, 9)]);
    let change = change(Some(before), Some(after), &[(4, 1, 4, 1), (8, 1, 8, 1)]);
    let parts = segments(&change);
    let lines = |l: &[(u32, u32)]| l.iter().map(|&(start, end)| Lines { start, end }).collect::<Vec<_>>();
    for (i, around, max, expect, shown) in [
        (0, 9, 99, "@@ -3,3 +3,3 @@ f\n f(a)\n   one\n-  two\n+  TWO\n", &[(3, 5)][..]),
        (0, 0, 99, "@@ -5 +5 @@ f: f(a)\n-  two\n+  TWO\n", &[(5, 5)]),
        (1, 1, 99, "@@ -8,2 +8,2 @@ g: g()\n   three\n-  four\n+  FOUR\n", &[(8, 9)]),
        (1, 1, 2, "@@ -8,2 +8 @@ g: g()\n   three\n-  four\n\\ more lines: 1\n", &[(8, 8)]),
    ] {
        assert_eq!(parts[i].diff(&change, around, max), (expect.to_owned(), lines(shown)), "{i} {around}");
    }
}

/// Lines that stay when the definition around them goes belong to another part: the hunks of both tell where.
#[test]
fn a_hunk_ends_where_lines_belong_to_another_part() {
    let before = version("f()\n  one\n  two\n  three\n", &[("f", 1, 4)]);
    let after = version("  one\n  ONE\n  three\n", &[]);
    let change = change(Some(before), Some(after), &[(0, 1, 0, 0), (2, 1, 1, 1)]);
    let diffs: Vec<String> = segments(&change).iter().map(|part| part.diff(&change, 9, 99).0).collect();
    assert!(diffs.contains(&"@@ -2 +1,2 @@\n   one\n+  ONE\n".to_owned()), "{diffs:#?}");
}

/// A hunk with lines of one side names the line of the other side before it, as in git.
#[test]
fn a_hunk_of_one_side_stands_behind_a_line_of_the_other() {
    let defs = [("f", 3, 5), ("g", 7, 9)];
    let more = format!("{BEFORE}h(c)\n  seven\n");
    let longer = || version(&more, &[defs[0], defs[1], ("h", 10, 11)]);
    let added = change(Some(version(BEFORE, &defs)), Some(longer()), &[(9, 0, 9, 2)]);
    assert_eq!(segments(&added)[0].diff(&added, 0, 99).0, "@@ -9,0 +10,2 @@ h\n+h(c)\n+  seven\n");
    let removed = change(Some(longer()), Some(version(BEFORE, &defs)), &[(9, 2, 9, 0)]);
    assert_eq!(segments(&removed)[0].diff(&removed, 0, 99).0, "@@ -10,2 +9,0 @@ h\n-h(c)\n-  seven\n");
}
