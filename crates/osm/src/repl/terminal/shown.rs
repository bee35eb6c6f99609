//! What the line editor writes to the terminal besides the menu: the prompt, the line, and lines from
//! before.
//!
//! Reedline writes a line as it was pasted. So the line keeps its exact characters, and what is painted
//! has a visible one in the place of each that controls the terminal.

use std::borrow::Cow;

use reedline::{
    Color, FileBackedHistory, Highlighter, History, HistoryItem, HistoryItemId, HistorySessionId,
    PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus, Result, SearchQuery,
    StyledText,
};

use super::super::highlight::{self, Part};
use super::super::syntax::Syntax;
use crate::render::escape;

/// The prompt in reedline's form.
pub(super) struct Shown(pub(super) String);

impl reedline::Prompt for Shown {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        self.0.as_str().into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "... ".into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "search",
            PromptHistorySearchStatus::Failing => "no match",
        };
        format!("({found}: {}) ", escape::one_line(&search.term)).into()
    }

    fn get_prompt_color(&self) -> Color {
        Color::Cyan
    }
}

/// Colours a line.
pub(super) struct Colors {
    pub(super) commands: Vec<String>,
    pub(super) syntax: Syntax,
    pub(super) color: bool,
}

impl Highlighter for Colors {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let visible = |part: &str| escape::same_length(part).into_owned();
        let mut text = StyledText::new();
        let mut end = 0;
        let parts = if self.color {
            highlight::parts(line, &self.commands, &self.syntax)
        } else {
            Vec::new()
        };
        for (range, part) in parts {
            text.push((Color::Default.normal(), visible(&line[end..range.start])));
            let style = match part {
                Part::Command => Color::Green.bold(),
                Part::Unknown => Color::Red.normal(),
                Part::Text => Color::Yellow.normal(),
                Part::Flag => Color::Blue.normal(),
            };
            text.push((style, visible(&line[range.clone()])));
            end = range.end;
        }
        text.push((Color::Default.normal(), visible(&line[end..])));
        text
    }
}

/// The history. Reedline paints a line that it searched for, and the rest of one that it offers, without
/// asking the highlighter; so these are escaped. Going back line by line gives the exact ones.
pub(super) struct Recalled(pub(super) FileBackedHistory);

impl History for Recalled {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        self.0.save(item)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        let is_for_a_text = query.filter.command_line.is_some();
        let mut found = self.0.search(query)?;
        for item in found.iter_mut().filter(|_| is_for_a_text) {
            if let Cow::Owned(safe) = escape::lines(&item.command_line) {
                item.command_line = safe;
            }
        }
        Ok(found)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.0.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reedline::SearchDirection;

    #[test]
    fn a_line_is_painted_without_what_controls_a_terminal() {
        let line = "note a\u{1b}[2J\u{9b}\u{202e}\u{e0001}é\n\tb";
        let (commands, syntax) = (vec!["note".into()], Syntax::default());
        let colors = Colors { commands, syntax, color: true };
        let painted: String =
            colors.highlight(line, 0).buffer.into_iter().map(|(_, text)| text).collect();
        assert_eq!(painted, "note a?[2J¿\u{fffd}\u{1fbc4}é\n\tb");
        assert_eq!(painted.len(), line.len());
    }

    #[test]
    fn lines_that_are_found_are_escaped() {
        let mut history = Recalled(FileBackedHistory::default());
        let line = "note \u{1b}]0;x\u{7}";
        drop(history.save(HistoryItem::from_command_line(line)));
        let found = |query| history.search(query).unwrap()[0].command_line.clone();
        assert_eq!(
            found(SearchQuery::all_that_contain_rev("note".into())),
            r"note \u{1b}]0;x\u{7}"
        );
        assert_eq!(
            found(SearchQuery::last_with_prefix("no".into(), None)),
            r"note \u{1b}]0;x\u{7}"
        );
        assert_eq!(found(SearchQuery::everything(SearchDirection::Backward, None)), line);
    }
}
