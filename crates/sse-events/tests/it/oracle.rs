//! A comparison with the events that the crate `sse-stream` finds.

use std::{convert::Infallible, io::Cursor};

use proptest::prelude::*;
use sse_events::Decoder;
use sse_stream::{Sse, SseByteStream};
use stream_laws::Cut;
use tokio_stream::StreamExt as _;

use crate::support::{Owned, decode, events, streams};

/// Returns the events of the other implementation, which skips comments and drops an event cut by
/// the end.
fn theirs(input: &[u8], cut: Cut) -> Vec<Sse> {
    let pieces: Vec<_> = cut.byte_pieces(input).map(<[u8]>::to_vec).collect();
    let pieces = pieces.into_iter().map(|piece| Ok::<_, Infallible>(Cursor::new(piece)));
    let stream = SseByteStream::new(tokio_stream::iter(pieces));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(stream.map(|event| event.expect("valid UTF-8")).collect())
}

fn same(ours: &Owned) -> Sse {
    let Owned { name, data, id, retry, .. } = ours.clone();
    Sse { event: name, data, id, retry }
}

proptest! {
    #[test]
    fn events_equal_those_of_another_implementation(input in streams(), seed: u64) {
        let cut = Cut::Random { seed };
        let ours = events(decode(&Decoder::new(), &input, cut));
        let ours = ours.iter().filter(|event| event.closed).map(same);
        let ours: Vec<Sse> = ours.filter(|event| *event != Sse::default()).collect();
        prop_assert_eq!(ours, theirs(&input, cut));
    }
}
