//! The image of the proxy, as far as a machine without an engine for containers can try it.
//!
//! `IMAGE=1 cargo test -p llm-stream-guard-cli --test cli image` also builds the static binary, as
//! `cargo xtask e2e` does.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
};

use clap::CommandFactory as _;
use llm_stream_guard_cli::Cli;

use crate::{
    lifecycle::{Proxy, upstream},
    support::{root, run},
};

/// The user of the image, who owns nothing.
const USER: u32 = 65532;

/// The instructions of the Dockerfile, lines joined, those of the last stage only.
fn last_stage() -> Vec<(String, String)> {
    let instructions = instructions();
    let last = instructions.iter().rposition(|(name, _)| name == "FROM").expect("a stage");
    instructions[last..].to_vec()
}

fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/deploy/Dockerfile")).expect("it is there");
    let text = text.replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let spaced = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
    let pair = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), spaced(b)));
    lines.filter_map(pair).collect()
}

fn of<'i>(stage: &'i [(String, String)], name: &str) -> &'i str {
    let found: Vec<_> = stage.iter().filter(|(known, _)| known == name).collect();
    let [(_, value)] = found[..] else { panic!("{name}: {found:?}") };
    value
}

/// The words of an instruction in exec form.
fn words(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn variables(stage: &[(String, String)]) -> Vec<(String, String)> {
    let lines = stage.iter().filter(|(name, _)| name == "ENV");
    let words = lines.flat_map(|(_, line)| line.split_whitespace());
    words.filter_map(|it| it.split_once('=')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn every_serve_option_has_an_environment_variable() {
    let cli = Cli::command();
    let serve = cli.find_subcommand("serve").expect("it is there");
    // These do something else than to serve.
    let actions = ["help", "print_config", "healthcheck"];
    for option in serve.get_arguments().filter(|it| !actions.contains(&it.get_id().as_str())) {
        let name = format!("LLM_STREAM_GUARD_{}", option.get_id().as_str().to_uppercase());
        assert_eq!(option.get_env().and_then(|it| it.to_str()), Some(&*name));
        let manual = fs::read_to_string(root().join("docs/serve.md")).expect("it is there");
        assert!(manual.contains(&format!("`{name}`")), "{name} is not in the manual");
    }
}

#[test]
fn image_runs_as_nobody_and_listens_on_its_exposed_port() {
    let stage = last_stage();
    assert_eq!(of(&stage, "USER"), format!("{USER}:{USER}"));
    let variables = variables(&stage);
    let listen = variables.iter().find(|(name, _)| name == "LLM_STREAM_GUARD_LISTEN");
    let port = of(&stage, "EXPOSE");
    assert_eq!(listen.map(|(_, it)| &**it), Some(&*format!("0.0.0.0:{port}")));
    let entry = words(of(&stage, "ENTRYPOINT"));
    let (_, check) = of(&stage, "HEALTHCHECK").split_once("CMD ").expect("a command");
    let check = words(check);
    assert_eq!(check[..1], entry[..1], "the image has no other program");
    assert_eq!(words(of(&stage, "CMD")), ["serve"]);
    assert!(entry[0].ends_with("/llm-stream-guard"));
    let ignored = fs::read_to_string(root().join(".dockerignore")).expect("it is there");
    for name in [".git", "**/target"] {
        assert!(ignored.lines().any(|line| line == name), "{name} is sent to the engine");
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|it| it.stdout == b"0\n")
}

/// `program` as the image starts it: as its user, where this one may become another.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups"]);
    command.arg(program);
    command
}

/// Sets the environment of the image, and the documented variables.
fn in_image<'c>(command: &'c mut Command, listen: &str, upstream: &str) -> &'c mut Command {
    command.env_clear().current_dir("/");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(variables(&last_stage())).env("LLM_STREAM_GUARD_LISTEN", listen);
    command.env("LLM_STREAM_GUARD_UPSTREAM", upstream)
}

