//! Writing of tagged parameters: the `parameter` template for each.
//!
//! ```text
//! template   <p={key}>\n{value}\n</p>\n
//! {"s": "x", "n": 3}
//! <p=s>\nx\n</p>\n<p=n>\n3\n</p>\n
//! ```

use super::{
    CallToWrite,
    call::{Markup, Scope, Writer},
    tags::{Rest, around, find, tag},
    typed::{self, Reading},
};
use crate::{
    encode::{EncodeErrorKind, error::EncodeFault, input::JsonNode},
    machine::arguments::{parameters::HeadersIn, tag::TagTexts, value::ending::call_end},
    template::{Hole, Template, Trim},
    typing::admitted,
};

/// The start of a section of character data, in which only its end is markup.
const CDATA: &str = "<![CDATA[";

impl Writer<'_> {
    pub(super) fn parameters(
        &mut self,
        call: &CallToWrite<'_>,
        separator: &str,
    ) -> Result<(), EncodeFault> {
        for (i, (key, value)) in call.arguments.iter().enumerate() {
            self.out.push_str(if i > 0 { separator } else { "" });
            let templates = &self.form.parameters;
            self.first_of(templates.iter(), |writer, template| {
                let scope = Scope { call, parameter: Some((key, value, template)), all: &[] };
                writer.walk(Rest { parts: &template.parts, around: None }, &scope)
            })
            .map_err(|fault| fault.for_key(key))?;
        }
        Ok(())
    }

    /// Writes a value. Fails if its end would not be found, or if white space at its edges would be
    /// lost. The first attempt leaves the newlines at the edges to the parser that reads it back.
    pub(super) fn value(
        &mut self,
        call: &CallToWrite<'_>,
        (key, value, template): (&str, &JsonNode<'_>, &Template),
        trim: Trim,
        rest: &Rest<'_>,
    ) -> Result<(), EncodeFault> {
        let says = |hole: &Hole| matches!(hole, Hole::Type | Hole::StringFlag);
        let string = matches!(value, JsonNode::String(_));
        let said = template.holes().any(says).then_some(string);
        let tool = self.tools.get(call.name);
        let declared = tool.and_then(|tool| admitted(&tool.parameters, key));
        let reading = Reading::new(self.form, declared, said);
        let text = typed::text(value, self.family.write, |text| reading.to_json(text))?;
        if self.out.ends_with(CDATA) {
            // A section cannot contain its own end, so that text is split between two sections.
            self.out.push_str(&text.replace("]]>", "]]]]><![CDATA[>"));
            return Ok(());
        }
        if string
            && text.contains(['<', '&', '\n'])
            && self.around_values().any(|(head, _)| head.ends_with(CDATA))
        {
            let why = "text with markup needs a section of character data";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why));
        }
        let again = self.specs.iter().flat_map(|spec| spec.value_openers());
        if again.flat_map(TagTexts::texts).any(|tag| text.starts_with(tag)) {
            let why = "it begins with the tag before it";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why).at(0));
        }
        if self.markup == Markup::Refused
            && let Some(at) = self.ends_value(&text, rest)
        {
            let why = "it contains the tags that would end it";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why).at(at));
        }
        let guesses = self.markup == Markup::Refused || trim == Trim::All;
        if string && guesses && self.loses_edges(&text, trim, rest) {
            let why = "the whitespace at its edges would be trimmed";
            return Err(EncodeFault::new(EncodeErrorKind::Value, why));
        }
        self.out.push_str(&text);
        Ok(())
    }

    /// Returns the literals before and after values in the form's templates.
    fn around_values(&self) -> impl Iterator<Item = (&str, &str)> {
        let value = |hole: &Hole| matches!(hole, Hole::Value(_));
        self.form.parameters.iter().map(move |template| around(template, value))
    }

    /// Returns whether a reader would remove white space at the value's edges. With trimming, any
    /// white space. Otherwise a newline that another template of the form has there, but this one
    /// does not.
    fn loses_edges(&self, text: &str, trim: Trim, rest: &Rest<'_>) -> bool {
        if trim == Trim::All {
            return text.trim_ascii() != text;
        }
        let before = text.starts_with('\n') && !self.out.ends_with('\n');
        let shown = rest.next().iter().any(|next| next.starts_with('\n'));
        let following = text.ends_with('\n') && !shown;
        self.around_values()
            .any(|(head, end)| before && head.ends_with('\n') || following && end.starts_with('\n'))
    }

    /// Returns the position in a value of a text that would end it:
    ///
    /// - the value's end tag,
    /// - the header of a parameter, or only its first tag if that is a special token,
    /// - the end of the call, if the end of the section or another call follows.
    fn ends_value(&self, text: &str, rest: &Rest<'_>) -> Option<usize> {
        let spellings = &self.form.spellings;
        let own = rest.next().into_iter().filter_map(|next| {
            let tag = TagTexts::new(tag(next), spellings);
            tag.texts().filter_map(|tag| find(text, tag)).min()
        });
        let header = self.form.parameters.iter().filter_map(|template| {
            let (head, end) =
                around(template, |hole| matches!(hole, Hole::Key | Hole::KeyMeant(_)));
            let (head, last) = (head.trim_ascii_start(), text.rfind(tag(end)));
            let place = self.specs.iter().map(|spec| spec.headers).max()?;
            let by_token = self.specs.iter().any(|spec| spec.opens_by_token);
            let begins = |&(at, _): &(usize, &str)| {
                let line = at == 0 || text[..at].ends_with('\n');
                by_token
                    || (line || place > HeadersIn::Lines)
                        && last.is_some_and(|last| at.saturating_add(head.len()) <= last)
            };
            if head.is_empty() { None } else { text.match_indices(head).find(begins) }
        });
        let closes = self.specs.iter().filter_map(|spec| call_end(spec, text, self.tools));
        own.chain(header.map(|(at, _)| at)).chain(closes).min()
    }
}
