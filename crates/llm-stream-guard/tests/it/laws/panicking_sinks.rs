//! Sinks that panic once: what the guard was saying is lost, and the guard goes on.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use guard_laws::{Damage, varied};
use llm_stream_guard::{
    End, Event, Guard, Ids, Message, Profile, Sink,
    jail_match::{Channel, ServerItem},
    profiles,
};
use stream_laws::Random;

/// Wires per profile.
const WIRES: usize = 6;

/// Events per wire at which a sink panics.
const PANICS: usize = 8;

/// Feeds `chunks` to a sink that panics at its event number `at`, and ends the message. Returns
/// the number of events, and whether something else panicked.
fn interrupted(guard: &mut Guard, chunks: &[&[u8]], at: usize) -> Result<usize, String> {
    struct Ours;

    let mut events = 0;
    let mut on = |_: Event<'_>| {
        events += 1;
        if events == at {
            // Without a message of the panic hook.
            resume_unwind(Box::new(Ours));
        }
    };
    let mut caught = |step: &mut dyn FnMut(&mut dyn Sink)| match catch_unwind(AssertUnwindSafe(
        || step(&mut on),
    )) {
        Err(panic) if !panic.is::<Ours>() => Err(()),
        _ => Ok(()),
    };
    for (n, chunk) in chunks.iter().enumerate() {
        caught(&mut |sink| {
            let _ = guard.push_bytes(chunk, sink);
        })
        .map_err(|()| format!("chunk {n} of {} panicked", chunks.len()))?;
        if n % 5 == 4 {
            let channel = if n % 2 == 0 { Channel::REASONING } else { Channel::CONTENT };
            caught(&mut |sink| {
                let _ = guard.server_item(ServerItem::Channel(channel), sink);
            })
            .map_err(|()| format!("the item after chunk {n} panicked"))?;
        }
    }
    caught(&mut |sink| {
        let _ = guard.finish(End::Stop, sink);
    })
    .map_err(|()| "the end panicked".to_owned())?;
    Ok(events)
}

fn read(guard: &mut Guard, chunks: &[&[u8]]) -> Message {
    guard.set_ids(Ids::counting());
    let mut message = Message::default();
    let mut sink = |event: Event<'_>| {
        message.collect(event);
    };
    for chunk in chunks {
        let _ = guard.push_bytes(chunk, &mut sink);
    }
    let _ = guard.finish(End::Stop, &mut sink);
    message
}

fn check(profile: &Profile, damage: &Damage, random: &mut Random) -> Result<(), String> {
    let guard = varied(profile, &Damage::tools(), random);
    let wire = damage.wire(random);
    let chunks: Vec<&[u8]> = wire.as_bytes().chunks(1 + random.below(24)).collect();
    let told = |why: String, at: usize| format!("{}: event {at} of {wire:?}: {why}", profile.name);
    let events = interrupted(&mut guard.clone(), &chunks, 0).map_err(|why| told(why, 0))?;
    for _ in 0..PANICS.min(events) {
        let at = 1 + random.below(events);
        let mut broken = guard.clone();
        interrupted(&mut broken, &chunks, at).map_err(|why| told(why, at))?;
        broken.reset();
        if read(&mut broken, &chunks) != read(&mut guard.clone(), &chunks) {
            return Err(told("a reset guard differs from a new one".to_owned(), at));
        }
    }
    Ok(())
}

#[test]
fn guard_goes_on_after_a_panic_of_its_sink() {
    let mut random = Random::new(13);
    let mut broken = Vec::new();
    for profile in profiles() {
        let Ok(Some(grammar)) = profile.grammar() else { continue };
        let damage = Damage::new(&grammar);
        for _ in 0..WIRES {
            broken.extend(check(&profile, &damage, &mut random).err());
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}
