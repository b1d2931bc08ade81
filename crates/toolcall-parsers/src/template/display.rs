//! Printing of templates. The printed text parses to the same template.

use core::fmt::{self, Write as _};

use super::{Dialect, Hole, Part, Template, Trim};

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parts(f, &self.parts, "}}")
    }
}

impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, argument) = match self {
            Self::Id(Some(template)) => {
                f.write_str("{id:")?;
                parts(f, &template.parts, r"\}")?;
                return f.write_str("}");
            }
            Self::Index(first @ 1..) => return write!(f, "{{index:{first}}}"),
            Self::NameMeant(name) => return write!(f, "{{name={name}}}"),
            Self::KeyMeant(key) => return write!(f, "{{key={key}}}"),
            Self::Calls { separator } => ("calls", separator.as_str()),
            Self::Call => ("call", ""),
            Self::Name => ("name", ""),
            Self::NameIs(name) => ("name", name.as_str()),
            Self::NameDeclared => ("name", "declared"),
            Self::Id(None) => ("id", ""),
            Self::Index(0) => ("index", ""),
            Self::Label => ("label", ""),
            Self::Object(dialect) => ("object", dialect.argument()),
            Self::Arguments(dialect) => ("arguments", dialect.argument()),
            Self::Raw(key) => ("raw", key.as_str()),
            Self::Parameters { separator } => ("parameters", separator.as_str()),
            Self::Elements => ("elements", ""),
            Self::Key => ("key", ""),
            Self::Value(Trim::Shown) => ("value", ""),
            Self::Value(Trim::All) => ("value", "trim"),
            Self::Type => ("type", ""),
            Self::StringFlag => ("string", ""),
            Self::Text => ("text", ""),
            Self::Role => ("role", ""),
            Self::Channel => ("channel", ""),
            Self::Recipient => ("recipient", ""),
            Self::Note => ("note", ""),
        };
        write!(f, "{{{word}")?;
        if !argument.is_empty() {
            f.write_char(':')?;
            literal(f, argument, r"\{", r"\}")?;
        }
        f.write_char('}')
    }
}

impl Dialect {
    /// Returns the dialect as a hole's argument. Empty for the default.
    fn argument(self) -> &'static str {
        match self {
            Self::Json => "",
            Self::Python => "python",
            Self::Literal => "literal",
        }
    }
}

/// Prints parts. `close` is the spelling of a closing brace in literals.
fn parts(f: &mut fmt::Formatter<'_>, all: &[Part], close: &str) -> fmt::Result {
    all.iter().try_for_each(|part| match part {
        Part::Literal(text) => literal(f, text, "{{", close),
        Part::Hole(hole) => write!(f, "{hole}"),
        Part::Group(inner) => {
            f.write_str("{?")?;
            parts(f, inner, r"\}")?;
            f.write_str("}")
        }
    })
}

fn literal(f: &mut fmt::Formatter<'_>, text: &str, open: &str, close: &str) -> fmt::Result {
    text.chars().try_for_each(|char| match char {
        '\n' => f.write_str(r"\n"),
        '\t' => f.write_str(r"\t"),
        '\\' => f.write_str(r"\\"),
        '{' => f.write_str(open),
        '}' => f.write_str(close),
        other => f.write_char(other),
    })
}
