//! Families whose output is messages with headers: reasoning, answer and calls are told apart by
//! the header alone. The prompt wrote the beginning of the first one.

use alloc::{boxed::Box, format, vec::Vec};

use super::{
    family, json, keys,
    tagged::{head, section, shape, tagged},
    texts,
};
use crate::grammar::{
    At, Attributes, CallBody, Container, Envelope, FieldMark, Grammar, Head, HeaderField,
    HeaderStart, Implicit, Item, JsonShape, Keys, Layout, MessageMark, Naming, OtherCalls, Quotes,
    Recipient, Role, Route, Section, Shape, Spacing, TaggedShape, Target, Text, Trim, Undeclared,
};

/// A marker that begins a header.
fn start(marker: &'static str, field: HeaderField) -> HeaderStart {
    HeaderStart { marker: marker.into(), at: At::Anywhere, role: Role::Before, field }
}

/// Words of a header whose marker is missing.
fn words(words: &'static str, at: At, field: HeaderField) -> HeaderStart {
    HeaderStart { at, role: Role::Part, ..start(words, field) }
}

/// What of a header may follow where the prompt broke off, if it begins with the recipient.
fn recipients() -> [HeaderStart; 2] {
    [" to=", "to="].map(|word| words(word, At::Start, HeaderField::Note))
}

fn field(marker: &'static str, field: HeaderField) -> FieldMark {
    FieldMark { marker: marker.into(), field }
}

/// A marker that begins a message, with or without a header.
fn message(marker: &'static str) -> MessageMark {
    MessageMark { marker: marker.into(), alone: true }
}

/// A message of any other kind.
fn otherwise(to: Target) -> Route {
    Route { start: None, message: None, channel: None, recipient: Recipient::Any, to }
}

/// The message of a channel.
fn channel(channel: &'static str, to: Target) -> Route {
    Route { channel: Some(channel.into()), ..otherwise(to) }
}

/// The message to a recipient.
fn recipient(recipient: Recipient, to: Target) -> Route {
    Route { recipient, ..otherwise(to) }
}

/// Headers with a role, a channel and a content type, all of them optional.
fn harmony_headers(routes: Vec<Route>) -> Envelope {
    let mut starts = Vec::from([
        start("<|start|>", HeaderField::Note),
        start("<|channel|>", HeaderField::Channel),
    ]);
    starts.extend(recipients());
    Envelope {
        starts,
        fields: Vec::from([
            field("<|channel|>", HeaderField::Channel),
            field("<|constrain|>", HeaderField::Note),
        ]),
        recipient: Some("to=".into()),
        messages: Vec::from([message("<|message|>")]),
        ends: texts(["<|end|>", "<|call|>", "<|return|>"]),
        routes,
    }
}

