//! Texts that a request carries: queries, patches, templates.

#![no_main]

use indexd_pack::change::patch;
use indexd_pack::query::Query;
use indexd_pack::template::Template;
use indexd_pack::tuning::Weights;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: indexd_fuzz::write_seeds(seeds),
    |data: &[u8]| {
        let Some((&which, bytes)) = data.split_first() else { return };
        let text = String::from_utf8_lossy(bytes);
        match which % 4 {
            0 | 1 => query(&text),
            2 => changes(&text),
            _ => {
                let _ = Template::new(&text);
            }
        }
    }
);

fn query(text: &str) {
    let weights = Weights::default();
    let mut query = Query::parse(text, &weights);
    assert!(query.literals.iter().map(String::len).sum::<usize>() <= 4 * text.len());
    query.add_forms(&weights);
    assert!(query.terms.iter().all(|term| !term.term.is_empty()));
}

fn changes(text: &str) {
    for file in patch::parse(text) {
        let _ =
            (file.paths().count(), file.sides(None), file.sides(Some("a\nb\nc\n")), file.sides(Some(text)));
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "\0where are shell completions for flags generated?",
        "\0login fails\n\nIt says: connection reset by peer\n\n```go\nfunc (s *Server) Close() error {\n```\n",
        "\0Traceback (most recent call last):\n  File \"a/b.py\", line 3, in f\n    g()\nValueError: no `x`\n",
        "\0panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n",
        "\0pkg/server.go:120 Server.Close \"a phrase\" logged in",
        "\u{1}--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n",
        "\u{2}diff --git a/x.go b/y.go\nsimilarity index 90%\nrename from x.go\nrename to y.go\n--- a/x.go\n+++ b/y.go\n@@ -1,2 +1,2 @@ func f\n a\n-b\n+c\n\\ No newline at end of file\n",
        "\u{2}diff --git a/p b/p\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/p differ\n",
        "\u{3}{% for item in items %}{{ item.path | fenced }}{% else %}none{% endfor %}",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
