//! `serve`: a proxy in front of an inference server.

mod signals;
#[cfg(feature = "otel")]
mod telemetry;

use std::{
    io::{self, IsTerminal as _, Write},
    net::{Ipv4Addr, SocketAddr},
};

use llm_stream_guard_serve::{
    CheckpointTokens, Config, FamilyChoice, FamilyName, Fault, Proxy, Record, Upstream,
    check_health, demo, is_open, read_models, serve as listen, serve_metrics,
};
use tokio::{net::TcpListener, sync::Notify};
use tracing_subscriber::{
    filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use self::signals::{End, Hangup};
use crate::{
    args::{LogFormat, ServeArgs},
    error::{Error, misuse},
    identify::worker,
};

/// Runs `serve` until a signal ends it, or checks the health of a running proxy. Returns `false` if
/// that proxy is not alive.
///
/// # Errors
/// The arguments are wrong, the address cannot be listened on, or the output cannot be written.
pub(crate) fn serve(args: &ServeArgs, out: &mut dyn Write) -> Result<bool, Error> {
    let config = config(args)?;
    if args.print_config {
        out.write_all(config.to_toml().as_bytes())?;
        out.flush()?;
        return Ok(true);
    }
    if args.healthcheck {
        return is_alive(config.listen);
    }
    log(args.log_format)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(misuse)?;
    #[cfg(feature = "otel")]
    let _telemetry = telemetry::Telemetry::begin(runtime.handle()).map_err(misuse)?;
    runtime.block_on(run(config, args, out)).map(|()| true)
}

fn is_alive(address: SocketAddr) -> Result<bool, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let health = runtime.map_err(misuse)?.block_on(check_health(address));
    if let Err(reason) = &health {
        // A failure to print is ignored, since the exit status reports the same.
        let _ = writeln!(io::stderr(), "{reason}");
    }
    Ok(health.is_ok())
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
        // Parsed here because errors of the command line's parser would repeat passwords.
        config.upstream =
            upstream.parse().map_err(|error| misuse(format!("--upstream: {error}")))?;
    }
    if let Some(listen) = args.listen {
        config.listen = listen;
    }
    config.metrics_listen = args.metrics_listen.or(config.metrics_listen);
    if let Some(dir) = &args.record {
        config.record = Some(Record::to(dir));
    }
    if let Some(profile) = &args.profile {
        config.profile = profile.clone();
    }
    if let Some(path) = &args.template {
        let name = FamilyName::of_template(path);
        let name = name.map_err(|error| misuse(format!("--template {error}")))?;
        config.profile = FamilyChoice::One(Box::new(name));
    }
    if let Some(path) = &args.checkpoint {
        let tokens: Result<CheckpointTokens, _> = path.parse();
        config.checkpoint = Some(tokens.map_err(|error| misuse(format!("--checkpoint {error}")))?);
    }
    Ok(config)
}

/// Sets up the log: `RUST_LOG` selects the level, `info` by default.
fn log(format: LogFormat) -> Result<(), Error> {
    let wanted = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".into());
    let wanted: Targets = wanted.parse().map_err(|error| misuse(format!("RUST_LOG: {error}")))?;
    let text = (format == LogFormat::Text).then(|| {
        let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
        lines.with_ansi(io::stderr().is_terminal())
    });
    let json = (format == LogFormat::Json).then(|| {
        let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
        lines.json().flatten_event(true)
    });
    tracing_subscriber::registry().with(wanted).with(text).with(json).try_init().map_err(misuse)
}

async fn run(mut config: Config, args: &ServeArgs, out: &mut dyn Write) -> Result<(), Error> {
    let (end, hangup) = (End::new()?, Hangup::new()?);
    let fault = |address, error: io::Error| misuse(format!("{address}: {error}"));
    if args.demo {
        let pace = args.pace.0;
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let upstream = TcpListener::bind(address).await.map_err(|e| fault(address, e))?;
        let port = upstream.local_addr()?.port();
        config.upstream = Upstream::local(port);
        let app = demo::upstream(pace);
        tokio::spawn(async move { axum::serve(upstream, app).await });
    }
    let address = config.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| misuse(format!("{address}: {error}; `--listen` names another address")))?;
    let address = listener.local_addr()?;
    let metrics = match config.metrics_listen {
        None => None,
        Some(address) => Some(TcpListener::bind(address).await.map_err(|e| fault(address, e))?),
    };
    let proxy = Proxy::with_worker(config, worker()).map_err(|fault| refused(&fault))?;
    writeln!(out, "http://{address} guards {}", proxy.config().upstream)?;
    if args.upstream.is_none() && args.config.is_none() && !args.demo {
        writeln!(out, "`--upstream ADDRESS` names another server, `--demo` replays recordings")?;
    }
    if let Some(metrics) = &metrics {
        writeln!(out, "metrics: http://{}/metrics", metrics.local_addr()?)?;
    }
    if is_open(address) {
        tracing::warn!("{address} can be reached from other machines, and asks for no key");
    }
    if args.demo {
        let first = demo::models().next().unwrap_or_default();
        writeln!(
            out,
            "try: curl -N http://{address}/v1/chat/completions -d '{{\"model\": \"{first}\", \"stream\": true}}'"
        )?;
        let others: Vec<_> = demo::models().skip(1).collect();
        writeln!(out, "or with another model: {}", others.join(", "))?;
    }
    out.flush()?;
    let servers = proxy.clone();
    tokio::spawn(async move { servers.look_at_servers().await });
    let refuse = Notify::new();
    let measured = async {
        match metrics {
            Some(listener) => serve_metrics(&proxy, listener).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        served = listen(&proxy, listener, refuse.notified()) => served?,
        () = measured => {}
        () = end.comes(&proxy, &refuse) => {}
        () = hangup.each(|| reload(&proxy, args)) => {}
    }
    Ok(())
}

/// Reads the configuration again and applies it, or logs why it is refused.
fn reload(proxy: &Proxy, args: &ServeArgs) {
    let old = proxy.config();
    let new = config(args).and_then(|mut new| {
        if args.demo {
            new.upstream = old.upstream.clone();
        }
        let addresses = [("listen", Some(new.listen)), ("metrics_listen", new.metrics_listen)];
        proxy.reload(new).map_err(|fault| refused(&fault))?;
        Ok(addresses)
    });
    match new {
        Ok(addresses) => {
            tracing::info!("configuration reloaded");
            for ((name, new), old) in addresses.iter().zip([Some(old.listen), old.metrics_listen]) {
                if *new != old {
                    tracing::warn!("`{name}` changes with a restart only");
                }
            }
        }
        Err(error) => tracing::error!("configuration not reloaded, the old one stays: {error}"),
    }
}

/// Returns the error for a configuration that the proxy refuses, with the field at fault.
fn refused(fault: &Fault) -> Error {
    match &fault.field {
        Some(field) => misuse(format!("`{field}`: {fault}")),
        None => misuse(fault),
    }
}
