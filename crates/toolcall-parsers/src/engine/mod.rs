//! The engines: resumable machines that interpret the shapes of a grammar.
//!
//! An engine is fed the text behind an opener. It consumes what it understands, leaves a short
//! tail it cannot decide about yet (the driver brings it again with more text), writes calls
//! through [`Calls`], and never looks at a family's name. Until [`Calls::start`] (or
//! [`Calls::mute`]) was called it has written nothing, and may say that the text is not its own.

pub(crate) mod arguments;
pub(crate) mod brace;
pub(crate) mod envelope;
pub(crate) mod frame;
pub(crate) mod json;
pub(crate) mod named;
pub(crate) mod python;
pub(crate) mod skip;
pub(crate) mod step;
pub(crate) mod tagged;
pub(crate) mod text;
pub(crate) mod tree;

use jail_match::{AtEnd, End, Feed};

use crate::{
    calls::Calls,
    event::CallSink,
    grammar::{Certainty, Shape},
};

/// An engine in the middle of its work. The shape is not part of it: it is handed in with every
/// call, so that a machine is small and cheap to clone.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a parser has one, and it stays where it is")]
pub(crate) enum Engine {
    Idle,
    Json(json::JsonEngine),
    Named(named::NamedEngine),
    Python(python::PythonEngine),
    Tagged(tagged::TaggedEngine),
    Brace(brace::BraceEngine),
    Tree(tree::TreeEngine),
}

impl Engine {
    /// An engine for `shape`, at the byte behind the opener.
    pub(crate) fn new(shape: &Shape, certainty: Certainty, marker: &str) -> Self {
        match shape {
            Shape::Json(_) => Self::Json(json::JsonEngine::new(certainty)),
            Shape::Named(shape) => Self::Named(named::NamedEngine::new(shape, certainty, marker)),
            Shape::Python(_) => Self::Python(python::PythonEngine::new(certainty)),
            Shape::Tagged(shape) => {
                Self::Tagged(tagged::TaggedEngine::new(shape, certainty, marker))
            }
            Shape::Brace(_) => Self::Brace(brace::BraceEngine::new(certainty)),
            Shape::Tree(shape) => Self::Tree(tree::TreeEngine::new(shape, certainty, marker)),
        }
    }

    pub(crate) fn feed(
        &mut self,
        shape: &Shape,
        text: &str,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> Feed {
        match (self, shape) {
            (Self::Json(engine), Shape::Json(shape)) => engine.feed(shape, text, calls, sink),
            (Self::Named(engine), Shape::Named(shape)) => engine.feed(shape, text, calls, sink),
            (Self::Python(engine), Shape::Python(shape)) => engine.feed(shape, text, calls, sink),
            (Self::Tagged(engine), Shape::Tagged(shape)) => engine.feed(shape, text, calls, sink),
            (Self::Brace(engine), Shape::Brace(shape)) => engine.feed(shape, text, calls, sink),
            (Self::Tree(engine), Shape::Tree(shape)) => engine.feed(shape, text, calls, sink),
            _ => Feed::Mismatch { used: 0 },
        }
    }

    pub(crate) fn finish(
        &mut self,
        shape: &Shape,
        tail: &str,
        end: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        match (self, shape) {
            (Self::Json(engine), Shape::Json(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            (Self::Named(engine), Shape::Named(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            (Self::Python(engine), Shape::Python(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            (Self::Tagged(engine), Shape::Tagged(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            (Self::Brace(engine), Shape::Brace(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            (Self::Tree(engine), Shape::Tree(shape)) => {
                engine.finish(shape, tail, end, calls, sink)
            }
            _ => AtEnd::Release,
        }
    }

    /// Bytes held inside the engine.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Idle => 0,
            Self::Json(engine) => engine.held(),
            Self::Named(engine) => engine.held(),
            Self::Python(engine) => engine.held(),
            Self::Tagged(engine) => engine.held(),
            Self::Brace(engine) => engine.held(),
            Self::Tree(engine) => engine.held(),
        }
    }
}

/// What the end of the stream makes of a body that never committed.
pub(crate) fn uncommitted(certainty: Certainty) -> AtEnd {
    match certainty {
        Certainty::Marked => AtEnd::Markup,
        Certainty::Unmarked => AtEnd::Release,
    }
}
