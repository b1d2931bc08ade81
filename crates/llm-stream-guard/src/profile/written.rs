//! Serialisation of fields of a profile.

/// A whitespace policy by its name.
pub(super) mod whitespace {
    use jail_match::Whitespace;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(policy: &Whitespace, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(policy)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Whitespace, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
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
