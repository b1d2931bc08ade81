//! Chat templates, rendered as `transformers` would.

use std::{fmt::Write as _, thread};

use minijinja::{
    Environment, Error, ErrorKind, UndefinedBehavior, Value,
    syntax::SyntaxConfig,
    value::{Kwargs, ValueKind},
};
use minijinja_contrib::pycompat::unknown_method_callback;

/// What a template may compute, in instructions: it comes from a stranger's file. Rendering a few
/// messages and tools takes thousands.
const FUEL: u64 = 200_000;

/// Each instruction may put a list into another one, and the engine prints and drops lists by calls
/// inside calls. A system gives out of this what is touched.
const STACK: usize = 512 << 20;

/// An indentation is less.
const WIDEST: usize = 256;

/// A template that compiles.
pub(super) struct Template {
    environment: Environment<'static>,
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// What the template engine says of it.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| error.to_string())?);
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment.set_unknown_method_callback(|state, value, method, arguments| match method {
            // Values do not change here: what a list grew by is written another way.
            "append" | "extend" | "pop" | "update" => Ok(Value::from(())),
            _ => unknown_method_callback(state, value, method, arguments),
        });
        environment.set_fuel(Some(FUEL));
        environment.add_filter("tojson", tojson);
        environment.add_filter("indent", indent);
        environment.add_function("raise_exception", |problem: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, problem))
        });
        // A date is no part of what is looked at.
        environment.add_function("strftime_now", |_: String| "2024-01-01");
        environment.add_template_owned("chat", adapted(text)).map_err(|error| error.to_string())?;
        Ok(Self { environment })
    }

    /// Renders the template.
    ///
    /// # Errors
    /// What the template or its engine says.
    pub(super) fn render(&self, context: &Value) -> Result<String, String> {
        let render = || {
            let template = self.environment.get_template("chat");
            let rendered = template.and_then(|template| template.render(context));
            rendered.map_err(|error| error.to_string())
        };
        thread::scope(|scope| {
            match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, render) {
                Ok(rendered) => rendered.join().unwrap_or_else(|_| Err("it panicked".to_owned())),
                // A platform without threads, or without so much room.
                Err(_) => render(),
            }
        })
    }
}

/// The template without the tags that tell a trainer which text is the model's, which no engine of
/// templates knows by itself, and with lists made anew where it appends to one.
fn adapted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((text, behind)) = rest.split_once("{%") {
        let Some((tag, behind)) = behind.split_once("%}") else { break };
        rest = behind;
        out.push_str(text);
        match tag.trim_matches(['-', '+', ' ']) {
            "generation" | "endgeneration" => {
                // A comment keeps the marks that trim whitespace.
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

/// How wide an indentation is, if it is none that only fills memory.
fn wide(indent: Option<usize>) -> Result<Option<usize>, Error> {
    match indent {
        Some(WIDEST..) => Err(Error::new(ErrorKind::InvalidOperation, "the indentation is wide")),
        indent => Ok(indent),
    }
}

/// Lines behind the first, or all, indented as Jinja does: what ends the text stays.
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

/// The list and the item of `set _ = list.append(item)`.
fn appended(tag: &str) -> Option<(&str, &str)> {
    let assigned = tag.strip_prefix("set ")?.split_once('=')?.1.trim();
    let (list, item) = assigned.split_once(".append(")?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    Some((list, item.strip_suffix(')')?)).filter(|(list, _)| list.chars().all(is_name))
}

/// JSON as Python writes it.
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
            // Numbers and truth.
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
    use minijinja::context;

    use super::{super::context::value_of, Template};

    fn render(template: &str) -> String {
        let template = Template::new(template).unwrap_or_else(|error| panic!("{error}"));
        let value = serde_json::json!({"b": [1, 2.5, true, null], "a": "<é>"});
        let context = context! { value => value_of(value) };
        template.render(&context).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn json_is_as_python_writes_it() {
        assert_eq!(render("{{ value.b | tojson }}"), "[1, 2.5, true, null]");
        assert_eq!(render("{{ value.a | tojson }}"), "\"<é>\"");
        assert_eq!(render("{{ value.a | tojson(ensure_ascii=True) }}"), "\"<\\u00e9>\"");
        assert_eq!(render("{{ value.b[:2] | tojson(indent=1) }}"), "[\n 1,\n 2.5\n]");
        assert_eq!(render("{{ 'a\nb\n' | indent(2, first=true) }}"), "  a\n  b\n");
        assert_eq!(render("{{ [] | tojson(separators=(',', ':')) }}"), "[]");
    }

    #[test]
    fn what_templates_take_from_python_is_there() {
        assert_eq!(render("{{ ' x '.strip() }}{% generation %}y{% endgeneration %}"), "xy");
        let appends = "{% set n = namespace(l=[]) %}{% for x in value.b[:2] %}\
            {%- set _ = n.l.append(x) -%}{% endfor %}{{ n.l }}";
        assert_eq!(render(appends), "[1, 2.5]");
        assert_eq!(render("{% if true %}\n  a\n{% endif %}"), "  a\n");
        assert_eq!(render("{{ strftime_now('%Y') and 1 }}"), "1");
    }

    #[test]
    fn a_template_that_raises_or_runs_forever_is_an_error() {
        let raises = Template::new("{{ raise_exception('no tools') }}").expect("it compiles");
        let error = raises.render(&context! {}).expect_err("it raises");
        assert!(error.contains("no tools"), "{error}");
        let endless =
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
        assert!(Template::new(endless).expect("it compiles").render(&context! {}).is_err());
        assert!(Template::new("{% if %}").is_err());
    }

    #[test]
    fn lists_in_lists_are_printed_compared_and_dropped_however_deep() {
        let [open, close] = ["[", "]"].map(|bracket| bracket.repeat(50));
        let nested = format!(
            "{{% set n = namespace(l=[]) %}}{{% for a in range(1000) %}}\
             {{% set n.l = {open}n.l{close} %}}{{% endfor %}}"
        );
        for then in ["", "{{ n.l }}", "{{ n.l == [n.l] }}", "{{ n.l | tojson }}"] {
            let template = Template::new(&format!("{nested}{then}")).expect("it compiles");
            let rendered = template.render(&context! {});
            assert!(rendered.is_ok(), "{then}: {rendered:?}");
        }
    }
}
