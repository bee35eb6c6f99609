//! Which commands of Git in a shell line change files of a worktree that they do not name.
//!
//! `git checkout`, `switch`, `reset`, `stash` and `clean` change what all sessions of a worktree have in their
//! files. Only what is certain is refused, so this reads a small part of the shell's language: words, quotes,
//! and what separates commands. Where a word is computed (`$x`, a substitution) or text is run by another
//! shell, the command is *possible*: the model is told, and the command runs.

use std::iter::Peekable;
use std::str::Chars;

/// A command of Git that changes files of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// The command, as `git stash`.
    pub(crate) name: String,
    /// The folders of `-C` and of `cd` before it, each relative to the one before.
    pub(crate) folders: Vec<String>,
    /// It is not certain that it runs, or where.
    pub(crate) possible: bool,
}

/// How many shells in shells are looked into.
const DEEPEST: usize = 3;

/// The commands of a line, in their order.
pub(crate) fn sweeps(line: &str) -> Vec<Sweep> {
    sweeps_at(line, 0)
}

fn sweeps_at(line: &str, depth: usize) -> Vec<Sweep> {
    let mut reader = Reader { rest: line.chars().peekable(), possible: false };
    let (mut found, mut folders, mut is_moved) = (Vec::new(), Vec::new(), false);
    // The folders outside each subshell that is open.
    let mut outer = Vec::new();
    loop {
        let (words, end) = reader.command();
        match read(&words, depth) {
            Command::Cd(Some(folder)) => folders.push(folder),
            // Where it is from here on is not known.
            Command::Cd(None) => is_moved = true,
            Command::Git { mut sweep } => {
                let mut all = folders.clone();
                all.append(&mut sweep.folders);
                sweep.folders = all;
                sweep.possible |= is_moved || reader.possible;
                found.push(sweep);
            }
            Command::Other => {}
        }
        match end {
            End::Line => return found,
            End::Open => outer.push((folders.clone(), is_moved)),
            End::Close => (folders, is_moved) = outer.pop().unwrap_or((folders, is_moved)),
            End::Command => {}
        }
    }
}

/// What a command is.
enum Command {
    Cd(Option<String>),
    Git { sweep: Sweep },
    Other,
}

/// A word: its text, or `None` if the shell computes it.
type Word = Option<String>;

/// Words that may stand before a command.
const BEFORE: [&str; 17] = [
    "!", "{", "if", "then", "else", "elif", "while", "until", "do", "time", "command", "exec",
    "nohup", "nice", "env", "sudo", "builtin",
];

/// Programs that run a text as commands.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "eval", "xargs"];

