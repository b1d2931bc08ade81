//! The list of properties of a family's calls that an outline does not express.

use toolcall_parsers::family::{At, CommitOn, Family, Form, Suffix};

use super::{CallShape, Payload};

/// Returns the properties of calls that `call`, the shape of calls of `form`, does not express.
/// `has_all` states whether the outline has every other form of the family as well.
pub(super) fn lost(family: &Family, form: &Form, call: &CallShape, has_all: bool) -> Vec<String> {
    let payload = &call.payload;
    let is_tags = matches!(payload, Payload::Parameters { .. });
    let notes = [
        (!has_all, "forms of calls other than the one that the encoder writes"),
        (
            family.messages.is_some(),
            "headers that lack tokens, are quoted, or end or begin again before their text, and \
             messages to recipients that are not tools",
        ),
        (
            family.erase.iter().any(|it| it.at != At::Anywhere || it.once),
            "limits on the places and the number of removed texts",
        ),
        (form.at != At::Anywhere, "limits on the places where calls count"),
        (family.suffix != Suffix::None, "the suffix of the checkpoint's tags"),
        (
            !form.no_call.is_empty() || form.commit_on == Some(CommitOn::DeclaredName),
            "names that do not make a call",
        ),
        (
            matches!(payload, Payload::Object { .. } | Payload::List { .. }),
            "objects with other keys, without arguments or with an empty name, and lists and \
             objects in the place of each other",
        ),
        (!is_tags, "JSON with faults, such as line ends in its strings"),
        (
            !form.quote.is_empty(),
            "blanks, bare words, other quotes, and the types that quotes indicate in its objects",
        ),
        (call.close.is_empty(), "text after a call that only the next call or turn ends"),
        (
            form.parameters.len() > 1,
            "parameters written in other ways, and newlines that belong to a value",
        ),
        (is_tags, "values as Python spells them"),
        (!form.parameters.is_empty(), "that the first of repeated parameters counts"),
        (true, "markers that are missing, cut or repeated, and text after a fault"),
        (
            true,
            "rules for values beyond the template: quoted markup, JSON inside strings, lists of one \
             object, bare words for strings",
        ),
        (true, "that closers in strings and values are data (see string-aware boundaries)"),
    ];
    notes.iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| (*what).to_owned()).collect()
}
