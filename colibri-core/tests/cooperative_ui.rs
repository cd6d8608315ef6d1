//! What the attribute says about wrong uses, to the letter.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
