//! `serve`: a proxy in front of an inference server.

#[cfg(feature = "otel")]
mod telemetry;

use std::{
    io::{self, IsTerminal as _, Write},
    net::Ipv4Addr,
    time::Duration,
};

use llm_stream_guard_serve::{
    Choice, Config, FamilyName, Fault, Proxy, Record, Upstream, demo, is_open, read_models,
    serve as listen,
};
use tokio::net::TcpListener;
use tracing_subscriber::{
    filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{
    args::ServeArgs,
    error::{Error, misuse},
};

/// Runs `serve` until it is interrupted.
///
/// # Errors
/// Misuse, an address that cannot be listened on, an output that cannot be written.
pub fn serve(args: &ServeArgs, out: &mut dyn Write) -> Result<(), Error> {
    let config = config(args)?;
    if args.print_config {
        out.write_all(config.to_toml().as_bytes())?;
        return Ok(out.flush()?);
    }
    log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(misuse)?;
    #[cfg(feature = "otel")]
    let _telemetry = telemetry::Telemetry::begin(runtime.handle()).map_err(misuse)?;
    runtime.block_on(run(config, args.demo.then_some(args.pace.0), out))
}

/// Returns the configuration of the file, overridden by the command line.
fn config(args: &ServeArgs) -> Result<Config, Error> {
    let file = args.config.as_deref().map(Config::read).transpose();
    let mut config = file.map_err(|error| misuse(format!("--config {error}")))?.unwrap_or_default();
    if let Some(path) = &args.model_map {
        let models = read_models(path).map_err(|error| misuse(format!("--model-map {error}")))?;
        config.models.extend(models);
    }
    if let Some(upstream) = &args.upstream {
        // Read here and not by the parser of the command line, whose faults repeat passwords.
        config.upstream =
            upstream.parse().map_err(|error| misuse(format!("--upstream: {error}")))?;
    }
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    if let Some(dir) = &args.record {
        config.record = Some(Record::to(dir));
    }
    if let Some(profile) = &args.profile {
        config.profile = profile.clone();
    }
    if let Some(path) = &args.template {
        let name = FamilyName::of_template(path);
        let name = name.map_err(|error| misuse(format!("--template {error}")))?;
        config.profile = Choice::One(Box::new(name));
    }
    Ok(config)
}

/// Sets up the log: `RUST_LOG` selects the level, `info` by default.
fn log() -> Result<(), Error> {
    let wanted = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".into());
    let wanted: Targets = wanted.parse().map_err(|error| misuse(format!("RUST_LOG: {error}")))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    let lines = lines.with_ansi(io::stderr().is_terminal());
    tracing_subscriber::registry().with(wanted).with(lines).try_init().map_err(misuse)
}

async fn run(mut config: Config, demo: Option<Duration>, out: &mut dyn Write) -> Result<(), Error> {
    let fault = |address, error: io::Error| misuse(format!("{address}: {error}"));
    if let Some(pace) = demo {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let upstream = TcpListener::bind(address).await.map_err(|e| fault(address, e))?;
        let port = upstream.local_addr()?.port();
        config.upstream = Upstream::local(port);
        let app = demo::upstream(pace);
        tokio::spawn(async move { axum::serve(upstream, app).await });
    }
    let address = config.listen;
    let listener = TcpListener::bind(address).await.map_err(|error| fault(address, error))?;
    let address = listener.local_addr()?;
    let proxy = Proxy::new(config).map_err(|fault| refused(&fault))?;
    writeln!(out, "http://{address} guards {}", proxy.config().upstream)?;
    if is_open(address) {
        tracing::warn!("{address} can be reached from other machines, and asks for no key");
    }
    if demo.is_some() {
        let first = demo::models().next().unwrap_or_default();
        writeln!(
            out,
            "try: curl -N http://{address}/v1/chat/completions -d '{{\"model\": \"{first}\", \"stream\": true}}'"
        )?;
        let others: Vec<_> = demo::models().skip(1).collect();
        writeln!(out, "or with another model: {}", others.join(", "))?;
    }
    out.flush()?;
    Ok(listen(&proxy, listener, interrupted()).await?)
}

/// A configuration that the proxy refuses, with the field at fault.
fn refused(fault: &Fault) -> Error {
    match &fault.field {
        Some(field) => misuse(format!("`{field}`: {fault}")),
        None => misuse(fault),
    }
}

/// Resolves when the process is asked to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    // Where it cannot be waited for, nothing ends the server but the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
