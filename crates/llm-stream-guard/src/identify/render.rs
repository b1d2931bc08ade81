//! Rendering of chat templates as `transformers` does it.

use std::{fmt::Write as _, thread};

use minijinja::{
    Environment, Error, ErrorKind, UndefinedBehavior, Value,
    syntax::SyntaxConfig,
    value::{Kwargs, ValueKind},
};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::{
    context::value_of,
    job::{Job, Rendered},
};
use crate::limits::{
    MAX_RENDERING_BYTES,
    rendering::{
        MAX_INDENT, MAX_PROBLEM_BYTES, MAX_RENDER_STEPS, MAX_TEMPLATE_BYTES, RENDER_STACK_BYTES,
    },
};

/// Renders a template with each context.
pub(super) fn render(job: &Job) -> Vec<Rendered> {
    let all = || {
        let environment = environment(&job.template);
        let one = |context: &String| match &environment {
            Ok(environment) => render_one(environment, context),
            Err(problem) => Err(shortened(problem.clone())),
        };
        job.contexts.iter().map(one).collect::<Vec<_>>()
    };
    let failed = |problem: &str| job.contexts.iter().map(|_| Err(problem.to_owned())).collect();
    thread::scope(|scope| {
        match thread::Builder::new().stack_size(RENDER_STACK_BYTES).spawn_scoped(scope, all) {
            Ok(rendered) => rendered.join().unwrap_or_else(|_| failed("it panicked")),
            Err(_) => failed("there is no room for its stack"),
        }
    })
}

/// Compiles a template, or returns the engine's error.
fn environment(text: &str) -> Result<Environment<'static>, String> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| error.to_string())?);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_unknown_method_callback(|state, value, method, arguments| match method {
        // Values are immutable here: `adapted` rewrites appending to lists.
        "append" | "extend" | "pop" | "update" => Ok(Value::from(())),
        _ => unknown_method_callback(state, value, method, arguments),
    });
    environment.set_fuel(Some(MAX_RENDER_STEPS));
    environment.add_filter("tojson", tojson);
    environment.add_filter("indent", indent);
    environment.add_function("raise_exception", |problem: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, problem))
    });
    // A fixed date, because dates are irrelevant to the family.
    environment.add_function("strftime_now", |_: String| "2024-01-01");
    let text = adapted(text);
    if text.len() > MAX_TEMPLATE_BYTES {
        return Err(format!("it is longer than {MAX_TEMPLATE_BYTES} bytes"));
    }
    environment.add_template_owned("chat", text).map_err(|error| error.to_string())?;
    Ok(environment)
}

fn render_one(environment: &Environment<'_>, context: &str) -> Rendered {
    let context = serde_json::from_str(context).map_err(|error| error.to_string())?;
    let context = value_of(context);
    let template = environment.get_template("chat");
    let rendered = template.and_then(|template| template.render(context));
    match rendered {
        Ok(text) if text.len() > MAX_RENDERING_BYTES => {
            Err(format!("it renders more than {MAX_RENDERING_BYTES} bytes"))
        }
        Ok(text) => Ok(text),
        Err(error) => Err(shortened(error.to_string())),
    }
}

fn shortened(problem: String) -> String {
    let cut = problem.char_indices().map(|(at, _)| at).find(|&at| at >= MAX_PROBLEM_BYTES);
    cut.map_or(problem.clone(), |at| problem[..at].to_owned())
}

/// Removes the tags that mark a model's text for training, which the engine does not know, and
/// rewrites `append` as the construction of a new list.
fn adapted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((text, behind)) = rest.split_once("{%") {
        let Some((tag, behind)) = behind.split_once("%}") else { break };
        rest = behind;
        out.push_str(text);
        match tag.trim_matches(['-', '+', ' ']) {
            "generation" | "endgeneration" => {
                // A comment keeps the signs that trim white space.
                out.extend(["{#", tag, "#}"]);
            }
            inside => match appended(inside) {
                Some((list, item)) => {
                    let (before, behind) = tag.split_at(tag.find(inside).unwrap_or_default());
                    let behind = &behind[inside.len()..];
                    let grown = format!("set {list} = {list} + [{item}]");
                    out.extend(["{%", before, &grown, behind, "%}"]);
                }
                None => out.extend(["{%", tag, "%}"]),
            },
        }
    }
    out.push_str(rest);
    out
}

