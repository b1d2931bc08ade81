//! Export of spans to an OpenTelemetry collector, configured by the usual environment variables
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` and related ones). Without an endpoint nothing is sent.

use std::env;

use async_trait::async_trait;
use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry::global;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use tokio::runtime::Handle;

use crate::limits::{MAX_EXPORT_ANSWER_BYTES, MAX_EXPORT_TIME};

/// The variables with the collector's address. The second is for spans only.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
const NAME: &str = "OTEL_SERVICE_NAME";
/// An exporter of spans to a collector. Dropping it sends the remaining spans.
#[derive(Debug)]
pub(super) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    pub(super) fn begin(runtime: &Handle) -> Result<Self, ExporterBuildError> {
        let is_told = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
        if !ENDPOINTS.iter().any(is_told) {
            return Ok(Self(None));
        }
        let pool = Client::builder(TokioExecutor::new()).build_http();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Sender { runtime: runtime.clone(), pool })
            .with_protocol(Protocol::HttpJson)
            .build()?;
        let mut resource = Resource::builder();
        if !is_told(&NAME) {
            resource = resource.with_service_name("llm-stream-guard");
        }
        let provider = SdkTracerProvider::builder().with_resource(resource.build());
        let provider = provider.with_batch_exporter(exporter).build();
        global::set_tracer_provider(provider.clone());
        global::set_text_map_propagator(TraceContextPropagator::new());
        Ok(Self(Some(provider)))
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.take().map(|provider| provider.shutdown()) {
            tracing::warn!("the last spans were not sent: {error}");
        }
    }
}

/// An HTTP client for a thread outside the runtime.
#[derive(Debug)]
struct Sender {
    runtime: Handle,
    pool: Client<HttpConnector, Full<Bytes>>,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let pool = self.pool.clone();
        let answer = async move {
            let (head, body) = pool.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, MAX_EXPORT_ANSWER_BYTES).collect().await?.to_bytes();
            Ok(Response::from_parts(head, body))
        };
        // The timer must also be created inside the runtime.
        let answer = async { tokio::time::timeout(MAX_EXPORT_TIME, answer).await };
        self.runtime.spawn(answer).await??
    }
}
