//! Finds profiles by name, for `--family` and for a vector's `family`.

use std::{
    io::{self, Write as _},
    path::Path,
};

pub(crate) use llm_stream_guard::named_profile as family;
use llm_stream_guard::{Profile, explain::named_by, profile_for_model};

use crate::{
    args::ReadingArgs,
    error::{Error, misuse},
};

/// Returns the profile that `--family` or `--model` names, if one of them is given. `--family` also
/// takes the file of a family.
///
/// # Errors
/// The file is not a family, no family has that name, or the model's family is not known.
pub(crate) fn profile_of(
    family: Option<&str>,
    model: Option<&str>,
) -> Result<Option<Profile>, Error> {
    match (family, model) {
        (Some(name), _) => {
            if [".toml", ".json"].iter().any(|end| name.ends_with(end)) {
                let own = Profile::from_family_file(Path::new(name));
                return own.map(Some).map_err(|error| misuse(format!("--family {error}")));
            }
            self::family(name).map(Some).map_err(|error| misuse(format!("--family: {error}")))
        }
        (None, Some(id)) => {
            profile_for_model(id).map(Some).map_err(|error| misuse(format!("--model: {error}")))
        }
        (None, None) => Ok(None),
    }
}

/// Returns the profile that the arguments name: a template's, a family's or a model's, if any. A
/// family or model named together with a file of a family decides the reasoning format.
///
/// # Errors
/// As [`profile_of`], [`read_template`] and [`read_family`].
pub(crate) fn told(args: &ReadingArgs) -> Result<Option<Profile>, Error> {
    if let Some(path) = &args.template {
        return read_template(path).map(Some);
    }
    let named = profile_of(args.family.as_deref(), args.model.as_deref())?;
    let Some(path) = &args.grammar else { return Ok(named) };
    let own = read_family(path)?;
    Ok(Some(match named {
        Some(named) => Profile { grammar: own.grammar, ..named },
        None => own,
    }))
}

/// Returns the profile that the first line of a recording names. The proxy writes `: family NAME`
/// there.
pub(crate) fn recorded(head: &[u8]) -> Option<Profile> {
    let profile = named_by(head)?;
    let name = &profile.name;
    // A failure to print this cannot be reported.
    let _ = writeln!(io::stderr(), "note: no --family or --model: the recording names `{name}`");
    Some(profile)
}

/// Reads the file of a family that is not registered.
///
/// # Errors
/// The file cannot be read, or is not a family. The error names the field.
pub(crate) fn read_family(path: &Path) -> Result<Profile, Error> {
    Profile::from_family_file(path).map_err(|problem| misuse(format!("--grammar {problem}")))
}

/// Reads the file of a checkpoint that has a response template.
///
/// # Errors
/// The file cannot be read, or has no valid template. The error names field, key and position.
pub(crate) fn read_template(path: &Path) -> Result<Profile, Error> {
    llm_stream_guard_serve::read_template(path)
        .map_err(|problem| misuse(format!("--template {problem}")))
}
