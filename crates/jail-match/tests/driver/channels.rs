//! Tests of sets of channels.

use jail_match::{Channel, ChannelMask};

#[test]
fn channel_set_contains_only_the_added_channels() {
    let set = ChannelMask::NONE.with(Channel::REASONING).with(Channel::HIDDEN);
    assert!(set.has(Channel::REASONING) && set.has(Channel::HIDDEN));
    assert!(!set.has(Channel::CONTENT));
    assert_eq!(set.with(Channel::HIDDEN), set, "added twice is added");
}
