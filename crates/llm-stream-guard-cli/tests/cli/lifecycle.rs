//! A process that ends, that gets a new configuration, and that runs as in a container.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{ChildStderr, ChildStdout, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use crate::{
    serve::Started,
    support::{command, run, scratch},
};

/// Longer than anything a test waits for.
const LONG: Duration = Duration::from_secs(60);

/// An upstream that says `name`. Where a stream is asked for, the second half of the answer waits
/// until the sender is dropped.
pub(crate) fn upstream(name: &'static str) -> (u16, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, gate) = channel();
    let gate = Arc::new(Mutex::new(gate));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let gate = gate.clone();
            thread::spawn(move || answer(stream, name, &gate));
        }
    });
    (port, sender)
}

fn answer(mut stream: TcpStream, name: &str, gate: &Mutex<Receiver<()>>) -> std::io::Result<()> {
    let asked = request(&mut stream)?;
    let key = asked.lines().find(|line| line.starts_with("authorization:")).unwrap_or("no key");
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type:";
    if !asked.contains("\"stream\":true") {
        let answer = format!("{{\"from\": \"{name}\", \"key\": \"{key}\"}}");
        let length = answer.len();
        return write!(
            stream,
            "{head} application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
        );
    }
    write!(stream, "{head} text/event-stream\r\n\r\n")?;
    let say = |text: &str, finish: &str| {
        format!(
            "data: {{\"choices\": [{{\"index\": 0, \"delta\": {{\"content\": \"{text}\"}}, \"finish_reason\": {finish}}}]}}\n\n"
        )
    };
    stream.write_all(say(&format!("one of {name} "), "null").as_bytes())?;
    // An error is what a dropped sender gives.
    let _ = gate.lock().expect("no thread panics").recv();
    stream.write_all(say("two", "\"stop\"").as_bytes())?;
    stream.write_all(b"data: [DONE]\n\n")
}

/// A request with a body of known length.
fn request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut came, mut piece) = (String::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut piece)?;
        came.push_str(&String::from_utf8_lossy(&piece[..length]));
        let Some((head, body)) = came.split_once("\r\n\r\n") else { continue };
        let wanted = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let wanted = wanted.and_then(|length| length.parse().ok()).unwrap_or(0);
        if body.len() >= wanted || length == 0 {
            return Ok(came);
        }
    }
}

/// A proxy that was started, with its address and its log.
pub(crate) struct Proxy {
    started: Started,
    address: String,
    /// The output after its first line.
    rest: BufReader<ChildStdout>,
    log: Arc<Log>,
}

/// The log of a process as far as it was read.
#[derive(Default)]
struct Log {
    /// The text, and whether it is all.
    text: Mutex<(String, bool)>,
    grew: Condvar,
}

impl Log {
    /// Reads the log while the process runs.
    fn of(error: ChildStderr) -> Arc<Self> {
        let log = Arc::new(Self::default());
        let writer = log.clone();
        thread::spawn(move || {
            for line in BufReader::new(error).split(b'\n').map_while(Result::ok) {
                let mut text = writer.text.lock().expect("no thread panics");
                text.0.push_str(&String::from_utf8_lossy(&line));
                text.0.push('\n');
                writer.grew.notify_all();
            }
            writer.text.lock().expect("no thread panics").1 = true;
            writer.grew.notify_all();
        });
        log
    }

    /// Waits until the log is as `wanted`, and returns it.
    fn until(&self, wanted: impl Fn(&str, bool) -> bool) -> String {
        let text = self.text.lock().expect("no thread panics");
        let waits = |(text, ended): &mut (String, bool)| !wanted(text, *ended) && !*ended;
        let waited = self.grew.wait_timeout_while(text, LONG, waits);
        let (text, _) = waited.expect("no thread panics");
        assert!(wanted(&text.0, text.1), "{}", text.0);
        text.0.clone()
    }
}

