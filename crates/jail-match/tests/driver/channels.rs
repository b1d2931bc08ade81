//! Sets of channels.

use jail_match::{Channel, ChannelMask};

#[test]
fn a_set_has_the_channels_that_were_added_and_no_other() {
    let set = ChannelMask::NONE.with(Channel::REASONING).with(Channel::HIDDEN);
    assert!(set.has(Channel::REASONING) && set.has(Channel::HIDDEN));
    assert!(!set.has(Channel::CONTENT));
    assert_eq!(set.with(Channel::HIDDEN), set, "added twice is added");
}