/// Calls in messages of this route, with this header.
fn message_of<const N: usize>(route: usize, header: [&'static str; N]) -> Layout {
    Layout { opener: route, header: texts(header), blocks: "".into(), ..Layout::default() }
}

/// gpt-oss. Calls stand on either channel; built-in tools are no functions, and what goes to
/// them stays on its channel. From the published format and its reference parser.
pub(super) fn harmony() -> Grammar {
    let functions = Recipient::Prefix("functions.".into());
    let mut envelope = harmony_headers(Vec::from([
        recipient(functions, Target::Call(CallBody::Arguments)),
        channel("analysis", Target::Reasoning),
        otherwise(Target::Content),
    ]));
    // A header behind a call that lost its markers.
    envelope.starts.push(words("commentary", At::AfterCall, HeaderField::Channel));
    let layout = Layout {
        end: Some(1),
        ..message_of(
            0,
            ["<|start|>assistant to=functions.", "<|channel|>commentary json<|message|>"],
        )
    };
    Grammar {
        envelope: Some(envelope),
        special_tokens: true,
        layouts: Vec::from([layout]),
        ..family("harmony", "gpt-oss 20B and 120B")
    }
}

/// Inkling: typed blocks, whose header may hold a name. A block of calls holds the name itself,
/// too. From the model's chat template.
pub(super) fn inkling() -> Grammar {
    let ends = ["<|end_message|>", "<|content_model_end_sampling|>"];
    let keys = Keys { arguments: texts(["args", "arguments"]), ..keys() };
    let calls = JsonShape { item: Item::Keys(keys), ..json(Container::ObjectOrArray, texts(ends)) };
    let block = |marker: &'static str, to| Route { message: Some(marker.into()), ..otherwise(to) };
    let routes = Vec::from([
        block("<|content_thinking|>", Target::Reasoning),
        block("<|content_invoke_tool_json|>", Target::Calls(Vec::from([Shape::Json(calls)]))),
        otherwise(Target::Content),
    ]);
    let envelope = Envelope {
        starts: Vec::from([start("<|message_model|>", HeaderField::Note)]),
        messages: Vec::from([
            message("<|content_thinking|>"),
            message("<|content_text|>"),
            message("<|content_invoke_tool_json|>"),
            message("<|content_invoke_tool_text|>"),
            message("<|content_tool_error|>"),
        ]),
        ends: texts(ends),
        routes,
        ..Envelope::default()
    };
    let layout = Layout {
        json: Spacing::Compact,
        ..message_of(1, ["<|message_model|>", "<|content_invoke_tool_json|>"])
    };
    Grammar {
        envelope: Some(envelope),
        special_tokens: true,
        layouts: Vec::from([layout]),
        ..family("inkling", "Inkling")
    }
}

/// A part of an element of kimi_k3: with blanks between words and tokens, or without.
fn kimi_k3_calls(blank: &str) -> Shape {
    let open = |word: &str| Text::from(format!("<|open|>{blank}{word}"));
    let close = |word: &str| Text::from(format!("<|close|>{blank}{word}{blank}<|sep|>"));
    let element = |word, key| Head {
        open: [open(word), Text::from(key), Text::from("=")].to_vec(),
        quotes: Quotes::Required,
        attributes: Attributes::Any,
        ..head([], "<|sep|>")
    };
    let tools = Section {
        open: Vec::from([format!("<|open|>{blank}tools{blank}<|sep|>").into()]),
        close: Vec::from([close("tools")]),
    };
    let json = format!("<|open|>{blank}json type=\"object\"{blank}<|sep|>").into();
    Shape::Tagged(TaggedShape {
        other_calls: OtherCalls::Skip,
        string_attribute: Some("type".into()),
        string_type: Some("string".into()),
        undeclared: Undeclared::JsonElseText,
        ignored: Vec::from([json, close("json")]),
        json_body: true,
        value_close: close("argument"),
        ..shape(
            Some(tools),
            (element("call", "tool"), Vec::from([close("call")])),
            (element("argument", "key"), ""),
        )
    })
}

/// Kimi K3: elements of tokens and words. The prompt opens the first; a server may put blanks
/// between tokens and words. From the model's chat template.
pub(super) fn kimi_k3() -> Grammar {
    let element = |start: &'static str, to: Target, word: Option<&'static str>| Route {
        start: Some(start.into()),
        channel: word.map(Text::from),
        ..otherwise(to)
    };
    let calls = ["", " "].map(kimi_k3_calls).to_vec();
    let envelope = Envelope {
        starts: ["<|open|>", "<|close|>"].map(|m| start(m, HeaderField::Channel)).to_vec(),
        messages: Vec::from([MessageMark { alone: false, ..message("<|sep|>") }]),
        ends: texts(["<|end_of_msg|>"]),
        routes: Vec::from([
            element("<|open|>", Target::Reasoning, Some("think")),
            element("<|open|>", Target::Content, Some("response")),
            element("<|open|>", Target::Content, Some("message")),
            element("<|open|>", Target::Calls(calls), Some("tools")),
            element("<|close|>", Target::Content, None),
        ]),
        ..Envelope::default()
    };
    let layout = Layout { index: Some("index".into()), ..message_of(3, ["<|open|>tools<|sep|>"]) };
    Grammar {
        envelope: Some(envelope),
        special_tokens: true,
        layouts: Vec::from([layout]),
        ..family("kimi_k3", "Kimi K3")
    }
}

/// Muse: calls are tags, in messages to a tool only. From the model's chat template.
pub(super) fn muse_glimmer() -> Grammar {
    let calls = TaggedShape {
        doubled_names: true,
        undeclared: Undeclared::JsonElseText,
        ..shape(
            section(["<atem:function_calls>"], ["</atem:function_calls>"]),
            (head(["<atem:invoke", "name", "="], ">"), texts(["</atem:invoke>"])),
            (head(["<atem:parameter", "name", "="], ">"), "</atem:parameter>"),
        )
    };
    let to = |word: &'static str, to| recipient(Recipient::Is(word.into()), to);
    let mut starts = Vec::from([start("<|start|>", HeaderField::Note)]);
    starts.extend(recipients());
    let envelope = Envelope {
        starts,
        recipient: Some("to=".into()),
        messages: Vec::from([message("<|message|>")]),
        ends: texts(["<|eom|>", "<|eot|>"]),
        routes: Vec::from([
            to("self", Target::Reasoning),
            to("user", Target::Content),
            to("commentary", Target::Content),
            recipient(Recipient::Given, Target::Calls(tagged(&calls))),
            otherwise(Target::Content),
        ]),
        ..Envelope::default()
    };
    let layout = Layout {
        inside: ("\n".into(), "\n".into()),
        tags: "\n".into(),
        names: Naming::Quoted,
        end: Some(0),
        ..message_of(3, ["<|start|>assistant to=", "<|message|>"])
    };
    Grammar {
        envelope: Some(envelope),
        special_tokens: true,
        layouts: Vec::from([layout]),
        ..family("muse_glimmer", "Muse Glimmer, Muse Spark")
    }
}

/// Beam: the headers of harmony, a recipient that is the tool's name, and tagged arguments.
/// From the model's response template.
pub(super) fn beam() -> Grammar {
    let parameters = TaggedShape {
        trim: Trim::OneNewline,
        implicit: Implicit { next_parameter: true, call_close: false },
        ..shape(
            None,
            (head([], ""), texts(["<|end|>", "<|call|>"])),
            (head(["<rfl:parameter", "name", "="], ">"), "</rfl:parameter>"),
        )
    };
    let mut envelope = harmony_headers(Vec::from([
        recipient(Recipient::Given, Target::Call(CallBody::Parameters(Box::new(parameters)))),
        channel("analysis", Target::Reasoning),
        otherwise(Target::Content),
    ]));
    // Reasoning may end in this token in the place of its own.
    envelope.starts.push(start("<|constrain|><|start|>", HeaderField::Note));
    let header = ["<|start|>assistant to=", "<|channel|>analysis <|constrain|>xml<|message|>"];
    let layout =
        Layout { tags: "\n".into(), names: Naming::Quoted, end: Some(1), ..message_of(0, header) };
    Grammar {
        envelope: Some(envelope),
        special_tokens: true,
        layouts: Vec::from([layout]),
        ..family("beam", "Beam")
    }
}
