//! `tool-parser` and `reasoning-parser`, the parsers of the Shepherd Model Gateway.

use futures::executor::block_on;
use llm_stream_guard::{Profile, Tools};
use openai_protocol::common::Tool;
use serde_json::json;

use crate::{
    outcome::Outcome,
    peer::{Made, Peer, Stream, Task, names, tools},
};

/// Its parser for the task.
pub(crate) fn peer(task: Task, profile: &Profile, declared: &Tools) -> Made {
    let names = names("smg", profile, task);
    match task {
        Task::Calls => {
            let factory = tool_parser::ParserFactory::new();
            let Some(&name) = names.iter().find(|name| factory.has_parser(name)) else {
                return Ok(None);
            };
            let tools = tools(declared, |name, parameters| {
                let function = json!({"name": name, "parameters": parameters});
                serde_json::from_value(json!({"type": "function", "function": function}))
                    .map_err(|error| error.to_string())
            });
            let tools = tools.into_iter().collect::<Result<_, _>>()?;
            Ok(Some(Box::new(Calls { factory, name, tools })))
        }
        Task::Reasoning { open } => {
            let factory = reasoning_parser::ParserFactory::new();
            let name = names.into_iter().find(|name| factory.registry().has_parser(name));
            Ok(name.map(|name| Box::new(Reasoning { factory, name, open }) as _))
        }
    }
}

struct Calls {
    factory: tool_parser::ParserFactory,
    name: &'static str,
    tools: Vec<Tool>,
}

impl Peer for Calls {
    fn whole(&self, text: &str) -> Option<Outcome> {
        let parser = self.factory.registry().create_parser(self.name)?;
        let mut out = Outcome::default();
        match block_on(parser.parse_complete_with_tools(text, &self.tools)) {
            Ok((content, calls)) => {
                out.content = content;
                for (index, call) in calls.iter().enumerate() {
                    out.call(index, Some(&call.function.name), &call.function.arguments);
                }
            }
            Err(error) => out.failure = Some(error.to_string()),
        }
        Some(out)
    }

    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let parser = self.factory.registry().create_parser(self.name);
        Box::new(move |out| {
            let Some(mut parser) = parser else { return };
            block_on(async {
                for chunk in chunks {
                    match parser.parse_incremental(chunk, &self.tools).await {
                        Ok(parsed) => {
                            out.content.push_str(&parsed.normal_text);
                            collect(out, &parsed.calls);
                        }
                        Err(error) => return out.failure = Some(error.to_string()),
                    }
                }
            });
            collect(out, &parser.get_unstreamed_tool_args().unwrap_or_default());
            out.content.push_str(&parser.take_unstreamed_normal_text());
        })
    }
}

fn collect(out: &mut Outcome, calls: &[tool_parser::types::ToolCallItem]) {
    for call in calls {
        out.call(call.tool_index, call.name.as_deref(), &call.parameters);
    }
}

struct Reasoning {
    factory: reasoning_parser::ParserFactory,
    name: &'static str,
    open: bool,
}

impl Peer for Reasoning {
    fn whole(&self, text: &str) -> Option<Outcome> {
        let mut parser = self.factory.registry().create_parser(self.name)?;
        if self.open {
            parser.mark_reasoning_started();
            parser.mark_think_start_stripped();
        }
        let mut out = Outcome::default();
        match parser.detect_and_parse_reasoning(text) {
            Ok(parsed) => {
                out.content = parsed.normal_text;
                out.reasoning = parsed.reasoning_text;
            }
            Err(error) => out.failure = Some(error.to_string()),
        }
        Some(out)
    }

    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let parser = self.factory.registry().create_parser(self.name);
        Box::new(move |out| {
            let Some(mut parser) = parser else { return };
            if self.open {
                parser.mark_reasoning_started();
                parser.mark_think_start_stripped();
            }
            let parsed = chunks
                .iter()
                .try_for_each(|chunk| {
                    let parsed = parser.parse_reasoning_streaming_incremental(chunk)?;
                    out.content.push_str(&parsed.normal_text);
                    out.reasoning.push_str(&parsed.reasoning_text);
                    Ok(())
                })
                .and_then(|()| parser.flush());
            match parsed {
                Ok(rest) => {
                    out.content.push_str(&rest.normal_text);
                    out.reasoning.push_str(&rest.reasoning_text);
                }
                Err(error) => {
                    let error: reasoning_parser::ParseError = error;
                    out.failure = Some(error.to_string());
                }
            }
        })
    }
}