/// Options of Git before the command that take the next word as their value.
const WITH_VALUE: [&str; 6] =
    ["-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];

fn read(words: &[Word], depth: usize) -> Command {
    let mut words = words.iter().peekable();
    let mut after_prefix = false;
    while let Some(Some(word)) = words.peek() {
        let is_option = after_prefix && word.starts_with('-');
        if BEFORE.contains(&word.as_str()) {
            after_prefix = true;
        } else if !is_assignment(word) && !is_option {
            break;
        }
        words.next();
    }
    let Some(Some(program)) = words.next() else { return Command::Other };
    let program = program.rsplit('/').next().unwrap_or_default();
    let rest: Vec<&Word> = words.collect();
    match program {
        "cd" | "pushd" => match rest.as_slice() {
            [Some(folder)] if !folder.starts_with(['-', '~']) => Command::Cd(Some(folder.clone())),
            _ => Command::Cd(None),
        },
        "popd" => Command::Cd(None),
        "git" => git(&rest).map_or(Command::Other, |sweep| Command::Git { sweep }),
        _ if SHELLS.contains(&program) && depth < DEEPEST => {
            // What such a program runs, and where, is its own affair: the text only shows what may happen.
            let text: Vec<&str> = rest.iter().filter_map(|word| word.as_deref()).collect();
            let is_option = |word: &&&str| word.starts_with('-');
            let text = text.iter().skip_while(is_option).copied().collect::<Vec<_>>().join(" ");
            match sweeps_at(&text, depth + 1).into_iter().next() {
                Some(sweep) => Command::Git { sweep: Sweep { possible: true, ..sweep } },
                None => Command::Other,
            }
        }
        _ => Command::Other,
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// What Git is asked to do, if that changes files which it does not name.
fn git(words: &[&Word]) -> Option<Sweep> {
    let (mut folders, mut possible) = (Vec::new(), false);
    let mut words = words.iter();
    let verb = loop {
        let Some(word) = words.next()? else {
            // An option, or the command itself.
            possible = true;
            continue;
        };
        match word.as_str() {
            "-C" => match words.next()? {
                Some(folder) => folders.push(folder.clone()),
                None => possible = true,
            },
            // Another worktree.
            it if it.starts_with("--git-dir") || it.starts_with("--work-tree") => {
                possible = true;
                if WITH_VALUE.contains(&it) {
                    words.next()?;
                }
            }
            it if WITH_VALUE.contains(&it) => drop(words.next()?),
            it if it.starts_with('-') => {}
            it => break it,
        }
    };
    let all: Vec<&Word> = words.copied().collect();
    possible |= all.iter().any(|it| it.is_none());
    let rest: Vec<&str> = all.iter().filter_map(|it| it.as_deref()).collect();
    let named = names_files(&all);
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    // A short option among others, as in `-fd`.
    let has_letter = |letter: char| {
        rest.iter().any(|it| it.starts_with('-') && !it.starts_with("--") && it.contains(letter))
    };
    let first = rest.iter().find(|it| !it.starts_with('-')).copied();
    let is_sweep = match verb {
        "checkout" => !named,
        "switch" => true,
        "restore" => {
            let only_index = has(&["--staged", "-S"]) && !has(&["--worktree", "-W"]);
            !only_index && rest.iter().any(|it| [".", ":/", "*"].contains(it))
        }
        "reset" => has(&["--hard", "--merge", "--keep"]),
        "stash" => !matches!(first, Some("list" | "show" | "drop" | "clear" | "create" | "store")),
        "clean" => !has(&["--dry-run"]) && !has_letter('n'),
        _ => return None,
    };
    let name = format!("git {verb}");
    is_sweep.then_some(Sweep { name, folders, possible })
}

/// Whether `git checkout` gets files by name, which the hook sees as any other change of a command.
fn names_files(words: &[&Word]) -> bool {
    let mut after = words.iter().skip_while(|word| word.as_deref() != Some("--")).skip(1);
    after.next().is_some() && !words.iter().any(|it| matches!(it.as_deref(), Some("." | ":/")))
}

/// What ends a command.
enum End {
    Command,
    Open,
    Close,
    Line,
}

/// Reads words as a shell does.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// A part of the line was not understood.
    possible: bool,
}

impl Reader<'_> {
    /// The words of the next command.
    fn command(&mut self) -> (Vec<Word>, End) {
        let mut words = Vec::new();
        loop {
            match self.rest.peek().copied() {
                None => return (words, End::Line),
                Some('(') => {
                    self.rest.next();
                    return (words, End::Open);
                }
                Some(')') => {
                    self.rest.next();
                    return (words, End::Close);
                }
                Some(';' | '&' | '|' | '\n') => {
                    self.rest.next();
                    return (words, End::Command);
                }
                Some('<' | '>') => self.redirection(),
                Some('#') => while self.rest.next_if(|it| *it != '\n').is_some() {},
                Some(blank) if blank.is_whitespace() => drop(self.rest.next()),
                // A line end behind a backslash leaves an empty word, and no program takes one for a command.
                Some(_) => words.extend(Some(self.word()).filter(|it| it.as_deref() != Some(""))),
            }
        }
    }

    /// Where output goes is no word of the command. The text of a here-document is not told from commands.
    fn redirection(&mut self) {
        let mut signs = String::new();
        while let Some(sign) = self.rest.next_if(|it| "<>&|".contains(*it)) {
            signs.push(sign);
        }
        self.possible |= signs.starts_with("<<");
        while self.rest.next_if(|it| *it == ' ').is_some() {}
        if self.rest.peek().is_some_and(|it| !";&|()\n".contains(*it)) {
            self.word();
        }
    }

    fn word(&mut self) -> Word {
        let (mut text, mut is_computed) = (String::new(), false);
        while let Some(next) = self.rest.peek().copied() {
            if next.is_whitespace() || ";&|()<>".contains(next) {
                break;
            }
            self.rest.next();
            match next {
                '\'' => self.until('\'', &mut text),
                '"' => is_computed |= self.quoted(&mut text),
                // A line end behind a backslash joins two lines.
                '\\' => text.extend(self.rest.next().filter(|it| *it != '\n')),
                '$' | '`' => {
                    is_computed = true;
                    self.substitution(next);
                }
                other => text.push(other),
            }
        }
        (!is_computed).then_some(text)
    }

    fn until(&mut self, end: char, text: &mut String) {
        for next in self.rest.by_ref() {
            if next == end {
                return;
            }
            text.push(next);
        }
        self.possible = true;
    }

    /// Reads what double quotes contain; whether a part of it is computed.
    fn quoted(&mut self, text: &mut String) -> bool {
        let mut is_computed = false;
        while let Some(next) = self.rest.next() {
            match next {
                '"' => return is_computed,
                '\\' => text.extend(self.rest.next()),
                '$' | '`' => {
                    is_computed = true;
                    self.substitution(next);
                }
                other => text.push(other),
            }
        }
        self.possible = true;
        true
    }

    /// Skips a substitution. What it runs is not read.
    fn substitution(&mut self, sign: char) {
        let mut skipped = String::new();
        if sign == '`' {
            return self.until('`', &mut skipped);
        }
        let close = match self.rest.peek() {
            Some('(') => ')',
            Some('{') => '}',
            _ => return,
        };
        let open = self.rest.next();
        let mut depth = 1;
        for next in self.rest.by_ref() {
            if Some(next) == open {
                depth += 1;
            } else if next == close {
                depth -= 1;
            }
            if depth == 0 {
                return;
            }
        }
        self.possible = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands that are found, with their folders, and a question mark where they are only possible.
    fn found(line: &str) -> String {
        let one = |it: Sweep| {
            let folders: String = it.folders.iter().flat_map(|folder| [" in ", folder]).collect();
            format!("{}{folders}{}", it.name, if it.possible { "?" } else { "" })
        };
        sweeps(line).into_iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn commands_that_change_all_files_are_found() {
        for (line, expected) in [
            ("git stash", "git stash"),
            ("git stash pop", "git stash"),
            ("git stash list && git stash show -p", ""),
            ("git status", ""),
            ("git checkout main", "git checkout"),
            ("git checkout -b topic", "git checkout"),
            ("git checkout -- src/a.rs", ""),
            ("git checkout -- .", "git checkout"),
            ("git checkout .", "git checkout"),
            ("git switch -c x", "git switch"),
            ("git restore .", "git restore"),
            ("git restore --staged .", ""),
            ("git restore src/a.rs", ""),
            ("git reset", ""),
            ("git reset --hard HEAD~1", "git reset"),
            ("git reset --soft HEAD~1", ""),
            ("git clean -fdx", "git clean"),
            ("git clean -nd", ""),
            ("git -C sub -c a.b=c --no-pager stash", "git stash in sub"),
            ("git --git-dir=/r/.git --work-tree /w reset --hard", "git reset?"),
            ("A=1 GIT_PAGER=cat git stash", "git stash"),
            ("sudo -E env X=y /usr/bin/git stash", "git stash"),
            ("make; git stash", "git stash"),
            ("make && git reset --hard || true", "git reset"),
            ("cd a && cd b && git stash", "git stash in a in b"),
            ("(cd a && git stash); git clean -f", "git stash in a, git clean"),
            ("cd $X && git stash", "git stash?"),
            ("git -C \"$X\" stash", "git stash?"),
            ("git checkout $branch", "git checkout?"),
            ("sh -c 'git stash'", "git stash?"),
            ("eval \"git reset --hard\"", "git reset?"),
            ("if true; then git stash; fi", "git stash"),
            ("git stash > /dev/null 2>&1", "git stash"),
            ("{ git stash; }", "git stash"),
            ("git \\\n  stash", "git stash"),
            ("g'i't sta\"sh\"", "git stash"),
            ("echo git stash", ""),
            ("echo 'x; git stash'", ""),
            ("grep 'git reset --hard' notes # git stash", ""),
            ("git commit -m 'git stash; git clean -f'", ""),
            ("git log --grep=stash", ""),
            ("cat <<E\ngit stash\nE", "git stash?"),
            ("git 'stash", "git stash?"),
            ("", ""),
            ("((((", ""),
            ("))))", ""),
            ("$(", ""),
            ("git", ""),
            ("git -C", ""),
            (">", ""),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }

    #[test]
    fn a_long_line_is_read_in_one_pass() {
        let line = "(".repeat(100_000) + &"git -C a ".repeat(10_000) + "stash";
        assert!(sweeps(&line).len() <= 1);
        assert!(sweeps(&"sh ".repeat(100_000)).is_empty());
    }
}
