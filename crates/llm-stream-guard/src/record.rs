//! Machines in the words of their record.

use jail_match::{Held, LimitError};
use stream_lifecycle::{LimitHit, WithheldInfo};

/// The bytes that a machine holds.
pub(crate) fn withheld(Held { bytes, kind }: Held) -> WithheldInfo {
    WithheldInfo::bytes(bytes, kind.name())
}

/// The limit that ended a machine.
pub(crate) fn limit_hit(LimitError { kind, at, .. }: LimitError) -> LimitHit {
    LimitHit::new(kind.name(), at)
}
