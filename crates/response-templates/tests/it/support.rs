//! Templates and machines that tests share.

use guard_laws::TemplateMachine;
use response_templates::{ResponseTemplate, TemplateParser, TemplateSettings};
use stream_laws::RecordedEvent;

/// Returns a template whose fields are `fields`.
pub(crate) fn template(fields: &str) -> ResponseTemplate {
    let text = format!(r#"{{"start_anchor": "<bot>", "fields": {{{fields}}}}}"#);
    ResponseTemplate::from_json(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Fields for reasoning, calls in JSON, and content.
pub(crate) const PLAIN: &str = r#"
    "thinking": {"open": "<t>", "close": "</t>"},
    "tool_calls": {"open": "<c>", "close": "</c>", "repeats": true, "content": "json",
                   "transform": {"type": "function", "function": "{content}"}},
    "content": {"close": "<end>"}"#;

/// Fields for calls whose name is in the opener.
pub(crate) const NAMED: &str = r#"
    "reasoning_content": {"open_pattern": "\\s*<t>\\s*", "close_pattern": "\\s*</t>\\s*"},
    "tool_calls": {"open_pattern": "\\s*<c (?P<name>\\w+)>", "close_pattern": "</c>|$",
                   "repeats": true, "content": "json",
                   "transform": {"type": "function",
                                 "function": {"name": "{name}", "arguments": "{content}"}}},
    "content": {}"#;

/// Fields for parameters in tags, and reasoning without an opener.
pub(crate) const TAGGED: &str = r#"
    "reasoning": {"open_pattern": "(?=[\\s\\S]*?</t>)", "close_pattern": "</t>\\s*"},
    "tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close_pattern": "(?=<c )|</c>",
                   "repeats": true, "content": "xml-inline",
                   "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"},
                   "transform": {"type": "function",
                                 "function": {"name": "{name}", "arguments": "{content}"}}},
    "content": {"open": "<s>", "close_pattern": "</s>(?:!\\?)?"}"#;

/// Returns fields for calls with the name in the opener and with these arguments, and for content.
macro_rules! calls_of {
    ($content:literal) => {
        concat!(
            r#""tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close": "</c>", "repeats": true,
                "transform": {"type": "function",
                              "function": {"name": "{name}", "arguments": "{content}"}}, "#,
            $content,
            r#"}, "content": {}"#
        )
    };
}

/// Fields for parameters in tags.
pub(crate) const PARAMETERS: &str = calls_of!(
    r#""content": "xml-inline",
    "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</>"}"#
);

/// Fields for parameters in lines.
pub(crate) const LINED: &str = calls_of!(r#""content": "kv-lines""#);

/// Fields for numbers in lines. Any other value makes the region malformed.
pub(crate) const NUMBERS: &str = calls_of!(
    r#""content": "kv-lines",
    "content_args": {"kv_sep": ": ", "value_parser": {"name": "int"}}"#
);

/// Fields for values in tags that may be JSON and that the pattern trims.
pub(crate) const LENIENT: &str = calls_of!(
    r#""content": "xml-inline",
    "content_args": {"tag_pattern": "<(?P<key>\\w+)>\\s*(?P<value>.*?)\\s*</>",
                     "value_parser": {"name": "json", "args": {"allow_non_json": true}}}"#
);

/// Values without an end marker, trimmed.
pub(crate) const ENDLESS: &str = calls_of!(
    r#""content": "xml-inline",
    "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>[^<]*)",
                     "value_parser": {"name": "text"}}"#
);

/// Bare names, and strings between private delimiters.
pub(crate) const DIALECT: &str = calls_of!(
    r#""content": "json",
    "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "</q>"]]}"#
);

/// Strings between delimiters of two kinds.
pub(crate) const KINDS: &str = calls_of!(
    r#""content": "json",
    "content_args": {"unquoted_keys": true, "string_delims": [["<q>", "</q>"], ["'", "'"]]}"#
);

/// Returns the arguments of all calls, joined.
pub(crate) fn all_arguments<'e>(events: impl IntoIterator<Item = &'e RecordedEvent>) -> String {
    let fragment = |event: &'e RecordedEvent| match event {
        RecordedEvent::CallArguments { fragment, .. } => Some(fragment.as_str()),
        _ => None,
    };
    events.into_iter().filter_map(fragment).collect()
}

/// Returns a parser of a template with these fields.
pub(crate) fn machine(fields: &str) -> TemplateMachine {
    TemplateMachine::new(TemplateParser::new(&template(fields)))
}

/// Returns a parser with other settings.
pub(crate) fn machine_with(
    fields: &str,
    set: impl FnOnce(&mut TemplateSettings),
) -> TemplateMachine {
    let mut settings = TemplateSettings::default();
    set(&mut settings);
    TemplateMachine::new(TemplateParser::new(&template(fields)).settings(settings))
}
