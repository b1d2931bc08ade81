//! Records of answers with diagnostics: upstream's bytes, in files that only their owner can read.

use std::{
    fs,
    io::{self, Write as _},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::runtime::Handle;

use crate::config::Record;

/// A directory of records with a maximum size.
#[derive(Debug)]
pub(crate) struct Records {
    dir: PathBuf,
    most: u64,
    each: usize,
    used: AtomicU64,
    count: AtomicU64,
}

impl Records {
    /// Creates the directory if it is missing. Existing files count towards the maximum size.
    pub(crate) fn new(record: &Record) -> io::Result<Self> {
        private_directory().create(&record.dir)?;
        let sizes =
            fs::read_dir(&record.dir)?.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()));
        let used = AtomicU64::new(sizes.sum());
        let (dir, most, each) = (record.dir.clone(), record.most, record.each);
        Ok(Self { dir, most, each, used, count: AtomicU64::new(0) })
    }

    /// Begins a recording. `about`, which names the family, becomes its first line.
    pub(crate) fn begin(self: &Arc<Self>, about: &str) -> Recording {
        let head = format!(": {about}\n\n").into_bytes();
        Recording { records: self.clone(), bytes: head, cut: false }
    }

    fn keep(&self, bytes: &[u8]) -> io::Result<()> {
        let len = bytes.len() as u64;
        if self.used.fetch_add(len, Ordering::Relaxed).saturating_add(len) > self.most {
            self.used.fetch_sub(len, Ordering::Relaxed);
            tracing::debug!("a stream was not recorded: there are enough");
            return Ok(());
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{count}.sse", since.as_millis(), std::process::id());
        private_file().open(self.dir.join(name))?.write_all(bytes)
    }
}

/// Returns a builder of directories that only their owner can read, on systems with owners.
fn private_directory() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Returns options for files that only their owner can read, on systems with owners.
fn private_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A stream that may be kept.
#[derive(Debug)]
pub(crate) struct Recording {
    records: Arc<Records>,
    bytes: Vec<u8>,
    cut: bool,
}

impl Recording {
    /// Keeps bytes that upstream sent, up to the maximum size of a record.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = self.records.each.saturating_sub(self.bytes.len());
        self.cut |= room < bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Keeps a whole answer as the data of one event.
    pub(crate) fn take_whole(&mut self, answer: &[u8]) {
        for line in answer.split(|byte| *byte == b'\n') {
            self.take(b"data: ");
            self.take(line);
            self.take(b"\n");
        }
        self.take(b"\n");
    }

    /// Writes the record, on another thread if there is a runtime.
    pub(crate) fn keep(self) {
        // The answer may be dropped outside a runtime.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(|| self.write())),
            Err(_) => self.write(),
        }
    }

    fn write(self) {
        if self.cut {
            tracing::info!("a recorded stream is cut at {} bytes", self.bytes.len());
        }
        if let Err(error) = self.records.keep(&self.bytes) {
            tracing::warn!("a stream was not recorded: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use super::Records;
    use crate::config::Record;

    #[test]
    fn record_of_a_stream_dropped_outside_a_runtime_is_kept() {
        let name = format!("llm-stream-guard-record-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let records = Arc::new(Records::new(&Record::to(&dir)).unwrap());
        let mut recording = records.begin("family none");
        recording.take(b"data: 1\n\n");
        recording.keep();
        let kept: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [kept] = &kept[..] else { panic!("{kept:?}") };
        assert_eq!(fs::read(kept).unwrap(), b": family none\n\ndata: 1\n\n");
        #[cfg(unix)]
        for (path, mode) in [(kept.as_path(), 0o600), (&dir, 0o700)] {
            let permissions = fs::metadata(path).unwrap().permissions();
            let found = std::os::unix::fs::PermissionsExt::mode(&permissions);
            assert_eq!(found & 0o777, mode, "{}", path.display());
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
