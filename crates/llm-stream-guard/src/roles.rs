//! Roles of tokens: the part of the answer that a guard assigns to each token's bytes.
//!
//! ```text
//! <think>  hm  </think>  <tool_call>  {"name": "  ring  ", "arguments":  {}   }  </tool_call>
//! markup  reas. markup    markup       markup     name   markup          arg. markup  markup
//! ```

mod ledger;

use jail_match::{ByRef, End, LimitError, Sink, Trace};
use toolcall_parsers::Event;

pub(crate) use self::ledger::RoleLedger;
use crate::guard::{Guard, Token};

/// The role of a token's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TokenRole {
    /// Visible text of the answer.
    Content,
    /// Text of the reasoning.
    Reasoning,
    /// The name of the call with this position among the message's calls.
    CallName(u32),
    /// The arguments of the call with this position, with the tags of its parameters.
    Arguments(u32),
    /// Markup, or whitespace around it.
    Markup,
    /// Bytes that were dropped and reported.
    Dropped,
}

impl TokenRole {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Reasoning => "reasoning",
            Self::CallName(_) => "call_name",
            Self::Arguments(_) => "arguments",
            Self::Markup => "markup",
            Self::Dropped => "dropped",
        }
    }

    /// Returns the position of the call whose name or arguments the bytes are.
    #[must_use]
    pub const fn call(self) -> Option<u32> {
        match self {
            Self::CallName(call) | Self::Arguments(call) => Some(call),
            _ => None,
        }
    }
}

/// A token, or a part of one, with its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleSpan {
    /// Position of the token in the stream, from 0.
    pub token: u64,
    /// Id of the token in the tokenizer.
    pub id: u32,
    /// Role of these bytes.
    pub role: TokenRole,
    /// Number of the token's bytes with the role. 0 for a token without text.
    pub bytes: usize,
}

/// A stage of the guard changes the text and the roles of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoles {
    option: &'static str,
}

impl std::fmt::Display for NoRoles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tokens have no roles where `{}` changes or delays the text", self.option)
    }
}

impl std::error::Error for NoRoles {}

/// A reader that feeds tokens to a guard and reports the role of each token.
///
/// Spans are reported in the order of the tokens, each as soon as the guard has decided its bytes.
/// A token with two roles gives two spans. Usually no memory is allocated for a token.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Event, Guard, RoleReader, RoleSpan, Token, TokenKind, TokenRole, profile};
/// let guard = Guard::builder(&profile("qwen3")?).marker_tokens(["<think>", "</think>"]).build()?;
/// let mut reader = RoleReader::new(guard)?;
/// let (mut spans, mut sink) = (Vec::new(), |_: Event<'_>| {});
/// let tokens = [(7, "<think>", TokenKind::Marker), (40, "hm", TokenKind::Text),
///     (8, "</think>", TokenKind::Marker), (41, "Yes", TokenKind::Text)];
/// for (id, text, kind) in tokens {
///     reader.push(Token { id, text, kind }, &mut sink, |span| spans.push(span))?;
/// }
/// reader.finish(End::Stop, &mut sink, |span| spans.push(span))?;
/// let roles: Vec<_> = spans.iter().map(|span| (span.id, span.role.name())).collect();
/// assert_eq!(roles, [(7, "markup"), (40, "reasoning"), (8, "markup"), (41, "content")]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RoleReader {
    guard: Guard,
    ledger: RoleLedger,
}

impl RoleReader {
    /// Creates a reader for `guard`, which must be in its initial state.
    ///
    /// # Errors
    /// Returns an error if the guard remaps delimiters, withholds text or calls, or has a jail.
    /// Emitted text would then not follow the order of its tokens.
    pub fn new(guard: Guard) -> Result<Self, NoRoles> {
        match guard.moves_text() {
            Some(option) => Err(NoRoles { option }),
            None => Ok(Self { guard, ledger: RoleLedger::default() }),
        }
    }

    /// Feeds the next token; `on` receives the spans that are known.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn push<S: Sink + ?Sized>(
        &mut self,
        token: Token<'_>,
        sink: &mut S,
        mut on: impl FnMut(RoleSpan),
    ) -> Result<(), LimitError> {
        let Self { guard, ledger } = self;
        ledger.token(token.id, token.text);
        let result = guard.push_token(token, &mut RoleListener { ledger, sink: ByRef(sink) });
        ledger.settle(&mut on);
        result
    }

    /// Ends the message; `on` receives the spans that are left.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn finish<S: Sink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
        mut on: impl FnMut(RoleSpan),
    ) -> Result<(), LimitError> {
        let Self { guard, ledger } = self;
        let result = guard.finish(end, &mut RoleListener { ledger, sink: ByRef(sink) });
        ledger.finish(&mut on);
        result
    }

    /// Returns the guard that reads the tokens.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

/// A sink that forwards all events and records them in the ledger.
struct RoleListener<'l, S> {
    ledger: &'l mut RoleLedger,
    sink: S,
}

impl<S: Sink> Sink for RoleListener<'_, S> {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::CallStart { name, .. } => self.ledger.name(name),
            event => {
                if let Some((channel, text)) = event.as_text() {
                    self.ledger.text(channel, text.len());
                }
            }
        }
        self.sink.event(event);
    }

    #[inline]
    fn account(&mut self, span: jail_match::Span) {
        self.ledger.span(span);
        self.sink.account(span);
    }

    #[inline]
    fn trace(&mut self, trace: Trace) {
        self.ledger.trace(trace);
        self.sink.trace(trace);
    }
}

/// The number of tokens of each role, for the usage of a response.
///
/// A token counts once, for the role of most of its bytes. If two roles have equally many bytes,
/// the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RoleCounts {
    /// Tokens of visible text.
    pub content: u64,
    /// Tokens of reasoning.
    pub reasoning: u64,
    /// Tokens of names and arguments of calls.
    pub calls: u64,
    /// Number of tokens of markup.
    pub markup: u64,
    /// Tokens that were dropped.
    pub dropped: u64,
    /// Position of the last span's token, the role of most of its bytes, and their number.
    last: Option<(u64, TokenRole, usize)>,
}

impl RoleCounts {
    /// Counts the next span.
    pub fn add(&mut self, span: RoleSpan) {
        match self.last {
            Some((token, _, bytes)) if token == span.token => {
                if span.bytes <= bytes {
                    return;
                }
                self.count(u64::wrapping_sub);
            }
            _ => {}
        }
        self.last = Some((span.token, span.role, span.bytes));
        self.count(u64::wrapping_add);
    }

    fn count(&mut self, step: fn(u64, u64) -> u64) {
        let Some((_, role, _)) = self.last else { return };
        let count = match role {
            TokenRole::Content => &mut self.content,
            TokenRole::Reasoning => &mut self.reasoning,
            TokenRole::CallName(_) | TokenRole::Arguments(_) => &mut self.calls,
            TokenRole::Markup => &mut self.markup,
            TokenRole::Dropped => &mut self.dropped,
        };
        *count = step(*count, 1);
    }
}

/// Returns a loss mask for training. A token of `spans` is set if `learns` holds for the role of
/// any of its bytes.
pub fn loss_mask(
    spans: impl IntoIterator<Item = RoleSpan>,
    learns: impl Fn(TokenRole) -> bool,
) -> Vec<bool> {
    let mut mask: Vec<bool> = Vec::new();
    for span in spans {
        let at = usize::try_from(span.token).unwrap_or(usize::MAX);
        let learnt = learns(span.role);
        match mask.get_mut(at) {
            Some(known) => *known |= learnt,
            None => mask.push(learnt),
        }
    }
    mask
}