/// A copy of a program where every user may start it.
fn public(program: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("llm-stream-guard-image-{}-{number}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    fs::create_dir_all(&dir).expect("a directory");
    let copy = dir.join("llm-stream-guard");
    fs::copy(program, &copy).expect("it is copied");
    for path in [&dir, &copy] {
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(path, mode).expect("it is ours");
    }
    copy
}

/// An address of all interfaces, at a port that is free.
fn free_address() -> String {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    format!("0.0.0.0:{}", address.expect("a port").port())
}

fn starts_as_the_image_does(program: &Path) {
    let program = public(program);
    let stage = last_stage();
    let listen = free_address();
    let command = |args: &[String]| {
        let mut command = as_user(&program);
        in_image(command.args(args), &listen, "http://127.0.0.1:1");
        command
    };
    let proxy = Proxy::new(&mut command(&words(of(&stage, "CMD"))));
    let (_, check) = of(&stage, "HEALTHCHECK").split_once("CMD ").expect("a command");
    let check = &words(check)[1..];
    let checked = || -> Output { command(check).output().expect("it runs") };
    let output = checked();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = fs::read_to_string(format!("/proc/{}/status", proxy.id())).unwrap_or_default();
    if let Some(uids) = status.lines().find_map(|line| line.strip_prefix("Uid:")) {
        assert!(uids.split_whitespace().all(|uid| uid != "0"), "{uids}");
    }
    assert!(proxy.ask("GET /healthz", "").ends_with("ok\n"));
    drop(proxy);
    let output = checked();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(program.parent().expect("a directory")).expect("it is ours");
}

#[test]
fn program_starts_as_in_the_image_and_passes_its_health_check() {
    starts_as_the_image_does(Path::new(env!("CARGO_BIN_EXE_llm-stream-guard")));
    assert!(run(&["serve", "--help"]).status.success());
}

/// Asks an upstream by its name from a file system that has the program and the names of hosts.
fn resolves_names_alone(program: &Path) {
    let program = public(program);
    let place = program.parent().expect("a directory");
    fs::create_dir_all(place.join("etc")).expect("a directory");
    fs::write(place.join("etc/hosts"), "127.0.0.1 upstream.test\n").expect("it is written");
    let (port, _gate) = upstream("a");
    let mut command = Command::new("chroot");
    command
        .arg(format!("--userspec={USER}:{USER}"))
        .arg(place)
        .args(["/llm-stream-guard", "serve"]);
    let name = format!("http://upstream.test:{port}");
    let proxy = Proxy::new(in_image(&mut command, &free_address(), &name));
    let ready = proxy.ask("GET /readyz", "");
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    drop(proxy);
    fs::remove_dir_all(place).expect("it is ours");
}

/// Runs the build of the Dockerfile where this machine has its linker and static libraries.
#[test]
fn static_binary_of_the_image_starts_without_libraries() {
    let skip = |why: &str| println!("skipped the static binary: {why}");
    if std::env::var_os("IMAGE").is_none() {
        return skip("set IMAGE=1 to build it");
    }
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let libraries = Command::new("cc").arg("-print-file-name=libc.a").output();
    // The name alone is printed where there is no such file.
    if !libraries.is_ok_and(|it| it.stdout.starts_with(b"/")) {
        return skip("there is no C compiler with a static C library");
    }
    let build = instructions().into_iter().find(|(_, line)| line.contains("cargo build"));
    let (_, build) = build.expect("a build");
    let (build, copy) = build.rsplit_once(" && cp ").expect("a copy of the program");
    let mut shell = Command::new("sh");
    shell.args(["-c", build]);
    assert!(shell.current_dir(root()).status().expect("it runs").success());
    let built = copy.split_whitespace().next().expect("a path").trim_matches('"');
    let built = built.replace("$target", &target);
    let elsewhere = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let program = match (elsewhere, built.strip_prefix("target/")) {
        (Some(elsewhere), Some(rest)) => elsewhere.join(rest),
        _ => root().join(built),
    };
    let bytes = fs::read(&program).expect("it is built");
    assert!(!bytes.windows(8).any(|it| it == b"/ld-linu"), "the binary is linked to libraries");
    starts_as_the_image_does(&program);
    match is_root() {
        true => resolves_names_alone(&program),
        false => skip("only the administrator can start it without other files"),
    }
}
