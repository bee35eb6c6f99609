//! Links in the documentation: every file and every heading that a page refers to exists.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages, by their paths from the root.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["", "docs/", "docs/benchmarks/"] {
        let mut names: Vec<String> = std::fs::read_dir(root().join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| Path::new(name).extension().is_some_and(|it| it == "md"))
            .map(|name| format!("{folder}{name}"))
            .collect();
        names.sort();
        pages.extend(names);
    }
    pages
}

/// The lines outside blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of a page's links. What stands in backticks is no link.
fn links(text: &str) -> Vec<String> {
    let without_code = |line: &str| line.split('`').step_by(2).collect::<String>();
    let target = |rest: &str| rest.split_once(')').map(|(link, _)| link.to_owned());
    prose(text)
        .map(without_code)
        .flat_map(|line| line.split("](").skip(1).filter_map(target).collect::<Vec<_>>())
        .collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|it| !anchors.contains(it));
        anchors.extend(free);
    }
    anchors
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut problems = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = match path {
                "" => root().join(&page),
                path => root().join(&page).parent().unwrap().join(path),
            };
            let is_there = file.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&file).unwrap()).contains(anchor));
            if !is_there {
                problems.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(problems.is_empty(), "links that lead nowhere: {problems:#?}");
}

#[test]
fn every_page_is_linked_once_from_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let links = links(&readme);
    for page in pages().into_iter().filter(|page| page != "README.md") {
        let count = links.iter().filter(|link| **link == page).count();
        assert_eq!(count, 1, "README.md links {page} {count} times, not once");
    }
}

#[test]
fn every_variable_is_in_the_documentation() {
    let page = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for (name, _) in osm::VARIABLES.iter().chain(osm_identity::VARIABLES) {
        assert!(page.contains(&format!("| `{name}` |")), "docs/configuration.md lacks {name}");
    }
}

#[test]
fn anchors_are_those_of_github() {
    let page = "# A `code`: it\n## More (of it)\n```\n# no heading\n```\n## More (of it)\n";
    let expected = ["a-code-it", "more-of-it", "more-of-it-1"].map(str::to_owned);
    assert_eq!(anchors(page), expected.into());
    assert_eq!(links("[`a`](b.md#c), `[x](y)` and ![d](e.svg)"), ["b.md#c", "e.svg"]);
}
