//! `name({key: value})`, whose parentheses may be missing.

use alloc::string::String;

use super::{PythonEngine, PythonShape, State, Step, literal::Top};
use crate::{calls::Calls, event::CallSink};

impl PythonEngine {
    /// Before the object's brace.
    pub(super) fn begin_object(&mut self) -> State {
        self.in_parentheses = self.state == State::Inner;
        self.literal.restart(Top::Dict);
        State::Value
    }

    /// The object is whole.
    pub(super) fn end_object(
        &mut self,
        shape: &PythonShape,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Step {
        if self.in_parentheses {
            self.state = State::AfterObject;
        } else {
            self.end_call(shape, calls, sink);
        }
        Step::Go
    }

    /// The text that closes the arguments, if that makes JSON of them.
    pub(super) fn object_closing(&self, tail: &str) -> Option<String> {
        match self.state {
            State::Value => self.literal.closing(tail),
            State::AfterObject => Some(String::new()),
            _ => None,
        }
    }
}
