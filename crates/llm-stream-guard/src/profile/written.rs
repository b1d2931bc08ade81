//! Fields of a profile as they are written.

/// White space by the name of its policy.
pub(super) mod whitespace {
    use jail_match::Whitespace;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    const NAMES: [(&str, Whitespace); 5] = [
        ("framing", Whitespace::Framing),
        ("verbatim", Whitespace::Verbatim),
        ("trim", Whitespace::Trim),
        ("before_calls", Whitespace::BeforeCalls),
        ("reasoning_end", Whitespace::ReasoningEnd),
    ];

    pub(crate) fn serialize<S: Serializer>(policy: &Whitespace, to: S) -> Result<S::Ok, S::Error> {
        let name = NAMES.iter().find(|(_, named)| named == policy);
        to.serialize_str(name.map_or("framing", |(name, _)| name))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Whitespace, D::Error> {
        let name = String::deserialize(from)?;
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let known = || NAMES.map(|(name, _)| name).join(", ");
        found
            .map(|(_, policy)| *policy)
            .ok_or_else(|| D::Error::custom(format!("`{name}`: expected one of {}", known())))
    }
}

/// A response template as the text of its JSON.
#[cfg(feature = "response-templates")]
pub(super) mod template {
    use response_templates::ResponseTemplate;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(
        template: &Option<ResponseTemplate>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        template.as_ref().map(ResponseTemplate::as_json).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<ResponseTemplate>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| ResponseTemplate::from_json(&text)).transpose().map_err(D::Error::custom)
    }
}
