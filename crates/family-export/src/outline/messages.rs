//! Messages with headers: the expressions of their beginnings and ends.
//!
//! ```text
//! <|start|>assistant<|channel|>analysis<|message|>...<|end|>
//! token    words    token      words   body       end
//! ```

use toolcall_parsers::{
    family::{Family, Messages, Route, RouteTo},
    template::{Hole, Part, Template},
};

use crate::{
    ExportError,
    expr::{Expr, Without, marker},
};

/// The headers of a family's messages.
pub(super) struct Headers<'a> {
    messages: &'a Messages,
    tokens: Vec<Token>,
    /// The text before a recipient.
    to: String,
    spellings: &'a [(String, Vec<String>)],
}

/// A token of a header, which words follow.
struct Token {
    text: String,
    is_optional: bool,
    /// Whether the first word after the token is the channel.
    is_channel: bool,
}

impl<'a> Headers<'a> {
    /// Returns the headers of `family`, if the family writes messages.
    pub(super) fn new(family: &'a Family) -> Result<Option<Self>, ExportError> {
        let Some(messages) = &family.messages else { return Ok(None) };
        let spellings = family.forms.first().map_or(&[][..], |form| &form.spellings);
        let mut headers = Self { messages, tokens: Vec::new(), to: String::new(), spellings };
        headers.add_tokens(&messages.header.parts, false)?;
        Ok(Some(headers))
    }

    fn add_tokens(&mut self, parts: &[Part], is_optional: bool) -> Result<(), ExportError> {
        let mut rest = parts;
        while let [part, after @ ..] = rest {
            rest = after;
            match (part, after) {
                (Part::Group(inner), _) => self.add_tokens(inner, true)?,
                (Part::Literal(text), [Part::Hole(Hole::Recipient), after @ ..]) => {
                    (self.to, rest) = (text.trim().to_owned(), after);
                }
                (Part::Literal(text), [Part::Hole(hole), after @ ..]) => {
                    let (text, is_channel) = (text.trim().to_owned(), *hole == Hole::Channel);
                    self.tokens.push(Token { text, is_optional, is_channel });
                    rest = after;
                }
                _ => return Err(ExportError::new("its headers are more than tokens and words")),
            }
        }
        Ok(())
    }

    /// Returns the words after a token. The words of a recipient are missing unless
    /// `has_recipient`.
    fn words(&self, has_recipient: bool, lazy: bool) -> Expr {
        let tokens = self.tokens.iter().map(|token| &token.text).chain(&self.messages.body);
        let recipient = self.to.chars().next_back().filter(|_| !has_recipient);
        let mut chars = String::new();
        for c in tokens.filter_map(|text| text.chars().next()).chain(recipient) {
            if !chars.contains(c) {
                chars.push(c);
            }
        }
        Expr::Without(Without { chars, lazy, ..Without::default() })
    }

    /// Returns a token and its words, or none of them.
    fn part(&self, token: &Token, words: &Expr) -> Expr {
        Expr::optional([marker(&token.text, self.spellings), words.clone()])
    }

    /// Returns the beginning of messages of this route, where `name` is the recipient's name.
    fn header(&self, route: &Route, name: &Expr) -> Result<Expr, ExportError> {
        let header = match route.recipient.is_empty() {
            true => self.unaddressed(route.channel.as_deref()),
            false => self.addressed(&route.recipient, name)?,
        };
        let body = route.body.as_ref().map_or(&self.messages.body[..], core::slice::from_ref);
        Ok(header.then(Expr::choice(body.iter().map(|token| token.as_str().into()))))
    }

    /// Returns a header without a recipient up to its last token, of this channel if one is given.
    fn unaddressed(&self, channel: Option<&str>) -> Expr {
        let (mut header, words) = (Expr::default(), self.words(false, false));
        for token in &self.tokens {
            header = header.then(match channel.filter(|_| token.is_channel) {
                Some(channel) => Expr::sequence([
                    marker(&token.text, self.spellings),
                    Expr::Blanks,
                    channel.into(),
                    Expr::optional([Expr::Blank, words.clone()]),
                ]),
                None => self.part(token, &words),
            });
        }
        header
    }

