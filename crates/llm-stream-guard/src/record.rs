//! Conversion of held bytes and limits into the types of lifecycle records.

use jail_match::{Held, LimitError};
use stream_lifecycle::{LimitHit, WithheldInfo};

/// Converts the bytes that a guard or a jail holds.
pub(crate) fn withheld(Held { bytes, kind }: Held) -> WithheldInfo {
    WithheldInfo::bytes(bytes, kind.name())
}

/// Converts the limit that ended a guard or a jail.
pub(crate) fn limit_hit(LimitError { kind, at, .. }: LimitError) -> LimitHit {
    LimitHit::new(kind.name(), at)
}
