//! Metrics of this process under Prometheus's usual names: memory, processor time, open files,
//! threads.
//!
//! Only Linux reports these metrics; other systems omit them.

use prometheus_client::registry::Registry;

/// Returns a registry with the current metrics of the process.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::with_prefix("process");
    // Without `/proc` there are no metrics.
    let _ = register(&mut registry);
    registry
}

#[cfg(not(target_os = "linux"))]
fn register(_: &mut Registry) -> Result<(), std::convert::Infallible> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn register(registry: &mut Registry) -> procfs::ProcResult<()> {
    use procfs::process::{LimitValue, Process};
    use prometheus_client::metrics::{counter::ConstCounter, gauge::ConstGauge};

    let process = Process::myself()?;
    let stat = process.stat()?;
    let second = procfs::ticks_per_second();
    let seconds = |ticks: u64| {
        std::time::Duration::from_millis(
            ticks.saturating_mul(1000).checked_div(second).unwrap_or_default(),
        )
    };
    let cpu = seconds(stat.utime.saturating_add(stat.stime)).as_secs_f64();
    let began = seconds(stat.starttime).as_secs_f64();
    let resident = stat.rss.saturating_mul(procfs::page_size());
    let mut gauge = |name: &str, help: &str, figure: u64| {
        registry.register(name, help, ConstGauge::new(i64::try_from(figure).unwrap_or(i64::MAX)));
    };
    gauge("resident_memory_bytes", "Memory that is resident", resident);
    gauge("virtual_memory_bytes", "Memory that is mapped", stat.vsize);
    gauge("open_fds", "Files and sockets that are open", process.fd_count()? as u64);
    if let LimitValue::Value(most) = process.limits()?.max_open_files.soft_limit {
        gauge("max_fds", "Files and sockets that may be open", most);
    }
    gauge("threads", "Threads", u64::try_from(stat.num_threads).unwrap_or_default());
    registry.register("cpu_seconds", "Time of the processor", ConstCounter::new(cpu));
    let began = procfs::boot_time_secs()? as f64 + began;
    registry.register("start_time_seconds", "When the process began", ConstGauge::new(began));
    Ok(())
}
