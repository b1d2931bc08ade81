"""Rows per second of `parse_batch` in one and two processes.

`python bench/workers.py`: each process reads its own rows, as a worker of Ray or Spark does.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import multiprocessing
import time

import events
import pyarrow as pa
from toolcall_parsers import parse_batch

ROWS = 40_000
RUNS = 7


def work(rows: int) -> int:
    """Parse this number of rows and return it."""
    return len(parse_batch(pa.array([events.WIRE] * rows), family="qwen3", threads=1))


def rows_per_second(processes: int) -> float:
    """Return the best of several runs, by the clock, without the start of the processes."""
    times = []
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(work, [1] * processes * 4, chunksize=1)
        for _ in range(RUNS):
            start = time.perf_counter()
            pool.map(work, [ROWS // 8] * 8, chunksize=1)
            times.append(time.perf_counter() - start)
    return ROWS / min(times)


if __name__ == "__main__":
    for processes in (1, 2):
        print(f"{processes} processes {rows_per_second(processes):12.0f} rows/s")
