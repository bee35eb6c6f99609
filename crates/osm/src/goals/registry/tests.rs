use std::fs;

use tempfile::TempDir;

use super::*;

const PLAIN: &str = "---\ndescription: A goal\n---\nDo it.\n";
const CODE: &str = r#"{"name": "deploy", "description": "d", "promptInstructions": "p",
    "commands": [{"name": "go", "handler": "function () {}"}]}"#;

/// A home, a repository, and a folder in it.
struct World {
    _all: TempDir,
    paths: SearchPaths,
    tree: PathBuf,
}

impl World {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(all.path()).unwrap();
        let tree = root.join("tree");
        fs::create_dir_all(tree.join(".git/objects")).unwrap();
        fs::create_dir_all(tree.join(".git/refs")).unwrap();
        fs::write(tree.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(tree.join("a/b")).unwrap();
        let paths = SearchPaths {
            home: Some(root.join("home")),
            configured: vec![root.join("shared")],
            folder: Some(tree.join("a/b")),
        };
        Self { _all: all, paths, tree }
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.tree.parent().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn registry(&self) -> Registry {
        Registry::read(&self.paths, &Trust::default())
    }

    /// How those of files are called, and what is wrong.
    fn found(&self) -> (Vec<String>, Vec<String>) {
        let registry = self.registry();
        let own = registry.entries.iter().filter(|it| it.file.is_some());
        let hidden = |it: &Entry| if it.hidden { " (hidden)" } else { "" };
        let calls = own.map(|it| format!("{}{}", it.call, hidden(it))).collect();
        let root = self.tree.parent().unwrap().display().to_string();
        let problems =
            registry.problems.iter().map(|it| it.to_string().replace(&root, "")).collect();
        (calls, problems)
    }
}

#[test]
fn goals_are_found_everywhere() {
    let world = World::new();
    world.file("home/goals/one.prompt.md", PLAIN);
    world.file("home/goals/deep/two.prompt.md", PLAIN);
    world.file("home/goals/.hidden/no.prompt.md", PLAIN);
    world.file("home/goals/README.md", "no goal");
    world.file("shared/three.prompt.md", PLAIN);
    world.file("tree/a/b/osm-goals/four.prompt.md", PLAIN);
    world.file("tree/a/.osm/goals/five.prompt.md", PLAIN);
    world.file("tree/.github/prompts/sub/six.prompt.md", "no front matter, {{.Go}}");
    world.file("tree/.github/prompts/seven.json", "not looked at");
    world.file("osm-goals/outside.prompt.md", PLAIN);
    let (calls, problems) = world.found();
    assert_eq!(calls, ["two", "one", "three", "four", "five", "six"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn precedence() {
    let world = World::new();
    world.file("home/goals/bug-buster.prompt.md", PLAIN);
    world.file("tree/osm-goals/commit-message.prompt.md", PLAIN);
    world.file("tree/osm-goals/bug-buster.prompt.md", PLAIN);
    world.file("tree/osm-goals/mine.prompt.md", PLAIN);
    world.file("tree/a/osm-goals/mine.prompt.md", "---\ndescription: nearer\n---\nDo it.\n");
    let (calls, _) = world.found();
    assert_eq!(
        calls,
        ["bug-buster", "mine", "bug-buster@tree", "commit-message@tree", "mine@tree (hidden)"]
    );
    let registry = world.registry();
    let origin = |call: &str| registry.find(call).map(|it| it.origin).map_err(|it| it.hint());
    assert_eq!(origin("commit-message"), Ok(Origin::BuiltIn), "a clone replaces nothing");
    assert_eq!(origin("commit-message@tree"), Ok(Origin::Tree));
    assert_eq!(origin("bug-buster"), Ok(Origin::User));
    assert_eq!(origin("bug-buster@builtin"), Ok(Origin::BuiltIn));
    assert_eq!(registry.find("mine").unwrap().goal.description, "nearer");
    assert_eq!(origin("comit-message"), Err("did you mean commit-message?".into()));
    assert_eq!(origin("commit-message@config"), Err("see `osm goal list`".into()));
    assert!(origin("mine@git").unwrap_err().contains("builtin, user, config or tree"));
    assert_eq!(registry.find("commit-message@tree").unwrap().open().name, "commit-message@tree");
}

#[test]
fn a_configured_folder_in_the_tree_is_part_of_the_tree() {
    let mut world = World::new();
    world.file("tree/ours/commit-message.prompt.md", PLAIN);
    world.file("tree/ours/deploy.json", CODE);
    world.paths.configured = vec![world.tree.join("ours")];
    assert_eq!(world.found().0, ["commit-message@tree", "deploy"]);
    assert!(world.registry().find("deploy").unwrap().is_blocked());
}

#[test]
fn code_of_the_tree_needs_trust() {
    let world = World::new();
    let file = world.file("tree/osm-goals/deploy.json", CODE);
    world.file("home/goals/own.json", &CODE.replace("deploy", "own"));
    let registry = world.registry();
    assert!(!registry.find("own").unwrap().is_blocked(), "it is the user's");
    assert!(registry.find("deploy").unwrap().is_blocked());
    let record = crate::trust::Record {
        path: file.clone(),
        sha256: crate::trust::digest(CODE.as_bytes()),
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    let trust = Trust { records: vec![record] };
    let blocked = || Registry::read(&world.paths, &trust).find("deploy").unwrap().verdict;
    assert_eq!(blocked(), Some(Verdict::Trusted));
    fs::write(&file, CODE.replace("go", "gone")).unwrap();
    assert_eq!(blocked(), Some(Verdict::Changed));
}

#[test]
fn a_bad_file_is_one_problem() {
    let world = World::new();
    world.file("home/goals/a.json", "{");
    world.file("home/goals/b.json", &CODE.replace("deploy", "../x"));
    world.file("home/goals/c.prompt.md", "---\nname: c\n");
    world.file(
        "home/goals/d.json",
        &CODE.replace("\"name\": \"deploy\"", "\"nmae\": 1, \"name\": \"d\""),
    );
    world.file("home/goals/list.prompt.md", PLAIN);
    fs::write(world.file("home/goals/e.json", ""), [0xff, 0xfe]).unwrap();
    fs::write(world.file("home/goals/f.json", ""), vec![b' '; (1 << 20) + 1]).unwrap();
    let (calls, problems) = world.found();
    assert_eq!(calls, ["d"]);
    insta::assert_snapshot!(problems.join("\n"), @r#"
    /home/goals/f.json: larger than 1048576 bytes
    /home/goals/a.json:1: EOF while parsing an object
    /home/goals/b.json:1: invalid name "../x": use at most 64 letters, digits and hyphens, and no hyphen first
    /home/goals/c.prompt.md:1: the front matter has no closing `---`
    /home/goals/d.json: unknown field "nmae"
    /home/goals/e.json: not UTF-8
    /home/goals/list.prompt.md:1: the name `list` is reserved: choose another name
    "#);
}

#[cfg(unix)]
#[test]
fn nothing_leads_out() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    let outside = world.file("elsewhere/x.prompt.md", PLAIN);
    let inside = world.file("tree/osm-goals/y.prompt.md", PLAIN);
    let goals = inside.parent().unwrap();
    symlink(&outside, goals.join("z.prompt.md")).unwrap();
    symlink(outside.parent().unwrap(), goals.join("folder")).unwrap();
    symlink("..", goals.join("up")).unwrap();
    symlink(".", goals.join("loop")).unwrap();
    symlink("nowhere", goals.join("gone.json")).unwrap();
    symlink(outside.parent().unwrap(), world.tree.join("a/osm-goals")).unwrap();
    fs::create_dir(world.tree.join(".osm")).unwrap();
    symlink("/etc", world.tree.join(".osm/goals")).unwrap();
    let (calls, problems) = world.found();
    assert_eq!(calls, ["y"]);
    insta::assert_snapshot!(problems.join("\n"), @"
    /tree/a/osm-goals: ignored: links out of the working tree
    /tree/osm-goals/folder: ignored: links out of its folder
    /tree/osm-goals/gone.json: broken symbolic link
    /tree/osm-goals/up: ignored: links out of its folder
    /tree/osm-goals/z.prompt.md: ignored: links out of its folder
    /tree/.osm/goals: ignored: links out of the working tree
    ");
}

#[test]
fn links_are_followed_when_a_goal_is_opened() {
    let world = World::new();
    world.file("tree/osm-goals/style.md", "Be {{ kind }}.\n");
    let text = "---\ndescription: d\n---\nMind [style](style.md) and [x](../secret).\n";
    world.file("tree/osm-goals/it.prompt.md", text);
    world.file("tree/.github/prompts/plain.prompt.md", "[style](../../osm-goals/style.md)");
    let registry = world.registry();
    let goal = registry.find("it").unwrap().open();
    assert_eq!(goal.data["links"][0], "**style** (`style.md`):\n\n```\nBe {{ kind }}.\n```\n");
    assert!(goal.template.contains("Mind {{ links[0] }} and [x](../secret)."));
    let plain = registry.find("plain").unwrap().open();
    assert_eq!(plain.data["promptInstructions"], "[style](../../osm-goals/style.md)");
}
