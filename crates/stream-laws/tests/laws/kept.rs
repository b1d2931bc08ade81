//! Figures tell a machine that waits, works, drops or reports more from one that is right.

use std::fs;

use stream_laws::{
    Cut,
    kept::{Figures, as_kept},
};

use crate::{
    LONG,
    tiny::{Fault, Tiny},
};

#[test]
fn figures_tell_machines_apart() {
    let figures = |machine: &Tiny| {
        let mut figures = Figures::default();
        figures.add_run(machine, LONG, Cut::EachScalar);
        figures
    };
    let right = figures(&Tiny::good());
    assert_eq!(right, figures(&Tiny::good()));
    for fault in [Fault::Rescans, Fault::HoldsBlanks, Fault::Miscounts, Fault::NotesEachChunk] {
        assert_ne!(right, figures(&Tiny::with(fault)), "{fault:?}");
    }
}

#[test]
fn figures_add_up_to_lines() {
    let mut sums = Figures::default();
    sums.add(&[1, 2]);
    sums.add(&[3, 4, 5]);
    assert_eq!(sums.line("both"), "both\t4\t6\t5\n");
}

#[test]
fn what_is_not_as_kept_is_told() {
    let file = std::env::temp_dir().join(format!("kept-{}.tsv", std::process::id()));
    fs::write(&file, "a\t1\nb\t2\n").unwrap();
    assert_eq!(as_kept(&file, "a\t1\nb\t2\n"), Ok(()));
    for told in ["a\t1\n", "a\t1\nb\t3\n", "a\t1\nb\t2\nc\t3\n", ""] {
        assert!(as_kept(&file, told).unwrap_err().contains("not as kept"), "{told:?}");
    }
    fs::remove_file(&file).unwrap();
    assert!(as_kept(&file, "").is_err());
}