/// Returns the width of an indentation, or an error if it would only fill memory.
fn wide(indent: Option<usize>) -> Result<Option<usize>, Error> {
    match indent {
        Some(MAX_INDENT..) => {
            Err(Error::new(ErrorKind::InvalidOperation, "the indentation is wide"))
        }
        indent => Ok(indent),
    }
}

/// Indents all lines, or all but the first, as Jinja does. The end of the text is unchanged.
fn indent(text: &str, width: Option<usize>, options: Kwargs) -> Result<String, Error> {
    let width = wide(width.or(options.get("width")?))?.unwrap_or(4);
    let first = options.get::<Option<bool>>("first")?.unwrap_or(false);
    let blank = options.get::<Option<bool>>("blank")?.unwrap_or(false);
    options.assert_all_used()?;
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        out.push_str(if n > 0 { "\n" } else { "" });
        if if n == 0 { first } else { blank || !line.is_empty() } {
            out.extend(std::iter::repeat_n(' ', width));
        }
        out.push_str(line);
    }
    Ok(out)
}

/// Returns the list and the item of `set _ = list.append(item)`.
fn appended(tag: &str) -> Option<(&str, &str)> {
    let assigned = tag.strip_prefix("set ")?.split_once('=')?.1.trim();
    let (list, item) = assigned.split_once(".append(")?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    Some((list, item.strip_suffix(')')?)).filter(|(list, _)| list.chars().all(is_name))
}

/// Writes JSON with the separators and escapes of Python.
fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    let indent = wide(options.get::<Option<usize>>("indent")?)?;
    let _ = options.get::<Option<bool>>("sort_keys")?;
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    options.assert_all_used()?;
    let [item, key] = match separators.as_deref() {
        Some([item, key]) => [item.clone(), key.clone()],
        _ if indent.is_some() => [",".into(), ": ".into()],
        _ => [", ".into(), ": ".into()],
    };
    let mut json = Json { out: String::new(), ascii, indent, item, key };
    json.value(value, 0)?;
    Ok(json.out)
}

struct Json {
    out: String,
    ascii: bool,
    indent: Option<usize>,
    item: String,
    key: String,
}

