//! The linker's specification: `fixtures/*.txt` are small trees, one for each language.

#[test]
fn fixtures() {
    crate::trees::check("paths/fixtures", 8);
}
