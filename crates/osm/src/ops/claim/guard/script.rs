//! The guard as text: a block of its own in a script, so that the rest stays as it is.

use std::ops::Range;

pub(super) const BEGIN: &str = "# >>> osm claim guard >>>";
pub(super) const END: &str = "# <<< osm claim guard <<<";

/// How a hook begins that is ours alone.
const FIRST: &str = "#!/bin/sh\n";

/// How the line begins that calls a hook that was set aside.
const CALL: &str = "if [ -x \"$(dirname";

/// What is added to the name of a hook while ours stands in its place.
pub(super) const ASIDE: &str = "before-osm";

/// What the guard does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// Refuses under a lost claim.
    Check {
        /// It also refuses sessions that hold no claim.
        require: bool,
        /// It also refuses to commit files that another session holds.
        staged: bool,
    },
    /// Releases the automatic claims that a commit contains. The commit is made, so that nothing is refused.
    Release,
}

impl Task {
    /// The command, and what a hook does if it fails.
    fn command(self) -> String {
        let option = |is_on, option| if is_on { option } else { "" };
        match self {
            Self::Check { require, staged } => format!(
                "claim guard check{}{} </dev/null || exit 1",
                option(staged, " --staged"),
                option(require, " --require")
            ),
            Self::Release => "claim guard committed </dev/null >/dev/null".to_owned(),
        }
    }

    /// What is not done without `osm`.
    fn name(self) -> &'static str {
        match self {
            Self::Check { .. } => "check claims",
            Self::Release => "release claims",
        }
    }

    /// The last line of a hook that finds no `osm`.
    fn without_osm(self) -> &'static str {
        match self {
            Self::Check { .. } => "\n    exit 1",
            Self::Release => "",
        }
    }
}

/// What a hook runs.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) task: Task,
    /// Where `osm` is: a program without a terminal may run git with another `PATH`, or none.
    pub(super) program: Option<String>,
}

/// A script with the guard in it.
pub(super) struct Guarded<'a> {
    before: &'a str,
    block: &'a str,
    after: &'a str,
}

/// The guard has no last line, so that it cannot be told from the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Endless;

impl<'a> Guarded<'a> {
    /// The parts of a script, if the guard is in it.
    pub(super) fn read(text: &'a str) -> Result<Option<Self>, Endless> {
        let Some(begin) = line(text, BEGIN) else { return Ok(None) };
        let (before, rest) = text.split_at(begin.start);
        let end = line(rest, END).ok_or(Endless)?;
        let (block, after) = rest.split_at(end.end);
        match line(&block[begin.len()..], BEGIN) {
            Some(_) => Err(Endless),
            None => Ok(Some(Self { before, block, after })),
        }
    }

    /// Nothing but the guard is in it.
    pub(super) fn is_ours_alone(&self) -> bool {
        self.before == FIRST && self.after.is_empty()
    }

    /// It calls a hook that was set aside.
    pub(super) fn calls_aside(&self) -> bool {
        // Nothing else in it begins like this, whatever the path of `osm` contains.
        self.block.lines().any(|line| line.starts_with(CALL) && line.contains(ASIDE))
    }

    /// The script with another guard.
    pub(super) fn with(&self, block: &str) -> String {
        [self.before, block, self.after].concat()
    }

    /// The script without the guard.
    pub(super) fn rest(&self) -> String {
        self.with("")
    }
}

/// The `osm` that the guard of a script runs, if it names one; `None` if the guard is not in the script.
#[expect(clippy::option_option, reason = "a guard may name no program")]
pub(super) fn program(text: &str) -> Option<Option<String>> {
    let guarded = Guarded::read(text).ok()??;
    let named = |line: &str| {
        let (word, _) = line.strip_prefix("if [ -f '")?.split_once("' ] && [ -x '")?;
        Some(word.replace(r"'\''", "'"))
    };
    Some(guarded.block.lines().find_map(named))
}

/// A hook that is ours alone.
pub(super) fn alone(block: &str) -> String {
    format!("{FIRST}{block}")
}

/// A shell script with the guard after its first line; `None` if it is not a shell script, or empty.
pub(super) fn taken_in(text: &str, block: &str) -> Option<String> {
    let (first, rest) = text.split_once('\n')?;
    (is_shell(first) && !rest.is_empty()).then(|| format!("{first}\n{block}{rest}"))
}

