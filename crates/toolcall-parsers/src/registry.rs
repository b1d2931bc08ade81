//! The registered families, by name.

mod lookup;
mod names;

use alloc::{sync::Arc, vec::Vec};

use jail_match::{Alias, UnknownName, resolve, same_name};

pub(crate) use self::lookup::file;
use self::names::{ENGINES, OTHERS};
use crate::{families, grammar::Grammar};

/// The grammars of all registered families, in the order of the documentation.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families::ALL.iter().map(|family| family())
}

/// The other names of families: those of models, and what engines call the parsers.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    let others = OTHERS.iter().map(|&(name, of)| Alias { engine: "", name, of });
    others.chain(ENGINES.iter().map(|&(engine, name, of)| Alias { engine, name, of }))
}

/// The grammar of the family called `name`: ours, or an engine's, in front of which its own name
/// may stand (`sglang:qwen25`). ASCII case does not count, and `-` equals `_`.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones. A name that engines have for
/// different families; the error lists those, as `engine:name`.
pub fn grammar(name: &str) -> Result<Arc<Grammar>, UnknownName> {
    // Most names are ours: only the families before it are made then.
    if let Some(own) = grammars().find(|family| same_name(&family.name, name)) {
        return Ok(Arc::new(own));
    }
    let mut families: Vec<Grammar> = grammars().collect();
    let at = {
        let names = families.iter().map(|family| family.name.as_ref());
        let found = resolve("tool-call family", name, names.clone(), aliases())?;
        names.clone().position(|name| name == found).unwrap_or_default()
    };
    Ok(Arc::new(families.swap_remove(at)))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{aliases, grammar};

    #[test]
    fn every_other_name_leads_to_its_family() {
        for alias in aliases() {
            let name = alias.to_string();
            let found = grammar(&name).unwrap_or_else(|no| panic!("{no}"));
            assert_eq!(found.name, alias.of, "{name}");
        }
        assert_eq!(grammar("SGLang:MINIMAX_M2").unwrap().name, "minimax_m2");
    }

    #[test]
    fn an_unknown_name_has_near_ones() {
        let error = grammar("hermess").unwrap_err();
        assert_eq!(error.nearest()[0], "hermes");
        assert!(grammar("vllm:cogito").is_err(), "another engine's name");
    }
}
