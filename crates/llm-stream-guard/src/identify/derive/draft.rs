//! A draft of a family's file: the templates that follow from the alignment.

use super::{
    DeriveError,
    align::{Aligned, HoleKind, STYLES, Style, align, lost},
    bodies::Bodies,
    keys::keys,
    pieces::{INDEX, KEY, NUMBER, STRING, TYPE, counted, literal},
    samples::{EMPTY, ONE, TWO_CALLS, TWO_KEYS, TYPED},
    split::{Around, parameters},
    templates::Draft,
};
use crate::limits::deriving::MAX_DRAFTS;

impl Bodies {
    /// Returns the drafts that may fit the renderings, the simplest first.
    ///
    /// # Errors
    /// The renderings show no calls, or lose a part of them.
    pub(super) fn drafts(&self) -> Result<Vec<Draft>, DeriveError> {
        let body = self.body(ONE)?;
        let calls = self.calls(ONE);
        if let Some(refusal) = calls.first().and_then(|call| lost(body, call)) {
            return Err(refusal);
        }
        let mut drafts: Vec<Draft> = Vec::new();
        let mut refusal = None;
        let mut seen: Vec<Style> = Vec::new();
        for style in STYLES {
            let json = match style {
                Style::PythonObject => Some(Style::Object),
                Style::Dictionary | Style::Bare => Some(Style::Arguments),
                _ => None,
            };
            if json.is_some_and(|json| seen.contains(&json)) {
                continue;
            }
            let Some(one) = align(body, calls, style) else { continue };
            seen.push(style);
            let two = self.aligned(TWO_CALLS, style);
            match self.of_style(style, &one, two.as_ref()) {
                Ok(found) => drafts.extend(found),
                Err(problem) => refusal = refusal.or(Some(problem)),
            }
        }
        let mut all: Vec<Draft> = Vec::new();
        for draft in drafts {
            let places = if draft.bare { &["line", "lead", ""][..] } else { &[""] };
            all.extend(places.iter().map(|at| Draft { at, ..draft.clone() }));
        }
        let mut unique: Vec<Draft> = Vec::new();
        for draft in all {
            if unique.len() < MAX_DRAFTS && !unique.contains(&draft) {
                unique.push(draft);
            }
        }
        match unique.is_empty() {
            true => Err(refusal.unwrap_or_else(|| {
                let why = "its calls have a shape that the language cannot say";
                DeriveError::new(why).with([body, self.body(TWO_KEYS).unwrap_or_default()])
            })),
            false => Ok(unique),
        }
    }

    /// Returns the drafts of a style, first as the text is, then with its digits as indices.
    fn of_style(
        &self,
        style: Style,
        one: &Aligned,
        two: Option<&Aligned>,
    ) -> Result<Vec<Draft>, DeriveError> {
        let count = one.marks.len();
        let middle = two
            .filter(|two| two.marks.len() == count.saturating_mul(2))
            .and_then(|two| two.literals.get(count).cloned());
        let mut all = Vec::new();
        let mut refusal = None;
        for hole in [None, Some(INDEX), Some(NUMBER)] {
            let of = |text: &str, n: usize| match hole {
                None => text.to_owned(),
                Some(hole) => counted(text, n + usize::from(hole == NUMBER), hole),
            };
            let literals: Vec<String> = one.literals.iter().map(|text| of(text, 0)).collect();
            if hole.is_some() && literals == one.literals {
                continue;
            }
            let head = one.literals.first().map_or("", String::as_str);
            let around = Around {
                head: of(self.opener(head), 0),
                tail: literals.last().cloned().unwrap_or_default(),
                middle: middle.as_deref().map(|middle| of(&of(middle, 0), 1)),
            };
            let last = two.and_then(|two| two.literals.last()).map(|text| of(text, 1));
            let one = Aligned { literals, marks: one.marks.clone() };
            // Some templates write the end of a section only after several calls.
            let ended = last.filter(|last| *last != around.tail && last.contains(&around.tail));
            let ended = ended.map(|tail| Around { tail, ..around.clone() });
            for around in [Some(around), ended].into_iter().flatten() {
                match self.with_holes(style, &one, &around) {
                    Ok(found) => all.extend(found),
                    Err(problem) => refusal = refusal.or(Some(problem)),
                }
            }
        }
        match refusal {
            Some(refusal) if all.is_empty() => Err(refusal),
            _ => Ok(all),
        }
    }

    fn with_holes(
        &self,
        style: Style,
        one: &Aligned,
        around: &Around,
    ) -> Result<Vec<Draft>, DeriveError> {
        let hole = match style {
            Style::Tagged => return self.tagged(one, around),
            Style::Object | Style::PythonObject => {
                let python = style == Style::PythonObject;
                let found =
                    keys(self.body(ONE)?, self.calls(ONE), self.aligned(TWO_CALLS, style), python)?;
                let hole = if python { "{object:python}" } else { "{object}" };
                let drafts = around.parts().into_iter().map(|parts| Draft {
                    keys: found.table.clone(),
                    counted_ids: found.counted,
                    ..parts.draft(hole)
                });
                return Ok(drafts.collect());
            }
            Style::Arguments => "{arguments}",
            Style::Dictionary | Style::Keywords => "{arguments:python}",
            Style::Bare => "{arguments:literal}",
        };
        let inner = inner(one, 0..one.marks.len(), hole);
        let quote = match style {
            Style::Bare => self.quote().unwrap_or_default(),
            _ => String::new(),
        };
        let drafts = around.parts().into_iter().map(|parts| Draft {
            wire_types: !quote.is_empty(),
            quote: quote.clone(),
            ..parts.draft(&inner)
        });
        Ok(drafts.collect())
    }

