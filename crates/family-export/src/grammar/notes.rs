//! The differences between a grammar and the schemas from which it was made.

/// Lists of differences, each as a phrase, without repetition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    /// Restrictions that the grammar does not check.
    pub(crate) widened: Vec<String>,
    /// Valid texts that the grammar refuses.
    pub(crate) narrowed: Vec<String>,
}

impl Notes {
    /// Notes a restriction on the values at `path` of a tool's arguments that is not checked.
    pub(crate) fn widened(&mut self, tool: &str, path: &[String], what: &str) {
        add(&mut self.widened, location(tool, path, what));
    }

    /// Notes valid values at `path` of a tool's arguments that are refused.
    pub(crate) fn narrowed(&mut self, tool: &str, path: &[String], what: &str) {
        add(&mut self.narrowed, location(tool, path, what));
    }

    /// Notes a restriction that the grammar cannot check because of the family's syntax.
    pub(crate) fn family_widened(&mut self, what: &str) {
        add(&mut self.widened, what.to_owned());
    }

    /// Notes valid texts of the whole family that are refused.
    pub(crate) fn refused(&mut self, what: &str) {
        add(&mut self.narrowed, what.to_owned());
    }
}

fn location(tool: &str, path: &[String], what: &str) -> String {
    match path.is_empty() {
        true => format!("{tool}: {what}"),
        false => format!("{tool}, {}: {what}", path.join(".")),
    }
}

fn add(all: &mut Vec<String>, note: String) {
    if !all.contains(&note) {
        all.push(note);
    }
}
