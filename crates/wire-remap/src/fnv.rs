//! The hash FNV-1a, which is equal on every machine. It is for fingerprints, not for security.

pub(crate) const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds a byte to the hash.
pub(crate) fn hashed(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}
