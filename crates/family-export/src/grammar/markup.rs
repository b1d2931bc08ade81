//! The markup of a family: texts that free text must not contain.

use think_filter::{Format, MarkerCase};
use toolcall_parsers::{
    Family,
    family::{At, Form},
    template::{Part, Template},
};

/// The minimum length of a text that counts as a tag.
const MIN_TAG_LENGTH: usize = 3;

/// Returns the tags of all templates of a family, with their other spellings, and the tokens that
/// end its turns and messages.
pub(super) fn tags(family: &Family) -> Vec<String> {
    let mut all = Vec::new();
    for form in &family.forms {
        let templates = [&form.sections, &form.calls, &form.parameters, &form.elements];
        for template in templates.into_iter().flatten() {
            let mut found = Vec::new();
            literals(&template.parts, &mut |text| found.extend(tags_of(text)));
            for tag in found {
                for (shown, others) in &form.spellings {
                    if tag.contains(shown.as_str()) {
                        all.extend(others.iter().map(|other| tag.replace(shown.as_str(), other)));
                    }
                }
                all.push(tag);
            }
        }
    }
    all.extend(family.end_of_turn.iter().cloned());
    if let Some(messages) = &family.messages {
        all.extend(messages.body.iter().chain(&messages.end).filter(|it| is_tag(it)).cloned());
        literals(&messages.header.parts, &mut |text| all.extend(tags_of(text)));
    }
    least(all)
}

/// Returns the markers of a reasoning format. Where case does not count, both cases are listed.
pub(super) fn reasoning(format: &Format) -> Vec<String> {
    let markers = format.open.iter().chain(&format.close).map(|text| text.trim());
    let answers = format.answer.iter().map(|answer| answer.marker.trim());
    let all = markers.chain(answers).filter(|text| !text.is_empty());
    let any_case = format.case == MarkerCase::Insensitive;
    let cases = |text: &str| match any_case {
        true => vec![text.to_owned(), text.to_lowercase(), text.to_uppercase()],
        false => vec![text.to_owned()],
    };
    least(all.flat_map(cases).collect())
}

/// Returns the texts without those that contain another.
pub(super) fn least(mut all: Vec<String>) -> Vec<String> {
    all.sort_by_key(String::len);
    let mut kept: Vec<String> = Vec::new();
    for text in all {
        if !text.is_empty() && !kept.iter().any(|known| text.contains(known.as_str())) {
            kept.push(text);
        }
    }
    kept
}

/// Returns the first of `texts` that `value` contains.
pub(super) fn contained<'t>(value: &str, texts: &'t [String]) -> Option<&'t str> {
    texts.iter().map(String::as_str).find(|text| value.contains(text))
}

/// The way in which calls of a family begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Openers {
    /// Calls begin with a marker of the family.
    Marked,
    /// Calls begin with a bracket, and count only before visible text.
    Leading,
    /// Calls begin with text that an answer may contain.
    Plain,
}

/// Returns the way in which the calls of a family begin, over all forms.
pub(super) fn openers(family: &Family) -> Openers {
    let mut openers = Openers::Marked;
    for form in &family.forms {
        for section in &form.sections {
            let first = section.parts.iter().find(|part| !matches!(part, Part::Group(_)));
            let heads = match first {
                Some(Part::Hole(_)) | None => form.calls.iter().map(head).collect(),
                Some(_) => vec![head(section)],
            };
            let plain = heads.into_iter().any(|head| !head.contains(char::is_alphanumeric));
            openers = match (plain, openers) {
                (false, openers) => openers,
                (true, Openers::Plain) => Openers::Plain,
                (true, _) if form.at == At::Lead && !is_named(form) => Openers::Leading,
                (true, _) => Openers::Plain,
            };
        }
    }
    openers
}

/// Returns whether calls without a marker begin with their name.
fn is_named(form: &Form) -> bool {
    form.calls.iter().any(|call| {
        let first = call.parts.iter().find(|part| !matches!(part, Part::Group(_)));
        matches!(first, Some(Part::Hole(hole)) if !matches!(hole, toolcall_parsers::template::Hole::Object(_)))
    })
}

/// Returns the text that a template begins with.
fn head(template: &Template) -> String {
    match template.parts.first() {
        Some(Part::Literal(text)) => text.clone(),
        _ => String::new(),
    }
}

fn literals(parts: &[Part], see: &mut impl FnMut(&str)) {
    for part in parts {
        match part {
            Part::Literal(text) => see(text),
            Part::Group(parts) => literals(parts, see),
            Part::Hole(_) => {}
        }
    }
}

/// Returns the tags of a literal. A tag ends at white space or where another tag begins.
fn tags_of(text: &str) -> Vec<String> {
    let words = text.split_ascii_whitespace();
    let tags = words.flat_map(|word| {
        let mut rest = word;
        let mut tags = Vec::new();
        while let Some(at) = rest.find("><") {
            let (tag, more) = rest.split_at(at + 1);
            tags.push(tag.to_owned());
            rest = more;
        }
        tags.push(rest.to_owned());
        tags
    });
    tags.filter(|tag| is_tag(tag)).collect()
}

fn is_tag(tag: &str) -> bool {
    let opens = tag.starts_with(['<', '[', ']', '◁', '`', '*', '>']);
    opens && tag.chars().count() >= MIN_TAG_LENGTH && !tag.starts_with("]]>")
}
