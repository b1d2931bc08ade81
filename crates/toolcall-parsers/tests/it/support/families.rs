//! Properties of a family's templates that several tests need.

use toolcall_parsers::{
    Family, Grammar,
    family::{Form, NamedKeys},
    template::{Hole, Part, Template},
};

/// Returns the literals of `template`, including those in groups.
pub(crate) fn literals(template: &Template) -> Vec<&str> {
    let (mut found, mut open) = (Vec::new(), vec![template.parts.iter()]);
    while let Some(parts) = open.last_mut() {
        match parts.next() {
            Some(Part::Literal(text)) => found.push(text.as_str()),
            Some(Part::Group(inner)) => open.push(inner.iter()),
            Some(Part::Hole(Hole::Id(Some(id)))) => open.push(id.parts.iter()),
            Some(Part::Hole(_)) => {}
            None => drop(open.pop()),
        }
    }
    found
}

/// Returns all templates of a form.
pub(crate) fn templates(form: &Form) -> impl Iterator<Item = &Template> {
    let Form { sections, calls, parameters, elements, .. } = form;
    sections.iter().chain(calls).chain(parameters).chain(elements)
}

/// Returns all spellings of `text` in `form`.
fn spelled(form: &Form, text: &str) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    for (spelling, others) in form.spellings.iter().filter(|(part, _)| text.contains(part)) {
        found.extend(others.iter().map(|other| text.replace(spelling.as_str(), other)));
    }
    found
}

/// Returns all fixed texts of a family in all spellings: literals of templates, erased texts, and
/// tokens of messages and turns.
pub(crate) fn texts(family: &Family) -> Vec<String> {
    let mut found = Vec::new();
    for form in &family.forms {
        let literals = templates(form).flat_map(literals);
        found.extend(literals.flat_map(|literal| spelled(form, literal)));
        found.extend(form.between.iter().cloned());
    }
    if let Some(messages) = &family.messages {
        found.extend(literals(&messages.header).into_iter().map(String::from));
        found.extend(messages.body.iter().chain(&messages.end).cloned());
    }
    found.extend(family.erase.iter().map(|erase| erase.text.clone()));
    found.extend(family.end_of_turn.iter().cloned());
    sorted(found)
}

/// Returns the tags and words of `text` that contain letters and punctuation.
pub(crate) fn tags(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_ascii_whitespace().flat_map(|word| word.split_inclusive('>'));
    words.filter(|tag| {
        let letters = tag.contains(char::is_alphanumeric);
        tag.len() > 2 && letters && tag.contains(|c: char| c.is_ascii_punctuation())
    })
}

/// Returns the tags that end a family's calls and sections.
pub(crate) fn end_tags(family: &Family) -> Vec<String> {
    let mut found = Vec::new();
    for form in &family.forms {
        for template in form.sections.iter().chain(&form.calls) {
            let holds = |part: &Part| match part {
                Part::Hole(hole) => holds_arguments(hole) || holds_calls(hole),
                Part::Literal(_) | Part::Group(_) => false,
            };
            let Some(at) = template.parts.iter().rposition(holds) else { continue };
            let following = Template { parts: template.parts[at + 1..].to_vec() };
            let literals = literals(&following);
            let all = literals.into_iter().flat_map(|literal| spelled(form, literal));
            found.extend(all.flat_map(|text| tags(&text).map(String::from).collect::<Vec<_>>()));
        }
    }
    sorted(found)
}

fn holds_calls(hole: &Hole) -> bool {
    matches!(hole, Hole::Call | Hole::Calls { .. })
}

/// Returns whether the hole contains a call's arguments.
pub(crate) fn holds_arguments(hole: &Hole) -> bool {
    use Hole::{Arguments, Elements, Object, Parameters, Raw};
    matches!(hole, Arguments(_) | Elements | Object(_) | Parameters { .. } | Raw(_))
}

/// Returns the keys of a family's call objects.
pub(crate) fn object_keys(family: &Family) -> impl Iterator<Item = &NamedKeys> {
    family.forms.iter().filter_map(|form| {
        let holes = || form.calls.iter().flat_map(Template::holes);
        match &form.keys {
            toolcall_parsers::family::Keys::Named(keys)
                if holes().any(|hole| matches!(hole, Hole::Object(_))) =>
            {
                Some(keys)
            }
            _ => None,
        }
    })
}

/// Returns a grammar for each combination of one form, one section and one call template.
pub(crate) fn ways(grammar: &Grammar) -> Vec<Grammar> {
    let family = grammar.family();
    let mut ways = Vec::new();
    for form in &family.forms {
        for section in &form.sections {
            for call in &form.calls {
                let mut form = form.clone();
                form.sections = vec![section.clone()];
                form.calls = vec![call.clone()];
                let mut family = family.clone();
                family.forms = vec![form];
                family.write.form = 0;
                ways.extend(Grammar::new(family));
            }
        }
    }
    ways
}

/// Returns the texts without duplicates and empty ones.
pub(crate) fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.retain(|text| !text.is_empty());
    texts.sort();
    texts.dedup();
    texts
}
