//! Runs slow work on separate threads, so that it does not delay other streams.

use std::{num::NonZero, sync::LazyLock, thread::available_parallelism};

use tokio::sync::Semaphore;

use crate::error::{Fault, Kind};

/// Minimum number of bytes whose parsing would delay other streams too long.
pub(crate) const HEAVY: usize = 32 << 10;

/// Permits for heavy work. One core is left to streams where there are several.
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(permits()));

fn permits() -> usize {
    available_parallelism().map_or(1, NonZero::get).saturating_sub(1).max(1)
}

/// Runs work on another thread, after the work that was requested earlier.
pub(crate) async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let given_up = |error: &dyn std::error::Error| {
        Fault::new(Kind::Limit, format!("the work was given up: {error}"))
    };
    let permit = PERMITS.acquire().await.map_err(|error| given_up(&error))?;
    // The work continues if the caller is dropped.
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(permit);
        done
    });
    done.await.map_err(|error| given_up(&error))
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
        time::Duration,
    };

    use super::{elsewhere, permits};

    #[tokio::test(flavor = "multi_thread")]
    async fn heavy_work_leaves_one_core_to_streams() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..permits() + 8)
            .map(|_| {
                let (running, most) = (running.clone(), most.clone());
                tokio::spawn(elsewhere(move || {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    running.fetch_sub(1, Ordering::SeqCst);
                }))
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert!((1..=permits()).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    }
}
