//! `derive`.

use std::{fs, path::Path};

use serde_json::json;

use crate::support::{gguf, refused, run, run_on, scratch};

const TEMPLATE: &str = "{%- for m in messages -%}<s>{{ m.role }}\n{{ m.content or '' }}\
    {%- for c in m.tool_calls or [] -%}<do>{\"fn\": {{ c.function.name | tojson }}, \
    \"with\": {{ c.function.arguments | tojson }}}</do>{%- endfor -%}<|end|>\n{% endfor -%}\
    {%- if add_generation_prompt -%}<s>assistant\n{% endif -%}";

#[test]
fn derived_file_reads_what_the_template_renders() {
    let template = scratch("own_template.jinja", TEMPLATE);
    let derived = run(&["derive", &template]);
    let file = String::from_utf8(derived.stdout).expect("UTF-8");
    assert!(file.contains("call = '<do>{object}</do>'"), "{file}");
    let family = scratch("own_family.toml", &file);
    let wire = b"Well. <do>{\"fn\": \"ping\", \"with\": {\"n\": 1}}</do><|end|>";
    let read = run_on(wire, &["parse", "--family", &family]);
    let events = String::from_utf8(read.stdout).expect("UTF-8");
    assert!(events.contains("\"ping\"") && !events.contains("<|end|>"), "{events}");
    let explained = run_on(wire, &["explain", "--family", &family]);
    let explained = String::from_utf8(explained.stdout).expect("UTF-8");
    assert!(explained.contains("derived from a chat template"), "{explained}");
    let found = run(&["identify", &template]);
    let found = String::from_utf8(found.stdout).expect("UTF-8");
    assert!(found.starts_with("derived from its chat template"), "{found}");
}

#[test]
fn template_is_derived_from_every_file_that_has_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("derived_checkpoint");
    fs::create_dir_all(&folder).expect("the scratch directory is there");
    let config = json!({"chat_template": TEMPLATE}).to_string();
    fs::write(folder.join("tokenizer_config.json"), config).expect("it is written");
    let model = scratch("derived.gguf", "");
    fs::write(&model, gguf(&[], TEMPLATE)).expect("it is written");
    let folder = folder.display().to_string();
    let [expected, others @ ..] = [
        scratch("every.jinja", TEMPLATE),
        format!("{folder}/tokenizer_config.json"),
        folder,
        model,
    ]
    .map(|path| String::from_utf8(run(&["derive", &path]).stdout).expect("UTF-8"));
    assert!(expected.contains("call = '<do>{object}</do>'"), "{expected}");
    for other in others {
        assert_eq!(other, expected);
    }
}

#[test]
fn template_without_calls_is_refused_with_the_reason() {
    let plain = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}";
    let template = scratch("plain_template.jinja", plain);
    refused(&["derive", &template], &["plain_template.jinja", "it renders no calls"]);
}
