//! A separate process that renders a stranger's chat template.
//!
//! A template is a program, and its engine limits neither memory nor recursion. For example, a list
//! of two lists, nested thirty times, takes almost forever to print. Only a process can be limited
//! from outside and killed without harm.

use std::{
    ffi::OsString,
    io::{Read as _, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
};

use super::{
    Checkpoint, Identification,
    identification::identified,
    job::{Job, Rendered},
};
use crate::limits::{MAX_WORKER_REPLY, MAX_WORKER_TIME};

/// A program that renders chat templates in a separate process.
///
/// The process limits itself to 256 MiB of memory and one second of computing time, and is killed
/// after three seconds. A template that exceeds this gives no evidence and does no harm. The limits
/// of memory and computing time need Unix.
///
/// The command `llm-stream-guard` is such a program. Another program calls `serve_renderings`:
///
/// ```no_run
/// use llm_stream_guard::{Checkpoint, Worker};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let worker = Worker::new("llm-stream-guard").args(["identify", "--worker"]);
/// let found = worker.identify(&Checkpoint::read("models/downloaded".as_ref())?);
/// println!("{found}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Worker {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Worker {
    /// Creates a worker from a program without arguments.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new() }
    }

    /// Adds arguments for the program.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Identifies a checkpoint as [`identify`](super::identify) does, and by a rendering of its
    /// chat template.
    ///
    /// If the worker does not start or is killed, only the text of the checkpoint counts, and the
    /// evidence says why.
    #[must_use]
    pub fn identify(&self, checkpoint: &Checkpoint) -> Identification {
        identified(checkpoint, Some(&|job: &Job| self.render(job)))
    }

    pub(super) fn render(&self, job: &Job) -> Vec<Rendered> {
        let problem = match self.run(job) {
            Ok(rendered) if rendered.len() == job.contexts.len() => return rendered,
            Ok(_) => "the worker left something out".to_owned(),
            Err(problem) => problem,
        };
        job.contexts.iter().map(|_| Err(problem.clone())).collect()
    }

    /// Starts the worker and waits for its reply.
    fn run(&self, job: &Job) -> Result<Vec<Rendered>, String> {
        let job = serde_json::to_vec(job).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.program);
        command.args(&self.args).stderr(Stdio::null());
        // Under the limit of memory, glibc finds no room for the arena of a second thread, and then
        // maps every allocation separately, which takes most of the computing time.
        command.env("MALLOC_ARENA_MAX", "1");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| {
                format!("the worker `{}` does not start: {error}", self.program.display())
            })?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            // A worker that does not read its input does not reply either.
            let _ = stdin.map(|mut stdin| stdin.write_all(&job));
        });
        thread::spawn(move || {
            let mut reply = Vec::new();
            let read = stdout.map(|stdout| stdout.take(MAX_WORKER_REPLY).read_to_end(&mut reply));
            // Sending fails only if the caller stopped waiting.
            let _ = send.send(read.map(|_| reply));
        });
        let reply = receive.recv_timeout(MAX_WORKER_TIME);
        // A worker that has replied exits by itself; one that has not is not waited for.
        let _ = child.kill();
        let status = child.wait().map_err(|error| error.to_string())?;
        let reply = match reply {
            Ok(reply) => reply.unwrap_or_default(),
            Err(_) => return Err("it took too long".to_owned()),
        };
        reply
            .split(|byte| *byte == b'\n')
            .find_map(|line| serde_json::from_slice(line).ok())
            .ok_or_else(|| {
                format!("it takes too much time or memory: the worker ended with {status}")
            })
    }
}

/// Does the work of a [`Worker`]: limits this process, reads a template from the standard input,
/// and writes the rendering to the standard output. Call this function before anything else, and
/// end the process after it.
///
/// # Errors
/// Returns an error if the limits cannot be set, or if the input or output fails.
#[cfg(feature = "jinja")]
pub fn serve_renderings() -> std::io::Result<()> {
    limit()?;
    let mut job = Vec::new();
    std::io::stdin().read_to_end(&mut job)?;
    let job: Job = serde_json::from_slice(&job)?;
    let rendered = super::render::render(&job);
    // The reply is a separate line, after any earlier output.
    let reply = [&b"\n"[..], &serde_json::to_vec(&rendered)?, b"\n"].concat();
    let mut out = std::io::stdout();
    out.write_all(&reply)?;
    out.flush()
}

/// Limits memory and computing time of this process and disables core dumps.
#[cfg(all(feature = "jinja", unix))]
fn limit() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [(Resource::As, 256 << 20), (Resource::Cpu, 1), (Resource::Core, 0)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

#[cfg(all(feature = "jinja", not(unix)))]
fn limit() -> std::io::Result<()> {
    Ok(())
}
