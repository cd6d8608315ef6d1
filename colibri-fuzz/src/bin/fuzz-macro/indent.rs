//! Generated text, for readers.

/// The text with each line indented by the braces around it, for readers.
pub(crate) fn indented(text: &str) -> String {
    let mut depth = 0usize;
    let mut result = String::new();
    for line in text.lines() {
        let line = line.trim();
        let (opening, closing) = braces(line);
        let leading = line.chars().take_while(|&character| matches!(character, '}' | ')')).count();
        let level = depth.saturating_sub(leading.min(closing));
        if !line.is_empty() {
            result.push_str(&"    ".repeat(level));
            result.push_str(line);
        }
        result.push('\n');
        depth = (depth + opening).saturating_sub(closing);
    }
    result
}

/// How many braces and parentheses open and close, outside strings and characters.
fn braces(line: &str) -> (usize, usize) {
    let (mut opening, mut closing, mut in_text) = (0, 0, false);
    let mut characters = line.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '"' if before == '\'' => {}
            '"' => in_text = !in_text,
            '{' | '(' if !in_text => opening += 1,
            '}' | ')' if !in_text => closing += 1,
            _ => {}
        }
        before = character;
    }
    (opening, closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indented_by_their_braces() {
        let text = "fn f() {\nif c == b'\"' {\nnote(\"{\");\n}\n}";
        assert_eq!(indented(text), "fn f() {\n    if c == b'\"' {\n        note(\"{\");\n    }\n}\n");
    }
}
