//! Tests of derivations from templates of shapes that no family has, and of refusals.

use super::{DeriveError, DerivedFamily, Job, derive_rendered, derive_trusted};
use crate::{Checkpoint, End, Guard, Start, identify::render, limits::MAX_RENDERING_BYTES};

/// Returns a template whose turns are `<s>ROLE` to `</s>`, and whose calls are `calls`.
fn template(calls: &str) -> String {
    [
        "{%- for m in messages -%}<s>{{ m.role }}\n{{ m.content or '' }}{%- if m.tool_calls -%}",
        calls,
        "{%- endif -%}<|end|>\n{% endfor -%}{%- if add_generation_prompt -%}<s>assistant\n{% endif -%}",
    ]
    .concat()
}

fn derive(calls: &str) -> Result<DerivedFamily, DeriveError> {
    derive_trusted(&Checkpoint::from_template(&template(calls)))
}

/// Derives a family and reads a wire of the same shape.
fn reads(calls: &str, wire: &str, expected: &[(&str, &str)]) {
    let derived = derive(calls).unwrap_or_else(|refusal| panic!("{refusal}"));
    let guard = Guard::builder(&derived.profile).build().unwrap();
    let message = guard.parse(wire, End::Stop).unwrap();
    let calls: Vec<(&str, &str)> =
        message.calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
    assert_eq!(calls, expected, "{}", derived.file);
    assert_eq!(message.content.trim(), "Well.", "{}", derived.file);
}

const EACH: &str = "{%- for c in m.tool_calls -%}{%- set f = c.function -%}";

#[test]
fn object_between_tags_is_derived() {
    let calls = [
        EACH,
        "<do>{\"fn\": {{ f.name | tojson }}, \"with\": {{ f.arguments | tojson }}}</do>{% endfor -%}",
    ];
    reads(
        &calls.concat(),
        "Well.<do>{\"fn\": \"ping\", \"with\": {\"n\": 1}}</do><do>{\"fn\": \"pong\", \"with\": {}}</do><|end|>",
        &[("ping", "{\"n\": 1}"), ("pong", "{}")],
    );
}

#[test]
fn name_and_arguments_in_a_section_are_derived() {
    let calls = [
        "<|calls|>",
        EACH,
        "<|call|>{{ f.name }}<|with|>{{ f.arguments | tojson }}<|done|>{% endfor -%}<|calls_end|>",
    ];
    reads(
        &calls.concat(),
        "Well.<|calls|><|call|>ping<|with|>{\"n\": [1, 2]}<|done|><|call|>pong<|with|>{}<|done|><|calls_end|><|end|>",
        &[("ping", "{\"n\": [1, 2]}"), ("pong", "{}")],
    );
}

#[test]
fn tagged_parameters_are_derived() {
    let calls = [
        EACH,
        "<run tool={{ f.name }}>\n{% for k, v in f.arguments.items() %}<arg {{ k }}>\
         {{ v if v is string else v | tojson }}</arg>\n{% endfor %}</run>{% endfor -%}",
    ];
    reads(
        &calls.concat(),
        "Well.<run tool=ping>\n<arg who>Ann <b> & co</arg>\n<arg why>x</arg>\n</run><|end|>",
        &[("ping", "{\"who\": \"Ann <b> & co\", \"why\": \"x\"}")],
    );
}

#[test]
fn template_that_shows_no_calls_or_loses_a_part_is_refused() {
    let rows = [
        ("", "it renders no calls"),
        ("{%- for c in m.tool_calls -%}<do>{{ c.function.name }}</do>{% endfor -%}", "are lost"),
        (
            "{%- for c in m.tool_calls -%}<do {{ c.function.name }}>{% for k, v in c.function.arguments.items() %}\
             <{{ k }}>{{ v }}{% endfor %}{% endfor -%}",
            "nothing ends a value",
        ),
    ];
    for (calls, reason) in rows {
        let refusal = derive(calls).map(|derived| derived.file).expect_err(reason);
        assert!(refusal.to_string().contains(reason), "{refusal}");
    }
}

