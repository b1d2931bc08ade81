//! Lines and events beyond the limits: dropped, passed on or refused. The next event is complete.

use proptest::prelude::*;
use sse_events::{Decoder, Limit, SseLimitPolicy, SseLimits};
use stream_laws::CutPlan;

use crate::support::{Kept, decode_every_way, streams};

const EVERY: CutPlan = CutPlan { two_way_up_to: 99, three_way_up_to: 99, random: 9, seed: 1 };

fn decoder(policy: SseLimitPolicy) -> Decoder {
    Decoder::new().limits(SseLimits::default().line(12).event(24).policy(policy))
}

fn lengths(kept: &[Kept]) -> Vec<(&str, u64)> {
    let length = |kept: &Kept| match kept {
        Kept::Event(event) => ("event", event.raw.len() as u64),
        Kept::Raw(raw) => ("raw", raw.len() as u64),
        Kept::Dropped(bytes) => ("dropped", *bytes),
        Kept::Failed(error) => ("failed", error.at),
    };
    kept.iter().map(length).collect()
}

#[test]
fn each_limit_applies_at_its_byte_under_each_policy() {
    let fits = "data: 123456\r\n\r\n";
    let long_line = "data: 1234567\r\n\r\n";
    let fits_in_all = "data: 123456\ndata: 123\n\n";
    let long_event = "data: 123456\ndata: 1234\n\n";
    for (long, limit) in [(long_line, Limit::Line), (long_event, Limit::Event)] {
        let input = [fits, fits_in_all, long, fits].concat();
        let bytes = long.len() as u64;
        let around = [("event", 16), ("event", 24), ("event", 16)];
        for (policy, name) in [(SseLimitPolicy::Drop, "dropped"), (SseLimitPolicy::Release, "raw")]
        {
            let kept = decode_every_way(&decoder(policy), input.as_bytes(), EVERY);
            assert_eq!(lengths(&kept), [around[0], around[1], (name, bytes), around[2]]);
        }
        let kept = decode_every_way(&decoder(SseLimitPolicy::Error), input.as_bytes(), EVERY);
        assert_eq!(lengths(&kept), [around[0], around[1], ("failed", 40)]);
        let Some(Kept::Failed(error)) = kept.last() else { panic!("a failure") };
        assert_eq!(error.limit, limit);
    }
}

#[test]
fn first_exceeded_limit_is_reported_at_every_cut() {
    for (line, event, named) in [(4, 4, Limit::Line), (5, 4, Limit::Event), (3, 4, Limit::Line)] {
        let limits = SseLimits::default().line(line).event(event).policy(SseLimitPolicy::Error);
        let decoder = Decoder::new().limits(limits);
        let kept = decode_every_way(&decoder, b"data: 1234\n\n", EVERY);
        let Some(Kept::Failed(error)) = kept.last() else { panic!("a failure") };
        assert_eq!(error.limit, named, "{line} and {event}");
    }
}

#[test]
fn failed_decoder_reads_no_more_bytes() {
    let mut decoder = decoder(SseLimitPolicy::Error);
    let error = decoder.push(b"data: 12345678901234567890", |_| {}).expect_err("too long");
    assert_eq!(error.to_string(), "byte 0: the event exceeds the line limit; the decoder stops");
    let again = decoder.push(b"\n\ndata: 1\n\n", |item| panic!("{item:?}"));
    assert_eq!((again, decoder.finish(|item| panic!("{item:?}"))), (Err(error), Err(error)));
}

#[test]
fn bytes_over_the_limits_are_not_kept() {
    for policy in [SseLimitPolicy::Drop, SseLimitPolicy::Release] {
        let mut decoder = decoder(policy);
        for _ in 0..1000 {
            decoder.push(b"data: 12\r", |_| {}).expect("no error policy");
            assert!(decoder.held() <= 2 * 24, "{} bytes held", decoder.held());
            decoder.push(b"\n", |_| {}).expect("no error policy");
        }
    }
}

proptest! {
    #[test]
    fn released_and_dropped_bytes_sum_to_the_input_at_every_cut(input in streams(), seed: u64) {
        for policy in [SseLimitPolicy::Drop, SseLimitPolicy::Release] {
            for decoder in [decoder(policy), decoder(policy).lenient()] {
                let kept = decode_every_way(&decoder, &input, CutPlan::quick(seed));
                let sum: u64 = lengths(&kept).into_iter().map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(sum, input.len() as u64);
            }
        }
    }
}
