//! The fixed limits of the module.

/// The number of models and of files whose profiles are kept.
pub(crate) const KEPT_PROFILES: usize = 16;
/// The maximum length of a model's id that is kept with its profile.
pub(crate) const MAX_ID_BYTES: usize = 256;
/// The maximum length of a family's file that is kept with its profile. The project's own files have
/// less than 4 KiB.
#[cfg(feature = "family-files")]
pub(crate) const MAX_KEPT_FILE_BYTES: usize = 32 << 10;
