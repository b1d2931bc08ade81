//! Grammars for declared tools: templates whose end tags repeat a name.
//!
//! ```text
//! call       <{name}>\n{parameters}</{name}>      parameter  <{key}>{value}</{key}>
//! declared   read_file, with a parameter `path`
//! becomes    <read_file>\n{parameters}</read_file>           <path>{value}</path>
//! ```

use alloc::vec::Vec;

use crate::{
    compiled::Grammar,
    family::Family,
    limits::MAX_NAMED_TEMPLATES,
    template::{Hole, Template},
    tools::Tools,
};

impl Grammar {
    /// Returns the grammar for a request that declares `tools`. Templates that repeat the name of
    /// the tool or of a parameter in an end tag are written out for each declared one, and calls in
    /// [`Family::foreign`] forms are read if there are tools. Other grammars are returned unchanged.
    #[must_use]
    pub fn for_tools(&self, tools: &Tools) -> Self {
        self.with_forms(tools).with_names(tools)
    }

    /// Returns the grammar of [`Grammar::for_tools`] without the names of `tools`: if there are tools,
    /// it reads calls in [`Family::foreign`] forms, too.
    #[must_use]
    pub fn with_forms(&self, tools: &Tools) -> &Self {
        if tools.is_empty() { self } else { self.with_foreign() }
    }

    /// Returns the grammar in which templates that repeat a name are written out for `tools`: that of
    /// [`Grammar::for_tools`] without calls in [`Family::foreign`] forms.
    #[must_use]
    pub fn with_names(&self, tools: &Tools) -> Self {
        let repeats = |family: &Family| {
            let mut forms = family.forms.iter();
            forms.any(|form| {
                form.calls.iter().any(Template::repeats_name)
                    || form.parameters.iter().any(Template::repeats_key)
            })
        };
        if !repeats(self.family()) {
            return self.clone();
        }
        let mut family = Family::clone(self.family());
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut keys: Vec<&str> = Vec::new();
        for properties in tools.iter().filter_map(|tool| tool.parameters.get("properties")) {
            for key in properties.as_object().into_iter().flat_map(|all| all.keys()) {
                if !keys.contains(&key.as_str()) && keys.len() < MAX_NAMED_TEMPLATES {
                    keys.push(key);
                }
            }
        }
        for form in &mut family.forms {
            let meant = |name: &str| Hole::NameMeant(name.into());
            written_out(&mut form.calls, Template::repeats_name, &names, (&Hole::Name, &meant));
            let meant = |key: &str| Hole::KeyMeant(key.into());
            written_out(&mut form.parameters, Template::repeats_key, &keys, (&Hole::Key, &meant));
        }
        self.recompiled(family)
    }
}

/// Replaces each template that `repeats` its `hole` by one template for each word.
fn written_out(
    templates: &mut Vec<Template>,
    repeats: fn(&Template) -> bool,
    words: &[&str],
    (hole, meant): (&Hole, &dyn Fn(&str) -> Hole),
) {
    let fits = |word: &&&str| {
        let part = |char: char| char.is_alphanumeric() || "_-.:".contains(char);
        !word.is_empty() && word.chars().all(part)
    };
    let mut all = Vec::new();
    for template in core::mem::take(templates) {
        if repeats(&template) {
            let words = words.iter().filter(fits).take(MAX_NAMED_TEMPLATES);
            all.extend(words.map(|word| template.naming(hole, word, meant(word))));
        } else {
            all.push(template);
        }
    }
    *templates = all;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{End, Family, Grammar, Parser, Tools, parse};

    #[test]
    fn name_in_an_end_tag_is_read_for_declared_tools_only() {
        let family = Family::from_json(
            r#"{"name": "x", "calls": {"call": "<invoke_{name}>{arguments}</invoke_{name}>"}}"#,
        )
        .unwrap();
        let grammar = Grammar::new(family).unwrap();
        let wire = "Hm. <invoke_ring>{\"n\": 1}</invoke_ring> Done.";
        let tools = Tools::new([("ring", json!({}))]);
        let parser = Parser::builder(grammar.clone()).tools(tools).build().unwrap();
        let message = parse(&parser, wire, End::Stop).unwrap();
        assert_eq!(message.calls[0].arguments, "{\"n\": 1}");
        assert_eq!(message.content, "Hm.  Done.");
        let parser = Parser::new(grammar).unwrap();
        let message = parse(&parser, wire, End::Stop).unwrap();
        assert_eq!((message.calls.len(), message.content.as_str()), (0, wire));
    }
}
