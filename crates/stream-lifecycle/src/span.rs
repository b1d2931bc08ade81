//! A `tracing` span as the context.

use tracing::Span;

use crate::context::{Context, ContextHandle};

impl Context for Span {
    fn enter(&self, f: &mut dyn FnMut()) {
        self.in_scope(f);
    }
}

impl ContextHandle {
    /// The span that is current here and now.
    #[must_use]
    pub fn current_span() -> Self {
        Self::new(Span::current())
    }
}
