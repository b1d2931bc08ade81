//! The image of the proxy, as far as a machine without an engine for containers can try it.
//!
//! `IMAGE=1 cargo test -p llm-stream-guard-cli --test cli image` also builds the static binary.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use clap::CommandFactory as _;
use llm_stream_guard_cli::Cli;

use crate::{
    lifecycle::Proxy,
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
    let text = fs::read_to_string(root().join("deploy/Dockerfile")).expect("it is there");
    let text = text.replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), b.trim().to_owned()));
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

/// `program` as the image starts it: as its user, where this one may become another.
fn as_user(program: &Path, args: &[String], listen: &str, port: u16) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|it| it.stdout == b"0\n");
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args([
                &format!("--reuid={USER}"),
                &format!("--regid={USER}"),
                "--clear-groups",
            ]);
            command.arg(program);
            command
        }
        false => Command::new(program),
    };
    command.args(args).env_clear().current_dir("/");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(variables(&last_stage())).env("LLM_STREAM_GUARD_LISTEN", listen);
    command.env("LLM_STREAM_GUARD_UPSTREAM", format!("http://127.0.0.1:{port}"));
    command
}

/// A copy of a program where every user may start it.
fn public(program: &Path) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("llm-stream-guard-image-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a directory");
    let copy = dir.join("llm-stream-guard");
    fs::copy(program, &copy).expect("it is copied");
    for path in [&dir, &copy] {
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(path, mode).expect("it is ours");
    }
    copy
}

fn starts_as_the_image_does(program: &Path) {
    let program = public(program);
    let stage = last_stage();
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let listen = format!("0.0.0.0:{}", port.port());
    let proxy = Proxy::new(&mut as_user(&program, &words(of(&stage, "CMD")), &listen, 1));
    let (_, check) = of(&stage, "HEALTHCHECK").split_once("CMD ").expect("a command");
    let check = &words(check)[1..];
    let checked =
        |listen: &str| -> Output { as_user(&program, check, listen, 1).output().expect("it runs") };
    let output = checked(&listen);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = fs::read_to_string(format!("/proc/{}/status", proxy.id())).unwrap_or_default();
    if let Some(uids) = status.lines().find_map(|line| line.strip_prefix("Uid:")) {
        assert!(uids.split_whitespace().all(|uid| uid != "0"), "{uids}");
    }
    drop(proxy);
    let output = checked(&listen);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(program.parent().expect("a directory")).expect("it is ours");
}

#[test]
fn program_starts_as_in_the_image_and_passes_its_health_check() {
    starts_as_the_image_does(Path::new(env!("CARGO_BIN_EXE_llm-stream-guard")));
    assert!(run(&["serve", "--help"]).status.success());
}

/// Runs the build of the Dockerfile where this machine has its target and its linker.
#[test]
fn static_binary_of_the_image_starts_without_libraries() {
    let skip = |why: &str| println!("skipped the static binary: {why}");
    if std::env::var_os("IMAGE").is_none() {
        return skip("set IMAGE=1 to build it");
    }
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let targets = Command::new("rustc").args(["--print", "sysroot"]).output().expect("it runs");
    let sysroot = String::from_utf8_lossy(&targets.stdout).trim().to_owned();
    if !Path::new(&sysroot).join("lib/rustlib").join(&target).is_dir() {
        return skip(&format!("the target {target} is not installed"));
    }
    let compiler = Command::new("musl-gcc").arg("--version").output();
    if compiler.is_err() {
        return skip("musl-gcc is not installed");
    }
    let build = instructions().into_iter().find(|(_, line)| line.contains("cargo build"));
    let (_, build) = build.expect("a build");
    let build = build.split("cargo build").nth(1).and_then(|it| it.split("&&").next());
    let build = build.expect("its options").replace("\"$target\"", &target);
    let mut cargo = Command::new("cargo");
    cargo.arg("build").args(build.split_whitespace()).current_dir(root());
    assert!(cargo.status().expect("it runs").success());
    let program = root().join("target").join(&target).join("release/llm-stream-guard");
    let bytes = fs::read(&program).expect("it is built");
    let names_a_loader = bytes.windows(8).any(|it| it == b"/ld-musl" || it == b"/ld-linu");
    assert!(!names_a_loader, "the binary is linked to libraries");
    starts_as_the_image_does(&program);
}