    /// Returns a header with one of the recipients, up to its last token. A required token is
    /// before the recipient, unless the prompt wrote the first token.
    fn addressed(&self, recipients: &[Template], name: &Expr) -> Result<Expr, ExportError> {
        let words = self.words(true, false);
        let tokens: Vec<_> = self.tokens.iter().filter(|token| !token.is_optional).collect();
        let mut heads = vec![Expr::Start];
        let mut rest = &tokens[..];
        while let [token, after @ ..] = rest {
            let head = marker(&token.text, self.spellings).then(self.words(true, true));
            heads.push(after.iter().fold(head, |head, it| head.then(self.part(it, &words))));
            rest = after;
        }
        let mut ways = Vec::new();
        for recipient in recipients {
            let mut way = Expr::default();
            for part in &recipient.parts {
                way = way.then(match part {
                    Part::Literal(text) => text.as_str().into(),
                    Part::Hole(Hole::Name) => name.clone(),
                    _ => return Err(ExportError::new("its recipients are more than a name")),
                });
            }
            ways.push(way);
        }
        let header = Expr::sequence([
            Expr::choice(heads),
            Expr::Blanks,
            self.to.as_str().into(),
            Expr::choice(ways),
            Expr::optional([Expr::Blank, words.clone()]),
        ]);
        Ok(self.tokens.iter().skip(1).fold(header, |it, token| it.then(self.part(token, &words))))
    }

    fn routes(&self, to: RouteTo) -> impl Iterator<Item = &'a Route> {
        self.messages.routes.iter().filter(move |route| route.is == to)
    }

    /// Returns the beginning of messages of reasoning, if there are such messages.
    pub(super) fn reasoning(&self) -> Result<Option<Expr>, ExportError> {
        let headers = self.routes(RouteTo::Reasoning);
        let headers = headers.map(|route| self.header(route, &Expr::default()));
        let headers: Vec<_> = headers.collect::<Result<_, _>>()?;
        Ok((!headers.is_empty()).then(|| Expr::choice(headers)))
    }

    /// Returns the beginning of messages of calls. `is_named` states whether the header has the
    /// tool's name.
    pub(super) fn call(&self, is_named: bool) -> Result<Expr, ExportError> {
        let route = self.routes(RouteTo::Call).next();
        let route = route.ok_or_else(|| ExportError::new("none of its messages is a call"))?;
        let name = Expr::tool_name();
        self.header(route, &if is_named { Expr::group("name", name) } else { name })
    }

    /// Returns the beginning of any message.
    pub(super) fn any(&self) -> Expr {
        let words = self.words(true, false);
        let tokens = Expr::sequence(self.tokens.iter().map(|token| self.part(token, &words)));
        tokens.then(Expr::choice(self.messages.body.iter().map(|token| token.as_str().into())))
    }

    /// Returns the tokens that end a message.
    pub(super) fn ends(&self) -> impl Iterator<Item = Expr> {
        self.messages.end.iter().map(|token| token.as_str().into())
    }

    /// Returns the parts of a message after its header, without the end token if there is more.
    pub(super) fn payload(&self, parts: &[Part]) -> Vec<Part> {
        let after_body = |part: &Part| match part {
            Part::Literal(text) => {
                self.messages.body.iter().find_map(|it| Some(text.split_once(it)?.1.to_owned()))
            }
            _ => None,
        };
        let mut payload = parts.to_vec();
        if let Some(at) = parts.iter().position(|part| after_body(part).is_some()) {
            let header = payload.drain(..=at).next_back();
            let text = header.as_ref().and_then(after_body).filter(|text| !text.is_empty());
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