/// The guard, as a hook runs it. It reads nothing: what git tells a hook is for the others. It sets
/// no variable either: the rest of the script may have one of that name.
///
/// A hook that was set aside is called as git would call it: only if it may be run.
pub(super) fn block(call: &Call, aside: Option<&str>) -> String {
    let (run, task, end) = (call.task.command(), call.task.name(), call.task.without_osm());
    let (recorded, missing) = match call.program.as_deref().and_then(quoted) {
        Some(path) => (
            format!("if [ -f {path} ] && [ -x {path} ]; then\n    {path} {run}\nel"),
            format!(
                "printf 'osm: error: cannot {task}: %s is gone, and osm is not in PATH\\n' {path} >&2"
            ),
        ),
        None => {
            (String::new(), format!("echo 'osm: error: cannot {task}: osm is not in PATH' >&2"))
        }
    };
    let then = match aside {
        Some(name) => format!(
            "{CALL} \"$0\")/{name}\" ]; then
    \"$(dirname \"$0\")/{name}\" \"$@\" || exit
fi
"
        ),
        None => String::new(),
    };
    format!(
        "{BEGIN}
# `osm claim guard remove` takes this out.
{recorded}if command -v osm >/dev/null 2>&1; then
    osm {run}
else
    {missing}
    echo 'osm: hint: install osm and run: osm claim guard install; or delete this block of the hook' >&2{end}
fi
{then}{END}
"
    )
}

/// A path as a word of the shell. One with control characters is not recorded: it would be shown,
/// and a line of it could look like the end of the guard.
fn quoted(path: &str) -> Option<String> {
    let is_plain = !path.contains(char::is_control);
    is_plain.then(|| word(path))
}

/// A text as one word of the shell.
pub(super) fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Where a line is.
fn line(text: &str, wanted: &str) -> Option<Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').find_map(|line| {
        let range = start..start + line.len();
        start = range.end;
        (line.trim_end() == wanted).then_some(range)
    })
}

fn is_shell(first: &str) -> bool {
    let Some(interpreter) = first.strip_prefix("#!") else { return false };
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = interpreter.split_whitespace().map(name);
    let program = match words.next() {
        Some(word) if word == "env" => words.next(),
        word => word,
    };
    program.is_some_and(|it| ["sh", "bash", "dash", "ksh", "zsh"].contains(&it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(require: bool, program: Option<&str>) -> Call {
        Call { task: Task::Check { require, staged: false }, program: program.map(str::to_owned) }
    }

    #[test]
    fn a_guard_without_its_end_is_not_guessed_at() {
        let guard = block(&call(false, None), None);
        let script = taken_in("#!/bin/sh\necho mine\n", &guard).unwrap();
        let parts = Guarded::read(&script).unwrap().unwrap();
        assert_eq!(parts.rest(), "#!/bin/sh\necho mine\n");
        let endless = script.replace(END, "");
        assert!(Guarded::read(&endless).is_err(), "{endless}");
        let twice = taken_in(&endless, &guard).unwrap();
        let inner = Guarded::read(&twice).unwrap().unwrap().rest();
        assert!(Guarded::read(&inner).is_err(), "{inner}");
        let begun = format!("#!/bin/sh\n{BEGIN}\necho mine\n{guard}");
        assert!(Guarded::read(&begun).is_err(), "{begun}");
    }

    #[test]
    fn the_path_of_osm_is_one_word() {
        let guard = block(&call(true, Some("/it's/before-osm/$(x)/osm")), None);
        assert!(guard.contains(r"'/it'\''s/before-osm/$(x)/osm' claim guard check --require "));
        let script = alone(&guard);
        assert!(!Guarded::read(&script).unwrap().unwrap().calls_aside(), "{script}");
        let hostile = format!("/a\n{END}\nrm -rf /\n/osm");
        assert_eq!(block(&call(true, Some(&hostile)), None), block(&call(true, None), None));
    }

    #[test]
    fn only_a_check_ends_a_hook() {
        for program in [None, Some("/osm")] {
            let release = Call { task: Task::Release, program: program.map(str::to_owned) };
            assert!(!block(&release, None).contains("exit"), "the rest of the hook runs");
            assert!(block(&call(false, program), None).contains("exit 1"));
        }
    }

    #[test]
    fn what_only_speaks_of_the_guard_is_not_guarded() {
        let text = format!("#!/bin/sh\necho '{BEGIN}'\n");
        assert!(Guarded::read(&text).unwrap().is_none());
    }
}
