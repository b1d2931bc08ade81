//! A process that ends, that gets a new configuration, and that runs as in a container.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    serve::Started,
    support::{command, run, scratch},
};

/// An upstream that says `name`, and goes on after `wait` where a stream is asked for.
fn upstream(name: &'static str, wait: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, name, wait));
        }
    });
    port
}

fn answer(mut stream: TcpStream, name: &str, wait: Duration) -> std::io::Result<()> {
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
    thread::sleep(wait);
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
    log: Option<thread::JoinHandle<String>>,
}

impl Proxy {
    pub(crate) fn new(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut started = Started(child.expect("it starts"));
        let out = started.0.stdout.take().expect("piped");
        let mut error = started.0.stderr.take().expect("piped");
        let log = Some(thread::spawn(move || {
            let mut log = String::new();
            let _ = error.read_to_string(&mut log);
            log
        }));
        let mut first = String::new();
        BufReader::new(out).read_line(&mut first).expect("text");
        let address = first.split_whitespace().next().and_then(|it| it.strip_prefix("http://"));
        let Some(address) = address else { panic!("{first}: {:?}", log.map(|it| it.join())) };
        Self { started, address: address.to_owned(), log }
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

    /// Begins a request; its answer is read later.
    fn begin(&self, line: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        let head =
            format!("{line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {length}");
        write!(stream, "{head}\r\n\r\n{body}").expect("it reads");
        stream
    }

    fn ask(&self, line: &str, body: &str) -> String {
        rest(self.begin(line, body))
    }

    /// Begins a stream whose first piece has come.
    fn stream(&self) -> (TcpStream, String) {
        let body = "{\"model\": \"Qwen/Qwen3-8B\", \"stream\": true}";
        let mut stream = self.begin("POST /v1/chat/completions", body);
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
        let status = self.started.0.wait().expect("it ends");
        let log = self.log.take().expect("it is there").join().expect("it ends");
        (status.success(), log)
    }
}

fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or(answer)
}

/// Asks until the status is `wanted`.
fn until(proxy: &Proxy, line: &str, wanted: &str) {
    for _ in 0..200 {
        if status(&proxy.ask(line, "")) == wanted {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{line} is never answered {wanted}");
}

#[test]
fn terminated_proxy_is_not_ready_then_refuses_requests_and_finishes_streams() {
    let port = upstream("a", Duration::from_secs(4));
    let text = format!("upstream = \"http://127.0.0.1:{port}\"\n[timeouts]\ndrain = \"1500ms\"\n");
    let proxy = Proxy::configured(&scratch("drain.toml", &text));
    assert_eq!(status(&proxy.ask("GET /readyz", "")), "200");
    let (stream, _) = proxy.stream();
    proxy.signal("TERM");
    until(&proxy, "GET /readyz", "503");
    assert_eq!(status(&proxy.ask("GET /healthz", "")), "200");
    assert_eq!(status(&proxy.ask("GET /v1/other", "")), "200", "in the time of grace");
    until(&proxy, "GET /v1/other", "503");
    assert_eq!(status(&proxy.ask("GET /readyz", "")), "503");
    assert_eq!(status(&proxy.ask("GET /healthz", "")), "200");
    let said = rest(stream);
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    let (success, log) = proxy.log();
    assert!(success && log.contains("not ready from now on"), "{log}");
}

#[test]
fn second_signal_cuts_open_streams() {
    let port = upstream("a", Duration::from_secs(60));
    let text = format!("upstream = \"http://127.0.0.1:{port}\"\n");
    let proxy = Proxy::configured(&scratch("twice.toml", &text));
    let (stream, _) = proxy.stream();
    proxy.signal("INT");
    until(&proxy, "GET /v1/other", "503");
    proxy.signal("INT");
    let (success, log) = proxy.log();
    assert!(success && log.contains("open requests are cut"), "{log}");
    drop(stream);
}

#[test]
fn new_configuration_is_heeded_and_a_bad_one_leaves_the_old_one() {
    let (first, second) = (upstream("a", Duration::from_secs(3)), upstream("b", Duration::ZERO));
    let write = |port: u16, more: &str| {
        let text = format!("upstream = \"http://127.0.0.1:{port}\"\n{more}");
        scratch("reload.toml", &text)
    };
    let proxy = Proxy::configured(&write(first, ""));
    let (stream, _) = proxy.stream();
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"a\""));
    write(second, "[limits]\nbody = 0\n");
    proxy.signal("HUP");
    thread::sleep(Duration::from_millis(300));
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"a\""));
    write(second, "");
    proxy.signal("HUP");
    for _ in 0..100 {
        if proxy.ask("GET /v1/other", "").contains("\"from\": \"b\"") {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(proxy.ask("GET /v1/other", "").contains("\"from\": \"b\""));
    let said = rest(stream);
    assert!(said.contains("two") && said.contains("[DONE]"), "{said}");
    proxy.signal("INT");
    let (success, log) = proxy.log();
    assert!(success, "{log}");
    assert!(log.contains("reload.toml, line 3, column 1: `limits.body`"), "{log}");
    assert!(log.contains("configuration reloaded"), "{log}");
}

#[test]
fn key_of_an_upstream_is_sent_and_never_shown() {
    let (first, second) = (upstream("a", Duration::ZERO), upstream("b", Duration::ZERO));
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