impl Proxy {
    pub(crate) fn new(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut started = Started(child.expect("it starts"));
        let out = started.0.stdout.take().expect("piped");
        let log = Log::of(started.0.stderr.take().expect("piped"));
        let (mut first, mut rest) = (String::new(), BufReader::new(out));
        rest.read_line(&mut first).expect("text");
        let address = first.split_whitespace().next().and_then(|it| it.strip_prefix("http://"));
        let Some(address) = address else { panic!("{first}: {}", log.until(|_, ended| ended)) };
        Self { started, address: address.to_owned(), rest, log }
    }

    fn configured(file: &str) -> Self {
        Self::new(&mut command(&["serve", "--listen", "127.0.0.1:0", "--config", file]))
    }

    pub(crate) fn id(&self) -> u32 {
        self.started.0.id()
    }

    fn signal(&self, name: &str) {
        let pid = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().expect("it runs");
        assert!(sent.success());
    }

    pub(crate) fn ask(&self, line: &str, body: &str) -> String {
        rest(begin(&self.address, line, body))
    }

    /// Waits for a line of the log with `words`.
    fn logs(&self, words: &str) {
        self.log.until(|text, _| text.contains(words));
    }

    /// Begins a stream whose first piece has come.
    fn stream(&self) -> (TcpStream, String) {
        let body = "{\"model\": \"Qwen/Qwen3-8B\", \"stream\": true}";
        let mut stream = begin(&self.address, "POST /v1/chat/completions", body);
        let (mut came, mut piece) = (String::new(), [0; 4096]);
        while !came.contains("one of") {
            let length = stream.read(&mut piece).expect("it answers");
            assert!(length > 0, "{came}");
            came.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
        (stream, came)
    }

    /// Waits for the end of the process; its log.
    fn log(mut self) -> (bool, String) {
        let log = self.log.until(|_, ended| ended);
        let status = self.started.0.wait().expect("it ends");
        (status.success(), log)
    }
}

/// Begins a request; its answer is read later.
fn begin(address: &str, line: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}");
    write!(stream, "{head}\r\n\r\n{body}").expect("it reads");
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

#[test]
fn terminated_proxy_is_not_ready_then_refuses_requests_and_finishes_streams() {
    let (port, gate) = upstream("a");
    let text = format!("upstream = \"http://127.0.0.1:{port}\"\n[timeouts]\ndrain = \"1h\"\n");
    let proxy = Proxy::configured(&scratch("drain.toml", &text));
    assert_eq!(status(&proxy.ask("GET /readyz", "")), "200");
    let (stream, _) = proxy.stream();
    proxy.signal("TERM");
    proxy.logs("not ready from now on");
    assert_eq!(status(&proxy.ask("GET /readyz", "")), "503");
    assert_eq!(status(&proxy.ask("GET /healthz", "")), "200");
    assert_eq!(status(&proxy.ask("GET /v1/other", "")), "200", "in the time of grace");
    proxy.signal("TERM");
    proxy.logs("new ones are refused");
    assert_eq!(status(&proxy.ask("GET /v1/other", "")), "503");
    assert_eq!(status(&proxy.ask("GET /readyz", "")), "503");
    assert_eq!(status(&proxy.ask("GET /healthz", "")), "200");
    drop(gate);
    let said = rest(stream);
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    let (success, log) = proxy.log();
    assert!(success && !log.contains("cut"), "{log}");
}

#[test]
fn terminated_proxy_exits_after_the_drain_time() {
    let (port, _gate) = upstream("a");
    let text = format!("upstream = \"http://127.0.0.1:{port}\"\n[timeouts]\ndrain = \"1ms\"\n");
    let proxy = Proxy::configured(&scratch("drained.toml", &text));
    proxy.signal("TERM");
    let (success, log) = proxy.log();
    assert!(success && log.contains("new ones are refused"), "{log}");
}

#[test]
fn second_signal_cuts_open_streams() {
    let (port, _gate) = upstream("a");
    let text = format!("upstream = \"http://127.0.0.1:{port}\"\n[timeouts]\nshutdown = \"1h\"\n");
    let proxy = Proxy::configured(&scratch("twice.toml", &text));
    let (stream, _) = proxy.stream();
    proxy.signal("INT");
    proxy.logs("new ones are refused");
    proxy.signal("INT");
    let (success, log) = proxy.log();
    assert!(success && log.contains("open requests are cut"), "{log}");
    drop(stream);
}

#[test]
fn separate_metrics_address_answers_until_shutdown_ends() {
    let (port, gate) = upstream("a");
    let text =
        format!("upstream = \"http://127.0.0.1:{port}\"\nmetrics_listen = \"127.0.0.1:0\"\n");
    let mut proxy = Proxy::configured(&scratch("metrics.toml", &text));
    let mut line = String::new();
    proxy.rest.read_line(&mut line).expect("text");
    let address =
        line.trim().strip_prefix("metrics: http://").and_then(|it| it.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let (stream, _) = proxy.stream();
    for path in ["/metrics", "//metrics/", "/%6detrics"] {
        assert_eq!(status(&proxy.ask(&format!("GET {path}"), "")), "404", "{path}");
    }
    assert_eq!(status(&rest(begin(address, "GET /v1/other", ""))), "404", "no upstream there");
    proxy.signal("INT");
    proxy.logs("new ones are refused");
    let metrics = rest(begin(address, "GET /metrics", ""));
    assert!(metrics.contains("llm_stream_guard_streams_open 1\n"), "{metrics}");
    drop(gate);
    assert!(rest(stream).contains("[DONE]"));
    assert!(proxy.log().0);
}

#[test]
fn reload_applies_a_valid_configuration_and_keeps_the_old_on_errors() {
    let ((first, gate), (second, _second)) = (upstream("a"), upstream("b"));
    let write = |port: u16, more: &str| {
        let text = format!("upstream = \"http://127.0.0.1:{port}\"\n{more}");
        scratch("reload.toml", &text)
    };
    let proxy = Proxy::configured(&write(first, ""));
    let (stream, _) = proxy.stream();
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"a\""));
    write(second, "[limits]\nbody = 0\n");
    proxy.signal("HUP");
    proxy.logs("configuration not reloaded");
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"a\""));
    write(second, "");
    proxy.signal("HUP");
    proxy.logs("configuration reloaded");
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"b\""));
    drop(gate);
    let said = rest(stream);
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    proxy.signal("INT");
    let (success, log) = proxy.log();
    assert!(success, "{log}");
    assert!(log.contains("reload.toml, line 3, column 1: `limits.body`"), "{log}");
}

