//! The part of a family about prompts: how tools are declared, and how results are shown.

use alloc::{borrow::ToOwned, format, string::String, vec};

use super::fields::{FamilyResult, FieldReader};
use crate::template::{Hole, Part, Template};

/// How prompts declare tools to the models of a family, and show the results of calls.
///
/// ```text
/// declare = "xml"
/// tools   = '<tools>{text}</tools>Call `{name}` like this: {call}'
/// result  = '<result tool="{name}">{text}</result>'
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPrompt {
    /// The text of the system prompt. `{text}` holds the declarations, `{call}` an example, and
    /// `{name}` the name of the tool that the example calls.
    pub tools: Template,
    /// The form of the declarations.
    pub declare: DeclareAs,
    /// The result of one call, in `{text}`. `{name}` holds the name of the tool, and `{id}` the id
    /// of the call.
    pub result: Template,
}

/// The form in which a prompt declares a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum DeclareAs {
    /// A line of JSON: name, description and the schema of the parameters.
    #[default]
    Json,
    /// An XML element, with one element for each parameter.
    Xml,
}

impl Default for ToolPrompt {
    fn default() -> Self {
        let literal = |text: &str| Part::Literal(text.to_owned());
        let tools = vec![
            literal(
                "You can call tools. Each tool is declared below, with the JSON schema of its \
                 parameters:\n<tools>\n",
            ),
            Part::Hole(Hole::Text),
            literal(
                "\n</tools>\nTo call a tool, write the call in exactly this form. This calls `",
            ),
            Part::Hole(Hole::Name),
            literal("`:\n"),
            Part::Hole(Hole::Call),
            literal(
                "\nWrite your message up to the last call, and nothing after it. The results of \
                 the calls come in the next message.",
            ),
        ];
        let result = vec![
            literal("<tool_response>\n"),
            Part::Hole(Hole::Text),
            literal("\n</tool_response>"),
        ];
        Self {
            tools: Template { parts: tools },
            declare: DeclareAs::Json,
            result: Template { parts: result },
        }
    }
}

pub(super) fn read(field: FieldReader<'_>) -> FamilyResult<ToolPrompt> {
    let fields = field.table(&["tools", "declare", "result"])?;
    let default = ToolPrompt::default();
    let of_tools = |hole: &Hole| matches!(hole, Hole::Text | Hole::Name | Hole::Call);
    let of_result = |hole: &Hole| matches!(hole, Hole::Text | Hole::Name | Hole::Id(None));
    let tools = fields.optional("tools", |field| text(&field, of_tools))?;
    let result = fields.optional("result", |field| text(&field, of_result))?;
    Ok(ToolPrompt {
        tools: tools.unwrap_or(default.tools),
        declare: fields.word("declare", &[("json", DeclareAs::Json), ("xml", DeclareAs::Xml)])?,
        result: result.unwrap_or(default.result),
    })
}

/// Reads a template that has `{text}` once, and otherwise only holes that fit.
fn text(field: &FieldReader<'_>, fits: impl Fn(&Hole) -> bool) -> FamilyResult<Template> {
    let template = field.template()?;
    if let Some(hole) = template.holes().find(|hole| !fits(hole)) {
        return Err(field.error(format!("`{hole}` is not allowed here")));
    }
    match template.holes().filter(|hole| **hole == Hole::Text).count() {
        1 => Ok(template),
        _ => Err(field.error("expected the hole `{text}` once")),
    }
}

impl Template {
    /// Returns the text of the template with the values of its holes. A group is left out if one of
    /// its holes has no value.
    pub(crate) fn filled<'v>(&self, value: &impl Fn(&Hole) -> Option<&'v str>) -> String {
        let mut out = String::new();
        fill(&self.parts, value, &mut out);
        out
    }
}

fn fill<'v>(parts: &[Part], value: &impl Fn(&Hole) -> Option<&'v str>, out: &mut String) {
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Hole(hole) => out.push_str(value(hole).unwrap_or_default()),
            Part::Group(parts) => {
                let lacks = |part: &Part| matches!(part, Part::Hole(hole) if value(hole).is_none());
                if !parts.iter().any(lacks) {
                    fill(parts, value, out);
                }
            }
        }
    }
}
