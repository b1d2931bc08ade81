mod support;
use std::collections::BTreeMap;
use stream_laws::{
    CutPlan,
    vector::{Kind, read_cases, run_case},
};
use support::{ParserMachine, families_with_vectors, vectors};
use toolcall_parsers::grammar;

#[test]
fn quick() {
    let only = std::env::var("FAMILY").ok();
    let show = std::env::var("SHOW").ok().and_then(|s| s.parse::<usize>().ok()).unwrap_or(1);
    let mut cases = Vec::new();
    for family in families_with_vectors() {
        cases.extend(vectors(&family));
    }
    if let Ok(files) = std::env::var("FILES") {
        cases.clear();
        for f in files.split(',') {
            let text = std::fs::read_to_string(f).unwrap();
            cases.extend(read_cases(&text).unwrap().into_iter().filter(|c| c.kind == Kind::Tools));
        }
    }
    let mut by: BTreeMap<String, (usize, usize, Vec<String>)> = BTreeMap::new();
    for case in cases {
        if only.as_deref().is_some_and(|o| !o.split(',').any(|o| o == case.family)) {
            continue;
        }
        let row = by.entry(case.family.clone()).or_default();
        let Ok(grammar) = grammar(&case.family) else {
            row.1 += 1;
            row.2.push(format!("no family {}", case.family));
            continue;
        };
        let plan = if std::env::var("WHOLE").is_ok() {
            CutPlan { two_way_up_to: 0, three_way_up_to: 0, random: 0, seed: 1 }
        } else {
            CutPlan::standard(11)
        };
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run_case(&case, || ParserMachine::of_case(&grammar, &case), plan)
        }));
        match run {
            Ok(Ok(_)) => row.0 += 1,
            Ok(Err(e)) => {
                row.1 += 1;
                row.2.push(format!("{e}\n   WIRE {:?}", case.wire));
            }
            Err(_) => {
                row.1 += 1;
                row.2.push(format!("PANIC {}", case.id));
            }
        }
    }
    let (mut good, mut bad) = (0, 0);
    for (family, (g, b, errors)) in &by {
        good += g;
        bad += b;
        if *b > 0 {
            println!("=== {family}: {g} good, {b} bad");
            for e in errors.iter().take(show) {
                println!("{e}");
            }
        }
    }
    println!("TOTAL {good} good {bad} bad");
}
