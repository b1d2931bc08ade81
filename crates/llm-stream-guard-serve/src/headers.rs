//! Header fields for the next hop only.

use axum::http::{
    HeaderMap, HeaderName, StatusCode,
    header::{
        CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST,
        PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};

use crate::error::{Fault, Kind};

/// Header fields for a single connection. The `Connection` header names further ones.
const ONE_HOP: [HeaderName; 10] = [
    CONNECTION,
    // The proxy itself lets the client continue.
    EXPECT,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes headers for this hop only, and those that the next hop sets itself: host and length.
pub(crate) fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for list in headers.get_all(CONNECTION) {
        let names = list.to_str().unwrap_or_default().split(',');
        for name in names.filter_map(|name| name.trim().parse::<HeaderName>().ok()) {
            kept.remove(name);
        }
    }
    for name in ONE_HOP.iter().chain([&HOST, &CONTENT_LENGTH]) {
        kept.remove(name);
    }
    kept
}

/// Whether a body is a stream of server-sent events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Refuses a compressed body.
pub(crate) fn check_uncompressed(headers: &HeaderMap) -> Result<(), Fault> {
    if headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let fault = Fault::new(Kind::Request, "expected a body that is not compressed");
        return Err(fault.status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName, HeaderValue};

    use super::forwarded;

    #[test]
    fn hop_by_hop_and_connection_named_headers_are_removed() {
        let rows = [
            ("connection", "close, X-Secret"),
            ("keep-alive", "5"),
            ("x-secret", "1"),
            ("te", "trailers"),
            ("expect", "100-continue"),
            ("transfer-encoding", "chunked"),
            ("host", "a"),
            ("content-length", "3"),
            ("authorization", "Bearer x"),
            ("x-kept", "1"),
        ];
        let headers: HeaderMap = rows
            .into_iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let kept = forwarded(&headers);
        let mut names: Vec<_> = kept.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["authorization", "x-kept"]);
    }
}
