//! An instance of the proxy, and what the system says of it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::Fallible;

/// Linux counts processor time in these.
const TICKS_PER_SECOND: f64 = 100.0;

/// How long a stream may stall. Events are closer together by far.
const PATIENCE: &str = "5s";

/// A running proxy; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    process: Child,
    pub(crate) port: u16,
    began: Duration,
    /// MiB.
    memory: Vec<f64>,
}

impl Instance {
    pub(crate) fn start(program: &str, upstream: u16) -> Fallible<Self> {
        let mut command = Command::new(program);
        let upstream = format!("http://127.0.0.1:{upstream}");
        let config = std::env::temp_dir().join(format!("soak-{}.toml", std::process::id()));
        fs::write(&config, format!("[timeouts]\nidle = \"{PATIENCE}\"\n"))?;
        command.args(["serve", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
        command.arg("--config").arg(config);
        command.env("RUST_LOG", "off").stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = line.split_whitespace().next().and_then(|it| it.rsplit(':').next());
        let port = address.ok_or("no address")?.parse()?;
        Ok(Self { process, port, began: Duration::ZERO, memory: Vec::new() })
    }

    /// From here on it is measured.
    pub(crate) fn begin(&mut self) -> Fallible<()> {
        self.began = self.time()?;
        Ok(())
    }

    /// Processor time since.
    pub(crate) fn used(&self) -> Fallible<Duration> {
        Ok(self.time()? - self.began)
    }

    fn time(&self) -> Fallible<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // Behind the name in brackets; user's and system's ticks are the 12th and the 13th.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks = fields.skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
        Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
    }

    /// Notes how much memory it has.
    pub(crate) fn look(&mut self) -> Fallible<()> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line.and_then(|it| it.split_whitespace().next()).ok_or("no RSS")?.parse()?;
        self.memory.push(kib / 1024.0);
        Ok(())
    }

    /// Memory in the middle of the run and at its end: means of a sixth of the looks each.
    pub(crate) fn memory(&self) -> (f64, f64) {
        let len = self.memory.len();
        let some = (len / 6).max(1).min(len);
        let mean = |looks: &[f64]| looks.iter().sum::<f64>() / looks.len().max(1) as f64;
        let middle = (len / 2).saturating_sub(some);
        (mean(&self.memory[middle..middle + some]), mean(&self.memory[len - some..]))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
