//! The address to listen on.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, de::Error as _};

/// Reads an address to listen on, such as `127.0.0.1:8080`, `0.0.0.0:8080` or `[::1]:8080`. Port 0
/// selects any free port.
///
/// # Errors
/// The text is not an address with a port.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "expected an IP address and a port up to 65535, such as `127.0.0.1:8080`, found `{text}`"
        )
    })
}

pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    listen_address(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn read_some<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    read(deserializer).map(Some)
}
