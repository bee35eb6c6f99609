//! Refuses expressions that the template engine cannot parse without overflowing the stack.
//!
//! The engine limits the depth of brackets and blocks, but not the length of a chain: `not not …`,
//! `a.b.c…`, `a|f|f…` and `1+1+…` make one level of its recursion for each part. So the words and signs
//! of a chain are counted before the engine sees the template.

/// The most words and signs in a chain: about fifty operators.
const LONGEST: usize = 200;

/// The line of the first expression that is too long.
#[must_use]
pub fn too_deep(template: &str) -> Option<usize> {
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let (end, is_code) = match rest.as_bytes().get(1) {
            Some(b'{') => ("}}", true),
            Some(b'%') => ("%}", true),
            Some(b'#') => ("#}", false),
            _ => {
                rest = &rest[1..];
                continue;
            }
        };
        let before = &template[..template.len() - rest.len()];
        if is_code {
            match tag(&rest[2..], end) {
                Some(length) => rest = &rest[2 + length..],
                None => return Some(before.matches('\n').count() + 1),
            }
        } else {
            let length = rest.find(end).map_or(rest.len(), |at| at + end.len());
            rest = &rest[length..];
        }
    }
    None
}

/// The length of a tag with its end; `None` if a chain in it is too long.
fn tag(text: &str, end: &str) -> Option<usize> {
    // One count for each bracket that is open: a comma begins another chain at the same level.
    let mut counts = vec![0_usize];
    let mut places = text.char_indices().peekable();
    while let Some((at, sign)) = places.next() {
        if text[at..].starts_with(end) && counts.len() == 1 {
            return Some(at + end.len());
        }
        match sign {
            ' ' | '\t' | '\r' | '\n' => continue,
            ',' => {
                counts.pop();
                counts.push(0);
                continue;
            }
            '(' | '[' | '{' => counts.push(0),
            ')' | ']' | '}' if counts.len() > 1 => drop(counts.pop()),
            '"' | '\'' => {
                let mut is_escaped = false;
                for (_, inner) in places.by_ref() {
                    if inner == sign && !is_escaped {
                        break;
                    }
                    is_escaped = inner == '\\' && !is_escaped;
                }
            }
            _ if is_word(sign) => while places.next_if(|(_, next)| is_word(*next)).is_some() {},
            _ => {}
        }
        let count = counts.last_mut()?;
        *count += 1;
        if *count > LONGEST {
            return None;
        }
    }
    Some(text.len())
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_have_an_end() {
        for (start, part, end) in [
            ("{{ ", "not ", "x }}"),
            ("{{ ", "-", "1 }}"),
            ("{{ a", ".b", " }}"),
            ("{{ a", "|upper", " }}"),
            ("{{ a", "|replace('x', 'y')", " }}"),
            ("{{ a", "[0]", " }}"),
            ("{{ 1", "+1", " }}"),
            ("{% if a", " and a", " %}{% endif %}"),
            ("{{ ", "1 if a else ", "1 }}"),
            ("{{ f(g([", "not ", "x])) }}"),
            ("{{ '}}' ", "~ x ", "}}"),
        ] {
            let text = |count: usize| format!("one\n{start}{}{end}\n", part.repeat(count));
            assert_eq!(too_deep(&text(20)), None, "{part}");
            assert_eq!(too_deep(&text(1_000)), Some(2), "{part}");
        }
    }

    #[test]
    fn long_is_not_deep() {
        let list = vec!["'a b'"; 5_000].join(", ");
        for text in [
            format!("{{% set all = [{list}] %}}"),
            "{{ a }} {{ b|upper }}\n".repeat(5_000),
            "{# not not not #}".repeat(1_000),
            "plain { text } ".repeat(5_000),
            format!("{{# {} #}}", "- ".repeat(5_000)),
            "{{ 'never closed".to_owned(),
            "{".repeat(1_000),
            "{{".to_owned(),
        ] {
            assert_eq!(too_deep(&text), None, "{}", &text[..text.len().min(40)]);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_looked_through(text in r#"([{}%#"'|.,+()\[\]\\ aé\n-]|\{\{|\}\}|\{%|%\}){0,300}"#) {
            let _line = too_deep(&text);
        }
    }
}
