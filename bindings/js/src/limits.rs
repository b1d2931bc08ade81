//! The fixed limits of the module.

/// The number of models whose profiles are kept.
pub(crate) const KEPT_MODELS: usize = 16;
/// The maximum length of a model's id that is kept with its profile.
pub(crate) const MAX_ID_BYTES: usize = 256;
