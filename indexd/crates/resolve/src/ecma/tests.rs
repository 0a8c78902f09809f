//! The linker's specification: `fixtures/*.txt` are small trees.

#[test]
fn fixtures() {
    crate::trees::check("ecma/fixtures", 4);
}
