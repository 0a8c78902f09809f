//! The linker's specification: `fixtures/*.txt` are small trees.

#[test]
fn fixtures() {
    crate::trees::check("cfamily/fixtures", 9);
}

#[test]
fn a_file_that_looked_up_no_changed_key_keeps_its_links() {
    crate::edits::check("cfamily/fixtures");
}
