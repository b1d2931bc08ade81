//! Messages with headers: what they begin and end with, as expressions.

use toolcall_parsers::{
    family::{Family, Messages, Route, RouteTo},
    template::{Hole, Part, Template},
};

use super::pattern::{BLANK, NAME, Pattern, any, escaped, in_class, literal};

/// The headers of a family's messages.
pub(super) struct Headers<'a> {
    messages: &'a Messages,
    tokens: Vec<Token>,
    /// What stands before a recipient.
    to: String,
    /// How texts inside literals are spelled besides.
    spellings: &'a [(String, Vec<String>)],
}

/// A token of a header, behind which words stand.
struct Token {
    text: String,
    is_optional: bool,
    /// Whether its first word is the channel.
    is_channel: bool,
}

impl<'a> Headers<'a> {
    /// Those of `family`, if it writes messages.
    pub(super) fn of(family: &'a Family) -> Result<Option<Self>, String> {
        let Some(messages) = &family.messages else { return Ok(None) };
        let spellings = family.forms.first().map_or(&[][..], |form| &form.spellings);
        let mut headers = Self { messages, tokens: Vec::new(), to: String::new(), spellings };
        headers.read(&messages.header.parts, false)?;
        Ok(Some(headers))
    }

    fn read(&mut self, parts: &[Part], is_optional: bool) -> Result<(), String> {
        let mut rest = parts;
        while let [part, behind @ ..] = rest {
            rest = behind;
            match (part, behind) {
                (Part::Group(inner), _) => self.read(inner, true)?,
                (Part::Literal(text), [Part::Hole(Hole::Recipient), behind @ ..]) => {
                    (self.to, rest) = (text.trim().to_owned(), behind);
                }
                (Part::Literal(text), [Part::Hole(hole), behind @ ..]) => {
                    let is_channel = *hole == Hole::Channel;
                    self.tokens.push(Token {
                        text: text.trim().to_owned(),
                        is_optional,
                        is_channel,
                    });
                    rest = behind;
                }
                _ => return Err("its headers are more than tokens and words".to_owned()),
            }
        }
        Ok(())
    }

    /// Words behind a token, but those of a recipient if there is none.
    fn words(&self, has_recipient: bool) -> String {
        let tokens = self.tokens.iter().map(|token| &token.text).chain(&self.messages.body);
        let recipient = self.to.chars().next_back().filter(|_| !has_recipient);
        let mut class = String::new();
        for c in tokens.filter_map(|text| text.chars().next()).chain(recipient) {
            let c = in_class(c);
            if !class.contains(&c) {
                class += &c;
            }
        }
        format!("[^{class}]*")
    }

    /// A token and what stands behind it, if anything does.
    fn part(&self, token: &Token, words: &str) -> String {
        format!("(?:{}{words})?", literal(&token.text, self.spellings))
    }

    /// What messages of this route begin with; in the recipient `name` stands for the tool's.
    fn header(&self, route: &Route, name: &Pattern) -> Result<Pattern, String> {
        let mut header = match route.recipient.is_empty() {
            true => self.to_nobody(route.channel.as_deref()),
            false => self.addressed(&route.recipient, name)?,
        };
        let body = route.body.as_ref().map_or(&self.messages.body[..], core::slice::from_ref);
        header.then(&any(body.iter().map(|token| escaped(token))));
        Ok(header)
    }

    /// A header without a recipient, up to its last token, of this channel if one is given.
    fn to_nobody(&self, channel: Option<&str>) -> Pattern {
        let (mut header, words) = (Pattern::default(), self.words(false));
        for token in &self.tokens {
            match channel.filter(|_| token.is_channel) {
                Some(channel) => {
                    header.then(&literal(&token.text, self.spellings));
                    header.then(BLANK);
                    header.then(&format!(r"{}(?:\s{words})?", escaped(channel)));
                }
                None => header.then(&self.part(token, &words)),
            }
        }
        header
    }

