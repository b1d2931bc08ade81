//! Tokens: their ids in chunks, the places of marker tokens in a text, and log probabilities.

pub(super) mod logprobs;
pub(super) mod marker_ids;
pub(super) mod marker_places;
pub(super) mod token_content;
pub(super) mod token_ids;
pub(super) mod token_text;
