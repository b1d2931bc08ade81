//! A reader of decoded text, which classifies markers and counts canonical ones without holding
//! text back.

use jail_match::{Matcher, MatcherEvent};

use crate::{
    pair::Role,
    place::{Layout, MarkerPlace},
    tally::Tally,
    words::Compiled,
};

/// A reader of the layout of decoded text and of the canonical markers that the model wrote.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) canonical: Matcher,
    pub(crate) layout: Layout,
    /// Whether the last counted opener was canonical, or `None` if no block is open.
    pub(crate) open_canonical: Option<bool>,
}

impl Watch {
    pub(crate) fn new(compiled: &Compiled) -> Self {
        let canonical = compiled.canonical.clone();
        Self { canonical, layout: Layout::new(), open_canonical: None }
    }

    pub(crate) fn text(&mut self, compiled: &Compiled, text: &str, tally: &mut Tally) {
        let Self { canonical, layout, open_canonical } = self;
        canonical.push(text, |found| match found {
            MatcherEvent::Text(text) => layout.text(text),
            MatcherEvent::Marker { id, .. } => {
                let role = compiled.pairs[id].role;
                let place = layout.place(role);
                layout.marker(role, place);
                tally.canonical += 1;
                if place == MarkerPlace::Structural {
                    count_mixed(open_canonical, role, true, tally);
                }
            }
        });
    }

    /// Ends the search for a canonical marker, because a wire marker or a literal comes next.
    pub(crate) fn settle(&mut self) {
        let Self { canonical, layout, .. } = self;
        canonical.finish(|found| {
            if let MatcherEvent::Text(text) = found {
                layout.text(text);
            }
        });
    }
}

/// Counts a block whose opener and closer have different forms.
pub(crate) fn count_mixed(open: &mut Option<bool>, role: Role, canonical: bool, tally: &mut Tally) {
    match role {
        Role::Open => *open = Some(canonical),
        Role::Close => {
            if open.take().is_some_and(|opened| opened != canonical) {
                tally.mixed += 1;
            }
        }
        Role::Other => {}
    }
}