    /// A header with one of the recipients, up to its last token. Of the tokens that must be there one
    /// stands before the recipient, or the prompt wrote the first.
    fn addressed(&self, recipients: &[Template], name: &Pattern) -> Result<Pattern, String> {
        let (mut header, words) = (Pattern::default(), self.words(true));
        let tokens: Vec<_> = self.tokens.iter().filter(|token| !token.is_optional).collect();
        let mut heads = vec!["^".to_owned()];
        let mut behind = &tokens[..];
        while let [token, rest @ ..] = behind {
            let rest_of_head: String = rest.iter().map(|it| self.part(it, &words)).collect();
            let token = literal(&token.text, self.spellings);
            heads.push(format!("{token}{words}?{rest_of_head}"));
            behind = rest;
        }
        header.then(&any(heads.into_iter()));
        header.then(BLANK);
        header.then(&escaped(&self.to));
        let mut ways = Vec::new();
        for recipient in recipients {
            let mut way = String::new();
            for part in &recipient.parts {
                match part {
                    Part::Literal(text) => way += &escaped(text),
                    Part::Hole(Hole::Name) => {
                        way += &name.text;
                        header.groups.extend(&name.groups);
                    }
                    _ => return Err("its recipients are more than a name".to_owned()),
                }
            }
            ways.push(way);
        }
        header.then(&any(ways.into_iter()));
        header.then(&format!(r"(?:\s{words})?"));
        for token in self.tokens.iter().skip(1) {
            header.then(&self.part(token, &words));
        }
        Ok(header)
    }

    /// The routes to where `is` says.
    fn routes(&self, is: RouteTo) -> impl Iterator<Item = &'a Route> {
        self.messages.routes.iter().filter(move |route| route.is == is)
    }

    /// What messages of reasoning begin with, if there are such.
    pub(super) fn reasoning(&self) -> Result<Option<String>, String> {
        let headers = self.routes(RouteTo::Reasoning);
        let headers: Vec<_> = headers
            .map(|route| Ok(self.header(route, &Pattern::default())?.text))
            .collect::<Result<_, String>>()?;
        Ok((!headers.is_empty()).then(|| any(headers.into_iter())))
    }

    /// What messages of calls begin with; `is_named`: the header says the tool's name.
    pub(super) fn call(&self, is_named: bool) -> Result<Pattern, String> {
        let mut name = Pattern::default();
        match is_named {
            true => name.name(),
            false => name.then(NAME),
        }
        let route = self.routes(RouteTo::Call).next().ok_or("none of its messages is a call")?;
        self.header(route, &name)
    }

    /// Any header.
    pub(super) fn any(&self) -> String {
        let words = self.words(true);
        let tokens: String = self.tokens.iter().map(|token| self.part(token, &words)).collect();
        tokens + &any(self.messages.body.iter().map(|token| escaped(token)))
    }

    /// The tokens that end a message.
    pub(super) fn ends(&self) -> impl Iterator<Item = String> {
        self.messages.end.iter().map(|token| escaped(token))
    }

    /// The parts of a message behind its header, without what ends it if there is more.
    pub(super) fn payload(&self, parts: &[Part]) -> Vec<Part> {
        let text = |part: &Part| match part {
            Part::Literal(text) => {
                self.messages.body.iter().find_map(|it| Some(text.split_once(it)?.1.to_owned()))
            }
            _ => None,
        };
        let mut payload = parts.to_vec();
        if let Some(at) = parts.iter().position(|part| text(part).is_some()) {
            let header = payload.drain(..=at).next_back();
            let text = header.as_ref().and_then(text).filter(|text| !text.is_empty());
            payload.splice(..0, text.map(Part::Literal));
        }
        if let Some(Part::Literal(text)) = payload.last_mut() {
            for end in &self.messages.end {
                if let Some(before) = text.strip_suffix(end).filter(|it| !it.trim().is_empty()) {
                    *text = before.to_owned();
                }
            }
        }
        payload
    }
}
