//! A timer whose deadline moves with each piece of a stream.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep};

/// A timer that may be set again for each piece of a stream, at the cost of reading the clock.
///
/// A later deadline leaves the runtime's timer unchanged. When that timer elapses, it is set to the
/// rest of the time.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// The runtime's timer, which elapses at the deadline or before it.
    sleep: Pin<Box<Sleep>>,
    deadline: Instant,
}

impl Alarm {
    /// Creates an alarm that rings after `span`.
    pub(crate) fn new(span: Duration) -> Self {
        let sleep = Box::pin(sleep(span));
        Self { deadline: sleep.deadline(), sleep }
    }

    /// Sets the alarm to ring after `span` from now.
    pub(crate) fn set(&mut self, span: Duration) {
        // If the sum overflows, `sleep` chooses the latest possible deadline. Reading the clock is
        // cheaper.
        self.deadline = match Instant::now().checked_add(span) {
            Some(deadline) => deadline,
            None => sleep(span).deadline(),
        };
        if self.deadline < self.sleep.deadline() {
            self.sleep.as_mut().reset(self.deadline);
        }
    }

    /// Returns whether the alarm rings; else the task is woken when it does.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.sleep.as_mut().poll(cx));
            if self.sleep.deadline() >= self.deadline {
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(self.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use tokio::time::{Instant, sleep};

    use super::Alarm;

    const SPAN: Duration = Duration::from_millis(40);

    /// Waits for the alarm, and returns how long that took since `began`.
    async fn rings(alarm: &mut Alarm, began: Instant) -> Duration {
        poll_fn(|cx| alarm.poll(cx)).await;
        began.elapsed()
    }

    #[tokio::test]
    async fn reset_alarm_fires_at_the_new_deadline() {
        let began = Instant::now();
        let mut alarm = Alarm::new(SPAN);
        assert!(tokio::time::timeout(SPAN / 4, poll_fn(|cx| alarm.poll(cx))).await.is_err());
        sleep(SPAN / 2).await;
        alarm.set(SPAN);
        assert!(rings(&mut alarm, began).await >= SPAN + SPAN / 2);
        let began = Instant::now();
        alarm.set(SPAN);
        assert!(rings(&mut alarm, began).await >= SPAN, "rings again");
    }

    #[tokio::test]
    async fn earlier_deadline_replaces_a_later_one() {
        let began = Instant::now();
        let mut alarm = Alarm::new(Duration::MAX);
        alarm.set(SPAN);
        let took = rings(&mut alarm, began).await;
        assert!(took >= SPAN && took < Duration::from_secs(60), "{took:?}");
    }
}
