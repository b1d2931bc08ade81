//! Matching of annotations with emitted chunks.

use std::collections::VecDeque;

use crate::{
    chat::{
        annotated::{Annotation, ChatItem},
        guard::ChatGuard,
        model::chunk::Chunk,
    },
    limits::MAX_WAITING_ANNOTATIONS,
};

/// Policy for annotations of withheld chunks. An emitted chunk has its own annotation, once, on the
/// first of the chunks made of it. Withheld text has the annotation of the chunk it began in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Annotations {
    /// Joins the annotations to that of the next emitted chunk.
    #[default]
    Coalesce,
    /// Drops the annotations, except for that of the chunk in which withheld text begins.
    Swallow,
    /// Emits the annotations at once, on a chunk without choices. An empty chunk also becomes such
    /// a chunk.
    EmptyChunk,
}

/// Annotations that wait, with the number of the chunk they came with.
#[derive(Debug, Clone, Default)]
pub(super) struct Annotator {
    pub(super) mode: Annotations,
    /// Chunks that the guard released, each with the number of the input in which it began.
    pub(super) out: Vec<(Chunk, u64)>,
    kept: VecDeque<(u64, Annotation)>,
}

impl Annotator {
    /// Queues the chunks made of the last chunk of `guard`.
    pub(super) fn deliver<I: ChatItem>(
        &mut self,
        annotation: Annotation,
        guard: &ChatGuard,
        queue: &mut VecDeque<I>,
    ) {
        let (seq, holding) = (guard.seq, guard.holding_since());
        if self.mode == Annotations::EmptyChunk {
            if self.out.is_empty() {
                self.out.push((guard.blank(), seq));
            }
            let mut annotation = Some(annotation);
            return self.close(queue, |_, _| annotation.take().unwrap_or_default());
        }
        if !annotation.is_empty() {
            self.kept.push_back((seq, annotation));
        }
        let oldest = holding.clone().min().unwrap_or(u64::MAX);
        self.close(queue, |this, origin| this.take(origin, oldest));
        if self.mode == Annotations::Swallow {
            self.kept.retain(|(seq, _)| holding.clone().any(|held| held == *seq));
        } else if self.kept.len() > MAX_WAITING_ANNOTATIONS {
            self.rest(queue);
        }
    }

    /// Queues released chunks, each with the annotation that `of` finds for its origin. If two
    /// chunks have one origin, the first gets the annotation.
    fn close<I: ChatItem>(
        &mut self,
        queue: &mut VecDeque<I>,
        mut of: impl FnMut(&mut Self, u64) -> Annotation,
    ) {
        let mut out = std::mem::take(&mut self.out);
        for (chunk, origin) in out.drain(..) {
            queue.push_back(I::close(chunk, of(self, origin)));
        }
        self.out = out;
    }

    /// Removes and returns the annotation for a chunk whose text began in chunk `origin`.
    fn take(&mut self, origin: u64, oldest_held: u64) -> Annotation {
        let mut taken = Annotation::default();
        if self.kept.is_empty() {
            return taken;
        }
        let coalesce = self.mode == Annotations::Coalesce;
        let due = |seq: u64| seq == origin || coalesce && (seq > origin || seq < oldest_held);
        let mut kept = VecDeque::new();
        for (seq, annotation) in self.kept.drain(..) {
            if due(seq) { taken.join(annotation) } else { kept.push_back((seq, annotation)) }
        }
        self.kept = kept;
        taken
    }

    /// Queues the chunks that the end of the stream released, and the annotations that still wait.
    pub(super) fn last<I: ChatItem>(&mut self, queue: &mut VecDeque<I>) {
        self.release(queue);
        if self.mode == Annotations::Coalesce {
            self.rest(queue);
        }
    }

    /// Queues chunks released without new input, with the annotations of the chunks they began in.
    pub(super) fn release<I: ChatItem>(&mut self, queue: &mut VecDeque<I>) {
        self.close(queue, |this, origin| this.take(origin, u64::MAX));
    }

    /// Queues the waiting annotations as items without a chunk.
    fn rest<I: ChatItem>(&mut self, queue: &mut VecDeque<I>) {
        let mut all = Annotation::default();
        self.kept.drain(..).for_each(|(_, annotation)| all.join(annotation));
        if !all.is_empty() {
            queue.extend(I::bare(all));
        }
    }
}