    /// Returns the delimiter of the value in a call with one argument.
    fn quote(&self) -> Option<String> {
        let (before, after) = self.body(ONE).ok()?.split_once("Zvalaz")?;
        let open = before.split_once("zkeyaz")?.1.split_once(':')?.1.trim_start();
        after.starts_with(open).then(|| open.to_owned())
    }

    fn tagged(&self, one: &Aligned, around: &Around) -> Result<Vec<Draft>, DeriveError> {
        let refused = |why: &str| {
            let body = |n| self.body(n).unwrap_or_default();
            DeriveError::new(why).with([body(ONE), body(TWO_KEYS)])
        };
        let shape = || refused("its parameters have a shape that the language cannot say");
        let key = one.marks.iter().position(|mark| *mark == HoleKind::Key).ok_or_else(shape)?;
        let two = self.aligned(TWO_KEYS, Style::Tagged).ok_or_else(shape)?;
        let (first, between) = (one.literals.get(key), one.literals.get(key + 1));
        let (first, between) = (first.ok_or_else(shape)?, between.ok_or_else(shape)?);
        let next = two.literals.get(key + 2).ok_or_else(shape)?;
        // An id after the value would separate the value from its end.
        if one.marks.get(key + 1) != Some(&HoleKind::Value) || key + 2 != one.marks.len() {
            return Err(shape());
        }
        let last = &around.tail;
        if last.trim().is_empty() || next.trim().is_empty() {
            return Err(refused("nothing ends a value: the language needs a tag after it"));
        }
        let empty = self.aligned(EMPTY, Style::Tagged);
        let empty = empty.and_then(|empty| empty.literals.get(key).cloned());
        let all = parameters(first, next, last, empty.as_deref());
        if all.iter().all(|parts| parts.close.trim().is_empty()) {
            return Err(refused("nothing ends a value: the language needs a tag after it"));
        }
        let (value, wire_types) = self.value_header(key, between);
        let mut drafts = Vec::new();
        for parts in all.into_iter().filter(|parts| !parts.close.trim().is_empty()).take(8) {
            let parameter =
                format!("{}{{key}}{value}{{value}}{}", literal(&parts.open), literal(&parts.close));
            let hole = match parts.separator.as_str() {
                "" => "{parameters}".to_owned(),
                separator => format!("{{parameters:{}}}", literal(separator)),
            };
            let inner = format!("{}{}{hole}", inner(one, 0..key, ""), literal(&parts.header));
            let rest = |text: &str| text.strip_prefix(parts.close.as_str()).map(str::to_owned);
            let Some(tail) = rest(last) else { continue };
            let middle = around.middle.as_deref().and_then(rest);
            let around = Around { tail, middle, ..around.clone() };
            for call in around.parts().into_iter().take(6) {
                let draft = Draft { wire_types, ..call.draft(&inner) };
                let elements = Draft {
                    element: parameter.clone(),
                    call: draft.call.replace(&hole, "{elements}"),
                    wire_types: false,
                    ..draft.clone()
                };
                let nested = parts.close.contains(KEY) && parts.separator.is_empty();
                drafts.push(Draft { parameter: parameter.clone(), ..draft });
                drafts.extend(nested.then_some(elements));
            }
        }
        // Elements cover flat values, too, so that they are tried last.
        drafts.sort_by_key(|draft| !draft.element.is_empty());
        Ok(drafts)
    }

    /// Returns the template between a key and its value. If it differs for a number, it says the
    /// type.
    fn value_header(&self, key: usize, between: &str) -> (String, bool) {
        let typed = self.aligned(TYPED, Style::Tagged);
        let other = typed.and_then(|typed| typed.literals.get(key + 1).cloned());
        let Some(other) = other.filter(|other| other != between) else {
            return (literal(between), false);
        };
        let words =
            [("true", "false", STRING), ("string", "number", TYPE), ("string", "integer", TYPE)];
        for (string, number, hole) in words {
            let places = between.match_indices(string).map(|(at, _)| at);
            for at in places {
                let (before, rest) = between.split_at(at);
                let after = &rest[string.len()..];
                if format!("{before}{number}{after}") == other {
                    return (literal(&format!("{before}{hole}{after}")), true);
                }
            }
        }
        (literal(between), false)
    }
}

/// Returns holes and the literals between them, without the literal before the first hole.
fn inner(one: &Aligned, range: core::ops::Range<usize>, arguments: &str) -> String {
    let mut text = String::new();
    for (n, mark) in one.marks.iter().enumerate().take(range.end).skip(range.start) {
        if n > range.start {
            text += &literal(one.literals.get(n).map_or("", String::as_str));
        }
        text += match mark {
            HoleKind::Id => "{id}",
            HoleKind::Arguments => arguments,
            _ => "{name}",
        };
    }
    text
}
