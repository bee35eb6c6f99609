//! The word after a fence, by the name of a file.

/// The word for everything else. There is always one, so that `no-eol` is never the first.
const OTHER: &str = "text";

/// Names that tell more than their ending.
const NAMES: &[(&str, &str)] = &[
    ("CMakeLists.txt", "cmake"),
    ("Containerfile", "dockerfile"),
    ("Dockerfile", "dockerfile"),
    ("GNUmakefile", "makefile"),
    ("Gemfile", "ruby"),
    ("Jenkinsfile", "groovy"),
    ("Justfile", "just"),
    ("Makefile", "makefile"),
    ("Rakefile", "ruby"),
    ("go.mod", "go-mod"),
    ("justfile", "just"),
    ("makefile", "makefile"),
];

/// Endings, in lower case.
const ENDINGS: &[(&str, &str)] = &[
    ("astro", "astro"),
    ("awk", "awk"),
    ("bash", "bash"),
    ("bat", "bat"),
    ("bzl", "starlark"),
    ("c", "c"),
    ("cc", "cpp"),
    ("cfg", "ini"),
    ("cjs", "javascript"),
    ("clj", "clojure"),
    ("cljs", "clojure"),
    ("cmake", "cmake"),
    ("cpp", "cpp"),
    ("cs", "csharp"),
    ("css", "css"),
    ("csv", "csv"),
    ("cxx", "cpp"),
    ("dart", "dart"),
    ("diff", "diff"),
    ("el", "elisp"),
    ("erl", "erlang"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("fish", "fish"),
    ("fs", "fsharp"),
    ("go", "go"),
    ("gradle", "groovy"),
    ("graphql", "graphql"),
    ("groovy", "groovy"),
    ("h", "c"),
    ("hcl", "hcl"),
    ("hh", "cpp"),
    ("hpp", "cpp"),
    ("hs", "haskell"),
    ("htm", "html"),
    ("html", "html"),
    ("ini", "ini"),
    ("java", "java"),
    ("jl", "julia"),
    ("js", "javascript"),
    ("json", "json"),
    ("jsonc", "jsonc"),
    ("jsonl", "jsonl"),
    ("jsx", "jsx"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("less", "less"),
    ("lua", "lua"),
    ("m", "objectivec"),
    ("markdown", "markdown"),
    ("md", "markdown"),
    ("mdx", "mdx"),
    ("mjs", "javascript"),
    ("mk", "makefile"),
    ("ml", "ocaml"),
    ("mli", "ocaml"),
    ("mm", "objectivec"),
    ("nim", "nim"),
    ("nix", "nix"),
    ("patch", "diff"),
    ("php", "php"),
    ("pl", "perl"),
    ("pm", "perl"),
    ("proto", "protobuf"),
    ("ps1", "powershell"),
    ("py", "python"),
    ("pyi", "python"),
    ("r", "r"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("rst", "rst"),
    ("s", "asm"),
    ("sass", "sass"),
    ("scala", "scala"),
    ("scss", "scss"),
    ("sh", "sh"),
    ("sol", "solidity"),
    ("sql", "sql"),
    ("svelte", "svelte"),
    ("svg", "xml"),
    ("swift", "swift"),
    ("tex", "latex"),
    ("tf", "hcl"),
    ("toml", "toml"),
    ("ts", "typescript"),
    ("tsx", "tsx"),
    ("vb", "vb"),
    ("vim", "vim"),
    ("vue", "vue"),
    ("xml", "xml"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("zig", "zig"),
    ("zsh", "zsh"),
];

/// The language of a file.
pub(crate) fn of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let known = |table: &[(&str, &'static str)], key: &str| {
        table.binary_search_by(|(word, _)| (*word).cmp(key)).ok().map(|at| table[at].1)
    };
    let by_ending = || known(ENDINGS, &name.rsplit_once('.')?.1.to_ascii_lowercase());
    known(NAMES, name).or_else(by_ending).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_endings_and_a_word_for_everything() {
        for (path, language) in [
            ("src/a.rs", "rust"),
            ("A.RS", "rust"),
            ("CMakeLists.txt", "cmake"),
            ("a/Makefile", "makefile"),
            ("a.txt", "text"),
            ("LICENSE", "text"),
            ("a.b/c", "text"),
            ("", "text"),
        ] {
            assert_eq!(of(path), language, "{path}");
        }
    }

    #[test]
    fn the_tables_can_be_searched_and_hold_words() {
        for table in [NAMES, ENDINGS] {
            assert!(table.is_sorted_by(|one, next| one.0 < next.0));
            let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(table.iter().all(|row| row.1.chars().all(word) && row.1 != "no-eol"));
        }
    }
}