#[test]
fn reasoning_and_its_start_are_derived() {
    let calls = [
        EACH,
        "<do>{\"name\": {{ f.name | tojson }}, \"arguments\": {{ f.arguments | tojson }}}</do>{% endfor -%}",
    ];
    let text = template(&calls.concat()).replace(
        "{{ m.content or '' }}",
        "{% if m.reasoning_content %}<muse>\n{{ m.reasoning_content }}\n</muse>\n\n{% endif %}{{ m.content or '' }}",
    );
    let open = text.replace("<s>assistant\n{% endif", "<s>assistant\n<muse>\n{% endif");
    for (text, start) in [(text, Start::Content), (open, Start::Reasoning)] {
        let checkpoint = Checkpoint::from_template(&text);
        let derived = derive_trusted(&checkpoint).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(derived.profile.start, start, "{}", derived.file);
        let guard = Guard::builder(&derived.profile).build().unwrap();
        let thought =
            if start == Start::Content { "<muse>\nHm.\n</muse>\n\n" } else { "Hm.\n</muse>\n\n" };
        let message = guard.parse(&format!("{thought}So.<|end|>"), End::Stop).unwrap();
        assert_eq!((message.reasoning.trim(), message.content.trim()), ("Hm.", "So."));
    }
}

mod invented;

#[test]
fn profile_of_a_chat_template_is_derived_and_says_so() {
    let calls = [EACH, "<do {{ f.name }}>{{ f.arguments | tojson }}</do>{% endfor -%}"].concat();
    let profile = crate::Profile::from_chat_template(&template(&calls)).unwrap();
    assert!(profile.is_derived());
    assert!(!crate::profile("hermes").unwrap().is_derived());
    let refusal = crate::Profile::from_chat_template("{{ messages[0].content }}").unwrap_err();
    assert!(refusal.to_string().starts_with("no family was derived: "), "{refusal}");
}

#[test]
fn renderer_of_the_caller_derives_the_same_family() {
    let calls = [EACH, "<do {{ f.name }}>{{ f.arguments | tojson }}</do>{% endfor -%}"].concat();
    let checkpoint = Checkpoint::from_template(&template(&calls));
    let rendered = |template: &str, variables: &str| {
        let job = Job { template: template.to_owned(), contexts: vec![variables.to_owned()] };
        render::render(&job).remove(0)
    };
    let derived = derive_rendered(&checkpoint, &rendered).unwrap();
    assert_eq!(Ok(&derived), derive_trusted(&checkpoint).as_ref());
    let long = |_: &str, _: &str| Ok("x".repeat(MAX_RENDERING_BYTES + 1));
    let refusal = derive_rendered(&checkpoint, &long).unwrap_err();
    assert!(refusal.to_string().contains("it renders more than"), "{refusal}");
}

/// Derives a family without those of the project.
fn own(checkpoint: &Checkpoint, text: &str) -> Result<DerivedFamily, DeriveError> {
    let renderings = super::renderings::rendered(checkpoint, text, &render::render)?;
    let end = super::turn::end_of(&renderings);
    let bodies = super::Bodies::new(&renderings, &end);
    let drafts = bodies.drafts()?;
    let turn = super::TurnText::new(&renderings, &bodies, &end);
    let deadline = super::Deadline::new();
    let search = super::Search { renderings: &renderings, bodies: &bodies, turn: &turn, deadline };
    search.own(&drafts)
}

/// Prints what becomes of the templates in the folder `TEMPLATES`.
#[test]
#[ignore = "needs a folder of chat templates"]
fn templates_of_a_folder_are_measured() {
    let folder = std::env::var("TEMPLATES").expect("a folder");
    let (mut derives, mut refused) = (0, 0);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let begun = std::time::Instant::now();
        let checkpoint = Checkpoint::from_template(&text);
        let result = match std::env::var("OWN") {
            Ok(_) => own(&checkpoint, &text),
            Err(_) => derive_trusted(&checkpoint),
        };
        let spent = begun.elapsed().as_millis();
        match result {
            Ok(derived) => {
                derives += 1;
                let like = derived.like.unwrap_or_default();
                println!("== {name}: derived {like} in {spent} ms\n{}", derived.file);
            }
            Err(refusal) => {
                refused += 1;
                let text: String = refusal.to_string().chars().take(900).collect();
                println!("== {name}: in {spent} ms: {text}");
            }
        }
    }
    println!("{derives} derived, {refused} refused");
    assert!(derives > 0, "no template was derived");
}
