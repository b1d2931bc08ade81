// Streams that give all output before an error.

/**
 * Returns a pair of streams around `machine`: `push(chunk)` and `finish()` return lists of output,
 * and `free()` is called once at the end.
 *
 * A `TransformStream` drops what it has queued when its transformer throws. Here the output that an
 * error carries (`error.released`) is read first, then the error.
 */
export function pipe(machine) {
  const ready = [];
  let fault;
  let isOpen = true;
  let wake = () => {};
  /** Resolves when all output was read. */
  let drained = () => {};

  const end = () => {
    if (isOpen) machine.free();
    isOpen = false;
    wake();
  };
  const run = (read) =>
    new Promise((resolve, reject) => {
      let failure;
      try {
        ready.push(...read());
      } catch (error) {
        ready.push(...(error.released ?? []));
        failure = error;
      }
      drained = () => (failure ? reject(failure) : resolve());
      if (failure) {
        fault = { error: failure };
        end();
      }
      if (ready.length > 0) wake();
      else drained();
    });

  let writing;
  const writable = new WritableStream({
    start: (controller) => {
      writing = controller;
    },
    write: (chunk) => run(() => machine.push(chunk)),
    close: () => run(() => machine.finish()).then(() => end()),
    abort: (error) => {
      fault = { error };
      end();
    },
  });
  const readable = new ReadableStream(
    {
      async pull(controller) {
        while (ready.length === 0 && isOpen) {
          await new Promise((resolve) => {
            wake = resolve;
          });
        }
        if (ready.length > 0) {
          controller.enqueue(ready.shift());
          if (ready.length === 0) drained();
        } else if (fault) controller.error(fault.error);
        else controller.close();
      },
      cancel(reason) {
        ready.length = 0;
        end();
        // Upstream is cancelled, too.
        writing.error(reason);
        drained();
      },
    },
    { highWaterMark: 0 },
  );
  return { readable, writable };
}
