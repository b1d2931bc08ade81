//! A row of the table of formats.

use crate::{
    format::Format,
    rules::{
        BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, TokenSuffix,
        Wrapper,
    },
};

/// A [`Format`] as a constant.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) open: &'static [&'static str],
    pub(crate) close: &'static [&'static str],
    pub(crate) pairing: Pairing,
    pub(crate) label: Option<&'static str>,
    pub(crate) openers: Openers,
    pub(crate) case: MarkerCase,
    pub(crate) suffix: TokenSuffix,
    pub(crate) recur: Recur,
    pub(crate) stray_close: StrayClose,
    pub(crate) dup_open: DupOpen,
    pub(crate) newlines: BoundNewlines,
    /// Each marker with the maximum number of newlines removed before and after it.
    pub(crate) answer: &'static [(&'static str, u8, u8)],
    pub(crate) remark: Option<(&'static str, &'static str)>,
    pub(crate) prepend: Option<&'static str>,
    pub(crate) special_tokens: bool,
}

impl Row {
    /// Creates a row without markers.
    pub(crate) const fn named(name: &'static str) -> Self {
        Self {
            name,
            open: &[],
            close: &[],
            pairing: Pairing::Any,
            label: None,
            openers: Openers::Line,
            case: MarkerCase::Exact,
            suffix: TokenSuffix::None,
            recur: Recur::Any,
            stray_close: StrayClose::Leading,
            dup_open: DupOpen::Absorb,
            newlines: BoundNewlines::Tags,
            answer: &[],
            remark: None,
            prepend: None,
            special_tokens: false,
        }
    }

    pub(crate) fn format(&self) -> Format {
        let wrapper = |&(marker, newlines_before, newlines_after): &(&'static str, u8, u8)| {
            Wrapper { marker: marker.into(), newlines_before, newlines_after }
        };
        Format {
            open: self.open.iter().map(|&text| text.into()).collect(),
            close: self.close.iter().map(|&text| text.into()).collect(),
            pairing: self.pairing,
            label: self.label.map(Into::into),
            openers: self.openers,
            case: self.case,
            suffix: self.suffix,
            recur: self.recur,
            stray_close: self.stray_close,
            dup_open: self.dup_open,
            newlines: self.newlines,
            answer: self.answer.iter().map(wrapper).collect(),
            remark: self.remark.map(|(open, close)| (open.into(), close.into())),
            prepend: self.prepend.map(Into::into),
            special_tokens: self.special_tokens,
            ..Format::passthrough(self.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BoundNewlines, DupOpen, Format, MarkerCase, Openers, Pairing, Recur, Row, StrayClose,
        TokenSuffix, Wrapper,
    };

    #[test]
    fn format_has_every_field_of_its_row() {
        let row = Row {
            open: &["<a>"],
            close: &["</a>"],
            pairing: Pairing::Own,
            label: Some("label\n"),
            openers: Openers::Lead,
            case: MarkerCase::Insensitive,
            suffix: TokenSuffix::Any,
            recur: Recur::Once,
            stray_close: StrayClose::Drop,
            dup_open: DupOpen::Keep,
            newlines: BoundNewlines::All,
            answer: &[("<b>", 1, 2)],
            remark: Some(("<c>", "</c>")),
            prepend: Some("<d>"),
            special_tokens: true,
            ..Row::named("own")
        };
        let answer = Wrapper { marker: "<b>".into(), newlines_before: 1, newlines_after: 2 };
        let format = Format {
            pairing: Pairing::Own,
            label: Some("label\n".into()),
            openers: Openers::Lead,
            case: MarkerCase::Insensitive,
            suffix: TokenSuffix::Any,
            recur: Recur::Once,
            stray_close: StrayClose::Drop,
            dup_open: DupOpen::Keep,
            newlines: BoundNewlines::All,
            answer: [answer].into(),
            remark: Some(("<c>".into(), "</c>".into())),
            prepend: Some("<d>".into()),
            special_tokens: true,
            ..Format::tags("own", "<a>", "</a>")
        };
        assert_eq!(row.format(), format);
    }
}
