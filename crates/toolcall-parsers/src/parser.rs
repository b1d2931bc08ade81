//! The parser of one family: a driver with the grammar's edges and call machine.

use jail_match::{
    BodyParsers, Channel, Counters, Dangling, Driver, DriverSettings, EdgeError, End, Held,
    HeldKind, LimitError, Limits, Table, Whitespace,
};

use crate::{
    compiled::Grammar,
    edges::edges,
    event::{Event, Message, Sink},
    family::InReasoning,
    options::Options,
    tool_call_parser::ToolCallParser,
    tools::Tools,
};

/// A parser of one family's tool calls in a stream of text.
///
/// Reasoning is not recognised: all text is content. For reasoning and calls use the façade
/// `llm-stream-guard`, or combine [`edges`] with those of a reasoning format.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use toolcall_parsers::{Event, Parser, grammar};
/// let mut parser = Parser::new(grammar("hermes")?)?;
/// let mut seen = String::new();
/// let mut sink = |event: Event<'_>| match event {
///     Event::Content(text) => seen.push_str(text),
///     Event::CallStart { name, .. } => seen.push_str(&format!("<{name}>")),
///     Event::CallArguments { fragment, .. } => seen.push_str(fragment),
///     _ => {}
/// };
/// for chunk in ["Hi. <tool_", "call>{\"name\": \"ping\", \"arg", "uments\": {\"n\": 1}}</tool_call>"] {
///     parser.push(chunk, &mut sink)?;
/// }
/// parser.finish(Default::default(), &mut sink)?;
/// assert_eq!(seen, "Hi. <ping>{\"n\": 1}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Parser {
    driver: Driver,
    bodies: ToolCallParser,
}

/// A builder of a [`Parser`] with other than default settings.
#[derive(Debug, Clone)]
pub struct ParserBuilder {
    grammar: Grammar,
    tools: Tools,
    options: Options,
    settings: DriverSettings,
}

impl ParserBuilder {
    /// Sets the tools that the request declared.
    #[must_use]
    pub fn tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Sets the policies for calls.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Sets the policy for white space around calls.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { settings: self.settings.whitespace(whitespace), ..self }
    }

    /// Sets the policy for a marker that the end of the stream cuts.
    #[must_use]
    pub fn dangling(self, dangling: Dangling) -> Self {
        Self { settings: self.settings.dangling(dangling), ..self }
    }

    /// Sets the limits of held text.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { settings: self.settings.limits(limits), ..self }
    }

    /// Builds the parser.
    ///
    /// # Errors
    /// A marker of a grammar loaded at run time is invalid. The error names it.
    pub fn build(self) -> Result<Parser, EdgeError> {
        let grammar = self.grammar.for_tools(&self.tools);
        let mut edges = edges(&grammar, InReasoning::Literal, 0);
        self.options.in_code.apply(&mut edges);
        let table = Table::new(edges)?;
        Ok(Parser {
            driver: Driver::new(table, self.settings),
            bodies: ToolCallParser::new(grammar, self.tools, self.options),
        })
    }
}

impl Parser {
    /// Creates a parser with default settings and no declared tools.
    ///
    /// # Errors
    /// A marker of a grammar loaded at run time is invalid. The error names it.
    pub fn new(grammar: Grammar) -> Result<Self, EdgeError> {
        Self::builder(grammar).build()
    }

    /// Creates a builder, for a parser with other settings.
    #[must_use]
    pub fn builder(grammar: Grammar) -> ParserBuilder {
        ParserBuilder {
            grammar,
            tools: Tools::none(),
            options: Options::default(),
            settings: DriverSettings::default(),
        }
    }

    /// Feeds the next chunk of the stream.
    ///
    /// # Errors
    /// A limit with the error policy was exceeded; see [`Driver::push`].
    #[inline]
    pub fn push<S: Sink + ?Sized>(&mut self, chunk: &str, sink: &mut S) -> Result<(), LimitError> {
        self.driver.push(chunk, &mut self.bodies, sink)
    }

    /// Ends the stream: emits all held text and ends open calls as incomplete.
    ///
    /// # Errors
    /// As [`Parser::push`].
    pub fn finish(&mut self, end: End, sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.driver.finish(end, &mut self.bodies, sink)
    }

    /// Restores the state of a new parser.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.bodies.reset();
    }

    /// Returns the number of bytes held, and the reason.
    #[must_use]
    pub fn held(&self) -> Held {
        held(&self.driver, self.bodies.held())
    }

    /// Returns whether [`StopAfter::FirstCall`](crate::StopAfter) ended the reading, so that
    /// nothing more is emitted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.driver.is_halted()
    }

    /// Returns the counters of the driver.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }

    /// Returns the number of bytes in buffers that grow with input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.driver.buffered().saturating_add(self.bodies.buffered())
    }

    /// Returns the channel of the current text: content, unless a message header opened another.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.driver.channel()
    }
}

/// Returns the bytes held by `driver`, plus the `body` bytes that the body holds.
#[must_use]
pub fn held(driver: &Driver, body: usize) -> Held {
    let held = driver.held();
    if body == 0 || held.kind == HeldKind::Candidate {
        // The driver keeps the whole text of a candidate, which includes the text the body holds.
        return held;
    }
    Held { bytes: held.bytes.saturating_add(body), kind: HeldKind::Call }
}

/// Parses a whole text: one push and one finish.
///
/// # Errors
/// A limit with the error policy was exceeded. Default limits have another policy.
pub fn parse(parser: &Parser, text: &str, end: End) -> Result<Message, LimitError> {
    let mut parser = parser.clone();
    let mut message = Message::default();
    let mut sink = |event: Event<'_>| message.collect(event);
    parser.push(text, &mut sink)?;
    parser.finish(end, &mut sink)?;
    Ok(message)
}

const _: () = {
    const fn machine<T: Clone + Send + 'static>() {}
    machine::<Parser>();
    const fn body<B: BodyParsers>() {}
    body::<ToolCallParser>();
};
