//! `dynamo-parsers`: the stream of response objects that holds calls back, and the parser of
//! reasoning that runs in front of it.

use dynamo_parsers::{
    ReasoningParser, ReasoningParserType, ToolDefinition, get_available_reasoning_parsers,
    tool_calling::{
        jail::{Annotated, JailedStream},
        parsers::get_available_tool_parsers,
        try_tool_call_parse_aggregate_finalize,
    },
};
use dynamo_protocols::types::{
    ChatCompletionMessageContent as Content, CreateChatCompletionStreamResponse as Response,
};
use futures::{StreamExt, executor::block_on, stream};
use llm_stream_guard::{Profile, Tools};
use serde_json::json;

use crate::{
    outcome::Outcome,
    peer::{Made, Peer, Stream, Task, names, tools},
};

/// Its parser for the task.
pub(crate) fn peer(task: Task, profile: &Profile, declared: &Tools) -> Made {
    let known = match task {
        Task::Calls => get_available_tool_parsers(),
        Task::Reasoning { .. } => get_available_reasoning_parsers(),
    };
    let names = names("dynamo", profile, task);
    let Some(name) = names.into_iter().find(|name| known.contains(name)) else {
        return Ok(None);
    };
    if let Task::Reasoning { open } = task {
        return Ok(Some(Box::new(Reasoning { name, open })));
    }
    let tools = tools(declared, |name, parameters| ToolDefinition {
        name: name.to_owned(),
        parameters: Some(parameters.clone()),
        strict: None,
    });
    let empty = json!({
        "id": "id", "object": "chat.completion.chunk", "created": 0, "model": "model",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}],
    });
    let empty = serde_json::from_value(empty).map_err(|error| error.to_string())?;
    Ok(Some(Box::new(Calls { name, tools, empty })))
}

struct Calls {
    name: &'static str,
    tools: Vec<ToolDefinition>,
    /// A response without text.
    empty: Response,
}

impl Calls {
    fn response(&self, text: Option<&str>) -> Annotated<Response> {
        let mut data = self.empty.clone();
        for choice in &mut data.choices {
            choice.delta.content = text.map(|text| Content::Text(text.to_owned()));
            if text.is_none() {
                choice.finish_reason = Some(dynamo_protocols::types::FinishReason::Stop);
            }
        }
        Annotated { data: Some(data), id: None, event: None, comment: None, error: None }
    }
}

impl Peer for Calls {
    fn whole(&self, text: &str) -> Option<Outcome> {
        let parsed =
            try_tool_call_parse_aggregate_finalize(text, Some(self.name), Some(&self.tools));
        let mut out = Outcome::default();
        match block_on(parsed) {
            Ok((calls, content)) => {
                out.content = content.unwrap_or_default();
                for (index, call) in calls.iter().enumerate() {
                    out.call(index, Some(&call.function.name), &call.function.arguments);
                }
            }
            Err(error) => out.failure = Some(error.to_string()),
        }
        Some(out)
    }

    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let texts = chunks.iter().map(|chunk| Some(*chunk)).chain([None]);
        let responses: Vec<_> = texts.map(|text| self.response(text)).collect();
        let jail = JailedStream::builder().tool_call_parser(self.name);
        let jail = jail.tool_definitions(self.tools.clone()).build();
        Box::new(move |out| {
            let stream = jail.apply(stream::iter(responses));
            block_on(stream.for_each(|response| {
                let choices = response.data.into_iter().flat_map(|data| data.choices);
                choices.for_each(|choice| collect(out, &choice.delta));
                std::future::ready(())
            }));
        })
    }
}

fn collect(out: &mut Outcome, delta: &dynamo_protocols::types::ChatCompletionStreamResponseDelta) {
    if let Some(Content::Text(text)) = &delta.content {
        out.content.push_str(text);
    }
    for call in delta.tool_calls.iter().flatten() {
        let Some(function) = &call.function else { continue };
        let arguments = function.arguments.as_deref().unwrap_or_default();
        out.call(call.index as usize, function.name.as_deref(), arguments);
    }
}

struct Reasoning {
    name: &'static str,
    open: bool,
}

impl Peer for Reasoning {
    fn whole(&self, text: &str) -> Option<Outcome> {
        let mut parser = ReasoningParserType::get_reasoning_parser_from_name(self.name);
        if self.open {
            parser.set_in_reasoning(true);
        }
        let parsed = parser.detect_and_parse_reasoning(text, &[]);
        let mut out = Outcome::default();
        out.content = parsed.normal_text;
        out.reasoning = parsed.reasoning_text;
        Some(out)
    }

    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let mut parser = ReasoningParserType::get_reasoning_parser_from_name(self.name);
        if self.open {
            parser.set_in_reasoning(true);
        }
        Box::new(move |out| {
            let mut collect = |parsed: dynamo_parsers::ParserResult| {
                out.content.push_str(&parsed.normal_text);
                out.reasoning.push_str(&parsed.reasoning_text);
            };
            for chunk in chunks {
                collect(parser.parse_reasoning_streaming_incremental(chunk, &[]));
            }
            collect(parser.finish_reasoning_stream());
        })
    }
}
