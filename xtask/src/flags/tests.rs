//! Tests of the command line.

use super::{
    Against, Command, Compared, Counted, Depth, EFFORT, Effort, Job, Mode, Pace, Part, Scope,
    TEXTS, Tables, WIRES, Wanted, parse,
};

fn command(line: &str) -> Option<Command> {
    parse(line.split_whitespace().map(Into::into)).ok()
}

#[test]
fn commands_are_read_with_their_flags() {
    let fuzz = |effort, target: Option<&str>| {
        Some(Command::Fuzz { effort, target: target.map(Into::into) })
    };
    let seed = |target: Option<&str>| Some(Command::Seed { target: target.map(Into::into) });
    let release = |mode, crates: &[&str]| {
        let crates = crates.iter().map(|&name| name.into()).collect();
        Some(Command::Release { mode, crates })
    };
    assert_eq!(command(""), Some(Command::Help));
    assert_eq!(command("tidy --help"), Some(Command::Help));
    assert_eq!(command("ci"), Some(Command::Ci(Scope::Change)));
    assert_eq!(command("ci --full"), Some(Command::Ci(Scope::Full)));
    assert_eq!(command("ci --job clippy"), Some(Command::Ci(Scope::Job(Job::Clippy))));
    assert_eq!(command("ci --job lint"), None);
    assert_eq!(command("e2e"), Some(Command::E2e(Against::Clients)));
    assert_eq!(command("e2e --soak"), Some(Command::E2e(Against::Crowd)));
    assert_eq!(command("e2e --engines"), Some(Command::Engines { cache: None }));
    let cache = Some("/c".into());
    assert_eq!(command("e2e --engines /c"), Some(Command::Engines { cache }));
    assert_eq!(command("e2e --soak --engines"), None);
    assert_eq!(command("compare --fixtures"), Some(Command::Compare(Compared::Fixtures)));
    assert_eq!(command("compare DIR --fixtures x"), None);
    let old = |further: Option<&str>| {
        let (revision, further) = ("v1".to_owned(), further.map(Into::into));
        Some(Command::Compare(Compared::Old { revision, further }))
    };
    assert_eq!(command("compare --old v1"), old(None));
    assert_eq!(command("compare --old v1 DIR"), old(Some("DIR")));
    assert_eq!(command("compare --old"), None);
    assert_eq!(command("page"), Some(Command::Page));
    assert_eq!(command("js"), Some(Command::Js(Depth::Whole)));
    assert_eq!(command("js --check"), Some(Command::Js(Depth::Quick)));
    assert_eq!(command("python"), Some(Command::Python(Depth::Whole)));
    assert_eq!(command("python --check"), Some(Command::Python(Depth::Quick)));
    assert_eq!(command("seeded"), Some(Command::Seeded));
    assert_eq!(command("tidy"), Some(Command::Tidy));
    assert_eq!(command("drift"), Some(Command::Drift { wheels: None, keep: false }));
    let wheels = Some("wheels".into());
    assert_eq!(command("drift --keep wheels"), Some(Command::Drift { wheels, keep: true }));
    assert_eq!(command("families"), Some(Command::Families(Tables::Written)));
    assert_eq!(command("families --check"), Some(Command::Families(Tables::Checked)));
    let bench =
        |pace, filter: Option<&str>| Some(Command::Bench { pace, filter: filter.map(Into::into) });
    assert_eq!(command("bench"), bench(Pace::Table, None));
    assert_eq!(command("bench --all"), bench(Pace::EachProfile, None));
    assert_eq!(command("bench --peers"), bench(Pace::Peers, None));
    assert_eq!(command("bench --peers W4"), bench(Pace::Peers, Some("W4")));
    assert_eq!(command("bench --gate"), bench(Pace::Count(Counted::Compared), None));
    assert_eq!(command("fuzz"), fuzz(EFFORT, None));
    let effort = Effort { seconds: 5, jobs: 2 };
    assert_eq!(command("fuzz --seconds 5 matcher --jobs 2"), fuzz(effort, Some("matcher")));
    assert_eq!(command("fuzz seed"), seed(None));
    assert_eq!(command("fuzz seed calls"), seed(Some("calls")));
    let mutants = |part: Option<&str>, shard: Option<&str>| {
        Some(Command::Mutants { part: part.map(Into::into), shard: shard.map(Into::into) })
    };
    assert_eq!(command("mutants"), mutants(None, None));
    assert_eq!(command("mutants chat --shard 1/9"), mutants(Some("chat"), Some("1/9")));
    let templates = |count, seed| Some(Command::Templates { count, seed });
    assert_eq!(command("templates"), templates(WIRES, None));
    assert_eq!(command("templates --count 9 4"), templates(9, Some(4)));
    assert_eq!(command("grammars"), Some(Command::Grammars { count: TEXTS }));
    assert_eq!(command("grammars --count 9"), Some(Command::Grammars { count: 9 }));
    assert_eq!(command("dist"), Some(Command::Dist(Wanted::default())));
    let wanted = Wanted {
        place: Some("out".into()),
        only: Some(Part::Npm),
        target: Some("x86_64-apple-darwin".into()),
    };
    let line = "dist out --only npm --target x86_64-apple-darwin";
    assert_eq!(command(line), Some(Command::Dist(wanted)));
    assert_eq!(command("release"), release(Mode::Publish, &[]));
    assert_eq!(command("release --dry-run a b"), release(Mode::DryRun, &["a", "b"]));
}

#[test]
fn unknown_arguments_are_refused() {
    for line in [
        "cii",
        "--ci",
        "ci now",
        "ci --time 3",
        "fuzz --seconds soon",
        "fuzz seed --jobs 2",
        "fuzz a b",
        "bench a b",
        "bench --fast",
        "bench W3",
        "bench W3 --all",
        "bench --count W3",
        "bench --gate W3",
        "bench --keep W3",
        "mutants a b",
        "python --full",
        "dist a b",
        "dist --only gems",
    ] {
        assert_eq!(command(line), None, "{line}");
    }
}
