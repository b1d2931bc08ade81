//! A `tracing` span as the context of a stream, and as the target of its END event.

use tracing::Span;

use crate::context::Context;

impl Context for Span {
    fn enter(&self, f: &mut dyn FnMut()) {
        self.in_scope(f);
    }
}

#[cfg(feature = "gen-ai")]
pub use gen_ai::GenAiSpan;

#[cfg(feature = "gen-ai")]
mod gen_ai {
    use std::sync::Arc;

    use serde_json::Value;
    use tracing::{Span, field::Empty};

    use crate::{context::ContextHandle, event::LifecycleEvent, subscribe::Subscriber};

    /// A span of a call, by OpenTelemetry's conventions for generative AI.
    ///
    /// The END event fills its fields, so that any layer that exports spans can be used. Lists and
    /// objects are recorded as JSON, and times in seconds. Attributes of the call for the provider
    /// and the server's address and port have fields.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use stream_lifecycle::{GenAiSpan, Lifecycle, TextCollector};
    /// let span = GenAiSpan::new();
    /// let stream = Lifecycle::<String, std::io::Error>::new("call-1")
    ///     .model("some-model")
    ///     .context(span.context())
    ///     .subscriber(Arc::new(span))
    ///     .collect_with(TextCollector::default());
    /// # drop(stream);
    /// ```
    #[derive(Debug, Clone)]
    pub struct GenAiSpan(Span);

    impl GenAiSpan {
        /// Creates a span inside the current one.
        #[must_use]
        pub fn new() -> Self {
            Self(tracing::info_span!(
                "chat",
                otel.kind = "client",
                otel.status_code = Empty,
                error.type = Empty,
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = Empty,
                gen_ai.request.model = Empty,
                gen_ai.response.id = Empty,
                gen_ai.response.model = Empty,
                gen_ai.response.finish_reasons = Empty,
                gen_ai.usage.input_tokens = Empty,
                gen_ai.usage.output_tokens = Empty,
                gen_ai.usage.cache_read.input_tokens = Empty,
                gen_ai.client.operation.duration = Empty,
                gen_ai.client.operation.time_to_first_chunk = Empty,
                server.address = Empty,
                server.port = Empty,
            ))
        }

        /// Returns the span as the context of the stream.
        #[must_use]
        pub fn context(&self) -> ContextHandle {
            ContextHandle::new(self.0.clone())
        }
    }

    impl Default for GenAiSpan {
        fn default() -> Self {
            Self::new()
        }
    }

    impl Subscriber for GenAiSpan {
        fn receive(&self, event: &Arc<LifecycleEvent>) {
            let Some(end) = event.end() else { return };
            for (name, value) in end.gen_ai_attributes() {
                match &value {
                    Value::String(text) => self.0.record(&*name, text.as_str()),
                    Value::Number(number) if number.is_u64() => {
                        self.0.record(&*name, number.as_u64())
                    }
                    other => self.0.record(&*name, other.to_string()),
                };
            }
            for (name, seconds) in end.gen_ai_metrics() {
                self.0.record(name, seconds);
            }
            if end.ending.status() == "error" {
                self.0.record("otel.status_code", "ERROR");
            }
        }
    }
}