impl Json {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let inside = depth.saturating_add(1);
        match value.kind() {
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Undefined | ValueKind::None => self.out.push_str("null"),
            ValueKind::Map => {
                let keys: Vec<Value> = value.try_iter()?.collect();
                self.all('{', '}', depth, &keys, |json, key| {
                    json.string(&key.to_string());
                    let colon = json.key.clone();
                    json.out.push_str(&colon);
                    json.value(&value.get_item(key)?, inside)
                })?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.all('[', ']', depth, &items, |json, item| json.value(item, inside))?;
            }
            // Numbers, `true` and `false`.
            _ => self.out.push_str(&value.to_string().to_lowercase()),
        }
        Ok(())
    }

    fn all(
        &mut self,
        open: char,
        close: char,
        depth: usize,
        items: &[Value],
        mut each: impl FnMut(&mut Self, &Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.out.push(open);
        for (n, item) in items.iter().enumerate() {
            let comma = if n > 0 { self.item.clone() } else { String::new() };
            self.out.push_str(&comma);
            self.line(depth.saturating_add(1));
            each(self, item)?;
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent.saturating_mul(depth)));
        }
    }

    fn string(&mut self, text: &str) {
        let json = serde_json::Value::from(text).to_string();
        for scalar in json.chars() {
            if self.ascii && !scalar.is_ascii() {
                for unit in scalar.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(self.out, "\\u{unit:04x}");
                }
            } else {
                self.out.push(scalar);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, MAX_RENDERING_BYTES, MAX_TEMPLATE_BYTES, Rendered};

    fn try_render(template: &str) -> Rendered {
        let context = r#"{"value": {"b": [1, 2.5, true, null], "a": "<é>"}}"#;
        let job = Job { template: template.to_owned(), contexts: vec![context.to_owned()] };
        super::render(&job).remove(0)
    }

    fn render(template: &str) -> String {
        try_render(template).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn tojson_and_indent_match_python() {
        assert_eq!(render("{{ value.b | tojson }}"), "[1, 2.5, true, null]");
        assert_eq!(render("{{ value.a | tojson }}"), "\"<é>\"");
        assert_eq!(render("{{ value.a | tojson(ensure_ascii=True) }}"), "\"<\\u00e9>\"");
        assert_eq!(render("{{ value.b[:2] | tojson(indent=1) }}"), "[\n 1,\n 2.5\n]");
        assert_eq!(render("{{ 'a\nb\n' | indent(2, first=true) }}"), "  a\n  b\n");
        assert_eq!(render("{{ [] | tojson(separators=(',', ':')) }}"), "[]");
    }

    #[test]
    fn python_methods_and_generation_tags_work_in_templates() {
        assert_eq!(render("{{ ' x '.strip() }}{% generation %}y{% endgeneration %}"), "xy");
        let appends = "{% set n = namespace(l=[]) %}{% for x in value.b[:2] %}\
            {%- set _ = n.l.append(x) -%}{% endfor %}{{ n.l }}";
        assert_eq!(render(appends), "[1, 2.5]");
        assert_eq!(render("{% if true %}\n  a\n{% endif %}"), "  a\n");
        assert_eq!(render("{{ strftime_now('%Y') and 1 }}"), "1");
    }

    #[test]
    fn template_that_raises_or_loops_forever_is_an_error() {
        let error = try_render("{{ raise_exception('no tools') }}").expect_err("it raises");
        assert!(error.contains("no tools"), "{error}");
        let endless =
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
        assert!(try_render(endless).is_err());
        assert!(try_render("{% if %}").is_err());
    }

    #[test]
    fn texts_longer_than_their_limits_are_errors() {
        let text = |len| "a".repeat(len);
        assert!(try_render(&text(MAX_TEMPLATE_BYTES)).is_ok());
        let error = try_render(&text(MAX_TEMPLATE_BYTES + 1)).expect_err("it is long");
        assert!(error.contains("longer than"), "{error}");
        let long = |len| try_render(&format!("{{{{ 'a' * {len} }}}}"));
        assert!(long(MAX_RENDERING_BYTES).is_ok());
        let error = long(MAX_RENDERING_BYTES + 1).expect_err("it is long");
        assert!(error.contains("renders more than"), "{error}");
        let error = try_render("{{ raise_exception('é' * 9999) }}").expect_err("it raises");
        assert!(error.len() < 500, "{error}");
    }

    #[test]
    fn longest_operator_chains_do_not_overflow_the_stack() {
        let signs = "-".repeat(MAX_TEMPLATE_BYTES - 7);
        assert!(try_render(&format!("{{{{ {signs}1 }}}}")).is_ok());
        let attributes = ".b".repeat(MAX_TEMPLATE_BYTES / 2 - 4);
        assert!(try_render(&format!("{{{{ a{attributes} }}}}")).is_ok());
    }

    #[test]
    fn deeply_nested_lists_are_printed_compared_and_dropped_without_overflow() {
        let [open, close] = ["[", "]"].map(|bracket| bracket.repeat(50));
        let nested = format!(
            "{{% set n = namespace(l=[]) %}}{{% for a in range(1000) %}}\
             {{% set n.l = {open}n.l{close} %}}{{% endfor %}}"
        );
        for then in ["", "{{ n.l }}", "{{ n.l == [n.l] }}", "{{ n.l | tojson }}"] {
            let rendered = try_render(&format!("{nested}{then}")).map(drop);
            assert!(rendered.is_ok(), "{then}: {rendered:?}");
        }
    }
}