#[test]
fn upstream_key_is_sent_and_never_printed() {
    let ((first, _first), (second, _second)) = (upstream("a"), upstream("b"));
    let text = format!(
        "upstream = \"http://127.0.0.1:{first}\"\n[upstreams.b]\nurl = \"http://127.0.0.1:{second}\"\n\
         key_env = \"SECOND_KEY\"\n[models]\n\"claude-*\" = {{ upstream = \"b\", model = \"m\" }}\n"
    );
    let file = scratch("keys.toml", &text);
    let mut command = command(&["serve", "--listen", "127.0.0.1:0", "--config", &file]);
    let proxy = Proxy::new(command.env("SECOND_KEY", "s3cret").env("RUST_LOG", "trace"));
    let ask =
        |model: &str| proxy.ask("POST /v1/embeddings", &format!("{{\"model\": \"{model}\"}}"));
    let (second, first) = (ask("claude-x"), ask("x"));
    assert!(second.contains("\"b\", \"key\": \"authorization: Bearer s3cret\""), "{second}");
    assert!(first.contains("\"a\", \"key\": \"no key\""), "{first}");
    proxy.signal("INT");
    let (_, log) = proxy.log();
    assert!(!log.contains("s3cret"), "{log}");
    let printed = run(&["serve", "--config", &file, "--print-config"]);
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(printed.contains("key_env = \"SECOND_KEY\"") && !printed.contains("s3cret"));
    crate::support::refused(
        &["serve", "--config", &file, "--listen", "127.0.0.1:0"],
        &["`upstreams.b.key_env`", "`SECOND_KEY`"],
    );
}
