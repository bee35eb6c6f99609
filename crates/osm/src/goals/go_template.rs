//! Recognises Go templates, which the upstream tool uses, and says how to write them for `MiniJinja`.

use super::front_matter::Mistake;

/// The first Go template in a text.
pub(super) fn find(text: &str) -> Option<Mistake> {
    let mut offset = 0;
    while let Some(open) = text.get(offset..)?.find("{{") {
        let begin = offset + open;
        let inner = text.get(begin + 2..)?;
        let close = inner.find("}}")?;
        let inner = inner.get(..close)?;
        if let Some(here) = translated(inner) {
            let line = 1 + text.get(..begin)?.matches('\n').count();
            let reason = format!("`{{{{{inner}}}}}` is Go template syntax; write {here}");
            return Some(Mistake::new(line, reason));
        }
        offset = begin + 2 + close + 2;
    }
    None
}

/// The `MiniJinja` form of the text between braces, if it is Go's.
fn translated(inner: &str) -> Option<String> {
    let said = inner.trim_start_matches('-').trim_end_matches('-').trim();
    let word = said.split_whitespace().next()?;
    let rest = said.get(word.len()..)?.trim();
    let is_field = |word: &str| word.starts_with(['.', '$']) && !word.starts_with("..");
    Some(match word {
        "if" => format!("`{{% if {} %}}`", condition(rest)),
        "else" if rest.is_empty() => "`{% else %}`".into(),
        "else" => {
            format!("`{{% elif {} %}}`", condition(rest.strip_prefix("if").unwrap_or(rest).trim()))
        }
        "end" if rest.is_empty() => "`{% endif %}` or `{% endfor %}`".into(),
        "range" => format!("`{{% for item in {} %}}`", fields(rest)),
        "with" => format!("`{{% with it = {} %}}`", fields(rest)),
        "define" | "template" | "block" | "printf" | "index" if !rest.is_empty() => {
            "it in MiniJinja: see docs/goals.md".into()
        }
        word if word.starts_with("/*") => "`{# a comment #}`".into(),
        word if is_field(word) => format!("`{{{{ {} }}}}`", fields(said)),
        _ => return None,
    })
}

/// `eq .a "b"` as `a == "b"`; anything else without its dots.
fn condition(said: &str) -> String {
    let operators =
        [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];
    let mut words = said.splitn(3, ' ');
    if let (Some(word), Some(left), Some(right)) = (words.next(), words.next(), words.next()) {
        if let Some((_, operator)) = operators.iter().find(|(name, _)| *name == word) {
            return format!("{} {operator} {}", fields(left), fields(right));
        }
        if matches!(word, "and" | "or") {
            return format!("{} {word} {}", fields(left), fields(right));
        }
    }
    fields(said)
}

/// Names without the dot or dollar in front of them.
fn fields(said: &str) -> String {
    let name = |word: &str| {
        let bare = word.trim_start_matches('$').trim_start_matches('.');
        if bare.is_empty() { "it".to_owned() } else { bare.to_owned() }
    };
    let plain =
        |word: &str| if word.starts_with(['.', '$']) { name(word) } else { word.to_owned() };
    said.split(' ').map(plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_templates_are_translated() {
        for (text, expected) in [
            ("{{.description | upper}}", "`{{ description | upper }}`"),
            ("{{- .stateKeys.type -}}", "`{{ stateKeys.type }}`"),
            ("{{if .a}}", "`{% if a %}`"),
            ("{{ if ne .a \"b c\" }}", "`{% if a != \"b c\" %}`"),
            ("{{if and .a .b}}", "`{% if a and b %}`"),
            ("{{else if eq .a .b}}", "`{% elif a == b %}`"),
            ("{{else}}", "`{% else %}`"),
            ("{{end}}", "`{% endif %}` or `{% endfor %}`"),
            ("{{range $.items}}", "`{% for item in items %}`"),
            ("{{.}}", "`{{ it }}`"),
            ("{{- /* a */ -}}", "`{# a comment #}`"),
            ("{{printf \"%s\" .x}}", "it in MiniJinja: see docs/goals.md"),
        ] {
            let mistake = find(&format!("one\ntwo {{{{ fine }}}} {text}")).unwrap();
            assert_eq!(mistake.line, 2);
            assert_eq!(mistake.reason, format!("`{text}` is Go template syntax; write {expected}"));
        }
        for text in
            ["{{ x }}", "{{ end_of }}", "{{ 'a.b' }}", "{{", "{{ end | upper }}", "{%if .a%}"]
        {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
