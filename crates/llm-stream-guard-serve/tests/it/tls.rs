//! Upstreams behind `https`.

use std::{path::PathBuf, sync::Arc};

use axum::{Router, extract::Request, http::Version, routing::post};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use llm_stream_guard_serve::{Config, Proxy};
use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::PrivateKeyDer,
    version::{TLS12, TLS13},
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{Served, asks, config};

/// A server whose certificate it signed itself: its port, and the certificate's file. It answers
/// with the version of HTTP it was asked in.
async fn upstream(name: &str, protocols: &[&str]) -> (u16, PathBuf) {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pem"));
    std::fs::write(&path, own.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(default_provider().into());
    let tls = tls.with_protocol_versions(&[&TLS12, &TLS13]).unwrap().with_no_client_auth();
    let mut tls = tls.with_single_cert(vec![own.cert.der().clone()], key).unwrap();
    tls.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = |request: Request| async move {
        let version = if request.version() == Version::HTTP_2 { "two" } else { "one" };
        let text = format!("<think>hm</think>{version}");
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": "stop"});
        let chunk = json!({"choices": [choice]});
        ([("content-type", "text/event-stream")], format!("data: {chunk}\n\n"))
    };
    let app = Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(app.clone()));
            tokio::spawn(async move {
                // Who does not trust it leaves here.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let builder = Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    (port, path)
}

fn config_for(port: u16, ca: Option<PathBuf>) -> Config {
    let upstream = format!("https://localhost:{port}").parse().unwrap();
    Config { upstream, ca, ..config() }
}

#[tokio::test]
async fn https_upstream_is_asked_in_its_http_version() {
    for (name, protocols, said) in
        [("one", &["http/1.1"][..], "one"), ("two", &["h2", "http/1.1"][..], "two")]
    {
        let (port, ca) = upstream(name, protocols).await;
        let served = Served::of(config_for(port, Some(ca))).await;
        let whole = served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await.completion();
        assert_eq!(whole.choices[0].message.text(), Some(said));
        assert_eq!(whole.choices[0].message.reasoning_text(), Some("hm"));
    }
}

#[tokio::test]
async fn https_upstream_with_an_untrusted_certificate_is_not_asked() {
    let (port, _) = upstream("stranger", &[]).await;
    let (_, other) = upstream("other", &[]).await;
    let served = Served::of(config_for(port, Some(other))).await;
    let got = served.ask(&asks("Qwen/Qwen3-8B", json!({}))).await;
    assert_eq!(got.json()["error"]["code"], "upstream_unreachable");
}

#[tokio::test]
async fn missing_or_invalid_ca_files_are_refused() {
    let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let missing = config_for(1, Some("no-such-file".into()));
    let useless = Config { ca: Some(here), ..config() };
    for config in [missing, useless] {
        let fault = Proxy::new(config).unwrap_err();
        assert_eq!(fault.field.as_deref(), Some("ca"), "{fault}");
    }
}
