//! Writes the first inputs of fuzz campaigns, and shows failing inputs.
//!
//! * `fuzz-input seed DIRECTORY [TARGET...]` writes `corpus/TARGET/` and `dict/TARGET.dict` to the
//!   directory, from the files of the current directory.
//! * `fuzz-input show TARGET FILE` reduces a failing input.

use std::{env, fs, io, panic, path::Path, process::ExitCode};

use guard_fuzz::{TARGETS, Target, dictionary, seeds, shrink, vector};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["seed", directory, targets @ ..] => seed(Path::new(directory), targets),
        ["show", target, file] => show(target, Path::new(file)),
        _ => Err("fuzz-input seed DIRECTORY [TARGET...]\nfuzz-input show TARGET FILE".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let found = TARGETS.iter().find(|target| target.name == name);
    found.ok_or_else(|| format!("no target {name:?}; there are {}", names()))
}

fn seed(directory: &Path, targets: &[&str]) -> Result<(), String> {
    for name in targets {
        find(name)?;
    }
    for target in TARGETS.iter().filter(|one| targets.is_empty() || targets.contains(&one.name)) {
        write(directory, target.name).map_err(|error| format!("{}: {error}", target.name))?;
    }
    Ok(())
}

fn write(directory: &Path, target: &str) -> io::Result<()> {
    let corpus = directory.join("corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let seeds = seeds(target, Path::new("."))?;
    for (n, seed) in seeds.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{n:04}")), seed)?;
    }
    fs::create_dir_all(directory.join("dict"))?;
    fs::write(directory.join("dict").join(format!("{target}.dict")), dictionary(target))?;
    println!("{target}: {} seeds", seeds.len());
    Ok(())
}

fn show(target: &str, file: &Path) -> Result<(), String> {
    let target = find(target)?;
    let data = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    panic::set_hook(Box::new(|_| {}));
    let Some((small, message)) = shrink(target.run, &data) else {
        println!("{} takes it", target.name);
        return Ok(());
    };
    let path = file.with_extension("small");
    fs::write(&path, &small).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{message}\n\n{} bytes: {}", small.len(), path.display());
    if let Some(line) = vector(target.name, &small) {
        println!("\nthe vector to add, once its expectation is right:\n{line}");
    }
    Ok(())
}
