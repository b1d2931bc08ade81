//! The parser of one family: a driver over the grammar's table.

use jail_match::{
    BodyParsers, Channel, Counters, Dangling, Driver, DriverSettings, EdgeError, End, Held,
    HeldKind, LimitError, Limits, Table, Whitespace,
};

use crate::{
    compiled::{Grammar, edges},
    event::{Event, Message, Sink},
    family::InReasoning,
    options::Options,
    tool_call_parser::ToolCallParser,
    tools::Tools,
};

/// Parses the tool calls of one family out of a stream of text.
///
/// Reasoning is not its business: text is content. For reasoning and calls with one cursor see
/// the façade, or combine [`edges`] with those of a reasoning format.
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

/// Builds a [`Parser`] with other than default settings.
#[derive(Debug, Clone)]
pub struct ParserBuilder {
    grammar: Grammar,
    tools: Tools,
    options: Options,
    settings: DriverSettings,
}

impl ParserBuilder {
    /// The tools the request declared.
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

    /// Bounds on what is held.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { settings: self.settings.limits(limits), ..self }
    }

    /// Compiles the grammar's table.
    ///
    /// # Errors
    /// Names the faulty marker of a grammar that was loaded at run time.
    pub fn build(self) -> Result<Parser, EdgeError> {
        let table = Table::new(edges(&self.grammar, InReasoning::Literal, 0))?;
        Ok(Parser {
            driver: Driver::new(table, self.settings),
            bodies: ToolCallParser::new(self.grammar, self.tools, self.options),
        })
    }
}

impl Parser {
    /// A parser with default settings and no declared tools.
    ///
    /// # Errors
    /// Names the faulty marker of a grammar from outside; registered ones have none.
    pub fn new(grammar: Grammar) -> Result<Self, EdgeError> {
        Self::builder(grammar).build()
    }

    /// A parser with other settings.
    #[must_use]
    pub fn builder(grammar: Grammar) -> ParserBuilder {
        ParserBuilder {
            grammar,
            tools: Tools::none(),
            options: Options::default(),
            settings: DriverSettings::default(),
        }
    }

    /// Feeds the next piece of the stream.
    ///
    /// # Errors
    /// Only if a limit with the error policy is hit; see [`Driver::push`].
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

    /// Makes the parser as new.
    pub fn reset(&mut self) {
        self.driver.reset();
        self.bodies.reset();
    }

    /// Returns the bytes held and the reason.
    #[must_use]
    pub fn held(&self) -> Held {
        held(&self.driver, self.bodies.held())
    }

    /// Whether [`StopAfter::FirstCall`](crate::StopAfter) ended the reading, so that nothing more
    /// is emitted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.driver.is_halted()
    }

    /// Counters of the cursor.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.driver.counters()
    }

    /// Live bytes in buffers that grow with input.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.driver.buffered().saturating_add(self.bodies.buffered())
    }

    /// The channel text goes to now: content, unless a channel format opened another.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.driver.channel()
    }
}

/// The driver's hold, plus what a body holds itself.
#[must_use]
pub fn held(driver: &Driver, body: usize) -> Held {
    let held = driver.held();
    if body == 0 || held.kind == HeldKind::Candidate {
        // The driver keeps all of a candidate, what the body made of it included.
        return held;
    }
    Held { bytes: held.bytes.saturating_add(body), kind: HeldKind::Call }
}

/// Parses a whole text: a push and a finish.
///
/// # Errors
/// Never with default limits.
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
