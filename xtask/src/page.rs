//! `cargo xtask page`: the page of `explain` in a real browser.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    js,
    process::{BROWSERS, Invocation, browser, target},
};

/// The browser has no network and an empty profile.
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--enable-logging=stderr",
];
/// The length of the recording, in bytes of the model's text.
const LONG: usize = 1 << 20;
/// The text that the model repeats.
const PART: &str = "<think>The user asks for the weather in two cities. I look both up.</think>\n\
    Calls begin with <tool_call> and are JSON.\n\n<tool_call>\n{\"name\": \"get_weather\", \
    \"arguments\": {\"city\": \"Malmö\", \"note\": \"a </tool_call> in quotes\"}}\n</tool_call>\n\
    It is 4 °C there, and [TOOL_CALLS] means nothing here.\n\n";
/// A script that uses the page as a reader would, then records the result.
const WALK: &str = r##"<script>
(() => {
const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const now = () => document.getElementById("now").textContent;
const slider = document.getElementById("slider");
const seen = [];
const say = (what, truth) => { if (!truth) seen.push(what); };
const slide = to => { slider.value = to; slider.dispatchEvent(new Event("input")); };
slide(0);
say("the first chunk", now().startsWith("Chunk 0") && document.querySelector(".future"));
press("n"); press("n"); press("n");
say("the next event", Number(slider.value) > 0);
const before = Number(slider.value);
press("ArrowRight");
say("the next chunk", Number(slider.value) === before + 1);
press("p");
say("the event before", Number(slider.value) <= before);
let held = false;
for (let step = 0; step < 60 && !held; step++) { slide(step); held = document.querySelector(".held") !== null; }
say("held text", held);
slide(slider.max);
say("the end", now().startsWith("The stream ended"));
const text = document.getElementById("text");
say("all text", text.textContent.replaceAll(/! [a-z ]+/g, "").length > 900000);
const filter = document.querySelector("#filters input");
filter.click();
say("the filter", getComputedStyle(text.querySelector("[data-f=content]")).display === "none");
filter.click();
press("2");
say("the other family", document.querySelectorAll("#ways [aria-pressed=true]").length === 1
  && document.querySelector("#ways [aria-pressed=true]") === document.getElementById("ways").children[1]);
press("1");
document.querySelector("#findings button").click();
const find = document.getElementById("find");
find.value = "get_weather"; find.dispatchEvent(new Event("input"));
say("the search", document.querySelectorAll("#log tbody tr").length > 10);
press(" "); press(" ");
document.documentElement.dataset.walked = seen.length ? "not found: " + seen.join(", ") : "yes";
})();
</script>"##;

/// Explains a long recording as two families, opens the page, uses it, and looks for errors.
/// Without a browser, only prints a notice.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    js::page(root)?;
    let Some(browser) = browser() else {
        println!("skipped: none of {} is installed", BROWSERS.join(", "));
        return Ok(());
    };
    let directory = target(root)?.join("page");
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    fs::create_dir_all(&directory).map_err(fault)?;
    let (recording, page) = (directory.join("long.jsonl"), directory.join("long.html"));
    fs::write(&recording, recorded(LONG)).map_err(fault)?;
    let line = format!(
        "cargo run -q -p llm-stream-guard-cli -- explain {} --compare qwen3,mistral --html {}",
        recording.display(),
        page.display()
    );
    Invocation::new(&line).run(root)?;
    let html = fs::read_to_string(&page).map_err(fault)?;
    let walked = directory.join("walked.html");
    fs::write(&walked, html.replace("</body>", &format!("{WALK}\n</body>"))).map_err(fault)?;
    judge(&opened(browser, &directory, &walked)?)?;
    for (name, extra) in [("light", ""), ("dark", "--blink-settings=preferredColorScheme=0")] {
        let shot = directory.join(format!("{name}.png"));
        let shot = format!("--screenshot={}", shot.display());
        let mut command = browse(browser, &directory);
        command.arg("--window-size=1200,1600").arg(shot);
        command.args(Some(extra).filter(|extra| !extra.is_empty())).arg(&page);
        command.output().map_err(fault)?;
    }
    println!("the page is whole; pictures of it are in {}", directory.display());
    Ok(())
}

/// Returns a recording of at least `bytes` of text in pieces of four characters, one on each line.
fn recorded(bytes: usize) -> String {
    let text = PART.repeat(bytes.div_ceil(PART.len()));
    let chars: Vec<char> = text.chars().collect();
    let mut lines = String::new();
    for piece in chars.chunks(4) {
        let piece: String = piece.iter().collect();
        let _ = writeln!(lines, "{}", serde_json::Value::String(piece));
    }
    lines
}

fn browse(browser: &str, directory: &Path) -> Command {
    let mut command = Command::new(browser);
    let profile = directory.join("profile");
    // Files of an interrupted run would keep the browser from starting.
    let _ = fs::remove_dir_all(&profile);
    command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
    command
}

/// The page as a browser rendered it.
struct Opened {
    document: String,
    told: String,
}

fn opened(browser: &str, directory: &Path, page: &PathBuf) -> Result<Opened, String> {
    let output = browse(browser, directory).arg("--dump-dom").arg(page).output();
    let output = output.map_err(|error| format!("{browser}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Opened { document: text(&output.stdout), told: text(&output.stderr) })
}

/// Returns whether the page was drawn and used without a fault.
fn judge(Opened { document, told }: &Opened) -> Result<(), String> {
    let console: Vec<&str> = told.lines().filter(|line| line.contains("CONSOLE")).collect();
    if !console.is_empty() {
        return Err(format!("the page wrote to the console:\n{}", console.join("\n")));
    }
    let root = document.split_once("<html").map_or("", |(_, rest)| rest);
    let root = root.split('>').next().unwrap_or_default();
    if root.contains("data-ready=") && root.contains("data-walked=\"yes\"") {
        return Ok(());
    }
    Err(format!("the page did not come to its end: <html{root}>"))
}

#[cfg(test)]
mod tests {
    use super::{Opened, PART, judge, recorded};

    fn told(document: &str, told: &str) -> Result<(), String> {
        judge(&Opened { document: document.into(), told: told.into() })
    }

    #[test]
    fn failing_page_is_reported_as_failed() {
        let good = r#"<html lang="en" data-ready="9" data-walked="yes"><body>"#;
        assert_eq!(told(good, "[1:INFO:startup.cc] hello"), Ok(()));
        assert!(told(good, "[1:INFO:CONSOLE(3)] \"Uncaught TypeError\"").is_err());
        assert!(told(r#"<html data-ready="9" data-walked="not found: x">"#, "").is_err());
        assert!(told("", "").is_err());
    }

    #[test]
    fn generated_recording_has_the_requested_length() {
        let lines = recorded(1000);
        let text: String =
            lines.lines().map(|line| serde_json::from_str::<String>(line).unwrap()).collect();
        assert!(text.len() >= 1000 && text.starts_with(PART));
    }
}
