//! Ends a stream whose model repeats its tool-call opener.

use wire_remap::{CollapseAction, CollapseDetector, CollapseLimits, CollapseVerdict, RemapTable};

fn main() {
    let limits = CollapseLimits { action: CollapseAction::EndStream, ..CollapseLimits::default() };
    let mut detector = CollapseDetector::new(&RemapTable::hermes(), limits);
    for chunk in ["Let me look.\n<tool_", "call>\n<tool_call>\n_call>", "\n<tool_call>\n<tool"] {
        match detector.observe(chunk) {
            CollapseVerdict::EndStream(collapse) => {
                println!("{collapse}; the text before byte {} is good", collapse.start);
                return;
            }
            _ => println!("passed on: {chunk:?}"),
        }
    }
}
