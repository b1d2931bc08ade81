//! `dynamo-parsers-v2`: its parsers of calls alone, and those of reasoning and calls.

use dynamo_parsers_v2::{
    REGISTERED_FAMILIES, REGISTERED_UNIFIED_FAMILIES, Tool, ToolParseResult, UnifiedParserEvent,
    UnifiedParserExt, UnifiedParserInit, UnifiedParserStartingState, create_tool_parser_for_family,
    create_unified_parser_for_family,
};
use llm_stream_guard::{Profile, Tools};

use crate::{
    outcome::Outcome,
    peer::{Made, Peer, Stream, Task, names, tools},
};

/// Its parser for the task.
pub(crate) fn peer(task: Task, profile: &Profile, declared: &Tools) -> Made {
    let known = match task {
        Task::Calls => REGISTERED_FAMILIES,
        Task::Reasoning { .. } => REGISTERED_UNIFIED_FAMILIES,
    };
    let names = names("dynamo", profile, task);
    let Some(name) = names.into_iter().find(|name| known.contains(name)) else {
        return Ok(None);
    };
    let tools = tools(declared, |name, parameters| Tool {
        name: name.to_owned(),
        description: None,
        parameters: parameters.clone(),
        strict: None,
    });
    let made = match task {
        Task::Calls => create_tool_parser_for_family(name, &tools).map(drop),
        Task::Reasoning { .. } => create_unified_parser_for_family(name, &tools).map(drop),
    };
    made.map_err(|error| error.to_string())?;
    Ok(Some(match task {
        Task::Calls => Box::new(Calls { name, tools }),
        Task::Reasoning { open } => Box::new(Unified { name, tools, open }),
    }))
}

struct Calls {
    name: &'static str,
    tools: Vec<Tool>,
}

impl Peer for Calls {
    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let parser = create_tool_parser_for_family(self.name, &self.tools);
        Box::new(move |out| {
            let parsed = parser.and_then(|mut parser| {
                for chunk in chunks {
                    collect(out, &parser.push(chunk)?);
                }
                collect(out, &parser.finish()?);
                Ok(())
            });
            out.failure = parsed.err().map(|error| error.to_string());
        })
    }
}

fn collect(out: &mut Outcome, parsed: &ToolParseResult) {
    out.content.push_str(&parsed.normal_text);
    for call in &parsed.calls {
        out.call(call.tool_index, call.name.as_deref(), &call.arguments);
    }
}

struct Unified {
    name: &'static str,
    tools: Vec<Tool>,
    open: bool,
}

impl Peer for Unified {
    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let parser = create_unified_parser_for_family(self.name, &self.tools);
        let mut init = UnifiedParserInit::default();
        if self.open {
            init.starting_state = UnifiedParserStartingState::Reasoning;
        }
        Box::new(move |out| {
            let parsed = parser.and_then(|mut parser| {
                parser.initialize_request(init)?;
                for chunk in chunks {
                    collect_events(out, parser.push(chunk)?);
                }
                collect_events(out, parser.finish()?.events);
                Ok(())
            });
            out.failure = parsed.err().map(|error| error.to_string());
        })
    }
}

fn collect_events(out: &mut Outcome, events: Vec<UnifiedParserEvent>) {
    for event in events {
        match event {
            UnifiedParserEvent::Text(text) => out.content.push_str(&text),
            UnifiedParserEvent::Reasoning(text) => out.reasoning.push_str(&text),
            UnifiedParserEvent::ToolCall(call) => {
                out.call(call.tool_index, call.name.as_deref(), &call.arguments);
            }
            UnifiedParserEvent::MessageStart(_) | UnifiedParserEvent::MessageEnd => {}
        }
    }
}
